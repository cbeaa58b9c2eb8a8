"""Rows of X meet nodes of a graph by label: never by chance position.

Labels come from ``node_ids`` or from the index of a DataFrame. A RangeIndex from 0 in
steps of 1 is not a label: after a reset it counts 0, 1, 2 ... again and would name
other rows. Positions serve only where nothing has labels, and only at fit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array
from graphfold.equal_rows import matching_rows, rows_equal
from graphfold.errors import (
    GraphError,
    GraphfoldError,
    LabelError,
)
from graphfold.estimators.missing_labels import (
    warn_of_missing_labels,
    warn_of_new_rows,
    warn_of_repeated_rows,
)
from graphfold.estimators.reading import lies_on_workers, workers
from graphfold.estimators.row_keys import RowKeys
from graphfold.graphs import EdgeTable, Graph, GraphRecipe
from graphfold.graphs.edge_columns import (
    edge_columns,
    has_known_ends,
    warn_of_ignored,
)
from graphfold.graphs.labels import (
    LabelIndex,
    Positions,
    are_positions,
    as_labels,
    comparable,
    first_duplicate,
    index_of,
)
from graphfold.graphs.sources import is_edge, merge_edges, numbers

_SAME_FEATURES = 1e-6


def labels_of_rows(
    X: Any, node_ids: Any, graphs: Any, n: int, *, first: int = 0
) -> Array | None:
    """Labels of the rows: ``node_ids``, or the index of a DataFrame, or None.

    An index counts only where something is known by label: one of the graphs (one, or
    several by name), or, with ``graphs=True``, something else that the caller has.
    ``first`` is the number of rows that came before these.
    """
    if node_ids is not None:
        labels = as_labels(node_ids)
        if len(labels) != n:
            raise LabelError(
                f"node_ids must have one label for each of the {n} rows of X; "
                f"got {len(labels)}"
            )
        return labels
    index = index_of(X, first) if has_labels(graphs) else None
    return None if index is None else as_labels(index)


def labels_for(raw: Any, X: Any, node_ids: Any, graphs: Any) -> Any:
    """The same for rows that have been read from ``raw``, wherever they lie."""
    if lies_on_workers(X):
        keyed = has_labels(graphs)
        return workers().labels_on_workers(X, node_ids, keyed=keyed)
    return labels_of_rows(raw, node_ids, graphs, X.shape[0])


def has_labels(graphs: Any) -> bool:
    """Whether something is known by label: a graph, or what True stands for."""
    if isinstance(graphs, bool):
        return graphs
    listed = graphs.values() if isinstance(graphs, Mapping) else [graphs]
    return any(
        isinstance(graph, Graph | EdgeTable) and graph.has_labels for graph in listed
    )


def graph_of_rows(graph: Graph, labels: Array | None, n: int) -> Graph:
    """The induced subgraph of the rows, in their order."""
    if labels is not None:
        repeated = first_duplicate(labels)
        if repeated is not None:
            raise LabelError(
                f"labels of the rows must be distinct; {repeated!r} occurs twice: "
                "one row is one node"
            )
        found = graph.subgraph(labels)
    elif n != graph.n_nodes:
        raise LabelError(
            f"X has {n} rows without labels and the graph has {graph.n_nodes} nodes; "
            "they can be matched by label only: give the Graph labels (nodes=...) and "
            "pass a DataFrame with them as its index (not a default RangeIndex), or "
            "node_ids= to fit"
        )
    elif not graph.has_labels:
        found = graph
    elif not are_positions(graph.nodes):
        raise LabelError(
            f"the graph has labels such as {check.some_of(graph.nodes, 3)} and the "
            "rows of X have none: pass a DataFrame with labels as its index, or "
            "node_ids= to fit (node_ids=graph.nodes if the rows are in the order of "
            "its nodes, node_ids=range(n) if node i is row i)"
        )
    else:
        found = graph
    if found.n_edges == 0:
        raise GraphError(
            f"graph must have an edge between two of the {n} rows of X; it has none: "
            "check that its labels are those of the rows, or use graph=None"
        )
    return found


def refuse_rows_without_edges(known: Array, weights: Mapping[str, Any]) -> None:
    """Without a kernel nothing but edges says where a new row belongs."""
    linked = known >= 0
    for edges in weights.values():
        if edges is not None:
            linked |= np.diff(sp.csr_array(edges).indptr) > 0
    lost = np.flatnonzero(~linked)
    if len(lost):
        raise GraphfoldError(
            "rows of X must have edges where there is no kernel to place them; "
            f"these have no edge to the rows of the fit: {check.some_of(lost)}"
        )


def edges_by_name(edges: Any, names: list[str]) -> dict[str, Any]:
    """``edges=`` of transform, by graph: a dict where there are several.

    Graphs that are not named keep the edges they know themselves.
    """
    if not isinstance(edges, Mapping):
        if len(names) > 1:
            raise GraphError(
                "edges must be a dict with a matrix or list for each graph, named "
                f"{check.some_of(names)}; got {type(edges).__name__}"
            )
        return {names[0]: edges}
    edges = {str(name): part for name, part in edges.items()}
    unknown = [name for name in edges if name not in names]
    if unknown:
        raise GraphError(
            f"edges must name graphs among {check.some_of(names)}; got "
            f"{check.some_of(unknown)}"
        )
    return dict(edges)


@dataclass(frozen=True)
class FitRows:
    """The rows of a fit, by which rows of a transform are recognised.

    ``graphs`` are those of the constructor by name, recipes bound to X. Labels decide
    where the fit and the new rows have them. With ``by_content``, where no labels of a
    graph say otherwise, a row that equals a row of the fit is that row: the first of
    several equal ones, unless the leading rows repeat the fit in its order. Of a large
    fit ``keys`` are kept in place of the rows. ``heard`` names the graphs that have a
    say in the embedding, all by default; without ``by_features`` there is no kernel,
    and the caller refuses rows without edges.
    """

    X: Any
    labels: Array | None
    graphs: Mapping[str, Graph | GraphRecipe]
    by_content: bool = False
    keys: RowKeys | None = None
    heard: Collection[str] | None = None
    by_features: bool = True

    @property
    def n(self) -> int:
        """How many rows the fit had."""
        return int(self.X.shape[0]) if self.keys is None else len(self.keys)

    def meet(
        self, X: Any, labels: Array | None, edges: Any
    ) -> tuple[Array, dict[str, Any]]:
        """Row of the fit that each row is (-1 for new ones), and everyone's edges."""
        if not self.graphs and edges is not None:
            raise GraphfoldError("edges must be None: the fit had no graph")
        known, repeated = self._known(X, labels)
        given = {} if edges is None else edges_by_name(edges, list(self.graphs))
        found = {}
        for name, graph in self.graphs.items():
            if name in given:
                found[name] = self._given(given[name], X.shape[0], labels)
            elif isinstance(graph, GraphRecipe):
                found[name] = graph.edges_to(X, self.X)
            elif graph.has_labels or len(self.graphs) == 1:
                found[name] = self._edges_in(graph, labels)
            else:
                found[name] = None  # known by position at fit: nothing of new rows
        if given and not self._labels_decide(labels):
            # edges that are given are those of another node with these features
            linked = [np.diff(found[name].indptr) > 0 for name in given]
            known = np.where(np.any(linked, axis=0), -1, known)
        self._warn_of_unknown_edges(known, repeated, labels, found)
        return known, found

    def _warn_of_unknown_edges(
        self,
        known: Array,
        repeated: Array,
        labels: Array | None,
        found: Mapping[str, Any],
    ) -> None:
        heard = list(self.graphs if self.heard is None else self.heard)
        silent = [name for name in heard if found.get(name) is None]
        if not silent:
            return
        warn_of_repeated_rows(repeated & (known >= 0), silent)
        if not self.by_features:
            return
        if labels is None and self.labels is not None and not self.by_content:
            warn_of_missing_labels()
        else:
            warn_of_new_rows(known < 0, silent, alone=len(silent) == len(heard))

    def _edges_in(self, graph: Graph, labels: Array | None) -> Any:
        if labels is None:
            return None
        if self.labels is not None and not comparable(labels, self.labels):
            raise LabelError(
                f"labels of the rows are {labels.dtype} and those of the fit "
                f"{self.labels.dtype}, so none can match: give them the same kind"
            )
        if self.labels is None:
            raise LabelError(
                "node_ids must be None: the rows of the fit had no labels to meet; "
                "pass node_ids to fit as well, or edges="
            )
        return graph.edges_between(labels, self.labels)

    def _labels_decide(self, labels: Array | None) -> bool:
        """Whether labels say which rows are rows of the fit."""
        if labels is None or self.labels is None:
            return False
        return not self.graphs or not are_from_rows(self.graphs)

    def _known(self, X: Any, labels: Array | None) -> tuple[Array, Array]:
        """Row of the fit that each row is, or -1; and which equal several of them."""
        nowhere = np.zeros(X.shape[0], dtype=bool)
        if not self.graphs and not self.by_content:
            return np.full(X.shape[0], -1), nowhere
        if self._labels_decide(labels):
            return self._known_by_label(X, labels), nowhere
        if not self.by_content:
            return np.full(X.shape[0], -1), nowhere
        if self.keys is not None:
            return self.keys.matching(X)
        return matching_rows(X, self.X)

    def _known_by_label(self, X: Any, labels: Any) -> Array:
        assert self.labels is not None
        known = LabelIndex(self.labels).find(labels)
        rows = np.flatnonzero(known >= 0)
        if self.keys is None:
            same = rows_equal(X[rows], self.X, known[rows], rtol=_SAME_FEATURES)
        else:
            same = self.keys.equal(X[rows], known[rows], _SAME_FEATURES)
        if not same.all():
            differing = labels[rows[~same]]
            raise LabelError(
                f"{len(differing)} rows have the label of a row of the fit but other "
                f"features: {check.some_of(differing)}; give new rows new labels, or "
                "refit"
            )
        return known

    def _given(self, edges: Any, n_rows: int, labels: Array | None) -> Any:
        """``edges=`` of transform as a matrix from new rows to the rows of the fit.

        Either that matrix itself, or a list or table of (row, node) or (row, node,
        weight), where rows and nodes are labels if there are any, else positions.
        """
        n_fit = self.n
        if hasattr(edges, "columns") and hasattr(edges, "shape"):
            edges = _edges_of_table(edges, (n_rows, n_fit))
        if isinstance(edges, list | tuple):
            edges = self._matrix_from_list(edges, n_rows, labels)
        if not sp.issparse(edges):
            edges = _matrix_of_numbers(edges)
        if edges.shape != (n_rows, n_fit):
            raise GraphError(
                f"edges must have a row for each of the {n_rows} rows of X and a "
                f"column for each of the {n_fit} rows of the fit; got {edges.shape}"
            )
        # a copy: a Graph's own matrix is read-only, and the caller's stays as it is
        matrix = sp.csr_array(edges, dtype=np.float64, copy=True)
        matrix.eliminate_zeros()
        if matrix.nnz and not (np.isfinite(matrix.data) & (matrix.data > 0)).all():
            raise GraphError("edges must have finite weights of at least 0")
        return matrix

    def _matrix_from_list(self, edges: Any, n_rows: int, labels: Array | None) -> Any:
        own = Positions(n_rows) if labels is None else LabelIndex(labels)
        other = Positions(self.n) if self.labels is None else LabelIndex(self.labels)
        either = self._order_is_free(labels)
        listed = edges_of_list(edges, own, other, either_order=either)
        return merge_edges(*listed, (n_rows, self.n), "once")

    def _order_is_free(self, labels: Array | None) -> bool:
        """Whether an edge may be given from either end.

        Not where the same number can be a position on one side and a label, or another
        position, on the other: then only the order tells them apart.
        """
        if labels is not None and self.labels is not None:
            return True
        position = np.empty(0, dtype=np.int64)
        own = position if labels is None else labels
        return not comparable(own, position if self.labels is None else self.labels)


