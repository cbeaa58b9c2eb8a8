"""Tables of numbers, with names of rows and columns, and what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.check import shown, some_of
from graphfold.errors import FileError
from graphfold.files import annotated, text
from graphfold.files.arrays import read_named
from graphfold.files.parquet import read_frame
from graphfold.files.paths import (
    TABLES,
    PathLike,
    Place,
    chosen,
    existing,
    reading,
)
from graphfold.graphs.labels import as_labels, first_duplicate

_ID_NAMES = ("", "unnamed: 0", "id", "node", "node_id", "label", "name", "index")
_COMPONENT = "component"
#: says that no column names the rows
NO_IDS = "none"


class Table(NamedTuple):
    """Numbers, names of rows and columns if there are any, and columns set aside.

    ``extra`` are the columns that were asked for by name, or that hold words;
    ``source`` the file, ``annotated`` the other parts of an annotated one.
    """

    X: Any
    labels: Any
    columns: list[str] | None
    extra: dict[str, Array] = {}  # noqa: RUF012 (never changed)
    source: Place | None = None
    annotated: Any = None


def read_table(
    path: PathLike,
    *,
    aside: Sequence[str] = (),
    words: bool = False,
    ids: str | None = None,
) -> Table:
    """A table of numbers; a first column of names (or called "id") labels the rows.

    ``ids`` names another column that labels them, or is "none". Columns named in
    ``aside`` are no part of X. With ``words`` columns of text are set
    aside as well, and of a table that has columns called component1, component2, ...
    all others: what ``graphfold embed`` has written.
    """
    place = existing(path, TABLES)
    with reading(place, place.suffix):
        return _of_file(place, aside, words, ids)


def _of_file(place: Place, aside: Sequence[str], words: bool, ids: str | None) -> Table:
    if place.suffix in text.TEXT:
        table = _of_text(place, aside, words, ids)
    elif place.suffix == ".parquet":
        table = _of_parquet(place, aside, words, ids)
    elif ids is not None:
        raise FileError(
            f"{place} has no columns that could name its rows; got --id-column {ids}"
        )
    elif place.suffix in (".h5ad", ".zarr"):
        table = _of_annotated(place, aside, words)
    else:
        if aside:
            raise FileError(
                f"{place} has no named columns, so none can be left out; got {aside[0]}"
            )
        X, labels = read_named(place)
        table = Table(X, None if labels is None else as_labels(labels), None)
    check_table(table, place)
    return table._replace(source=place)


def _of_text(place: Place, aside: Sequence[str], words: bool, ids: str | None) -> Table:
    start = text.peek(place)
    if start.width == 1 and any(mark in start.first[0] for mark in ";\t|,"):
        mark = "tabs" if place.suffix == ".tsv" else "commas"
        raise FileError(
            f"{place} must have columns separated by {mark}; it begins with "
            f"{shown(start.first[0])}"
        )
    header = start.first if _is_header(start.first, start.second) else None
    row = start.second if header else start.first
    if row is None:
        raise FileError(f"{place} must have at least one row below its first line")
    names = header or [str(i + 1) for i in range(start.width)]
    first = is_label_column(header[0] if header else "-", row[0])
    label = label_position(names, place, aside, ids, first)
    set_aside = columns_aside(names, row, place, aside, words, label)
    taken = {*set_aside, *([] if label is None else [label])}
    sheet = text.read_sheet(
        place, start.width, header=header is not None, words=sorted(taken)
    )
    kept = [name for i, name in enumerate(names) if i not in taken]
    return Table(
        sheet.numbers,
        None if label is None else sheet.words[label],
        kept if header else None,
        {names[i]: text.typed(sheet.words[i]) for i in set_aside},
    )


def label_position(
    names: list[str], place: Place, aside: Sequence[str], ids: str | None, first: bool
) -> int | None:
    """Position of the column that names the rows: ``ids``, or the first if it may."""
    if ids is None:
        return 0 if first and names[0] not in aside else None
    if ids == NO_IDS and ids not in names:
        return None
    return names.index(chosen(names, ids, place, "column"))


def columns_aside(
    names: list[str],
    row: list[str],
    place: Place,
    aside: Sequence[str],
    words: bool,
    label: int | None,
) -> list[int]:
    """Positions of the columns that are no part of X, nor names of the rows."""
    for name in aside:
        chosen(names, name, place, "column")
    rest = [i for i in range(len(names)) if i != label]
    components = {i for i in rest if _is_component(names[i])}
    if words and components:
        return [i for i in rest if i not in components]
    left_out = set(aside)
    return [
        i
        for i in rest
        if names[i] in left_out or (words and not text.is_number(row[i]))
    ]


def _of_parquet(
    place: Place, aside: Sequence[str], words: bool, ids: str | None
) -> Table:
    frame = read_frame(place)
    names = list(frame.columns)
    labels: Any = None
    if ids is None and type(frame.index).__name__ != "RangeIndex":
        labels = frame.index
    elif names and len(frame):
        first = is_label_column(names[0], str(frame[names[0]].iloc[0]))
        label = label_position(names, place, aside, ids, first)
        if label is not None:
            labels = frame[names[label]]
            frame = frame[[name for i, name in enumerate(names) if i != label]]
    names = list(frame.columns)
    row = ["x" if frame[name].dtype.kind not in "fiub" else "0" for name in names]
    positions = columns_aside(names, row, place, aside, words, None)
    extra = {names[i]: text.typed(frame[names[i]].to_numpy()) for i in positions}
    for i, name in enumerate(names):
        if name not in extra and row[i] == "x":
            raise FileError(
                f"{place} must hold numbers, but for a first column of names; column "
                f"{name!r} has {frame[name].iloc[0]!r}: {text.remedy_for_words(name)}"
            )
    kept = [name for name in names if name not in extra]
    labels = None if labels is None else as_labels(labels)
    return Table(frame[kept].to_numpy(dtype=float), labels, kept, extra)


def _of_annotated(place: Place, aside: Sequence[str], words: bool) -> Table:
    adata = annotated.open_annotated(place)
    if adata is None:
        if aside:
            raise FileError(f"{place} has no columns beside its array; got {aside[0]}")
        return Table(annotated.array_in(place), None, None)
    key = place.key
    if key is None and words and annotated.KEY in adata.names_in("obsm"):
        key = f"obsm/{annotated.KEY}"
    listed = adata.obs_columns
    taken = listed if words else [chosen(listed, n, place, "obs column") for n in aside]
    X = adata.matrix(key)
    extra = {name: _of_obs(adata.obs(name)) for name in taken}
    columns = adata.var_names.tolist() if key in (None, "X") else None
    return Table(X, adata.obs_names, columns, extra, annotated=adata)


def _of_obs(series: Any) -> Array:
    values = series.astype(object).where(series.notna(), "").to_numpy()
    return text.typed(values) if series.dtype.kind not in "fiub" else series.to_numpy()


def check_table(table: Table, place: Place) -> None:
    """Refuse what is no table of finite numbers with distinct names of rows."""
    X = table.X
    shape = tuple(getattr(X, "shape", ()))
    if len(shape) != 2:
        raise FileError(
            f"{place} must hold a table of rows and columns; got shape {shape}"
        )
    if np.dtype(X.dtype).kind not in "fiub":
        raise FileError(f"{place} must hold numbers; got {X.dtype}")
    if 0 in shape:
        raise FileError(
            f"{place} must have at least one row and one column of numbers; got "
            f"{shape[0]} rows and {shape[1]} columns"
        )
    if isinstance(X, np.ndarray) and not isinstance(X, np.memmap):
        bad = ~np.isfinite(X).all(axis=1)
    elif sp.issparse(X):
        entries = sp.coo_array(X)
        bad = np.zeros(shape[0], dtype=bool)
        bad[entries.row[~np.isfinite(entries.data)]] = True
    else:
        bad = np.zeros(0, dtype=bool)  # on disk: the estimator looks block by block
    if bad.any():
        names = np.arange(shape[0]) if table.labels is None else table.labels
        first = some_of(names[bad][:5].tolist())
        raise FileError(
            f"{place} must hold finite numbers; {int(bad.sum())} rows have NaN or "
            f"infinity: {first}"
        )
    repeated = None if table.labels is None else first_duplicate(table.labels)
    if repeated is not None:
        raise FileError(
            f"{place}: names of rows must be distinct; {shown(repeated)} occurs twice "
            "(a column of classes can be left out with --label-column)"
        )


# -- what a column is -----------------------------------------------------------------


def _is_header(cells: list[str], below: list[str] | None) -> bool:
    """Names of columns: words, or the 0, 1, 2 ... that pandas writes without any.

    Where some cells are words and some numbers, it is a header if the line below is
    not of the same pattern: a class may stand behind the numbers of a row.
    """
    counted = [str(i) for i in range(len(cells))]
    if cells == counted or (cells[0] == "" and cells[1:] == counted[:-1]):
        return True
    pattern = _words_in(cells)
    if all(pattern) or not any(pattern):
        return any(pattern)
    return below is None or _words_in(below) != pattern


def _words_in(cells: list[str]) -> list[bool]:
    # an empty cell is a missing number, not the name of a column
    return [cell != "" and not text.is_number(cell) for cell in cells[1:] or cells]


def is_label_column(name: str, cell: str) -> bool:
    """Whether a first column names the rows: by its own name, or by holding words."""
    return name.lower() in _ID_NAMES or not text.is_number(cell)


def _is_component(name: str) -> bool:
    return name.startswith(_COMPONENT) and name[len(_COMPONENT) :].isdecimal()
