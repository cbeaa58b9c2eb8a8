"""Columns that determine each other are found, and no others."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from graphfold.model import column_groups as module
from graphfold.model.column_groups import column_groups

N = 400
RNG = np.random.default_rng(0)
NUMBERS = RNG.standard_normal((N, 5))


def levels(count, n=N):
    return np.eye(count)[RNG.integers(0, count, n)]


def grouped(X):
    """Sets of columns that are in one group, of more than one."""
    groups = column_groups(X)
    assert set(groups) == set(range(groups.max() + 1))
    found = [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)]
    return sorted(one for one in found if len(one) > 1)


ONE_HOT = np.hstack([NUMBERS, levels(4), levels(3), levels(2)])
CODES = [[5, 6, 7, 8], [9, 10, 11], [12, 13]]
FORMS = {
    "dense": lambda X: X,
    "single": lambda X: X.astype(np.float32),
    "sparse": sp.csr_array,
    "standardised": lambda X: (X - X.mean(axis=0)) / X.std(axis=0),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_one_hot_codes_are_groups(form):
    assert grouped(form(ONE_HOT)) == CODES


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_order_of_columns_does_not_matter(form):
    order = np.random.default_rng(1).permutation(14)
    place = np.argsort(order)
    expected = sorted(sorted(place[code].tolist()) for code in CODES)
    assert grouped(form(ONE_HOT[:, order])) == expected


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n", [60, N])
def test_with_fewer_rows_than_columns_codes_and_copies_are_found(form, n):
    wide = np.hstack([RNG.standard_normal((n, 450)), levels(4, n)])
    wide = np.hstack([wide, -2 * wide[:, 7:8] + 1])
    assert grouped(form(wide)) == [[7, 454], [450, 451, 452, 453]]


def test_a_code_that_lacks_a_level_is_a_group():
    assert grouped(np.hstack([NUMBERS, levels(4)[:, 1:]])) == [[5, 6, 7]]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_copies_and_totals_are_groups(form):
    copied = np.hstack([NUMBERS, 3 * NUMBERS[:, :1] + 2])
    assert grouped(form(copied)) == [[0, 5]]
    total = NUMBERS[:, 1:3].sum(axis=1, keepdims=True)
    assert grouped(form(np.hstack([NUMBERS, total]))) == [[1, 2, 5]]


def test_independent_columns_stand_alone():
    for X in (NUMBERS, load_iris().data, load_wine().data, load_breast_cancer().data):
        np.testing.assert_array_equal(column_groups(X), np.arange(X.shape[1]))
    rare = (RNG.random((N, 100)) < 0.02).astype(float)
    assert grouped(rare) == []
    assert grouped(sp.csr_array(rare)) == []


def test_constant_columns_stand_alone():
    X = np.hstack([NUMBERS, np.ones((N, 2)), np.zeros((N, 1))])
    assert grouped(X) == []
    assert grouped(sp.csr_array(X)) == []


def test_many_shares_that_add_up_to_one_are_not_hidden_together():
    shares = RNG.random((N, 100))
    shares /= shares.sum(axis=1, keepdims=True)
    assert grouped(shares) == []
    few = shares[:, :4] / shares[:, :4].sum(axis=1, keepdims=True)
    assert grouped(few) == [[0, 1, 2, 3]]


def test_a_table_of_low_rank_is_one_group():
    X = NUMBERS @ RNG.standard_normal((5, 30))
    assert (column_groups(X) == 0).all()


def test_of_many_rows_a_sample_is_looked_at(monkeypatch):
    monkeypatch.setattr(module, "LEAST_ROWS", 50)
    assert grouped(ONE_HOT[:, np.random.default_rng(2).permutation(14)])
    first, second = column_groups(ONE_HOT), column_groups(ONE_HOT)
    np.testing.assert_array_equal(first, second)
