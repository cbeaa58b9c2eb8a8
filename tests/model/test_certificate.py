"""What is certain about an axis: bounds hold when the matrix is changed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphfold.model.align import carried_eigenvalues, nearest_rotation
from graphfold.model.certificate import CHANGE, axis_report
from graphfold.operators import Dense, Diagonal
from graphfold.solvers import SOLVERS, Eigenpairs, top_eigenpairs


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_knows_where_the_spectrum_goes_on(solver):
    values = np.linspace(1, 8, 60) ** 2
    pairs = top_eigenpairs(Diagonal(values), 4, solver=solver)
    assert pairs.next_value == pytest.approx(values[-5], rel=0.05)
    assert pairs.size == pytest.approx(values[-1])
    gaps = axis_report(pairs).eigengaps
    assert_allclose(gaps[:3], np.diff(values)[::-1][:3], rtol=1e-6)


def test_nothing_follows_the_last():
    pairs = top_eigenpairs(Diagonal(np.array([3.0, 1.0])), 2)
    assert np.isnan(pairs.next_value)
    assert_allclose(axis_report(pairs).eigengaps, [2.0, 2.0])


@pytest.mark.parametrize("seed", range(20))
def test_no_change_of_one_percent_turns_an_axis_further(seed):
    rng = np.random.default_rng(seed)
    n = 30
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = (Q * np.concatenate([[10.0, 8.0, 5.0, 4.8], rng.random(n - 4)])) @ Q.T
    pairs = top_eigenpairs(Dense(M), 4)
    report = axis_report(pairs)
    E = rng.standard_normal((n, n))
    E = E + E.T
    E *= CHANGE * pairs.size / np.linalg.norm(E, 2)
    changed = top_eigenpairs(Dense(M + E), 4)
    cosines = np.abs(np.einsum("ij,ij->j", pairs.vectors, changed.vectors))
    sines = np.sqrt(np.maximum(1 - cosines**2, 0))
    assert (sines <= report.turn_bounds + 1e-9).all()
    assert report.turn_bounds[0] < 0.2  # and it says something
    assert report.interchangeable == [[2, 3]]
    assert "axes 2, 3 are interchangeable" in str(report)


def test_the_residual_bounds_the_error():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((1500, 1500)))[0]
    M = (Q * np.linspace(0, 1, 1500) ** 30) @ Q.T
    loose = top_eigenpairs(Dense(M), 3, solver="krylov", tol=1e-3)
    report = axis_report(loose)
    cosines = np.abs(np.einsum("ij,ij->j", loose.vectors, Q[:, ::-1][:, :3]))
    sines = np.sqrt(np.maximum(1 - cosines**2, 0))
    assert (sines <= report.solver_turn + 1e-9).all()
    assert report.solver_turn.max() < 1


def test_an_axis_left_out_is_named():
    pairs = top_eigenpairs(Diagonal(np.array([9.0, 5.0, 5.0, 1.0])), 2)
    report = axis_report(pairs)
    assert report.interchangeable == [[1, 2]]
    assert "1, one not kept" in str(report)


def test_nearest_rotation_is_found(rng):
    Z = rng.standard_normal((40, 3))
    T = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    assert_allclose(nearest_rotation(Z, Z @ T), T, atol=1e-12)
    noisy = Z @ T + 0.1 * rng.standard_normal((40, 3))
    best = np.linalg.norm(Z @ nearest_rotation(Z, noisy) - noisy)
    for _ in range(50):
        other = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        assert best <= np.linalg.norm(Z @ other - noisy)


def test_eigenvalues_are_carried_as_rayleigh_quotients(rng):
    Q = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    values = np.array([5.0, 3.0, 1.0])
    M, V = (Q[:, :3] * values) @ Q[:, :3].T, Q[:, :3]
    T = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    expected = np.diag((V @ T).T @ M @ (V @ T))
    assert_allclose(carried_eigenvalues(values, T), expected)


def pairs_of(values, next_value=np.nan, residuals=None, size=10.0):
    values = np.asarray(values)
    residuals = np.zeros(len(values)) if residuals is None else np.array(residuals)
    vectors = np.eye(len(values))
    return Eigenpairs(
        values, vectors, residuals, True, 1, 1, size=size, next_value=next_value
    )


def test_gaps_and_turns_by_hand():
    # gaps 4, 1, 1, 2; a change of 1 % of 10 turns by 2 * 0.1 / gap
    report = axis_report(pairs_of([9.0, 5.0, 4.0, 2.0], residuals=[0, 0.05, 0.2, 0.1]))
    assert_allclose(report.eigengaps, [4, 1, 1, 2])
    assert_allclose(report.turn_bounds, [0.05, 0.2, 0.2, 0.1])
    assert_allclose(report.solver_turn, [0, 0.5, 1.0, 0.5])
    assert report.interchangeable == []
    assert str(report) == (
        "axis   eigengap   turn at 1 % change\n"
        "   0          4   sin <= 0.05\n"
        "   1          1   sin <= 0.2\n"
        "   2          1   sin <= 0.2\n"
        "   3          2   sin <= 0.1"
    )


def test_the_one_left_out_has_a_gap_too():
    report = axis_report(pairs_of([9.0, 5.0], next_value=4.75))
    assert_allclose(report.eigengaps, [4, 0.25])
    assert report.interchangeable == [[1, 2]]
    # an estimate from above may overtake: there is no gap below 0
    over = axis_report(pairs_of([9.0, 5.0], next_value=6.0))
    assert_allclose(over.eigengaps, [4, 0])
    assert_allclose(over.turn_bounds, [0.05, 1.0])
    assert "   1          0   any" in str(over)


def test_axes_of_a_run_are_one_group():
    limit = 2 * 0.01 * 10 / np.sqrt(0.5)  # where a turn of 45 degrees is possible
    values = np.cumsum([9, -0.9 * limit, -0.9 * limit, -1.1 * limit, -0.9 * limit])
    report = axis_report(pairs_of(values))
    assert report.interchangeable == [[0, 1, 2], [3, 4]]
    assert "axes 0, 1, 2 are interchangeable" in str(report)
    assert axis_report(pairs_of([1.0])).interchangeable == []


def test_a_matrix_of_zeros_has_size_one():
    report = axis_report(pairs_of([3.0, 1.0], residuals=[0.5, 0.0], size=0.0))
    assert_allclose(report.turn_bounds, [0.01, 0.01])
    assert_allclose(report.solver_turn, [0.25, 0.0])


def test_single_precision_is_carried_in_double():
    values = np.array([3.0, 1.0], dtype=np.float32)
    assert axis_report(pairs_of(values)).eigengaps.dtype == np.float64
    T = np.eye(2, dtype=np.float32)
    assert carried_eigenvalues(values, T).dtype == np.float64
    Z = np.ones((3, 2), dtype=np.float32) * [[1, 2]]
    assert nearest_rotation(Z.astype(np.float32), Z).dtype == np.float64
