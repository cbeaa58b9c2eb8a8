"""One contract for every operator, against a dense matrix made without it."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from graphfold import kernels
from graphfold.operators import (
    Centered,
    ChebyshevFunction,
    Dense,
    Diagonal,
    Factorized,
    Lifted,
    LowRank,
    PseudoInverse,
    Reordered,
    Scaled,
    Sparse,
    SpectralFunction,
    Sum,
    TiledKernel,
    fused,
    with_neighbours_near,
)
from graphfold.operators.inverse import inverse_polynomial

N = 57


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda M: pickle.loads(pickle.dumps(M))]
)
def test_stored_operators_are_copied_and_pickled(copied):
    M = Centered(Sum([Dense(symmetric()), Sparse(sp.csr_array(sparse_symmetric()))]))
    V = np.ones((N, 2)).cumsum(axis=0)
    assert_allclose(copied(M).apply(V), M.apply(V))
    assert_allclose(copied(M).apply(V[:, 0]), M.apply(V[:, 0]))


def symmetric(seed=1):
    A = np.random.default_rng(seed).standard_normal((N, N))
    return (A + A.T) / 2


def sparse_symmetric(seed=2):
    A = symmetric(seed)
    A[np.abs(A) < 1.0] = 0.0
    return A


def factor():
    return np.random.default_rng(3).standard_normal((N, 4))


def rows():
    return np.random.default_rng(4).standard_normal((N, 3))


def gaussian(X):
    return np.exp(-0.5 * cdist(X, X, "sqeuclidean"))


def tiled(strip):
    kernel = kernels.Gaussian(0.5)
    return TiledKernel(kernel.block, rows(), kernel.diagonal(rows()), strip=strip)


def eigenbasis(n_vectors, rest):
    values, vectors = np.linalg.eigh(symmetric())
    few = slice(None, n_vectors)
    operator = SpectralFunction(vectors[:, few], np.tanh(values[few]), rest=rest)
    dense = (vectors[:, few] * np.tanh(values[few])) @ vectors[:, few].T
    return operator, dense + rest * (np.eye(N) - vectors[:, few] @ vectors[:, few].T)


def chebyshev(function):
    operator = ChebyshevFunction(Dense(symmetric() / 10), function, tol=1e-13)
    values, vectors = np.linalg.eigh(symmetric() / 10)
    return operator, (vectors * function(values)) @ vectors.T


def membership():
    """Rows in eight groups, some in none, each with a weight of its own."""
    rng = np.random.default_rng(5)
    P = np.zeros((N, 8))
    kept = rng.random(N) < 0.8
    P[np.arange(N)[kept], rng.integers(0, 8, N)[kept]] = rng.random(N)[kept] + 0.5
    return P


def added_up(*, block):
    """A weighted sum of stored matrices and a sparse one, added up beforehand."""
    parts = np.array([symmetric(seed) for seed in (6, 7, 8)])
    stored = parts if block else [part.copy() for part in parts]
    terms = [w * Dense(A) for w, A in zip((2.0, -0.5, 3.0), stored, strict=True)]
    total = 2.0 * parts[0] - 0.5 * parts[1] + 3.0 * parts[2] + sparse_symmetric()
    return fused(Sum([*terms, Sparse(sparse_symmetric())])), total


def ring_laplacian():
    """Of a circle with chords: sparse, and constants are all its null space."""
    A = np.zeros((N, N))
    for step in (1, 5):
        A[np.arange(N), (np.arange(N) + step) % N] = 1.0
    A += A.T
    return np.diag(A.sum(axis=1)) - A


def factorized():
    A = ring_laplacian() + np.eye(N)
    return Factorized(sp.csr_array(A)), np.linalg.inv(A)


def pseudo_inverse(*, by_factor):
    """A^+ from the null vector, four more eigenvectors and either kind of rest."""
    A = ring_laplacian()
    values, vectors = np.linalg.eigh(A)
    low, U = np.append(0.0, values[1:5]), vectors[:, :5]
    inverses = np.append(0.0, 1 / values[1:5])
    if by_factor:
        rest = Factorized(sp.csr_array(A + 1e-13 * np.eye(N)))
    else:
        top = 1.05 * values[-1]
        rest = inverse_polynomial(Sparse(sp.csr_array(A)), low, U, top, 1e-13)
    return PseudoInverse(U, inverses, rest), np.linalg.pinv(A, hermitian=True)


def chebyshev_inside():
    """The operator's own bounds are infinite; the caller knows better."""
    A = symmetric() / 10
    values, vectors = np.linalg.eigh(A)
    unbounded = Dense(A, bounds=(-np.inf, np.inf))
    ends = (values[0], values[-1])
    operator = ChebyshevFunction(unbounded, np.exp, tol=1e-13, interval=ends)
    return operator, (vectors * np.exp(values)) @ vectors.T


