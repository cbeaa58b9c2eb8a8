"""Scores of a strength path, against scikit-learn and loops."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score

from graphfold.model import path


def test_foretold_variance_is_ridge_regression(rng):
    V = np.linalg.qr(rng.standard_normal((40, 3)))[0]
    targets = rng.standard_normal((40, 6)) + V @ rng.standard_normal((3, 6)) * 20
    folds = path.folds(40, 4, rng)
    found = path.foretold_variance(V, targets, folds)
    features = path.directions(V) * 2.0  # sqrt(d + 1)
    for fold, score in enumerate(found):
        test, train = folds == fold, folds != fold
        ridge = Ridge(alpha=path.RIDGE).fit(features[train], targets[train])
        left = np.sum((targets[test] - ridge.predict(features[test])) ** 2)
        total = np.sum((targets[test] - targets[train].mean(axis=0)) ** 2)
        assert score == pytest.approx(1 - left / total, abs=1e-9)


def test_sparse_targets_give_the_same_scores(rng):
    V = np.linalg.qr(rng.standard_normal((40, 3)))[0]
    targets = rng.random((40, 8)) * (rng.random((40, 8)) < 0.3)
    folds = path.folds(40, 5, rng)
    dense = path.foretold_variance(V, targets, folds)
    assert_allclose(path.foretold_variance(V, sp.csr_array(targets), folds), dense)


def test_foretold_edges_is_the_area_under_the_curve(rng):
    V = rng.standard_normal((30, 2)) / 6
    held, others = rng.integers(0, 30, (20, 2)), rng.integers(0, 30, (25, 2))
    U = path.directions(V)
    gaps = [np.sum((U[a] - U[b]) ** 2) for a, b in np.vstack([held, others])]
    truth = [1] * 20 + [0] * 25
    expected = roc_auc_score(truth, -np.array(gaps))
    assert path.foretold_edges(V, held, others) == pytest.approx(expected)


def test_pairs_without_edge_have_none(rng):
    A = np.triu(np.random.default_rng(1).random((50, 50)) < 0.2, 1)
    A = sp.csr_array((A + A.T).astype(float))
    pairs = path.pairs_without_edge(A, 200, rng)
    assert len(pairs) == 200
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert not np.asarray(A[pairs[:, 0], pairs[:, 1]]).any()


def test_folds_are_even(rng):
    assert np.ptp(np.bincount(path.folds(53, 5, rng))) == 1


@pytest.mark.parametrize("noise, chosen", [(0.0, 1.0), (1.0, 0.0)])
def test_zero_stays_unless_beaten_by_more_than_chance(noise, chosen):
    scores = np.zeros((3, 6))
    scores[1] = 0.02 + noise * np.array([1, -1, 1, -1, 1, -1])
    scores[2] = 0.01
    found = path.decide([0.0, 1.0, 3.0], scores, "columns")
    assert found.chosen == chosen
    differences = scores[1] - scores[0]
    expected = differences.std(ddof=1) / np.sqrt(6)
    assert found.standard_errors[1] == pytest.approx(expected)
    assert f"{found.chosen:8.3g}" in str(found)
    assert str(found).count("<- chosen") == 1


def test_scores_are_told_strength_by_strength():
    scores = np.array([[0.1, 0.3], [0.5, 0.7]])
    found = path.decide([0.0, 0.03], scores, "edges")
    assert_allclose(found.mean_scores, [0.2, 0.6])
    assert_allclose(found.gains, [0.0, 0.4])
    assert_allclose(found.standard_errors, [0.0, 0.0], atol=1e-12)
    assert (found.chosen, found.scored_by) == (0.03, "edges")
    assert str(found) == (
        "strength   edges foretold   gain over 0\n"
        "       0             0.2000   +0.0000 (0.0000)\n"
        "    0.03             0.6000   +0.4000 (0.0000)  <- chosen"
    )


def test_one_fold_has_no_spread():
    found = path.decide([0.0, 1.0, 2.0], np.array([[0.1], [0.4], [0.3]]), "columns")
    assert_allclose(found.standard_errors, np.zeros(3))
    assert found.chosen == 1.0
    even = path.decide([0.0, 1.0], np.array([[0.1, 0.1], [0.1, 0.1]]), "columns")
    assert even.chosen == 0.0


@pytest.mark.parametrize("times", [1.9, 2.1])
def test_two_standard_errors_are_asked_for(times):
    differences = np.array([1.0, -1.0, 1.0, -1.0])
    error = differences.std(ddof=1) / 2
    scores = np.vstack([np.zeros(4), differences + times * error])
    assert path.decide([0.0, 5.0], scores, "columns").chosen == (5.0 * (times > 2))


def test_columns_that_do_not_vary_are_not_foretold(rng):
    V = np.linalg.qr(rng.standard_normal((20, 2)))[0]
    folds = path.folds(20, 4, rng)
    assert path.foretold_variance(V, np.zeros((20, 3)), folds) == [0.0] * 4


def test_directions_have_length_one_and_the_constant_among_them():
    V = np.array([[0.5, 0.0], [0.0, -0.5], [0.5, 0.5], [0.0, 0.0]])
    # four rows: V times 2 has unit variance
    expected = [[1, 0, 1], [0, -1, 1], [1, 1, 1], [0, 0, 1]]
    expected = [np.array(row) / np.linalg.norm(row) for row in expected]
    found = path.directions(V.astype(np.float32))
    assert_allclose(found, expected)
    assert found.dtype == np.float64


def test_pairs_have_ends_as_often_as_edges_have_them():
    # a hub of 20 leaves: half of all ends are the hub's
    A = np.zeros((41, 41))
    A[0, 1:21] = A[1:21, 0] = 1
    pairs = path.pairs_without_edge(sp.csr_array(A), 50, np.random.default_rng(0))
    assert (pairs > 0).all()  # every pair with the hub is an edge
    assert (pairs <= 20).all()  # nobody without an edge
    assert 0 < len(pairs) <= 50


def test_errors_of_two_folds_are_those_of_a_sample():
    scores = np.array([[0.0, 0.0], [0.1, 0.3]])
    assert_allclose(
        path.standard_errors(scores), [0, np.std([0.1, 0.3], ddof=1) / 2**0.5]
    )
    assert_allclose(path.standard_errors(scores[:, :1]), [0, 0])


def test_ends_of_pairs_are_those_of_edges_also_between_neighbouring_rows(rng):
    chain = sp.diags_array([np.ones(29), np.ones(29)], offsets=[-1, 1]).tocsr()
    pairs = path.pairs_without_edge(chain, 40, rng)
    assert len(pairs) == 40
    assert (np.abs(pairs[:, 0] - pairs[:, 1]) > 1).all()


def test_the_unit_of_the_columns_does_not_change_what_is_foretold(rng):
    V = np.linalg.qr(rng.standard_normal((40, 3)))[0]
    targets = V @ rng.standard_normal((3, 6)) + 0.01 * rng.standard_normal((40, 6))
    folds = path.folds(40, 4, rng)
    found = path.foretold_variance(V, 1e-4 * targets, folds)
    assert_allclose(found, path.foretold_variance(V, targets, folds))
    assert np.mean(found) > 0.5
