"""Learned weights: equal to brute force, never a step down, on the unit ball."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphfold.model import alternate as module
from graphfold.model.alternate import (
    alternate,
    best_weights,
    equal_weights,
    solved,
)
from graphfold.model.problem import Problem
from graphfold.model.terms import Term
from graphfold.operators import Dense
from tests.helpers import largest_angle


def random_problem(rng, n=12, n_kernels=3, n_graphs=2, *, gamma=None, center=True):
    """Random PSD kernels of different sizes, and graphs in kernel form or shifted."""
    kernels, graphs = [], []
    for q in range(n_kernels):
        Z = rng.standard_normal((n, rng.integers(1, n + 1))) * rng.uniform(0.3, 3)
        kernels.append(Term(f"k{q}", Dense(Z @ Z.T)))
    for i in range(n_graphs):
        A = np.triu((rng.random((n, n)) < 0.4) * rng.random((n, n)), 1)
        L = np.diag((A + A.T).sum(axis=1)) - A - A.T
        term = Term(f"g{i}", -Dense(L, bounds=(0.0, 2 * max(L.diagonal().max(), 1.0))))
        graphs.append(term.lifted_above_zero())
    gamma = float(rng.uniform(0, 5)) if gamma is None else gamma
    problem = Problem(tuple(kernels), (), tuple(graphs), (), gamma=gamma, center=center)
    return problem.with_weights(equal_weights(n_kernels), equal_weights(n_graphs))


def brute_force(problem, d, rounds=3000):
    """The paper's alternation with dense matrices and LAPACK, to the bitter end."""
    n = problem.n
    H = np.eye(n) - 1 / n if problem.center else np.eye(n)
    K = [H @ t.operator.to_dense() @ H for t in problem.kernels]
    R = [H @ t.operator.to_dense() @ H for t in problem.graphs]
    theta = np.full(len(K), len(K) ** -0.5)
    beta = np.full(len(R), len(R) ** -0.5)
    for _ in range(rounds):
        M = sum(t * A for t, A in zip(theta, K, strict=True))
        M = M + problem.gamma * sum(b * A for b, A in zip(beta, R, strict=True))
        # the constant vector goes to the bottom, where nobody asks for it
        values, vectors = np.linalg.eigh(M - 1e3 * (np.eye(n) - H))
        V = vectors[:, ::-1][:, :d]
        t = np.array([np.trace(V.T @ A @ V) for A in K])
        s = np.array([np.trace(V.T @ A @ V) for A in R])
        theta, before = np.maximum(t, 0) / np.linalg.norm(np.maximum(t, 0)), theta
        before = np.concatenate([before, beta])
        if problem.gamma > 0 and len(R) > 1:
            beta = np.maximum(s, 0) / np.linalg.norm(np.maximum(s, 0))
        if np.abs(np.concatenate([theta, beta]) - before).max() < 1e-15:
            break
    return theta, beta, V, values[::-1][:d].sum()


@pytest.mark.parametrize("solver", ["lapack", "krylov"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_equals_brute_force(seed, center, solver):
    problem = random_problem(np.random.default_rng(seed), center=center)
    theta, beta, V, objective = brute_force(problem, 3)
    found = alternate(problem, 3, solver=solver, tol=1e-12)
    assert found.converged
    assert_allclose(found.problem.theta, theta, atol=1e-8)
    assert_allclose(found.problem.beta, beta, atol=1e-8)
    assert found.objective_trace[-1] == pytest.approx(objective, rel=1e-8)
    assert largest_angle(found.pairs.vectors, V) < 1e-6


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(1, 5),
    st.sampled_from([1.0, 1.25, 2.0, 4.0]),
    st.sampled_from(["lapack", "krylov"]),
)
def test_the_objective_never_falls(seed, n_kernels, n_graphs, d, norm, solver):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 12, n_kernels, n_graphs)
    start = (equal_weights(n_kernels, norm), equal_weights(n_graphs, norm))
    found = alternate(problem.with_weights(*start), d, norm=norm, solver=solver)
    trace = found.objective_trace
    rounding = 1e-9 * np.abs(trace).max()
    assert (np.diff(trace) >= -rounding).all()
    for weights in (found.problem.theta, found.problem.beta):
        if weights:
            assert min(weights) >= 0
            assert np.linalg.norm(weights, norm) == pytest.approx(1)


