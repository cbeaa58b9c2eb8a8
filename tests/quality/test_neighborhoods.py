"""Who is near whom: against scikit-learn, loops over pairs, and chance."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import manifold
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

from graphfold import CorrelationGraph, Graph
from graphfold.errors import GraphfoldError, LabelError
from graphfold.quality import (
    edge_overlap,
    neighbor_overlap,
    neighborhoods,
    neighbors_kept,
    trustworthiness,
)


def others_in_order(X, i, metric="euclidean"):
    """All other rows, the nearest first, by one row of distances."""
    order = np.argsort(pairwise_distances(X[i : i + 1], X, metric=metric)[0])
    return [j for j in order.tolist() if j != i]


def loop_trust(X, Z, k):
    """By the definition, row by row."""
    n, trust = len(X), []
    for i in range(n):
        rank = {j: r for r, j in enumerate(others_in_order(X, i), start=1)}
        cost = sum(max(rank[j] - k, 0) for j in others_in_order(Z, i)[:k])
        trust.append(1 - 2 * cost / (k * (2 * n - 3 * k - 1)))
    return np.array(trust)


def loop_edges(edges, Z, k):
    linked = {i: set() for i in range(len(Z))}
    for i, j in edges:
        linked[i].add(j)
        linked[j].add(i)
    shares = []
    for i, mates in linked.items():
        near = others_in_order(Z, i)[: max(k, len(mates))]
        shares.append(len(mates & set(near)) / len(mates) if mates else np.nan)
    return np.array(shares)


@pytest.fixture
def tables(rng):
    X = rng.standard_normal((70, 6)) + 100.0
    return X, X[:, :2] + 0.3 * rng.standard_normal((70, 2))


# -- neighbours ------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
def test_neighbors_are_those_of_a_loop(tables, metric):
    X, Z = tables
    found = neighbors_kept(X, Z, 5, metric=metric)
    assert found.indices.dtype == np.int32
    assert found.kept.dtype == bool
    for i in range(len(X)):
        expected = others_in_order(X, i, metric)[:5]
        assert found.indices[i].tolist() == expected
        near = others_in_order(Z, i)[:5]
        assert found.kept[i].tolist() == [j in near for j in expected]


def test_overlap_is_the_share_of_kept_neighbors(tables):
    kept = neighbors_kept(*tables, 7).kept
    assert 0.1 < kept.mean() < 0.9
    assert_allclose(neighbor_overlap(*tables, 7), kept.mean(axis=1))


def test_blocks_of_rows_do_not_show(tables, monkeypatch):
    expected = neighbors_kept(*tables).kept, trustworthiness(*tables)
    monkeypatch.setattr(neighborhoods, "_ROWS", 11)
    monkeypatch.setattr(neighborhoods, "_NUMBERS", 300)
    assert_array_equal(neighbors_kept(*tables).kept, expected[0])
    assert_allclose(trustworthiness(*tables), expected[1], rtol=1e-12)


@pytest.mark.parametrize("sample", [None, 40])
def test_every_kind_of_table_gives_the_same(rng, sample):
    X = rng.random((60, 8)) * (rng.random((60, 8)) < 0.6)
    Z = X[:, :2]
    kept, trust = neighbors_kept(X, Z), trustworthiness(X, Z, sample=sample)
    for other in (sp.csr_array(X), sp.csr_matrix(X), sp.coo_array(X), pd.DataFrame(X)):
        assert_array_equal(neighbors_kept(other, Z).kept, kept.kept)
        found = trustworthiness(other, pd.DataFrame(Z), sample=sample)
        assert_allclose(found, trust, rtol=1e-10)


# -- trust -----------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(10, 50), st.integers(1, 4))
def test_trust_is_that_of_a_loop_and_its_mean_that_of_scikit_learn(seed, n, k):
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((n, 4)), rng.standard_normal((n, 2))
    trust = trustworthiness(X, Z, k)
    assert_allclose(trust, loop_trust(X, Z, k), rtol=1e-12)
    expected = manifold.trustworthiness(X, Z, n_neighbors=k)
    assert trust.mean() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_mean_trust_is_that_of_scikit_learn_on_digits(metric):
    X = load_digits().data + 0.1  # no row is zero
    X += 1e-6 * np.random.default_rng(0).standard_normal(X.shape)  # no ties
    Z = X @ np.random.default_rng(1).standard_normal((64, 2))
    expected = manifold.trustworthiness(X, Z, n_neighbors=12, metric=metric)
    found = trustworthiness(X, Z, 12, metric=metric)
    assert found.mean() == pytest.approx(expected, rel=1e-9)


def test_sampled_trust_is_right_on_average(rng):
    X = rng.standard_normal((150, 5))
    Z = X[:, :2]
    exact = trustworthiness(X, Z, 5)
    draws = np.array(
        [trustworthiness(X, Z, 5, sample=30, random_state=seed) for seed in range(400)]
    )
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (error > 0).any()
    # each row within its own error, but for what 150 rows exceed by chance
    excess = np.abs(draws.mean(axis=0) - exact) / np.where(error > 0, error, 1)
    assert excess.max() < 4.5
    mean_error = draws.mean(axis=1).std() / np.sqrt(len(draws))
    assert abs(draws.mean() - exact.mean()) < 4 * mean_error


def test_a_sample_of_all_but_one_row_is_nearly_exact(tables):
    exact = trustworthiness(*tables, 5)
    found = trustworthiness(*tables, 5, sample=69)
    assert_allclose(found, exact, atol=0.03)
    assert (found == trustworthiness(*tables, 5, sample=69)).all()


def test_rows_at_equal_distance_are_no_intruders():
    X = np.repeat(np.arange(10.0), 8)[:, None]
    Z = X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)
    assert_array_equal(trustworthiness(X, Z, 5), 1.0)
    assert_array_equal(trustworthiness(X, Z, 5, sample=30), 1.0)


# -- links -----------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(5, 40), st.integers(1, 4))
def test_share_of_links_is_that_of_a_loop(seed, n, k):
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(n, rng.random(), seed=seed % 1000)
    graph.add_edge(0, 1)
    Z = rng.standard_normal((n, 2))
    found = edge_overlap(Graph(graph, nodes=range(n)), Z, k)
    assert_allclose(found, loop_edges(graph.edges, Z, k))


def test_a_hub_has_as_many_rows_looked_at_as_it_has_links():
    Z = np.arange(20.0)[:, None] ** 2
    star = [(0, i) for i in range(1, 20)]
    found = edge_overlap(Graph(star), Z, 3)
    assert found[0] == 1.0
    assert found[1:3].tolist() == [1, 1]
    assert not found[3:].any()


def test_rows_meet_nodes_by_label(rng):
    names = np.array([f"row {i}" for i in range(30)])
    Z = rng.standard_normal((30, 2))
    edges = [(i, (i + 7) % 30) for i in range(30)]
    graph = Graph([(names[i], names[j]) for i, j in edges])
    expected = loop_edges(edges, Z, 4)
    assert_allclose(edge_overlap(graph, Z, 4, node_ids=names), expected)
    turned = pd.DataFrame(Z, index=names).iloc[::-1]
    assert_allclose(edge_overlap(graph, turned, 4), expected[::-1])
    with pytest.raises(LabelError):
        edge_overlap(graph, Z, 4)


def test_negative_links_do_not_count(rng):
    X = rng.standard_normal((12, 30))
    X[6:] = -X[:6]
    graph = CorrelationGraph(None, negative="keep").build(X)
    assert graph.is_signed
    positive = Graph(graph.to_scipy().maximum(0))
    Z = rng.standard_normal((12, 2))
    assert_allclose(edge_overlap(graph, Z, 2), edge_overlap(positive, Z, 2))


def test_copies_of_a_row_do_not_hide_it(rng):
    """Behind its copies a row may not find itself."""
    Z = np.zeros((40, 2))
    Z[30:] = rng.standard_normal((10, 2)) + 50
    hub = [(0, i) for i in range(1, 13)]
    found = edge_overlap(Graph(hub, nodes=range(40)), Z, 2)
    assert 0 <= found[0] <= 1
    assert np.isnan(found[13:]).all()


# -- what cannot be used ---------------------------------------------------------


@pytest.mark.parametrize(
    "function", [neighbors_kept, neighbor_overlap, trustworthiness]
)
def test_errors_name_the_argument(function, tables):
    X, Z = tables
    for arguments, settings_, message in [
        ((X, Z[:-1]), {}, "Z must have a row for each of the 70 rows of X; got 69"),
        ((X, Z, 70), {}, "n_neighbors must be between 1 and 69"),
        ((X, Z, 2.5), {}, "n_neighbors must be an integer"),
        ((X, Z), {"metric": "minkowski"}, "metric must be one of 'euclidean'"),
        ((X * np.nan, Z), {}, "X must be finite"),
        ((X, Z * np.inf), {}, "Z must be finite"),
        ((X, [["a"]] * 70), {}, "Z must be an array"),
    ]:
        with pytest.raises(GraphfoldError, match=message):
            function(*arguments, **settings_)


def test_trust_needs_more_rows_than_twice_its_neighbors(tables):
    with pytest.raises(GraphfoldError, match="below half of the 70 rows; got 35"):
        trustworthiness(*tables, 35)
    with pytest.raises(GraphfoldError, match="sample must be between 22"):
        trustworthiness(*tables, 10, sample=5)
    with pytest.raises(GraphfoldError, match="random_state"):
        trustworthiness(*tables, 10, random_state="one")


def test_edge_overlap_refuses_what_is_no_graph(tables):
    with pytest.raises(GraphfoldError, match="graph must be a Graph"):
        edge_overlap(None, tables[1])
    with pytest.raises(GraphfoldError, match="n_neighbors must be between"):
        edge_overlap(Graph([(0, 69)], nodes=range(70)), tables[1], 0)
