"""One column of a file: classes, texts or numbers, one for each row of the data."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from graphfold.arrays import Array
from graphfold.check import shown, some_of
from graphfold.errors import FileError
from graphfold.files import annotated, text
from graphfold.files.arrays import read_matrix
from graphfold.files.graphs import ends_like
from graphfold.files.parquet import read_frame
from graphfold.files.paths import (
    ANNOTATED,
    PathLike,
    Place,
    chosen,
    existing,
    reading,
)
from graphfold.graphs.labels import LabelIndex, as_labels, first_duplicate

FORMATS = (*text.TEXT, ".parquet", ".npy", ".npz", *ANNOTATED)


class Column(NamedTuple):
    """Values, the names of their rows if the file has any, and their own name."""

    name: str
    values: Array
    ids: Array | None


def read_column(path: PathLike, labels: Array | None, n: int) -> Column:
    """The column that ``FILE`` or ``FILE:COLUMN`` means, in the order of the rows.

    Rows meet by name where both sides have names, else by position.
    """
    with reading(path, "column of a"):
        column = _read(path)
    if column.ids is None or labels is None:
        if len(column.values) != n:
            raise FileError(
                f"{path} must have one value for each of the {n} rows; it has "
                f"{len(column.values)}"
            )
        return column
    ids = ends_like(labels, column.ids, path)
    repeated = first_duplicate(ids)
    if repeated is not None:
        raise FileError(
            f"{path}: names must be distinct; {shown(repeated)} occurs twice"
        )
    found = LabelIndex(ids).find(labels)
    if (found < 0).any():
        raise FileError(
            f"{path} must have a value for every row; it has none for "
            f"{int((found < 0).sum())} of them, such as {some_of(labels[found < 0], 3)}"
        )
    return Column(column.name, column.values[found], labels)


def _read(path: PathLike) -> Column:
    place, wanted = _split(path)
    if place.suffix in text.TEXT:
        return _of_text(place, wanted)
    if place.suffix == ".parquet":
        frame = read_frame(place)
        position, ids = _pick(place, list(frame.columns), wanted)
        values = text.typed(frame.iloc[:, position].to_numpy())
        named = as_labels(frame.iloc[:, 0]) if ids else None
        return Column(frame.columns[position], values, named)
    if place.suffix in ANNOTATED:
        return _of_annotated(place)
    values = np.asarray(read_matrix(place))
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1:
        raise FileError(f"{place} must hold one column; got shape {values.shape}")
    return Column(place.path.stem, text.typed(values), None)


def _split(path: PathLike) -> tuple[Place, str | None]:
    whole = os.fspath(path)
    file, _, wanted = whole.rpartition(":")
    split = os.path.isfile(file) and not os.path.exists(whole)
    if split and not file.lower().endswith(ANNOTATED):
        return existing(file, FORMATS), wanted
    return existing(path, FORMATS), None


def _of_text(place: Place, wanted: str | None) -> Column:
    start = text.peek(place)
    header = start.width > 1 or wanted is not None or not _continues(start)
    if wanted is None and start.width > 1 and start.second is not None:
        # "a,1" above "b,0" is a row; "id,class" above "a,1" is not
        alike = [text.is_number(c) for c in start.first[1:]]
        below = [text.is_number(c) for c in start.second[1:]]
        header = alike != below or not any(alike)
    names = start.first if header else [place.path.stem] * start.width
    position, ids = _pick(place, names, wanted)
    words = list(range(start.width))
    sheet = text.read_sheet(place, start.width, header=header, words=words)
    values = text.typed(sheet.words[position])
    return Column(names[position], values, sheet.words[0] if ids else None)


def _continues(start: text.Peek) -> bool:
    """Whether the first line of a single column is a value like the one below."""
    below = start.second[0] if start.second else start.first[0]
    return text.is_number(start.first[0]) or not text.is_number(below)


def _pick(place: Place, names: list[str], wanted: str | None) -> tuple[int, bool]:
    """Position of the column, and whether the first one names the rows."""
    if wanted is not None:
        position = names.index(chosen(names, wanted, place, "column"))
        return position, position > 0 and names[0].lower() in ("", "id", "name")
    if len(names) > 2:
        raise FileError(
            f"{place} has {len(names)} columns: name the one that is meant, such as "
            f"{place}:{some_of(names[-1:])}"
        )
    return len(names) - 1, len(names) == 2


def _of_annotated(place: Place) -> Column:
    adata = annotated.open_annotated(place)
    if adata is None:
        values: Any = annotated.read_array(place).ravel()
        return Column(place.key or place.path.stem, values, None)
    wanted = (place.key or "").removeprefix("obs/")
    name = chosen(adata.obs_columns, wanted, place.path, "obs column")
    values = text.typed(adata.obs(name).astype(object).to_numpy())
    return Column(name, values, adata.obs_names)
