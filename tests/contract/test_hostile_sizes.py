"""Regressions: solvers on matrices of extreme size, or nothing but rounding."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphfold.arrays import column_lengths, orthonormal
from graphfold.operators import Dense, Sparse
from graphfold.solvers import top_eigenpairs


def matrix(n, rng):
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = (Q * np.linspace(-1, 1, n)) @ Q.T
    return (M + M.T) / 2


@pytest.mark.parametrize("scale", [1e-290, 1e290])
@pytest.mark.parametrize("solver", ["lapack", "krylov", "chebyshev", "lobpcg"])
def test_squares_that_are_out_of_range_are_not_taken(solver, scale, rng):
    M = matrix(30, rng)
    found = top_eigenpairs(Dense(M * scale), 2, solver=solver)
    assert found.converged and found.residuals.max() <= 1e-9
    assert_allclose(found.values / scale, np.linalg.eigvalsh(M)[::-1][:2], atol=1e-8)


@pytest.mark.parametrize("scale", [1e-290, 1.0, 1e290])
def test_lengths_are_right_where_squares_are_not(scale, rng):
    V = rng.standard_normal((9, 3))
    assert_allclose(
        column_lengths(V * scale) / scale, np.linalg.norm(V, axis=0), rtol=1e-14
    )
    Q = orthonormal(V * scale)
    assert_allclose(Q.T @ Q, np.eye(3), atol=1e-14)
    assert column_lengths(np.zeros((4, 2))).tolist() == [0.0, 0.0]


def test_residuals_of_a_zero_eigenvalue_are_measured_in_the_whole_matrix(rng):
    """Of -L of two parts the top pairs are 0: beside themselves anything is large."""
    L = sp.block_diag([[[1.0, -1.0], [-1.0, 1.0]]] * 4).toarray()
    q = np.full((8, 1), 8**-0.5)
    found = top_eigenpairs(Dense(-L), 2, solver="lapack", avoid=q)
    assert found.residuals.max() <= 1e-12 and found.size >= 1.0


def test_the_pairs_of_a_zero_matrix_are_zero():
    q = np.full((5, 1), 5**-0.5)
    found = top_eigenpairs(Dense(np.zeros((5, 5))), 2, solver="lapack", avoid=q)
    assert found.values.tolist() == [0.0, 0.0] and found.residuals.max() == 0.0


def test_vectors_stay_orthogonal_to_what_is_avoided_where_M_is_rounding(rng):
    q = np.full((4, 1), 0.5)
    noise = rng.standard_normal((4, 4)) * 1e-16
    found = top_eigenpairs(Dense(noise + noise.T), 3, solver="lapack", avoid=q)
    V = np.hstack([found.vectors, q])
    assert_allclose(V.T @ V, np.eye(4), atol=1e-12)


@pytest.mark.parametrize("size", [1e290, 1e-290])
def test_a_matrix_in_a_unit_bears_vectors_that_grow(size, rng):
    """As in a filter that lifts what has been missed: M V alone is out of range."""
    M = rng.standard_normal((20, 20))
    M = M + M.T
    V = rng.standard_normal((20, 2)) * 1e40 * np.sign(np.log(size))
    with np.errstate(all="raise"):
        found = ((1 / size) * Dense(M * size)).apply(V)
    assert_allclose(found, M @ V, rtol=1e-12)


def test_shift_invert_takes_a_zero_matrix():
    found = top_eigenpairs(Sparse(sp.csr_array((30, 30))), 2, solver="shift-invert")
    assert found.converged and found.values.tolist() == [0.0, 0.0]


def test_lobpcg_avoids_a_vector_where_its_block_is_just_small_enough(rng):
    n, q = 25, np.full((25, 1), 0.2)
    P = np.eye(n) - q @ q.T
    M = P @ matrix(n, rng) @ P
    found = top_eigenpairs(Dense((M + M.T) / 2), 3, solver="lobpcg", avoid=q)
    assert np.abs(q.T @ found.vectors).max() <= 1e-8


def test_what_is_avoided_does_not_grow_in_a_filter(rng):
    """It lies above all that is wanted, and would grow by more than all digits."""
    n = 33
    q = np.full((n, 1), n**-0.5)
    basis = orthonormal(rng.standard_normal((n, n - 1)), against=q)
    values = -1 - rng.uniform(0, 1, n - 1)
    M = (basis * values) @ basis.T
    found = top_eigenpairs(Dense((M + M.T) / 2), 1, solver="krylov", avoid=q)
    assert found.converged and abs(found.values[0] - values.max()) <= 1e-9
    assert np.abs(q.T @ found.vectors).max() <= 1e-9