WEIGHTS = np.array([1.0, -2.0, 0.5, 0.0])
H = np.eye(N) - 1.0 / N
MAKERS = {
    "dense": lambda: (Dense(symmetric()), symmetric()),
    "lifted": lambda: (
        Lifted(membership(), Dense(symmetric()[:8, :8])),
        membership() @ symmetric()[:8, :8] @ membership().T,
    ),
    "fused": lambda: added_up(block=False),
    "fused block": lambda: added_up(block=True),
    "sparse": lambda: (Sparse(sp.coo_matrix(sparse_symmetric())), sparse_symmetric()),
    "low-rank": lambda: (LowRank(factor()), factor() @ factor().T),
    "low-rank weighted": lambda: (
        LowRank(factor(), WEIGHTS),
        factor() @ np.diag(WEIGHTS) @ factor().T,
    ),
    "low-rank sparse": lambda: (
        LowRank(sp.csc_array(factor().clip(0))),
        factor().clip(0) @ factor().clip(0).T,
    ),
    "low-rank sparse weighted": lambda: (
        LowRank(sp.csr_matrix(factor().clip(0)), WEIGHTS),
        factor().clip(0) @ np.diag(WEIGHTS) @ factor().clip(0).T,
    ),
    "diagonal": lambda: (Diagonal(np.arange(N) - 5.0), np.diag(np.arange(N) - 5.0)),
    "sum": lambda: (
        Sum([Dense(symmetric()), Sparse(sparse_symmetric()), LowRank(factor())]),
        symmetric() + sparse_symmetric() + factor() @ factor().T,
    ),
    "scaled": lambda: (Scaled(-2.5, Dense(symmetric())), -2.5 * symmetric()),
    "scaled by zero": lambda: (Scaled(0, Dense(symmetric())), np.zeros((N, N))),
    "difference": lambda: (
        Dense(symmetric()) - 3 * Sparse(sparse_symmetric()),
        symmetric() - 3 * sparse_symmetric(),
    ),
    "centred": lambda: (Centered(Dense(symmetric())), H @ symmetric() @ H),
    "centred tiled": lambda: (Centered(tiled(16)), H @ gaussian(rows()) @ H),
    "tiled": lambda: (tiled(16), gaussian(rows())),
    "tiled in one strip": lambda: (tiled(1000), gaussian(rows())),
    "tiled row by row": lambda: (tiled(1), gaussian(rows())),
    "reordered": lambda: (
        Reordered(*with_neighbours_near(Sparse(sparse_symmetric()))),
        sparse_symmetric(),
    ),
    "eigenbasis": lambda: eigenbasis(N, 0.0),
    "a few eigenvectors": lambda: eigenbasis(5, 0.3),
    "polynomial exp": lambda: chebyshev(np.exp),
    "polynomial constant": lambda: chebyshev(np.ones_like),
    "polynomial cube": lambda: chebyshev(lambda t: t**3),
    "polynomial on a known interval": chebyshev_inside,
    "factorised": factorized,
    "pseudo-inverse by factors": lambda: pseudo_inverse(by_factor=True),
    "pseudo-inverse by a polynomial": lambda: pseudo_inverse(by_factor=False),
}


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def made(request):
    return request.param()


