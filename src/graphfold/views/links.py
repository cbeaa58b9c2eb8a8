"""Edges and pairs by the position of their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.errors import GraphfoldError, LabelError
from graphfold.estimators.rows import graph_of_rows
from graphfold.graphs import Graph, GraphRecipe
from graphfold.graphs.labels import LabelIndex, as_labels
from graphfold.graphs.named import graphs_from, in_memory
from graphfold.views.packing import Blocks, smallest_unsigned
from graphfold.views.sources import Source

MOST_EDGES = 1_000_000  # of one graph in one page: the heaviest are kept


def edges_of_rows(
    edges: Any, sources: list[Source], labels: Array | None, n: int
) -> dict[str, Any]:
    """Adjacency of the rows by name: those given, else those of the estimators."""
    if edges is False:
        return {}
    if edges is not None and edges is not True:
        return {} if _is_empty(edges) else _given(edges, labels, n)
    found: dict[str, Any] = {}
    for source in sources:
        for name, graph in source.graphs.items():
            matrix = graph.to_scipy()
            same = any(_equal(matrix, other) for other in found.values())
            if matrix.shape[0] == n and not same:
                free = name if name not in found else f"{source.name}: {name}"
                found[free] = matrix
    return found


def pack_edges(name: str, matrix: Any, blocks: Blocks) -> dict[str, Any]:
    """A graph as the page reads it: both ends of each edge, each edge once."""
    upper = sp.triu(matrix, k=1).tocoo()
    order = np.arange(upper.nnz)
    if upper.nnz > MOST_EDGES:
        order = np.sort(np.argsort(-upper.data, kind="stable")[:MOST_EDGES])
    kind = smallest_unsigned(matrix.shape[0])
    return {
        "name": name,
        "sources": blocks.add(upper.row[order], kind),
        "targets": blocks.add(upper.col[order], kind),
        "count": len(order),
        "total": int(upper.nnz),
    }


def violations(source: Source) -> dict[str, Any] | None:
    """What the estimator's constraint report says, by position."""
    report = getattr(source.model, "constraint_report_", None)
    if report is None:
        return None
    own = source.model._fit_labels
    names = np.arange(len(source.Z)) if own is None else own
    index = LabelIndex(as_labels(names))

    def positions(pairs: list[Any]) -> list[list[int]]:
        ends = [index.find(as_labels([pair[i] for pair in pairs])) for i in (0, 1)]
        return np.column_stack(ends).tolist() if pairs else []

    lost = report.misplaced
    return {
        "must": positions(report.violated_must),
        "cannot": positions(report.violated_cannot),
        "misplaced": index.find(as_labels(lost)).tolist() if lost else [],
    }


def pair_positions(
    name: str, pairs: Any, labels: Array | None, n: int
) -> list[list[int]]:
    """Pairs given by label, or by position where rows have none, by position."""
    if pairs is None or len(pairs) == 0:
        return []
    names = as_labels(np.arange(n) if labels is None else labels)
    index = LabelIndex(names)
    listed = [list(pair) for pair in pairs]
    if any(len(pair) != 2 for pair in listed):
        raise GraphfoldError(f"{name} must be pairs of rows; got {listed[0]}")
    flat = as_labels([end for pair in listed for end in pair])
    found = index.find(flat)
    if (found < 0).any():
        unknown = flat[found < 0]
        raise GraphfoldError(
            f"{name} must name rows of the embedding; unknown are "
            f"{some_of(unknown.tolist())}"
        )
    return found.reshape(-1, 2).tolist()


def _given(edges: Any, labels: Array | None, n: int) -> dict[str, Any]:
    graphs = graphs_from(edges)
    found = {}
    for name, source in graphs.items():
        graph = in_memory(source)
        if isinstance(graph, GraphRecipe):
            raise GraphfoldError(
                f"edges must be a graph, not a recipe; got {graph!r}: build it by "
                "graph.build(X)"
            )
        found[name] = _of_rows(graph, labels, n).to_scipy()
    return found


def _of_rows(graph: Graph, labels: Array | None, n: int) -> Graph:
    """The graph of the rows; rows that it does not know have no edges."""
    if not graph.has_labels:
        return graph_of_rows(graph, None, n)
    if labels is None and not _in_order(graph.nodes):
        raise LabelError(
            f"edges have nodes such as {some_of(graph.nodes, 3)} and the rows of the "
            "embedding have no names: pass ids="
        )
    names = np.arange(n) if labels is None else labels
    return Graph._unchecked(graph.edges_between(names, names), names)


def _in_order(nodes: Array) -> bool:
    """Whether nodes are numbers of rows: in another order they are names."""
    return nodes.dtype.kind in "iu" and bool((nodes[1:] > nodes[:-1]).all())


def _is_empty(edges: Any) -> bool:
    if hasattr(edges, "nnz"):
        return bool(edges.nnz == 0)
    return hasattr(edges, "__len__") and len(edges) == 0


def _equal(one: Any, other: Any) -> bool:
    return one.shape == other.shape and one.nnz == other.nnz and not (one != other).nnz
