"""Tables with annotations: h5ad files and zarr stores, read part by part.

Nothing is read that was not asked for. What a part claims to hold is compared with the
size of its file first, and sparse matrices are made by ``sparse_parts``: a place
outside of a matrix would end the process in SciPy's compiled code.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from graphfold import sparse_parts
from graphfold.allowance import refuse_beyond
from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.errors import FileError
from graphfold.files.names import as_words
from graphfold.files.paths import Place, chosen, optional, reading

#: where an embedding is put
KEY = "X_graphfold"
#: chunks that any array may have, and bytes of a chunk where there are more
MOST_CHUNKS, SMALL_CHUNK = 2**16, 2**10
_PARTS = ("layers", "obsm", "obsp")
_SPARSE = {
    "csr": sparse_parts.compressed_rows,
    "csc": sparse_parts.compressed_columns,
}
#: bytes that a text, or anything else that is no number, takes in memory at least
_TEXT = 100
_REMEDY = "write it without compression"


class Annotated:
    """An h5ad file or an annotated zarr store, whose parts are read on request.

    Parameters
    ----------
    place : Place
        The file or store; its key is not used.
    """

    def __init__(self, place: Place):
        self.place = place._replace(key=None)

    @cached_property
    def size(self) -> int:
        """Bytes on disk."""
        return self.place.size

    def names_in(self, part: str) -> list[str]:
        """Names of the arrays in ``obsm``, ``layers`` or ``obsp``."""
        with self._open() as root:
            return sorted(root[part]) if part in root else []

    @cached_property
    def obs_names(self) -> Array:
        """Names of the rows."""
        return self._index("obs")

    @cached_property
    def var_names(self) -> Array:
        """Names of the columns of X."""
        return self._index("var")

    @cached_property
    def obs_columns(self) -> list[str]:
        """Names of the columns that annotate the rows."""
        with self._open() as root:
            frame = self._part(root, "obs")
            if not _is_group(frame):
                return [name for name in frame.dtype.names or () if name != "index"]
            return [str(name) for name in frame.attrs["column-order"]]

    def obs(self, name: str) -> Any:
        """A column that annotates the rows, as a Series of pandas'."""
        import pandas

        with self._open() as root:
            frame = self._part(root, "obs")
            if _is_group(frame):
                values = self._element(frame[name])
            else:
                self._check(frame)
                values = frame[name]
            found = pandas.Series(values)
        self._check_rows(len(found), f"obs column {name!r}")
        return found

    def matrix(self, key: str | None) -> Any:
        """X, ``layers/NAME``, ``obsm/NAME`` or ``obsp/NAME``, dense or sparse."""
        key = key or "X"
        part, _, name = key.partition("/")
        where = self.place.path
        if key != "X" and (part not in _PARTS or not name):
            raise FileError(
                f"{where}: a key must be X, layers/NAME, obsm/NAME or obsp/NAME; "
                f"got {key}"
            )
        if key == "X":
            with self._open() as root:
                if "X" not in root or _is_null(root["X"]):
                    listed = some_of([f"obsm/{n}" for n in self.names_in("obsm")])
                    raise FileError(
                        f"{where} has no X; name a table in it: "
                        f"{listed or 'it has none'}"
                    )
        else:
            chosen(self.names_in(part), name, where, f"{part} called")
        with self._open() as root:
            found = self._numbers(root[key])
        self._check_shape(found, part, key)
        return found

    def whole(self) -> Any:
        """All of it as an AnnData, to be written elsewhere."""
        with self._open() as root:
            self._check_sparse(root)
            self._check(root)
        reader = "read_h5ad" if self.place.suffix == ".h5ad" else "read_zarr"
        with reading(self.place, self.place.suffix):
            return getattr(anndata(), reader)(self.place.path)

    # -- parts ------------------------------------------------------------------------

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with reading(self.place, self.place.suffix):
            if self.place.suffix != ".h5ad":
                yield _open_zarr(self.place)
                return
            h5py = optional("h5py", "disk", "h5ad files")
            with h5py.File(self.place.path, "r") as file:
                yield file

    def _part(self, root: Any, name: str) -> Any:
        if name not in root:
            raise FileError(f"{self.place} is not an annotated table: it has no {name}")
        return root[name]

    def _index(self, name: str) -> Array:
        with self._open() as root:
            frame = self._part(root, name)
            if _is_group(frame):
                values = self._element(frame[frame.attrs["_index"]])
            else:  # written by anndata before 0.7
                self._check(frame)
                listed = list(frame.dtype.names or ())
                values = frame["index" if "index" in listed else listed[0]]
            texts = [
                value.decode() if isinstance(value, bytes) else str(value)
                for value in np.asarray(values).ravel().tolist()
            ]
            return as_words({0: texts}, self.place)[0]

    def _numbers(self, element: Any) -> Any:
        """A matrix: dense, sparse, or the values of a data frame."""
        layout = _layout_of(element)
        if layout:
            return self._sparse(element, layout)
        found = self._element(element)
        return found.to_numpy() if hasattr(found, "to_numpy") else found

    def _sparse(self, group: Any, layout: str) -> Any:
        parts = [group[name] for name in ("data", "indices", "indptr")]
        for part in parts:
            self._check(part)
        data, indices, indptr = (np.asarray(part[()]) for part in parts)
        attribute = "shape" if "shape" in group.attrs else "h5sparse_shape"
        shape = [int(size) for size in group.attrs[attribute]]
        return _SPARSE[layout](
            _plain(data),
            sparse_parts.signed(indices),
            sparse_parts.signed(indptr),
            shape,
        )

    def _element(self, element: Any) -> Any:
        self._check(element)
        if not _is_group(element) and element.dtype.kind in "biufc":
            return np.asarray(element[()])
        return _reader()(element)

    # -- checks -----------------------------------------------------------------------

    def _check(self, element: Any) -> None:
        """Refuse a part that claims more than its file can hold."""
        needed = 0
        for array in _arrays_of(element):
            refuse_chunks(array)
            needed += _bytes_of(array)
        refuse_beyond(needed, self.size, _REMEDY)

    def _check_sparse(self, group: Any) -> None:
        for name in group:
            element = group[name]
            layout = _layout_of(element)
            if layout:
                self._sparse(element, layout)
            elif _is_group(element):
                self._check_sparse(element)

    def _check_rows(self, count: int, what: str) -> None:
        n = len(self.obs_names)
        if count != n:
            raise FileError(
                f"{self.place}: {what} must have one row for each of the {n} rows of "
                f"obs; it has {count}"
            )

    def _check_shape(self, matrix: Any, part: str, key: str) -> None:
        shape = tuple(getattr(matrix, "shape", ()))
        if not shape:
            raise FileError(f"{self.place}: {key} must be a table of numbers")
        self._check_rows(shape[0], key)
        names = {"X": self.var_names, "layers": self.var_names, "obsp": self.obs_names}
        if part in names and shape[1:] != (len(names[part]),):
            raise FileError(
                f"{self.place}: {key} must have {len(names[part])} columns; its shape "
                f"is {shape}"
            )


