"""Entries that are there, and the parts of the robust methods, by loops or by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import Graph
from graphfold.graphs import laplacian
from graphfold.model import robust, robust_fast
from graphfold.model.robust import RobustProblem, Split
from graphfold.model.robust_fast import FastProblem
from graphfold.model.separation import Observed

NAN = np.nan
GAPPY = np.array([[1.0, NAN, 3.0], [NAN, NAN, 5.0], [4.0, NAN, -1.0], [2.0, NAN, 0.0]])


def ring(n):
    return laplacian(Graph([(i, (i + 1) % n) for i in range(n)]), "combinatorial")


def test_missing_entries_are_marked_and_counted():
    data = Observed.of(GAPPY)
    assert_array_equal(data.missing, np.isnan(GAPPY))
    assert_array_equal(data.X, np.nan_to_num(GAPPY))
    assert data.count == 7
    whole = np.ones((2, 3))
    assert Observed.of(whole).X is whole
    assert Observed.of(whole).missing is None
    assert Observed.of(whole).count == 6
    assert Observed.of(GAPPY.astype(np.float32)).X.dtype == np.float32


def test_errors_are_sums_over_what_is_there(rng):
    Z = rng.standard_normal(GAPPY.shape)
    data = Observed.of(GAPPY)
    there = [(i, j) for i in range(4) for j in range(3) if GAPPY[i, j] == GAPPY[i, j]]
    total = sum(abs(GAPPY[i, j] - Z[i, j]) for i, j in there)
    assert data.absolute_error(Z) == pytest.approx(total)
    assert_allclose(data.error(Z), np.nan_to_num(GAPPY - Z))
    many = np.full((1000, 1000), 0.1, dtype=np.float32)
    exact = 1e6 * float(np.float32(0.1))
    assert Observed(many).absolute_error(np.zeros_like(many)) == pytest.approx(
        exact, rel=1e-12
    )


def test_entries_move_towards_the_data_by_a_distance_at_most(rng):
    data = Observed.of(GAPPY)
    V = 3 * rng.standard_normal(GAPPY.shape)
    found = data.pulled_to_data(V.copy(), 0.7)
    for i, j in np.ndindex(*V.shape):
        x, v = GAPPY[i, j], V[i, j]
        if np.isnan(x):
            expected = v
        elif abs(v - x) <= 0.7:
            expected = x
        else:
            expected = v - 0.7 * np.sign(v - x)
        assert found[i, j] == pytest.approx(expected)


def test_missing_entries_begin_at_the_median_of_their_column():
    data = Observed.of(GAPPY)
    assert_array_equal(data.column_medians(), [2.0, 0.0, 1.5])
    assert_array_equal(data.filled(), [[1, 0, 3], [2, 0, 5], [4, 0, -1], [2, 0, 0]])
    whole = Observed(np.array([[1.0, 5.0], [2.0, 9.0], [7.0, 6.0]]))
    assert_array_equal(whole.column_medians(), [2, 6])
    assert whole.filled() is whole.X
    assert Observed.of(GAPPY.astype(np.float32)).column_medians().dtype == np.float32


def test_the_robust_objective_is_its_formula(rng):
    data, L = Observed.of(GAPPY), ring(4)
    problem = RobustProblem(data, L, sparsity=0.3, strength=0.2)
    Z = rng.standard_normal(GAPPY.shape)
    smooth = sum(
        np.square(Z[i] - Z[(i + 1) % 4]).sum() for i in range(4)
    )  # an edge each
    assert problem.smoothness(Z) == pytest.approx(0.2 * smooth)
    expected = 9.0 + 0.3 * data.absolute_error(Z) + 0.2 * smooth
    assert problem.objective(Z, 9.0) == pytest.approx(expected)


def test_a_start_has_penalties_by_the_mean_size_of_the_data():
    problem = RobustProblem(Observed.of(GAPPY), ring(4), 0.3)
    state = robust._start(problem)
    mean = np.nansum(np.abs(GAPPY)) / 7
    assert state.penalty1 == state.penalty2 == pytest.approx(1 / (16 * mean))
    assert state.penalty == pytest.approx(1 / (8 * mean))
    assert_array_equal(state.near, problem.data.filled())
    assert_array_equal(state.smooth, problem.data.filled())
    assert state.near is not state.smooth
    assert not state.price1.any()
    assert not state.price2.any()
    nothing = RobustProblem(Observed(np.zeros((3, 2))), ring(3), 0.3)
    assert robust._start(nothing).penalty1 == 1.0


def test_the_target_is_the_mean_of_the_copies_by_their_penalties(rng):
    near, smooth = rng.standard_normal((2, 4, 3))
    state = Split(near, smooth, 1.0, 3.0)
    state.price1, state.price2 = rng.standard_normal((2, 4, 3))
    expected = ((near - state.price1) + 3 * (smooth - state.price2)) / 4
    assert_allclose(state.target(), expected)


def test_an_update_solves_for_each_copy(rng):
    problem = RobustProblem(Observed.of(GAPPY), ring(4), 0.3, strength=0.2)
    near, smooth, Z, price1, price2 = rng.standard_normal((5, 4, 3))
    state = Split(near, smooth, 1.5, 2.5)
    state.price1, state.price2 = price1, price2
    moved = robust._update(problem, state, Z, 1e-12)
    towards = 1.6 * Z - 0.6 * near + price1
    expected = problem.data.pulled_to_data(towards.copy(), 0.3 / 1.5)
    assert_allclose(state.near, expected)
    assert_allclose(state.price1, towards - expected, atol=1e-12)
    assert moved[0] == pytest.approx(np.linalg.norm(expected - near))
    towards = 1.6 * Z - 0.6 * smooth + price2
    left = 2 * 0.2 * problem.L.operator.to_dense() + 2.5 * np.eye(4)
    expected = np.linalg.solve(left, 2.5 * towards)
    assert_allclose(state.smooth, expected, atol=1e-8)
    assert_allclose(state.price2, towards - expected, atol=1e-8)
    assert moved[1] == pytest.approx(np.linalg.norm(expected - smooth))


def test_the_lower_bound_is_that_of_duality(rng):
    data, L = Observed.of(GAPPY), ring(4)
    problem = RobustProblem(data, L, 0.8, strength=0.5)
    for size in (0.01, 1.0, 5.0):
        W, price = size * rng.standard_normal((2, 4, 3))
        state = Split(np.zeros((4, 3)), W, 1.5, 2.5)
        state.price1 = price
        found, _ = robust._lower_bound(problem, state, None, rng)
        Y = np.where(np.isnan(GAPPY), 0, np.clip(-1.5 * price, -0.8, 0.8))
        LW = L.operator.to_dense() @ W
        scale = max(np.linalg.norm(Y - LW, 2), 1.0)
        expected = np.sum(Y * data.X) / scale - 0.5 * np.sum(W * LW) / scale**2
        assert found == pytest.approx(expected, rel=1e-5)
        for _ in range(20):  # no Z is below it
            Z = rng.standard_normal((4, 3)) * rng.random()
            nuclear = np.linalg.svd(Z, compute_uv=False).sum()
            assert problem.objective(Z, nuclear) >= found - 1e-9


def test_penalties_follow_the_copies_that_are_apart():
    Z = np.array([[2.0, 0.0], [0.0, 0.0]])
    near, smooth = np.zeros((2, 2)), np.array([[2.0, 0.5], [0.0, 0.0]])
    state = Split(near, smooth, 1.0, 1.0)
    state.price1, state.price2 = np.full((2, 2), 0.5), np.full((2, 2), 1.0)
    # apart 2 * 1 over settling 0.25 * 2; and 0.5 * 2 over 4 * 2
    robust._balance(state, Z, (0.25, 4.0))
    assert (state.penalty1, state.penalty2) == (2.0, 0.5)
    assert_allclose(state.price1, np.full((2, 2), 0.25))
    assert_allclose(state.price2, np.full((2, 2), 2.0))


@pytest.mark.parametrize(
    ("step", "factor"),
    [(1.0, 1.0), (0.5, 2**0.5), (1.5, 1.0), (2.0, 0.5**0.5), (0.0, 1.0), (0.7, 1.0)],
)
def test_a_penalty_that_is_nearly_right_stays(step, factor):
    Z = np.array([[2.0, 0.0]])
    state = Split(np.zeros((1, 2)), Z.copy(), 3.0, 3.0)
    state.price1 = np.array([[1.0, 0.0]])
    robust._balance(state, Z, (step, 1.0))  # apart 2 * 1 over settling step * 2
    assert state.penalty1 == pytest.approx(3.0 * factor)
    assert state.penalty2 == 3.0  # a copy that has arrived


@pytest.mark.parametrize("columns_first", [False, True])
@pytest.mark.parametrize("dense", [0, 400])
def test_the_gradient_is_that_of_differences(columns_first, dense, rng, monkeypatch):
    monkeypatch.setattr(robust_fast, "DENSE_FEATURES", dense)
    X = rng.standard_normal((5, 4))
    L1, L2 = (None, ring(4)) if columns_first else (ring(5), ring(4))
    problem = FastProblem(Observed(X), L1, L2, 0.7, 0.3)

    def smooth(Z):
        total = 0.3 * sum(
            np.square(Z[:, i] - Z[:, (i + 1) % 4]).sum() for i in range(4)
        )
        if L1 is not None:
            total += 0.7 * sum(np.square(Z[i] - Z[(i + 1) % 5]).sum() for i in range(5))
        return total

    found = problem.gradient(X)
    for i, j in np.ndindex(5, 4):
        step = np.zeros_like(X)
        step[i, j] = 1e-4
        slope = (smooth(X + step) - smooth(X - step)) / 2e-4
        assert found[i, j] == pytest.approx(slope, abs=1e-6)
    operator = np.array([problem.gradient(E.reshape(5, 4)).ravel() for E in np.eye(20)])
    assert np.linalg.eigvalsh(operator)[-1] <= problem.curvature + 1e-9
    bound = 2 * 0.3 * 8 / 2 + (0 if columns_first else 2 * 0.7 * 8 / 2)
    assert problem.curvature == pytest.approx(bound)


def test_without_graphs_there_is_no_gradient():
    problem = FastProblem(Observed(np.ones((2, 3))), None, None)
    assert problem.curvature == 0.0
    assert not problem.gradient(np.ones((2, 3))).any()
    assert (problem.strength1, problem.strength2) == (1.0, 1.0)
    rows = FastProblem(Observed(np.ones((3, 2))), ring(3), None)
    assert_allclose(rows.gradient(np.eye(3, 2)), 2 * ring(3).operator.to_dense()[:, :2])


def test_the_pace_is_that_of_nesterov():
    pace, inertia = robust_fast._next_pace(1.0)
    assert pace == pytest.approx((1 + 5**0.5) / 2)
    assert inertia == 0.0
    following, inertia = robust_fast._next_pace(3.0)
    assert following == pytest.approx((1 + 37**0.5) / 2)
    assert inertia == pytest.approx(2 / following)
    now, before = np.array([3.0]), np.array([1.0])
    assert robust_fast._ahead(now, before, 0.25) == 3.5


def test_a_step_is_proximal_and_its_curvature_holds(rng):
    X = rng.standard_normal((5, 4))
    problem = FastProblem(Observed(X), ring(5), ring(4), 0.7, 0.3)
    Y = rng.standard_normal((5, 4))
    AY = problem.gradient(Y)
    limit = problem.curvature
    for first in (0.01 * limit, 0.5 * limit, limit):
        Z, AZ, found = robust_fast._step(problem, Y, AY, first, limit)
        assert first <= found <= limit
        assert_allclose(Z, problem.data.pulled_to_data(Y - AY / found, 1 / found))
        assert_allclose(AZ, problem.gradient(Z))
        D = Z - Y
        assert np.vdot(D, AZ - AY) <= found * np.vdot(D, D) * (1 + 1e-12)
        if found < limit and found > first:  # the one before did not
            tried = found / robust_fast.GROWTH
            W = problem.data.pulled_to_data(Y - AY / tried, 1 / tried)
            D = W - Y
            assert np.vdot(D, problem.gradient(D)) > tried * np.vdot(D, D)
