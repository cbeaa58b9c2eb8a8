"""Graphs that are built from rows or labels: right, symmetric, blind to order."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphfold import CorrelationGraph, NeighborGraph
from graphfold.graphs.links import class_links, link_laplacian
from tests.helpers import dense_laplacian, link_tables
from tests.trust.examples import examples
from tests.trust.ledger import tried
from tests.trust.properties.inputs import bytes_of, seeds, tables
from tests.trust.properties.outcomes import SECTION

METRICS = ("euclidean", "cosine", "correlation", "manhattan", "chebyshev", "hamming")
WEIGHTS = ("binary", "similarity", "heat")


def assert_weights(graph, n):
    """Symmetric, finite, at least 0, no loops, and degrees that add up."""
    A = graph.to_scipy().toarray()
    assert A.shape == (n, n) and np.isfinite(A).all() and (A >= 0).all()
    np.testing.assert_allclose(A, A.T, rtol=1e-12, atol=1e-300)
    assert not A.diagonal().any()
    np.testing.assert_allclose(graph.degrees, A.sum(axis=1), rtol=1e-12)
    return A


@examples(15)
@given(
    table=tables(rows=(1, 14)),
    metric=st.sampled_from(METRICS),
    weight=st.sampled_from(WEIGHTS),
    mode=st.sampled_from(("union", "mutual", "joined")),
    k=st.integers(1, 5),
)
def test_a_neighbour_graph_is_a_graph_whatever_the_rows(table, metric, weight, mode, k):
    how = {"joined": True} if mode == "joined" else {"mode": mode}
    recipe = NeighborGraph(k, metric=metric, weight=weight, **how)
    before = bytes_of(table.X)
    graph = recipe.build(table.X)
    assert bytes_of(table.X) == before
    A = assert_weights(graph, table.n)
    if mode == "joined" and table.n > 1:
        assert graph.n_parts == 1
    edges = recipe.bind(table.X).edges_to(table.X, table.X)
    assert edges.shape == A.shape and np.isfinite(edges.data).all()
    tried(SECTION, "NeighborGraph", f"{metric}, {weight}, {mode}")


@examples(15)
@given(table=tables(rows=(5, 14), oddities=("plain",)), k=st.integers(1, 4))
def test_a_neighbour_graph_has_the_nearest_rows_of_a_loop(table, k):
    X = table.X / np.abs(table.X).max()
    gaps = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(gaps, np.inf)
    chosen = np.zeros(gaps.shape, dtype=bool)
    np.put_along_axis(chosen, np.argsort(gaps, axis=1)[:, :k], True, axis=1)
    A = NeighborGraph(k).build(table.X).to_scipy().toarray()
    np.testing.assert_array_equal(A > 0, chosen | chosen.T)
    mutual = NeighborGraph(k, mode="mutual").build(table.X).to_scipy().toarray()
    np.testing.assert_array_equal(mutual > 0, chosen & chosen.T)
    tried(SECTION, "NeighborGraph", f"a loop, {table.what}")


@examples(15)
@given(
    table=tables(rows=(5, 14), columns=(3, 8), oddities=("plain",)),
    seed=seeds(),
    metric=st.sampled_from(METRICS[:5]),
    weight=st.sampled_from(WEIGHTS),
)
def test_the_order_of_rows_is_the_order_of_nodes(table, seed, metric, weight):
    p = np.random.default_rng(seed).permutation(table.n)
    how = {"metric": metric, "weight": weight}
    A = NeighborGraph(3, **how).build(table.X).to_scipy().toarray()
    B = NeighborGraph(3, **how).build(table.X[p]).to_scipy().toarray()
    np.testing.assert_allclose(B, A[np.ix_(p, p)], rtol=1e-7, atol=1e-12)
    sparse = NeighborGraph(3, **how).build(sp.csr_array(table.X)).to_scipy()
    np.testing.assert_allclose(sparse.toarray(), A, rtol=1e-5, atol=1e-7)
    tried(SECTION, "NeighborGraph", f"rows in another order, {metric}, {weight}")


@pytest.mark.parametrize("metric", ["correlation", "cosine"])
@examples(15)
@given(
    table=tables(rows=(1, 14)),
    k=st.one_of(st.none(), st.integers(1, 5)),
    negative=st.sampled_from(("clip", "abs")),
    seed=seeds(),
)
def test_a_correlation_graph_is_a_graph_whatever_the_rows(
    metric, table, k, negative, seed
):
    recipe = CorrelationGraph(k, metric=metric, negative=negative)
    before = bytes_of(table.X)
    A = assert_weights(recipe.build(table.X), table.n)
    assert bytes_of(table.X) == before
    assert A.max(initial=0.0) <= 1 + 1e-9
    edges = recipe.bind(table.X).edges_to(table.X, table.X)
    assert np.isfinite(edges.data).all()
    if table.what.startswith("plain") and table.X.shape[1] > 2:
        p = np.random.default_rng(seed).permutation(table.n)
        B = recipe.build(table.X[p]).to_scipy().toarray()
        np.testing.assert_allclose(B, A[np.ix_(p, p)], atol=1e-9)
        wanted = _similarities(table.X, metric, negative)
        linked = A > 0
        np.testing.assert_allclose(A[linked], wanted[linked], rtol=1e-9)
        if k is None:
            np.testing.assert_array_equal(linked, wanted > 0)
    tried(SECTION, "CorrelationGraph", f"{metric}, {table.what}")


def _similarities(X, metric, negative):
    """Of each pair by its definition, on rows of size one."""
    X = X / np.abs(X).max()
    S = np.zeros((len(X), len(X)))
    for i, x in enumerate(X):
        for j, y in enumerate(X):
            if metric == "correlation":
                u, v = x - x.mean(), y - y.mean()
            else:
                u, v = x, y
            size = np.sqrt((u @ u) * (v @ v))
            S[i, j] = u @ v / size if size > 0 and i != j else 0.0
    return np.abs(S) if negative == "abs" else np.maximum(S, 0.0)


@examples(15)
@given(
    seed=seeds(),
    n=st.integers(2, 14),
    n_classes=st.integers(1, 4),
    known=st.sampled_from((0.0, 0.3, 1.0)),
    kind=st.sampled_from(("combinatorial", "normalized")),
)
def test_link_graphs_of_labels_are_those_of_a_loop(seed, n, n_classes, known, kind):
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(n) < known, rng.integers(0, n_classes, n), -1)
    none = np.empty((0, 2), dtype=np.int64)
    links = class_links(codes, none, none, np.arange(n))
    tables_of_loop = link_tables(codes)
    for parts, wanted in zip(
        (links.together, links.apart), tables_of_loop, strict=True
    ):
        if not parts:
            assert not wanted.any()
            continue
        L, size = link_laplacian(parts, kind)
        np.testing.assert_allclose(
            L.to_dense(), dense_laplacian(wanted, kind), atol=1e-12
        )
        assert size > 0
        p = rng.permutation(n)
        moved = class_links(codes[p], none, none, np.arange(n))
        other = moved.together if parts is links.together else moved.apart
        turned = link_laplacian(other, kind)[0].to_dense()
        np.testing.assert_allclose(turned, L.to_dense()[np.ix_(p, p)], atol=1e-12)
    tried(SECTION, "links of labels", kind)