def test_products_agree_with_the_dense_matrix(made, rng):
    operator, dense = made
    V = rng.standard_normal((N, 4))
    before = V.copy()
    assert_allclose(operator.apply(V), dense @ V, atol=1e-10)
    assert_allclose(operator.apply(V[:, :1]), dense @ V[:, :1], atol=1e-10)
    assert_allclose(operator.apply(np.asfortranarray(V)), dense @ V, atol=1e-10)
    assert (before == V).all()


def test_diagonal_trace_and_energies(made, rng):
    operator, dense = made
    V = rng.standard_normal((N, 3))
    assert_allclose(operator.diagonal(), np.diag(dense), atol=1e-10)
    if isinstance(operator, PseudoInverse):
        assert operator.trace() == pytest.approx(np.trace(dense), rel=0.1)
    else:
        assert operator.trace() == pytest.approx(np.trace(dense), abs=1e-9)
    assert_allclose(operator.energies(V), np.diag(V.T @ dense @ V), atol=1e-9)


def test_to_dense_is_the_matrix_and_symmetric(made):
    operator, dense = made
    assert_allclose(operator.to_dense(), dense, atol=1e-10)
    assert (operator.to_dense() == operator.to_dense().T).all()


def test_bounds_hold_the_whole_spectrum(made):
    operator, dense = made
    lower, upper = operator.bounds()
    values = np.linalg.eigvalsh(dense)
    assert lower <= values[0] + 1e-9
    assert upper >= values[-1] - 1e-9


def test_says_what_it_is_and_costs(made):
    operator, _ = made
    assert operator.n == N
    assert operator.work() > 0
    assert f"{N} x {N}" in repr(operator)


def test_a_single_vector_is_a_block_of_one(made, rng):
    operator, dense = made
    v = rng.standard_normal(N)
    assert_allclose(operator.apply(v).ravel(), dense @ v, atol=1e-10)


def factor_rows():
    """A sparse factor with a few entries in each row."""
    Z = np.random.default_rng(9).standard_normal((N, 30))
    Z[np.abs(Z) < 1.5] = 0.0
    return Z


L = sp.csr_array(ring_laplacian())
SPARSE = {
    "sparse": lambda: (Sparse(sparse_symmetric()), sparse_symmetric()),
    "diagonal": lambda: (Diagonal(np.arange(N) - 5.0), np.diag(np.arange(N) - 5.0)),
    "low-rank sparse": lambda: (
        LowRank(sp.csr_array(factor_rows())),
        factor_rows() @ factor_rows().T,
    ),
    "scaled": lambda: (-2.5 * Sparse(L), -2.5 * ring_laplacian()),
    "sum": lambda: (
        Sparse(L) + 3.0 * Diagonal(np.arange(N) * 1.0),
        ring_laplacian() + np.diag(3.0 * np.arange(N)),
    ),
    "sum of factor and graph": lambda: (
        LowRank(sp.csr_array(factor_rows())) - Sparse(L),
        factor_rows() @ factor_rows().T - ring_laplacian(),
    ),
}


@pytest.mark.parametrize("make", SPARSE.values(), ids=SPARSE)
def test_sparse_is_the_matrix(make):
    operator, dense = make()
    matrix = operator.sparse()
    assert sp.issparse(matrix)
    assert_allclose(matrix.toarray(), dense, atol=1e-12)
    assert_allclose(matrix.toarray(), operator.entries(), atol=1e-12)


@pytest.mark.parametrize("shift", [0.0, 2.5])
def test_sparse_of_a_centred_operator_is_right_but_for_constants(shift):
    """Where M takes constants to constants: on all other vectors H M H is M."""
    M = Sparse(L) + Diagonal(np.full(N, shift))
    matrix = Centered(M).sparse().toarray()
    assert_allclose(H @ matrix @ H, Centered(M).entries(), atol=1e-12)
    assert_allclose(matrix @ H, H @ matrix, atol=1e-12)


