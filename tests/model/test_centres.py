"""Centres of k-means: means of their rows, the same in any order and on any threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from graphfold import kernels
from graphfold.model import centres
from graphfold.model.centres import k_means_centres
from graphfold.model.landmarks import choose_landmarks


def chosen(X, count, seed=0):
    return choose_landmarks(X, count, "k-means", [], np.random.default_rng(seed))


def by_hand(rows, count):
    """Lloyd's rounds in double precision, one row at a time."""
    means = rows[:count].copy()
    for _ in range(centres.ROUNDS):
        gaps = np.square(rows[:, None] - means[None]).sum(axis=2)
        nearest = gaps.argmin(axis=1)
        for j in range(count):
            if (nearest == j).any():
                means[j] = rows[nearest == j].mean(axis=0)
    return means


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_they_are_those_of_lloyd(rng, make, dtype):
    # more than a block of rows, and columns of their own size
    rows = rng.standard_normal((centres.BLOCK + 300, 4)) * [1, 2, 3, 0.1]
    rows = (rows * (rng.random(rows.shape) < 0.7)).astype(dtype)
    found = k_means_centres(make(rows), 25)
    assert found.dtype == dtype
    assert sp.issparse(found) == (make is sp.csr_array)
    found = found.toarray() if sp.issparse(found) else found
    assert_allclose(found, by_hand(rows.astype(float), 25), atol=1e-5)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_no_order_of_the_rows_changes_them(data, count, seed):
    rng = np.random.default_rng(data)
    X = rng.standard_normal((300, 3)) * 10.0 ** rng.integers(-3, 4)
    order = rng.permutation(300)
    assert_array_equal(chosen(X, count, seed).rows, chosen(X[order], count, seed).rows)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_no_number_of_threads_changes_them(rng, make):
    rows = make(rng.standard_normal((3000, 20)))
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads):
            centre = k_means_centres(rows, 100)
            found.append(centre.toarray() if sp.issparse(centre) else centre)
    assert_array_equal(found[1], found[0])
    assert_array_equal(found[2], found[0])


def test_rows_that_are_fewer_than_asked_are_the_landmarks(rng):
    distinct = rng.standard_normal((10, 3))
    X = distinct[rng.integers(0, 10, 500)]
    for count in (10, 50):
        found = chosen(X, count).rows
        assert_array_equal(np.unique(found, axis=0), np.unique(distinct, axis=0))


def test_copies_of_a_row_do_not_pull_a_centre(rng):
    distinct = rng.standard_normal((40, 3))
    copies = np.vstack([distinct, np.tile(distinct[:1], (1000, 1))])
    assert_array_equal(chosen(copies, 5).rows, chosen(distinct, 5).rows)


def test_a_centre_that_loses_all_its_rows_stays():
    labels, before = np.array([0, 0, 2]), np.array([[9.0], [8.0], [7.0]])
    rows = np.array([[1.0], [3.0], [5.0]])
    assert_array_equal(centres._means(rows, labels, before), [[2.0], [8.0], [5.0]])
    found = centres._means(sp.csr_array(rows), labels, sp.csr_array(before))
    assert_array_equal(found.toarray(), [[2.0], [8.0], [5.0]])


def test_where_no_number_is_below_zero_no_mean_is(rng):
    rows = rng.random((2000, 6)).astype(np.float32) * (rng.random((2000, 6)) < 0.3)
    assert chosen(rows, 60).rows.min() >= 0
    kernels.Pairwise("chi2", {"gamma": 1.0}).gram(chosen(rows, 60).rows)


@pytest.mark.parametrize(
    ("scale", "offset"), [(1, 1e6), (1, -1e9), (1e150, 0), (1e-150, 0)]
)
def test_rows_of_any_size_and_far_from_zero(rng, scale, offset):
    rows = rng.standard_normal((600, 3))
    plain = k_means_centres(rows, 20)
    moved = k_means_centres(rows * scale + offset, 20)
    assert_allclose((moved - offset) / scale, plain, atol=1e-4)


def test_rows_without_numbers_have_a_centre():
    empty = sp.csr_array((5, 3))
    assert_array_equal(k_means_centres(empty, 2).toarray(), np.zeros((2, 3)))
    assert_array_equal(k_means_centres(np.zeros((5, 3)), 2), np.zeros((2, 3)))


def test_widths_are_read_from_rows_not_from_means(rng):
    X = rng.standard_normal((500, 6))
    found = chosen(X, 20)
    uniform = choose_landmarks(X, 20, "uniform", [], np.random.default_rng(0))
    assert_array_equal(found.typical, uniform.rows)
    assert uniform.typical is uniform.rows
    assert found.rows.std() < found.typical.std()
