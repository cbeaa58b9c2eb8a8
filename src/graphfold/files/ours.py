"""Whether a file was written by ``graphfold``: such a file may be replaced by another.

Tables of text and parquet are known by their columns ``id, component1, ...``, npz files
by their arrays, pages by their data; h5ad, zarr and mtx carry a mark. An npy file has
no place for one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphfold.archives import Archive
from graphfold.files import text
from graphfold.files.arrays import is_model
from graphfold.files.paths import TABLES, Place, optional, place_of
from graphfold.files.pieces import files_of

#: an attribute of h5ad files and zarr stores, and a comment in mtx files
MARK, NAME = "written-by", "graphfold"
_PAGE = b'<script type="application/json" id="meta">'
_COLUMNS = ["id", "component1"]


def is_ours(path: Path) -> bool:
    """Whether ``graphfold`` wrote what is at ``path``; False where nothing tells."""
    try:
        if path.suffix.lower() == ".html":
            return _PAGE in path.read_bytes()
        place = place_of(path, TABLES)
        return bool(_CHECKS[place.suffix](place))
    except Exception:
        return False  # broken, or of a package that is not there: not known to be ours


def _text(place: Place) -> bool:
    return text.peek(place).first[:2] == _COLUMNS


def _parquet(place: Place) -> bool:
    parquet = optional("pyarrow.parquet", "tables", "parquet files")
    files = files_of(place.path)
    return bool(files) and all(
        set(_COLUMNS) <= set(parquet.read_schema(file).names) for file in files
    )


def _npz(place: Place) -> bool:
    if is_model(place):
        return True
    with Archive(place.path) as content:
        return "embedding" in content and set(content) <= {"embedding", "labels"}


def _mtx(place: Place) -> bool:
    with open(place.path, "rb") as stream:
        stream.readline(1024)
        return stream.readline(1024).strip() == f"%{NAME}".encode()


def _h5ad(place: Place) -> bool:
    h5py = optional("h5py", "disk", "h5ad files")
    with h5py.File(place.path, "r") as file:
        return bool(file.attrs.get(MARK) == NAME)


def _zarr(place: Place) -> bool:
    zarr = optional("zarr", "disk", "zarr stores")
    return bool(zarr.open(str(place.path), mode="r").attrs.get(MARK) == NAME)


def _never(_: Any) -> bool:
    return False


_CHECKS = {
    ".csv": _text,
    ".tsv": _text,
    ".parquet": _parquet,
    ".npy": _never,
    ".npz": _npz,
    ".mtx": _mtx,
    ".h5ad": _h5ad,
    ".zarr": _zarr,
}
