"""Does a graph help: against loops over pairs, planted graphs and chance."""

from dataclasses import FrozenInstanceError

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import CorrelationGraph, Graph, NeighborGraph
from graphfold.errors import GraphfoldError, LabelError
from graphfold.quality import GraphGain, distances, graph_gain, rewired, rewiring


def loop_smoothness(X, edges):
    """By the definition, over every edge and every pair, one by one."""
    deviation = X.std(axis=0)
    varies = deviation > 1e-12 * np.abs(X).max(axis=0)
    Z = (X[:, varies] - X[:, varies].mean(axis=0)) / deviation[varies]
    n = len(Z)
    everyone = [
        ((Z[i] - Z[j]) ** 2).sum() for i in range(n) for j in range(n) if i != j
    ]
    total = sum(w * ((Z[i] - Z[j]) ** 2).sum() for i, j, w in edges)
    return total / sum(w for *_, w in edges) / np.mean(everyone)


def loop_excess(X, i, j):
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return ((Z[i] - Z[j]) ** 2).sum() / ((Z[i] ** 2).sum() + (Z[j] ** 2).sum()) - 1


def random_edges(rng, n, m):
    pairs = np.array(np.triu_indices(n, 1)).T
    chosen = pairs[rng.choice(len(pairs), m, replace=False)]
    weights = rng.random(m) + 0.1
    return list(zip(*chosen.T.tolist(), weights.tolist(), strict=True))


def n_helping(X, graph, n_rewired, node_ids=None):
    """How many rewired copies seem to help: one in twenty does, by the level of 0.05.

    One copy alone would be a test of its seed.
    """
    copies = [rewired(graph, random_state=seed) for seed in range(n_rewired)]
    gains = graph_gain(X, copies, node_ids=node_ids, n_copies=39, random_state=0)
    assert max(abs(found.effect) for found in gains.values()) < 0.15
    return sum(found.helps for found in gains.values())


@pytest.fixture
def clusters(rng):
    """90 rows around three centres, and links within the clusters only."""
    y = np.repeat([0, 1, 2], 30)
    X = 3 * rng.standard_normal((3, 6))[y] + rng.standard_normal((90, 6))
    edges = [
        (int(i), int(j))
        for c in range(3)
        for i, j in rng.choice(np.flatnonzero(y == c), (60, 2))
        if i != j
    ]
    return X, y, Graph(edges, nodes=range(90))


CONTAINERS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "coo_array": sp.coo_array,
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=[f"x{i}" for i in range(X.shape[1])]),
    "list": np.ndarray.tolist,
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("zeros", [0.0, 0.7, 0.95])
def test_smoothness_is_that_of_a_loop(container, zeros, rng):
    X = rng.standard_normal((25, 8)) * rng.lognormal(size=8) + 5
    X[rng.random(X.shape) < zeros] = 0
    X[:, 3] = 7.0
    edges = random_edges(rng, 25, 40)
    found = graph_gain(container(X), Graph(edges, nodes=range(25)), n_copies=3)
    assert found.smoothness == pytest.approx(loop_smoothness(X, edges), rel=1e-10)


@given(
    hnp.arrays(np.float64, (6, 3), elements=st.floats(-1e6, 1e6, width=32)),
    st.integers(0, 2**31),
)
@settings(max_examples=50, deadline=None)
def test_any_table_gives_a_sound_answer(X, seed):
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, 6, int(rng.integers(1, 16)))
    graph = Graph(edges, nodes=range(6))
    found = graph_gain(X, graph, n_copies=9, random_state=seed)
    stored = graph_gain(sp.csr_array(X), graph, n_copies=9, random_state=seed)
    assert found.p_value * 10 == pytest.approx(round(found.p_value * 10))
    assert 0.1 <= found.p_value <= 1
    assert np.isfinite([found.effect, found.z_score, found.smoothness]).all()
    assert found.effect <= 1 and found.smoothness >= 0
    assert_allclose(stored.null, found.null, rtol=1e-5, atol=1e-7)
    assert all(0 < edge.excess <= 1 + 1e-9 for edge in found.edges)


