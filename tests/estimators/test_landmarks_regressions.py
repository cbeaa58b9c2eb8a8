"""Bugs of the landmark mode, each as it was first found."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from graphfold import (
    GraphKernelPCA,
    MultiModalGraphEmbedding,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    kernels,
)
from graphfold.equal_rows import row_fingerprints
from graphfold.errors import GraphfoldError
from graphfold.estimators.row_keys import RowKeys
from graphfold.kernels.landmarks import landmark_features
from graphfold.model.landmarks import choose_rows, uniform_rows
from graphfold.threads import n_threads

X = np.random.default_rng(0).standard_normal((400, 5))
FAR_AND_SMALL = [(1.0, 1e6), (1.0, 1e8), (1e-10, 0.0), (1e-4, 1.0)]


# -- tests/estimators/test_landmarks_rows.py -------------------------------------------


@pytest.mark.parametrize(("scale", "offset"), FAR_AND_SMALL)
def test_keys_tell_rows_apart_whatever_their_size(scale, offset):
    known = X * scale + offset
    keys = RowKeys.of(known)
    assert_array_equal(keys.matching(known)[0], np.arange(400))
    new = np.random.default_rng(1).standard_normal((400, 5)) * scale + offset
    assert (keys.matching(new)[0] == -1).all()


@pytest.mark.parametrize(("scale", "offset"), FAR_AND_SMALL)
def test_labelled_rows_come_back_whatever_their_size(scale, offset):
    y = np.where(np.arange(400) % 5 == 0, X[:, 0] > 0, -1).astype(int)
    # given landmarks: the choice of them has a bug of its own
    model = SemiSupervisedGraphKernelPCA(2, landmarks=list(range(0, 400, 4)))
    Z = model.fit_transform(X * scale + offset, y)
    assert_array_equal(model.transform(X * scale + offset), Z)


# -- tests/model/test_landmarks.py -----------------------------------------------------


@pytest.mark.parametrize("offset", [1e6, 1e8, 1.7e9])
def test_rows_far_from_the_origin_are_no_copies(offset):
    """A column of time stamps in seconds is 1.7e9 and must not eat the others."""
    assert len(uniform_rows(row_fingerprints(X + offset), 300, 0)) == 300


def test_tiny_rows_are_no_copies():
    assert len(uniform_rows(row_fingerprints(X * 1e-305), 300, 0)) == 300


@pytest.mark.parametrize("place", [0, 200, 399])
def test_leverage_prefers_a_lonely_row(place):
    """Nobody can stand for it. By chance alone it would be chosen twice in 40."""
    hits = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = 0.1 * rng.standard_normal((400, 3))
        rows[place] = 50.0
        kernel = [kernels.Gaussian(0.5)]
        # 20 candidates for each landmark: with 20 landmarks all rows are looked at
        hits += place in choose_rows(rows, 20, "leverage", kernel, rng)
    assert hits >= 8


# -- tests/test_threads.py -------------------------------------------------------------


def test_threads_are_counted_by_blas_alone():
    """Not by OpenMP, which scikit-learn brings along with limits of its own."""
    with threadpool_limits(2), threadpool_limits(1, user_api="blas"):
        assert n_threads() == 1


# -- tests/estimators/test_landmarks_errors.py -----------------------------------------


@pytest.mark.parametrize("choice", ["uniform", "k-means++", "leverage"])
@pytest.mark.parametrize(
    "kernel", [None, "precomputed", kernels.LocallyLinear(3)], ids=str
)
def test_kernels_without_rows_are_refused_before_a_choice(kernel, choice):
    model = GraphKernelPCA(
        2,
        kernel=kernel,
        graph=NeighborGraph(3) if kernel is None else None,
        landmarks=10,
        landmark_choice=choice,
    )
    rows = X[:50] @ X[:50].T if kernel == "precomputed" else X[:50]
    with pytest.raises(GraphfoldError, match="landmarks must be None"):
        model.fit(rows)


GIVEN = {
    "two positions": [1, 2],
    "two rows": X[:2],
    "an empty list": [],
    "no row": X[:0],
    "a set": {1, 2, 3},
    "an object": object(),
    "an array of no dimension": np.array(5),
}


@pytest.mark.parametrize("what", GIVEN)
def test_too_few_given_landmarks_and_things_that_are_none(what):
    with pytest.raises(GraphfoldError, match="landmarks must"):
        GraphKernelPCA(3, landmarks=GIVEN[what]).fit(X)


def test_a_plan_refuses_what_a_fit_refuses():
    with pytest.raises(GraphfoldError, match="landmarks must be an integer"):
        GraphKernelPCA(3, landmarks=5.5).plan(X)


# -- tests/estimators/test_landmarks.py ------------------------------------------------


def test_modes_are_refused_rows_of_their_own_as_landmarks():
    with pytest.raises(GraphfoldError, match="labels or positions of samples"):
        MultiModalGraphEmbedding(2, kernel="rbf", landmarks=X[:30]).fit(X)


def test_given_landmarks_may_change_after_the_fit():
    Z = X[:30].copy()
    model = GraphKernelPCA(2, landmarks=Z).fit(X)
    before = model.transform(X[:5])
    Z[:] = 0
    assert_array_equal(model.transform(X[:5]), before)


def test_columns_of_given_landmarks_are_met_by_name():
    table = pd.DataFrame(X, columns=list("abcde"))
    turned = table[list("edcba")].iloc[:30]
    try:
        model = GraphKernelPCA(2, landmarks=turned).fit(table)
    except ValueError as error:
        assert "landmarks" in str(error)  # to be refused is as good
    else:
        assert_array_equal(model.landmarks_, X[:30])


@pytest.mark.parametrize("solver", ["lapack", "krylov"])
def test_the_solver_asked_for_is_used(solver):
    model = GraphKernelPCA(2, landmarks=50, graph=NeighborGraph(5), solver=solver)
    assert model.fit(X).solver_ == solver


def test_the_reason_of_the_solver_is_a_sentence():
    model = GraphKernelPCA(2, landmarks=50, graph=NeighborGraph(5)).fit(X)
    assert len(model.solver_reason_) > 10
    assert model.plan(X).peak_bytes > 0


# -- tests/kernels/test_landmarks.py ---------------------------------------------------


def test_no_direction_is_lost_far_from_the_origin():
    near = np.random.default_rng(0).standard_normal((300, 4)) * [3, 2, 1, 0.5]
    for count in (10, 40):
        Z = near[:count] + 1e6
        assert landmark_features(kernels.Linear(), Z, center=True).rank == 4


def test_single_precision_far_from_the_origin():
    """The exact model is within 0.006 here."""
    rows = (X[:, :4] * [5, 4, 3, 2] + 1000).astype(np.float32)
    model = GraphKernelPCA(2, kernel="linear", landmarks=rows[:200]).fit(rows)
    assert_allclose(model.transform(rows), model.embedding_, atol=0.02)


def test_many_rows_in_single_precision_keep_their_components():
    """What was taken for rounding grew with n, until no component was left."""
    rng = np.random.default_rng(0)
    many = rng.standard_normal((150_000, 4), dtype=np.float32)
    many *= np.array([1.0, 0.6, 0.3, 0.1], dtype=np.float32)
    model = GraphKernelPCA(3, kernel="linear", landmarks=30).fit(many)
    found = model.embedding_.std(axis=0)
    assert_allclose(found, [1.0, 0.6, 0.3], rtol=0.02)
