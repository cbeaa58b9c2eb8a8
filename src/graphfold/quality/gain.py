"""Does this graph help? Smoothness of the data on it, against rewired copies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphError, GraphfoldError
from graphfold.estimators.rows import graph_of_rows, labels_of_rows
from graphfold.graphs import Graph
from graphfold.progress import counted, shown
from graphfold.quality.distances import (
    read_rows,
    squared_distances,
    squared_lengths,
)
from graphfold.quality.rewiring import (
    edges_of,
    given_graph,
    random_generator,
    swap_ends,
)

_LEVEL = 0.05
_EQUAL = 1e-9  # relative: sums over the same edges in another order
_SPARSE = 0.1  # below this share of non-zeros a dense X is read as a sparse one


class Edge(NamedTuple):
    """An edge that the data contradict; see ``GraphGain.edges``."""

    source: Any
    target: Any
    weight: float
    excess: float


@dataclass(frozen=True, eq=False)
class GraphGain:
    """What ``graph_gain`` found; ``print`` tells it in a sentence.

    Attributes
    ----------
    effect : float
        1 - smoothness / mean(null): positive where linked rows are more alike than
        chance would make them, 0 where the graph says nothing about the rows.
    p_value : float
        (1 + copies at least as smooth) / (1 + copies).
    z_score : float
        (mean(null) - smoothness) / std(null), with the sign of the effect; 0 where the
        copies do not differ.
    smoothness : float
        Mean squared distance of linked rows, over that of all pairs of rows: 0 where
        linked rows are equal, 1 where they are like any two.
    null : array
        The smoothness of each rewired copy.
    edges : tuple of (source, target, weight, excess)
        Edges that contradict the data most, by weight times excess, the largest first.
        The excess is the squared distance of the ends over that of two unrelated rows
        as far from the mean, less 1: 0 is unrelated, 1 opposite. Only edges above 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from graphfold import NeighborGraph
    >>> from graphfold.quality import graph_gain
    >>> X = load_iris().data
    >>> gain = graph_gain(X, NeighborGraph(5).build(X), random_state=0)
    >>> gain.effect > 0.9, gain.p_value
    (True, 0.01)
    """

    effect: float
    p_value: float
    z_score: float
    smoothness: float
    null: Array = field(repr=False)
    edges: tuple[Edge, ...] = field(repr=False)

    @property
    def helps(self) -> bool:
        """Whether linked rows are more alike than by chance, at the level of 0.05."""
        return self.effect > 0 and self.p_value <= _LEVEL

    def __str__(self) -> str:
        verdict = "helps" if self.helps else "is not seen to help"
        direction = "closer" if self.effect >= 0 else "further apart"
        text = (
            f"The graph {verdict}: linked rows are {abs(self.effect):.1%} {direction} "
            f"than in {len(self.null)} copies rewired at random (p = "
            f"{self.p_value:.2g}, z = {self.z_score:.1f}; smoothness "
            f"{self.smoothness:.3g}, where 1 is any two rows)."
        )
        if not self.edges:
            return text
        worst = self.edges[0]
        return text + (
            f" Most against the data: {worst.source!r} - {worst.target!r} "
            f"(excess {worst.excess:.2f})."
        )


def graph_gain(
    X: Any,
    graph: Any,
    *,
    node_ids: Any = None,
    n_copies: int = 99,
    n_edges: int = 20,
    random_state: Any = None,
    verbose: int = 0,
) -> GraphGain | dict[Any, GraphGain]:
    """Whether a graph knows something about the rows of X, before anything is fitted.

    With columns of X brought to variance 1, the smoothness is the weighted mean of
    ``|z_i - z_j|^2`` over the edges, divided by its mean over all pairs of rows. It is
    compared with copies of the graph that keep the degree of every node and the
    weights, but link at random (``rewired``).

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, p)
        Columns that are constant are left out.
    graph : Graph, anything Graph takes, or a dict or list of them
        Rows meet nodes by label, as in the estimators; rows without labels meet a graph
        without labels by position. Recipes are refused: a graph built from X says
        nothing new about X.
    node_ids : sequence, default=None
        Labels of the rows; None takes the index of a DataFrame.
    n_copies : int, default=99
        Rewired copies. The smallest possible p-value is 1 / (1 + n_copies), so fewer
        than 19 never help.
    n_edges : int, default=20
        How many of the edges that contradict the data are listed, at most.
    random_state : int, RandomState or Generator, default=None
        The same number gives the same answer for a graph, alone or among others; None
        is one fixed number.
    verbose : int, default=0
        1 shows on a terminal how many copies have been looked at; 2 writes it as
        lines to the standard error stream, wherever that goes.

    Returns
    -------
    GraphGain, or a dict of one for each name
        A list of graphs gives them the names "graph1", "graph2", ...

    Notes
    -----
    Where no copy differs (constant X, a star, a complete graph) the effect is 0 and the
    p-value 1. The p-value is exact however slowly rewiring forgets: the copies are made
    from one rewired graph, not from the graph itself, and so all of them, the graph
    included, are alike by chance (Besag and Clifford, 1989). It is not corrected for
    the number of graphs asked about.

    The time is O(n_copies m p) for m edges and p columns (non-zeros a row, if X is
    sparse), the memory that of a second X.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import Graph
    >>> from graphfold.quality import graph_gain
    >>> X = np.arange(40.0)[:, None]
    >>> path = Graph([(i, i + 1) for i in range(39)])
    >>> gain = graph_gain(X, path)
    >>> gain.helps, gain.p_value, round(gain.effect, 2)
    (True, 0.01, 1.0)
    >>> far = Graph([(i, (i + 20) % 40) for i in range(40)])
    >>> {name: gain.helps for name, gain in graph_gain(X, [path, far]).items()}
    {'graph1': True, 'graph2': False}
    """
    check.integer_between("n_copies", n_copies, 1, 2**31)
    check.integer_between("n_edges", n_edges, 0, 2**31)
    rng = random_generator(random_state)
    graphs = _named_graphs(graph)
    rows = _read_rows(X)
    n = rows.shape[0]
    matched = {}
    for name, one in graphs.items():
        labels = labels_of_rows(X, node_ids, one, n)
        matched[name] = graph_of_rows(one, labels, n)
    Z, n_varying = _standardised(rows)
    seed = rng.integers(2**62)  # one for all: no answer depends on the other graphs
    how = (n_copies, n_edges)
    with shown(verbose, "graph_gain"):
        gains = {
            name: _gain(Z, n_varying, one, *how, np.random.default_rng(seed))
            for name, one in matched.items()
        }
    return gains if _is_several(graph) else gains["graph"]


def _gain(
    Z: Any,
    n_varying: int,
    graph: Graph,
    n_copies: int,
    n_edges: int,
    rng: np.random.Generator,
) -> GraphGain:
    """The gain of a graph whose node i is row i."""
    n = graph.n_nodes
    if n_varying == 0:
        return GraphGain(0.0, 1.0, 0.0, 1.0, np.ones(n_copies), ())
    first, second, weights = edges_of(graph)
    share = weights / weights.max()
    share /= share.sum()
    all_pairs = 2 * n_varying * n / (n - 1)  # variances are 1: no pair is looked at
    distances = squared_distances(Z, first, second)
    observed = float(share @ distances) / all_pairs

    middle = swap_ends(first, second, n, rng)
    null = np.empty(n_copies)
    for copy in counted("rewired copies", range(n_copies), "copy"):
        ends = swap_ends(*middle, n, rng)
        null[copy] = share @ squared_distances(Z, *ends) / all_pairs

    as_smooth = null <= observed * (1 + _EQUAL)
    mean, spread = float(null.mean()), float(null.std())
    if np.allclose(null, observed, rtol=_EQUAL, atol=0):
        effect = z_score = 0.0
    else:
        effect = 1 - observed / mean
        z_score = (mean - observed) / spread if spread > _EQUAL * mean else 0.0
    return GraphGain(
        effect=effect,
        p_value=float((1 + as_smooth.sum()) / (1 + n_copies)),
        z_score=z_score,
        smoothness=observed,
        null=null,
        edges=_contradicting(Z, graph, distances, n_edges),
    )


def _contradicting(
    Z: Any, graph: Graph, distances: Array, n_edges: int
) -> tuple[Edge, ...]:
    """The edges of largest weight times excess."""
    first, second, weights = edges_of(graph)
    from_mean = _squared_distances_from_mean(Z)
    expected = from_mean[first] + from_mean[second]
    excess = distances / np.where(expected > 0, expected, np.inf) - 1
    contradiction = np.where(excess > _EQUAL, excess, 0) * weights
    worst = np.argsort(-contradiction, kind="stable")[:n_edges]
    worst = worst[contradiction[worst] > 0]
    labels = graph.nodes
    columns = (labels[first], labels[second], weights, excess)
    return tuple(map(Edge, *(column[worst].tolist() for column in columns)))


# -- rows and their distances --------------------------------------------------


def _squared_distances_from_mean(Z: Any) -> Array:
    lengths = squared_lengths(Z)
    if not sp.issparse(Z):  # centred
        return lengths
    mean = np.asarray(Z.mean(axis=0, dtype=np.float64)).ravel()
    return np.maximum(lengths - 2 * (Z @ mean) + mean @ mean, 0)


def _standardised(X: Any) -> tuple[Any, int]:
    """X with columns of variance 1, and how many of them vary; the others become 0.

    Sparse columns are not centred, since differences do not change by it. Columns are
    divided by their largest entry first, so that no square of it overflows.
    """
    tiny = 10 * np.finfo(X.dtype).eps  # the rounding of a mean varies this much
    if sp.issparse(X):
        Z = sp.csr_array(X, copy=True)
        Z.sum_duplicates()
        largest = abs(Z).max(axis=0).toarray().ravel()
        Z.data /= largest[Z.indices] + (largest[Z.indices] == 0)
        deviation = np.sqrt(mean_variance_axis(Z, axis=0)[1])
    else:
        largest = np.abs(X).max(axis=0)
        Z = X / (largest + (largest == 0))
        deviation = Z.std(axis=0, dtype=np.float64)
        Z -= Z.mean(axis=0, dtype=np.float64).astype(Z.dtype)
    varies = deviation > tiny
    factors = np.where(varies, 1 / np.where(varies, deviation, 1), 0).astype(Z.dtype)
    if sp.issparse(Z):
        Z.data *= factors[Z.indices]
    else:
        Z *= factors
    return Z, int(varies.sum())


def _read_rows(X: Any) -> Any:
    """X as a finite dense or CSR array; sparse where few entries are not zero."""
    rows = read_rows("X", X)
    if sp.issparse(rows) or np.count_nonzero(rows) < _SPARSE * rows.size:
        return sp.csr_array(rows)
    return rows


# -- one graph or several ------------------------------------------------------


def _named_graphs(graph: Any) -> dict[Any, Graph]:
    if not _is_several(graph):
        graph = {"graph": graph}
    elif not isinstance(graph, Mapping):
        graph = {f"graph{i}": one for i, one in enumerate(graph, start=1)}
    if not graph:
        raise GraphfoldError("graph must be one graph or several; got none at all")
    found = {name: given_graph(one) for name, one in graph.items()}
    for name, one in found.items():
        if one.is_signed:
            raise GraphError(
                f"graph must have weights of at least 0; {name!r} has negative ones: "
                'make it with Graph(..., negative="clip") or "abs"'
            )
    return found


def _is_several(graph: Any) -> bool:
    """Whether a dict or list of graphs came; a list of pairs of labels is one graph."""
    if isinstance(graph, list | tuple) and graph:
        edge = graph[0]
        is_edge = isinstance(edge, list | tuple | np.ndarray) and len(edge) in (2, 3)
        return not (is_edge and np.isscalar(edge[0]))
    return isinstance(graph, Mapping | list | tuple)
