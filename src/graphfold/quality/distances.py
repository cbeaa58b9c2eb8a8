"""Distances between given pairs of rows, of a table of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from graphfold import check
from graphfold.arrays import Array, row_blocks
from graphfold.errors import GraphfoldError

_BLOCK = 2**17  # numbers at a time; two such blocks stay in the cache of a core


def read_rows(name: str, X: Any) -> Any:
    """``X``, the argument of this name, as a finite dense or CSR array of floats."""
    try:
        rows = check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2,
        )
    except (ValueError, TypeError) as error:
        reason = str(error).splitlines()[0].rstrip(".:")
        raise GraphfoldError(
            f"{name} must be an array, a sparse matrix or a DataFrame of numbers with "
            f"at least two rows and one column; {reason}"
        ) from error
    _refuse_non_finite(name, rows)
    return sp.csr_array(rows) if sp.issparse(rows) else rows


def _refuse_non_finite(name: str, rows: Any) -> None:
    values = rows.data if sp.issparse(rows) else rows
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one number says it all, nearly always
            return
    if sp.issparse(rows):
        row_of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        bad = np.unique(row_of_entry[~np.isfinite(values)])
    else:
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise GraphfoldError(
            f"{name} must be finite; it contains NaN or infinity (inf) in rows "
            f"{check.some_of(bad)} ({len(bad)} in all): drop them or fill them, for "
            "example with sklearn.impute.SimpleImputer"
        )


def squared_distances(Z: Any, first: Array, second: Array) -> Array:
    """``|z_i - z_j|^2`` of each pair of rows.

    By differences, not by norms and products: equal rows are then at distance 0
    exactly, also where sparse columns that are not centred are far from 0.
    """
    distances = np.empty(len(first))
    per_row = 1 + Z.nnz // Z.shape[0] if sp.issparse(Z) else Z.shape[1]
    for pairs in row_blocks(len(first), max(1, _BLOCK // per_row)):
        gap = Z[first[pairs]] - Z[second[pairs]]
        distances[pairs] = squared_lengths(gap)
    return distances


def squared_lengths(rows: Any) -> Array:
    """``|z_i|^2`` of each row."""
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1, dtype=np.float64)).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
