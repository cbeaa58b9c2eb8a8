"""The median rule: a bandwidth that follows the data's own distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from graphfold.arrays import Array

N_ROWS = 2000


def median_squared_distance(X: Any, rng: np.random.Generator) -> float:
    """Median of |x - y|^2 over the distinct pairs of at most 2,000 rows."""
    rows = _sample(X, rng)
    if not hasattr(rows, "toarray"):
        rows = rows - rows.mean(axis=0)  # distances stay, cancellation goes
    return _median_of_pairs(euclidean_distances(rows, squared=True))


def median_absolute_distance(X: Any, rng: np.random.Generator) -> float:
    """Median of sum_m |x_m - y_m| over the distinct pairs of at most 2,000 rows."""
    return _median_of_pairs(manhattan_distances(_sample(X, rng)))


def _sample(X: Any, rng: np.random.Generator) -> Any:
    n = X.shape[0]
    if n <= N_ROWS:
        return X
    return X[np.sort(rng.choice(n, N_ROWS, replace=False))]


def _median_of_pairs(distances: Array) -> float:
    """Where most pairs coincide the median is 0; the mean of the others is used."""
    pairs = distances[np.triu_indices(len(distances), k=1)]
    if pairs.size == 0 or pairs.max() <= 0:
        return 1.0
    median = float(np.median(pairs))
    return median if median > 0 else float(pairs[pairs > 0].mean())
