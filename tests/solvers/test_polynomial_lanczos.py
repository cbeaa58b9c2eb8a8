"""Lanczos on a polynomial of a sparse matrix: against LAPACK, and what it declines."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfold import NeighborGraph
from graphfold.graphs import laplacian
from graphfold.operators import Diagonal, Sparse
from graphfold.solvers import choose_solver, top_eigenpairs
from graphfold.solvers.choose import LAPACK_ROWS_FOR_BLOCKS
from graphfold.solvers.polynomial_lanczos import (
    LARGEST_LIFT,
    Polynomial,
    is_worth_a_try,
    polynomial_lanczos,
)
from tests.solvers.problems import request


def smooth_part(n=600, kind="normalized", dtype=np.float64, seed=0):
    """-L of the ten nearest of random points, and its trivial eigenvector."""
    X = np.random.default_rng(seed).standard_normal((n, 5))
    L = laplacian(NeighborGraph(10).build(X), kind, np.dtype(dtype))
    trivial = np.sqrt(L.degrees) if kind == "normalized" else np.ones(n)
    trivial = (trivial / np.linalg.norm(trivial))[:, None].astype(dtype)
    return -L.operator, trivial


def largest_outside(M, avoid, d):
    """LAPACK's largest eigenpairs of M in the complement of some eigenvectors."""
    A = M.to_dense().astype(np.float64)
    A -= 10 * np.abs(A).sum(axis=1).max() * (avoid @ avoid.T)
    values, V = scipy.linalg.eigh(A)
    return values[::-1][:d], V[:, ::-1][:, :d]


@pytest.mark.parametrize("d", [1, 2, 10, 30])
@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_vectors_are_those_of_lapack(kind, d):
    M, trivial = smooth_part(kind=kind)
    found = polynomial_lanczos(request(M, d, avoid=trivial))
    values, V = largest_outside(M, trivial, d)
    assert found.converged
    np.testing.assert_allclose(found.values, values, atol=1e-9 * found.size)
    assert scipy.linalg.subspace_angles(found.vectors, V).max() < 1e-6
    rest = M.apply(found.vectors) - found.vectors * found.values
    true = np.linalg.norm(rest, axis=0) / found.size
    assert true.max() <= 1e-10
    np.testing.assert_allclose(found.residuals, true, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7, 1e-12])
def test_residuals_come_below_what_is_asked(tol):
    M, trivial = smooth_part()
    found = polynomial_lanczos(request(M, 5, avoid=trivial, tol=tol))
    rest = M.apply(found.vectors) - found.vectors * found.values
    assert np.linalg.norm(rest, axis=0).max() <= tol * found.size


@pytest.mark.parametrize("d", [2, 10])
def test_single_precision(d):
    M, trivial = smooth_part(dtype=np.float32)
    found = polynomial_lanczos(request(M, d, avoid=trivial))
    values, V = largest_outside(M, trivial, d)
    assert found.vectors.dtype == found.values.dtype == np.float32
    np.testing.assert_allclose(found.values, values, atol=1e-5)
    assert scipy.linalg.subspace_angles(found.vectors.astype(float), V).max() < 1e-2


def ring(n):
    """Minus the Laplacian of a ring: eigenvalues come in pairs."""
    ones = np.ones(n)
    A = sp.diags_array(
        [ones[1:], ones[1:], [1.0], [1.0]], offsets=[1, -1, n - 1, 1 - n]
    )
    return Sparse(sp.csr_array(A - 2 * sp.eye_array(n)))


def copies(count, n=300):
    """Several equal parts: every eigenvalue has that many eigenvectors."""
    M, _ = smooth_part(n)
    return Sparse(sp.block_diag([M.sparse()] * count, format="csr"))


@pytest.mark.parametrize("M", [ring(600), copies(2), copies(3)], ids=str)
@pytest.mark.parametrize("d", [2, 4])
def test_of_several_eigenvectors_of_one_value_it_never_finds_some(M, d):
    """Rounding may bring up all of them; else they are left to others."""
    found = polynomial_lanczos(request(M, d))
    values = scipy.linalg.eigh(M.to_dense(), eigvals_only=True)[::-1][:d]
    if found is not None:
        np.testing.assert_allclose(found.values, values, atol=1e-9 * found.size)


@pytest.mark.parametrize("M", [ring(600), ring(1500), copies(2), copies(5)], ids=str)
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_others_find_them_all(M, d):
    found = top_eigenpairs(M, d)
    values = scipy.linalg.eigh(M.to_dense(), eigvals_only=True)[::-1][:d]
    np.testing.assert_allclose(found.values, values, atol=1e-9 * found.size)
    assert np.abs(found.vectors.T @ found.vectors - np.eye(d)).max() < 1e-8


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**20), n=st.integers(320, 700), d=st.integers(1, 12))
def test_no_eigenvector_is_missed(seed, n, d):
    """Random sparse graphs, many of them in parts or with equal leaves."""
    rng = np.random.default_rng(seed)
    ends, weights = rng.integers(n, size=(2, int(2.5 * n))), rng.random(int(2.5 * n))
    A = sp.csr_array((weights, tuple(ends)), shape=(n, n))
    A = sp.csr_array(A + A.T)
    degrees = np.asarray(A.sum(axis=1)).ravel()
    M = Sparse(sp.csr_array(A - sp.diags_array(degrees)))
    found = top_eigenpairs(M, d)
    values = scipy.linalg.eigh(M.to_dense(), eigvals_only=True)[::-1][:d]
    np.testing.assert_allclose(found.values, values, atol=1e-8 * found.size)


def test_a_diagonal_matrix_with_one_eigenvalue_far_below():
    values = np.append(np.linspace(-1, 0, 799), -1e6)
    found = top_eigenpairs(Diagonal(values), 3)
    np.testing.assert_allclose(found.values, np.sort(values)[::-1][:3], atol=1e-6)


