"""A few labels lower the error on real digits, in the paper's letter and by default."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from graphfold import SemiSupervisedGraphKernelPCA
from graphfold.errors import MissingLabelsWarning

N_OF_A_DIGIT = 500
SHARES = (0.0, 0.1, 0.3, 0.5)
LETTER = {"normalize": False, "center": False, "laplacian": "combinatorial"}


def drawn(usps, digits, seed):
    """Rows of two digits at unit length, their labels, and an order to label them."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(usps.target == digit), N_OF_A_DIGIT, False)
            for digit in digits
        ]
    )
    return normalize(usps.data[rows]), usps.target[rows], rng.permutation(len(rows))


def error(X, y, known, seed, params):
    partial = np.full(len(y), -1)
    partial[known] = y[known]
    model = SemiSupervisedGraphKernelPCA(
        2,
        gamma=0.5,
        must_link_strength=0.5,
        cannot_link_strength=0.5,
        scaling="unit",
        **params,
    )
    with warnings.catch_warnings():
        if not len(known):
            warnings.simplefilter("ignore", MissingLabelsWarning)
        Z = model.fit_transform(X, partial)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return 1 - cross_val_score(SVC(kernel="linear"), Z, y, cv=folds).mean()


def mean_errors(usps, digits, n_draws, params):
    """One mean error for each share of labels; more labels hold the fewer ones."""
    errors = np.empty((n_draws, len(SHARES)))
    for seed in range(n_draws):
        X, y, order = drawn(usps, digits, seed)
        for i, share in enumerate(SHARES):
            known = order[: int(share * len(y))]
            errors[seed, i] = error(X, y, known, seed, params)
    return errors.mean(axis=0)


@pytest.mark.parametrize(
    ("params", "limits"),
    [(LETTER, (0.18, 0.12, 0.06, 0.04)), ({}, (0.08, 0.06, 0.05, 0.04))],
    ids=["letter", "default"],
)
def test_five_against_six(usps, params, limits):
    errors = mean_errors(usps, (5, 6), 3, params)
    assert (errors <= limits).all(), errors
    assert (np.diff(errors) < 0).all(), errors


@pytest.mark.slow
@pytest.mark.parametrize("params", [LETTER, {}], ids=["letter", "default"])
def test_seven_against_eight(usps, params):
    errors = mean_errors(usps, (7, 8), 10, params)
    assert (np.diff(errors) < 0).all(), errors
    assert errors[-1] <= 0.6 * errors[0], errors
