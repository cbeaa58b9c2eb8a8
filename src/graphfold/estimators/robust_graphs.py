"""Graphs of the rows and of the columns for the robust methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import DisconnectedGraphWarning, GraphError, LabelError, warn
from graphfold.estimators import rows
from graphfold.graphs import Graph, GraphRecipe, NeighborGraph
from graphfold.graphs.named import graph_from, in_memory

#: neighbours of the authors' public code
NEIGHBORS = 7


def source(name: str, graph: Any) -> Graph | GraphRecipe:
    """The graph meant by an argument; None is the nearest neighbours."""
    if graph is None:
        return NeighborGraph(NEIGHBORS)
    try:
        return in_memory(graph_from(graph))
    except TypeError:
        raise GraphError(
            f"{name} must be one graph, a recipe such as NeighborGraph(7), or None; "
            f"got {type(graph).__name__}: use GraphKernelPCA for several graphs"
        ) from None


def graph_of_rows(
    graph: Graph | GraphRecipe, filled: Array, labels: Array | None
) -> Graph:
    """The graph of the rows: built from them, or met by label."""
    if isinstance(graph, GraphRecipe):
        return _usable("graph", graph.bind(filled).build(filled), "rows")
    return _usable("graph", rows.graph_of_rows(graph, labels, len(filled)), "rows")


def graph_of_columns(
    graph: Graph | GraphRecipe, filled: Array, names: Array | None
) -> Graph:
    """The graph of the columns: built from them, or met by the names of features."""
    if isinstance(graph, GraphRecipe):
        turned = np.ascontiguousarray(filled.T)
        return _usable("feature_graph", graph.bind(turned).build(turned), "columns")
    n = filled.shape[1]
    if graph.has_labels and names is not None:
        lost = names[graph.find(names) < 0]
        if len(lost):
            raise LabelError(
                "feature_graph must have a node for each column of X; it has none for "
                f"{check.some_of(lost)}: add the nodes, or drop the columns"
            )
        graph = graph.subgraph(names)
    elif graph.has_labels:
        raise LabelError(
            f"feature_graph has labels such as {check.some_of(graph.nodes, 3)} and "
            "the columns of X have no names: pass a DataFrame, or a graph without "
            "labels in the order of the columns"
        )
    elif graph.n_nodes != n:
        raise LabelError(
            f"feature_graph must have one node for each of the {n} columns of X; "
            f"got {graph.n_nodes}: its nodes are the columns in their order"
        )
    return _usable("feature_graph", graph, "columns")


def _usable(name: str, graph: Graph, what: str) -> Graph:
    if graph.is_signed:
        raise GraphError(
            f"{name} must have weights of at least 0 here, else there is no smallest "
            'objective; got negative ones: use negative="clip" or "abs"'
        )
    isolated = int((np.diff(graph.to_scipy().indptr) == 0).sum())
    if isolated > graph.n_nodes / 2 and graph.n_nodes > 1:
        warn(
            f"{isolated} of {graph.n_nodes} {what} have no edge in {name}, so it says "
            "nothing of them: check that the labels are the right ones, or add edges",
            DisconnectedGraphWarning,
        )
    return graph
