"""What robust graph PCA brings on noisy digits: the tables of docs/robust.md.

Needs usps.npz in ``GRAPHFOLD_DATA``; takes some minutes.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from graphfold import FastRobustGraphPCA, NeighborGraph, RobustGraphPCA
from graphfold.datasets import load_usps
from graphfold.quality import clustering_error

DRAWS, DIMENSIONS = 3, (2, 5, 10)
CORRELATED = NeighborGraph(7, metric="correlation")
METHODS = {
    "RobustGraphPCA": RobustGraphPCA(10),
    "RobustGraphPCA, normalized": RobustGraphPCA(10, laplacian="normalized"),
    "RobustGraphPCA, correlation": RobustGraphPCA(10, graph=CORRELATED),
    "RobustGraphPCA, strength 0.1": RobustGraphPCA(10, graph_strength=0.1),
    "FastRobustGraphPCA": FastRobustGraphPCA(10),
    "FastRobustGraphPCA, normalized": FastRobustGraphPCA(10, laplacian="normalized"),
    "FastRobustGraphPCA, correlation": FastRobustGraphPCA(
        10, graph=CORRELATED, feature_graph=CORRELATED
    ),
    "FastRobustGraphPCA, strengths 0.1": FastRobustGraphPCA(
        10, graph_strength=0.1, feature_strength=0.1
    ),
    "FastRobustGraphPCA, one graph": FastRobustGraphPCA(10, feature_strength=0),
}


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def digits(seed: int):
    """100 of each digit, clean, and which pixels of them to spoil."""
    data, rng = load_usps(), np.random.default_rng(seed)
    chosen = np.concatenate(
        [rng.choice(np.flatnonzero(data.target == c), 100, False) for c in range(10)]
    )
    X = data.data[chosen]
    hit = rng.random(X.shape) < 0.2
    return X, data.target[chosen], hit, rng.random(X.shape) < 0.5


def clustered(Z, y) -> list[float]:
    def error(d):
        clusters = KMeans(10, n_init=10, random_state=0).fit_predict(Z[:, :d])
        return clustering_error(y, clusters)

    return [error(d) for d in DIMENSIONS]


def noise() -> None:
    print(
        "\nUSPS, 20 % of pixels black or white: k-means error, distance to the truth\n"
    )
    row("method", *(f"d = {d}" for d in DIMENSIONS), "mean error of a pixel")
    row(*["---"] * (len(DIMENSIONS) + 2))
    found: dict[str, list] = {name: [] for name in ("PCA", *METHODS)}
    for seed in range(DRAWS):
        clean, y, hit, white = digits(seed)
        X = np.where(hit, white, clean)
        found["PCA"].append(
            [
                *clustered(PCA(10, svd_solver="full").fit_transform(X), y),
                np.abs(X - clean).mean(),
            ]
        )
        for name, model in METHODS.items():
            Z = model.fit(X).low_rank_
            cleaned = np.abs(Z - clean).mean()
            found[name].append([*clustered(model.embedding_, y), cleaned])
    for name, figures in found.items():
        row(name, *(f"{value:.3f}" for value in np.mean(figures, axis=0)))


def holes() -> None:
    print("\nUSPS, 20 % of pixels missing: mean error of those\n")
    row("filled by", "mean error")
    row("---", "---")
    clean, _, hit, _ = digits(0)
    X = np.where(hit, np.nan, clean)
    medians = np.nanmedian(X, axis=0)
    row("median of the column", f"{np.abs(medians - clean)[hit].mean():.3f}")
    for name in METHODS:
        if "correlation" in name or "normalized" in name:
            continue
        Z = METHODS[name].fit(X).low_rank_
        row(name, f"{np.abs(Z - clean)[hit].mean():.3f}")


if __name__ == "__main__":
    noise()
    holes()
