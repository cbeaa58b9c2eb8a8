"""Rewired copies: degrees and weights stay, all else is chance."""

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from graphfold import Graph, NeighborGraph
from graphfold.errors import GraphfoldError
from graphfold.quality import rewired


@st.composite
def graphs(draw):
    """Any simple graph on 2 to 12 labelled nodes, each edge with its own weight."""
    n = draw(st.integers(2, 12))
    pairs = list(combinations(range(n), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    A = np.zeros((n, n))
    for weight, (i, j) in enumerate(chosen, start=1):
        A[i, j] = A[j, i] = weight
    return Graph(A, nodes=[f"node{i}" for i in range(n)])


def n_neighbors(graph):
    return np.diff(graph.to_scipy().indptr)


def edge_set(graph):
    rows, columns = sp.triu(graph.to_scipy()).nonzero()
    return frozenset(zip(rows.tolist(), columns.tolist(), strict=True))


@settings(deadline=None)
@given(graphs(), st.integers(0, 2**31), st.integers(0, 200))
def test_degrees_weights_and_labels_stay(graph, seed, n_swaps):
    copy = rewired(graph, random_state=seed, n_swaps=n_swaps)
    A = copy.to_scipy()
    assert_array_equal(n_neighbors(copy), n_neighbors(graph))
    # a duplicate edge would have merged two weights into their sum
    assert_array_equal(np.sort(A.data), np.sort(graph.to_scipy().data))
    assert copy.n_edges == graph.n_edges
    assert_array_equal(A.diagonal(), 0)
    assert (A != A.T).nnz == 0
    assert_array_equal(copy.nodes, graph.nodes)


@settings(deadline=None)
@given(graphs(), st.integers(0, 2**31))
def test_the_same_seed_gives_the_same_copy(graph, seed):
    assert rewired(graph, random_state=seed) == rewired(graph, random_state=seed)


def test_every_kind_of_random_state_is_taken():
    ring = Graph(nx.cycle_graph(30))
    assert rewired(ring) == rewired(ring, None)
    assert rewired(ring, 1) != rewired(ring, 2)
    for make in (np.random.RandomState, np.random.default_rng):
        assert rewired(ring, make(3)) == rewired(ring, make(3))
        state = make(3)
        assert rewired(ring, state) != rewired(ring, state)


@pytest.mark.parametrize(
    "graph",
    [
        Graph([(0, i, i) for i in range(1, 8)]),
        Graph(np.ones((6, 6))),
        Graph([("a", "b")]),
        Graph([("a", "b"), ("b", "c")]),
    ],
    ids=["star", "complete", "edge", "path of two"],
)
def test_graphs_without_a_swap_come_back_as_they_are(graph):
    assert rewired(graph, random_state=0) == graph


def test_no_swaps_change_nothing():
    ring = Graph(nx.cycle_graph(30))
    assert rewired(ring, n_swaps=0) == ring


def test_a_graph_without_labels_stays_without():
    copy = rewired(Graph(sp.csr_array(nx.to_scipy_sparse_array(nx.cycle_graph(9)))))
    assert not copy.has_labels


@pytest.mark.parametrize("degrees", [(2, 2, 2, 2, 2, 2), (3, 2, 2, 2, 1), (1,) * 6])
def test_all_graphs_of_these_degrees_are_equally_likely(degrees):
    """Against a list of them all, made by looking at every set of edges."""
    n, m = len(degrees), sum(degrees) // 2
    pairs = list(combinations(range(n), 2))
    everything = {
        frozenset(edges)
        for edges in combinations(pairs, m)
        if tuple(np.bincount(np.ravel(edges), minlength=n)) == degrees
    }
    rng = np.random.default_rng(0)
    graph = Graph(list(min(everything, key=sorted)), nodes=range(n))
    counts = Counter()
    expected = 15
    for _ in range(expected * len(everything)):
        graph = rewired(graph, rng, n_swaps=20)
        counts[edge_set(graph)] += 1
    assert set(counts) == everything
    chi2 = sum((count - expected) ** 2 / expected for count in counts.values())
    freedom = len(everything) - 1
    assert chi2 < freedom + 4 * np.sqrt(2 * freedom)


def test_rounds_of_many_pairs_are_unbiased_too():
    """Large enough for pairs of a round to collide: each pair of nodes as often."""
    ring = Graph(nx.cycle_graph(24))
    rng = np.random.default_rng(0)
    copies = (rewired(ring, rng, n_swaps=120) for _ in range(600))
    total = sum(copy.to_scipy() for copy in copies).toarray()
    counts = total[np.triu_indices(24, 1)]
    expected = 600 * 2 / 23
    assert_array_equal(total.sum(axis=1), 1200)
    assert abs(counts.mean() - expected) < 1e-9
    assert ((counts - expected) ** 2).mean() < 1.3 * expected
    links_of_old = np.array([total[i, (i + 1) % 24] for i in range(24)])
    assert abs(links_of_old.mean() - expected) < 4 * np.sqrt(expected / 24)


def test_weights_travel_with_their_edges():
    """Heavy edges end anywhere, one by one: the sum of weights at a node changes."""
    graph = Graph([(i, (i + 1) % 20, 1.0 + 9.0 * (i < 5)) for i in range(20)])
    copy = rewired(graph, random_state=0)
    assert copy.degrees.sum() == graph.degrees.sum()
    assert not np.array_equal(copy.degrees, graph.degrees)


def test_little_of_a_large_graph_is_left(cora):
    copy = rewired(cora.graph, random_state=0)
    assert_array_equal(copy.degrees, cora.graph.degrees)
    kept = copy.to_scipy().multiply(cora.graph.to_scipy()).nnz
    assert kept < 0.02 * cora.graph.to_scipy().nnz


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (NeighborGraph(3), {}, "got NeighborGraph: a recipe"),
        (NeighborGraph, {}, "got NeighborGraph: a recipe"),
        (None, {}, "graph must be a Graph"),
        ([(0, 1)], {"n_swaps": -1}, "n_swaps must be between 0"),
        ([(0, 1)], {"n_swaps": 1.5}, "n_swaps must be an integer"),
        ([(0, 1)], {"random_state": "x"}, "random_state must be None, an integer"),
        ([(0, 1)], {"random_state": -1}, "random_state must be None, an integer"),
    ],
)
def test_bad_arguments_are_named(graph, options, message):
    with pytest.raises(GraphfoldError, match=message):
        rewired(graph, **options)
