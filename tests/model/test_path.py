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
