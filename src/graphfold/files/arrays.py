"""Arrays and matrices of npy, npz and mtx files; never a pickle.

What a file claims is compared with its size before memory is taken for it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import sparse_parts
from graphfold.allowance import most_for
from graphfold.archives import Archive, PickledError, claim_of
from graphfold.check import some_of
from graphfold.errors import FileError
from graphfold.files import matrix_market
from graphfold.files.paths import Place, reading

#: files beyond this many bytes stay on disk, and are read by blocks of rows
STAYS_ON_DISK = 2**28
#: bytes of an entry of a sparse matrix
_ENTRY = 12
_NAMES = ("X", "embedding")
_SPARSE = {"format", "shape", "data"}


def read_matrix(place: Place) -> Any:
    """The table or matrix in a file, dense or sparse."""
    return read_named(place)[0]


def read_named(place: Place) -> tuple[Any, Any]:
    """The matrix, and the labels that stand beside it in an npz file, or None."""
    with reading(place, place.suffix):
        if place.suffix == ".mtx":
            found = matrix_market.read(place.path)
            return found.tocsr() if sp.issparse(found) else found, None
        if place.suffix == ".npy":
            return _of_npy(place), None
        with Archive(place.path) as content:
            return _of_npz(place, content)


def filled_in(matrix: Any, where: Any) -> Any:
    """A matrix without gaps; a sparse one only if it is not nearly all gaps."""
    if not sp.issparse(matrix):
        return matrix
    if 8 * math.prod(matrix.shape) > most_for(_ENTRY * matrix.nnz):
        raise FileError(
            f"{where} must hold a table that fits into memory when it is filled in; it "
            f"is {' x '.join(map(str, matrix.shape))} with {matrix.nnz} entries"
        )
    return matrix.toarray()


def is_model(place: Place) -> bool:
    """Whether an npz file is a model that an estimator has saved."""
    if place.suffix != ".npz":
        return False
    with reading(place, ".npz"), Archive(place.path) as content:
        return "header" in content


def _of_npy(place: Place) -> Any:
    size = place.path.stat().st_size
    try:
        with open(place.path, "rb") as stream:
            claim = claim_of(stream)
    except PickledError:
        raise FileError(
            f"{place} holds Python objects, which are not read because loading "
            "them would run code: save an array of numbers"
        ) from None
    if claim.size > size:
        raise ValueError(f"it claims {claim.size} bytes and has {size}")
    large = size > STAYS_ON_DISK
    return np.load(place.path, mmap_mode="r" if large else None, allow_pickle=False)


def _of_npz(place: Place, content: Archive) -> tuple[Any, Any]:
    names = list(content)
    if "header" in names:
        raise FileError(
            f"{place} is a saved model, not a table: graphfold view and report read it"
        )
    if "indptr" in names or {"row", "col"} <= {*names} or {*names} >= _SPARSE:
        return _sparse_of(content), None
    wanted = next((name for name in _NAMES if name in names), None)
    if wanted is None and len(names) != 1:
        raise FileError(
            f"{place} must hold one array, or one called X; it has {some_of(names)}"
        )
    labels = content["labels"] if "labels" in names and wanted else None
    return content[wanted or names[0]], labels


def _sparse_of(content: Archive) -> Any:
    """What ``scipy.sparse.save_npz`` has written; SciPy's own reader checks little."""
    word = content["format"].item()
    layout = word.decode("ascii") if isinstance(word, bytes) else str(word)
    data, shape = content["data"], content["shape"]
    if layout in ("csr", "csc", "bsr"):
        make = {
            "csr": sparse_parts.compressed_rows,
            "csc": sparse_parts.compressed_columns,
            "bsr": sparse_parts.blocks,
        }[layout]
        return make(data, content["indices"], content["indptr"], shape)
    if layout == "coo":
        if "coords" in content:
            rows, columns = content["coords"]
        else:
            rows, columns = content["row"], content["col"]
        return sparse_parts.coordinates(data, rows, columns, shape)
    if layout == "dia":
        return sparse_parts.diagonals(data, content["offsets"], shape)
    raise ValueError(f"it has a sparse matrix of an unknown layout, {layout[:40]!r}")
