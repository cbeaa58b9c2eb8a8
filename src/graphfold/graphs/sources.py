"""What a Graph can be made of, and the rule for each oddity of its input.

Every source ends as a symmetric CSR array without diagonal, plus labels or None.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.check import integer_between, no_tensor, some_of
from graphfold.errors import GraphError, LabelError
from graphfold.graphs.labels import LabelIndex, as_labels, comparable

_SOURCE_NAMES = ("source", "src", "from", "u", "node1")
_TARGET_NAMES = ("target", "dst", "to", "v", "node2")


class Adjacency(NamedTuple):
    """A weighted adjacency matrix and the labels of its nodes, if it has any."""

    matrix: Any
    nodes: Array | None


def read_source(source: Any, nodes: Any, duplicates: str) -> Adjacency:
    """Adjacency meant by any of the accepted sources."""
    given = None if nodes is None else as_labels(nodes)
    if sp.issparse(source):
        return Adjacency(from_matrix(sp.csr_array(source)), given)
    if _is_networkx(source):
        return _from_networkx(source, given, duplicates)
    if _is_igraph(source):
        return _from_igraph(source, given, duplicates)
    if hasattr(source, "collect"):
        raise GraphError(
            f"graph must be a table that is there; got a {type(source).__name__}, a "
            "plan of one: call its collect() first"
        )
    if hasattr(source, "columns") and hasattr(source, "shape"):
        return _from_table(source, given, duplicates)
    if hasattr(source, "__array__") and hasattr(source, "shape"):
        source = np.asarray(no_tensor("graph", source))
    if isinstance(source, np.ndarray) and source.ndim == 2:
        if source.shape[0] == source.shape[1]:
            _refuse_ambiguous(source)
            return Adjacency(from_matrix(sp.csr_array(_as_weights(source))), given)
        if source.shape[1] in (2, 3):
            _refuse_ambiguous(source)
            ends = _whole_numbers(source[:, :2])
            weights = source[:, 2] if source.shape[1] == 3 else None
            return from_edges(ends[:, 0], ends[:, 1], weights, given, duplicates)
        if source.shape[0] == 2:
            raise GraphError(
                f"graph of shape {source.shape} looks like an edge_index: use "
                "Graph.from_edge_index(edge_index, num_nodes=...)"
            )
    if isinstance(source, list | tuple) and all(len(edge) in (2, 3) for edge in source):
        return _from_edge_list(source, given, duplicates)
    raise GraphError(
        "graph must be a square matrix (SciPy sparse or NumPy), a networkx or igraph "
        "graph, a table of edges or a list of (node, node[, weight]); "
        f"got {type(source).__name__}"
        + (f" of shape {source.shape}" if hasattr(source, "shape") else "")
    )


def from_matrix(matrix: Any) -> Any:
    """(A + A')/2: an asymmetric matrix is a directed graph, and directions are dropped.

    Repeated entries of a COO matrix mean their sum, as everywhere in SciPy.
    """
    if matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"graph must be a square matrix; got shape {matrix.shape}")
    matrix = _as_weights(matrix)
    return sp.csr_array((matrix + matrix.T) / 2)


def from_edges(
    tails: Any,
    heads: Any,
    weights: Any,
    nodes: Array | None,
    duplicates: str,
    *,
    directed: bool = False,
) -> Adjacency:
    """Adjacency of edges given by the labels of their ends.

    Undirected: an edge listed once, twice or in both directions counts once, with the
    largest weight listed (``duplicates="sum"`` adds them up). Directed: (A + A')/2.
    """
    tails, heads = as_labels(tails), as_labels(heads)
    if nodes is None:
        nodes = as_labels(_distinct(tails, heads))
    index = LabelIndex(nodes)
    rows, columns = index.find(tails), index.find(heads)
    unknown = tails[rows < 0].tolist() + heads[columns < 0].tolist()
    if len(unknown):
        raise LabelError(
            f"every edge must join two of the nodes given; {some_of(unknown)} "
            "is in an edge and not in nodes"
        )
    values = np.ones(len(rows)) if weights is None else _numbers(weights)
    n = len(nodes)
    if not directed:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    merged = merge_edges(rows, columns, values, (n, n), duplicates)
    if directed:
        return Adjacency(from_matrix(merged), nodes)
    return Adjacency(from_matrix(merged + sp.triu(merged, 1).T), nodes)


def from_edge_index(
    edge_index: Any, weights: Any, nodes: Any, num_nodes: int | None
) -> Adjacency:
    """Adjacency of a 2 x E array of positions, as graph neural networks hold edges.

    Both directions are listed there as a rule, so an edge listed once or twice counts
    once, with the largest of its weights.
    """
    ends = np.asarray(no_tensor("edge_index", edge_index))
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        raise GraphError(
            "edge_index must be a 2 x E array of integers, a column for each edge; got "
            f"shape {ends.shape} of {ends.dtype}"
        )
    weights = None if weights is None else _numbers(weights)
    if weights is not None and weights.shape != (ends.shape[1],):
        raise GraphError(
            f"edge_weight must hold one number for each of the {ends.shape[1]} edges; "
            f"got shape {weights.shape}"
        )
    labels = None if nodes is None else as_labels(nodes)
    if labels is not None and num_nodes is None:
        num_nodes = len(labels)
    largest = int(ends.max()) if ends.size else -1  # unsigned ones have no -1
    least = max(largest + 1, 1)
    if num_nodes is None:
        num_nodes = least
    integer_between("num_nodes", num_nodes, least, 2**62, f"edge_index has {largest}")
    if ends.size and ends.min() < 0:
        raise GraphError(
            f"edge_index must hold positions from 0 on; got {int(ends.min())}"
        )
    positions = np.arange(num_nodes)
    matrix, _ = from_edges(ends[0], ends[1], weights, positions, "once")
    return Adjacency(matrix, labels)


def _refuse_ambiguous(array: Array) -> None:
    """A small array may be a matrix, an edge a row, or an edge a column."""
    if array.shape == (2, 3) and array.dtype.kind in "iu":
        raise GraphError(
            "graph of shape (2, 3) could be 2 edges with weights or 3 edges of an "
            "edge_index: use Graph.from_edges or Graph.from_edge_index"
        )
    plain = np.array_equal(array, array.T) and not np.diagonal(array).any()
    if array.shape in ((2, 2), (3, 3)) and not plain:
        raise GraphError(
            f"graph of shape {array.shape} could be a matrix or "
            f"{len(array)} edges: pass a SciPy sparse matrix, or Graph.from_edges"
        )


def _whole_numbers(ends: Array) -> Array:
    """Row numbers that came as floats, because their weights are."""
    whole = ends.dtype.kind == "f" and bool((ends == np.floor(ends)).all())
    return ends.astype(np.int64) if whole else ends


def merge_edges(
    rows: Array, columns: Array, values: Array, shape: tuple[int, int], duplicates: str
) -> Any:
    """One entry for each pair: the largest of the values listed, or their sum."""
    if duplicates == "sum" or len(rows) == 0:
        return sp.coo_array((values, (rows, columns)), shape=shape).tocsr()
    pair = rows.astype(np.int64) * shape[1] + columns
    order = np.lexsort((values, pair))
    last = np.append(pair[order][1:] != pair[order][:-1], True)
    keep = order[last]
    return sp.csr_array((values[keep], (rows[keep], columns[keep])), shape=shape)


def _distinct(tails: Array, heads: Array) -> Any:
    mixed = tails.dtype == object or heads.dtype == object
    if mixed or not comparable(tails, heads):
        return list(dict.fromkeys(tails.tolist() + heads.tolist()))
    return np.unique(np.concatenate([tails, heads]))


def _as_weights(matrix: Any) -> Any:
    if matrix.dtype.kind not in "fiub":
        raise GraphError(f"graph weights must be real numbers; got {matrix.dtype}")
    return matrix.astype(np.float64)


def _numbers(weights: Any) -> Array:
    weights = no_tensor("edge weights", weights)
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise GraphError(
            f"edge weights must be numbers; got {some_of(list(weights), 3)}"
        ) from None


def _from_edge_list(edges: Any, nodes: Array | None, duplicates: str) -> Adjacency:
    weighted = any(len(edge) == 3 for edge in edges)
    weights = [edge[2] if len(edge) == 3 else 1.0 for edge in edges]
    tails, heads = [edge[0] for edge in edges], [edge[1] for edge in edges]
    return from_edges(tails, heads, weights if weighted else None, nodes, duplicates)


def _from_table(table: Any, nodes: Array | None, duplicates: str) -> Adjacency:
    """A DataFrame: square with equal index and columns, or one edge a row."""
    listed = list(getattr(table, "column_names", table.columns))  # Arrow's word first
    index = getattr(table, "index", None)
    square = table.shape[0] == table.shape[1]
    if index is not None and square and list(index) == listed:
        labels = as_labels(index) if nodes is None else nodes
        return Adjacency(from_matrix(sp.csr_array(table.to_numpy(float))), labels)
    source, target, weight = edge_columns(listed)
    weights = None if weight is None else table[weight].to_numpy()
    return from_edges(table[source], table[target], weights, nodes, duplicates)


def edge_columns(listed: list[Any]) -> tuple[Any, Any, Any]:
    """Which columns of a table of edges are source, target and weight (or None)."""
    if len(listed) < 2:
        raise GraphError(
            "a table of edges needs two columns, source and target (and weight); "
            f"got {some_of([str(name) for name in listed])}"
        )
    lower = {str(name).lower(): name for name in listed}
    source = next((lower[w] for w in _SOURCE_NAMES if w in lower), listed[0])
    target = next((lower[w] for w in _TARGET_NAMES if w in lower), listed[1])
    weight = lower.get("weight")
    if weight is None and len(listed) == 3:
        weight = next(c for c in listed if c not in (source, target))
    return source, target, weight


def _is_networkx(source: Any) -> bool:
    return hasattr(source, "is_directed") and hasattr(source, "adjacency")


def _from_networkx(graph: Any, nodes: Array | None, duplicates: str) -> Adjacency:
    listed = list(graph.edges(data="weight", default=1.0))
    labels = as_labels(list(graph.nodes)) if nodes is None else nodes
    tails, heads = [e[0] for e in listed], [e[1] for e in listed]
    weights = [e[2] for e in listed]
    directed = graph.is_directed()
    return from_edges(tails, heads, weights, labels, duplicates, directed=directed)


def _is_igraph(source: Any) -> bool:
    return hasattr(source, "vs") and hasattr(source, "get_edgelist")


def _from_igraph(graph: Any, nodes: Array | None, duplicates: str) -> Adjacency:
    named = "name" in graph.vs.attributes()
    labels = as_labels(graph.vs["name"]) if named and nodes is None else nodes
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else None
    positions = np.arange(graph.vcount())
    directed = graph.is_directed()
    matrix, _ = from_edges(
        ends[:, 0], ends[:, 1], weights, positions, duplicates, directed=directed
    )
    return Adjacency(matrix, labels)
