"""(b) Clusters of objects and of drivers: error of K-means against d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from graphfold import CorrelationGraph
from graphfold.arrays import Array
from graphfold.datasets import load_coil20, load_drivface
from graphfold.experiments import methods
from graphfold.experiments.figures import curves, legend_beside, panels
from graphfold.experiments.methods import DEFAULT, RAW, UNIT
from graphfold.experiments.protocol import (
    Cell,
    Claim,
    Experiment,
    Measured,
    Notes,
    Scope,
)
from graphfold.quality import clustering_error

DIMENSIONS, FEW = (5, 10, 15, 20, 30), (5, 15)
RESTARTS = 10
DATA = {"COIL20": load_coil20, "DrivFace": load_drivface}


TEN = "defaults, 10 neighbours"


class Reading(NamedTuple):
    """One reading of the paper: methods, neighbours of a row, what is done to rows."""

    methods: Mapping[str, methods.Make]
    n_neighbors: int
    rows: Callable[[Array], Array]


def as_they_are(X: Array) -> Array:
    return X


OURS = methods.BY_DEFAULT | methods.OTHERS
READINGS = {
    RAW: Reading(methods.BY_THE_LETTER, 100, as_they_are),
    UNIT: Reading(methods.BY_THE_LETTER, 100, normalize),
    DEFAULT: Reading(OURS, 100, as_they_are),
    TEN: Reading(OURS, 10, as_they_are),
}


def load(name: str, scope: Scope) -> tuple[Array, Array]:
    """Images and classes; for a quick pass five of the objects."""
    images = DATA[name](scope.data_dir)
    X, y = images.data, images.target
    if scope.quick and name == "COIL20":
        few = np.isin(y, np.unique(y)[:5])
        X, y = X[few], y[few]
    return X, y


def prepare(scope: Scope) -> dict[str, Array]:
    """The embeddings: the classes play no part in them, nor does chance."""
    arrays = {}
    for name in DATA:
        X, arrays[f"{name}/y"] = load(name, scope)
        for reading, (chosen, n_neighbors, rows) in READINGS.items():
            graph = CorrelationGraph(n_neighbors, metric="cosine").build(X)
            found = methods.embeddings(chosen, rows(X), graph, dimensions(scope))
            for (method, d), Z in found.items():
                arrays[f"{name}/{reading}/{method}/{d}"] = Z
    return arrays


def measure(
    seed: int, prepared: Mapping[str, Array], scope: Scope
) -> dict[Cell, float]:
    """K-means from ten starts, of which the best counts."""
    numbers: dict[Cell, float] = {}
    for name in DATA:
        y = prepared[f"{name}/y"]
        for reading, (chosen, *_) in READINGS.items():
            for method in chosen:
                for d in dimensions(scope):
                    Z = prepared[f"{name}/{reading}/{method}/{d}"]
                    by_inertia, by_class = clustered(Z, y, seed)
                    numbers[name, reading, method, d, "inertia"] = by_inertia
                    numbers[name, reading, method, d, "classes"] = by_class
    return numbers


def clustered(Z: Array, y: Array, seed: int) -> tuple[float, float]:
    """Errors of the tightest of ten clusterings, and of that nearest to the classes."""
    seeds = np.random.default_rng(seed).integers(2**31, size=RESTARTS)
    found = [
        KMeans(len(np.unique(y)), n_init=1, random_state=int(start)).fit(Z)
        for start in seeds
    ]
    errors = [clustering_error(y, one.labels_) for one in found]
    return errors[int(np.argmin([one.inertia_ for one in found]))], min(errors)


def dimensions(scope: Scope) -> tuple[int, ...]:
    return FEW if scope.quick else DIMENSIONS


def draw(measured: Measured, prepared: Mapping[str, Array]) -> Any:
    figure, axes = panels(len(DATA), len(READINGS), width=3.4, height=3.0)
    others = list(methods.OTHERS)
    for row, name in zip(axes, DATA, strict=True):
        for ax, reading in zip(row, READINGS, strict=True):
            curves(
                ax,
                measured,
                x="d",
                order=[*methods.BY_DEFAULT, *others],
                dashed=others,
                title=f"{name}, {reading}",
                data=name,
                reading=reading,
                best="inertia",
            )
            ax.title.set_fontsize(9)
            ax.set_ylim(0.2, 0.95 if name == "COIL20" else 0.55)
    legend_beside(figure, axes[0, -1])
    return figure


def claims(measured: Measured) -> list[Claim]:
    def below(lower: str, upper: str, by_paper: bool = True, **where: Any) -> Claim:
        text = (
            f"{where['data']}, {where['reading']}: {lower} below {upper}, mean over d"
        )
        cells = [
            {"method": name, "best": "inertia", **where} for name in (lower, upper)
        ]
        return measured.is_below(text, *cells, by_paper=by_paper)

    found = []
    for name in DATA:
        for reading in READINGS:
            here: dict[str, Any] = {"data": name, "reading": reading}
            for lower in ("GMKPCA", "GKPCA"):
                found += [below(lower, other, **here) for other in ("KPCA", "PCA")]
            found += [below("GMKPCA", other, **here) for other in ("GPCA", "GKPCA")]
        here = {"data": name, "reading": TEN}
        found += [below("GMKPCA", other, False, **here) for other in methods.OTHERS]
    return found


NOTES = Notes(
    paper="""
""",
    left_open="""
""",
    chosen="""
""",
    found="""
""",
)

EXPERIMENT = Experiment(
    name="clustering",
    title="Clusters of objects and of drivers against d (COIL20, DrivFace)",
    files=("coil20", "drivface"),
    columns=("data", "reading", "method", "d", "best"),
    prepare=prepare,
    measure=measure,
    draw=draw,
    claims=claims,
    notes=NOTES,
)
