"""Nearest rows by a metric, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, aligned, power_of_two, row_blocks
from graphfold.neighbors.cells import largest_size
from graphfold.progress import counted
from graphfold.threads import openmp_without_parent

METRICS = (
    "euclidean",
    "cosine",
    "correlation",
    "manhattan",
    "chebyshev",
    "hamming",
    "jaccard",
)
#: scikit-learn has no search by these among sparse rows
_DENSE_METRICS = ("chebyshev", "hamming", "jaccard")
#: those that square entries, which must neither overflow nor vanish
_SQUARED = ("euclidean", "cosine", "correlation")
_STRIP_BYTES = 2**26
#: numbers read for one block of an exact search, a fraction of a second; its rows are
#: a multiple of this; choosing the nearest costs as much as so many more columns
_BLOCK_NUMBERS, _TILE, CHOOSING = 2**32, 256, 30
#: how many times longer a number takes where distances are no product of tables
_SLOWER = 8
#: rows that a tree compares a row with: so many, twice as many for each column
_ROWS_OF_TREE = 2**6
#: columns up to which a tree pays
_MOST_OF_TREE = 15
#: rows whose medians say where the data lie, and how many times farther from zero than
#: from each other rows may lie before products of them lose digits worth keeping
_LOOKED_AT, _FAR = 200, 10.0


def nearest_rows(
    X: Any, k: int, *, metric: str = "euclidean", among: Any = None, n_jobs: Any = None
) -> tuple[Array, Array]:
    """Distances to, and indices of, the k nearest rows of ``among`` for each row of X.

    Without ``among`` the rows of X search each other, and none finds itself.
    Cosine and correlation distances are 1 - similarity.
    """
    scale = bearable_scale(X, among) if metric in _SQUARED else 1.0
    if scale != 1.0:
        X, among = X / scale, None if among is None else among / scale
    distances, indices = _nearest_rows(X, k, metric, among, n_jobs)
    if scale != 1.0 and metric == "euclidean":
        distances = distances * scale
    return distances, indices


def _nearest_rows(
    X: Any, k: int, metric: str, among: Any, n_jobs: Any
) -> tuple[Array, Array]:
    # imported here: it would double the import time of the package
    from sklearn.neighbors import NearestNeighbors

    X, among = aligned(X), aligned(among)
    reference = X if among is None else among
    if sp.issparse(X) and not sp.issparse(reference):
        X = X.toarray()
    elif sp.issparse(reference) and not sp.issparse(X):
        X = sp.csr_array(X)
    if metric in ("cosine", "correlation"):
        # on unit vectors |u - v|^2 / 2 = 1 - cos: one fast search serves both
        reference = with_marked_zeros(standard_rows(reference, metric))
        queries = None
        if among is not None:
            queries = with_marked_zeros(standard_rows(X, metric))
        search = NearestNeighbors(
            n_neighbors=k, metric="euclidean", algorithm="brute", n_jobs=n_jobs
        )
        reference, queries = _near_zero(reference, queries)
        distances, indices = _block_by_block(search.fit(reference), queries, reference)
        return distances**2 / 2, indices
    if metric in _DENSE_METRICS:
        reference, X = (p.toarray() if sp.issparse(p) else p for p in (reference, X))
    many = sp.issparse(reference) or reference.shape[1] > _MOST_OF_TREE
    algorithm = "brute" if many else "auto"
    if metric == "jaccard":
        reference = reference.astype(bool)
        X = X.astype(bool)
    search = NearestNeighbors(
        n_neighbors=k, metric=metric, algorithm=algorithm, n_jobs=n_jobs
    )
    queries = None if among is None else X
    if metric == "euclidean" and algorithm == "brute":
        reference, queries = _near_zero(reference, queries)
    return _block_by_block(search.fit(reference), queries, reference)


def bearable_scale(X: Any, among: Any = None) -> float:
    """1, or a power of two to divide rows by whose squares leave the range of floats.

    Rows of 1e160 would all be infinitely far apart, rows of 1e-170 all equal.
    """
    tables = [X.data if sp.issparse(X) else X]
    if among is not None:
        tables.append(among.data if sp.issparse(among) else among)
    if any(table.dtype.kind != "f" for table in tables):
        return 1.0
    size = max(largest_size(table) for table in tables)
    root = float(np.sqrt(np.finfo(tables[0].dtype).max))
    if not 0 < size < np.inf or 1e3 / root < size < root / 1e3:
        return 1.0
    return power_of_two(size)


def _near_zero(reference: Any, queries: Any) -> tuple[Any, Any]:
    """Rows less a common shift where they lie far from zero; others as they are.

    A product of tables gives |x - y|^2 as |x|^2 - 2 x'y + |y|^2, whose rounding is that
    of the largest part: columns around 1e6 would leave four digits of a distance. The
    shift is a median that is an entry of its column: one row that lies far out does
    not move it, and subtracting it from what is near rounds nothing.
    """
    if sp.issparse(reference):
        return reference, queries
    if reference.dtype.kind != "f":  # whole numbers would wrap around
        reference = reference.astype(np.float64)
    n = reference.shape[0]
    some = np.asarray(reference[:: -(-n // _LOOKED_AT)])
    middle = (len(some) - 1) // 2
    shift = np.partition(some, middle, axis=0)[middle]
    away = np.linalg.norm(some.astype(np.float64) - shift, axis=1)
    size = np.linalg.norm(shift.astype(np.float64))
    if size <= _FAR * np.median(away):
        return reference, queries
    return reference - shift, None if queries is None else queries - shift


def _block_by_block(search: Any, queries: Any, reference: Any) -> tuple[Array, Array]:
    """What a search finds, so that it can be followed and interrupted.

    Without queries the rows of the reference search each other, and none finds itself.
    """
    rows = reference if queries is None else queries
    size = _block_size(search, *reference.shape)
    if rows.shape[0] <= size:
        return _nearest(search, queries, search.n_neighbors)
    k = search.n_neighbors
    parts = []
    for block in counted("comparing rows", row_blocks(rows.shape[0], size)):
        if queries is not None:
            parts.append(_nearest(search, rows[block], k))
        else:
            found = _nearest(search, rows[block], k + 1)
            parts.append(_without_themselves(found, block))
    distances, indices = zip(*parts, strict=True)
    return np.concatenate(distances), np.concatenate(indices)


def _nearest(search: Any, queries: Any, k: int) -> Any:
    with openmp_without_parent():
        return search.kneighbors(queries, k)


def _block_size(search: Any, n: int, n_columns: int) -> int:
    """How many rows find their neighbours in a fraction of a second."""
    is_tree = search.algorithm != "brute"
    compared = min(n, _ROWS_OF_TREE * 2**n_columns) if is_tree else n
    most = _BLOCK_NUMBERS // (compared * (n_columns + CHOOSING))
    if is_tree or search.metric != "euclidean":
        most //= _SLOWER
    return max(most // _TILE, 2) * _TILE  # as scikit-learn cuts them: the same digits


def _without_themselves(
    found: tuple[Array, Array], block: slice
) -> tuple[Array, Array]:
    """Neighbours of some rows but for the row itself.

    Of more copies than neighbours the row itself may be missing: then the first goes.
    """
    distances, indices = found
    others = indices != np.arange(block.start, block.stop)[:, None]
    others[others.all(axis=1), 0] = False
    shape = (len(indices), -1)
    return distances[others].reshape(shape), indices[others].reshape(shape)


def standard_rows(X: Any, metric: str) -> Any:
    """Rows of length one, less their mean first for "correlation".

    A zero (or constant) row stays zero: it is like no other.
    """
    if metric == "correlation":
        X = X.toarray() if sp.issparse(X) else X
        X = X - X.mean(axis=1, keepdims=True)
    if sp.issparse(X):
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        lengths[lengths == 0] = 1.0
        return sp.csr_array(sp.diags_array(1 / lengths) @ X)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    # what is left of a constant row after rounding is noise, not a direction
    noise = 10 * np.finfo(X.dtype).eps * np.abs(X).max(initial=0.0)
    return np.where(lengths > noise, X / np.where(lengths > noise, lengths, 1.0), 0.0)


def with_marked_zeros(rows: Any) -> Any:
    """Rows with one more column that makes zero rows unit vectors of their own.

    The distance between a zero row and any other is then 1, not the 1/2 that would
    make it everyone's neighbour. (Two zero rows are equal, at distance 0.)
    """
    squares = rows.multiply(rows) if sp.issparse(rows) else np.square(rows)
    zero = (np.asarray(squares.sum(axis=1)).ravel() == 0).astype(rows.dtype)[:, None]
    if sp.issparse(rows):
        return sp.csr_array(sp.hstack([rows, sp.csr_array(zero)]))
    return np.hstack([rows, zero])


def strips(n_rows: int, n_columns: int) -> Any:
    """Row blocks whose products with all columns stay within some 64 MB."""
    return row_blocks(n_rows, max(1, _STRIP_BYTES // (8 * max(n_columns, 1))))
