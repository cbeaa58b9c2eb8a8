"""Edges meet rows: by label with a shuffle, or by number, wherever either lies.

Labels are hashed into buckets. A bucket has all labels of rows and all ends of edges
that fall into it, and replaces the ends by the numbers of the rows; twice, once for
each end. Ends that no row has are dropped with their edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.distributed.blocks import Tall, pieces_by_place, routed
from graphfold.distributed.grid import Grid, grid_of_edges
from graphfold.distributed.running import values
from graphfold.distributed.tasks import from_delayed, in_their_places, literal, task
from graphfold.errors import GraphError, LabelError
from graphfold.graphs import EdgeTable, Graph
from graphfold.graphs.labels import (
    LabelIndex,
    are_positions,
    as_labels,
    comparable,
    first_duplicate,
    missing_labels,
)
from graphfold.graphs.sources import missing_weights, without_missing

#: buckets at most that labels are hashed into
MOST_BUCKETS = 256
#: edges of a part, where they come from the client
EDGES_AT_ONCE = 2**20
#: labels of a block at most that a message may show
SHOWN = 8

Edges = tuple[Array, Array, Array]
#: what pandas calls columns of objects that are numbers
OF_NUMBERS = ("integer", "floating", "mixed-integer-float", "boolean", "decimal")


def adjacency_of(
    source: EdgeTable | Graph, sizes: tuple[int, ...], labels: Tall | None
) -> Grid:
    """The adjacency matrix of the rows, in strips: the graph that they induce."""
    parts = edge_parts(source, sizes)
    by_position = isinstance(source, EdgeTable) and source.is_matrix
    if labels is not None and not by_position:
        parts = with_numbers(parts, labels)
    elif isinstance(source, Graph):
        _check_positions(source, sum(sizes))
    return grid_of_edges(parts, sizes, rule=_rule(source), tell=True)


def edge_parts(source: EdgeTable | Graph, sizes: tuple[int, ...] = ()) -> list[Any]:
    """Tasks of (tails, heads, weights): labels of the ends, or numbers of rows."""
    if isinstance(source, Graph):
        return _parts_of_graph(source)
    if source.is_matrix:
        return _parts_of_matrix(source, sizes)
    names = (source.source, source.target, source.weight)
    kept = [name for name in names if name is not None]
    parts = [from_delayed(part) for part in source.edges[kept].to_delayed()]
    # edges are often listed in the order of the rows: then they are where these are
    in_their_places(parts)
    how = (*names, source.dropna)
    return [task(_edges_of_table, part, *how, place=part.place) for part in parts]


def _rule(source: EdgeTable | Graph) -> str:
    """What an edge means that is listed several times; a Graph lists each once."""
    return "once" if isinstance(source, Graph) else source.duplicates


def _check_positions(graph: Graph, n: int) -> None:
    if graph.n_nodes != n:
        raise LabelError(
            f"X has {n} rows without labels and the graph has {graph.n_nodes} nodes; "
            "they can be matched by label only: give the Graph labels (nodes=...) and "
            "pass node_ids=, or a dask.dataframe with labels as its index"
        )
    if graph.has_labels and not are_positions(graph.nodes):
        raise LabelError(
            f"the graph has labels such as {some_of(graph.nodes, 3)} and the rows of X "
            "have none: pass node_ids=, or a dask.dataframe with labels as its index"
        )


def known_rows(graph: Graph, labels: Tall, *, every: bool) -> Tall | None:
    """Which rows are nodes of a graph, None if all are; with ``every`` all have to."""
    nodes = literal(graph.nodes)
    found = values("labels", labels.tasks(_not_among, nodes))
    n_unknown = sum(count for count, _ in found)
    if not n_unknown:
        return None
    if every:
        some = np.concatenate([unknown for count, unknown in found if count])
        raise graph.unknown_labels(some, n_unknown, labels.n)
    return labels.map(_among, nodes).held("labels")


def _among(labels: Array, nodes: Array) -> Array:
    return np.asarray(LabelIndex(nodes).find(as_labels(labels)) >= 0)


def _not_among(labels: Array, nodes: Array) -> tuple[int, Array]:
    """How many labels are not nodes, and the first of them."""
    unknown = as_labels(labels)[~_among(labels, nodes)]
    return len(unknown), unknown[:SHOWN]


def _parts_of_graph(graph: Graph) -> list[Any]:
    """Every edge once, by the labels of its ends, in parts that go with the tasks."""
    half = sp.triu(graph.to_scipy(), k=1, format="coo")
    names, parts = graph.nodes, []
    for start in range(0, max(half.nnz, 1), EDGES_AT_ONCE):
        some = slice(start, start + EDGES_AT_ONCE)
        edges = names[half.row[some]], names[half.col[some]], half.data[some]
        parts.append(literal(edges))
    return parts


def _parts_of_matrix(source: EdgeTable, sizes: tuple[int, ...]) -> list[Any]:
    matrix = source.edges
    if matrix.numblocks[1] > 1:
        matrix = matrix.rechunk({1: -1})
    blocks = [from_delayed(block) for block in matrix.to_delayed().ravel()]
    lengths = values("rows of the graph", [task(_shape, block) for block in blocks])
    n = sum(length for length, _ in lengths)
    if n != sum(sizes) or any(width != n for _, width in lengths):
        raise GraphError(
            f"graph must be a matrix with a row and a column for each of the "
            f"{sum(sizes)} rows of X; got {n} rows and {lengths[0][1]} columns"
        )
    starts = np.cumsum([0, *(length for length, _ in lengths)])
    in_their_places(blocks)
    return [
        task(_edges_of_rows, block, int(start), place=block.place)
        for block, start in zip(blocks, starts[:-1], strict=True)
    ]


def _shape(block: Any) -> tuple[int, int]:
    return int(block.shape[0]), int(block.shape[1])


def _edges_of_rows(block: Any, start: int) -> Edges:
    """Entries of rows of A; repeated ones mean their sum."""
    entries = sp.coo_array(block)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    tails = entries.row.astype(np.int64) + start
    return tails, entries.col.astype(np.int64), entries.data.astype(np.float64)


def _edges_of_table(
    part: Any, source: Any, target: Any, weight: Any, dropna: bool
) -> Edges:
    """Columns of a table of pandas' or polars' as arrays."""
    tails, heads = as_labels(part[source]), as_labels(part[target])
    try:
        weights = (
            np.ones(len(tails))
            if weight is None
            else np.asarray(part[weight], dtype=np.float64)
        )
    except (TypeError, ValueError):
        raise GraphError(
            f"edge weights must be numbers; column {weight!r} holds others"
        ) from None
    missing = missing_labels(tails) | missing_labels(heads)
    if dropna:
        kept = ~(missing | np.isnan(weights))
        return without_missing(tails[kept]), without_missing(heads[kept]), weights[kept]
    part_missing = "an end" if missing.any() else "the weight"
    if not missing.any():
        missing = missing_weights(tails, heads, weights)
    if missing.any():
        raise GraphError(
            f"every edge must have two ends and a weight; {part_missing} is missing in "
            f"{int(missing.sum())} of {len(missing)} edges of a part, in its rows "
            f"{some_of(np.flatnonzero(missing).tolist())} counted from 0: fill them "
            "in, or drop these edges with EdgeTable(..., dropna=True)"
        )
    return tails, heads, weights


# -- labels to numbers of rows --------------------------------------------------------


def with_numbers(
    parts: Sequence[Any], labels: Tall, ends: tuple[int, ...] = (0, 1)
) -> list[Any]:
    """Edges whose ends are labels as edges between numbers of rows.

    ``ends`` are those that are looked up: 0 for the tails, 1 for the heads.
    """
    n = min(MOST_BUCKETS, max(len(labels.blocks), len(parts)))
    known = buckets_of_labels(labels, n)
    for end in ends:
        pieces = routed(parts, _by_end, n, end, n)
        parts = [
            task(_found, pieces[i], known[i], end, place=pieces[i].place)
            for i in range(n)
        ]
    return list(parts)


def buckets_of_labels(labels: Tall, n: int, *, distinct: bool = True) -> list[Any]:
    """Labels and numbers of rows by the hash of the label.

    Labels must be distinct; otherwise there is one entry for each, which holds twice
    the number of its first row, plus one if there are others.
    """
    starts = [int(start) for start in labels.starts[:-1]]
    labelled = [
        task(numbered, block, start, place=block.place)
        for block, start in zip(labels.blocks, starts, strict=True)
    ]
    pieces = routed(labelled, by_label, n, n)
    chosen = _distinct if distinct else _first_of_each
    return [task(chosen, part, place=part.place) for part in pieces]


def numbered(labels: Any, start: int) -> tuple[Array, Array]:
    """Labels of a block, and the numbers of its rows."""
    names = as_labels(labels)
    return names, np.arange(start, start + len(names))


def by_label(part: tuple[Array, Array], n: int) -> list[tuple[Array, ...]]:
    """Labels and numbers by the bucket of the label."""
    labels, numbers = part
    return pieces_by_place(bucket_of(labels, n), n, labels, numbers)


def _by_end(edges: Edges, end: int, n: int) -> list[tuple[Array, ...]]:
    return pieces_by_place(bucket_of(edges[end], n), n, *edges)


def bucket_of(labels: Array, n: int) -> Array:
    """A bucket for each label, the same on every worker: Python's own hash is not.

    Labels that are equal have one, however they are stored.
    """
    import pandas as pd

    kind = labels.dtype.kind
    if kind == "O" and pd.api.types.infer_dtype(labels, skipna=True) in OF_NUMBERS:
        labels, kind = np.asarray(pd.to_numeric(labels, errors="coerce"), float), "f"
    if kind in "iufb":
        labels = labels.astype(np.float64) + 0.0  # -0 is 0
    elif kind in "mM":
        labels = labels.astype(f"{kind}8[ns]").view(np.int64)
    else:
        labels = labels.astype(object)
    return np.asarray(pd.util.hash_array(labels) % np.uint64(n), dtype=np.int64)


def _distinct(pieces: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    labels = _joined([part[0] for part in pieces])
    numbers = np.concatenate([part[1] for part in pieces])
    repeated = first_duplicate(labels)
    if repeated is not None:
        raise LabelError(
            f"labels of the rows must be distinct; {repeated!r} occurs twice: "
            "one row is one node"
        )
    return labels, numbers


def _first_of_each(pieces: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    labels = _joined([part[0] for part in pieces])
    numbers = np.concatenate([part[1] for part in pieces])
    found, first, count = np.unique(labels, return_index=True, return_counts=True)
    return found, 2 * numbers[first] + (count > 1)


def _found(pieces: list[Edges], known: tuple[Array, Array], end: int) -> Edges:
    columns = [_joined(list(same)) for same in zip(*pieces, strict=True)]
    labels, numbers = known
    asked = columns[end]
    if len(asked) and len(labels) and not comparable(asked, labels):
        raise LabelError(
            f"labels of the rows are {labels.dtype} and ends of edges {asked.dtype}, "
            "so none can match: give them the same kind"
        )
    place = LabelIndex(labels).find(asked)
    kept = place >= 0
    columns = [column[kept] for column in columns]
    columns[end] = numbers[place[kept]] if len(numbers) else np.empty(0, np.int64)
    return columns[0], columns[1], columns[2]


def _joined(parts: list[Array]) -> Array:
    """Arrays below each other; those without entries have no say in their kind."""
    full = [part for part in parts if len(part)]
    return np.concatenate(full) if full else parts[0]