def test_gamma_is_held():
    problem = random_problem(np.random.default_rng(0), gamma=2.5)
    assert alternate(problem, 2).problem.gamma == 2.5


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=6),
    st.sampled_from([1.0, 1.5, 2.0, 3.0]),
    st.integers(0, 2**32 - 1),
)
def test_no_other_weights_are_better(shares, norm, seed):
    """The closed form beats random points of the ball."""
    shares = np.array(shares)
    best = best_weights(shares, norm)
    others = np.random.default_rng(seed).random((50, len(shares)))
    others /= np.linalg.norm(others, norm, axis=1, keepdims=True)
    if shares.max() > 0:
        assert (others @ shares <= best @ shares + 1e-9).all()
        assert (best[shares <= 0] == 0).all()
    assert np.linalg.norm(best, norm) == pytest.approx(1)


def test_nothing_positive_leaves_equal_weights():
    assert_allclose(best_weights(np.array([-1.0, -2.0])), 2**-0.5)


def test_an_indefinite_kernel_gets_no_weight():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((10, 3))
    good, bad = Term("good", Dense(Z @ Z.T)), Term("bad", Dense(-Z @ Z.T))
    problem = Problem((good, bad), (0.8, 0.6), center=False)
    found = alternate(problem, 2)
    assert found.problem.theta == (1.0, 0.0)
    values = np.linalg.eigvalsh(Z @ Z.T)[::-1][:2]
    assert_allclose(found.pairs.values, values, rtol=1e-9)


def test_an_observer_may_stop_it():
    problem = random_problem(np.random.default_rng(1))
    seen = []

    def enough(number, objective):
        seen.append(objective)
        return number == 2

    found = alternate(problem, 2, on_round=enough)
    assert found.n_rounds == 2
    assert not found.converged
    assert_allclose(seen, found.objective_trace)


def test_float32_learns_the_same_weights():
    problem = random_problem(np.random.default_rng(2), 20)
    wide = alternate(problem, 2).problem
    single = tuple(
        Term(t.name, Dense(t.operator.to_dense().astype(np.float32)))
        for t in problem.kernels
    )
    graphs = tuple(
        Term(t.name, Dense(t.operator.to_dense().astype(np.float32)))
        for t in problem.graphs
    )
    narrow = Problem(single, problem.theta, graphs, problem.beta, gamma=problem.gamma)
    found = alternate(narrow, 2)
    assert found.pairs.vectors.dtype == np.float32
    assert_allclose(found.problem.theta, wide.theta, atol=1e-4)
    assert (np.diff(found.objective_trace) >= -1e-5 * found.objective_trace[-1]).all()


@pytest.mark.parametrize("norm", [1.2, 1.5, 2.0, 3.0, 6.0])
def test_weights_reach_the_bound_of_hoelder(norm, rng):
    """The largest w't over the unit ball of p is the norm of t+ with 1/p + 1/q = 1."""
    shares = rng.standard_normal(6)
    weights = best_weights(shares, norm)
    positive = np.maximum(shares, 0)
    q = norm / (norm - 1)
    assert weights @ shares == pytest.approx(np.sum(positive**q) ** (1 / q))
    assert np.sum(weights**norm) ** (1 / norm) == pytest.approx(1.0)
    assert (weights[shares <= 0] == 0).all()


