"""Data that fall apart: do rows that differ stay apart?

Prints, for three components, the smallest distance between two distinct rows of the
embedding, relative to its largest coordinate.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.manifold import Isomap, LocallyLinearEmbedding, SpectralEmbedding

from graphfold import (
    GraphKernelPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    kernels,
)

K, D = 8, 3


def tables() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    clouds = [
        rng.standard_normal((40, 5)) + 50 * rng.standard_normal(5) for _ in "12345"
    ]
    rows = rng.standard_normal((20, 5))
    return {
        "five clouds": np.vstack(clouds),
        "20 rows, 30 times each": np.repeat(rows, 30, axis=0),
        "60 rows, and one 40 times": np.vstack(
            [rng.standard_normal((60, 5)), np.ones((40, 5))]
        ),
    }


METHODS = {
    "LLE, scikit-learn": LocallyLinearEmbedding(n_neighbors=K, n_components=D),
    "LLE, graphfold": LocalNonlinearEmbedding(D, n_neighbors=K, order=1),
    "Isomap, scikit-learn": Isomap(n_neighbors=K, n_components=D),
    "Isomap, graphfold": GraphKernelPCA(D, kernel=kernels.Geodesic(K)),
    "eigenmaps, scikit-learn": SpectralEmbedding(
        D, affinity="nearest_neighbors", n_neighbors=K, random_state=0
    ),
    "eigenmaps, graphfold": LaplacianEigenmaps(D, n_neighbors=K),
}


def nearest(Z: np.ndarray, X: np.ndarray) -> float:
    _, first = np.unique(X, axis=0, return_index=True)
    return float(pdist(Z[first]).min() / np.abs(Z).max())


def main() -> None:
    warnings.simplefilter("ignore")
    data = tables()
    print("| |", " | ".join(data), "|")
    print("| --- |" + " --- |" * len(data))
    for name, model in METHODS.items():
        cells = (f"{nearest(model.fit_transform(X), X):.0e}" for X in data.values())
        print(f"| {name} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
