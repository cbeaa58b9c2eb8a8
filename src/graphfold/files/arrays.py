"""Arrays and matrices of npy, npz and mtx files; never a pickle."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from graphfold.check import some_of
from graphfold.errors import FileError
from graphfold.files.paths import Place, reading

#: files beyond this many bytes stay on disk, and are read by blocks of rows
STAYS_ON_DISK = 2**28
_NAMES = ("X", "embedding")


def read_matrix(place: Place) -> Any:
    """The table or matrix in a file, dense or sparse."""
    return read_named(place)[0]


def read_named(place: Place) -> tuple[Any, Any]:
    """The matrix, and the labels that stand beside it in an npz file, or None."""
    with reading(place, place.suffix):
        if place.suffix == ".mtx":
            found = scipy.io.mmread(place.path)
            return found.tocsr() if sp.issparse(found) else found, None
        if place.suffix == ".npy":
            return _of_npy(place), None
        return _of_npz(place)


def is_model(place: Place) -> bool:
    """Whether an npz file is a model that an estimator has saved."""
    if place.suffix != ".npz":
        return False
    with reading(place, ".npz"), np.load(place.path, allow_pickle=False) as content:
        return "header" in content


def _of_npy(place: Place) -> Any:
    large = place.path.stat().st_size > STAYS_ON_DISK
    try:
        return np.load(place.path, mmap_mode="r" if large else None, allow_pickle=False)
    except ValueError as error:
        if "allow_pickle" in str(error) and _begins_as_npy(place):
            raise FileError(
                f"{place} holds Python objects, which are not read because loading "
                "them would run code: save an array of numbers"
            ) from None
        raise FileError(f"{place} is not a readable .npy file") from error


def _begins_as_npy(place: Place) -> bool:
    with open(place.path, "rb") as stream:
        return stream.read(6) == b"\x93NUMPY"


def _of_npz(place: Place) -> tuple[Any, Any]:
    with np.load(place.path, allow_pickle=False) as content:
        names = list(content)
        if "header" in names:
            raise FileError(
                f"{place} is a saved model, not a table: graphfold view and report "
                "read it"
            )
        if "indptr" in names or ("row" in names and "col" in names):
            return sp.load_npz(place.path), None
        wanted = next((name for name in _NAMES if name in names), None)
        if wanted is None and len(names) != 1:
            raise FileError(
                f"{place} must hold one array, or one called X; it has {some_of(names)}"
            )
        labels = content["labels"] if "labels" in names and wanted else None
        return content[wanted or names[0]], labels
