"""Parquet files in pieces that workers read: some row groups of a file each."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.errors import FileError
from graphfold.files.paths import Place, optional, reading
from graphfold.graphs.labels import as_labels

#: bytes of a piece, uncompressed: a larger file is split between its row groups
LARGE = 2**27


@dataclass(frozen=True)
class Piece:
    """Some row groups of a file, and how many rows they have."""

    path: str
    groups: tuple[int, ...]
    n_rows: int

    def read(self, names: Sequence[str]) -> Any:
        """Some of the columns, as a table of Arrow's."""
        with reading(self.path, ".parquet"):
            file = _parquet().ParquetFile(self.path)
            return file.read_row_groups(list(self.groups), columns=list(names))

    def numbers(self, names: Sequence[str], dtype: Any) -> Array:
        """Columns of numbers as an array; what is missing is NaN."""
        table = self.read(names)
        X = np.empty((table.num_rows, len(names)), dtype)
        for i, name in enumerate(names):
            column = table.column(name).cast("float64", safe=False)
            X[:, i] = column.to_numpy()
        return X

    def column(self, name: str) -> Array:
        """One column, whatever it holds; texts as objects, each as long as it is."""
        return np.asarray(self.read([name]).column(name).to_pandas())

    def first(self, name: str, count: int) -> Array:
        """The first values of a column, as labels."""
        with reading(self.path, ".parquet"):
            file = _parquet().ParquetFile(self.path)
            some = file.iter_batches(count, list(self.groups), columns=[name])
            return as_labels(next(some).column(0).to_pandas())

    def head(self, names: Sequence[str], count: int) -> dict[str, Array]:
        """The first values of some columns."""
        with reading(self.path, ".parquet"):
            file = _parquet().ParquetFile(self.path)
            some = file.iter_batches(count, list(self.groups), columns=list(names))
            frame = next(some).to_pandas()
        return {name: np.asarray(frame[name]) for name in names}


@dataclass(frozen=True)
class Columns:
    """Names of columns, those of the index, and which of them hold what.

    ``numeric`` are numbers, ``narrow`` those of at most 32 bits, ``empty`` has none.
    """

    names: list[str]
    index: list[str]
    numeric: frozenset[str]
    narrow: frozenset[str]
    empty: frozenset[str]


def files_of(path: Path) -> list[Path]:
    """The parquet files of a folder, those of part 10 behind those of part 9."""
    if not path.is_dir():
        return [path]
    listed = [file for file in path.iterdir() if _is_parquet(file)]
    return sorted(listed, key=lambda file: _by_number(file.name))


def is_folder_of_parquet(path: Path) -> bool:
    """Whether a folder has parquet files in it."""
    return path.is_dir() and any(_is_parquet(file) for file in path.iterdir())


def _is_parquet(file: Path) -> bool:
    hidden = file.name.startswith((".", "_"))
    return file.suffix.lower() == ".parquet" and not hidden and file.is_file()


def _by_number(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def pieces_of(place: Place) -> tuple[list[Piece], Columns]:
    """The pieces that have rows, and the columns: only the ends of files are read."""
    parquet = _parquet()
    pieces: list[Piece] = []
    columns: Columns | None = None
    for file in files_of(place.path):
        path = os.path.abspath(file)
        with reading(file, ".parquet"):
            opened = parquet.ParquetFile(path)
            own, rows = _columns(opened.schema_arrow), opened.metadata.num_rows
        if rows:
            columns = own if columns is None else _agreed(columns, own, place, file)
            pieces += _row_groups(path, opened.metadata)
    if columns is None:
        raise FileError(f"{place} must hold parquet files with rows; it has none")
    return pieces, columns


def _agreed(columns: Columns, own: Columns, place: Place, file: Path) -> Columns:
    """The columns of all files up to this one, which have to be the same."""
    if (own.names, own.index) != (columns.names, columns.index):
        raise FileError(
            f"{place} must have the same columns in every file; {file.name} has "
            f"{some_of(own.index + own.names)}, those before it "
            f"{some_of(columns.index + columns.names)}"
        )
    wrong = sorted(columns.numeric - own.numeric - own.empty)
    if wrong:
        raise FileError(
            f"{place} must have the same columns in every file; {file.name} has no "
            f"numbers in {some_of(wrong)}, those before it have"
        )
    return replace(columns, narrow=columns.narrow & (own.narrow | own.empty))


def _row_groups(path: str, metadata: Any) -> list[Piece]:
    """Row groups next to each other, as many as a piece may have."""
    pieces: list[Piece] = []
    groups: list[int] = []
    rows = size = 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        if rows and size + group.total_byte_size > LARGE:
            pieces.append(Piece(path, tuple(groups), rows))
            groups, rows, size = [], 0, 0
        groups.append(i)
        rows, size = rows + group.num_rows, size + group.total_byte_size
    return [*pieces, Piece(path, tuple(groups), rows)] if rows else pieces


def _columns(schema: Any) -> Columns:
    from pyarrow import types

    known = (schema.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in known if isinstance(name, str)]  # else it only counts

    def those(*kinds: Any) -> frozenset[str]:
        found = (field for field in schema if any(is_(field.type) for is_ in kinds))
        return frozenset(field.name for field in found)

    return Columns(
        [name for name in schema.names if name not in index],
        index,
        those(types.is_integer, types.is_floating, types.is_boolean),
        those(types.is_float16, types.is_float32),
        those(types.is_null),
    )


def _parquet() -> Any:
    return optional("pyarrow.parquet", "tables", "parquet files")
