"""Graphs of files: edge lists, matrices, graphml, and the obsp of annotated tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphfold.allowance import refuse_beyond
from graphfold.arrays import Array
from graphfold.check import plain, shown, some_of
from graphfold.errors import (
    DroppedEdgesWarning,
    FileError,
    GraphError,
    LabelError,
    UnknownRowsWarning,
    warn,
)
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
from graphfold.graphs.edge_columns import (
    Spelling,
    edge_columns,
    has_known_ends,
    warn_of_ignored,
)
from graphfold.graphs.labels import LabelIndex, as_labels, missing_labels
from graphfold.graphs.sources import missing_weights, numbers, without_missing

#: bytes that reading an edge takes, between rows known by number and by name
_EDGE, _NAMED_EDGE = 100, 600
#: how the command line writes the arguments that name columns
SPELLING = Spelling("--source", "--target", "--weight", "--weight none")


class Asked(NamedTuple):
    """What the caller says of lists of edges; ``Graph`` has the same parameters."""

    source: str | None = None
    target: str | None = None
    weight: Any = None
    dropna: bool = False
    #: edges name rows by line, whatever columns the data have
    by_line: bool = False
    duplicates: str = "once"


AS_FOUND = Asked()


def read_graph(
    path: PathLike,
    labels: Any,
    n: int,
    *,
    table: Table | None = None,
    complete: bool = True,
    asked: Asked = AS_FOUND,
) -> Graph:
    """A graph for n rows: edges by label (or by row number), or a square matrix.

    ``obsp/NAME`` is a matrix of the annotated table that the rows came from. If it is
    not ``complete``, ``labels`` are a few that say how rows are named: who else is one
    is not known here, and every edge is kept.
    """
    rows = _Rows(labels, n, complete, table, asked)
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
        tails, heads, weights = _of_parquet(place, rows.asked)
    else:
        tails, heads, weights = _of_text(place, rows.asked)
    return _from_ends(tails, heads, weights, rows, place)


class _Rows(NamedTuple):
    """What is known of the rows that a graph is for."""

    labels: Any
    n: int
    complete: bool
    table: Table | None
    asked: Asked


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
        counted = np.asarray(found).astype(np.float64)
        if (counted % 1 != 0).any():
            raise ValueError("not a number, or no whole one")
    # what is no row by far stays one that there is none of
    return np.clip(counted, -(2.0**53), 2.0**53).astype(np.int64)


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
        rule = rows.asked.duplicates
        return Graph(sp.csr_array(matrix), nodes=labels, duplicates=rule)
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
    rule = rows.asked.duplicates
    graph = Graph(sp.csr_array(matrix), nodes=own, duplicates=rule)
    edges = sp.triu(graph.to_scipy()).tocoo()
    ends = own[edges.row], own[edges.col]
    return _from_ends(*ends, edges.data, rows, place)


def _of_graphml(place: Place, rows: _Rows) -> Graph:
    networkx = optional("networkx", "graphs", "graphml files")
    graphml.check_xml(place.path)
    weight, rule = rows.asked.weight, rows.asked.duplicates
    found = networkx.read_graphml(place.path)
    graph = Graph(found, weight=weight, duplicates=rule)
    edges = sp.triu(graph.to_scipy()).tocoo()
    size = place.path.stat().st_size
    refuse_wide(len(edges.row) * graph.nodes.dtype.itemsize, size, place)
    ends = graph.nodes[edges.row], graph.nodes[edges.col]
    return _from_ends(*ends, edges.data, rows, place)


def _of_parquet(place: Place, asked: Asked) -> tuple[Any, Any, Any]:
    frame = read_frame(place)
    source, target, weight = columns_of_edges(place, list(frame.columns), asked)
    parts = [frame.iloc[:, i].to_numpy() for i in (source, target)]
    return parts[0], parts[1], None if weight is None else frame.iloc[:, weight]


def _of_text(place: Place, asked: Asked) -> tuple[Any, Any, Any]:
    named, width, (source, target, weight) = layout_of_text(place, asked)
    words = [i for i in range(width) if i != weight]
    try:
        sheet = text.read_sheet(place, width, header=named, words=words)
        weights = None if weight is None else sheet.numbers[:, 0]
    except FileError:
        if weight is None:
            raise
        sheet = text.read_sheet(place, width, header=named, words=range(width))
        weights = text.weights_of_words(sheet.words[weight])
        if weights is None or not np.isnan(weights).any():
            raise  # a missing weight has its own rule, all else is an error
    return sheet.words[source], sheet.words[target], weights


def layout_of_text(
    place: Place, asked: Asked = AS_FOUND
) -> tuple[bool, int, tuple[int, int, int | None]]:
    """Whether a list of edges has a header, how many columns, and which they are."""
    start = text.peek(place)
    named = _has_header(start, asked)
    # without a header: source, target and weight in this order
    names = start.first if named else list(range(start.width))
    return named, start.width, columns_of_edges(place, names, asked)


def _has_header(start: text.Peek, asked: Asked) -> bool:
    """Whether the first line names columns: as asked, as known, or above numbers."""
    cells = [cell.strip() for cell in start.first]
    if any(name in cells for name in asked[:3]) or has_known_ends(cells):
        return True
    if start.width > 3 or start.second is None:
        return start.width > 3
    alike = [text.is_number(cell) for cell in cells]
    below = [text.is_number(cell) for cell in start.second]
    return not any(alike) and (below[-1] if start.width == 3 else all(below))


def columns_of_edges(
    place: Place, names: list[Any], asked: Asked = AS_FOUND
) -> tuple[int, int, int | None]:
    """Positions of source, target and weight; a warning names other columns."""
    listed = [name.strip() if isinstance(name, str) else name for name in names]
    try:
        found = edge_columns(listed, *asked[:3], spelling=SPELLING)
    except GraphError as error:
        raise FileError(f"{place}: {error}") from None
    if asked.weight is None:
        warn_of_ignored(found, str(place), SPELLING)
    weight = None if found.weight is None else listed.index(found.weight)
    return listed.index(found.source), listed.index(found.target), weight


def without_missing_ends(
    ends: list[Any], weights: Any, dropna: bool, where: Any
) -> tuple[list[Array], Any]:
    """Edges with two ends and a weight; others are refused, or dropped if asked."""
    listed = [np.asarray(end) for end in ends]
    missing = missing_labels(listed[0]) | missing_labels(listed[1])
    if weights is not None:
        weights = numbers(weights)
        missing |= missing_weights(listed[0], listed[1], weights)
    if not missing.any():
        return listed, weights
    rows = np.flatnonzero(missing)
    if not dropna:
        raise FileError(
            f"{where} must have a source, a target and a weight for every edge; one of "
            f"them is missing in {len(rows)} of {len(missing)} edges, the first is "
            f"edge {rows[0] + 1}: fill them in, or drop these edges with --dropna"
        )
    warn(
        f"{len(rows)} of {len(missing)} edges of {where} were dropped: an end or the "
        "weight is missing",
        DroppedEdgesWarning,
    )
    kept = [without_missing(end[~missing]) for end in listed]
    return kept, None if weights is None else weights[~missing]


def _from_ends(tails: Any, heads: Any, weights: Any, rows: _Rows, where: Any) -> Graph:
    labels, n = rows.labels, rows.n
    dropna, rule = rows.asked.dropna, rows.asked.duplicates
    given, weights = without_missing_ends([tails, heads], weights, dropna, where)
    ends = [ends_like(labels, end, where) for end in given]
    pair = ends[0], ends[1]
    if labels is None:
        if not rows.asked.by_line:
            refuse_names_among(rows.table, np.concatenate(ends), where)
        refuse_outside(ends, n, where)
        positions = np.arange(n)
        return Graph.from_edges(*pair, weights, nodes=positions, duplicates=rule)
    if not rows.complete:
        return Graph.from_edges(*pair, weights, duplicates=rule)
    outside, lost = strangers(labels, ends)
    if outside.all():
        raise FileError(
            f"{where} has no edge between two rows of the data: it names "
            f"{some_of(lost, 3)}, the data {some_of(labels, 3)}"
        )
    if outside.any():
        warn_of_strangers("edges", lost, int(outside.sum()), where)
    nodes = np.union1d(labels, np.concatenate(ends))
    return Graph.from_edges(*pair, weights, nodes=nodes, duplicates=rule)


def refuse_names_among(table: Table | None, ends: Array, where: Any) -> None:
    """Refuse numbers of rows where a column of the data may hold the names of rows.

    That is a column of different whole numbers with all ends of edges among them. It
    would be a feature, and edges would be matched by line number.
    """
    if table is None or not isinstance(table.X, np.ndarray) or not _has_columns(table):
        return
    asked = np.unique(ends)
    few = table.X[:100]  # most columns are no names by these
    for i in np.flatnonzero((few % 1 == 0).all(axis=0)):
        column = table.X[:, i]
        if len(asked) and text.are_whole(column) and np.isin(asked, column).all():
            if len(np.unique(column)) < len(column):
                continue
            name = str(i + 1) if table.columns is None else table.columns[i]
            raise may_be_names(where, name)


def may_be_names(where: Any, name: str) -> FileError:
    """The error for edges by number beside a column that may hold names of rows."""
    return FileError(
        f"{where} names rows by number, and column {shown(name)} of the data has "
        "different whole numbers that may be their names: say --id-column "
        f"{plain(name)} if they are, or --id-column none if rows are named by line, 0, "
        "1, 2, ..."
    )


def _has_columns(table: Table) -> bool:
    is_text = table.source is not None and table.source.suffix in text.TEXT
    return is_text or table.columns is not None


def refuse_outside(ends: list[Array], n: int, where: Any) -> None:
    """Ends that are numbers of rows must be those of some."""
    outside = np.concatenate([end[(end < 0) | (end >= n)] for end in ends])
    if len(outside):
        raise FileError(
            f"{where} must name rows by number, 0 to {n - 1}; got "
            f"{some_of(outside.tolist(), 3)}"
        )