def anndata() -> Any:
    """The package, or how to get it."""
    return optional("anndata", "ad", "h5ad files and annotated zarr stores")


def _reader() -> Any:
    """The function of anndata that reads one element; it has moved."""
    for name in ("anndata.io", "anndata.experimental"):
        with suppress(ImportError):
            return import_module(name).read_elem
    return anndata().read_elem


def open_annotated(place: Place) -> Annotated | None:
    """The parts of a file or store; None if a zarr store is not annotated."""
    if place.suffix != ".h5ad" and not is_annotated(place):
        return None
    anndata()
    return Annotated(place)


def is_annotated(place: Place) -> bool:
    """Whether a zarr store is an AnnData."""
    return bool(_open_zarr(place).attrs.get("encoding-type") == "anndata")


def array_in(place: Place) -> Any:
    """The array of a zarr store, or the one that is named in it (X by default).

    It stays on disk.
    """
    store = _open_zarr(place)
    if not hasattr(store, "shape"):
        names = [name for name, _ in store.arrays()]
        wanted = place.key or (names[0] if len(names) == 1 else "X")
        if "/" in wanted and wanted in store:
            store = store[wanted]
        else:
            store = store[chosen(names, wanted, place.path, "array called")]
    with reading(place, ".zarr"):
        for array in _arrays_of(store):
            refuse_chunks(array)
    return store


def read_array(place: Place) -> Array:
    """The array of a zarr store in memory, if it holds what it claims."""
    array = array_in(place)
    with reading(place, ".zarr"):
        refuse_beyond(2 * _bytes_of(array), place.size, _REMEDY)
        return np.asarray(array)


def refuse_chunks(array: Any) -> None:
    """Refuse an array that is cut into so many pieces that reading takes for ever."""
    shape, chunks = array.shape, getattr(array, "chunks", None)
    if not chunks or 0 in chunks:
        return
    count = math.prod(
        -(-size // chunk) for size, chunk in zip(shape, chunks, strict=True)
    )
    if count > MOST_CHUNKS and _size_of(array) < SMALL_CHUNK * count:
        raise ValueError(
            f"an array in it is cut into {count} chunks of {_size_of(array) // count} "
            f"bytes: write it with chunks of at least {SMALL_CHUNK} bytes"
        )


def _open_zarr(place: Place) -> Any:
    zarr = optional("zarr", "disk", "zarr stores")
    with reading(place.path, ".zarr"):
        return zarr.open(str(place.path), mode="r")


def _is_group(element: Any) -> bool:
    return not hasattr(element, "shape")


def _is_null(element: Any) -> bool:
    """Whether an element says that there is none, as anndata writes it since 0.12."""
    return element.attrs.get("encoding-type") == "null"


def _layout_of(element: Any) -> str | None:
    """ "csr" or "csc" if an element is a sparse matrix."""
    if not _is_group(element):
        return None
    kind = element.attrs.get("encoding-type") or element.attrs.get("h5sparse_format")
    layout = str(kind).removesuffix("_matrix")
    return layout if layout in _SPARSE else None


def _arrays_of(element: Any) -> Iterator[Any]:
    """An array, or all arrays in a group."""
    if not _is_group(element):
        yield element
        return
    for name in element:
        yield from _arrays_of(element[name])


def _size_of(array: Any) -> int:
    return math.prod(array.shape or ()) * max(
        1, int(getattr(array.dtype, "itemsize", 8))
    )


def _bytes_of(array: Any) -> int:
    """Bytes that an array takes in memory; at least one of its chunks is unpacked."""
    if array.shape is None:
        return 0
    item = max(1, int(getattr(array.dtype, "itemsize", 8)))
    if getattr(array.dtype, "kind", "O") not in "biufc":
        item += _TEXT
    chunk = math.prod(getattr(array, "chunks", None) or ())
    return item * max(math.prod(array.shape), chunk)


def _plain(values: Array) -> Array:
    """Numbers in the order of bytes of this machine, and not of half precision."""
    if values.dtype == np.float16:
        return values.astype(np.float32)
    return values.astype(values.dtype.newbyteorder("="), copy=False)
