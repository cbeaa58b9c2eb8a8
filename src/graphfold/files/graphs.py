"""Graphs of files: edge lists, matrices, graphml, and the obsp of annotated tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphfold.allowance import refuse_beyond
from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.errors import FileError, LabelError, UnknownRowsWarning, warn
from graphfold.files import annotated, graphml, text
from graphfold.files.arrays import read_matrix
from graphfold.files.names import refuse_wide
from graphfold.files.parquet import read_frame
from graphfold.files.paths import (
    ANNOTATED,
    GRAPHS,
    MATRICES,
    PathLike,
    Place,
    existing,
    optional,
    reading,
)
from graphfold.files.tables import Table
from graphfold.graphs import Graph
from graphfold.graphs.labels import LabelIndex, as_labels

_SOURCE = ("source", "src", "from", "u", "node1")
#: bytes that reading an edge takes, between rows known by number and by name
_EDGE, _NAMED_EDGE = 100, 600
_TARGET = ("target", "dst", "to", "v", "node2")


def read_graph(
    path: PathLike,
    labels: Any,
    n: int,
    *,
    table: Table | None = None,
    complete: bool = True,
) -> Graph:
    """A graph for n rows: edges by label (or by row number), or a square matrix.

    ``obsp/NAME`` is a matrix of the annotated table that the rows came from. If it is
    not ``complete``, ``labels`` are a few that say how rows are named: who else is one
    is not known here, and every edge is kept.
    """
    rows = _Rows(labels, n, complete)
    if str(path).startswith("obsp/") and table is not None:
        if table.annotated is None:
            raise FileError(
                f"--graph {path} names a matrix of the data file, which must be h5ad "
                f"or an annotated zarr store; got {table.source}"
            )
        found = table.annotated.matrix(str(path))
        return _from_matrix(found, rows, path, table.annotated.size)
    place = existing(path, GRAPHS)
    with reading(place, place.suffix):
        return _of_file(place, rows)


def _of_file(place: Place, rows: _Rows) -> Graph:
    if place.suffix in ANNOTATED:
        return _of_annotated(place, rows)
    if place.suffix == ".graphml":
        return _of_graphml(place, rows)
    if place.suffix in MATRICES:
        return _from_matrix(read_matrix(place), rows, place, place.size)
    if place.suffix == ".parquet":
        tails, heads, weights = _of_parquet(place)
    else:
        tails, heads, weights = _of_text(place)
    return _from_ends(tails, heads, weights, rows, place)


class _Rows(NamedTuple):
    """What is known of the rows that a graph is for."""

    labels: Any
    n: int
    complete: bool


def ends_like(labels: Array | None, ends: Any, where: Any) -> Array:
    """Ends of edges or pairs as labels of the same kind; row numbers without labels."""
    try:
        found = as_labels(ends)
    except LabelError as error:
        raise FileError(f"{where}: {error}") from None
    try:
        if labels is None:
            return _row_numbers(found)
        if labels.dtype.kind == "U":
            return _as_words(found, labels, where)
        # by kind, not by width: "n10" must not be cut to the "n1" of a narrower array
        return np.asarray(found).astype(labels.dtype)
    except FileError:
        raise
    except (TypeError, ValueError, OverflowError):
        how = (
            f"as the data do, such as {some_of(labels, 3)}"
            if labels is not None
            else ("by number, 0, 1, ..., because the data have no column of names")
        )
        raise FileError(
            f"{where} must name rows {how}; got {some_of(found.tolist(), 3)}"
        ) from None


def _row_numbers(found: Array) -> Array:
    with np.errstate(invalid="ignore"):
        numbers = np.asarray(found).astype(np.float64)
        if (numbers % 1 != 0).any():
            raise ValueError("not a number, or no whole one")
    # what is no row by far stays one that there is none of
    return np.clip(numbers, -(2.0**53), 2.0**53).astype(np.int64)


def strangers(labels: Array, ends: list[Array]) -> tuple[Array, Array]:
    """Which edges or pairs have an end that is no row, and the names of those ends."""
    index = LabelIndex(labels)
    unknown = [index.find(end) < 0 for end in ends]
    lost = np.concatenate([ends[0][unknown[0]], ends[1][unknown[1]]])
    return unknown[0] | unknown[1], lost


def warn_of_strangers(what: str, lost: Any, total: int, where: Any) -> None:
    """Say which names of a file are no rows of the data."""
    names = list(dict.fromkeys(np.asarray(lost).tolist()))
    warn(
        f"{total} {what} of {where} name rows that the data do not have, such as "
        f"{some_of(names, 3)}: they are left out",
        UnknownRowsWarning,
    )


def _as_words(found: Array, labels: Array, where: Any) -> Array:
    if found.dtype == object and not all(
        isinstance(name, str | int | float) for name in found.tolist()
    ):
        raise TypeError("neither a text nor a number")
    if found.dtype.kind == "f" and text.are_whole(found):
        found = found.astype(np.int64)  # weights in the same array made them floats
    words = found.astype(str)
    # where they are compared, all are as wide as the widest
    needed = (len(labels) + len(words)) * words.dtype.itemsize
    refuse_wide(needed, labels.nbytes + words.nbytes, where)
    return words


# -- each format ----------------------------------------------------------------------


def _from_matrix(matrix: Any, rows: _Rows, where: Any, size: int) -> Graph:
    shape, n = tuple(getattr(matrix, "shape", ())), rows.n
    if shape == (n, n):
        labels = rows.labels if rows.complete else None  # else by position
        return Graph(sp.csr_array(matrix), nodes=labels)
    if len(shape) == 2 and shape[1] in (2, 3):
        _refuse_many_edges(shape[0], rows, size)
        edges = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        weights = edges[:, 2].astype(float) if shape[1] == 3 else None
        return _from_ends(edges[:, 0], edges[:, 1], weights, rows, where)
    raise FileError(
        f"{where} must hold a square matrix of {n} rows, one for each row of the data, "
        f"or edges in 2 or 3 columns; got shape {shape}"
    )


def _refuse_many_edges(count: int, rows: _Rows, size: int) -> None:
    """A list of edges takes far more than its bytes: names, positions, their order."""
    texts = rows.labels is not None and rows.labels.dtype.kind in "UO"
    refuse_beyond(
        count * (_NAMED_EDGE if texts else _EDGE),
        size,
        "save it without compression, or list the edges in a csv file",
    )


def _of_annotated(place: Place, rows: _Rows) -> Graph:
    adata = annotated.open_annotated(place)
    if adata is None:
        return _from_matrix(annotated.read_array(place), rows, place, place.size)
    matrix = adata.matrix(place.key or "obsp/connectivities")
    if rows.labels is None:
        return _from_matrix(matrix, rows, place, adata.size)
    own = adata.obs_names
    edges = sp.triu(sp.csr_array((matrix + matrix.T) / 2)).tocoo()
    ends = own[edges.row], own[edges.col]
    return _from_ends(*ends, edges.data, rows, place)


def _of_graphml(place: Place, rows: _Rows) -> Graph:
    networkx = optional("networkx", "graphs", "graphml files")
    graphml.check_xml(place.path)
    graph = Graph(networkx.read_graphml(place.path))
    edges = sp.triu(graph.to_scipy()).tocoo()
    size = place.path.stat().st_size
    refuse_wide(len(edges.row) * graph.nodes.dtype.itemsize, size, place)
    ends = graph.nodes[edges.row], graph.nodes[edges.col]
    return _from_ends(*ends, edges.data, rows, place)


def _of_parquet(place: Place) -> tuple[Any, Any, Any]:
    frame = read_frame(place)
    source, target, weight = columns_of_edges(place, list(frame.columns))
    parts = [frame.iloc[:, i].to_numpy() for i in (source, target)]
    return parts[0], parts[1], None if weight is None else frame.iloc[:, weight]


def _of_text(place: Place) -> tuple[Any, Any, Any]:
    named, width, (source, target, weight) = layout_of_text(place)
    words = [i for i in range(width) if i != weight]
    sheet = text.read_sheet(place, width, header=named, words=words)
    weights = None if weight is None else sheet.numbers[:, 0]
    return sheet.words[source], sheet.words[target], weights


def layout_of_text(place: Place) -> tuple[bool, int, tuple[int, int, int | None]]:
    """Whether a list of edges has a header, how many columns, and which they are."""
    start = text.peek(place)
    cells = {cell.strip().lower() for cell in start.first}
    named = bool(cells & set(_SOURCE) and cells & set(_TARGET))
    if not named and start.second is not None and len(start.first) == 3:
        # a header of other words: its weight is none
        named = not text.is_number(start.first[2]) and text.is_number(start.second[-1])
    names = start.first if named else [""] * start.width
    return named, start.width, columns_of_edges(place, names)


def columns_of_edges(place: Place, names: list[str]) -> tuple[int, int, int | None]:
    """Positions of source, target and weight."""
    lower = [name.strip().lower() for name in names]
    source = next((lower.index(w) for w in _SOURCE if w in lower), None)
    target = next((lower.index(w) for w in _TARGET if w in lower), None)
    if source is not None and target is not None:
        weight = lower.index("weight") if "weight" in lower else None
        if weight is None and len(lower) == 3:
            weight = 3 - source - target
        return source, target, weight
    if len(names) not in (2, 3):
        raise FileError(
            f"{place} must list edges, one a line: source, target and perhaps weight; "
            f"it has {len(names)} columns"
        )
    return 0, 1, 2 if len(names) == 3 else None


def _from_ends(tails: Any, heads: Any, weights: Any, rows: _Rows, where: Any) -> Graph:
    labels, n = rows.labels, rows.n
    ends = [ends_like(labels, end, where) for end in (tails, heads)]
    if labels is None:
        refuse_outside(ends, n, where)
        return Graph.from_edges(ends[0], ends[1], weights, nodes=np.arange(n))
    if not rows.complete:
        return Graph.from_edges(ends[0], ends[1], weights)
    outside, lost = strangers(labels, ends)
    if outside.all():
        raise FileError(
            f"{where} has no edge between two rows of the data: it names "
            f"{some_of(lost, 3)}, the data {some_of(labels, 3)}"
        )
    if outside.any():
        warn_of_strangers("edges", lost, int(outside.sum()), where)
    nodes = np.union1d(labels, np.concatenate(ends))
    return Graph.from_edges(ends[0], ends[1], weights, nodes=nodes)


def refuse_outside(ends: list[Array], n: int, where: Any) -> None:
    """Ends that are numbers of rows must be those of some."""
    outside = np.concatenate([end[(end < 0) | (end >= n)] for end in ends])
    if len(outside):
        raise FileError(
            f"{where} must name rows by number, 0 to {n - 1}; got "
            f"{some_of(outside.tolist(), 3)}"
        )
