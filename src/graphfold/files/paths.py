"""Which format a path means, whether it can be read, and whether it can be written."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from graphfold.check import some_of
from graphfold.errors import FileError, GraphfoldError, PackageError
from graphfold.replacing import recover

TEXT = {".csv": ",", ".tsv": "\t"}
ANNOTATED = (".h5ad", ".zarr")
MATRICES = (".npy", ".npz", ".mtx")
TABLES = (*TEXT, ".parquet", *MATRICES, *ANNOTATED)
GRAPHS = (*TABLES, ".graphml")

_KEYED = re.compile(r"(.+\.(?:h5ad|zarr)):(.+)", re.IGNORECASE)

PathLike = str | os.PathLike[str]


class Place(NamedTuple):
    """A file, its format in lower case, and what is meant inside it."""

    path: Path
    suffix: str
    key: str | None = None

    @property
    def compressed(self) -> bool:
        """Whether it is a text file in gzip's format."""
        return self.path.suffix.lower() == ".gz"

    @property
    def size(self) -> int:
        """Bytes of the file, or of all files of a folder."""
        if not self.path.is_dir():
            return self.path.stat().st_size
        files = (file for file in self.path.rglob("*") if file.is_file())
        return sum(file.stat().st_size for file in files)

    def __str__(self) -> str:
        return str(self.path) if self.key is None else f"{self.path}:{self.key}"


def place_of(path: PathLike, suffixes: Collection[str]) -> Place:
    """The place that ``path`` or ``path:key`` names, if its format is one of these."""
    key = None
    matched = _KEYED.fullmatch(os.fspath(path))
    if matched:
        path, key = matched[1], matched[2]
    found = Path(path)
    suffix = found.suffix.lower()
    if suffix == ".gz" and Path(found.stem).suffix.lower() in TEXT:
        suffix = Path(found.stem).suffix.lower()
    if suffix not in suffixes:
        raise FileError(
            f"a file must end in one of {', '.join(suffixes)}; got {os.fspath(path)}"
        )
    return Place(found, suffix, key)


def existing(path: PathLike, suffixes: Collection[str] = TABLES) -> Place:
    """The place that ``path`` names, if it is there."""
    place = place_of(path, suffixes)
    if place.suffix == ".zarr":
        recover(place.path)
        if place.path.is_dir():
            return place
    if not place.path.is_file():
        raise FileError(f"{place.path} is not a file")
    return place


def to_be_written(
    path: PathLike,
    suffixes: Collection[str] = TABLES,
    *,
    folders: Collection[str] = (".zarr",),
) -> Place:
    """The place that ``path`` names, if a file can be written there.

    ``folders`` are the formats of which a folder takes the place of another.
    """
    place = place_of(path, suffixes)
    if place.key is not None:
        raise FileError(f"a file is written as a whole; got {place}")
    folder = place.path.absolute().parent
    if not folder.is_dir():
        raise FileError(f"{folder} is not a folder, so {path} cannot be written")
    if place.path.is_dir() and place.suffix not in folders:
        raise FileError(f"{path} is a folder, so no file can be written there")
    if not os.access(folder, os.W_OK):
        raise FileError(f"{folder} does not allow writing, so {path} cannot be written")
    return place


@contextmanager
def reading(place: Any, kind: str) -> Iterator[None]:
    """Whatever a library says of a broken file becomes one sentence."""
    try:
        yield
    except (GraphfoldError, ImportError):
        raise
    except MemoryError:
        raise FileError(
            f"{place} takes more memory than there is: read it where there is more, "
            "or leave out rows or columns"
        ) from None
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        cause = some_of(lines[:1]) or type(error).__name__
        raise FileError(f"{place} is not a readable {kind} file: {cause}") from error


def optional(module: str, extra: str, why: str) -> Any:
    """A package that is not always there, or the sentence on how to get it."""
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise PackageError(
            f"{why} need {name}: pip install 'graphfold[{extra}]'"
        ) from None


def chosen(names: Collection[str], wanted: str, where: Any, what: str) -> str:
    """``wanted`` if it is among the names; else what there is."""
    if wanted not in names:
        listed = some_of(sorted(map(str, names)), 8) or "none"
        raise FileError(f"{where} has no {what} {wanted!r}; there are: {listed}")
    return wanted
