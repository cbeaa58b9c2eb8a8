"""The bottom of a sparse positive semi-definite matrix: no eigenvalue may be missed.

Every solver is given -A and has to find what LAPACK finds: groups of equal
eigenvalues, values closer to each other than 1e-9, and those of long thin graphs.
"""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_swiss_roll

from graphfold import kernels
from graphfold.errors import GraphfoldError
from graphfold.operators import Centered, Dense, Sparse
from graphfold.operators.inverse import factors_stay_sparse
from graphfold.solvers import top_eigenpairs
from graphfold.solvers.filtering import bearable_degree, chebyshev_filter
from tests.helpers import largest_angle

SPARSE_SOLVERS = ("krylov", "chebyshev", "shift-invert", "auto")


def laplacian_of(A):
    A = sp.csr_array(A)
    return sp.csr_array(sp.diags_array(np.asarray(A.sum(axis=1)).ravel()) - A)


def ring(n, weight=1.0):
    """A circle with chords."""
    i = np.arange(n)
    ends = (np.r_[i, i], np.r_[(i + 1) % n, (i + 7) % n])
    A = sp.csr_array((np.full(2 * n, weight), ends), shape=(n, n))
    return A + A.T


def rings(n_parts):
    sizes = np.full(n_parts, 1200 // n_parts)
    sizes[: 1200 - sizes.sum()] += 1
    return laplacian_of(sp.block_diag([ring(size) for size in sizes]))


def nearly_equal_rings():
    """Each eigenvalue eight times, at distances of 1e-9."""
    parts = [ring(150, 1 + 1e-9 * i) for i in range(8)]
    return laplacian_of(sp.block_diag(parts))


def line(n):
    step = sp.diags_array([np.ones(n - 1)], offsets=[1], shape=(n, n))
    return step + step.T


def grid(side):
    one = sp.eye_array(side)
    return laplacian_of(sp.kron(line(side), one) + sp.kron(one, line(side)))


def lle_matrix(X, k):
    T = kernels.LocallyLinear(k).inverse_factor(X)
    return sp.csr_array(T.T @ T)


MATRICES = {
    "7 parts": (lambda: rings(7), 12),
    "30 parts": (lambda: rings(30), 34),
    "10 of 30 zeros": (lambda: rings(30), 10),
    "1e-9 apart": (nearly_equal_rings, 12),
    "path": (lambda: laplacian_of(line(1200)), 6),
    "grid": (lambda: grid(36), 8),
    "Swiss roll": (lambda: lle_matrix(make_swiss_roll(1010, random_state=0)[0], 12), 4),
    "digits": (lambda: lle_matrix(load_digits().data[:1200], 12), 10),
}


@cache
def reference(name):
    make, d = MATRICES[name]
    A = make()
    return A, d, np.linalg.eigvalsh(A.toarray())


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("solver", SPARSE_SOLVERS)
def test_no_eigenvalue_is_missed(name, solver):
    A, d, values = reference(name)
    size = values[-1]
    found = top_eigenpairs(-Sparse(A), d, solver=solver)
    assert found.converged, found.residuals
    np.testing.assert_allclose(-found.values, values[:d], atol=1e-9 * size, rtol=0)
    V = found.vectors
    assert np.abs(V.T @ V - np.eye(d)).max() < 1e-9
    residual = np.linalg.norm(A @ V + V * found.values, axis=0).max()
    assert residual <= 2e-10 * size


@pytest.mark.parametrize("name", ["Swiss roll", "30 parts"])
@pytest.mark.parametrize("solver", ["chebyshev", "shift-invert", "auto"])
def test_what_is_asked_of_local_weights_is_reached(name, solver):
    """1e-12: eigenvalues of A are small beside its size."""
    A, d, values = reference(name)
    found = top_eigenpairs(-Sparse(A), d, solver=solver, tol=1e-12)
    assert found.converged, found.residuals
    assert np.abs(-found.values - values[:d]).max() <= 1e-12 * values[-1]


@pytest.mark.parametrize("solver", SPARSE_SOLVERS)
def test_constants_are_kept_out(solver):
    A, _, values = reference("grid")
    n = A.shape[0]
    q = np.full((n, 1), n**-0.5)
    found = top_eigenpairs(-Sparse(A), 5, solver=solver, avoid=q)
    np.testing.assert_allclose(-found.values, values[1:6], atol=1e-9 * values[-1])
    assert np.abs(q.T @ found.vectors).max() < 1e-10


def test_auto_factorises_where_factors_stay_sparse():
    """A surface: a grid of 40 x 40 with noise, and its LLE weights."""
    rng = np.random.default_rng(0)
    side = np.arange(40.0)
    X = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    X = np.column_stack([X, 0.02 * X[:, 0] ** 2]) + 0.1 * rng.standard_normal((1600, 3))
    A = lle_matrix(X, 8)
    found = top_eigenpairs(-Sparse(A), 4, tol=1e-12)
    assert found.solver == "shift-invert"
    assert "sparse" in found.reason
    assert found.converged
    values = np.linalg.eigvalsh(A.toarray())
    np.testing.assert_allclose(-found.values, values[:4], atol=1e-12 * values[-1])
    assert largest_angle(found.vectors, np.full((1600, 1), 1 / 40)) < 1e-4


def random_graph(n, n_edges):
    """No thin separators: its factors fill up, and its gaps are wide."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, n_edges))
    A = sp.csr_array((np.ones(n_edges), ends), shape=(n, n))
    return laplacian_of(A + A.T)


def test_auto_stays_with_products_where_factors_fill_up():
    A = random_graph(3000, 30_000)
    found = top_eigenpairs(-Sparse(A), 3)
    assert found.solver == "krylov"
    assert "3000" in found.reason


def test_shift_invert_of_the_top_of_an_indefinite_matrix():
    A, _, values = reference("grid")
    shifted = 3.0 * sp.eye_array(A.shape[0]) - A
    found = top_eigenpairs(Sparse(shifted), 5, solver="shift-invert")
    np.testing.assert_allclose(found.values, 3.0 - values[:5], atol=1e-9 * values[-1])
    assert found.converged


def test_shift_invert_of_a_negative_matrix_far_below_zero():
    A, _, values = reference("grid")
    shifted = -50.0 * sp.eye_array(A.shape[0]) - A
    found = top_eigenpairs(Sparse(shifted), 5, solver="shift-invert")
    np.testing.assert_allclose(found.values, -50 - values[:5], atol=1e-8)
    assert found.converged


def test_shift_invert_needs_a_sparse_matrix():
    with pytest.raises(GraphfoldError, match="needs a problem whose matrix is sparse"):
        top_eigenpairs(Dense(np.eye(30)), 2, solver="shift-invert")
    # H M H is sparse only where M takes constants to constants
    tilted = Centered(Sparse(sp.diags_array(np.arange(30.0))))
    with pytest.raises(GraphfoldError, match="sparse"):
        top_eigenpairs(tilted, 2, solver="shift-invert")


def blocks_apart(n=600):
    """Two blocks without a link; the top of the whole lies in the second."""
    one, other = laplacian_of(ring(n)), laplacian_of(ring(n))
    return sp.csr_array(sp.block_diag([-one - 0.5 * sp.eye_array(n), -other]))


@pytest.mark.parametrize("n_missed", [1, 3])
def test_a_start_that_cannot_see_an_eigenvector_is_not_believed(n_missed):
    """All starting directions lie in one block, which is invariant: products alone
    never leave it. Where products are cheap the answer is probed."""
    M = blocks_apart()
    d, width = 4, 8
    values, vectors = np.linalg.eigh(M[:600, :600].toarray())
    start = np.zeros((1200, width))
    start[:600] = vectors[:, -width:]  # exactly invariant, and converged at once
    expected = np.linalg.eigvalsh(M.toarray())[::-1][:d]
    assert expected[0] > values[-1] + 0.4  # the trap is really there
    found = top_eigenpairs(Sparse(M), d, solver="krylov", start=start)
    np.testing.assert_allclose(found.values, expected, atol=1e-8)
    assert found.converged
    # all but some of the wanted ones in the start
    all_values, all_vectors = np.linalg.eigh(M.toarray())
    order = np.argsort(-all_values)
    kept = np.delete(order[: width + n_missed], np.arange(1, 1 + n_missed))
    found = top_eigenpairs(
        Sparse(M), d, solver="krylov", start=all_vectors[:, kept], tol=1e-9
    )
    np.testing.assert_allclose(found.values, expected, atol=1e-8)


@pytest.mark.filterwarnings("error")
def test_few_rows_and_long_graphs_are_factorised(monkeypatch):
    monkeypatch.setattr("graphfold.operators.inverse.FILLED", 100)
    assert factors_stay_sparse(grid(20))
    assert not factors_stay_sparse(sp.csr_array(np.ones((120, 120))))
    assert factors_stay_sparse(sp.csr_array(np.ones((100, 100))))


def test_a_filter_lifts_what_lies_above_the_cut_and_nothing_that_is_done():
    """Rounding along vectors that are done must not grow, wherever zero lies."""
    A, _, _ = reference("30 parts")
    values, vectors = np.linalg.eigh(A.toarray())
    done, V = vectors[:, :30], vectors[:, 30:60]
    M = -Sparse(A)
    ends = (-8.0, -values[59], -values[30])
    grown = chebyshev_filter(M, V, M.apply(V), ends, 128, done=done)
    assert np.isfinite(grown).all()
    assert np.abs(done.T @ grown).max() <= 1e-8 * np.linalg.norm(grown, axis=0).min()


@pytest.mark.parametrize("position", [1.0, 1.0 + 1e-16, 1.0 + 1e-8, 2.0, 1e8])
def test_a_filter_has_some_degree_wherever_the_top_lies(position):
    assert bearable_degree(position, np.dtype(np.float64)) >= 1
    assert bearable_degree(position, np.dtype(np.float32)) >= 1
