"""Lanczos from one vector against LAPACK: what it finds, and what it declines."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfold.operators import Centered, Dense, LowRank, Sparse
from graphfold.solvers import top_eigenpairs
from graphfold.solvers.krylov import block_krylov
from graphfold.solvers.vector_lanczos import _waits, vector_lanczos
from tests.solvers.problems import request

N = 400


def symmetric(values, seed=0):
    """A dense matrix of these eigenvalues, and its eigenvectors."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2, Q


def decaying(n=N):
    return 0.95 ** np.arange(n)


@pytest.mark.parametrize("d", [1, 2, 9, 30])
def test_vectors_are_those_of_lapack(d):
    A, Q = symmetric(decaying())
    found = vector_lanczos(request(Dense(A), d))
    assert found.converged
    np.testing.assert_allclose(found.values, decaying()[:d], rtol=1e-11)
    assert scipy.linalg.subspace_angles(found.vectors, Q[:, :d]).max() < 1e-7
    true = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(true, found.residuals * found.size, rtol=0.1, atol=1e-13)


@pytest.mark.parametrize("place", [0, 1, 3, 4])
def test_an_eigenvalue_with_two_eigenvectors_is_left_to_blocks(place):
    """One vector sees only one of them: it must never give the next for the second."""
    values = decaying()
    values[place + 1] = values[place]
    A, _ = symmetric(values)
    found = vector_lanczos(request(Dense(A), 5))
    if found is not None:  # rounding errors brought the second one in
        np.testing.assert_allclose(found.values, values[:5], rtol=1e-10)
    whole = block_krylov(request(Dense(A), 5))
    np.testing.assert_allclose(whole.values, values[:5], rtol=1e-10)


def test_a_copy_of_what_is_not_wanted_does_not_matter():
    values = decaying()
    values[7] = values[6]
    A, _ = symmetric(values)
    found = vector_lanczos(request(Dense(A), 5))
    np.testing.assert_allclose(found.values, values[:5], rtol=1e-11)


def test_a_copy_that_is_half_in_the_space_is_not_overlooked():
    """Of 5, 5, 4.99999 and more near them the chain once gave 5 and 4.99999."""
    gaps = np.zeros(30)
    gaps[[2, 4, 25]], gaps[[3, 24]] = 1e-5, 1e-9
    gaps[25] = 0.1
    values = np.concatenate([5.0 - np.cumsum(gaps), np.linspace(0.5, -1.0, 90)])
    A, _ = symmetric(values)
    found = vector_lanczos(request(Dense(A), 2))
    if found is not None:  # a later look saw both
        np.testing.assert_allclose(found.values, 5.0)
    np.testing.assert_allclose(block_krylov(request(Dense(A), 2)).values, 5.0)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 12), min_size=30, max_size=30),
    st.integers(1, 6),
    st.integers(0, 10**6),
)
def test_what_is_returned_is_complete(steps, d, seed):
    """Spectra with many equal and near eigenvalues: the right ones, or None."""
    gaps = np.array([0.0, 1e-13, 1e-9, 1e-5, *[0.1] * 9])[steps]
    values = np.concatenate([5.0 - np.cumsum(gaps), np.linspace(0.5, -1.0, 90)])
    A, _ = symmetric(values, seed)
    found = vector_lanczos(request(Dense(A), d, rng=np.random.default_rng(seed)))
    if found is not None and found.converged:
        np.testing.assert_allclose(found.values, np.sort(values)[::-1][:d], atol=1e-8)


def test_where_one_pair_is_needed_the_others_take_no_products():
    A, Q = symmetric(decaying())
    found = vector_lanczos(request(Dense(A), 30, needed=1, tol=1e-6))
    alone = vector_lanczos(request(Dense(A), 1, tol=1e-6))
    assert found.n_products == alone.n_products
    np.testing.assert_allclose(found.values[0], 1.0, rtol=1e-10)
    assert found.converged and found.residuals[0] <= 1e-6
    assert found.values.shape == found.residuals.shape == (found.vectors.shape[1],)
    assert scipy.linalg.subspace_angles(found.vectors[:, :1], Q[:, :1]).max() < 1e-4


@pytest.mark.parametrize("tol", [2e-2, 1e-10])
def test_the_small_end_is_not_taken_for_solved(tol):
    """Beside 500 a residual of 2e-2 is larger than the eigenvalue that is wanted."""
    values = np.append(-5.0, 500 * decaying())
    A, _ = symmetric(values)
    found = vector_lanczos(request(Dense(-A), 1, tol=tol))
    np.testing.assert_allclose(found.values, 5.0, rtol=1e-4)


def test_who_stops_is_obeyed_and_gets_what_there_is():
    A = np.diag(np.append([5.0, 5.0, 5.0, 4.0], np.linspace(0, 3, 446)))
    heard = []

    def observer(iteration):
        heard.append(iteration.number)
        return iteration.number >= 3

    found = top_eigenpairs(Dense(A), 3, solver="krylov", max_iter=50, observer=observer)
    assert heard == [1, 2, 3]
    assert not found.converged
    assert found.residuals.max() < 1e-6