def test_effect_and_p_value_follow_from_the_null(clusters):
    X, _, graph = clusters
    found = graph_gain(X, graph, n_copies=30, random_state=4)
    assert found.null.shape == (30,)
    assert found.effect == pytest.approx(1 - found.smoothness / found.null.mean())
    assert found.p_value == (1 + (found.null <= found.smoothness).sum()) / 31
    z = (found.null.mean() - found.smoothness) / found.null.std()
    assert found.z_score == pytest.approx(z)


def test_blocks_do_not_change_the_answer(clusters, monkeypatch):
    X, _, graph = clusters
    whole = graph_gain(X, graph, n_copies=5)
    monkeypatch.setattr(distances, "_BLOCK", 7)
    for container in (np.asarray, sp.csr_array):
        assert_allclose(graph_gain(container(X), graph, n_copies=5).null, whole.null)


def test_single_precision_serves(clusters):
    X, _, graph = clusters
    for container in (np.asarray, sp.csr_array):
        found = graph_gain(container(X.astype(np.float32)), graph)
        assert found.smoothness == pytest.approx(graph_gain(X, graph).smoothness, 1e-5)


def test_units_and_origin_of_columns_do_not_matter(clusters, rng):
    X, _, graph = clusters
    moved = X * 10.0 ** rng.integers(-150, 150, 6)
    whole = graph_gain(X, graph)
    assert_allclose(graph_gain(moved, graph).null, whole.null)
    for container in (np.asarray, sp.csr_array):
        assert_allclose(graph_gain(container(X + 1e6), graph).null, whole.null, 1e-6)
    huge = X / np.abs(X).max() * 1.7e308
    assert_allclose(graph_gain(huge, graph).null, whole.null)


def test_x_is_left_as_it_was(clusters):
    X, _, graph = clusters
    stored = sp.csr_array(X)
    before = X.copy()
    graph_gain(X, graph, n_copies=1)
    graph_gain(stored, graph, n_copies=1)
    assert_array_equal(X, before)
    assert_array_equal(stored.toarray(), before)


# -- what it says --------------------------------------------------------------


def test_a_planted_graph_helps_and_a_rewired_one_does_not(clusters):
    X, _, graph = clusters
    found = graph_gain(X, graph)
    assert found.helps and found.p_value == 0.01 and found.effect > 0.5
    assert n_helping(X, graph, n_rewired=10) <= 2


def test_neighbours_of_another_view_help(rng):
    hidden = rng.standard_normal((150, 2))
    one, other = (
        hidden @ rng.standard_normal((2, 8)) + 0.3 * rng.standard_normal((150, 8))
        for _ in range(2)
    )
    graph = NeighborGraph(5).build(one)
    assert graph_gain(other, graph).helps
    assert n_helping(other, graph, n_rewired=10) <= 2


def test_links_between_opposites_do_not_help(clusters):
    X, _, _ = clusters
    far = Graph([(i, (i + 30) % 90) for i in range(90)])
    found = graph_gain(X, far)
    assert found.effect < 0 and found.p_value == 1.0 and not found.helps
    assert found.z_score < 0
    assert "further apart" in str(found)


@pytest.mark.slow
def test_p_values_of_chance_are_uniform(rng, monkeypatch):
    """Even after far too few swaps: graph and copies are exchangeable."""
    monkeypatch.setattr(rewiring, "SWAPS_PER_EDGE", 1)
    p_values = []
    for _ in range(300):
        graph = Graph(nx.gnm_random_graph(14, 20, seed=int(rng.integers(2**31))))
        X = rng.standard_normal((14, 2))
        found = graph_gain(X, graph, n_copies=19, random_state=rng)
        p_values.append(found.p_value)
    for level in (0.05, 0.25, 0.5, 0.75):
        spread = np.sqrt(level * (1 - level) / 300)
        assert abs(np.mean(np.array(p_values) <= level + 1e-9) - level) < 3.5 * spread


@pytest.mark.slow
def test_cora_is_helped_by_its_citations(cora):
    found = graph_gain(cora.data, cora.graph, node_ids=cora.labels)
    assert found.helps and found.p_value == 0.01
    assert found.effect == pytest.approx(0.083, abs=0.002)
    assert n_helping(cora.data, cora.graph, 5, node_ids=cora.labels) <= 1


