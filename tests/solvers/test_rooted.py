"""The bottom of T'T by the factors of T, against the singular vectors of T."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.manifold import LocallyLinearEmbedding

from graphfold import LocalNonlinearEmbedding, kernels
from graphfold.operators import LowRank, Sparse
from graphfold.operators.rooted import RootInverse, UnsoundFactorsError
from graphfold.solvers import filled, top_eigenpairs
from graphfold.solvers.filled import factors_pay, predicted_fill
from graphfold.solvers.rooted import inverse_of_root, root_of
from tests.helpers import largest_angle

DATA = {
    "Swiss roll": lambda n: make_swiss_roll(n, random_state=0)[0],
    "digits": lambda n: load_digits().data[:n],
}


def constant(n):
    return np.full((n, 1), n**-0.5)


def lle_root(name, n, k=12):
    return kernels.LocallyLinear(k).inverse_factor(DATA[name](n))


def bottom_of(T, d, skipped=1):
    """Squared singular values, rising, and vectors: none is squared before."""
    _, sizes, Vt = np.linalg.svd(T.toarray())
    kept = slice(skipped, skipped + d)
    return sizes[::-1][kept] ** 2, Vt[::-1][kept].T


def solved(T, d, **how):
    M = -LowRank(sp.csr_array(T.T))
    return top_eigenpairs(M, d, tol=1e-12, avoid=constant(T.shape[0]), **how)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("d", [2, 10])
@pytest.mark.parametrize("n", [150, 600])
def test_values_and_vectors_keep_their_digits(name, n, d):
    """Eigenvalues of 1e-9 of the largest, to 1e-9 of themselves."""
    T = lle_root(name, n)
    values, vectors = bottom_of(T, d)
    found = solved(T, d)
    assert found.solver == "shift-invert"
    assert found.converged
    np.testing.assert_allclose(-found.values, values, rtol=1e-8)
    assert np.degrees(largest_angle(found.vectors, vectors)) < 1e-5
    assert np.abs(found.vectors.T @ found.vectors - np.eye(d)).max() < 1e-12
    assert found.residuals.max() <= 1e-12


def test_the_space_of_scikit_learn():
    X = DATA["digits"](1000)
    ours = LocalNonlinearEmbedding(5, n_neighbors=12, order=1).fit(X)
    # by LAPACK: ARPACK of the lowest scikit-learn is 4e-4 away from it
    theirs = LocallyLinearEmbedding(
        n_neighbors=12, n_components=5, eigen_solver="dense"
    ).fit(X)
    assert ours.solver_ == "shift-invert"
    assert largest_angle(ours.embedding_, theirs.embedding_) < 1e-5
    assert ours.reconstruction_error_ == pytest.approx(theirs.reconstruction_error_)


def test_the_inverse_is_the_pseudo_inverse():
    T = lle_root("digits", 200)
    inverse = RootInverse(T, constant(200))
    dense = np.linalg.pinv((T.T @ T).toarray(), rcond=1e-12, hermitian=True)
    V = np.random.default_rng(0).standard_normal((200, 3))
    size = np.abs(dense).max()
    np.testing.assert_allclose(inverse.apply(V), dense @ V, atol=1e-9 * size)
    np.testing.assert_allclose(inverse.refined(V), dense @ V, atol=1e-9 * size)
    assert inverse.n_solved == 9


def test_a_neighbour_of_many_need_not_be_in_the_part_that_no_edge_leaves():
    """Of 200 digits, 21 are a part that the others refer to, not the other way."""
    T = lle_root("digits", 200)
    count, labels = sp.csgraph.connected_components(T, connection="strong")
    assert count == 2
    popular = labels[np.argmax(np.diff(sp.csc_array(T).indptr))]
    rows, columns = T.nonzero()
    assert (labels[columns[labels[rows] == popular]] != popular).any()
    assert inverse_of_root(-LowRank(sp.csr_array(T.T)), constant(200)) is not None


def test_a_root_without_null_vectors():
    T = sp.random(400, 400, density=0.01, random_state=0) + 2 * sp.eye_array(400)
    M = -LowRank(sp.csr_array(T.T))
    found = top_eigenpairs(M, 4)
    assert found.solver == "shift-invert"
    values, vectors = bottom_of(T, 4, skipped=0)
    np.testing.assert_allclose(-found.values, values, rtol=1e-9)
    assert largest_angle(found.vectors, vectors) < 1e-6


def test_copies_of_an_eigenvalue_are_all_found():
    """Four equal rings: each value eight times, but for the deflated zero."""
    i = np.arange(60)
    W = sp.csr_array(
        (np.full(120, 0.5), (np.r_[i, i], np.r_[i - 1, (i + 1) % 60] % 60))
    )
    T = sp.csr_array(1.1 * sp.eye_array(240) - sp.block_diag([W] * 4))
    found = top_eigenpairs(-LowRank(sp.csr_array(T.T)), 12, solver="shift-invert")
    values, vectors = bottom_of(T, 12, skipped=0)
    np.testing.assert_allclose(-found.values, values, rtol=1e-9)
    assert largest_angle(found.vectors, vectors) < 1e-6


def test_several_null_vectors_are_left_to_the_shift():
    """Two parts: constants on each cost nothing, and T is singular beyond the pin."""
    one = lle_root("digits", 150)
    T = sp.csr_array(sp.block_diag([one, one]))
    M = -LowRank(sp.csr_array(T.T))
    assert inverse_of_root(M, constant(300)) is None
    with pytest.raises(UnsoundFactorsError):
        RootInverse(T, constant(300))
    found = solved(T, 3)
    assert found.converged
    assert -found.values[0] == pytest.approx(0, abs=1e-12)
    values, _ = bottom_of(T, 3)
    np.testing.assert_allclose(-found.values, values, atol=1e-11)


def test_a_vector_to_avoid_that_is_not_null_is_left_to_the_shift():
    T = lle_root("digits", 150)
    other = np.random.default_rng(0).standard_normal((150, 1))
    M = -LowRank(sp.csr_array(T.T))
    assert inverse_of_root(M, other / np.linalg.norm(other)) is None


def test_a_pin_that_says_little_is_moved():
    """A row that nobody has for a neighbour has no part in the left null vector."""
    X = DATA["digits"](200).copy()
    X[7] *= 20
    T = kernels.LocallyLinear(12).inverse_factor(X)
    inverse = RootInverse(T, constant(200))
    unseen = np.flatnonzero(np.diff(sp.csc_array(T).indptr) == 1)
    assert 7 in unseen
    assert inverse._place not in unseen
    inverse._pin(7)
    assert inverse._place not in unseen
    inverse._check()


def test_roots_are_seen_through_factors_and_not_elsewhere():
    T = lle_root("digits", 150)
    A = LowRank(sp.csr_array(T.T))
    np.testing.assert_allclose(
        root_of(-2.0 * (3.0 * A)).toarray(), 6**0.5 * T.toarray()
    )
    assert root_of(A) is None
    assert root_of(-A + -A) is None
    assert root_of(-LowRank(np.eye(4))) is None
    assert root_of(-LowRank(sp.csr_array(np.ones((4, 2))))) is None
    assert root_of(-LowRank(sp.csr_array(T.T), np.ones(150))) is None


def test_rounds_are_limited_as_asked():
    found = solved(lle_root("digits", 700), 3, max_iter=2)
    assert found.n_iterations == 2
    assert not found.converged


def grid(side):
    step = sp.diags_array([np.ones(side - 1)], offsets=[1], shape=(side, side))
    line, one = step + step.T, sp.eye_array(side)
    return sp.csr_array(sp.kron(line, one) + sp.kron(one, line))


def test_the_look_tells_a_surface_from_what_fills_up():
    rng = np.random.default_rng(0)
    n = 90 * 90
    ends = rng.integers(0, n, (2, 2 * n))
    random = sp.csr_array((np.ones(2 * n), ends), shape=(n, n))
    thin, full = (predicted_fill(A + sp.eye_array(n)) for A in (grid(90), random))
    # measured: 0.33 and 8.4 million
    assert 2e5 < thin < 1.5e6
    assert full > 10 * thin
    assert factors_pay(-Sparse(4 * sp.eye_array(n) - grid(90)))
    assert not factors_pay(-Sparse(random + random.T))


def test_a_small_matrix_is_looked_at_itself(monkeypatch):
    assert predicted_fill(sp.eye_array(50)) == 100
    monkeypatch.setattr(filled, "FEW", 100)
    assert not factors_pay(-LowRank(np.eye(4)))
