"""One table of operators, one table of solvers: all against LAPACK and each other."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from graphfold import Graph, NeighborGraph
from graphfold.errors import GraphfoldError
from graphfold.graphs import laplacian
from graphfold.operators import (
    Centered,
    ChebyshevFunction,
    Dense,
    Diagonal,
    LowRank,
    Sparse,
    TiledKernel,
)
from graphfold.solvers import SOLVERS, choose_solver, top_eigenpairs
from tests.helpers import assert_eigenpairs, largest_angle

N, D = 150, 6


def points():
    return np.random.default_rng(7).standard_normal((N, 4))


def graph_laplacian():
    return laplacian(NeighborGraph(6).build(points())).operator


def spectrum(values):
    Q = np.linalg.qr(np.random.default_rng(8).standard_normal((N, N)))[0]
    values = np.concatenate([values, np.linspace(1, 0, N - len(values))])
    A = (Q * values) @ Q.T
    return Dense((A + A.T) / 2)


def block(X, Y):
    return rbf_kernel(X, Y, gamma=0.3)


OPERATORS = {
    "kernel": lambda: Dense(rbf_kernel(points(), gamma=0.3)),
    "kernel tiled": lambda: TiledKernel(block, points(), np.ones(N), strip=40),
    "low rank": lambda: LowRank(points()) + Diagonal(np.linspace(0, 0.1, N)),
    "indefinite": lambda: Dense(rbf_kernel(points())) - 50.0 * graph_laplacian(),
    "negative": lambda: Diagonal(np.full(N, -1.0)) - graph_laplacian(),
    "graph only": lambda: -graph_laplacian(),
    "graph kernel": lambda: ChebyshevFunction(
        graph_laplacian(), lambda t: np.exp(-2 * t)
    ),
    "centred": lambda: Centered(Dense(rbf_kernel(points())) - 2.0 * graph_laplacian()),
    "clustered": lambda: spectrum(3 + 1e-6 * np.arange(4)),
    "repeated": lambda: spectrum([3.0] * 4 + [2.0] * 4),
    "repeated through the cut": lambda: spectrum([3.0] * 2 + [2.0] * 9),
    "wide range": lambda: spectrum(10.0 ** np.arange(8, 0, -1)),
}


@pytest.fixture(params=OPERATORS.values(), ids=OPERATORS)
def operator(request):
    return request.param()


def skip_or_refuse(solver, M):
    """Shift-invert factorises a sparse matrix: any other is refused in words."""
    if solver == "shift-invert" and M.sparse() is None:
        with pytest.raises(GraphfoldError, match=r"shift-invert.*is sparse"):
            top_eigenpairs(M, 2, solver=solver)
        return True
    return False


@pytest.mark.parametrize("solver", SOLVERS)
def test_agrees_with_lapack(solver, operator):
    if skip_or_refuse(solver, operator):
        return
    found = top_eigenpairs(operator, D, solver=solver, tol=1e-9)
    assert found.converged, found.residuals
    assert found.solver == solver
    assert found.residuals.max() <= 1e-9
    assert_eigenpairs(found.values, found.vectors, operator.to_dense(), atol=2e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_takes_the_largest_not_the_largest_in_size(solver):
    M = Dense(rbf_kernel(points())) - 5.0 * graph_laplacian() * 10.0
    values, vectors = np.linalg.eigh(M.to_dense())
    assert abs(values[0]) > abs(values[-1])  # the trap is really there
    if skip_or_refuse(solver, M):
        return

    found = top_eigenpairs(M, 2, solver=solver, tol=1e-9)

    np.testing.assert_allclose(found.values, values[::-1][:2], rtol=1e-6)
    assert largest_angle(found.vectors, vectors[:, -2:]) < 1e-4


@pytest.mark.parametrize("solver", SOLVERS)
def test_avoids_what_it_is_told_to(solver):
    """The constant vector tops a graph's spectrum, and must not be in the answer."""
    q = np.full((N, 1), N**-0.5)
    M = Centered(-graph_laplacian())
    assert np.linalg.norm(M.apply(q)) < 1e-12
    if skip_or_refuse(solver, M):
        return
    found = top_eigenpairs(M, 3, solver=solver, avoid=q, tol=1e-9)
    assert np.abs(q.T @ found.vectors).max() < 1e-8
    H = np.eye(N) - q @ q.T
    shifted = H @ M.to_dense() @ H - 10 * q @ q.T
    assert_eigenpairs(found.values, found.vectors, shifted, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision(solver):
    K = Dense(rbf_kernel(points(), gamma=0.3).astype(np.float32))
    if skip_or_refuse(solver, K):
        return
    found = top_eigenpairs(K, 4, solver=solver)
    assert found.vectors.dtype == np.float32
    assert found.residuals.max() < 1e-5
    reference = np.linalg.eigh(K.matrix.astype(float))[1][:, -4:]
    assert largest_angle(found.vectors.astype(float), reference) < 1e-3


@pytest.mark.parametrize("solver", ["krylov", "chebyshev"])
@pytest.mark.parametrize("d", [1, 3, 40, 149, 150])
def test_any_number_of_components(solver, d):
    K = Dense(rbf_kernel(points(), gamma=0.3))
    found = top_eigenpairs(K, d, solver=solver, tol=1e-9)
    assert_eigenpairs(found.values, found.vectors, K.to_dense(), atol=1e-8)


@pytest.mark.parametrize("solver", ["krylov", "chebyshev", "lobpcg"])
def test_stopping_early_is_reported(solver):
    M = spectrum([3.0] * 2 + [2.0] * 9) - 0.5 * graph_laplacian()
    found = top_eigenpairs(M, 5, solver=solver, max_iter=1, tol=1e-12)
    assert not found.converged
    assert found.residuals.max() > 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_observer_sees_every_round_and_may_stop(solver):
    seen = []
    if skip_or_refuse(solver, spectrum([3.0] * 9)):
        return
    top_eigenpairs(spectrum([3.0] * 9), 5, solver=solver, observer=seen.append)
    assert seen
    assert seen[-1].residual < 1e-8
    if solver in ("krylov", "chebyshev"):
        stopped = top_eigenpairs(
            Dense(rbf_kernel(points(), gamma=5.0)),
            5,
            solver=solver,
            observer=lambda iteration: True,
        )
        assert stopped.n_iterations == 1


@pytest.mark.parametrize("solver", ["krylov", "chebyshev"])
def test_a_good_start_saves_products(solver):
    K = Dense(rbf_kernel(points(), gamma=2.0))
    cold = top_eigenpairs(K, 4, solver=solver, tol=1e-8)
    warm = top_eigenpairs(K, 4, solver=solver, tol=1e-8, start=cold.vectors)
    assert warm.n_products < cold.n_products


def test_same_start_same_bits():
    K = Dense(rbf_kernel(points(), gamma=2.0))
    one, two = (top_eigenpairs(K, 4, solver="krylov") for _ in range(2))
    assert (one.vectors == two.vectors).all()


def test_a_star_of_many_equal_eigenvalues_is_found_whole():
    """Disjoint triangles: one zero of the Laplacian for each, a block of 20 equals."""
    edges = [
        (3 * i + a, 3 * i + b) for i in range(20) for a, b in ((0, 1), (1, 2), (2, 0))
    ]
    L = laplacian(Graph(edges)).operator
    for solver in ("krylov", "chebyshev"):
        found = top_eigenpairs(-L, 20, solver=solver, tol=1e-10)
        np.testing.assert_allclose(found.values, 0, atol=1e-9)
        assert np.linalg.norm(found.vectors.T @ found.vectors - np.eye(20)) < 1e-8


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_identity_has_eigenvalue_one(solver):
    """LAPACK's subset driver finds no eigenvalue at all of the shifted identity."""
    q = np.full((200, 1), 200**-0.5)
    identity = Centered(Diagonal(np.ones(200)))
    found = top_eigenpairs(identity, 3, solver=solver, avoid=q, tol=1e-9)
    np.testing.assert_allclose(found.values, 1.0)
    assert np.linalg.norm(found.vectors.T @ found.vectors - np.eye(3)) < 1e-8


def test_a_zero_matrix_has_zero_eigenvalues():
    found = top_eigenpairs(Sparse(sp.csr_array((40, 40))), 3, solver="krylov")
    np.testing.assert_allclose(found.values, 0)
    assert found.converged


def test_auto_can_be_asked_why():
    assert choose_solver(80, 2).solver == "lapack"
    assert choose_solver(1000, 2).solver == "krylov"
    assert choose_solver(200, 30, kind="indefinite").solver == "lapack"
    assert choose_solver(600, 30, kind="indefinite").solver == "krylov"
    assert choose_solver(350, 2, kind="sparse").solver == "lapack"
    assert choose_solver(1000, 2, kind="sparse").solver == "krylov"
    assert choose_solver(5000, 10).solver == "krylov"
    assert choose_solver(5000, 4000).solver == "lapack"
    assert "5000" in choose_solver(5000, 10).reason
    assert choose_solver(5000, 10, "chebyshev").reason == "asked for"
    with pytest.raises(GraphfoldError, match="lobpcg"):
        choose_solver(20, 10, "lobpcg")
    with pytest.raises(GraphfoldError, match=r"solver must be one of .*got 'dense'"):
        choose_solver(20, 10, "dense")


@pytest.mark.parametrize("solver", ["krylov", "chebyshev"])
def test_single_precision_of_a_mostly_negative_operator(solver):
    """The answer is small next to M: residuals are measured against M itself."""
    L = laplacian(NeighborGraph(6).build(points()), dtype=np.float32).operator
    K = Dense(rbf_kernel(points(), gamma=0.3).astype(np.float32))
    M = Centered(K - 300.0 * L)
    q = np.full((N, 1), N**-0.5, dtype=np.float32)
    found = top_eigenpairs(M, 8, solver=solver, avoid=q)
    assert found.converged
    values = np.linalg.eigvalsh(M.to_dense().astype(float) - 1e3 * q @ q.T)
    np.testing.assert_allclose(found.values, values[::-1][:8], atol=1e-4 * -values[1])
    assert np.abs(found.vectors.T @ found.vectors - np.eye(8)).max() < 1e-4


@pytest.mark.parametrize("solver", ["krylov", "chebyshev"])
def test_only_what_is_needed_has_to_converge(solver):
    many = np.random.default_rng(7).standard_normal((600, 4))
    K = Dense(rbf_kernel(many, gamma=5.0))
    whole = top_eigenpairs(K, 8, solver=solver, tol=1e-9)
    first = top_eigenpairs(K, 8, solver=solver, tol=1e-9, needed=1)
    assert first.converged
    assert first.vectors.shape == (600, 8)
    assert first.n_products < whole.n_products
    assert first.values[0] == pytest.approx(whole.values[0])


@pytest.mark.parametrize("solver", SOLVERS)
def test_residuals_are_relative_to_the_matrix_not_to_the_answer(solver):
    """The top of -L is 0: LAPACK's residual was measured against that, as 1e-2."""
    M = -graph_laplacian()
    found = top_eigenpairs(M, 1, solver=solver)
    size = np.abs(np.linalg.eigvalsh(M.to_dense())).max()
    assert size / 4 <= found.size <= 4 * size
    assert found.residuals.max() < 1e-10


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("dtype", "size"),
    [(np.float64, s) for s in (1e-250, 1e-120, 1e120, 1e250)]
    + [(np.float32, s) for s in (1e-30, 1e25)],
)
def test_squares_neither_overflow_nor_vanish(solver, dtype, size):
    """At 1e-200 three solvers gave anything at all and said that it had converged."""
    K = Dense((rbf_kernel(points(), gamma=0.3) * size).astype(dtype))
    if skip_or_refuse(solver, K):
        return
    found = top_eigenpairs(K, 4, solver=solver)
    one = top_eigenpairs(Dense(K.matrix / dtype(size)), 4, solver=solver)
    assert found.converged
    np.testing.assert_allclose(found.values / dtype(size), one.values, rtol=1e-4)
    assert largest_angle(found.vectors.astype(float), one.vectors.astype(float)) < 1e-3
    assert found.next_value < found.values[-1]
