"""A weighted graph keyed by node labels, so that rows can meet nodes by name."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphfold import check
from graphfold.arrays import Array, small_indices
from graphfold.errors import GraphError, LabelError
from graphfold.graphs import sources
from graphfold.graphs.labels import LabelIndex, as_labels, first_duplicate
from graphfold.graphs.reading import Columns, read_source
from graphfold.graphs.sources import Rules, without_loops


@final
class Graph:
    """A weighted, undirected graph whose nodes have labels. Immutable.

    Parameters
    ----------
    adjacency : object
        A SciPy sparse matrix or array (any format), a square NumPy array, a networkx or
        igraph graph, a pandas, polars or Arrow table of edges, a square table whose
        rows and columns have the same names, a list of ``(node, node)`` or ``(node,
        node, weight)``, or an m x 2 or m x 3 array.
    nodes : sequence, default=None
        Labels of the nodes, in the order of the matrix; integers or strings. A matrix
        without them is a graph whose nodes are known by position only, and it cannot be
        cut in cross-validation. networkx, named igraph and edge lists bring their own.
    source, target : column names, default=None
        Columns of the ends in a table of edges. By default both names of one pair are
        looked for, in upper or lower case: source and target, src and dst, from and
        to, u and v, i and j, node1 and node2, ... A table of two columns needs no
        names. Every other table is refused.
    weight : column or attribute name, or False, default=None
        Column of the weights in a table of edges: by default one called weight,
        weights, w, wt, edge_weight, value, similarity, affinity or strength. Of
        networkx and igraph, the attribute of the edges: "weight" by default; a
        networkx edge without it has weight 1. False: every edge has weight 1. Other
        columns and numeric attributes are not used, and an ``IgnoredColumnsWarning``
        names them unless ``weight`` is given.
    dropna : bool, default=False
        Drop edges with a missing end or weight (NaN, None, NA, an empty or blank
        text), with a ``DroppedEdgesWarning``. By default they are refused. For lists
        and tables of edges: NaN in a matrix or a square table is always refused.
    duplicates : {"once", "sum"}, default="once"
        What an edge means that is listed several times, in one direction or in both:
        one edge with the largest of the weights listed, or the sum of them.
    negative : {"refuse", "clip", "abs"}, default="refuse"
        What to do with negative weights, such as those of a correlation matrix: raise
        an error, drop these edges, or take their size. It comes before duplicates.

    Notes
    -----
    **Directions.** Edges are undirected: between two nodes there is one edge, and of
    all weights listed for it, in either direction, the largest counts, whether they
    come from a list, a table, a ``DiGraph`` or an asymmetric matrix, max(A, A'); a
    ``DuplicateEdgesWarning`` says where they differ.

    So an edge has the same weight listed once or in both directions, an upper triangle
    is the same graph as the whole matrix, and one more edge never lowers a weight. A
    mean would halve an edge that only one end lists. ``duplicates="sum"`` adds the
    weights listed; a symmetric matrix lists every edge once, an asymmetric one becomes
    A + A'. For a mean pass ``(A + A.T) / 2``.

    Self-loops (a diagonal, whatever is on it) and zero weights are dropped; NaN and
    infinite weights are refused, and negative ones unless ``negative`` says what they
    mean; isolated nodes and separate parts are kept.

    ``copy.deepcopy`` returns the graph itself: ``sklearn.base.clone`` never copies it.

    Examples
    --------
    >>> from graphfold import Graph
    >>> Graph([("a", "b"), ("b", "c", 2.0)])
    Graph(3 nodes, 2 edges, 1 part, weights 1 to 2, labels 'a', 'b', 'c')
    >>> Graph([("a", "b"), ("b", "c", 2.0)]).subgraph(["c", "b"]).to_scipy().toarray()
    array([[0., 2.],
           [2., 0.]])
    """

    #: number of connected parts, once somebody has asked
    _n_parts: int | None = None

    def __init__(
        self,
        adjacency: Any,
        nodes: Any = None,
        *,
        source: Any = None,
        target: Any = None,
        weight: Any = None,
        dropna: bool = False,
        duplicates: str = "once",
        negative: str = "refuse",
    ):
        rules = _rules(duplicates, negative, dropna)
        columns = Columns(source, target, weight)
        if isinstance(adjacency, Graph):
            nodes = adjacency._labels if nodes is None else nodes
            adjacency = adjacency.to_scipy()
        self._set(*read_source(adjacency, nodes, rules, columns))
        if self.n_edges == 0:
            raise GraphError(
                f"graph must have at least one edge between two nodes; got "
                f"{self.n_nodes} nodes and none"
            )

    def _set(self, matrix: Any, labels: Array | None) -> None:
        """Keep a matrix without loops that nobody else holds."""
        matrix.eliminate_zeros()
        matrix.sort_indices()
        matrix = small_indices(matrix)
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
        self._matrix = matrix
        self._labels = labels
        self._index: LabelIndex | None = None
        if labels is None:
            return
        if len(labels) != matrix.shape[0]:
            raise LabelError(
                f"nodes must have one label for each of the {matrix.shape[0]} nodes; "
                f"got {len(labels)}"
            )
        repeated = first_duplicate(labels)
        if repeated is not None:
            raise LabelError(f"nodes must be distinct; {repeated!r} occurs twice")

    @classmethod
    def _unchecked(cls, matrix: Any, labels: Array | None = None) -> Self:
        """A graph from parts known to be good; may have no edges, or negative ones."""
        graph = cls.__new__(cls)
        graph._set(without_loops(matrix), labels)
        return graph

    @classmethod
    def from_edges(
        cls,
        source: Any,
        target: Any,
        weight: Any = None,
        *,
        nodes: Any = None,
        dropna: bool = False,
        duplicates: str = "once",
        negative: str = "refuse",
    ) -> Self:
        """A graph from columns of end labels and perhaps weights.

        Parameters
        ----------
        source, target : sequence
            Labels of the two ends of each edge.
        weight : sequence of numbers, default=None
            Weights of the edges; 1 each by default.
        nodes, dropna, duplicates, negative
            As of :class:`Graph`.

        Examples
        --------
        >>> from graphfold import Graph
        >>> Graph.from_edges([1, 2], [2, 3]).n_edges
        2
        """
        labels = None if nodes is None else as_labels(nodes)
        rules = _rules(duplicates, negative, dropna)
        parts = sources.from_edges(source, target, weight, labels, rules)
        return cls(parts.matrix, parts.nodes)

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Any,
        edge_weight: Any = None,
        *,
        nodes: Any = None,
        num_nodes: int | None = None,
    ) -> Self:
        """A graph from a 2 x E array of positions, as in PyTorch Geometric and DGL.

        Parameters
        ----------
        edge_index : array or tensor of integers, 2 x E
            Positions of the two ends of each edge. An edge is undirected and counts
            once, whether one or both of its directions are listed.
        edge_weight : array or tensor of E numbers, default=None
            1 each by default; of an edge listed twice, the larger one counts.
        nodes : sequence, default=None
            Labels of the nodes by position; without them nodes have none.
        num_nodes : int, default=None
            Number of nodes: that of ``nodes``, or one more than the largest position.
            It is needed where the last nodes have no edges.

        Examples
        --------
        >>> from graphfold import Graph
        >>> Graph.from_edge_index([[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=4)
        Graph(4 nodes, 2 edges, 2 parts, weights 1, no labels)
        """
        parts = sources.from_edge_index(edge_index, edge_weight, nodes, num_nodes)
        return cls(parts.matrix, parts.nodes)

    @classmethod
    def from_anndata(cls, adata: Any, key: str = "connectivities") -> Self:
        """The graph in ``adata.obsp[key]``, labelled by ``adata.obs_names``."""
        if key not in adata.obsp:
            raise GraphError(
                f"key must name a matrix in adata.obsp; got {key!r}, and there are "
                f"{check.some_of(list(adata.obsp.keys())) or 'none'}"
            )
        return cls(adata.obsp[key], nodes=adata.obs_names)

    # -- what it is ------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self._matrix.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return int(self._matrix.nnz // 2)

    @property
    def has_labels(self) -> bool:
        """Whether nodes have labels, or are known by position only."""
        return self._labels is not None

    @property
    def nodes(self) -> Array:
        """Labels of the nodes, or 0 ... n-1 if they have none."""
        return np.arange(self.n_nodes) if self._labels is None else self._labels.copy()

    @property
    def degrees(self) -> Array:
        """Sum of the weights at each node."""
        return np.asarray(self._matrix.sum(axis=1)).ravel()

    @property
    def is_signed(self) -> bool:
        """Whether some weight is negative (only a recipe can make such a graph)."""
        return bool(self._matrix.nnz and self._matrix.data.min() < 0)

    @property
    def n_parts(self) -> int:
        """Number of connected components; an isolated node is one."""
        if self._n_parts is None:
            # the matrix is symmetric: SciPy would transpose it to look for weak parts
            parts = connected_components(self._matrix, connection="strong")
            self._n_parts = int(parts[0])
        return self._n_parts

    def to_scipy(self) -> Any:
        """The symmetric adjacency matrix, a CSR array without diagonal (read-only)."""
        return self._matrix

    # -- rows meet nodes -------------------------------------------------------

    def find(self, labels: Any) -> Array:
        """Position of each label among the nodes, -1 where it is not a node."""
        if self._index is None:
            self._index = LabelIndex(self.nodes)
        return self._index.find(as_labels(labels))

    def subgraph(self, labels: Any) -> Self:
        """The induced subgraph of these nodes, in this order."""
        wanted = as_labels(labels)
        positions = self.find(wanted)
        if (positions < 0).any():
            missing = wanted[positions < 0]
            raise self.unknown_labels(missing, len(missing), len(wanted))
        repeated = first_duplicate(wanted)
        if repeated is not None:
            raise LabelError(f"labels must be distinct; {repeated!r} occurs twice")
        matrix = self._matrix[positions][:, positions]
        return self._unchecked(matrix, wanted)

    def unknown_labels(self, some: Array, n_unknown: int, n_asked: int) -> LabelError:
        """What to raise where labels are asked for that are not nodes, such as some."""
        if not self.has_labels:
            return LabelError(
                f"the nodes of the graph have no labels, only positions 0 to "
                f"{self.n_nodes - 1}, and {check.some_of(some)} "
                f"{'is' if n_unknown == 1 else 'are'} not among them: name them "
                "in the order of the matrix with Graph(matrix, nodes=node_ids)"
            )
        return LabelError(
            f"{n_unknown} of {n_asked} labels are not nodes of the graph: "
            f"{check.some_of(some)}; the graph has labels such as "
            f"{check.some_of(self.nodes, 3)} ({self.nodes.dtype}); rows without an "
            "edge are nodes too: name them in Graph(..., nodes=)"
        )

    def edges_between(self, labels: Any, others: Any) -> Any:
        """Weights from ``labels`` (rows) to ``others`` (columns), a CSR array.

        A label that is not a node has no edges.
        """
        rows, columns = self.find(labels), self.find(others)
        matrix = self._matrix[np.maximum(rows, 0)][:, np.maximum(columns, 0)]
        keep_rows = sp.diags_array((rows >= 0).astype(float))
        keep_columns = sp.diags_array((columns >= 0).astype(float))
        found = sp.csr_array(keep_rows @ matrix @ keep_columns)
        found.eliminate_zeros()
        return found

    # -- immutable: one object is as good as a copy ------------------------------

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.n_nodes == other.n_nodes
            and self.has_labels == other.has_labels
            and bool(np.array_equal(self.nodes, other.nodes))
            and (self._matrix != other._matrix).nnz == 0
        )

    def __hash__(self) -> int:
        return hash((self.n_nodes, self.n_edges, float(self._matrix.sum())))

    def __repr__(self) -> str:
        counts = (
            (self.n_nodes, "node"),
            (self.n_edges, "edge"),
            (self.n_parts, "part"),
        )
        text = "Graph(" + ", ".join(
            f"{count:,} {word}{'' if count == 1 else 's'}" for count, word in counts
        )
        if self._matrix.nnz:
            low, high = self._matrix.data.min(), self._matrix.data.max()
            text += f", weights {low:.4g}"
            text += f" to {high:.4g}" if high > low else ""
        if not self.has_labels:
            return text + ", no labels)"
        shown = ", ".join(repr(label) for label in self.nodes[:3].tolist())
        return text + f", labels {shown}{', ...' if self.n_nodes > 3 else ''})"


def _rules(duplicates: str, negative: str, dropna: bool) -> Rules:
    return Rules(
        check.one_of("duplicates", duplicates, ("once", "sum")),
        check.one_of("negative", negative, ("refuse", "clip", "abs")),
        check.flag("dropna", dropna),
    )
