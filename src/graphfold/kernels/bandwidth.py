"""The median rule: a bandwidth that follows the data's own distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import manhattan_distances

from graphfold import check
from graphfold.arrays import Array, floating, row_blocks
from graphfold.errors import KernelError
from graphfold.kernels.grams import each_tile
from graphfold.kernels.inner import squared_norms

N_ROWS = 2000
_STRIP = 128
#: up to this many numbers their median is found as fast without a sample
FEW = 100_000
#: numbers of a sample, and how far from its own median that of all may lie
SAMPLE, MARGIN = 5_000, 0.04


def median_squared_distance(X: Any, rng: np.random.Generator) -> float:
    """Median of |x - y|^2 over the distinct pairs of at most 2,000 rows."""
    rows = _sample(X, rng)
    if sp.issparse(rows):
        return _typical(_pairs_by_strips(rows, _squared_distances_of_sparse))
    return _typical(_squared_distances(np.asarray(rows)))


def median_absolute_distance(X: Any, rng: np.random.Generator) -> float:
    """Median of sum_m |x_m - y_m| over the distinct pairs of at most 2,000 rows."""
    return _typical(_pairs_by_strips(_sample(X, rng), manhattan_distances))


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


def _squared_distances(rows: Array) -> Array:
    """|x - y|^2 of all pairs of rows, in a fixed order."""
    rows = rows - rows.mean(axis=0)  # distances stay, cancellation goes
    norms, n = squared_norms(rows), len(rows)
    pairs = np.empty(n * (n - 1) // 2, dtype=rows.dtype)

    def store(some: slice, others: slice, products: Array, _: Array) -> None:
        products *= -2
        products += norms[some, None] + norms[None, others]
        # strips of rows one after the other, and the square on the diagonal last
        start = some.start * (some.start - 1) // 2 + len(products) * others.start
        found = products.ravel()
        if some == others:
            found = products[np.tri(len(products), k=-1, dtype=bool)]
        np.maximum(found, 0, out=pairs[start : start + len(found)])

    each_tile(rows, store)
    return pairs


def _pairs_by_strips(rows: Any, distances: Any) -> Array:
    """``distances`` of all pairs of rows: all of them, both ways, would be too many."""
    n, dtype = rows.shape[0], floating(rows.dtype)
    pairs, filled = np.empty(n * (n - 1) // 2, dtype=dtype), 0
    for strip in row_blocks(n, _STRIP):
        found = distances(rows[strip], rows[strip.start :])
        above = found[np.triu(np.ones(found.shape, dtype=bool), k=1)]
        pairs[filled : filled + len(above)] = above
        filled += len(above)
    return pairs


def _squared_distances_of_sparse(X: Any, Y: Any) -> Array:
    products = np.asarray((X @ Y.T).toarray())
    distances = squared_norms(X)[:, None] + squared_norms(Y)[None] - 2 * products
    return np.maximum(distances, 0)


def _typical(pairs: Array) -> float:
    """The median; the mean of positive ones where most pairs coincide."""
    if pairs.size == 0 or pairs.max() <= 0:
        return 1.0
    median = exact_median(pairs)
    return median if median > 0 else float(pairs[pairs > 0].mean())


def exact_median(numbers: Array) -> float:
    """The median of many numbers: those that a sample rules out are only counted.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.kernels.bandwidth import exact_median
    >>> exact_median(np.arange(200_001.0))
    100000.0
    """
    n = len(numbers)
    if n > FEW:
        sample = numbers[:: n // SAMPLE]
        low, high = np.quantile(sample, [0.5 - MARGIN, 0.5 + MARGIN])
        below = int(np.count_nonzero(numbers < low))
        near = numbers[(numbers >= low) & (numbers <= high)]
        ranks = np.array([(n - 1) // 2, n // 2]) - below
        if ranks[0] >= 0 and ranks[1] < len(near):
            near.partition(ranks)
            return float((near[ranks[0]] + near[ranks[1]]) / 2)
    return float(np.median(numbers))


def width(name: str, value: float | None, X: Any) -> float:
    """A kernel's width: the number given, or 1 / n_features for None."""
    return 1.0 / X.shape[1] if value is None else check.at_least(name, value, 0)


def check_width(name: str, value: Any) -> None:
    """Raise unless a kernel's width is a number of at least 0, or None."""
    if value is not None:
        check.at_least(name, value, 0)
