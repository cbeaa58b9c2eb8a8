"""Graphs for rows that lie on workers: lists of edges are read there, part by part."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.bytes import read_bytes
from dask.delayed import delayed

from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.errors import FileError
from graphfold.files.graphs import (
    AS_FOUND,
    Asked,
    columns_of_edges,
    ends_like,
    layout_of_text,
    read_graph,
    refuse_outside,
)
from graphfold.files.paths import GRAPHS, TEXT, PathLike, Place, existing, reading
from graphfold.files.pieces import Piece, is_folder_of_parquet, pieces_of
from graphfold.files.text import unpacking, weights_of_words
from graphfold.graphs import EdgeTable, Graph
from graphfold.graphs.labels import missing_labels
from graphfold.graphs.sources import missing_weights

#: bytes of a text file that a worker reads at once
BLOCK = 2**25
_NAMES = ("source", "target", "weight")


def read_graph_for_parts(
    path: PathLike, few: Array | None, n: int, asked: Asked = AS_FOUND
) -> EdgeTable | Graph:
    """Edges of parquet, csv and tsv stay in their file; other graphs come to memory.

    ``few`` labels say how rows are named; without them edges have numbers of rows.
    """
    if is_folder_of_parquet(Path(path)):
        place = Place(Path(path), ".parquet")
    else:
        place = existing(path, GRAPHS)
    if place.suffix == ".parquet":
        return EdgeTable(_of_parquet(place, few, n, asked), duplicates=asked.duplicates)
    if place.suffix in TEXT:
        return EdgeTable(_of_text(place, few, n, asked), duplicates=asked.duplicates)
    return read_graph(path, few, n, complete=False, asked=asked)


def _of_parquet(place: Place, few: Array | None, n: int, asked: Asked) -> Any:
    pieces, columns = pieces_of(place)
    positions = columns_of_edges(place, columns.names, asked)
    names = [columns.names[i] for i in positions if i is not None]
    how = (few, n, place, asked.dropna)
    meta = _edges({name: [] for name in names}, *how)
    return dd.from_map(_edges_of_piece, pieces, args=(names, *how), meta=meta)


def _edges_of_piece(piece: Piece, names: list[str], *how: Any) -> Any:
    return _edges(piece.read(names).to_pandas(), *how)


def _of_text(place: Place, few: Array | None, n: int, asked: Asked) -> Any:
    named, width, positions = layout_of_text(place, asked)
    kept = [i for i in positions if i is not None]
    here = Place(place.path.absolute(), place.suffix)
    if place.compressed:
        blocks = [delayed(_unpacked)(here)]
    else:
        _, ((*blocks,),) = read_bytes(
            str(here.path), delimiter=b"\n", blocksize=BLOCK, sample=False
        )
    how = (few, n, place, asked.dropna)
    read = delayed(_edges_of_lines)
    parts = [
        read(block, width, kept, how, skip=int(named and i == 0))
        for i, block in enumerate(blocks)
    ]
    meta = _edges({i: [] for i in kept}, *how)
    return dd.from_delayed(parts, meta=meta, verify_meta=False)


def _unpacked(place: Place) -> bytes:
    with reading(place, ".gz"), unpacking(place) as stream:
        return stream.read()


def _edges_of_lines(
    lines: bytes,
    width: int,
    kept: list[int],
    how: tuple[Any, ...],
    *,
    skip: int,
) -> Any:
    place = how[2]
    with reading(place, place.suffix):
        try:
            table = pd.read_csv(
                io.BytesIO(lines),
                sep=TEXT[place.suffix],
                header=None,
                skiprows=skip,
                dtype=str,
                keep_default_na=False,  # a node may be called NA
            )
        except pd.errors.EmptyDataError:
            table = pd.DataFrame({i: [] for i in range(width)}, dtype=str)
    if table.shape[1] != width:
        raise FileError(
            f"{place} must have {width} columns in every line, as in its first; a line "
            f"has {table.shape[1]}"
        )
    return _edges(table[kept], *how)


def _edges(table: Any, few: Array | None, n: int, place: Place, dropna: bool) -> Any:
    """Ends that are named as the rows are, and weights that are numbers."""
    columns = [np.asarray(table[name]) for name in table]
    missing = missing_labels(columns[0]) | missing_labels(columns[1])
    if len(columns) > 2:
        columns[2] = _weights(columns[2], place)
        missing |= missing_weights(*columns)
    if missing.any() and not dropna:
        raise FileError(
            f"{place} must have a source, a target and a weight for every edge; some "
            "have not: fill them in, or drop these edges with --dropna"
        )
    columns = [column[~missing] for column in columns] if missing.any() else columns
    ends = [ends_like(few, end, place) for end in columns[:2]]
    if few is None:
        refuse_outside(ends, n, place)
    found = dict(zip(_NAMES, ends, strict=False))
    if len(columns) > 2:
        found["weight"] = columns[2]
    return pd.DataFrame(found)


def _weights(column: Array, place: Place) -> Array:
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        weights = weights_of_words(column)
        if weights is not None:
            return weights
        wrong = [cell for cell in column.tolist() if not _is_number(cell)]
        raise FileError(
            f"{place} must have numbers as weights; got {some_of(wrong, 3)}"
        ) from None


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True
