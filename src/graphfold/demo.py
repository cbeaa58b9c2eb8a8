"""The demo: PCA, KernelPCA and GraphKernelPCA side by side on bundled digits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from graphfold.datasets import load_digits
from graphfold.estimators import GraphKernelPCA
from graphfold.quality import clustering_error
from graphfold.replacing import write_atomically
from graphfold.views import view

STRENGTH = 10.0


class Row(NamedTuple):
    """One method: its 2-D picture and how well classes stand apart in it."""

    name: str
    Z: Any
    accuracy: float
    error: float
    seconds: float
    model: Any


def run_demo(say: Callable[[str], object] = print) -> list[Row]:
    """Embed the digits with three methods and print one table."""
    from sklearn.decomposition import PCA, KernelPCA

    digits = load_digits()
    X, y = digits.data, digits.target
    say(f"{len(X)} digits, {X.shape[1]} pixels; {digits.graph!r}")
    ours = GraphKernelPCA(2, graph=digits.graph, graph_strength=STRENGTH)
    width = GraphKernelPCA(2).fit(X).kernel_.get_params()["gamma"]
    methods: list[tuple[str, Any, dict[str, Any]]] = [
        ("PCA", PCA(2), {}),
        ("KernelPCA", KernelPCA(2, kernel="rbf", gamma=width), {}),
        ("GraphKernelPCA", ours, {"node_ids": digits.labels}),
    ]
    rows = []
    for name, method, labels in methods:
        start = time.perf_counter()
        Z = method.fit_transform(X, **labels)
        seconds = time.perf_counter() - start
        rows.append(Row(name, Z, *_quality(Z, y), seconds, method))
    say("")
    say(f"{'2 components':16}{'5-NN accuracy':>15}{'clustering error':>18}{'time':>9}")
    for row in rows:
        say(f"{row.name:16}{row.accuracy:15.3f}{row.error:18.3f}{row.seconds:7.2f} s")
    return rows


def _quality(Z: Any, y: Any) -> tuple[float, float]:
    from sklearn.cluster import KMeans
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    accuracy = cross_val_score(KNeighborsClassifier(5), Z, y, cv=folds).mean()
    clusters = KMeans(10, n_init=10, random_state=0).fit_predict(Z)
    return float(accuracy), clustering_error(y, clusters)


def draw_demo(rows: list[Row], path: str) -> None:
    """One panel a method, written to ``path``."""
    from matplotlib.figure import Figure

    from graphfold import plot

    y = load_digits().target
    figure = Figure(figsize=(4.6 * len(rows), 4.6), layout="constrained")
    for ax, row in zip(figure.subplots(1, len(rows)), rows, strict=True):
        title = (
            f"{row.name}   5-NN {row.accuracy:.2f}, clustering error {row.error:.2f}"
        )
        plot.embedding(row.Z, y, ax=ax, title=title)
    write_atomically(path, lambda stream: figure.savefig(stream, dpi=130))


def map_demo(rows: list[Row], path: str) -> None:
    """The methods side by side in a page to explore, with the report of ours."""
    digits = load_digits()
    known = {row.name: row.model for row in rows if hasattr(row.model, "embedding_")}
    view(
        {row.name: known.get(row.name, row.Z) for row in rows},
        path,
        labels={"digit": digits.target},
        images=digits.images,
        ids=digits.labels,
        X=digits.data,
        title="Digits, three ways",
    )
