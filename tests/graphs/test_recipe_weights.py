"""Weights of edges that recipes make, against loops over pairs of rows."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from graphfold import CorrelationGraph, NeighborGraph
from graphfold.errors import GraphError, GraphfoldError
from graphfold.graphs import recipes
from graphfold.neighbors import search

METRICS = {
    "euclidean": "euclidean",
    "cosine": "cosine",
    "correlation": "correlation",
    "manhattan": "cityblock",
    "chebyshev": "chebyshev",
    "hamming": "hamming",
    "jaccard": "jaccard",
}
SIMILAR = {"cosine", "correlation", "hamming", "jaccard"}


def weighed(distance, weight, metric, scale):
    if weight == "binary":
        return 1.0
    if weight == "heat":
        return np.exp(-(distance**2) / (2 * scale**2))
    return 1 - distance if metric in SIMILAR else 1 / (1 + distance)


def table(metric, rng, n=14):
    if metric in ("hamming", "jaccard"):
        return (rng.random((n, 40)) < 0.5).astype(float)
    return rng.standard_normal((n, 4))


@pytest.mark.parametrize("weight", ["binary", "similarity", "heat"])
@pytest.mark.parametrize("metric", METRICS)
def test_edges_of_new_rows_are_weighed_by_their_length(metric, weight, rng):
    X, new = table(metric, rng), table(metric, rng, 5)
    recipe = NeighborGraph(3, metric=metric, weight=weight, scale=0.7)
    found = recipe.edges_to(new, X).toarray()
    distances = cdist(new, X, METRICS[metric])
    for i, row in enumerate(distances):
        far = np.sort(row)[2]
        for j, distance in enumerate(row):
            if found[i, j]:
                assert distance <= far + 1e-9
                expected = weighed(distance, weight, metric, 0.7)
                assert found[i, j] == pytest.approx(expected, rel=1e-5)
            else:
                assert distance >= far - 1e-9 or distance >= 1 - 1e-9
    assert found.shape == (5, 14)


def test_what_is_alike_by_rounding_only_has_no_edge():
    assert_array_equal(
        NeighborGraph(2, metric="cosine", weight="similarity").weigh(
            np.array([0.0, 0.25, 1 - 2e-15, 1.0, 1.5])
        ),
        [1.0, 0.75, 0.0, 0.0, 0.0],
    )
    eps = np.finfo(np.float32).eps
    single = np.array([1 - 64 * eps, 1 - 128 * eps], dtype=np.float32)
    found = NeighborGraph(2, metric="cosine", weight="similarity").weigh(single)
    assert_allclose(found, [0.0, 128 * eps])


@pytest.mark.parametrize("mode", ["union", "mutual"])
def test_an_edge_is_chosen_by_either_end_or_by_both(mode, rng):
    X = rng.standard_normal((15, 3))
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    chosen = distances <= np.sort(distances, axis=1)[:, 3:4]
    both = chosen | chosen.T if mode == "union" else chosen & chosen.T
    found = NeighborGraph(4, mode=mode, weight="similarity").build(X).to_scipy()
    assert_allclose(found.toarray(), np.where(both, 1 / (1 + distances), 0), rtol=1e-6)


def test_joined_parts_have_edges_of_some_weight(rng):
    X = np.concatenate([rng.standard_normal((8, 2)), rng.standard_normal((8, 2)) + 99])
    apart = NeighborGraph(3, weight="heat", scale=1.0).build(X)
    joined = NeighborGraph(3, weight="heat", scale=1.0, joined=True)
    assert apart.n_parts == 2
    graph = joined.build(X)
    assert graph.n_parts == 1
    assert graph.to_scipy().data.min() == recipes.JOINING == 1e-3
    links = graph.to_scipy().toarray()[:8, 8:]
    assert np.count_nonzero(links) == 1
    i, j = np.unravel_index(cdist(X[:8], X[8:]).argmin(), (8, 8))
    assert links[i, j] == 1e-3  # the shortest link there is
    new = X[:2] + 500.0
    assert_array_equal(joined.edges_to(new, X).data, np.full(6, 1e-3))


def test_new_rows_find_distinct_rows_where_parts_are_joined():
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    edges = NeighborGraph(2, joined=True).edges_to(np.array([[0.1]]), X)
    assert_array_equal(edges.toarray()[0, 2:], [1, 0])
    assert edges.nnz == 2  # one of the two copies, and the next row
    assert NeighborGraph(9).edges_to(np.array([[0.1]]), X).nnz == 4


def test_the_scale_is_the_median_distance_to_the_last_neighbour(rng):
    X = rng.standard_normal((40, 3))
    last = np.sort(cdist(X, X), axis=1)[:, 5]
    bound = NeighborGraph(5, weight="heat").bind(X)
    assert bound.scale == pytest.approx(np.median(last), rel=1e-6)
    assert NeighborGraph(99, weight="heat").bind(X).scale == pytest.approx(
        np.median(cdist(X, X).max(axis=1)), rel=1e-6
    )
    assert NeighborGraph(2, weight="heat").bind(np.zeros((4, 2))).scale == 1.0
    for recipe in (NeighborGraph(5), NeighborGraph(5, weight="heat", scale=2.0)):
        assert recipe.bind(X) is recipe
    with pytest.raises(GraphfoldError, match="scale must be above 0; got 0"):
        NeighborGraph(5, scale=0).bind(X)


def test_a_scale_is_read_from_two_thousand_rows(monkeypatch):
    X = np.arange(5000.0)[:, None]
    asked = []
    original = NeighborGraph._search

    def spy(self, X, k, among=None):
        asked.append((X.ravel(), k, len(among)))
        return original(self, X, k, among)

    monkeypatch.setattr(NeighborGraph, "_search", spy)
    assert NeighborGraph(2, weight="heat").bind(X).scale == 1.0
    ((rows, k, n),) = asked
    assert (len(rows), rows[0], rows[-1], k, n) == (2000, 0, 4999, 3, 5000)


def test_one_row_and_none_have_a_graph_without_edges():
    for n in (0, 1):
        graph = NeighborGraph(3).build(np.zeros((n, 2)))
        assert (graph.n_nodes, graph.n_edges) == (n, 0)
    assert NeighborGraph(3).build(np.arange(2.0)[:, None]).n_edges == 1


def defaults(cls):
    found = inspect.signature(cls).parameters.items()
    return {k: v.default for k, v in found if v.default is not inspect.Parameter.empty}


def test_defaults_are_those_documented():
    assert defaults(NeighborGraph) == {
        "n_neighbors": 10,
        "metric": "euclidean",
        "weight": "binary",
        "mode": "union",
        "scale": "auto",
        "n_jobs": None,
        "joined": False,
        "search": "auto",
        "random_state": None,
    }
    assert defaults(CorrelationGraph) == {
        "n_neighbors": 100,
        "metric": "correlation",
        "negative": "clip",
    }
    assert NeighborGraph().get_params() == defaults(NeighborGraph)
    assert CorrelationGraph().get_params() == defaults(CorrelationGraph)


@pytest.mark.parametrize(
    ("recipe", "text"),
    [
        (NeighborGraph(0), "n_neighbors must be between 1 and 2147483648; got 0"),
        (NeighborGraph(2, weight="x"), "weight must be one of .*'heat'.*got 'x'"),
        (NeighborGraph(2, mode="x"), "mode must be one of .*'mutual'.*got 'x'"),
        (NeighborGraph(2, joined=3), "joined must be"),
        (NeighborGraph(2, random_state="x"), "random_state"),
        (NeighborGraph(2, n_jobs="x"), "n_jobs"),
        (CorrelationGraph(0), "n_neighbors must be between 1 and 2147483648; got 0"),
        (CorrelationGraph(2, "x"), "metric must be one of .*'cosine'.*got 'x'"),
        (CorrelationGraph(2, negative="x"), "negative must be one of .*'keep'"),
    ],
)
def test_other_parameters_are_refused(recipe, text, points):
    with pytest.raises(GraphfoldError, match=text):
        recipe.bind(points)


def test_joined_parts_need_the_union_and_an_exact_search(points):
    with pytest.raises(GraphError, match='mode must be "union" with joined=True'):
        NeighborGraph(2, joined=True, mode="mutual").bind(points)
    with pytest.raises(GraphError, match='"auto" or "exact" with joined=True'):
        NeighborGraph(2, joined=True, search="approximate").bind(points)
    for way in ("auto", "exact"):
        recipe = NeighborGraph(2, joined=True, search=way)
        assert recipe.bind(points) is recipe


def correlations(X, Y, metric):
    if metric == "correlation":
        X, Y = (Z - Z.mean(axis=1, keepdims=True) for Z in (X, Y))
    X, Y = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, Y))
    return X @ Y.T


@pytest.mark.parametrize("metric", ["correlation", "cosine"])
@pytest.mark.parametrize("negative", ["clip", "abs", "keep"])
@pytest.mark.parametrize("k", [None, 3, 99])
@pytest.mark.parametrize("strip_rows", [1, 4, 100])
def test_similar_rows_by_a_loop(metric, negative, k, strip_rows, rng, monkeypatch):
    X, new = rng.standard_normal((9, 5)), rng.standard_normal((4, 5))
    monkeypatch.setattr(search, "_STRIP_BYTES", 8 * 9 * strip_rows)
    recipe = CorrelationGraph(k, metric, negative)

    def chosen(R, themselves):
        R = np.abs(R) if negative == "abs" else R
        found = np.zeros_like(R)
        for i, row in enumerate(R):
            others = [j for j in range(9) if not (themselves and i == j)]
            largest = sorted(others, key=lambda j: -row[j])[: k or 9]
            for j in largest:
                found[i, j] = max(row[j], 0) if negative == "clip" else row[j]
        return found

    found = recipe.edges_to(new, X)
    assert_allclose(found.toarray(), chosen(correlations(new, X, metric), False))
    once = chosen(correlations(X, X, metric), True)
    either = np.where(once != 0, once, once.T)
    assert_allclose(recipe.build(X).to_scipy().toarray(), either, atol=1e-12)
    sparse = recipe.edges_to(sp.csr_array(new), sp.csr_array(X))
    assert_allclose(sparse.toarray(), found.toarray(), atol=1e-12)


def test_the_scale_of_heat_passes_over_rows_that_are_copies(rng):
    """A median over them would be 0, or half of what the others say."""
    X = np.repeat(rng.standard_normal((1, 3)), 12, axis=0)
    X = np.vstack([X, rng.standard_normal((8, 3)) + 50])
    apart = np.sort(cdist(X, X), axis=1)[:, 3]
    expected = np.median(apart[apart > 0])
    scale = NeighborGraph(3, weight="heat").bind(X).scale
    assert scale == pytest.approx(expected, rel=1e-6)


def test_joined_parts_and_new_rows_are_near_by_the_metric_asked_for(rng):
    X = rng.standard_normal((30, 4)) * [1, 1, 1, 30]
    X[15:] += 200.0
    recipe = NeighborGraph(3, metric="cosine", joined=True)
    built, other = recipe.build(X), NeighborGraph(3, joined=True).build(X)
    assert built != other
    apart = cdist(X, X, "cosine") + np.diag(np.full(30, np.inf))
    linked = built.to_scipy().toarray() > 0
    for i, row in enumerate(apart):
        assert linked[i, np.argsort(row)[:3]].all()
    found = recipe.edges_to(X[:4] * 2.0, X).toarray() > 0
    for i in range(4):
        expected = np.argsort(cdist(X[i : i + 1], X, "cosine")[0])[:3]
        assert set(np.flatnonzero(found[i])) == set(expected)


def test_one_neighbour_of_each_row_by_correlation(rng):
    X = rng.standard_normal((9, 12))
    A = CorrelationGraph(1).build(X).to_scipy().toarray()
    R = np.corrcoef(X) - 2 * np.eye(9)
    for i in range(9):
        assert A[i, np.argmax(R[i])] > 0 or R[i].max() <= 0