@pytest.mark.parametrize("n", [100, 1_000, 10_000])
def test_looks_are_rare_where_they_cost_more_than_steps(n):
    for k in (10, 50, 200):
        least, most = _waits(k, n)
        assert 1 <= least <= most <= max(2, 0.3 * k)
    assert _waits(100, n)[0] >= _waits(100, 10 * n)[0]
    assert _waits(200, 10_000)[0] == 1


def test_a_start_without_the_largest_does_not_hide_it():
    A, Q = symmetric(decaying())
    found = vector_lanczos(request(Dense(A), 3, start=Q[:, 1:4]))
    np.testing.assert_allclose(found.values, decaying()[:3], rtol=1e-11)


def test_a_given_start_saves_products():
    A, Q = symmetric(decaying())
    cold = vector_lanczos(request(Dense(A), 1, tol=1e-6))
    warm = vector_lanczos(request(Dense(A), 1, tol=1e-6, start=1e8 * Q[:, :1]))
    assert warm.n_products <= cold.n_products


def test_a_matrix_of_small_rank_ends_the_space():
    """The second chain begins in what M maps to rounding errors."""
    X = np.random.default_rng(0).standard_normal((300, 10))
    found = vector_lanczos(request(LowRank(X), 4))
    expected = np.linalg.svd(X, compute_uv=False)[:4] ** 2
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    assert found.residuals.max() < 1e-12


def test_what_is_avoided_stays_out():
    A, _ = symmetric(decaying())
    q = np.full((N, 1), N**-0.5)
    found = vector_lanczos(request(Centered(Dense(A)), 4, avoid=q))
    H = np.eye(N) - 1 / N
    expected = np.linalg.eigvalsh(H @ A @ H)[::-1][:4]
    np.testing.assert_allclose(found.values, expected, rtol=1e-11)
    assert np.abs(q.T @ found.vectors).max() < 1e-13


def test_an_indefinite_matrix_gives_its_largest():
    values = np.concatenate([decaying(200), np.linspace(-3.0, 0.0, 200)])
    A, _ = symmetric(values)
    found = vector_lanczos(request(Dense(A), 3))
    np.testing.assert_allclose(found.values, values[:3], atol=1e-8)


@pytest.mark.parametrize("n", [300, 2000])
def test_single_precision_is_orthonormal_and_tells_its_true_residual(n):
    A, _ = symmetric(0.9 ** np.arange(n))
    A = A.astype(np.float32)
    found = vector_lanczos(request(Dense(A), 6))
    V, wide = found.vectors.astype(np.float64), A.astype(np.float64)
    true = np.linalg.norm(wide @ V - V * found.values, axis=0) / found.size
    assert found.converged and found.vectors.dtype == np.float32
    assert true.max() < 2e-5
    assert np.abs(V.T @ V - np.eye(6)).max() < 1e-5


def test_a_slow_spectrum_is_given_up_before_the_space_is_full():
    n = 3000
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    rounds = []
    asked = request(Sparse(path), 4, observer=lambda seen: rounds.append(seen))
    assert vector_lanczos(asked) is None
    assert 0 < len(rounds) < 10


def test_rounds_that_are_limited_end_as_they_are():
    A, _ = symmetric(0.999 ** np.arange(N))
    found = vector_lanczos(request(Dense(A), 3, max_iter=1))
    assert not found.converged and found.n_iterations == 1


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_in_memory_does_not_matter(order):
    A, _ = symmetric(decaying())
    found = top_eigenpairs(Dense(np.array(A, order=order)), 3, solver="krylov")
    np.testing.assert_allclose(found.values, decaying()[:3], rtol=1e-11)


def test_a_part_of_a_larger_array_is_multiplied_without_a_copy_each_time():
    A, _ = symmetric(decaying())
    wide = np.zeros((N, 2 * N))
    wide[:, ::2] = A
    M = Dense(wide[:, ::2])
    assert not M.columns_are_cheap()
    np.testing.assert_allclose(M.apply(np.eye(N)[:, :3]), A[:, :3], atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_loose_answer_is_complete_all_the_same(dtype):
    """What is asked loosely is converged further: else nothing could be told."""
    A, _ = symmetric(decaying(600))
    found = vector_lanczos(request(Dense(A.astype(dtype)), 8, tol=1e-2))
    assert found.residuals.max() < 2e-5
    np.testing.assert_allclose(found.values, decaying()[:8], rtol=1e-4)


def test_one_pair_is_as_loose_as_it_is_asked():
    A, _ = symmetric(decaying(600))
    loose = vector_lanczos(request(Dense(A), 8, needed=1, tol=1e-2))
    assert loose.n_products < vector_lanczos(request(Dense(A), 8)).n_products / 2
    np.testing.assert_allclose(loose.values[0], 1.0, rtol=1e-3)


@pytest.mark.parametrize("n", [300, 600])
def test_a_small_sum_is_added_up_and_solved_alike(n):
    A, _ = symmetric(decaying(n))
    ring = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    M = Centered(Dense(A) + -0.1 * Sparse(ring.tocsr()))
    q = np.full((n, 1), n**-0.5)
    found = block_krylov(request(M, 5, avoid=q))
    expected = np.linalg.eigvalsh(M.to_dense())[::-1][:5]
    np.testing.assert_allclose(found.values, expected, atol=1e-9)
