"""Tables that lie on disk and are read by blocks of rows: memmap, zarr, HDF5.

Dense ones, and compressed sparse rows (CSR) as anndata lays them out. Neither zarr,
h5py nor anndata is imported: what has a shape, a type of numbers and chunks, and is no
array of NumPy's, is read by slices.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp

from graphfold import sparse_parts
from graphfold.arrays import Array, floating, row_blocks
from graphfold.errors import GraphfoldError
from graphfold.progress import counted

#: numbers that are read at a time where all rows are looked at once
NUMBERS = 2**20
#: numbers of a chunk where the file does not say how it is cut
CHUNK = 2**16


@final
class CompressedRows:
    """Rows of a CSR matrix on disk; a slice of them is a CSR array in memory.

    Where each row starts is in memory, its numbers and their columns are not.

    Parameters
    ----------
    data, indices : numbers and their columns, one after the other, in a file
    indptr : array of n + 1 places in them
    n_columns : int
    """

    def __init__(self, data: Any, indices: Any, indptr: Array, n_columns: int):
        with _damage_named():
            sparse_parts.check_starts(indptr, min(data.shape[0], indices.shape[0]))
        self.data, self.indices, self.indptr = data, indices, indptr
        self.shape = (len(indptr) - 1, n_columns)
        self.dtype = np.dtype(data.dtype)

    @property
    def nnz(self) -> int:
        """How many numbers are stored."""
        return int(self.indptr[-1])

    @property
    def chunks(self) -> tuple[int, int]:
        """Rows that are worth reading at once."""
        return max(1, CHUNK * self.shape[0] // max(self.nnz, 1)), self.shape[1]

    def columns_of(self, entries: slice) -> Array:
        """Columns of some entries, in memory; all of them are inside of the matrix."""
        columns = sparse_parts.signed(np.asarray(self.indices[entries]))
        with _damage_named():
            sparse_parts.check_places(columns, self.shape[1])
        return columns

    def __getitem__(self, rows: slice) -> Any:
        start, stop, step = rows.indices(self.shape[0])
        stop = max(start, stop)
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        parts = (
            self.data[first:last],
            self.columns_of(slice(first, last)),
            self.indptr[start : stop + 1] - first,
        )
        block = sp.csr_array(parts, shape=(stop - start, self.shape[1]))
        return block[::step] if step > 1 else block


@final
class SelectedColumns:
    """Some columns of a table on disk, in the order in which they are named.

    Parameters
    ----------
    source : numpy.memmap, zarr array, h5py dataset or CompressedRows
    columns : array of positions
    """

    def __init__(self, source: Any, columns: Array):
        self.source, self.columns = source, np.asarray(columns)
        self.shape = (int(source.shape[0]), len(self.columns))
        self.dtype = np.dtype(source.dtype)
        self.chunks = (_rows_of_chunk(source), len(self.columns))

    def __getitem__(self, rows: slice) -> Any:
        """By strips: all columns are read, and most of them may not be asked for."""
        asked = range(self.shape[0])[rows]
        size = max(1, NUMBERS // _row_size(self.source))
        parts = [
            self.source[part.start : part.stop : part.step][:, self.columns]
            for part in (asked[strip] for strip in row_blocks(len(asked), size))
        ]
        if len(parts) == 1:
            return parts[0]
        if is_compressed(self):
            empty = sp.csr_array((0, self.shape[1]), dtype=self.dtype)
            return sp.vstack([empty, *parts], format="csr")
        return np.concatenate([np.empty((0, self.shape[1]), self.dtype), *parts])

    @cached_property
    def nnz(self) -> int:
        """How many numbers of a sparse source are in these columns: read to be told."""
        times = np.bincount(self.columns, minlength=self.source.shape[1])
        counted = 0
        for part in row_blocks(self.source.nnz, NUMBERS):
            counted += int(times[self.source.columns_of(part)].sum())
        return counted


@final
class RowStore:
    """Rows of numbers on disk; a selection of them is an array in memory.

    Of a sparse table it is a CSR array. ``copy`` returns the store itself, for nothing
    of it is in memory. A store that is ``to_be_read`` is one whose copy is the whole
    table, read block by block.

    Parameters
    ----------
    source : numpy.memmap, zarr array, h5py dataset, CompressedRows, SelectedColumns

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from graphfold.stores import RowStore
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     table = np.memmap(file.name, dtype=np.float32, mode="w+", shape=(4, 2))
    ...     table[2] = 7
    ...     rows = RowStore(table)[[2, 0]]
    >>> rows
    array([[7., 7.],
           [0., 0.]], dtype=float32)
    """

    ndim = 2

    def __init__(self, source: Any, *, to_be_read: bool = False):
        self.source = source
        self.shape: tuple[int, int] = (int(source.shape[0]), int(source.shape[1]))
        self.dtype = floating(source.dtype)
        self.to_be_read = to_be_read
        self.is_sparse = is_compressed(source)

    @property
    def nnz(self) -> int:
        """How many numbers are stored."""
        return self.source.nnz if self.is_sparse else self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes of all rows, were they in memory."""
        if not self.is_sparse:
            return self.nnz * self.dtype.itemsize
        index = _index_type(self.nnz, self.shape).itemsize
        return self.nnz * (self.dtype.itemsize + index) + self.shape[0] * index

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        """Rows by a slice, a boolean mask or integers in any order."""
        if isinstance(rows, slice):
            found = self._read(*rows.indices(len(self)))
        else:
            found = self._gather(np.asarray(rows))
        _let_go(self.source)
        return found

    def copy(self) -> Any:
        """Itself; all rows in memory if it is ``to_be_read``."""
        return self.read() if self.to_be_read else self

    def read(self) -> Any:
        """All rows in memory, taken up block by block."""
        if self.is_sparse:
            return self._read_sparse()
        table = np.empty(self.shape, dtype=self.dtype)
        for rows, block in self.blocks():
            table[rows] = block
        return table

    def _read_sparse(self) -> Any:
        """Into arrays of their final size: nothing is held twice."""
        index = _index_type(self.nnz, self.shape)
        data = np.empty(self.nnz, dtype=self.dtype)
        indices = np.empty(self.nnz, dtype=index)
        indptr = np.zeros(len(self) + 1, dtype=index)
        filled = 0
        for rows, block in self.blocks():
            numbers = slice(filled, filled + block.nnz)
            data[numbers], indices[numbers] = block.data, block.indices
            indptr[rows.start + 1 : rows.stop + 1] = filled + block.indptr[1:]
            filled = numbers.stop
        return sp.csr_array((data, indices, indptr), shape=self.shape)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row in memory, or more where some columns were selected."""
        numbers = min(_row_size(self.source), self.shape[1])
        index = _index_type(0, self.shape).itemsize if self.is_sparse else 0
        return numbers * (self.dtype.itemsize + index)

    @property
    def rows_at_once(self) -> int:
        """Rows of a block of some megabytes."""
        chunk = _rows_of_chunk(self.source)
        # whole chunks: each is taken up once
        return max(NUMBERS // _row_size(self.source) // chunk, 1) * chunk

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """All rows in blocks of some megabytes, each with its place."""
        size = self.rows_at_once
        for rows in counted("reading rows", row_blocks(len(self), size)):
            yield rows, self[rows]

    def for_exact(self) -> Self:
        """The same store, whose copy is the whole table."""
        return type(self)(self.source, to_be_read=True)

    def _read(self, start: int, stop: int, step: int) -> Any:
        if step < 0:
            ascending = range(start, stop, step)[::-1]
            return self._read(ascending.start, ascending.stop, -step)[::-1].copy()
        found = self.source[start:stop:step]
        if self.is_sparse:
            return sp.csr_array(found).astype(self.dtype, copy=False)
        if isinstance(found, np.memmap):
            found = np.array(found, dtype=self.dtype)  # its pages are let go
        return np.asarray(found, dtype=self.dtype)

    def _gather(self, rows: Array) -> Any:
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        wanted = rows.astype(np.intp)
        wanted = np.where(wanted < 0, wanted + len(self), wanted)
        if wanted.size and not (wanted.min() >= 0 and wanted.max() < len(self)):
            raise IndexError(f"rows must be below {len(self)}; got {rows.max()}")
        if isinstance(self.source, np.ndarray):
            return np.asarray(self.source[wanted], dtype=self.dtype)
        if self.is_sparse:
            parts = [sp.csr_array((0, self.shape[1]), dtype=self.dtype)]
            order = [np.empty(0, dtype=np.intp)]
            for places, part in self._by_chunks(wanted):
                parts.append(part)
                order.append(places)
            back = np.argsort(np.concatenate(order), kind="stable")
            return sp.csr_array(sp.vstack(parts, format="csr"))[back]
        found = np.empty((len(wanted), self.shape[1]), dtype=self.dtype)
        for places, part in self._by_chunks(wanted):
            found[places] = part
        return found

    def _by_chunks(self, wanted: Array) -> Iterator[tuple[Array, Any]]:
        """Rows chunk by chunk, and where they belong among those that are wanted.

        HDF5 takes rising, distinct rows only, and is slow at many of them.
        """
        order = np.argsort(wanted, kind="stable")
        size = _rows_of_chunk(self.source)
        ends = np.flatnonzero(np.diff(wanted[order] // size)) + 1
        for places in np.split(order, ends):
            if len(places):
                first, last = int(wanted[places[0]]), int(wanted[places[-1]])
                yield places, self._read(first, last + 1, 1)[wanted[places] - first]

    def __repr__(self) -> str:
        kind = type(self.source).__module__.partition(".")[0]
        kind = "sparse" if self.is_sparse else kind
        return f"RowStore({kind}, {self.shape[0]} x {self.shape[1]}, {self.dtype.name})"


def row_store(X: Any) -> Any:
    """X as a RowStore if it is a table on disk, else X as it is."""
    if isinstance(X, RowStore) or not is_on_disk(X):
        return X
    if _is_sparse_dataset(X):
        return RowStore(_compressed_rows(X))
    is_table = len(X.shape) == 2 and np.dtype(X.dtype).kind in "fiub"
    return RowStore(X) if is_table else X


def is_on_disk(X: Any) -> bool:
    """Whether the numbers of X lie in a file: a store, a memmap, zarr or HDF5."""
    if isinstance(X, np.ndarray):
        return isinstance(X, np.memmap) and _mapping(X) is not None
    if _is_sparse_dataset(X):
        return True
    on_disk = all(hasattr(X, name) for name in ("shape", "dtype", "chunks"))
    # arrays of dask have chunks, too, and are computed, not read
    return isinstance(X, RowStore) or (on_disk and not hasattr(X, "dask"))


def is_sparse(X: Any) -> bool:
    """Whether a table is sparse, in memory or on disk."""
    return bool(sp.issparse(X)) or (isinstance(X, RowStore) and X.is_sparse)


def is_compressed(source: Any) -> bool:
    """Whether slices of a source are sparse rows."""
    inner = source.source if isinstance(source, SelectedColumns) else source
    return isinstance(inner, CompressedRows)


def _is_sparse_dataset(X: Any) -> bool:
    """Whether X is anndata's face of a sparse matrix in a file."""
    return getattr(X, "format", None) in ("csr", "csc") and hasattr(X, "group")


