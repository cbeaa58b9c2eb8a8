"""Both robust problems against trusted solvers, and what makes ours fast."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from graphfold import Graph, NeighborGraph
from graphfold.graphs import laplacian
from graphfold.model.robust import RobustProblem, solve_robust
from graphfold.model.robust_fast import FastProblem, solve_fast
from graphfold.model.separation import Observed
from graphfold.operators import Sparse
from graphfold.solvers import singular
from graphfold.solvers.conjugate import solve_shifted
from graphfold.solvers.singular import (
    largest_singular_value,
    leading_directions,
    shrink_singular_values,
)

N, D = 14, 6


@pytest.fixture(params=[False, True], ids=["complete", "missing"])
def table(request, rng):
    X = rng.standard_normal((N, 2)) @ rng.standard_normal((2, D))
    X[rng.random(X.shape) < 0.15] += 4.0
    if request.param:
        X[rng.random(X.shape) < 0.2] = np.nan
        X[3] = np.nan
    return X


def laplacian_of(n, rng, kind="normalized", k=3):
    return laplacian(NeighborGraph(k).build(rng.standard_normal((n, 2))), kind)


def fast_problem(X, rng, *, two, strength=0.7, kind="normalized"):
    n, columns = X.shape
    L2 = laplacian_of(columns, rng, kind) if two else None
    return FastProblem(Observed.of(X), laplacian_of(n, rng, kind), L2, strength, 0.4)


def root_of(L):
    values, vectors = np.linalg.eigh(L.operator.to_dense())
    return (vectors * np.sqrt(np.maximum(values, 0))).T


def solved_by_cvxpy(problem):
    """The optimum by an interior-point solver that knows nothing of proximal maps."""
    cp = pytest.importorskip(
        "cvxpy",
        reason="cvxpy is in the dev extra; the references below run without it",
    )
    data = problem.data
    there = np.ones(data.X.shape) if data.missing is None else 1.0 - data.missing
    Z = cp.Variable(data.X.shape)
    error = cp.sum(cp.abs(cp.multiply(there, data.X - Z)))
    if isinstance(problem, RobustProblem):
        smooth = problem.strength * cp.sum_squares(root_of(problem.L) @ Z)
        objective = cp.normNuc(Z) + problem.sparsity * error + smooth
    else:
        objective = error
        if problem.L1 is not None:
            term = cp.sum_squares(root_of(problem.L1) @ Z)
            objective = objective + problem.strength1 * term
        if problem.L2 is not None:
            term = cp.sum_squares(root_of(problem.L2) @ Z.T)
            objective = objective + problem.strength2 * term
    return cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)


def solved_by_bounds(problem):
    """FRPCAG as a smooth problem with bounds, X - Z = P - N, by L-BFGS-B."""
    data = problem.data
    missing = np.zeros(data.X.shape, bool) if data.missing is None else data.missing

    def energy(parts):
        P, M = parts.reshape(2, *data.X.shape)
        Z = data.X - P + M
        gradient = problem.gradient(Z)
        slope = np.where(missing, 0.0, 1.0)
        value = (slope * (P + M)).sum() + 0.5 * np.vdot(Z, gradient)
        return value, np.stack([slope - gradient, slope + gradient]).ravel()

    start = np.zeros(2 * data.X.size)
    bounds = [(0, None)] * start.size
    how = {"maxiter": 50_000, "maxfun": 200_000, "ftol": 1e-15, "gtol": 1e-9}
    return minimize(
        energy, start, jac=True, method="L-BFGS-B", bounds=bounds, options=how
    ).fun


def solved_by_three_operators(problem, n_steps=10_000):
    """RPCAG by Davis and Yin's splitting with NumPy's SVD, for long."""
    data, L = problem.data, problem.L.operator.to_dense()
    there = True if data.missing is None else ~data.missing
    step = 0.9 / (2 * problem.strength * np.linalg.eigvalsh(L)[-1])
    V = data.filled()
    best = np.inf
    for _ in range(n_steps):
        excess = V - data.X
        pulled = np.sign(excess) * np.maximum(
            np.abs(excess) - step * problem.sparsity, 0
        )
        A = np.where(there, data.X + pulled, V)
        U, s, W = np.linalg.svd(
            2 * A - V - 2 * step * problem.strength * L @ A, full_matrices=False
        )
        B = (U * np.maximum(s - step, 0)) @ W
        V = V + B - A
        total = np.maximum(s - step, 0).sum() + problem.strength * np.vdot(B, L @ B)
        error = np.where(there, np.abs(data.X - B), 0).sum()
        best = min(best, total + problem.sparsity * error)
    return best


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@pytest.mark.parametrize("two", [False, True], ids=["one graph", "two graphs"])
@pytest.mark.parametrize("reference", [solved_by_bounds, solved_by_cvxpy])
def test_fast_objective_equals_that_of_slow_solvers(table, rng, two, kind, reference):
    problem = fast_problem(table, rng, two=two, kind=kind)
    found = solve_fast(problem, tol=1e-5, max_iter=20_000)
    assert found.converged
    assert_allclose(found.objective, reference(problem), rtol=1e-4)


@pytest.mark.parametrize("shape", ["tall", "wide"])
@pytest.mark.parametrize("reference", [solved_by_three_operators, solved_by_cvxpy])
def test_robust_objective_equals_that_of_slow_solvers(table, rng, shape, reference):
    X = table if shape == "tall" else np.ascontiguousarray(table.T)
    L = laplacian_of(len(X), rng)
    problem = RobustProblem(Observed.of(X), L, 1 / np.sqrt(N), 0.5)
    found = solve_robust(problem, tol=2e-5, max_iter=5000)
    assert found.converged
    assert_allclose(found.objective, reference(problem), rtol=1e-4)


def test_the_gap_certifies_the_objective_at_every_tolerance(table, rng):
    problem = RobustProblem(Observed.of(table), laplacian_of(N, rng), 0.3, 2.0)
    best = solve_robust(problem, tol=1e-6, max_iter=20_000).objective
    for tol in (0.1, 0.01, 0.001):
        found = solve_robust(problem, tol=tol)
        assert found.objective * (1 - found.residual) <= best * (1 + 1e-9)
        assert found.residual <= tol


def test_objectives_are_those_of_the_answer(table, rng):
    data = Observed.of(table)
    robust = RobustProblem(data, laplacian_of(N, rng), 0.3, 2.0)
    Z = solve_robust(robust).low_rank
    L = robust.L.operator.to_dense()
    by_hand = (
        np.linalg.norm(Z, "nuc")
        + 0.3 * np.nansum(np.abs(table - Z))
        + 2.0 * np.trace(Z.T @ L @ Z)
    )
    assert_allclose(solve_robust(robust).objective, by_hand, rtol=1e-10)
    fast = fast_problem(table, rng, two=True)
    Z = solve_fast(fast).low_rank
    L1, L2 = fast.L1.operator.to_dense(), fast.L2.operator.to_dense()
    by_hand = (
        np.nansum(np.abs(table - Z))
        + 0.7 * np.trace(Z.T @ L1 @ Z)
        + 0.4 * np.trace(Z @ L2 @ Z.T)
    )
    assert_allclose(solve_fast(fast).objective, by_hand, rtol=1e-10)


def test_the_fast_residual_is_the_size_of_a_subgradient(table, rng):
    problem = fast_problem(table, rng, two=True)
    data = problem.data
    there = ~np.isnan(table)
    found = solve_fast(problem, tol=1e-2)
    gradient = problem.gradient(found.low_rank)
    error = np.where(there, found.low_rank - data.X, 0)
    # the subgradient of least norm: nothing is smaller than what was reported
    free = np.where(
        error != 0,
        gradient + np.sign(error),
        np.sign(gradient) * np.maximum(np.abs(gradient) - 1, 0),
    )
    least = np.where(there, free, gradient)
    assert np.linalg.norm(least) / np.sqrt(there.sum()) <= found.residual * (1 + 1e-9)
    assert found.residual <= 1e-2


def test_momentum_really_updates(rng):
    X = np.tanh(rng.standard_normal((300, 4)) @ rng.standard_normal((4, 30)))
    X += 0.3 * rng.standard_normal(X.shape)
    L1 = laplacian(NeighborGraph(10).build(X))
    L2 = laplacian(NeighborGraph(10).build(X.T.copy()))
    problem = FastProblem(Observed.of(X), L1, L2, 10.0, 10.0)
    plain = solve_fast(problem, tol=1e-3, max_iter=2000, momentum=False)
    ours = solve_fast(problem, tol=1e-3, max_iter=2000)
    assert plain.converged and ours.converged
    assert ours.n_iterations < 0.5 * plain.n_iterations
    assert_allclose(ours.objective, plain.objective, rtol=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 12),
    st.integers(1, 12),
    st.floats(1e-3, 10),
    st.integers(0, 2**31),
)
def test_shrinking_equals_that_of_the_dense_svd(n, columns, threshold, seed):
    M = np.random.default_rng(seed).standard_normal((n, columns)) * 3
    assert_shrunk(M, threshold, shrink_singular_values(M, threshold), 1e-8)


def assert_shrunk(M, threshold, found, tol):
    U, s, W = np.linalg.svd(M, full_matrices=False)
    expected = (U * np.maximum(s - threshold, 0)) @ W
    assert found.rank == (s > threshold).sum()
    assert np.linalg.norm(found.matrix - expected) <= tol * max(np.linalg.norm(M), 1)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("n_start", [None, 1, 40])
def test_truncated_shrinking_never_leaves_a_value_out(
    rng, monkeypatch, n_start, turned
):
    monkeypatch.setattr("graphfold.solvers.singular.SMALL", 100)
    monkeypatch.setattr("graphfold.solvers.singular.WIDE", 0.15)
    M = rng.standard_normal((600, 45)) @ rng.standard_normal((45, 450)) / 20
    M += 0.05 * rng.standard_normal(M.shape)
    threshold = np.linalg.svd(M, compute_uv=False)[30] + 1e-3
    M = M.T if turned else M
    start = None if n_start is None else rng.standard_normal((450, n_start))
    found = shrink_singular_values(M, threshold, start=start)
    assert_shrunk(M, threshold, found, 1e-6)
    assert found.vectors.shape[1] < 60  # not by way of the whole decomposition


def test_shrinking_with_a_tiny_threshold_keeps_tiny_values(rng):
    Q, _ = np.linalg.qr(rng.standard_normal((30, 5)))
    M = Q * np.array([1e8, 1.0, 1e-2, 1e-3, 1e-9])
    found = shrink_singular_values(M, 1e-4)
    assert found.rank == 4
    assert_allclose(found.values, [1e8, 1.0, 1e-2, 9e-4], rtol=2e-2)


def test_the_truncated_way_leads_to_the_same_answer(rng, monkeypatch):
    X = rng.standard_normal((150, 3)) @ rng.standard_normal((3, 120))
    X[rng.random(X.shape) < 0.1] += 10
    L = laplacian(NeighborGraph(7).build(X))
    problem = RobustProblem(Observed.of(X), L, 1 / np.sqrt(150), 0.1)
    whole = solve_robust(problem)
    monkeypatch.setattr("graphfold.solvers.singular.SMALL", 10)
    monkeypatch.setattr("graphfold.solvers.singular.WIDE", 0.5)
    calls = []
    everything = singular._all_singular_pairs
    monkeypatch.setattr(
        "graphfold.solvers.singular._all_singular_pairs",
        lambda *arguments: calls.append(1) or everything(*arguments),
    )
    truncated = solve_robust(problem)
    assert truncated.converged and whole.converged
    assert len(calls) < 0.5 * truncated.n_iterations
    assert_allclose(truncated.objective, whole.objective, rtol=1e-5)


def test_spectral_norm_and_directions_agree_with_lapack(rng):
    for shape in ((30, 20), (20, 30)):
        M = rng.standard_normal(shape)
        _, s, W = np.linalg.svd(M)
        assert_allclose(largest_singular_value(M)[0], s[0], rtol=1e-6)
        values, rows = leading_directions(M, 4)
        assert_allclose(values, s[:4], rtol=1e-10)
        assert_allclose(np.abs(np.sum(rows * W[:4], axis=1)), 1, rtol=1e-10)


def test_directions_of_a_matrix_without_rank_are_orthonormal():
    M = np.outer(np.ones(3), np.arange(5.0))
    values, rows = leading_directions(M, 3)
    assert_allclose(values[1:], 0)
    assert_allclose(rows @ rows.T, np.eye(3), atol=1e-12)


def test_shifted_systems_are_solved(rng):
    L = laplacian_of(40, rng, "combinatorial")
    right = rng.standard_normal((40, 3))
    right[:, 1] = 0
    W = solve_shifted(L.operator, 2.0, 0.1, right, start=0 * right, tol=1e-12)
    exact = np.linalg.solve(2 * L.operator.to_dense() + 0.1 * np.eye(40), right)
    assert_allclose(W, exact, atol=1e-9)


def test_without_graphs_nothing_is_an_error(table):
    data = Observed.of(table)
    found = solve_fast(FastProblem(data, None, None))
    assert found.converged and found.objective == 0
    assert_allclose(data.error(found.low_rank), 0)


def test_no_graph_strength_is_robust_pca(rng):
    low = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    X = low.copy()
    X[rng.random(X.shape) < 0.05] += 10
    empty = laplacian(Graph._unchecked(sp.csr_array((60, 60))))
    assert isinstance(empty.operator, Sparse)
    problem = RobustProblem(Observed.of(X), empty, 1 / np.sqrt(60), 0.0)
    found = solve_robust(problem, tol=1e-5, max_iter=3000)
    assert np.linalg.norm(found.low_rank - low) < 1e-2 * np.linalg.norm(low)


def test_zero_data_are_their_own_answer(rng):
    X = np.zeros((10, 4))
    L = laplacian_of(10, rng)
    assert solve_robust(RobustProblem(Observed.of(X), L, 0.3)).objective == 0
    assert solve_fast(FastProblem(Observed.of(X), L, None)).objective == 0


def test_data_of_nothing_have_no_gap(rng):
    problem = RobustProblem(Observed.of(np.zeros((N, D))), laplacian_of(N, rng), 0.4)
    found = solve_robust(problem)
    assert (found.residual, found.converged) == (0, True)
    assert not found.low_rank.any()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_unit_of_the_data_does_not_change_the_gap(scale, rng):
    """X and the strength of the graph in another unit: the same problem."""
    X = rng.standard_normal((N, 2)) @ rng.standard_normal((2, D))
    L = laplacian_of(N, rng)
    one = solve_robust(RobustProblem(Observed.of(X), L, 0.4, 0.5), max_iter=60)
    other = solve_robust(
        RobustProblem(Observed.of(scale * X), L, 0.4, 0.5 / scale), max_iter=60
    )
    assert other.residual == pytest.approx(one.residual, rel=0.05)
    assert 0 < one.residual < 1
