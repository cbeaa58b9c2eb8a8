"""Neighbourhoods against loops: distinct rows only, all parts in one piece."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from graphfold.neighbors import METRICS, nearest_rows, neighborhoods


def members(found, row):
    return found.indices[found.starts[row] : found.starts[row + 1]]


def distinct_rows(X):
    """Rows that equal no earlier row, by a loop."""
    return [i for i in range(len(X)) if not any((X[i] == X[j]).all() for j in range(i))]


def n_parts(found):
    return connected_components(found.lengths(), directed=False)[0]


def brute_force(X, k, metric="euclidean"):
    """The k nearest other rows of each row, by a loop over all pairs."""
    distances = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    np.fill_diagonal(distances, np.inf)
    return [set(np.argsort(row)[:k]) for row in distances], distances


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "correlation"])
@pytest.mark.parametrize("k", [1, 4, 11])
def test_the_nearest_rows_by_brute_force(rng, metric, k):
    X = rng.standard_normal((80, 5))
    expected, distances = brute_force(X, k, metric)
    found = neighborhoods(X, k, metric=metric)
    for i in range(80):
        own = set(members(found, i))
        assert own >= expected[i]
        if found.n_parts == 1:
            assert own == expected[i]
    rows = np.repeat(np.arange(80), np.diff(found.starts))
    assert_allclose(found.distances, distances[rows, found.indices], atol=1e-12)


def test_a_table_and_a_sparse_table_have_the_same_neighbours(rng):
    X = rng.standard_normal((60, 6)) * (rng.random((60, 6)) < 0.5)
    dense, sparse = neighborhoods(X, 5), neighborhoods(sp.csr_array(X), 5)
    assert_allclose(
        dense.lengths().toarray(), sparse.lengths().toarray(), atol=1e-7, rtol=0
    )


def test_copies_are_nobodys_neighbours(rng):
    """30 copies of one row, more than k: with them as neighbours it knows no other."""
    X = rng.standard_normal((40, 3))
    X[10:40] = X[5]
    X = X[rng.permutation(40)]
    originals = distinct_rows(X)
    found = neighborhoods(X, 4)
    for i in range(40):
        own = members(found, i)
        if i in originals:
            assert set(own) <= set(originals)
            assert len(own) >= 4
            assert i not in own
        else:
            assert len(own) == 1
            assert own[0] in originals
            assert (X[own[0]] == X[i]).all()
    assert n_parts(found) == 1
    expected, _ = brute_force(X[originals], 4)
    for place, i in enumerate(originals):
        nearest = {originals[j] for j in expected[place]}
        assert set(members(found, i)) >= nearest


def test_negative_zero_is_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0]])
    found = neighborhoods(X, 2)
    assert members(found, 1).tolist() == [0]


def shortest_between(X, one, other):
    return cdist(X[one], X[other]).min()


def test_a_few_parts_are_joined_by_their_shortest_link(rng):
    centres = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 80.0]])
    X = np.vstack([c + rng.standard_normal((15, 2)) for c in centres])
    part = np.repeat([0, 1, 2], 15)
    found = neighborhoods(X, 3)
    assert found.n_parts == 3
    assert n_parts(found) == 1
    lengths = found.lengths().tocoo()
    across = part[lengths.row] != part[lengths.col]
    bridges = {
        tuple(sorted((part[i], part[j]))): d
        for i, j, d in zip(
            lengths.row[across], lengths.col[across], lengths.data[across], strict=True
        )
    }
    # the two short sides of the triangle, not the long one
    assert set(bridges) == {(0, 1), (0, 2)}
    for (one, other), length in bridges.items():
        shortest = shortest_between(X, part == one, part == other)
        assert length == pytest.approx(shortest)
    # a bridge is a neighbour at both of its ends
    pattern = found.lengths() != 0
    assert all(
        pattern[j, i]
        for i, j in zip(lengths.row[across], lengths.col[across], strict=True)
    )


@pytest.mark.parametrize("n_groups", [21, 60])
def test_many_parts_are_joined_as_well(rng, n_groups):
    """Pairs far from each other; above 20 parts another way of searching is taken."""
    centres = 1000 * rng.standard_normal((n_groups, 2))
    X = np.repeat(centres, 2, axis=0) + rng.standard_normal((2 * n_groups, 2))
    found = neighborhoods(X, 1)
    assert found.n_parts == n_groups
    assert n_parts(found) == 1
    # every part but the largest has its own shortest link to another part
    part = np.repeat(np.arange(n_groups), 2)
    lengths = found.lengths().toarray()
    missing = [
        g
        for g in range(n_groups)
        if not np.isclose(
            np.where(
                lengths[part == g][:, part != g] > 0,
                lengths[part == g][:, part != g],
                np.inf,
            ).min(),
            shortest_between(X, part == g, part != g),
        )
    ]
    assert len(missing) <= 1
    # joined by few links: not more than two for each part
    across = (lengths > 0) & (part[:, None] != part)
    assert across.sum() <= 2 * 2 * n_groups


def test_many_large_parts_whose_neighbours_are_all_their_own(rng):
    """25 groups of 30: their rows have no other part among their first neighbours."""
    centres = 1e3 * np.arange(25)[:, None]
    X = np.repeat(centres, 30, axis=0) + rng.random((750, 1))
    found = neighborhoods(X, 2)
    assert found.n_parts >= 25
    assert n_parts(found) == 1
    part = np.repeat(np.arange(25), 30)
    rows = np.repeat(np.arange(750), np.diff(found.starts))
    across = part[rows] != part[found.indices]
    # groups are beads on a string: only next ones are linked
    assert (np.abs(part[rows] - part[found.indices])[across] == 1).all()


def test_one_distinct_row_has_no_neighbour_but_its_copies():
    found = neighborhoods(np.ones((5, 2)), 3)
    assert [list(members(found, i)) for i in range(5)] == [[], [0], [0], [0], [0]]
    assert n_parts(found) == 1
    assert (found.lengths().data > 0).all()


@pytest.mark.parametrize("k", [6, 7, 100])
def test_more_neighbours_than_rows_are_all_other_rows(rng, k):
    X = rng.standard_normal((7, 2))
    found = neighborhoods(X, k)
    for i in range(7):
        assert set(members(found, i)) == set(range(7)) - {i}


def test_groups_hold_every_row_once(rng):
    X = np.vstack([rng.standard_normal((20, 2)), 100 + rng.standard_normal((20, 2))])
    X[3] = X[4]
    found = neighborhoods(X, 3)
    seen = {}
    for rows, table in found.groups():
        for row, own in zip(rows, table, strict=True):
            assert row not in seen
            seen[row] = set(own)
    assert seen == {i: set(members(found, i)) for i in range(40)}
    assert len({len(own) for own in seen.values()}) > 1  # not regular: bridges, a copy


def test_rows_that_differ_by_less_than_rounding_are_distinct():
    """Their distance rounds to zero, which a sparse matrix would drop."""
    X = np.array([[1.0], [1.0 + 2e-16], [1.0 - 2e-16], [5.0]])
    found = neighborhoods(X, 1)
    assert n_parts(found) == 1
    assert (found.lengths().data > 0).all()
    assert np.diff(found.starts).min() >= 1


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_gives_one_part(rng, metric):
    X = (rng.random((50, 8)) < 0.5).astype(float)
    for table in (X, sp.csr_array(X)):
        found = neighborhoods(table, 3, metric=metric)
        assert n_parts(found) == 1
        assert np.isfinite(found.distances).all()
        distances, _ = nearest_rows(table[:4], 3, metric=metric, among=table)
        assert (distances[:, 0] < 1e-7).all()


def test_single_precision_finds_the_same_rows(rng):
    X = rng.standard_normal((50, 4)).astype(np.float32)
    one, two = neighborhoods(X, 4), neighborhoods(X.astype(np.float64), 4)
    assert (one.indices == two.indices).all()


def test_rows_among_others_are_searched_there(rng):
    X, Y = rng.standard_normal((9, 3)), rng.standard_normal((30, 3))
    distances, indices = nearest_rows(X, 4, among=Y)
    reference = cdist(X, Y)
    assert (indices == np.argsort(reference, axis=1)[:, :4]).all()
    assert_allclose(distances, np.sort(reference, axis=1)[:, :4])


def test_input_is_left_alone(rng):
    X = rng.standard_normal((30, 3))
    X[4] = X[2]
    before = X.copy()
    neighborhoods(X, 3)
    assert (before == X).all()


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 40), st.integers(1, 3)),
        elements=st.integers(-3, 3).map(float) | st.sampled_from([1e3, -2e4, 1e-9]),
    ),
    st.integers(1, 8),
)
@settings(max_examples=60, deadline=None)
def test_always_one_part_of_distinct_neighbours(X, k):
    originals = distinct_rows(X)
    m = len(originals)
    found = neighborhoods(X, k)
    assert n_parts(found) == 1
    for i in range(len(X)):
        own = members(found, i)
        assert i not in own
        assert len(set(own)) == len(own)
        assert set(own) <= set(originals)
        if i in originals:
            assert len(own) >= min(k, m - 1)
        else:
            assert len(own) == 1
