"""What learning brings: labels on USPS, views of mfeat, graphs and strength on Cora.

Prints the tables of the guide. Needs usps.npz, mfeat.npz and cora.npz in
``GRAPHFOLD_DATA``; takes some minutes.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import normalize, scale
from sklearn.svm import SVC

from graphfold import (
    GraphKernelPCA,
    MultiModalGraphEmbedding,
    SemiSupervisedGraphKernelPCA,
    responses,
)
from graphfold.datasets import load_cora, load_mfeat, load_usps
from graphfold.errors import MissingLabelsWarning
from graphfold.quality import clustering_error, graph_gain, rewired

SHARES = (0, 0.1, 0.3, 0.5)
LETTER = {"normalize": False, "center": False, "laplacian": "combinatorial"}


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def usps(n_draws: int = 10) -> None:
    data = load_usps()
    print("\nUSPS, mean error of a linear SVM against the share of rows with labels\n")
    row("digits", "d", "setting", *(f"{share:.0%}" for share in SHARES))
    row(*["---"] * (3 + len(SHARES)))
    for pair in ((5, 6), (7, 8)):
        for d in (2, 6):
            for name, settings in (("paper's letter", LETTER), ("defaults", {})):
                errors = [
                    np.mean(
                        [
                            usps_error(data, pair, d, settings, s, k)
                            for k in range(n_draws)
                        ]
                    )
                    for s in SHARES
                ]
                row(f"{pair[0]}, {pair[1]}", d, name, *(f"{e:.3f}" for e in errors))


def usps_error(data, pair, d, settings, share, seed) -> float:
    rng = np.random.default_rng(seed)
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(data.target == c), 500, replace=False) for c in pair]
    )
    X, y = normalize(data.data[rows]), data.target[rows]
    known = rng.permutation(1000)[: int(1000 * share)]
    partial = np.full(1000, -1)
    partial[known] = y[known]
    model = SemiSupervisedGraphKernelPCA(d, gamma=0.5, scaling="unit", **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingLabelsWarning)
        Z = model.fit_transform(X, partial)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return 1 - cross_val_score(SVC(kernel="linear"), Z, y, cv=folds).mean()


def mfeat() -> None:
    data = load_mfeat()

    def error(Z) -> float:
        clusters = KMeans(10, n_init=20, random_state=0).fit_predict(Z)
        return clustering_error(data.target, clusters)

    print("\nmfeat, 2,000 digits in six views: k-means error, weights\n")
    row("embedding", "error", "weights")
    row("---", "---", "---")
    together = np.hstack([scale(view) for view in data.views.values()])
    row("PCA of all columns", f"{error(PCA(10).fit_transform(together)):.3f}", "")
    for name, view in data.views.items():
        Z = MultiModalGraphEmbedding(10).fit_transform({name: view})
        row(f"{name} alone", f"{error(Z):.3f}", "")
    for metric, weight in (
        ("auto", "heat"),
        ("correlation", "similarity"),
        ("cosine", "similarity"),
    ):
        model = MultiModalGraphEmbedding(10, metric=metric, edge_weight=weight)
        name = f"six views, learn, metric={metric}, edge_weight={weight}"
        row(name, f"{error(model.fit_transform(data.views)):.4f}", "")
    noise = np.random.default_rng(0).standard_normal((2000, 50))
    tables = {"six views": data.views, "and noise": {**data.views, "noise": noise}}
    for name, X in tables.items():
        for weights in ("equal", "learn"):
            model = MultiModalGraphEmbedding(10, weights=weights).fit(X)
            listed = ", ".join(
                f"{mode} {weight:.2f}"
                for mode, weight in zip(
                    model.mode_names_, model.mode_weights_, strict=True
                )
            )
            row(f"{name}, {weights}", f"{error(model.embedding_):.4f}", listed)


def cora() -> None:
    data = load_cora()
    X = sp.csr_array(normalize(data.data))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def fitted(**settings):
        model = GraphKernelPCA(20, kernel="linear", scaling="unit", **settings)
        return model.fit(X, node_ids=data.labels)

    def accuracy(model) -> float:
        classifier = LogisticRegression(max_iter=1000)
        return cross_val_score(
            classifier, model.embedding_, data.target, cv=folds
        ).mean()

    random = rewired(data.graph, random_state=1)
    two = {"citations": data.graph, "random": random}
    print("\nCora, the citations beside a random graph of the same degrees\n")
    row("strength", "response", "weight_norm", "weights", "accuracy", "citations alone")
    row(*["---"] * 6)
    for strength in (0.5, 1.0):
        for name, response in (
            ("Diffusion(10)", responses.Diffusion(10)),
            ("-L", None),
        ):
            how = {"response": response, "graph_strength": strength}
            alone = accuracy(fitted(graph=data.graph, **how))
            for norm in (2.0, 1.5, 1.25, 1.1):
                model = fitted(graph=two, weight_norm=norm, **how)
                a, b = model.graph_weights_
                row(
                    strength,
                    name,
                    norm,
                    f"{a:.2f}, {b:.2f}",
                    f"{accuracy(model):.3f}",
                    f"{alone:.3f}",
                )
    print("\nCora, graph_strength\n")
    grid = (0, 0.03, 0.1, 0.3, 1, 2, 3, 10, 30)
    row("graph", *(f"{s:g}" for s in grid), '"auto"', '"auto-edges"')
    row(*["---"] * (len(grid) + 3))
    for name, graph in two.items():
        fixed = [accuracy(fitted(graph=graph, graph_strength=s)) for s in grid]
        chosen = []
        for how in ("auto", "auto-edges"):
            model = fitted(graph=graph, graph_strength=how)
            chosen.append(f"{accuracy(model):.3f} (at {model.graph_strength_:g})")
        row(name, *(f"{a:.3f}" for a in fixed), *chosen)
    print("\nCora, graph_gain\n")
    for name, gain in graph_gain(X, two, node_ids=data.labels, random_state=0).items():
        print(f"{name}: effect {gain.effect:.3f}, p = {gain.p_value:.2f}")


if __name__ == "__main__":
    usps()
    mfeat()
    cora()