def test_contradicting_edges_are_those_of_a_loop(clusters):
    X, _, graph = clusters
    wrong = [(0, 40, 2.0), (5, 70, 1.0), (33, 88, 3.0)]
    A = graph.to_scipy().tolil()
    for i, j, weight in wrong:
        A[i, j] = A[j, i] = weight
    both = Graph(A.tocsr(), nodes=[f"row{i}" for i in range(90)])
    ids = both.nodes
    for container in (np.asarray, sp.csr_array):
        found = graph_gain(container(X), both, node_ids=ids, n_copies=1)
        upper = sp.triu(both.to_scipy()).tocoo()
        expected = sorted(
            (
                (-w * loop_excess(X, i, j), f"row{i}", f"row{j}", w)
                for i, j, w in zip(upper.row, upper.col, upper.data, strict=True)
                if loop_excess(X, i, j) > 1e-9
            ),
        )[:20]
        assert [edge[:3] for edge in found.edges] == [edge[1:] for edge in expected]
        assert_allclose(
            [-edge.weight * edge.excess for edge in found.edges],
            [edge[0] for edge in expected],
        )
        assert {("row0", "row40"), ("row33", "row88")} <= {e[:2] for e in found.edges}
    assert len(graph_gain(X, both, node_ids=ids, n_copies=1, n_edges=2).edges) == 2
    assert graph_gain(X, both, node_ids=ids, n_copies=1, n_edges=0).edges == ()


def test_it_tells_what_it_found(clusters):
    X, _, graph = clusters
    found = graph_gain(X, graph)
    assert str(found).startswith("The graph helps: linked rows are ")
    assert "closer than in 99 copies rewired at random (p = 0.01" in str(found)
    assert repr(found).startswith("GraphGain(effect=0.")
    assert "null" not in repr(found)
    with pytest.raises(FrozenInstanceError):
        found.effect = 1.0
    mixed = graph_gain(X, rewired(graph, random_state=1))
    assert "is not seen to help" in str(mixed)
    assert "Most against the data: " in str(mixed)


# -- nothing to compare with ---------------------------------------------------


@pytest.mark.parametrize(
    "graph",
    [
        Graph([(0, i, i) for i in range(1, 8)], nodes=range(8)),
        Graph(np.ones((8, 8))),
        Graph([(0, 1)], nodes=range(8)),
    ],
    ids=["star", "complete", "edge"],
)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_graphs_that_cannot_be_rewired_say_nothing(graph, container, rng):
    found = graph_gain(container(rng.standard_normal((8, 3))), graph)
    assert (found.effect, found.p_value, found.z_score) == (0.0, 1.0, 0.0)
    assert_array_equal(found.null, found.smoothness)
    assert not found.helps


def test_a_complete_graph_is_as_smooth_as_any_pair(rng):
    found = graph_gain(rng.standard_normal((8, 3)), Graph(np.ones((8, 8))))
    assert found.smoothness == pytest.approx(1)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e300, -3.0])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_constant_rows_say_nothing(value, container):
    ring = Graph(nx.cycle_graph(9))
    found = graph_gain(container(np.full((9, 4), value)), ring)
    assert (found.effect, found.p_value, found.smoothness) == (0.0, 1.0, 1.0)
    assert found.null.shape == (99,) and found.edges == ()
    assert "0.0% closer" in str(found)


def test_a_row_apart_that_no_edge_touches_is_no_crash():
    X = np.zeros((9, 1))
    X[8] = 1.0
    ring = Graph([(i, (i + 1) % 8) for i in range(8)], nodes=range(9))
    found = graph_gain(X, ring)
    assert (found.effect, found.p_value, found.smoothness) == (0.0, 1.0, 0.0)


# -- rows meet nodes -----------------------------------------------------------