NOT_SPARSE = {
    "dense": lambda: Dense(symmetric()),
    "sum with dense": lambda: Sparse(L) + Dense(symmetric()),
    "low-rank dense": lambda: LowRank(factor()),
    "low-rank weighted": lambda: LowRank(sp.csr_array(factor()), WEIGHTS),
    "centred, constants turned": lambda: Centered(Sparse(sparse_symmetric())),
    "centred dense": lambda: Centered(Dense(symmetric())),
    "tiled": lambda: tiled(16),
    "eigenbasis": lambda: eigenbasis(N, 0.0)[0],
    "polynomial": lambda: chebyshev(np.exp)[0],
    "factorised": lambda: factorized()[0],
    "pseudo-inverse": lambda: pseudo_inverse(by_factor=True)[0],
}


@pytest.mark.parametrize("make", NOT_SPARSE.values(), ids=NOT_SPARSE)
def test_what_is_not_sparse_says_so(make):
    assert make().sparse() is None


def test_a_product_of_sparse_factors_that_fills_up_is_not_formed(monkeypatch):
    Z = sp.csr_array(np.ones((N, 2)))
    monkeypatch.setattr("graphfold.operators.stored.MOST_ENTRIES_PER_ROW", 2 * N - 1)
    assert LowRank(Z).sparse() is None
    monkeypatch.setattr("graphfold.operators.stored.MOST_ENTRIES_PER_ROW", 2 * N)
    assert_allclose(LowRank(Z).sparse().toarray(), 2.0)


def test_a_pseudo_inverse_asks_nothing_of_its_rest_inside_the_known_space():
    operator, _ = pseudo_inverse(by_factor=True)
    before = operator.rest.n_solved
    operator.apply(operator.vectors @ np.random.default_rng(0).random((5, 3)))
    assert operator.rest.n_solved == before
    operator.apply(np.eye(N)[:, :2])
    assert operator.rest.n_solved == before + 2


def test_a_polynomial_needs_a_finite_interval():
    with pytest.raises(ValueError, match="finite"):
        ChebyshevFunction(Dense(np.eye(3), bounds=(0.0, np.inf)), np.exp)


SINGLE = {
    "dense": lambda: Dense(symmetric().astype(np.float32)),
    "sparse": lambda: Sparse(sp.csr_array(sparse_symmetric(), dtype=np.float32)),
    "low-rank": lambda: LowRank(factor().astype(np.float32)),
    "scaled": lambda: np.float64(2.0) * Dense(symmetric().astype(np.float32)),
    "centred": lambda: Centered(Dense(symmetric().astype(np.float32))),
    "reordered": lambda: Reordered(
        *with_neighbours_near(
            Sparse(sp.csr_array(sparse_symmetric(), dtype=np.float32))
        )
    ),
    "polynomial": lambda: ChebyshevFunction(
        Dense((symmetric() / 10).astype(np.float32)), np.exp, tol=1e-6
    ),
}


@pytest.mark.parametrize("make", SINGLE.values(), ids=SINGLE)
def test_single_precision_stays_single(make, rng):
    operator = make()
    V = rng.standard_normal((N, 2)).astype(np.float32)
    assert operator.dtype == np.float32
    assert operator.apply(V).dtype == np.float32
    assert operator.diagonal().dtype == np.float32


def test_a_sum_of_different_sizes_is_refused():
    with pytest.raises(ValueError, match="one size"):
        Dense(np.eye(3)) + Dense(np.eye(4))


def test_sums_flatten_and_print_as_a_formula():
    K, L = Dense(np.eye(3), name="K"), Dense(np.eye(3), name="L")
    total = (K + -2.0 * L) + K
    assert len(total.terms) == 3
    assert "K + -2 * L + K" in repr(total)
