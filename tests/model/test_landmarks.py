"""Which rows become landmarks: any order, any batches, copies, seeds, lonely rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from graphfold import kernels
from graphfold.equal_rows import row_fingerprints
from graphfold.model import landmarks
from graphfold.model.landmarks import (
    CHOICES_OF_ROWS,
    choose_rows,
    hash_ranks,
    leverage_scores,
    uniform_rows,
)

KERNEL = [kernels.Gaussian(0.5)]


def chosen(X, count, how="uniform", seed=0):
    return choose_rows(X, count, how, KERNEL, np.random.default_rng(seed))


def as_set(rows):
    return set(map(tuple, rows.tolist()))


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(0, 2**31 - 1))
@settings(max_examples=30, deadline=None)
def test_uniform_choice_does_not_depend_on_the_order_of_rows(data, count, seed):
    rng = np.random.default_rng(data)
    X = rng.standard_normal((60, 3)) * 10.0 ** rng.integers(-3, 4)
    order = rng.permutation(60)
    one = X[uniform_rows(row_fingerprints(X), count, seed)]
    other = X[order][uniform_rows(row_fingerprints(X[order]), count, seed)]
    assert len(one) == count
    assert as_set(one) == as_set(other)


@given(st.integers(0, 10_000), st.integers(1, 7))
@settings(max_examples=20, deadline=None)
def test_uniform_choice_does_not_depend_on_batches(data, size):
    """The best of the best of each batch are the best of all, as a stream needs."""
    X = np.random.default_rng(data).standard_normal((50, 4))
    whole = row_fingerprints(X)
    found = np.concatenate(
        [row_fingerprints(X[i : i + size]) for i in range(0, 50, size)],
    )
    assert_array_equal(uniform_rows(found, 12, 3), uniform_rows(whole, 12, 3))
    ranks = hash_ranks(whole, 3)
    best = [
        i + np.argsort(ranks[i : i + size])[: min(12, size)] for i in range(0, 50, size)
    ]
    kept = np.concatenate(best)
    again = kept[np.argsort(ranks[kept])][:12]
    assert set(again) == set(uniform_rows(whole, 12, 3))


def test_rows_in_single_precision_and_sparse_rows_are_the_same_rows(rng):
    X = (rng.standard_normal((100, 6)) * (rng.random((100, 6)) < 0.6)).astype("f4")
    expected = chosen(X, 20)
    assert_array_equal(chosen(X.astype(float), 20), expected)
    assert_array_equal(chosen(sp.csr_array(X), 20), expected)


def test_copies_count_once(rng):
    distinct = rng.standard_normal((10, 3))
    X = distinct[rng.integers(0, 10, 500)]
    found = X[chosen(X, 50)]
    assert len(found) == 10
    assert as_set(found) == as_set(distinct)
    # a row with a thousand copies is no likelier than another
    many = np.vstack([np.tile(distinct[:1], (1000, 1)), distinct[1:]])
    counts = [(chosen(many, 3, seed=seed) < 1000).any() for seed in range(200)]
    assert 0.15 < np.mean(counts) < 0.47  # 3 of 10, four standard errors each way


def test_zero_and_minus_zero_are_one_row():
    X = np.array([[0.0, 0.0], [-0.0, 0.0], [1.0, 2.0]])
    assert len(chosen(X, 3)) == 2


def test_another_seed_is_another_choice_and_the_same_seed_the_same(rng):
    X = rng.standard_normal((300, 3))
    assert_array_equal(chosen(X, 30, seed=1), chosen(X, 30, seed=1))
    other = set(chosen(X, 30, seed=1)) & set(chosen(X, 30, seed=2))
    assert len(other) < 15


def test_every_row_is_as_likely_as_another(rng):
    """Counts over seeds against the binomial: chi-square, and no row left out."""
    X = rng.standard_normal((50, 3)) * [1, 10, 0.1]
    known = row_fingerprints(X)
    counts = np.zeros(50)
    for seed in range(600):
        counts[uniform_rows(known, 10, seed)] += 1
    assert counts.sum() == 6000
    expected, spread = 120.0, 120.0 * 0.8
    statistic = np.square(counts - expected).sum() / spread
    assert statistic < 85.0  # 99.9 % of chi-square with 49 degrees of freedom
    assert counts.min() > 70


def test_large_and_small_numbers_are_as_likely(rng):
    """The hash looks at digits, not at sizes: half of the choice is of each kind."""
    X = rng.standard_normal((400, 3))
    X[::2] *= 1e4
    shares = [np.mean(chosen(X, 100, seed=s) % 2 == 0) for s in range(20)]
    assert abs(np.mean(shares) - 0.5) < 0.05


@pytest.mark.parametrize("how", CHOICES_OF_ROWS)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_are_distinct_and_the_same_again(rng, how, make):
    X = make(rng.standard_normal((300, 4)))
    found = chosen(X, 25, how)
    assert len(found) == 25
    assert len(set(found.tolist())) == 25
    assert found.min() >= 0
    assert found.max() < 300
    assert_array_equal(chosen(X, 25, how), found)
    assert set(found) != set(chosen(X, 25, how, seed=5))


@pytest.mark.parametrize("how", CHOICES_OF_ROWS)
def test_copies_are_never_two_landmarks(rng, how):
    X = rng.standard_normal((30, 3))[rng.integers(0, 30, 400)]
    found = X[chosen(X, 20, how)]
    assert len(as_set(found)) == len(found) == 20


@pytest.mark.parametrize("how", CHOICES_OF_ROWS)
def test_all_rows_can_be_landmarks(rng, how):
    X = rng.standard_normal((40, 3))
    assert_array_equal(np.sort(chosen(X, 40, how)), np.arange(40))


def test_k_means_plus_plus_spreads_out(rng):
    """Ten far clusters of unequal size: each has a landmark; uniform misses some."""
    centres = 100 * rng.standard_normal((10, 3))
    sizes = [500] * 3 + [12] * 7
    label = np.repeat(np.arange(10), sizes)
    X = centres[label] + rng.standard_normal((len(label), 3))
    hit = {
        how: np.mean([len(set(label[chosen(X, 10, how, s)])) for s in range(10)])
        for how in ("uniform", "k-means++")
    }
    assert hit["uniform"] < 7
    assert hit["k-means++"] > hit["uniform"] + 1


def test_leverage_scores_are_the_diagonal_of_a_ridge(rng):
    """All rows as pilots: diag K (K + mu I)^-1, up to the choice of mu."""
    X = rng.standard_normal((60, 2))
    kernel = kernels.Gaussian(1.0)
    scores = leverage_scores(kernel, X, X)
    K = np.exp(-np.square(X[:, None] - X[None]).sum(axis=2))
    mu = np.trace(K) / 60
    expected = np.diag(K @ np.linalg.inv(K + mu * np.eye(60)))
    assert np.corrcoef(scores, expected)[0, 1] > 0.95
    assert (scores > 0).all()
    assert (scores < 1 + 1e-6).all()


def test_leverage_prefers_a_small_group_to_a_crowd(rng):
    """Two pilots of a small far group are enough to see how rare it is."""
    crowd = 0.05 * rng.standard_normal((380, 3))
    rare = 10 + 0.05 * rng.standard_normal((20, 3))
    X = np.vstack([crowd, rare])[rng.permutation(400)]
    scores = leverage_scores(KERNEL[0], X, X[::4])
    is_rare = X[:, 0] > 5
    assert scores[is_rare].mean() > 5 * scores[~is_rare].mean()


def splitmix(number):
    """The mixing of SplitMix64, in integers of Python."""
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % 2**64
    return number ^ (number >> 31)


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1])
def test_ranks_are_those_of_splitmix(seed):
    numbers = [0, 1, 2**63, 2**64 - 1, 12345678901234567890]
    found = landmarks.hash_ranks(np.array(numbers, dtype=np.uint64), seed)
    step = 0x9E3779B97F4A7C15 * (seed + 1)
    assert found.tolist() == [splitmix((n + step) % 2**64) for n in numbers]


def test_uniform_rows_are_the_first_by_rank():
    marks = np.array([7, 3, 7, 9, 3, 5], dtype=np.uint64)
    ranks = landmarks.hash_ranks(marks, 4).tolist()
    distinct = sorted({1, 0, 3, 5}, key=lambda i: ranks[i])  # the first of each
    for count in (1, 3, 4, 99):
        found = landmarks.uniform_rows(marks, count, 4)
        assert found.tolist() == distinct[:count]


def test_fingerprints_that_are_known_are_used(rng):
    X = rng.standard_normal((30, 2))
    marks = np.arange(30, dtype=np.uint64)
    seed = int(np.random.default_rng(5).integers(2**31))
    found = landmarks.choose_rows(X, 4, "uniform", [], np.random.default_rng(5), marks)
    assert found.tolist() == landmarks.uniform_rows(marks, 4, seed).tolist()


def test_candidates_are_drawn_by_their_leverage(rng):
    kernel = kernels.Gaussian(0.5)
    rows = rng.standard_normal((40, 2))
    rows[:30] *= 0.01  # a crowd
    found = landmarks.best_candidates(
        rows, 5, "leverage", [kernel], np.random.default_rng(3), 0
    )
    bound = kernel.bind(rows, np.random.default_rng(3))
    scores = landmarks.leverage_scores(bound, rows, rows[:10])
    expected = np.random.default_rng(3).choice(
        40, 5, replace=False, p=scores / scores.sum()
    )
    assert found.tolist() == expected.tolist()
    single = landmarks.leverage_scores(
        kernel, rows.astype(np.float32), rows[:10].astype(np.float32)
    )
    assert single.dtype == np.float64
    assert np.allclose(single, scores, atol=1e-4)


def test_rows_of_no_size_have_some_leverage():
    zeros = np.zeros((4, 2))
    found = landmarks.leverage_scores(kernels.Linear(), zeros, zeros[:2])
    assert found.tolist() == [1e-12] * 4