def test_rows_meet_nodes_by_label(clusters, rng):
    X, _, graph = clusters
    names = np.array([f"row{i}" for i in range(90)])
    named = Graph(graph.to_scipy(), nodes=names)
    whole = graph_gain(X, named, node_ids=names)
    order = rng.permutation(90)
    for mixed in (
        graph_gain(pd.DataFrame(X[order], index=names[order]), named),
        graph_gain(X[order], named, node_ids=names[order]),
        graph_gain(pl.DataFrame(X[order]), named, node_ids=names[order]),
    ):
        assert mixed.smoothness == pytest.approx(whole.smoothness)
        assert {frozenset(e[:2]) for e in mixed.edges} == {
            frozenset(e[:2]) for e in whole.edges
        }
    some = order[:60]
    part = graph_gain(X[some], named, node_ids=names[some])
    again = graph_gain(X[some], named.subgraph(names[some]), node_ids=names[some])
    assert part.smoothness == again.smoothness
    with pytest.raises(LabelError, match="rows of X have none"):
        graph_gain(X, named)


def test_several_graphs_are_asked_one_by_one(clusters):
    X, _, graph = clusters
    copy = rewired(graph)
    alone = graph_gain(X, graph, random_state=3)
    named = graph_gain(X, {"copy": copy, "own": graph}, random_state=3)
    listed = graph_gain(X, [graph, copy.to_scipy()], random_state=3)
    assert list(named) == ["copy", "own"]
    assert list(listed) == ["graph1", "graph2"]
    assert all(isinstance(found, GraphGain) for found in listed.values())
    for found in (named["own"], listed["graph1"]):
        assert_array_equal(found.null, alone.null)
        assert found.edges == alone.edges
    assert_array_equal(named["copy"].null, listed["graph2"].null)


def test_everything_a_graph_is_made_of_is_taken(rng):
    X = rng.standard_normal((10, 2))
    pairs = [(i, (i + 1) % 10) for i in range(10)]
    whole = graph_gain(X, Graph(pairs, nodes=range(10)))
    A = nx.to_scipy_sparse_array(nx.cycle_graph(10))
    for graph in (pairs, A, A.toarray(), np.array(pairs), nx.cycle_graph(10)):
        assert graph_gain(X, graph).smoothness == pytest.approx(whole.smoothness)
    assert list(graph_gain(X, [pairs, pairs])) == ["graph1", "graph2"]
    assert list(graph_gain(X, (A,))) == ["graph1"]


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, pd.DataFrame])
def test_rows_that_are_not_finite_are_named(container, points):
    points[[4, 7], 1] = np.nan, np.inf
    with pytest.raises(GraphfoldError, match=r"in rows 4, 7 \(2 in all\)"):
        graph_gain(container(points), Graph(nx.cycle_graph(60)))


RING = Graph(nx.cycle_graph(6))
SIX = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("X", "graph", "options", "message"),
    [
        (SIX, NeighborGraph(2), {}, "got NeighborGraph: a recipe"),
        (SIX, {"a": RING, "b": CorrelationGraph()}, {}, "got CorrelationGraph"),
        (SIX, None, {}, "graph must be a Graph or something Graph takes"),
        (SIX, [], {}, "graph must be one graph or several; got none"),
        (SIX, {}, {}, "graph must be one graph or several; got none"),
        (SIX, Graph._unchecked(-RING.to_scipy()), {}, "'graph' has negative ones"),
        (SIX, RING, {"n_copies": 0}, "n_copies must be between 1"),
        (SIX, RING, {"n_edges": -1}, "n_edges must be between 0"),
        (SIX, RING, {"random_state": "x"}, "random_state must be None"),
        (SIX, RING, {"node_ids": [1, 2]}, "node_ids must have one label for each"),
        (SIX, RING, {"node_ids": [0, 0, 1, 2, 3, 4]}, "0 occurs twice"),
        (SIX[:4], RING, {}, "X has 4 rows without labels"),
        (SIX[:, 0], RING, {}, "X must be an array, a sparse matrix or a DataFrame"),
        (SIX[:1], RING, {}, "with at least two rows"),
        (SIX[:, :0], RING, {}, "and one column"),
        ([["a"]] * 6, RING, {}, "of numbers"),
        (SIX + 1j, RING, {}, "of numbers"),
    ],
)
def test_bad_arguments_are_named(X, graph, options, message):
    with pytest.raises(GraphfoldError, match=message) as caught:
        graph_gain(X, graph, **options)
    assert "\n" not in str(caught.value)
