"""An answer that has not converged is never handed out as if it were one."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from graphfold import GraphKernelPCA
from graphfold.errors import ConvergenceError
from graphfold.operators import Dense
from graphfold.solvers import choose, top_eigenpairs
from graphfold.solvers.krylov import block_krylov


def matrix(n, rng, dtype=np.float64):
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = (Q * np.linspace(1, 0, n) ** 4) @ Q.T
    return ((A + A.T) / 2).astype(dtype)


def gives_up(request):
    """A solver that ends with noise and says so."""
    block = request.random_block(request.d)
    pairs = block_krylov(replace(request, max_iter=1, observer=None))
    return replace(
        pairs, vectors=block, residuals=np.full(request.d, 0.8), converged=False
    )


def gives_up_in_single_precision(request):
    if request.M.dtype == np.float32:
        return gives_up(request)
    return block_krylov(request)


def assert_top(pairs, A):
    values = np.linalg.eigvalsh(A.astype(float))[::-1][: len(pairs.values)]
    np.testing.assert_allclose(pairs.values, values, atol=1e-5)
    residual = A.astype(float) @ pairs.vectors - pairs.vectors * pairs.values
    assert np.linalg.norm(residual, axis=0).max() < 1e-4
    assert pairs.converged


def test_double_precision_is_tried_where_single_fails(rng, monkeypatch):
    A = matrix(1200, rng, np.float32)
    monkeypatch.setitem(choose._SOLVERS, "krylov", gives_up_in_single_precision)
    pairs = top_eigenpairs(Dense(A), 3)
    assert_top(pairs, A)
    assert pairs.vectors.dtype == np.float32
    assert "double precision" in pairs.reason


def test_another_solver_is_tried_where_krylov_fails(rng, monkeypatch):
    A = matrix(1200, rng)
    monkeypatch.setitem(choose._SOLVERS, "krylov", gives_up)
    pairs = top_eigenpairs(Dense(A), 3)
    assert_top(pairs, A)
    assert pairs.solver == "chebyshev"
    assert "krylov did not converge" in pairs.reason


def test_lapack_is_tried_last(rng, monkeypatch):
    A = matrix(1100, rng)
    monkeypatch.setitem(choose._SOLVERS, "krylov", gives_up)
    monkeypatch.setattr(choose, "chebyshev_filtered", gives_up)
    pairs = top_eigenpairs(Dense(A), 3)
    assert_top(pairs, A)
    assert pairs.solver == "lapack"


@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_a_residual_above_a_hundredth_is_an_error(solver, rng, monkeypatch):
    monkeypatch.setitem(choose._SOLVERS, "krylov", gives_up)
    monkeypatch.setattr(choose, "chebyshev_filtered", gives_up)
    monkeypatch.setattr(choose, "LARGEST_DENSE", 0)
    with pytest.raises(ConvergenceError, match=r"relative residual of 8\.0e-01"):
        top_eigenpairs(Dense(matrix(1100, rng)), 3, solver=solver)


@pytest.mark.parametrize("n", [30, 1100])
@pytest.mark.parametrize("max_iter", [None, 5])
def test_a_matrix_with_nan_is_refused(n, max_iter, rng):
    A = matrix(n, rng)
    A[3, 4] = A[4, 3] = np.nan
    with pytest.raises(ConvergenceError, match="entries that are not finite"):
        top_eigenpairs(Dense(A, bounds=(0.0, 1.0)), 2, max_iter=max_iter)


def test_limited_rounds_end_with_a_warning_as_asked(rng):
    X = rng.standard_normal((1200, 30))
    with pytest.warns(ConvergenceWarning, match="relative residual"):
        model = GraphKernelPCA(5, kernel="rbf", max_iter=1).fit(X)
    assert not model.converged_
    assert model.residuals_.max() > 1e-3


def test_a_stopped_solver_returns_what_it_has(rng):
    stopped = top_eigenpairs(
        Dense(matrix(1100, rng)), 3, observer=lambda iteration: True
    )
    assert not stopped.converged
    assert stopped.n_iterations == 1


def test_single_precision_fits_of_texts_do_not_warn():
    from tests.solvers.problems import texts

    words, citations = texts(1100, 400, np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = GraphKernelPCA(64, kernel="linear", graph=citations).fit(
            words.astype(np.float32)
        )
    assert model.converged_ and model.residuals_.max() <= 1e-5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [-1.0, 1.0])
def test_vectors_of_a_multiple_of_the_identity_are_orthonormal(value, dtype):
    """What M leaves of a block is rounding errors there, which are no directions."""
    for seed in range(5):
        M = Dense(value * np.eye(300, dtype=dtype))
        found = top_eigenpairs(M, 2, rng=np.random.default_rng(seed))
        np.testing.assert_allclose(found.values, value, rtol=1e-5)
        np.testing.assert_allclose(
            found.vectors.T @ found.vectors, np.eye(2), atol=1e-4
        )


def test_vectors_that_are_not_orthonormal_have_not_converged(monkeypatch, rng):
    def alike(request):
        V = np.ones((request.M.n, request.d)) / request.M.n**0.5
        pairs = block_krylov(request)
        return replace(pairs, vectors=V, residuals=np.zeros(request.d))

    monkeypatch.setitem(choose._SOLVERS, "krylov", alike)
    A = matrix(300, rng)
    with pytest.raises(ConvergenceError, match="relative residual"):
        top_eigenpairs(Dense(A), 2, solver="krylov")
    found = top_eigenpairs(Dense(A), 2)
    assert found.converged and found.solver != "krylov"
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(A)[::-1][:2])
