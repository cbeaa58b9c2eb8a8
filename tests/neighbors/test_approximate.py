"""Approximate neighbours against comparing all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from graphfold.errors import ExactSearchWarning, GraphfoldError
from graphfold.neighbors import (
    approximate,
    approximate_neighbors,
    choose,
    find_neighbors,
    nearest_rows,
)
from graphfold.neighbors.cells import largest


def clustered(rng, n=3000, columns=20, clusters=30):
    centres = 5 * rng.standard_normal((clusters, columns))
    return centres[rng.integers(clusters, size=n)] + rng.standard_normal((n, columns))


def sheet(rng, n=3000, columns=200):
    """Many columns, few directions, some noise: what is reduced before the search."""
    place = rng.standard_normal((n, 6))
    curved = np.tanh(place @ rng.standard_normal((6, columns)))
    return curved + 0.02 * rng.standard_normal((n, columns))


def recall_by_sets(indices, X, k):
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    true = np.argpartition(distances, k, axis=1)[:, :k]
    both = [len(set(a) & set(b)) for a, b in zip(indices, true, strict=True)]
    return sum(both) / true.size


@pytest.mark.parametrize("make", [clustered, sheet])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_most_neighbours_are_found_and_their_distances_are_exact(make, dtype, rng):
    X = make(rng).astype(dtype)
    found = approximate_neighbors(X, 10)
    assert found.compared < 0.7  # or all pairs were compared, and nothing is shown
    assert found.distances.dtype == dtype
    assert found.recall >= 0.99
    true_recall = recall_by_sets(found.indices, X.astype(float), 10)
    assert true_recall > 0.97
    assert abs(true_recall - found.recall) < 0.02
    rows = np.arange(len(X))[:, None]
    assert (found.indices != rows).all()
    assert (np.diff(found.distances, axis=1) >= 0).all()
    assert (np.diff(np.sort(found.indices, axis=1), axis=1) > 0).all()
    differences = X[found.indices].astype(float) - X[rows]
    lengths = np.linalg.norm(differences, axis=2)
    assert_allclose(
        found.distances, lengths, rtol=1e-5 if dtype == np.float32 else 1e-12
    )


@pytest.mark.parametrize("make", [clustered, sheet])
def test_same_seed_same_answer_on_any_number_of_threads(make, rng):
    X = make(rng)
    one, two, three = (approximate_neighbors(X, 8, n_jobs=jobs) for jobs in (1, 2, 3))
    assert one.compared < 0.7
    for other in (two, three):
        assert np.array_equal(one.indices, other.indices)
        assert np.array_equal(one.distances, other.distances)
        assert (one.recall, one.compared) == (other.recall, other.compared)
    zero = approximate_neighbors(X, 8, random_state=0)
    assert np.array_equal(one.indices, zero.indices)
    seven = approximate_neighbors(X, 8, random_state=7)
    assert seven.compared != zero.compared  # a seed is not ignored


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_angles_are_searched_as_distances(metric, rng):
    X = clustered(rng, 1500)
    X[5] = 0  # no direction at all
    X[6] = 3.3 if metric == "correlation" else 0
    found = approximate_neighbors(X, 6, metric=metric)
    distances, indices = nearest_rows(X, 6, metric=metric)
    assert found.compared < 1
    same = (found.indices == indices).all(axis=1)
    assert same.mean() > 0.9
    assert_allclose(found.distances[same], distances[same], atol=1e-12)
    # rows without a direction are at distance 1 from all others, 0 from each other
    assert found.indices[5, 0] == 6
    assert_allclose(found.distances[5], [0, 1, 1, 1, 1, 1], atol=1e-12)
    assert not np.isin(np.delete(found.indices, [5, 6], axis=0), [5, 6]).any()


def test_rows_among_others_are_searched_there(rng):
    both = clustered(rng, 3500)
    X, table = both[:500], both[500:]
    found = approximate_neighbors(X, 5, among=table)
    _, indices = nearest_rows(X, 5, among=table)
    assert found.compared < 0.7
    assert (found.indices == indices).mean() > 0.97
    itself = approximate_neighbors(table[:300], 1, among=table)
    assert (itself.indices.ravel() == np.arange(300)).all()


def test_copies_find_each_other(rng):
    X = np.repeat(clustered(rng, 800), 4, axis=0)
    found = approximate_neighbors(X, 3)
    assert found.compared < 0.7
    assert (found.distances == 0).all()
    assert (found.indices // 4 == np.arange(len(X))[:, None] // 4).all()


def test_equal_rows_have_neighbours_at_no_distance():
    found = approximate_neighbors(np.full((600, 5), 7.0), 4)
    assert (found.distances == 0).all()
    assert (found.indices != np.arange(600)[:, None]).all()
    assert found.recall == 1


def test_clusters_far_apart_keep_their_digits(rng):
    """Single precision of the whole table could not tell rows of one cluster apart."""
    X = 1e-3 * clustered(rng, 3000, columns=3, clusters=5)
    X[:, 0] += 1e6 * rng.integers(0, 2, size=3000)
    blurred = nearest_rows(X.astype(np.float32), 5)[1]
    assert recall_by_sets(blurred, X, 5) < 0.7
    found = approximate_neighbors(X, 5)
    assert found.compared < 0.7
    assert recall_by_sets(found.indices, X, 5) > 0.97


def test_digits_that_cells_would_lose_are_compared_exactly(rng):
    X = 1e-3 * clustered(rng, 3000, columns=3, clusters=5)
    X += 1e7 * rng.integers(0, 60, size=(3000, 1))
    found = approximate_neighbors(X, 5)
    assert found.compared == 1
    assert recall_by_sets(found.indices, X, 5) > 0.97


def test_one_row_far_out_does_not_blur_the_others(rng):
    X = clustered(rng)
    X[17] = 1e12
    found = approximate_neighbors(X, 5)
    assert found.compared < 0.7
    true = nearest_rows(np.delete(X, 17, 0), 5)[1]
    own = np.delete(found.indices, 17, 0)
    own = own - (own > 17)
    assert (own == true).mean() > 0.95


@pytest.mark.parametrize(
    ("size", "dtype"),
    [(2.0**-600, np.float64), (2.0**600, np.float64), (2.0**90, np.float32)],
)
def test_no_size_of_entries_is_too_large_or_small(size, dtype, rng):
    X = clustered(rng, 1000).astype(dtype)
    plain, scaled = (approximate_neighbors(t, 5) for t in (X, dtype(size) * X))
    assert plain.compared < 1
    assert (plain.indices == scaled.indices).all()
    assert (plain.distances * dtype(size) == scaled.distances).all()


def test_rows_without_structure_are_compared_exactly(rng):
    X = rng.standard_normal((1500, 150))
    found = approximate_neighbors(X, 10)
    assert (found.recall, found.compared) == (1.0, 1.0)
    assert (found.indices == nearest_rows(X, 10)[1]).all()


@pytest.mark.parametrize("n", [2, 5, 40, 700])
def test_all_others_are_all_others(n, rng):
    X = rng.standard_normal((n, 3))
    found = approximate_neighbors(X, n - 1)
    expected = np.array([np.delete(np.arange(n), i) for i in range(n)])
    assert (np.sort(found.indices, axis=1) == expected).all()


def test_input_is_left_alone(rng):
    X = sheet(rng, 1000)
    before = X.copy()
    approximate_neighbors(X, 3)
    assert (before == X).all()


def test_integers_are_rows_too(rng):
    X = np.round(10 * clustered(rng, 1000)).astype(int)
    found = approximate_neighbors(X, 3)
    assert (found.indices == approximate_neighbors(X.astype(float), 3).indices).all()


@given(
    arrays(
        np.float32,
        st.tuples(st.integers(1, 8), st.integers(1, 30)),
        elements=st.sampled_from([0.0, 1.0, 2.0, -1.0, 5.5, -np.inf]),
    ),
    st.data(),
)
@settings(max_examples=100, deadline=None)
def test_largest_entries_are_the_largest(table, data):
    m = data.draw(st.integers(1, table.shape[1]))
    columns = largest(table, m)
    assert (np.diff(np.sort(columns, axis=1), axis=1) > 0).all()
    chosen = np.sort(np.take_along_axis(table, columns, axis=1), axis=1)
    assert (chosen == np.sort(table, axis=1)[:, -m:]).all()


# which search


@pytest.fixture
def nothing_is_affordable(monkeypatch):
    monkeypatch.setattr(choose, "AFFORDABLE", 0.0)


def test_few_rows_are_compared_exactly(rng):
    X = clustered(rng, 1000)
    found = find_neighbors(X, 5)
    assert (found.recall, found.compared) == (1.0, 1.0)
    assert (found.indices == nearest_rows(X, 5)[1]).all()


def test_auto_is_approximate_where_all_pairs_cost_too_much(rng, nothing_is_affordable):
    X = clustered(rng)
    found = find_neighbors(X, 5)
    assert found.compared < 1
    asked = find_neighbors(X, 5, search="approximate", random_state=0, n_jobs=1)
    assert np.array_equal(found.indices, asked.indices)
    assert find_neighbors(X, 5, search="exact").compared == 1
    # a tree serves few columns
    assert find_neighbors(X[:, :8], 5).compared == 1


def test_what_cannot_be_approximate_is_exact_with_a_notice(rng, nothing_is_affordable):
    X = clustered(rng, 300)
    for table, metric in ((X, "manhattan"), (sp.csr_array(X), "euclidean")):
        with pytest.warns(ExactSearchWarning, match='search="exact"'):
            found = find_neighbors(table, 5, metric=metric)
        assert (found.indices == nearest_rows(table, 5, metric=metric)[1]).all()
        find_neighbors(table, 5, metric=metric, search="exact")  # no notice
        with pytest.raises(GraphfoldError, match='search must be "auto" or "exact"'):
            find_neighbors(table, 5, metric=metric, search="approximate")


def test_the_cost_is_counted_from_pairs_and_columns():
    X, Y = np.zeros((10, 20)), np.zeros((30, 20))
    assert choose.cost(X, Y) == 300 * (20 + choose.CHOOSING)
    assert choose.cost(X[:, :3], Y[:, :3]) == 0
    entries = sp.csr_array(np.eye(30, 20))
    assert choose.cost(entries, entries) == 900 * (20 / 30 + choose.CHOOSING)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"search": "fast"}, "search must be one of 'auto', 'exact', 'approximate'"),
        ({"metric": "nope"}, "metric must be one of 'euclidean', "),
        ({"n_jobs": 0}, "n_jobs must be None, a number of threads"),
        ({"n_jobs": 1.5}, "got 1.5"),
        ({"random_state": -1}, "random_state must be None or an integer"),
        ({"random_state": np.random.RandomState(0)}, "random_state must be None"),
    ],
)
def test_bad_settings(more, text, points):
    with pytest.raises(GraphfoldError, match=text):
        find_neighbors(points, 3, **more)


@pytest.mark.parametrize("k", [0, 60])
def test_impossible_numbers_of_neighbours(k, points):
    with pytest.raises(GraphfoldError, match="k must be between 1 and 59"):
        approximate_neighbors(points, k)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_must_be_finite(bad, points):
    points[3, 1] = bad
    with pytest.raises(GraphfoldError, match="X must be finite"):
        approximate_neighbors(points, 3)


def test_unknown_metric_of_the_approximate_search(points):
    with pytest.raises(GraphfoldError, match="metric must be one of euclidean"):
        approximate_neighbors(points, 3, metric="jaccard")


def test_threads_are_counted_as_in_scikit_learn():
    cores = approximate.n_threads(None)
    assert approximate.n_threads(-1) == cores
    assert approximate.n_threads(3) == 3
    assert approximate.n_threads(-cores - 5) == 1
