"""The median rule: a bandwidth that follows the data's own distances."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from graphfold import check
from graphfold.arrays import Array, floating, row_blocks
from graphfold.errors import KernelError

N_ROWS = 2000
_STRIP = 128


def median_squared_distance(X: Any, rng: np.random.Generator) -> float:
    """Median of |x - y|^2 over the distinct pairs of at most 2,000 rows."""
    rows = _sample(X, rng)
    if not hasattr(rows, "toarray"):
        rows = rows - rows.mean(axis=0)  # distances stay, cancellation goes
    return _median_of_pairs(rows, partial(euclidean_distances, squared=True))


def median_absolute_distance(X: Any, rng: np.random.Generator) -> float:
    """Median of sum_m |x_m - y_m| over the distinct pairs of at most 2,000 rows."""
    return _median_of_pairs(_sample(X, rng), manhattan_distances)


def inverse(squared_distance: float) -> float:
    """1 / d^2 for a median d^2, unless that is infinite."""
    if squared_distance < 1 / np.finfo(np.float64).max:
        raise KernelError(
            "X must have distances whose squares are numbers; the median of them is "
            f"{squared_distance:.3g}, next to nothing in float64: scale X up"
        )
    return 1 / squared_distance


def _sample(X: Any, rng: np.random.Generator) -> Any:
    n = X.shape[0]
    if n <= N_ROWS:
        return X[:]  # of a table on disk: its rows
    return X[np.sort(rng.choice(n, N_ROWS, replace=False))]


def _median_of_pairs(rows: Any, distances: Callable[[Any, Any], Array]) -> float:
    """Where most pairs coincide the median is 0; the mean of the others is used.

    Distances are taken by strips: all of them, both ways round, would be four times
    what is needed.
    """
    n, dtype = rows.shape[0], floating(rows.dtype)
    pairs, filled = np.empty(n * (n - 1) // 2, dtype=dtype), 0
    for strip in row_blocks(n, _STRIP):
        found = distances(rows[strip], rows[strip.start :])
        above = found[np.triu(np.ones(found.shape, dtype=bool), k=1)]
        pairs[filled : filled + len(above)] = above
        filled += len(above)
    if pairs.size == 0 or pairs.max() <= 0:
        return 1.0
    median = float(np.median(pairs, overwrite_input=True))
    return median if median > 0 else float(pairs[pairs > 0].mean())


def width(name: str, value: float | None, X: Any) -> float:
    """A kernel's width: the number given, or 1 / n_features for None."""
    return 1.0 / X.shape[1] if value is None else check.at_least(name, value, 0)


def check_width(name: str, value: Any) -> None:
    """Raise unless a kernel's width is a number of at least 0, or None."""
    if value is not None:
        check.at_least(name, value, 0)
