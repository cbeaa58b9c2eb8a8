"""Rounds of the robust methods: counted, watched, stopped, and reported as they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphfold import Graph
from graphfold.graphs import laplacian
from graphfold.model import robust
from graphfold.model.robust import RobustProblem, solve_robust
from graphfold.model.robust_fast import FastProblem, solve_fast
from graphfold.model.separation import Observed

METHODS = ["robust", "fast"]


def solve(method, tol=1e-12, **how):
    rng = np.random.default_rng(0)
    X = np.outer(rng.standard_normal(12), rng.standard_normal(5))
    X[rng.random(X.shape) < 0.1] += 5
    L = laplacian(Graph([(i, (i + 1) % 12) for i in range(12)]))
    data = Observed(X)
    if method == "robust":
        problem = RobustProblem(data, L, 0.3, 0.1)
        return problem, solve_robust(problem, tol=tol, rng=rng, **how)
    problem = FastProblem(data, L, None, 0.5)
    return problem, solve_fast(problem, tol=tol, **how)


def objective(problem, Z):
    if isinstance(problem, RobustProblem):
        return problem.objective(Z, np.linalg.svd(Z, compute_uv=False).sum())
    return problem.data.absolute_error(Z) + 0.5 * np.vdot(Z, problem.gradient(Z))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_rounds_are_as_many_as_allowed_and_each_is_watched(method, rounds):
    seen = []
    problem, found = solve(method, max_iter=rounds, observer=seen.append)
    assert found.n_iterations == len(found.trace) == rounds
    assert not found.converged
    assert [step.number for step in seen] == list(range(1, rounds + 1))
    assert seen[-1].residual == found.residual
    assert found.objective == pytest.approx(
        objective(problem, found.low_rank), rel=1e-6
    )


@pytest.mark.parametrize("method", METHODS)
def test_an_observer_stops_after_its_round(method):
    _, found = solve(method, observer=lambda step: step.number == 3)
    assert found.n_iterations == 3


@pytest.mark.parametrize("method", METHODS)
def test_it_stops_at_the_first_residual_that_is_small_enough(method):
    seen = []
    _, found = solve(method, tol=1e-2, observer=lambda step: seen.append(step.residual))
    assert found.converged
    assert found.residual == seen[-1] <= 1e-2
    assert (np.array(seen[:-1]) > 1e-2).all()


def test_the_best_of_all_rounds_is_kept():
    problem, found = solve("robust", max_iter=30)
    assert found.objective == found.trace.min()
    assert objective(problem, found.low_rank) == pytest.approx(found.trace.min())


def test_the_gap_is_relative_to_the_objective():
    _, tight = solve("robust", tol=1e-9, max_iter=3000)
    for rounds in (1, 5, 20):
        _, found = solve("robust", max_iter=rounds)
        assert 0 <= found.residual <= 1
        lowest = found.objective * (1 - found.residual)
        assert lowest <= tight.objective * (1 + 1e-8)
    assert tight.residual <= 1e-6


def test_penalties_are_balanced_every_ten_rounds_up_to_a_hundred(monkeypatch):
    calls, rounds = [], []
    original = robust._balance

    def balance(state, Z, moved):
        calls.append(len(rounds))
        original(state, Z, moved)

    monkeypatch.setattr(robust, "_balance", balance)
    solve(
        "robust", tol=0, max_iter=125, observer=lambda step: rounds.append(step) and 0
    )
    assert calls == list(range(10, 101, 10))


def test_systems_are_solved_to_a_tenth_of_the_gap(monkeypatch):
    asked, gaps = [], [1.0]
    original = robust.solve_shifted

    def spy(*arguments, tol, **how):
        asked.append(tol)
        return original(*arguments, tol=tol, **how)

    monkeypatch.setattr(robust, "solve_shifted", spy)
    solve("robust", max_iter=40, observer=lambda step: gaps.append(step.residual) and 0)
    expected = [min(max(0.1 * gap, 1e-10), 1e-2) for gap in gaps[:-1]]
    assert_allclose(asked, expected)


def test_momentum_is_not_taken_where_it_is_not_wanted():
    _, plain = solve("fast", max_iter=40, momentum=False)
    assert (np.diff(plain.trace) <= 1e-9).all()  # a proximal gradient never rises
    _, fast = solve("fast", max_iter=40)
    assert fast.trace[-1] <= plain.trace[-1] + 1e-9


def test_data_without_a_graph_are_their_own_answer():
    X = np.arange(6.0).reshape(3, 2)
    found = solve_fast(FastProblem(Observed(X), None, None), tol=1e-6)
    assert_allclose(found.low_rank, X)
    assert (found.n_iterations, found.residual, found.objective) == (1, 0.0, 0.0)
