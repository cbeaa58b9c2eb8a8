"""Sparse matrices from parts that a stranger has written.

SciPy believes what it is told: an index outside of the matrix, or a row that ends
before it begins, would read and write memory that is not its own. Whatever is wrong
is a ``ValueError`` that says what.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.allowance import most_for

#: bytes that an entry has in a file at least, and that a row or column without entries
#: takes in memory: its start, and what a graph or a table keeps for it
_STORED, _ROW = 4, 64


def refuse_emptiness(shape: tuple[int, ...], stored: int) -> None:
    """Refuse a sparse matrix that is far larger than the numbers stored for it.

    Each row takes memory, whether it has entries or not.
    """
    most = most_for(_STORED * stored) // _ROW
    if any(size < 0 or size > most for size in shape):
        raise ValueError(
            f"it claims to be of the shape {' x '.join(map(str, shape))[:80]} with "
            f"{stored} numbers: leave out the rows and columns that have none"
        )


def shape_of(values: Any) -> tuple[int, int]:
    """Two sizes that are whole numbers, and not below zero."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(listed, list | tuple) or len(listed) != 2:
        raise ValueError("a sparse matrix must have two sizes")
    for size in listed:
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise ValueError(f"{str(size)[:40]!r} is no size of a sparse matrix")
    return listed[0], listed[1]


def compressed_rows(data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """A CSR array, if its parts fit to each other."""
    n_rows, n_columns = shape_of(shape)
    _check_pointers(indices, indptr, n_rows, n_columns)
    _check_numbers(data, 1, len(indices))
    refuse_emptiness((n_rows, n_columns), max(len(indices), len(indptr)))
    return sp.csr_array((data, indices, indptr), shape=(n_rows, n_columns))


def compressed_columns(data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """A CSC array, if its parts fit to each other."""
    n_rows, n_columns = shape_of(shape)
    transposed = compressed_rows(data, indices, indptr, (n_columns, n_rows))
    return transposed.T


def blocks(data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """A BSR array, if its parts fit to each other."""
    n_rows, n_columns = shape_of(shape)
    _check_numbers(data, 3, None)
    _, height, width = data.shape
    if not height or not width or n_rows % height or n_columns % width:
        raise ValueError(f"blocks of {height} x {width} do not make up the matrix")
    _check_pointers(indices, indptr, n_rows // height, n_columns // width)
    if len(data) != len(indices):
        raise ValueError("each block of a sparse matrix must have one column")
    refuse_emptiness((n_rows, n_columns), max(data.size, len(indptr) * height))
    return sp.bsr_array((data, indices, indptr), shape=(n_rows, n_columns))


def coordinates(data: Any, rows: Any, columns: Any, shape: Any) -> Any:
    """A COO array, if its parts fit to each other."""
    sizes = shape_of(shape)
    _check_numbers(data, 1, None)
    for places, size in zip((rows, columns), sizes, strict=True):
        _check_integers(places, size)
        if len(places) != len(data):
            raise ValueError("each entry of a sparse matrix must have a row and column")
    refuse_emptiness(sizes, len(data))
    return sp.coo_array((data, (rows, columns)), shape=sizes)


def diagonals(data: Any, offsets: Any, shape: Any) -> Any:
    """A DIA array, if its parts fit to each other."""
    sizes = shape_of(shape)
    _check_numbers(data, 2, None)
    _check_integers(offsets, sizes[1], low=1 - sizes[0])
    if len(offsets) != len(data) or len(np.unique(offsets)) != len(offsets):
        raise ValueError("each diagonal of a sparse matrix must have one place")
    refuse_emptiness(sizes, data.size)
    return sp.dia_array((data, offsets), shape=sizes)


def check_compressed(matrix: Any) -> None:
    """Refuse a CSR or CSC matrix in memory whose parts do not fit to each other.

    anndata makes matrices of what a file holds without looking at it.
    """
    if matrix.format in ("csr", "csc"):
        n, width = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
        _check_pointers(matrix.indices, matrix.indptr, n, width)
        _check_numbers(matrix.data, 1, len(matrix.indices))


def signed(places: Any) -> Any:
    """Places in this machine's order of bytes; unsigned ones as signed, if they fit."""
    if places.dtype.kind == "u" and (not places.size or places.max() < 2**63):
        return places.astype(np.int64)
    return places.astype(places.dtype.newbyteorder("="), copy=False)


def check_starts(indptr: Any, stored: int) -> None:
    """Refuse starts of rows that are not in order, or beyond the stored entries."""
    # within these bounds differences are exact: a jump beyond the largest number there
    # is would look like a step forward
    _check_integers(indptr, stored + 1)
    if not len(indptr) or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of a sparse matrix do not follow each other")


def check_places(indices: Any, n_columns: int) -> None:
    """Refuse columns of entries that are outside of the matrix."""
    _check_integers(indices, n_columns)


def _check_pointers(indices: Any, indptr: Any, n_rows: int, n_columns: int) -> None:
    _check_integers(indices, n_columns)
    if len(indptr) != n_rows + 1:
        raise ValueError(f"a sparse matrix of {n_rows} rows has {len(indptr)} starts")
    check_starts(indptr, len(indices))


def _check_integers(values: Any, below: int, low: int = 0) -> None:
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        raise ValueError("places in a sparse matrix must be a list of numbers")
    if values.dtype.kind != "i":
        raise ValueError(f"places in a sparse matrix cannot be {values.dtype}")
    if len(values) and not (values.min() >= low and values.max() < below):
        raise ValueError("a sparse matrix has entries outside of its shape")


def _check_numbers(values: Any, dimensions: int, count: int | None) -> None:
    if not isinstance(values, np.ndarray) or values.ndim != dimensions:
        raise ValueError("the entries of a sparse matrix do not have its form")
    if values.dtype.kind not in "biufc":
        raise ValueError(f"entries of a sparse matrix cannot be {values.dtype}")
    if count is not None and len(values) != count:
        raise ValueError("each entry of a sparse matrix must have one place")
