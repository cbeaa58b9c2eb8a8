"""Recipes against brute force over all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from graphfold import CorrelationGraph, GraphKernelPCA, NeighborGraph
from graphfold.errors import GraphError, GraphfoldError


def neighbours_by_loop(distances, k):
    A = np.zeros_like(distances)
    for i, row in enumerate(distances):
        others = [j for j in np.argsort(row, kind="stable") if j != i][:k]
        A[i, others] = 1.0
    return A


METRICS = {
    "euclidean": "euclidean",
    "cosine": "cosine",
    "correlation": "correlation",
    "manhattan": "cityblock",
    "chebyshev": "chebyshev",
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("mode", ["union", "mutual"])
def test_neighbours_equal_a_loop_over_pairs(metric, mode, rng):
    X = rng.standard_normal((50, 20))
    chosen = neighbours_by_loop(cdist(X, X, METRICS[metric]), 4)
    merge = np.maximum if mode == "union" else np.minimum
    graph = NeighborGraph(4, metric=metric, mode=mode).bind(X).build(X)
    assert_allclose(graph.to_scipy().toarray(), merge(chosen, chosen.T))


@pytest.mark.parametrize("metric", ["hamming", "jaccard"])
def test_binary_metrics(metric, rng):
    X = (rng.random((40, 30)) < 0.4).astype(float)
    distances = cdist(X.astype(bool), X.astype(bool), metric)
    recipe = NeighborGraph(3, metric=metric, weight="similarity").bind(X)
    A = recipe.build(X).to_scipy().toarray()
    rows, columns = np.nonzero(A)
    assert_allclose(A[rows, columns], 1 - distances[rows, columns], atol=1e-12)
    assert (np.count_nonzero(A, axis=1) >= 3).all()


def test_heat_weights_and_their_scale(rng):
    X = rng.standard_normal((60, 4))
    recipe = NeighborGraph(5, weight="heat").bind(X)
    distances = cdist(X, X)
    last = np.sort(distances, axis=1)[:, 5]
    assert recipe.scale == pytest.approx(np.median(last))
    A = recipe.build(X).to_scipy().toarray()
    rows, columns = np.nonzero(A)
    expected = np.exp(-0.5 * (distances[rows, columns] / recipe.scale) ** 2)
    assert_allclose(A[rows, columns], expected, rtol=1e-6)


def test_new_rows_are_linked_as_old_ones(rng):
    X, new = rng.standard_normal((40, 3)), rng.standard_normal((5, 3))
    recipe = NeighborGraph(4).bind(X)
    edges = recipe.edges_to(new, X).toarray()
    nearest = np.argsort(cdist(new, X), axis=1)[:, :4]
    for i in range(5):
        assert set(np.flatnonzero(edges[i])) == set(nearest[i])


def test_sparse_rows_give_the_same_graph(rng):
    X = rng.random((50, 30)) * (rng.random((50, 30)) < 0.3)
    for recipe in (
        NeighborGraph(4),
        NeighborGraph(4, metric="cosine"),
        CorrelationGraph(6, metric="cosine"),
    ):
        assert recipe.build(sp.csr_array(X)) == recipe.build(X) or np.allclose(
            recipe.build(sp.csr_array(X)).to_scipy().toarray(),
            recipe.build(X).to_scipy().toarray(),
        )


def test_more_neighbours_than_rows_are_all_rows(rng):
    X = rng.standard_normal((6, 2))
    assert NeighborGraph(100).build(X).n_edges == 15


def test_duplicates_keep_their_rows(rng):
    X = np.repeat(rng.standard_normal((10, 2)), 4, axis=0)
    graph = NeighborGraph(3).build(X)
    assert graph.n_nodes == 40
    assert (graph.degrees > 0).all()


@pytest.mark.parametrize("metric", ["correlation", "cosine"])
@pytest.mark.parametrize("negative", ["clip", "abs", "keep"])
def test_full_correlation_graph(metric, negative, rng):
    X = rng.standard_normal((30, 6))
    S = 1 - cdist(X, X, metric)
    np.fill_diagonal(S, 0)
    expected = {"clip": S.clip(0), "abs": np.abs(S), "keep": S}[negative]
    recipe = CorrelationGraph(None, metric=metric, negative=negative).bind(X)
    assert_allclose(recipe.build(X).to_scipy().toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("negative", ["clip", "abs", "keep"])
def test_largest_correlations_by_a_loop(negative, rng):
    X = rng.standard_normal((40, 5))
    S = np.corrcoef(X)
    ranked = np.abs(S) if negative == "abs" else S
    A = np.zeros((40, 40))
    for i in range(40):
        others = [j for j in np.argsort(-ranked[i]) if j != i][:7]
        for j in others:
            value = {"clip": max(S[i, j], 0), "abs": abs(S[i, j])}.get(
                negative, S[i, j]
            )
            A[i, j] = A[j, i] = value
    recipe = CorrelationGraph(7, negative=negative).bind(X)
    assert_allclose(recipe.build(X).to_scipy().toarray(), A, atol=1e-12)


def test_constant_rows_correlate_with_nothing():
    X = np.vstack([np.full(5, 3.3), np.arange(5.0), np.arange(5.0) ** 2])
    graph = CorrelationGraph(None).build(X)
    assert graph.degrees[0] == 0
    assert np.isfinite(graph.to_scipy().data).all()


@pytest.mark.parametrize(
    ("recipe", "text"),
    [
        (NeighborGraph(0), "n_neighbors must be between 1"),
        (NeighborGraph(2.5), "n_neighbors must be an integer; got 2.5"),
        (NeighborGraph(metric="nope"), "metric must be one of"),
        (NeighborGraph(weight="w"), "weight must be one of"),
        (NeighborGraph(mode="both"), "mode must be one of"),
        (NeighborGraph(weight="heat", scale=0), "scale must be above 0"),
        (CorrelationGraph(negative="x"), "negative must be one of"),
    ],
)
def test_bad_parameters(recipe, text, points):
    with pytest.raises(GraphfoldError, match=text):
        recipe.bind(points)


def test_recipes_are_searched_through_the_estimator():
    model = GraphKernelPCA(graph=NeighborGraph(5))
    model.set_params(graph__n_neighbors=7)
    assert model.graph.n_neighbors == 7
    assert model.get_params()["graph__n_neighbors"] == 7


def test_joined_parts_are_one_graph(rng):
    X = np.vstack([rng.standard_normal((12, 2)), 60 + rng.standard_normal((12, 2))])
    X = np.vstack([X, np.repeat(X[3:4], 9, axis=0)])  # more copies than neighbours
    for weight in ("binary", "similarity"):
        plain = NeighborGraph(4, weight=weight).build(X)
        joined = NeighborGraph(4, weight=weight, joined=True).build(X)
        assert plain.n_parts > 1
        assert joined.n_parts == 1
        A = joined.to_scipy().toarray()
        assert (A == A.T).all()
        assert (np.diag(A) == 0).all()
        # a copy has its original for its only edge
        assert [np.flatnonzero(row).tolist() for row in A[24:]] == [[3]] * 9
        assert np.isfinite(A).all()


def test_joined_is_no_other_graph_where_all_hangs_together(rng):
    X = rng.standard_normal((50, 2))
    plain = NeighborGraph(12).build(X)
    assert plain.n_parts == 1
    joined = NeighborGraph(12, joined=True).build(X)
    assert (abs(plain.to_scipy() - joined.to_scipy())).nnz == 0


def test_joined_needs_the_union(rng):
    with pytest.raises(GraphError, match="union"):
        NeighborGraph(3, mode="mutual", joined=True).bind(rng.standard_normal((9, 2)))
    with pytest.raises(GraphfoldError, match="joined"):
        NeighborGraph(3, joined="yes").bind(rng.standard_normal((9, 2)))


def test_heat_finds_its_scale_without_being_bound(rng):
    X = rng.standard_normal((30, 2))
    recipe = NeighborGraph(4, weight="heat")
    one, two = recipe.build(X), recipe.bind(X).build(X)
    assert (abs(one.to_scipy() - two.to_scipy())).nnz == 0


def blobs(rng, n=2000, columns=20):
    centres = 5 * rng.standard_normal((20, columns))
    return centres[rng.integers(20, size=n)] + rng.standard_normal((n, columns))


@pytest.mark.parametrize("metric", ["euclidean", "correlation"])
@pytest.mark.parametrize("weight", ["binary", "heat", "similarity"])
def test_an_approximate_graph_is_nearly_the_exact_one(metric, weight, rng):
    X = blobs(rng)
    settings = {"metric": metric, "weight": weight}
    recipe = NeighborGraph(8, search="approximate", **settings)
    A = recipe.build(X).to_scipy()
    B = NeighborGraph(8, search="exact", **settings).build(X).to_scipy()
    found = recipe.neighbors(X)
    assert 0.99 <= found.recall <= 1
    assert found.compared < 0.8
    common = A.multiply(B != 0)
    assert common.nnz > 0.97 * max(A.nnz, B.nnz)
    assert_allclose(common.toarray(), B.multiply(A != 0).toarray(), atol=1e-12)
    again = recipe.with_params(n_jobs=1).build(X).to_scipy()
    assert (again != A).nnz == 0


def test_another_seed_may_give_another_graph(rng):
    X = blobs(rng)
    one, other = (
        NeighborGraph(8, search="approximate", random_state=seed).neighbors(X)
        for seed in (1, 2)
    )
    assert one.compared != other.compared


def test_new_rows_are_searched_exactly(rng):
    X, new = blobs(rng), blobs(rng, 5)
    asked = NeighborGraph(4, search="approximate").edges_to(new, X)
    assert (asked != NeighborGraph(4, search="exact").edges_to(new, X)).nnz == 0


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"search": "fast"}, "search must be one of"),
        ({"search": "approximate", "metric": "manhattan"}, 'metric="manhattan"'),
        ({"search": "approximate", "joined": True}, "joined=True"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "seed"}, "random_state must be"),
    ],
)
def test_bad_searches(settings, text, points):
    with pytest.raises(GraphfoldError, match=text):
        NeighborGraph(3, **settings).build(points)


def test_sparse_rows_have_no_approximate_search(points):
    with pytest.raises(GraphfoldError, match="sparse X"):
        NeighborGraph(3, search="approximate").build(sp.csr_array(points))


def test_the_search_is_saved_with_a_model(tmp_path, points):
    import graphfold

    recipe = NeighborGraph(4, search="approximate", random_state=3)
    model = GraphKernelPCA(2, graph=recipe).fit(points)
    model.save(tmp_path / "model.npz")
    assert graphfold.load(tmp_path / "model.npz").graph == recipe