class Rows(Protocol):
    """Rows that are known by label, or by position."""

    def find(self, asked: Array) -> Array:
        """Number of each row asked for, -1 where there is none."""


def edges_of_list(
    edges: Any, own: Rows, other: Rows, *, either_order: bool
) -> tuple[Array, Array, Array]:
    """Numbers of rows, of rows of the fit, and weights of (row, node[, weight]).

    With ``either_order`` an edge may also be given as (node, row).
    """
    if not all(is_edge(edge) for edge in edges):
        raise GraphError("edges must be pairs (row, node) or triples with a weight")
    ends = [as_labels([edge[i] for edge in edges]) for i in (0, 1)]
    rows, columns = own.find(ends[0]), other.find(ends[1])
    if either_order:
        turned = own.find(ends[1]), other.find(ends[0])
        swap = ((rows < 0) | (columns < 0)) & (turned[0] >= 0) & (turned[1] >= 0)
        rows = np.where(swap, turned[0], rows)
        columns = np.where(swap, turned[1], columns)
    lost = np.flatnonzero((rows < 0) | (columns < 0))
    if len(lost):
        kinds = [
            "position" if isinstance(r, Positions) else "label" for r in (own, other)
        ]
        raise LabelError(
            "edges must be (row of X, row of the fit[, weight]), by "
            f"{kinds[0]} and by {kinds[1]}; {edges[lost[0]]!r} does not join such rows"
        )
    weights = numbers([edge[2] if len(edge) == 3 else 1.0 for edge in edges])
    return rows, columns, weights


