"""Nearest rows by a metric, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, row_blocks

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
_STRIP_BYTES = 2**26


def nearest_rows(
    X: Any, k: int, *, metric: str = "euclidean", among: Any = None, n_jobs: Any = None
) -> tuple[Array, Array]:
    """Distances to, and indices of, the k nearest rows of ``among`` for each row of X.

    Without ``among`` the rows of X search each other, and none finds itself.
    Cosine and correlation distances are 1 - similarity.
    """
    # imported here: it would double the import time of the package
    from sklearn.neighbors import NearestNeighbors

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
        search = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs, algorithm="brute")
        distances, indices = search.fit(reference).kneighbors(queries)
        return distances**2 / 2, indices
    if metric in _DENSE_METRICS:
        reference, X = (p.toarray() if sp.issparse(p) else p for p in (reference, X))
    algorithm = "brute" if sp.issparse(reference) or reference.shape[1] > 15 else "auto"
    if metric == "jaccard":
        reference = reference.astype(bool)
        X = X.astype(bool)
    search = NearestNeighbors(
        n_neighbors=k, metric=metric, algorithm=algorithm, n_jobs=n_jobs
    )
    return search.fit(reference).kneighbors(None if among is None else X)


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
