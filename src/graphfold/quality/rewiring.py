"""Random copies of a graph that keep every degree: what chance alone would link."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.estimators.statement import generator
from graphfold.graphs import Graph, GraphRecipe
from graphfold.progress import counted, shown

SWAPS_PER_EDGE = 10


def rewired(
    graph: Any,
    random_state: Any = None,
    n_swaps: int | None = None,
    verbose: int = 0,
) -> Graph:
    """A random graph in which every node has as many edges as in this one.

    A swap takes two edges a - b and c - d and makes them a - d and c - b, unless that
    gives a self-loop or an edge twice. Weights travel with their edges, so that the
    number of edges at each node and the list of all weights stay, while the sum of
    weights at a node may change.

    Parameters
    ----------
    graph : Graph or anything Graph takes
        Labels are kept. A graph in which no swap is possible (a star, a complete
        graph) comes back as it is.
    random_state : int, RandomState or Generator, default=None
        The same number gives the same copy; None is one fixed number.
    n_swaps : int, default=None
        How many swaps are tried in all, successful or not (at least so many: a round
        of them is never cut); None is 10 for each edge, after which nothing of the old
        graph but its degrees is left in practice.
    verbose : int, default=0
        1 shows on a terminal how far it is; 2 writes it as lines to the standard error
        stream, wherever that goes.

    Returns
    -------
    Graph

    Notes
    -----
    Swaps are tried in rounds of disjoint pairs of edges, and all that get in each
    other's way are refused. Each round is as likely as its reverse, so that in the long
    run all graphs with these degrees that swaps can reach are equally likely. A round
    sorts the edges: O(m log m) for m edges.

    References
    ----------
    Milo, Kashtan, Itzkovitz, Newman and Alon (2003), "On the uniform generation of
    random graphs with prescribed degree sequences".

    Examples
    --------
    >>> from graphfold import Graph
    >>> from graphfold.quality import rewired
    >>> ring = Graph([(i, (i + 1) % 20) for i in range(20)])
    >>> copy = rewired(ring, random_state=0)
    >>> copy == ring, copy.n_edges, set(copy.degrees.tolist())
    (False, 20, {2.0})
    """
    found = given_graph(graph)
    first, second, weights = edges_of(found)
    n = found.n_nodes
    if n_swaps is not None:
        n_swaps = check.integer_between("n_swaps", n_swaps, 0, 2**62)
    rng = random_generator(random_state)
    with shown(verbose, "rewired"):
        first, second = swap_ends(first, second, n, rng, n_swaps)
    upper = sp.coo_array((weights, (first, second)), shape=(n, n)).tocsr()
    labels = found.nodes if found.has_labels else None
    return Graph._unchecked(upper + upper.T, labels)


def given_graph(graph: Any) -> Graph:
    """The graph meant, if it is one that exists before X is seen."""
    if graph is None or isinstance(graph, GraphRecipe | type):
        came = getattr(graph, "__name__", type(graph).__name__)
        raise GraphfoldError(
            "graph must be a Graph or something Graph takes (matrix, edges, networkx, "
            f"igraph); got {came}: a recipe or no graph at all tells nothing new about "
            "X, so pass edges that come from elsewhere"
        )
    return graph if isinstance(graph, Graph) else Graph(graph)


def random_generator(random_state: Any) -> np.random.Generator:
    """Random numbers of a state as scikit-learn knows it, or of a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        return generator(random_state)
    except (ValueError, TypeError) as error:
        raise GraphfoldError(
            "random_state must be None, an integer of at least 0, a RandomState or a "
            f"Generator; got {random_state!r}"
        ) from error


def edges_of(graph: Graph) -> tuple[Array, Array, Array]:
    """Both ends, as positions, and the weight of each edge, once."""
    upper = sp.triu(graph.to_scipy(), k=1, format="coo")
    return upper.row.astype(np.int64), upper.col.astype(np.int64), upper.data


def swap_ends(
    first: Array,
    second: Array,
    n: int,
    rng: np.random.Generator,
    n_swaps: int | None = None,
) -> tuple[Array, Array]:
    """Ends of the edges after ``n_swaps`` tries, in the order of the edges.

    The number of rounds depends on the number of edges only, never on what succeeds:
    otherwise the walk would not be reversible, and a p-value from it not exact.
    """
    m = len(first)
    # a round of few enough pairs for most not to collide, also in a dense or tiny graph
    n_pairs = min(m // 2, max(1, n * (n - 1) // 32))
    if n_pairs == 0:
        return first, second
    n_swaps = SWAPS_PER_EDGE * m if n_swaps is None else n_swaps
    ends = np.concatenate([first, second])
    keys = _keys(first, second, n)
    for _ in counted("swapping ends", range(-(-n_swaps // n_pairs)), "round"):
        _swap_round(ends, keys, n, n_pairs, rng)
    return ends[:m], ends[m:]


def _swap_round(
    ends: Array, keys: Array, n: int, n_pairs: int, rng: np.random.Generator
) -> None:
    """Try one swap in each of ``n_pairs`` disjoint pairs of edges, in place.

    Edge e has its ends at ``ends[e]`` and ``ends[e + m]``. A pair is refused where one
    of its edges, old or new, is also an edge of anyone else, old or new. Since a swap
    only exchanges old and new, the reverse round would refuse exactly the same pairs.
    """
    m = len(keys)
    one, two = rng.permutation(m)[: 2 * n_pairs].reshape(2, n_pairs)
    side = rng.integers(0, 2, size=(2, n_pairs)) * m
    moved, met = one + side[0], two + side[1]
    stays, waits = one + m - side[0], two + m - side[1]
    new_one = _keys(ends[stays], ends[met], n)
    new_two = _keys(ends[moved], ends[waits], n)
    loops = (ends[stays] == ends[met]) | (ends[moved] == ends[waits])
    new_one[loops], new_two[loops] = -1, -2  # refused: in nobody's way

    shared = _repeated(np.concatenate([keys, new_one, new_two]))
    taken, clash_one, clash_two = np.split(shared, [m, m + n_pairs])
    refused = loops | clash_one | clash_two | taken[one] | taken[two]
    moved, met = moved[~refused], met[~refused]
    ends[moved], ends[met] = ends[met], ends[moved]
    keys[one[~refused]] = new_one[~refused]
    keys[two[~refused]] = new_two[~refused]


def _keys(first: Array, second: Array, n: int) -> Array:
    """One integer for each undirected edge, whichever end comes first."""
    return np.minimum(first, second) * n + np.maximum(first, second)


def _repeated(keys: Array) -> Array:
    """Whether each key occurs elsewhere too."""
    order = np.argsort(keys)
    ordered = keys[order]
    equal = np.concatenate([[False], ordered[1:] == ordered[:-1], [False]])
    repeated = np.empty(len(keys), dtype=bool)
    repeated[order] = equal[1:] | equal[:-1]
    return repeated
