"""Block Lanczos against LAPACK: what it finds, when it looks, what stalls it."""

import numpy as np
import pytest
import scipy.linalg

from graphfold.operators import Centered, Dense, Diagonal
from graphfold.solvers import choose_solver, top_eigenpairs
from graphfold.solvers.lanczos import block_width, capacity

N = 700


@pytest.fixture(autouse=True)
def by_blocks(monkeypatch):
    """A stored matrix as one whose columns cost what blocks do."""
    monkeypatch.setattr(Dense, "columns_are_cheap", lambda self: False)


def symmetric(values, seed=0):
    """A dense matrix of these eigenvalues, and its eigenvectors."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2, Q


def decaying():
    return 0.97 ** np.arange(N)


@pytest.mark.parametrize("d", [1, 2, 9, 14, 15, 30])
def test_vectors_are_those_of_lapack(d):
    A, Q = symmetric(decaying())
    found = top_eigenpairs(Dense(A), d, solver="krylov")
    assert found.converged
    np.testing.assert_allclose(found.values, decaying()[:d], rtol=1e-12)
    angles = scipy.linalg.subspace_angles(found.vectors, Q[:, :d])
    assert angles.max() < 1e-7
    true = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0)
    assert (true <= 1.01 * found.residuals * found.size + 1e-14).all()


def test_copies_up_to_the_width_of_a_block_are_found_whole():
    values = decaying()
    values[:12] = 1.0
    A, Q = symmetric(values)
    found = top_eigenpairs(Dense(A), 12, solver="krylov")
    np.testing.assert_allclose(found.values, 1.0)
    assert scipy.linalg.subspace_angles(found.vectors, Q[:, :12]).max() < 1e-6


def test_the_largest_are_taken_not_the_largest_in_size():
    values = np.linspace(1.0, -20.0, N)
    A, _ = symmetric(values)
    found = top_eigenpairs(Dense(A), 3, solver="krylov")
    np.testing.assert_allclose(found.values, values[:3], atol=1e-9)


def test_a_slow_spectrum_is_restarted_and_still_found():
    """The space fills up more than once; a filter takes over where it brings little."""
    values = np.concatenate([[1.0, 0.9999, 0.9998], np.linspace(0.999, 0.0, 1497)])
    A, _ = symmetric(values)
    found = top_eigenpairs(Dense(A), 3, solver="krylov")
    assert found.n_products > capacity(3, len(values))
    assert found.converged
    np.testing.assert_allclose(found.values, values[:3], rtol=1e-9)


def test_a_centred_matrix_is_solved_beside_the_constant():
    A, _ = symmetric(decaying())
    q = np.full((N, 1), N**-0.5)
    found = top_eigenpairs(Centered(Dense(A)), 4, solver="krylov", avoid=q)
    H = np.eye(N) - 1 / N
    expected = np.linalg.eigvalsh(H @ A @ H)[::-1][:4]
    np.testing.assert_allclose(found.values, expected, rtol=1e-11)
    assert np.abs(q.T @ found.vectors).max() < 1e-12


def test_single_precision_tells_its_true_residual():
    A, _ = symmetric(decaying())
    A = A.astype(np.float32)
    found = top_eigenpairs(Dense(A), 5, solver="krylov")
    V, wide = found.vectors.astype(np.float64), A.astype(np.float64)
    true = np.linalg.norm(wide @ V - V * found.values, axis=0) / found.size
    assert found.converged and found.vectors.dtype == np.float32
    assert true.max() < 2e-5


def test_rounds_that_are_limited_end_as_they_are():
    A, _ = symmetric(decaying())
    found = top_eigenpairs(Dense(A), 3, solver="krylov", max_iter=2)
    assert not found.converged and found.n_iterations == 2


def test_a_given_start_saves_rounds():
    A, Q = symmetric(decaying())
    cold = top_eigenpairs(Dense(A), 5, solver="krylov")
    warm = top_eigenpairs(Dense(A), 5, solver="krylov", start=Q[:, :5])
    assert warm.n_iterations < cold.n_iterations


def test_an_identity_is_solved_in_one_block():
    found = top_eigenpairs(Diagonal(np.ones(2000)), 3, solver="krylov")
    np.testing.assert_allclose(found.values, 1.0)


@pytest.mark.parametrize(("d", "width"), [(2, 16), (14, 16), (15, 32), (30, 32)])
def test_blocks_are_multiples_of_what_blas_takes_at_a_time(d, width):
    assert block_width(d, 10_000) == width
    assert block_width(d, 12) == 12


@pytest.mark.parametrize("kind", ["kernel", "indefinite"])
def test_lapack_gives_way_to_krylov_at_a_few_hundred_rows(kind):
    sizes = range(100, 3000, 10)

    def first(d):
        found = (choose_solver(n, d, kind=kind).solver for n in sizes)
        return next(n for n, name in zip(sizes, found, strict=True) if name != "lapack")

    assert 100 < first(2) <= first(30) <= 300