def test_equal_weights_are_of_unit_norm():
    assert_allclose(equal_weights(4), [0.5] * 4)
    assert_allclose(equal_weights(4, 1.0), [0.25] * 4)
    assert equal_weights(0).shape == (0,)
    assert_allclose(best_weights(np.array([2.0, 2.0, 1.0]), 1.0), [0.5, 0.5, 0.0])


def test_weights_that_stay_are_solved_for_once(rng):
    problem = random_problem(rng)
    found = solved(problem, 3, solver="lapack")
    assert found.problem is problem
    assert found.converged
    assert (found.n_rounds, found.coordinates) == (1, None)
    (objective,) = found.objective_trace
    values = np.linalg.eigvalsh(problem.operator().to_dense())
    assert objective == pytest.approx(values[::-1][:3].sum())
    assert objective == pytest.approx(problem.objective(found.pairs.vectors))


def test_weights_are_put_back_on_the_ball():
    on_the_ball = module._on_the_ball
    assert_allclose(on_the_ball(np.array([3.0, -1.0, 4.0]), 2.0), [0.6, 0, 0.8])
    assert_allclose(on_the_ball(np.array([3.0, -1.0, 1.0]), 1.0), [0.75, 0, 0.25])
    assert_allclose(on_the_ball(np.array([7.0]), 2.0), [7.0])
    assert on_the_ball(np.empty(0), 2.0).shape == (0,)


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("graphs", [True, False])
@pytest.mark.parametrize("gamma", [0.0, 2.0])
def test_only_the_weights_asked_for_are_learned(kernels, graphs, gamma, rng):
    problem = random_problem(rng, gamma=gamma)
    V = problem.solve(2, solver="lapack").vectors
    theta, beta = module._next_weights(problem, V, kernels, graphs, 3.0)
    of_kernels, of_graphs = problem.shares(V)
    learned = best_weights(of_kernels, 3.0) if kernels else problem.theta
    assert_allclose(theta, learned)
    learned = best_weights(of_graphs, 3.0) if graphs and gamma else problem.beta
    assert_allclose(beta, learned)


def test_a_single_term_keeps_its_weight(rng):
    problem = random_problem(rng, n_kernels=1, n_graphs=1, gamma=1.0)
    problem = problem.with_weights([0.3], [0.4])
    V = problem.solve(2, solver="lapack").vectors
    theta, beta = module._next_weights(problem, V, True, True, 2.0)
    assert (theta.tolist(), beta.tolist()) == ([0.3], [0.4])


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_no_more_rounds_than_allowed(rounds, rng):
    problem = random_problem(rng, n=20)
    seen = []
    found = alternate(
        problem,
        2,
        solver="lapack",
        max_rounds=rounds,
        on_round=lambda number, objective: seen.append((number, objective)),
    )
    assert found.n_rounds == rounds
    assert not found.converged
    assert [number for number, _ in seen] == list(range(1, rounds + 1))
    assert_allclose([objective for _, objective in seen], found.objective_trace)
    # the weights are those that the last vectors were solved with
    assert found.objective_trace[-1] == pytest.approx(
        found.problem.objective(found.pairs.vectors)
    )


def test_what_may_be_left_to_move_follows_the_precision():
    double = random_problem(np.random.default_rng(0))
    assert module._settled(double, None) == module.SETTLED == 1e-7
    assert module._settled(double, 1e-12) == pytest.approx(1e-9)
    assert module._settled(double, 1e-3) == 1e-7
    K = Term("k", Dense(np.eye(4, dtype=np.float32)))
    assert module._settled(Problem((K,), (1.0,)), 1e-12) == 1e-5


def test_a_weak_graph_has_weights_that_are_learned_too(rng):
    problem = random_problem(rng, gamma=0.3)
    found = alternate(problem, 2, max_rounds=500)
    _, beta, _, _ = brute_force(problem, 2)
    assert_allclose(found.problem.beta, beta, atol=1e-5)
    assert np.ptp(beta) > 1e-3
