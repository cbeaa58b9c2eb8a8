"""Tables that workers read and write, part by part: nobody holds them whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphfold.arrays import Array
from graphfold.distributed.blocks import Tall
from graphfold.distributed.features import as_array, blocks_of
from graphfold.distributed.rows import resized
from graphfold.distributed.running import values
from graphfold.distributed.tasks import task
from graphfold.errors import FileError
from graphfold.files import annotated, text
from graphfold.files.graphs import may_be_names
from graphfold.files.ours import MARK, NAME
from graphfold.files.paths import PathLike, Place, optional, place_of, to_be_written
from graphfold.files.pieces import (
    Columns,
    Piece,
    is_folder_of_parquet,
    pieces_of,
)
from graphfold.files.tables import (
    Table,
    check_table,
    columns_aside,
    is_label_column,
    label_position,
)
from graphfold.replacing import recover

FORMATS = (".parquet", ".zarr")
#: rows that a block of a zarr array has at least, if the array has them
ROWS_AT_ONCE = 2**15
#: labels that are looked at to know how rows are named
FEW = 3
#: rows that are looked at to know whether a column may name them
LOOKED_AT = 1000


class Parts(NamedTuple):
    """What a ``Table`` is, in collections of Dask's; and a few of the labels.

    ``pieces`` are the parts of parquet files, ``names`` is the column in them that
    labels the rows, if there is one.
    """

    X: Any
    labels: Any
    columns: list[str] | None
    extra: dict[str, Any]
    source: Place
    few: Array | None = None
    pieces: tuple[Piece, ...] = ()
    names: str | None = None


def place_of_parts(path: PathLike) -> Place:
    """The place that ``path`` names, if workers can read it part by part."""
    recover(path)
    if is_folder_of_parquet(Path(path)):
        return Place(Path(path), ".parquet")
    try:
        place = place_of(path, FORMATS)
    except FileError:
        raise FileError(
            "rows for Dask must be in a parquet file, a folder of them, or a zarr "
            f"array (.zarr); got {os.fspath(path)}"
        ) from None
    if not place.path.exists():
        raise FileError(f"{place.path} is neither a file nor a folder")
    return place


def parts_to_be_written(path: PathLike) -> Place:
    """The place that ``path`` names, if workers can write a folder there."""
    try:
        place_of(path, FORMATS)
    except FileError:
        raise FileError(
            "what Dask embeds is written to a folder that ends in .parquet or .zarr; "
            f"got {os.fspath(path)}"
        ) from None
    place = to_be_written(path, FORMATS, folders=FORMATS)
    if place.suffix == ".parquet" and place.path.is_dir():
        others = [
            name
            for name in os.listdir(place.path)
            if not name.startswith(("_", ".")) and not name.endswith(".parquet")
        ]
        if others:
            raise FileError(
                f"{path} is a folder with more in it than parquet files, such as "
                f"{others[0]}, so it is not replaced"
            )
    return place


# -- reading --------------------------------------------------------------------------


def read_parts(
    path: PathLike, *, aside: Sequence[str] = (), ids: str | None = None
) -> Parts:
    """A table of numbers in parts, by the rules of ``read_table``; no row is read."""
    place = place_of_parts(path)
    if place.suffix == ".parquet":
        return _of_parquet(place, aside, ids)
    if ids is not None:
        raise FileError(
            f"{place} has no columns that could name its rows; got --id-column {ids}"
        )
    if aside:
        raise FileError(f"{place} has no columns beside its array; got {aside[0]}")
    return _of_zarr(place)


def _of_parquet(place: Place, aside: Sequence[str], ids: str | None) -> Parts:
    pieces, columns = pieces_of(place)
    label, few = _names_of_rows(place, pieces[0], columns, aside, ids)
    names = [name for name in columns.names if name != label]
    row = ["0" if name in columns.numeric else "x" for name in names]
    positions = columns_aside(names, row, place, aside, words=False, label=None)
    beside = [names[i] for i in positions]
    kept = [name for name in names if name not in beside]
    for name in kept:
        if name not in columns.numeric:
            found = pieces[0].first(name, 1).tolist()
            raise FileError(
                f"{place} must hold numbers, but for a first column of names; column "
                f"{name!r} has {found[0]!r}: {text.remedy_for_words(name)}"
            )
    narrow = columns.narrow.issuperset(kept)
    dtype = np.dtype(np.float32 if narrow else np.float64)
    X = _array(pieces, dtype, (len(kept),), Piece.numbers, kept, dtype)
    check_table(Table(X, None, kept), place)
    labels = None if label is None else _column(pieces, label)
    extra = {name: _column(pieces, name) for name in beside}
    return Parts(X, labels, kept, extra, place, few, tuple(pieces), label)


def _names_of_rows(
    place: Place,
    piece: Piece,
    columns: Columns,
    aside: Sequence[str],
    ids: str | None,
) -> tuple[str | None, Array | None]:
    """The column that names the rows, if one does, and a few of the names."""
    if len(columns.index) > 1:
        raise FileError(
            f"{place} must name its rows by one column; its index has "
            f"{len(columns.index)}: {', '.join(columns.index)}"
        )
    if ids is None and columns.index:
        label = columns.index[0]
        return (None, None) if label in aside else (label, piece.first(label, FEW))
    if not columns.names:
        return None, None
    names = columns.names
    first = is_label_column(names[0], str(piece.first(names[0], 1)[0]))
    position = label_position(names, place, aside, ids, first)
    if position is None:
        return None, None
    return names[position], piece.first(names[position], FEW)


def refuse_names_among(parts: Parts, where: Any) -> None:
    """Refuse a list of edges by number where a column may hold the names of rows.

    The first rows are looked at: a column of integers with no number twice.
    """
    if parts.few is not None or not parts.pieces or parts.columns is None:
        return
    some = parts.pieces[0].head(parts.columns, LOOKED_AT)
    for name, column in some.items():
        if column.dtype.kind in "iu" and len(np.unique(column)) == len(column) > 1:
            raise may_be_names(where, name)


def _column(pieces: Sequence[Piece], name: str) -> Any:
    kind = pieces[0].first(name, 1).dtype
    dtype = np.dtype(object) if kind.kind == "U" else kind
    return _array(pieces, dtype, (), Piece.column, name)


def _array(
    pieces: Sequence[Piece], dtype: Any, shape: tuple[int, ...], read: Any, *how: Any
) -> Any:
    blocks = tuple(task(read, piece, *how) for piece in pieces)
    return as_array(Tall(blocks, tuple(p.n_rows for p in pieces)), shape, dtype)


def _of_zarr(place: Place) -> Parts:
    from dask.array import from_zarr

    here = Place(place.path.absolute(), place.suffix, place.key)
    if annotated.is_annotated(here) and place.key is None:
        raise FileError(
            f"{place} is an annotated store: on Dask name an array in it, such as "
            f"{place}:obsm/X_pca, whose rows then have no names"
        )
    stored = annotated.array_in(here)
    check_table(Table(stored, None, None), place)
    rows = stored.chunks[0]
    X = from_zarr(stored, chunks=(rows * max(1, ROWS_AT_ONCE // rows), stored.shape[1]))
    return Parts(X, None, None, {}, place)


def classes_of(column: Any) -> Any:
    """A column as classes: the words that mean "unknown" become None."""
    known = blocks_of(column).map(_known)
    return as_array(known, (), column.dtype)


def _known(values_of_rows: Array) -> Array:
    if values_of_rows.dtype != object:
        return values_of_rows
    found = values_of_rows.copy()
    found[np.isin(found.astype(str), [*text.MISSING, "-1"])] = None
    return found


# -- writing --------------------------------------------------------------------------


def write_parts(
    folder: str, place: Place, Z: Any, columns: list[str], parts: Parts
) -> None:
    """Write an embedding into a new folder, each part where it lies.

    In the format of the ``place`` that the folder is for: parquet files with the labels
    as index, or the numbers of the rows, and what stands beside them; a zarr array.
    """
    blocks = blocks_of(Z)
    if place.suffix == ".zarr":
        _fill_zarr(folder, blocks, len(columns), Z.dtype)
    else:
        _fill_parquet(folder, blocks, columns, parts)


def _fill_parquet(folder: str, blocks: Tall, columns: list[str], parts: Parts) -> None:
    os.mkdir(folder)
    pieces: Sequence[Piece | None] = parts.pieces or [None] * len(blocks.sizes)
    if parts.pieces:
        blocks = resized(blocks, tuple(piece.n_rows for piece in parts.pieces))
    width = len(str(len(pieces) - 1))
    how = columns, parts.names, list(parts.extra)
    tasks = [
        task(
            _write_part,
            block,
            os.path.join(folder, f"part.{i:0{width}}.parquet"),
            int(start),
            piece,
            *how,
        )
        for i, (block, start, piece) in enumerate(
            zip(blocks.blocks, blocks.starts[:-1], pieces, strict=True)
        )
    ]
    values("writing rows", tasks)


def _write_part(
    Z: Array,
    path: str,
    start: int,
    piece: Piece | None,
    columns: list[str],
    label: str | None,
    beside: list[str],
) -> None:
    import pandas
    from pyarrow import Table as ArrowTable
    from pyarrow import parquet

    names: Any = np.arange(start, start + len(Z))
    if piece is not None and label is not None:
        names = piece.column(label)
    index = pandas.Index(names, name="id")
    frame = pandas.DataFrame(np.asarray(Z), columns=columns, index=index)
    table = ArrowTable.from_pandas(frame).select(["id", *columns])
    if piece is not None and beside:
        extra = piece.read(beside)
        for name in beside:
            field, column = extra.schema.field(name), extra.column(name)
            if name in table.column_names:
                place = table.column_names.index(name)
                table = table.set_column(place, field, column)
            else:
                table = table.append_column(field, column)
    parquet.write_table(table, path)


def _fill_zarr(folder: str, blocks: Tall, d: int, dtype: Any) -> None:
    zarr = optional("zarr", "disk", "zarr stores")
    # each block is a chunk of the array: no two workers write the same file
    rows = max(blocks.sizes)
    full, rest = divmod(blocks.n, rows)
    blocks = resized(blocks, (rows,) * full + ((rest,) if rest else ()))
    zarr.create_array(
        folder,
        shape=(blocks.n, d),
        chunks=(rows, d),
        dtype=dtype,
        attributes={MARK: NAME},
    )
    tasks = [
        task(_write_chunk, block, folder, int(start))
        for block, start in zip(blocks.blocks, blocks.starts[:-1], strict=True)
    ]
    values("writing rows", tasks)


def _write_chunk(Z: Array, folder: str, start: int) -> None:
    import zarr

    array = zarr.open_array(folder, mode="r+")
    array[start : start + len(Z)] = np.asarray(Z)
