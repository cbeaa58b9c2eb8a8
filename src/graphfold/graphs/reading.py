"""What a Graph can be made of: matrices, arrays, lists, tables, networkx and igraph."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.check import no_tensor, shown, some_of
from graphfold.errors import GraphError, IgnoredColumnsWarning, warn
from graphfold.graphs.edge_columns import (
    edge_columns,
    has_known_ends,
    warn_of_ignored,
)
from graphfold.graphs.labels import as_labels
from graphfold.graphs.sources import (
    Adjacency,
    Rules,
    as_weights,
    from_edges,
    from_matrix,
    is_edge,
    numbers,
    whole_numbers,
)

#: a table without names that has more columns is no list of edges
_SMALL = 8


class Columns(NamedTuple):
    """Columns of a table of edges that the caller has named; None where they are not.

    ``weight`` is also the name of an attribute of edges; False is no weight at all.
    """

    source: Any = None
    target: Any = None
    weight: Any = None


def read_source(source: Any, nodes: Any, rules: Rules, columns: Columns) -> Adjacency:
    """Adjacency meant by any of the accepted sources."""
    given = None if nodes is None else as_labels(nodes)
    if _is_networkx(source) or _is_igraph(source):
        _refuse_columns(Columns(columns.source, columns.target), source)
        read = _from_networkx if _is_networkx(source) else _from_igraph
        return read(source, given, rules, columns.weight)
    if hasattr(source, "collect"):
        raise GraphError(
            f"graph must be a table that is there; got a {type(source).__name__}, a "
            "plan of one: call its collect() first"
        )
    if hasattr(source, "columns") and hasattr(source, "shape"):
        return _from_table(source, given, rules, columns)
    _refuse_columns(columns, source)
    if sp.issparse(source):
        return Adjacency(from_matrix(sp.csr_array(source), given, rules), given)
    if hasattr(source, "__array__") and hasattr(source, "shape"):
        source = np.asarray(no_tensor("graph", source))
    if isinstance(source, np.ndarray) and source.ndim == 2:
        return _from_array(source, given, rules)
    if isinstance(source, list | tuple):
        if not all(is_edge(edge) for edge in source):
            wrong = next(edge for edge in source if not is_edge(edge))
            raise GraphError(
                "a list of edges must hold (node, node) or (node, node, weight); got "
                f"{shown(wrong)}"
            )
        return _from_edge_list(source, given, rules)
    raise _not_a_graph(source)


def _refuse_columns(columns: Columns, source: Any) -> None:
    """Names of columns say nothing of what has none."""
    for name, value in columns._asdict().items():
        if value is not None:
            raise GraphError(
                f"{name} must be None where the graph is a {type(source).__name__}: it "
                f"has no such columns; got {value!r}"
            )


def _not_a_graph(source: Any) -> GraphError:
    return GraphError(
        "graph must be a square matrix (SciPy sparse or NumPy), a networkx or igraph "
        "graph, a table of edges or a list of (node, node[, weight]); "
        f"got {type(source).__name__}"
        + (f" of shape {source.shape}" if hasattr(source, "shape") else "")
    )


# -- arrays and lists -----------------------------------------------------------------


def _from_array(array: Array, nodes: Array | None, rules: Rules) -> Adjacency:
    _refuse_ambiguous(array)
    if array.shape[0] == array.shape[1]:
        matrix = sp.csr_array(as_weights(array))
        return Adjacency(from_matrix(matrix, nodes, rules), nodes)
    if array.shape[1] in (2, 3):
        ends = whole_numbers(array[:, :2])
        weights = array[:, 2] if array.shape[1] == 3 else None
        return from_edges(ends[:, 0], ends[:, 1], weights, nodes, rules)
    if array.shape[0] == 2:
        raise GraphError(
            f"graph of shape {array.shape} looks like an edge_index: use "
            "Graph.from_edge_index(edge_index, num_nodes=...)"
        )
    raise _not_a_graph(array)


def _refuse_ambiguous(array: Array, widest: int = 3) -> None:
    """A small array may be a matrix, an edge a row, or an edge a column.

    A list of edges has at most ``widest`` columns, and whole numbers in two of them.
    """
    if array.shape == (2, 3) and array.dtype.kind in "iu":
        raise GraphError(
            "graph of shape (2, 3) could be 2 edges with weights or 3 edges of an "
            "edge_index: use Graph.from_edges or Graph.from_edge_index"
        )
    n = len(array)
    square = array.shape == (n, n) and 2 <= n <= widest
    if n > 3 and square:  # rows and columns of an array of this size are always nodes
        square = bool((array[:, :2] % 1 == 0).all())
    if square and not _is_plain(array):
        raise GraphError(
            f"graph of shape {array.shape} could be a matrix or "
            f"{len(array)} edges: pass a SciPy sparse matrix, or Graph.from_edges"
        )


def _is_plain(array: Array) -> bool:
    """Whether an array is symmetric with a diagonal of zeros."""
    return np.array_equal(array, array.T) and not np.diagonal(array).any()


def _from_edge_list(edges: Any, nodes: Array | None, rules: Rules) -> Adjacency:
    weighted = any(len(edge) == 3 for edge in edges)
    weights = [edge[2] if len(edge) == 3 else 1.0 for edge in edges]
    tails, heads = [edge[0] for edge in edges], [edge[1] for edge in edges]
    return from_edges(tails, heads, weights if weighted else None, nodes, rules)


# -- tables ---------------------------------------------------------------------------


def _from_table(
    table: Any, nodes: Array | None, rules: Rules, columns: Columns
) -> Adjacency:
    """A DataFrame: square with equal names of rows and columns, or one edge a row."""
    listed = list(getattr(table, "column_names", table.columns))  # Arrow's word first
    if columns.source is None and table.shape[0] == table.shape[1] > 1:
        matrix = _square(table, listed, columns)
        if matrix is not None:
            labels = as_labels(table.index) if nodes is None else nodes
            return Adjacency(from_matrix(sp.csr_array(matrix), labels, rules), labels)
    found = edge_columns(listed, *columns)
    if columns.weight is None:
        warn_of_ignored(found)
    weights = None if found.weight is None else table[found.weight].to_numpy()
    return from_edges(table[found.source], table[found.target], weights, nodes, rules)


def _square(table: Any, listed: list[Any], columns: Columns) -> Array | None:
    """The matrix that a table with as many rows as columns is; None for edges.

    Columns in another order than the index are put into that order, by name.
    """
    index = getattr(table, "index", None)
    names = [] if index is None or callable(index) else list(index)
    values = _as_matrix(table)
    if names != listed and has_known_ends(listed):
        return None  # unless rows have the same names, these are the ends of edges
    if names == listed:
        if values is None:
            raise GraphError(
                "a square table with equal index and columns must hold numbers"
            )
        if names == [*range(len(names))]:
            _refuse_ambiguous(values, _SMALL)  # neither rows nor columns have names
        return values
    if len(set(names)) == len(names) and set(names) == set(listed):
        return _as_matrix(table[names])
    if values is None or (columns.weight is not None and not _is_plain(values)):
        return None
    raise GraphError(
        f"a table of shape {table.shape} whose columns are not named as its rows could "
        "be a matrix or a list of edges: for a matrix give index and columns the same "
        "names, or pass Graph(table.to_numpy(), nodes=...); for edges name the columns "
        f"of their ends, source= and target=; its columns are {some_of(listed, 8)}"
    )


def _as_matrix(table: Any) -> Array | None:
    """The numbers of a table, or None if it holds others."""
    if hasattr(table, "column_names"):  # Arrow
        values = np.column_stack([np.asarray(column) for column in table.columns])
    else:
        values = np.asarray(table)
    if values.dtype.kind in "fiub":
        return values.astype(float)
    try:
        return numbers(values)
    except GraphError:
        return None


# -- networkx and igraph --------------------------------------------------------------


def _is_networkx(source: Any) -> bool:
    return hasattr(source, "is_directed") and hasattr(source, "adjacency")


def _from_networkx(
    graph: Any, nodes: Array | None, rules: Rules, weight: Any
) -> Adjacency:
    labels = as_labels(list(graph.nodes)) if nodes is None else nodes
    attribute = "weight" if weight is None or weight is False else weight
    listed = list(graph.edges(data=attribute, default=None))
    tails, heads = [edge[0] for edge in listed], [edge[1] for edge in listed]
    weights = None
    if weight is not False:
        weights = _of_networkx(graph, [edge[2] for edge in listed], weight)
    return from_edges(tails, heads, weights, labels, rules)


def _of_networkx(graph: Any, weights: list[Any], weight: Any) -> list[Any] | None:
    """Weights of the edges: 1 where there is none, as networkx has it."""
    if any(value is not None for value in weights):
        return [1.0 if value is None else value for value in weights]
    found: dict[Any, Any] = {}
    for *_, attributes in graph.edges(data=True):
        if attributes:
            found.update(attributes)
    _no_such_attribute(found, weight)
    return None


def _is_igraph(source: Any) -> bool:
    return hasattr(source, "vs") and hasattr(source, "get_edgelist")


def _from_igraph(
    graph: Any, nodes: Array | None, rules: Rules, weight: Any
) -> Adjacency:
    named = "name" in graph.vs.attributes()
    labels = as_labels(graph.vs["name"]) if named and nodes is None else nodes
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    attribute = "weight" if weight is None else weight
    weights = None
    if weight is not False:
        if attribute in graph.es.attributes():
            weights = graph.es[attribute]
        elif len(ends):
            _no_such_attribute(graph.es[0].attributes(), weight)
    positions = np.arange(graph.vcount())
    matrix, _ = from_edges(ends[:, 0], ends[:, 1], weights, positions, rules)
    return Adjacency(matrix, labels)


def _no_such_attribute(attributes: dict[Any, Any], weight: Any) -> None:
    """No edge has the attribute that is the weight: refuse, or warn of others."""
    if weight is not None:
        raise GraphError(
            f"weight must name an attribute of the edges; got {weight!r}, and there "
            f"are {some_of(list(attributes)) or 'none'}"
        )
    numeric = [
        name
        for name, value in attributes.items()
        if isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    ]
    if numeric:
        one = len(numeric) == 1
        warn(
            "no edge has an attribute called weight, so every edge has weight 1, and "
            f"{some_of(numeric)} {'is' if one else 'are'} not used: name the weight "
            f"with weight={numeric[0]!r} (or say weight=False)",
            IgnoredColumnsWarning,
        )
