"""Which edges there are between rows, and which of them are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.errors import GraphError, LabelError
from graphfold.graphs import Graph, GraphRecipe
from graphfold.graphs.labels import as_labels, first_duplicate
from graphfold.graphs.named import ONLY, graphs_from, in_memory
from graphfold.plot.reading import Rows


class Drawn(NamedTuple):
    """Edges by the position of their ends, each once."""

    sources: Array
    targets: Array
    weights: Array
    n_edges: int

    @property
    def is_sample(self) -> bool:
        """Whether there are more than these."""
        return len(self.weights) < self.n_edges


def drawn_edges(matrix: Any, most: int, random_state: int) -> Drawn:
    """Edges of a symmetric matrix; a uniform sample where there are too many."""
    upper = sp.triu(sp.csr_array(matrix), k=1).tocoo()
    chosen: Any = slice(None)
    if upper.nnz > most:
        rng = np.random.default_rng(random_state)
        chosen = np.sort(rng.choice(upper.nnz, most, replace=False))
    return Drawn(
        upper.row[chosen],
        upper.col[chosen],
        np.asarray(upper.data[chosen], dtype=np.float64),
        int(upper.nnz),
    )


def graphs_of(graph: Any, model: Any, rows: Rows, node_ids: Any) -> dict[str, Any]:
    """Weights between the rows by name of graph: those given, else the estimator's."""
    n = len(rows.Z)
    by_name = _names(graph)
    if graph is None or by_name is not None:
        own = _own_graphs(model)
        if not own:
            raise GraphError(
                "graph must be given where the embedding comes without one: pass a "
                "Graph, or an estimator that was fitted with a graph"
            )
        unknown = [name for name in by_name or () if name not in own]
        if unknown:
            raise GraphError(
                f"graph must name graphs of the estimator, among {some_of(list(own))}; "
                f"got {some_of(unknown)}"
            )
        matrices = {name: own[name].to_scipy() for name in by_name or own}
    else:
        names = _row_names(node_ids, rows, n)
        matrices = {
            name: _between(in_memory(part), names, n)
            for name, part in graphs_from(graph).items()
        }
    for name, matrix in matrices.items():
        if matrix.shape[0] != n:
            raise GraphError(
                f"graph {name!r} must have one node for each of the {n} rows; it has "
                f"{matrix.shape[0]}"
            )
    return matrices


def _names(graph: Any) -> list[str] | None:
    """The names, if it is one or a list of them."""
    if isinstance(graph, str):
        return [graph]
    listed = isinstance(graph, list | tuple) and len(graph) > 0
    return list(graph) if listed and all(isinstance(g, str) for g in graph) else None


def _own_graphs(model: Any) -> dict[str, Graph]:
    found = getattr(model, "graph_", None)
    if isinstance(found, Mapping):
        return {str(name): part for name, part in found.items()}
    names = getattr(model, "graph_names_", None) or [ONLY]
    return {} if found is None else {str(names[0]): found}


def _row_names(node_ids: Any, rows: Rows, n: int) -> Array | None:
    if node_ids is None:
        return rows.names
    names = as_labels(node_ids)
    if len(names) != n:
        raise LabelError(
            f"node_ids must have one label for each of the {n} rows; got {len(names)}"
        )
    return names


def _between(graph: Graph | GraphRecipe, names: Array | None, n: int) -> Any:
    """Weights between the rows; rows that the graph does not know have none."""
    if isinstance(graph, GraphRecipe):
        raise GraphError(
            f"graph must be a graph, not a recipe; got {graph!r}: build it by "
            "graph.build(X)"
        )
    if not graph.has_labels:
        if graph.n_nodes != n:
            raise LabelError(
                f"graph must have one node for each of the {n} rows, or labels to meet "
                f"them by; it has {graph.n_nodes} nodes without labels: use "
                "Graph(..., nodes=...) and node_ids="
            )
        return graph.to_scipy()
    if names is None:
        raise LabelError(
            f"graph has labels such as {some_of(graph.nodes, 3)} and the rows have "
            "none: pass node_ids=, or a DataFrame with them as its index"
        )
    repeated = first_duplicate(names)
    if repeated is not None:
        raise LabelError(
            f"labels of the rows must be distinct; {repeated!r} occurs twice: one row "
            "is one node"
        )
    matrix = graph.edges_between(names, names)
    if matrix.nnz == 0:
        raise LabelError(
            "graph must have an edge between two of the rows; it has none: its labels "
            f"are such as {some_of(graph.nodes, 3)}, those of the rows "
            f"{some_of(names, 3)}"
        )
    return matrix