def _edges_of_table(table: Any, shape: tuple[int, int]) -> Any:
    """A table of edges as a list, its columns found as ``Graph`` finds them.

    A table in the shape of the matrix is that matrix, unless its ends are named.
    """
    listed = list(getattr(table, "column_names", table.columns))  # Arrow's word first
    if tuple(table.shape) == shape and not has_known_ends(listed):
        return np.asarray(table)
    found = edge_columns(listed)
    warn_of_ignored(found)
    columns = [as_labels(table[name]).tolist() for name in found[:2]]
    if found.weight is not None:
        columns.append(numbers(table[found.weight]).tolist())
    return list(zip(*columns, strict=True))


def _matrix_of_numbers(edges: Any) -> Array:
    kind = type(edges).__name__
    try:
        found = np.asarray(edges)
        if found.dtype.kind in "fiubO" and found.ndim == 2:
            return found.astype(np.float64)
        kind += f" of shape {found.shape} and {found.dtype}" if found.ndim else ""
    except (TypeError, ValueError):
        pass
    raise GraphError(
        "edges must be a matrix of numbers from the rows of X to the rows of the fit, "
        "or a list or table of (row of X, row of the fit[, weight]); got " + kind
    )


def are_from_rows(graphs: Mapping[str, Any]) -> bool:
    """Whether all graphs are made from the rows themselves, by recipes."""
    return all(isinstance(graph, GraphRecipe) for graph in graphs.values())