def _compressed_rows(X: Any) -> CompressedRows:
    if X.format == "csc":
        raise GraphfoldError(
            "X must lie on disk by rows, dense or as CSR, to be read by blocks; got "
            "CSC, which lies by columns: write it once as X.tocsr(), or read it into "
            "memory"
        )
    group = X.group
    return CompressedRows(
        group["data"],
        group["indices"],
        sparse_parts.signed(np.asarray(group["indptr"][:])),
        X.shape[1],
    )


@contextmanager
def _damage_named() -> Iterator[None]:
    """What is wrong with the parts of a matrix on disk, in one sentence."""
    try:
        yield
    except ValueError as error:
        raise GraphfoldError(
            f"X on disk must be a whole sparse matrix; {error}"
        ) from None


def _row_size(source: Any) -> int:
    """Numbers that a row has in the file."""
    inner = source.source if isinstance(source, SelectedColumns) else source
    n, n_columns = inner.shape
    numbers = inner.nnz if isinstance(inner, CompressedRows) else n * n_columns
    return max(1, numbers // max(n, 1))


def _index_type(nnz: int, shape: tuple[int, int]) -> Any:
    small = max(nnz, *shape) < 2**31
    return np.dtype(np.int32 if small else np.int64)


def _rows_of_chunk(source: Any) -> int:
    chunks = getattr(source, "chunks", None)
    return int(chunks[0]) if chunks else max(1, CHUNK // max(source.shape[1], 1))


def _mapping(X: Any) -> Any:
    """The map of a memmap into its file; None for what was computed from one."""
    return getattr(X, "_mmap", None)


def _let_go(source: Any) -> None:
    """Pages of a file that were read are the system's again, and cost us nothing.

    Not of a private map ("c"), where what was written would be lost with them.
    """
    mapping = _mapping(source)
    if mapping is not None and source.mode in ("r", "r+", "w+"):
        advice = getattr(mmap, "MADV_DONTNEED", None)
        if advice is not None:
            mapping.madvise(advice)
