"""Tables that lie on disk and are read by blocks of rows: memmap, zarr, HDF5.

Neither zarr nor h5py is imported: what has a shape, a type of numbers and chunks, and
is no array of NumPy's, is read by slices.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any, Self, final

import numpy as np

from graphfold.arrays import Array, floating, row_blocks
from graphfold.progress import counted

#: numbers that are read at a time where all rows are looked at once
NUMBERS = 2**20


@final
class RowStore:
    """Rows of numbers on disk; a selection of them is an array in memory.

    ``copy`` returns the store itself, for nothing of it is in memory. A store that is
    ``to_be_read`` is one whose copy is the whole table, read block by block.

    Parameters
    ----------
    source : numpy.memmap, zarr array or h5py dataset of two dimensions

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

    @property
    def nbytes(self) -> int:
        """Bytes of all rows, were they in memory."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Array:
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

    def read(self) -> Array:
        """All rows in memory, taken up block by block."""
        table = np.empty(self.shape, dtype=self.dtype)
        for rows, block in self.blocks():
            table[rows] = block
        return table

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """All rows in blocks of some megabytes, each with its place."""
        chunk = _rows_of_chunk(self.source)
        # whole chunks: each is taken up once
        size = max(NUMBERS // max(self.shape[1], 1) // chunk, 1) * chunk
        for rows in counted("reading rows", row_blocks(len(self), size)):
            yield rows, self[rows]

    def for_exact(self) -> Self:
        """The same store, whose copy is the whole table."""
        return type(self)(self.source, to_be_read=True)

    def _read(self, start: int, stop: int, step: int) -> Array:
        if step < 0:
            ascending = range(start, stop, step)[::-1]
            return self._read(ascending.start, ascending.stop, -step)[::-1].copy()
        found = self.source[start:stop:step]
        if isinstance(found, np.memmap):
            found = np.array(found, dtype=self.dtype)  # its pages are let go
        return np.asarray(found, dtype=self.dtype)

    def _gather(self, rows: Array) -> Array:
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        wanted = rows.astype(np.intp)
        wanted = np.where(wanted < 0, wanted + len(self), wanted)
        if wanted.size and not (wanted.min() >= 0 and wanted.max() < len(self)):
            raise IndexError(f"rows must be below {len(self)}; got {rows.max()}")
        if isinstance(self.source, np.ndarray):
            return np.asarray(self.source[wanted], dtype=self.dtype)
        # HDF5 takes rising, distinct rows only, and is slow at many of them
        found = np.empty((len(wanted), self.shape[1]), dtype=self.dtype)
        order = np.argsort(wanted, kind="stable")
        size = _rows_of_chunk(self.source)
        ends = np.flatnonzero(np.diff(wanted[order] // size)) + 1
        for places in np.split(order, ends):
            if len(places):
                first, last = int(wanted[places[0]]), int(wanted[places[-1]])
                chunk = self._read(first, last + 1, 1)
                found[places] = chunk[wanted[places] - first]
        return found

    def __repr__(self) -> str:
        kind = type(self.source).__module__.partition(".")[0]
        return f"RowStore({kind}, {self.shape[0]} x {self.shape[1]}, {self.dtype.name})"


def row_store(X: Any) -> Any:
    """X as a RowStore if it is a table on disk, else X as it is."""
    if isinstance(X, RowStore) or not is_on_disk(X):
        return X
    is_table = len(X.shape) == 2 and np.dtype(X.dtype).kind in "fiub"
    return RowStore(X) if is_table else X


def is_on_disk(X: Any) -> bool:
    """Whether the numbers of X lie in a file: a store, a memmap, zarr or HDF5."""
    if isinstance(X, np.ndarray):
        return isinstance(X, np.memmap) and _mapping(X) is not None
    on_disk = all(hasattr(X, name) for name in ("shape", "dtype", "chunks"))
    # arrays of dask have chunks, too, and are computed, not read
    return isinstance(X, RowStore) or (on_disk and not hasattr(X, "dask"))


def _rows_of_chunk(source: Any) -> int:
    chunks = getattr(source, "chunks", None)
    return int(chunks[0]) if chunks else max(1, 2**16 // max(source.shape[1], 1))


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