def test_the_polynomial_keeps_the_order_above_the_cut_and_is_small_below():
    values = np.linspace(-2, 0, 401)
    P = Polynomial(Diagonal(values), (-2.0, -0.3, 0.0), np.empty((401, 0)))
    along = P.apply(np.ones(401))
    wanted = values >= -0.3
    assert (np.diff(along[wanted]) > 0).all()
    assert np.abs(along[~wanted]).max() <= along[wanted].min() * (1 + 1e-12)
    assert along[-1] == pytest.approx(1.0)
    assert 1 / along[wanted].min() <= LARGEST_LIFT[8] * 1.01
    np.testing.assert_allclose(P.argument(along[wanted]), values[wanted], atol=1e-8)
    assert P.argument(np.array([-1.0]))[0] == pytest.approx(-0.3)


@pytest.mark.parametrize("place", [0.001, 0.05, 0.2, 0.29])
def test_the_residual_that_is_allowed_is_enough_for_any_vector(place):
    """Of a vector with a small part along each other eigenvector below, by turns."""
    values = np.append(np.linspace(-2, -0.3 + place, 800), [-0.001, 0.0])
    P = Polynomial(Diagonal(values), (-2.0, -0.3, 0.0), np.empty((802, 0)))
    along = P.apply(np.ones(802))
    asked = request(Diagonal(values), 3, tol=1e-7)
    allowed = P.allowed(asked, np.sort(along)[::-1])
    # the third of 802 values: the rounding of others is a part along any of them
    for other in range(799):
        part = allowed / max(abs(along[799] - along[other]), 1e-300)
        assert part * (values[799] - values[other]) <= 1e-7 * P.size


def test_the_polynomial_is_the_chebyshev_polynomial_of_the_matrix():
    M, trivial = smooth_part(150)
    P = Polynomial(M, (-1.5, -0.4, -0.1), trivial)
    values, V = scipy.linalg.eigh(M.to_dense())
    mapped = np.polynomial.Chebyshev.basis(P.degree)((values + 0.95) / 0.55)
    mapped /= np.polynomial.Chebyshev.basis(P.degree)((-0.1 + 0.95) / 0.55)
    expected = (V * mapped) @ V.T
    expected -= mapped[-1] * trivial @ trivial.T
    np.testing.assert_allclose(P.apply(np.eye(150)), expected, atol=1e-11)


@pytest.mark.parametrize("n", [600, 1200])
def test_of_one_pair_a_second_eigenvector_is_seen_as_well(n):
    """The gap to the next value is what the report of the axes says."""
    values = np.append([0.02, 0.02], np.linspace(-1, 0, n - 2))
    found = top_eigenpairs(Diagonal(values), 1)
    assert found.values[0] == pytest.approx(0.02)
    assert found.next_value == pytest.approx(0.02)


@pytest.mark.parametrize("seed", range(6))
def test_a_loose_answer_has_the_eigenvectors_all_the_same(seed):
    values = np.append(9.0, -0.1 * np.linspace(0, 1, 449) ** 0.8)
    rng = np.random.default_rng(seed)
    found = top_eigenpairs(Diagonal(values), 4, tol=1e-2, rng=rng)
    angles = scipy.linalg.subspace_angles(found.vectors, np.eye(450)[:, :4])
    assert angles.max() < 1e-2


@pytest.mark.parametrize(("dtype", "top"), [(np.float32, 9.0), (np.float64, 1e7)])
def test_a_value_far_above_the_others_is_left_to_others(dtype, top):
    """One product would lift it so far that of the others only rounding is left."""
    values = np.append([top, top * 0.97], -0.1 * np.linspace(0, 1, 398)).astype(dtype)
    assert polynomial_lanczos(request(Diagonal(values), 3, tol=1e-3)) is None


def test_a_matrix_with_many_entries_is_left_to_lapack():
    rng = np.random.default_rng(0)
    A = rng.random((400, 400))
    M = Sparse(sp.csr_array(A + A.T))
    assert not is_worth_a_try(M, 2)
    assert is_worth_a_try(smooth_part(400)[0], 2)
    assert top_eigenpairs(M, 2).solver == "lapack"


def test_a_stop_is_obeyed_where_residuals_are_not_what_was_asked():
    M = Sparse(sp.csr_array(sp.diags_array(np.append(np.linspace(-1, 0, 599), -1e7))))
    rounds = []
    found = top_eigenpairs(M, 1, observer=lambda round: rounds.append(round) or True)
    assert len(rounds) == 1 and found.vectors.shape == (600, 1)


def test_a_stop_is_obeyed_and_few_rounds_are_no_answer():
    M, trivial = smooth_part()
    rounds = []
    found = top_eigenpairs(
        M, 20, avoid=trivial, observer=lambda round: rounds.append(round) or True
    )
    assert len(rounds) == 1 and not found.converged
    found = top_eigenpairs(M, 20, avoid=trivial, max_iter=1)
    assert not found.converged and found.vectors.shape == (M.n, 20)


def test_equal_values_of_a_small_matrix_go_to_lapack():
    n = 600
    assert choose_solver(n, 4, kind="sparse").solver == "krylov"
    found = top_eigenpairs(ring(n), 4)
    assert found.solver == "lapack" and str(LAPACK_ROWS_FOR_BLOCKS) in found.reason


def test_entries_that_are_no_numbers_are_left_to_others():
    M, _ = smooth_part()
    matrix = M.sparse().copy()
    matrix.data[7] = np.nan
    assert polynomial_lanczos(request(Sparse(matrix, bounds=(-2, 0)), 2)) is None
