"""How a span is solved in: which solver, from where, how exactly, and what is told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import Graph
from graphfold.errors import GraphfoldError
from graphfold.graphs import laplacian
from graphfold.model import refine
from graphfold.model.alternate import solved
from graphfold.model.problem import Problem
from graphfold.model.refine import in_span
from graphfold.model.span import InMemory, Span
from graphfold.model.terms import Term, graph_term
from graphfold.operators import Dense, LowRank, Reordered, Scaled, Sparse

N, D = 40, 2


@pytest.fixture
def features(rng):
    return rng.standard_normal((N, 7)).astype(np.float32)


def ring(dtype=np.float32):
    L = laplacian(Graph([(i, (i + 1) % N) for i in range(N)]))
    rng = np.random.default_rng(0)
    return graph_term(L, None, n_components=D, rng=rng, dtype=dtype, name="ring")


def make(features, *, gamma=0.5, **more):
    K = Term("k", LowRank(features))
    return Problem((K,), (1.0,), (ring(),), (1.0,), gamma=gamma, **more)


def run(problem, features, d=D, refined=False, **how):
    span = Span(InMemory([features], problem.roots, precise=True), problem.center)
    how = {"rng": np.random.default_rng(0), **how}
    return span, in_span(span, problem, d, refined=refined, **how)


def test_the_answer_in_the_span_is_rayleigh_ritz(features):
    problem = make(features)
    span, result = run(problem, features)
    about = features - features.mean(axis=0, dtype=float)
    Q = np.linalg.qr(about)[0]
    M = features.astype(float) @ features.T.astype(float)
    M += 0.5 * problem.graphs[0].operator.to_dense()
    H = np.eye(N) - 1 / N
    values = np.linalg.eigvalsh(Q.T @ H @ M @ H @ Q)[::-1]
    pairs = result.pairs
    assert_allclose(pairs.values, values[:D], rtol=1e-5)
    assert (pairs.solver, pairs.spare) == ("lapack", None)
    assert pairs.reason == f"in the span of {span.dimension} features"
    largest = pairs.vectors[np.abs(pairs.vectors).argmax(axis=0), np.arange(D)]
    assert (largest > 0).all()
    assert_allclose(span.vectors(result.coordinates), pairs.vectors, atol=1e-9)
    assert result.problem.kernels is problem.kernels
    assert_allclose(result.objective_trace, [values[:D].sum()], rtol=1e-5)


def spied(monkeypatch):
    asked = []
    original = Problem.solve

    def solve(self, d, **how):
        asked.append((self.n, d, how))
        return original(self, d, **how)

    monkeypatch.setattr(Problem, "solve", solve)
    return asked


def test_a_small_problem_is_solved_as_far_as_it_is_worth(features, monkeypatch):
    asked = spied(monkeypatch)
    run(make(features), features, tol=0.5, solver="lobpcg", start=np.ones((N, 1)))
    ((n, d, how),) = asked
    assert (n, d, how["solver"], how["tol"]) == (7, D, "lapack", 1e-10)
    assert isinstance(how["rng"], np.random.Generator)
    assert "start" not in how
    asked.clear()
    monkeypatch.setattr(refine, "LARGE_SPAN", 6)
    run(make(features), features)
    assert asked[0][2]["solver"] == "krylov"
    asked.clear()
    monkeypatch.setattr(refine, "LARGE_SPAN", 7)
    run(make(features), features)
    assert asked[0][2]["solver"] == "lapack"


@pytest.mark.parametrize(
    ("tol", "used"), [(None, refine.REFINED), (1e-3, 1e-3), (1e-9, refine.FINEST)]
)
def test_refining_starts_from_twice_the_answer_in_the_span(
    tol, used, features, monkeypatch
):
    asked = spied(monkeypatch)
    problem = make(features)
    span, result = run(problem, features, refined=True, tol=tol)
    small, wide, whole = asked
    assert (small[0], small[1], small[2]["tol"]) == (7, D, 1e-6)
    assert (wide[0], wide[1], wide[2]["tol"]) == (7, 2 * D, 1e-6)
    assert (whole[0], whole[1]) == (N, D)
    assert whole[2]["solver"] == "chebyshev"
    assert whole[2]["tol"] == used
    assert whole[2]["start"].shape == (N, 2 * D)
    again = span.project(problem).solve(2 * D, solver="lapack")
    assert_allclose(
        np.abs(whole[2]["start"]), np.abs(span.vectors(again.vectors)), atol=1e-4
    )
    assert whole[2]["bottom"] == refine._bottom(problem, np.random.default_rng(0))
    assert result.pairs.reason == "of the whole problem, from the landmarks' span"
    assert result.coordinates is None
    assert len(result.objective_trace) == 2
    assert result.objective_trace[1] == pytest.approx(result.pairs.values.sum())
    assert result.objective_trace[0] <= result.objective_trace[1] * (1 + 1e-3)


def test_a_solver_that_is_asked_for_refines(features, monkeypatch):
    asked = spied(monkeypatch)
    _, result = run(make(features), features, d=4, refined=True, solver="krylov")
    assert asked[-1][2]["solver"] == "krylov"
    assert asked[1][1] == 7  # no more than the span has
    assert "landmarks' span" not in result.pairs.reason


def test_where_the_span_is_too_small_all_of_the_problem_is_solved(
    features, monkeypatch
):
    asked = spied(monkeypatch)
    thin = features[:, :D]
    _, result = run(make(thin), thin, tol=1e-4, solver="lapack")
    ((n, d, how),) = asked
    assert (n, d, how["tol"], how["solver"]) == (N, D, 1e-4, "lapack")
    assert result.coordinates is None
    asked.clear()
    learned = []

    def learn(problem, d, **how):
        learned.append(d)
        return solved(problem, d, **how)

    run(make(thin), thin, d=5, learn=learn)
    assert learned == [5]
    assert asked[0][2]["solver"] == "auto"


@pytest.mark.parametrize(
    ("whole", "where"), [(True, "forgotten"), (False, "on workers")]
)
def test_rows_that_are_not_there_allow_no_more_directions(features, whole, where):
    thin = features[:, :D]
    problem = make(thin, roots=np.ones(N))
    span = Span(InMemory([thin], problem.roots, precise=True), True)
    span.features.whole = whole
    how = {"refined": False, "rng": np.random.default_rng(0)}
    with pytest.raises(
        GraphfoldError, match=f"at most 2 where rows are {where}.*got 3"
    ):
        in_span(span, problem, 3, **how)
    assert in_span(span, problem, 2, **how).pairs.vectors.shape == (N, 2)


def test_the_bottom_is_that_of_the_graphs(features):
    rng = np.random.default_rng(0)
    lowest = np.linalg.eigvalsh(ring().operator.to_dense())[0]
    bound = refine._bottom(make(features, gamma=3.0), rng)
    assert 3 * lowest * 1.5 <= bound <= 3 * lowest * (1 - 1e-6)
    K = Term("k", LowRank(features))
    assert refine._bottom(Problem((K,), (1.0,)), rng) == 0.0
    fixed = Problem((K,), (1.0,), fixed=(ring(),), fixed_weights=(2.0,))
    assert refine._bottom(fixed, rng) <= 2 * lowest * (1 - 1e-6)
    lifted = ring().lifted_above_zero()
    above = Problem((K,), (1.0,), (lifted,), (1.0,), gamma=1.0)
    assert refine._bottom(above, rng) <= 0.0


def test_large_graphs_are_put_in_order(features, monkeypatch):
    problem = make(features)
    assert refine._ordered(problem) is problem
    monkeypatch.setattr(refine, "FAR", N)
    K = Term("k", LowRank(features))
    both = Problem(
        (K,),
        (1.0,),
        (ring(),),
        (1.0,),
        gamma=1.0,
        fixed=(ring(),),
        fixed_weights=(1.0,),
    )
    ordered = refine._ordered(both)
    assert ordered._memo is not both._memo
    for terms in (ordered.graphs, ordered.fixed):
        assert isinstance(terms[0].base, Scaled)
        assert isinstance(terms[0].base.operator, Reordered)
    assert_allclose(
        ordered.operator().to_dense(), both.operator().to_dense(), atol=1e-5
    )
    dense = Dense(np.eye(3))
    assert refine._near(dense) is dense
    plain = Sparse(ring().base.operator.matrix)
    assert isinstance(refine._near(plain), Reordered)
    assert_array_equal(refine._near(plain).to_dense(), plain.to_dense())


def test_order_is_used_only_where_asked_for(features, monkeypatch):
    monkeypatch.setattr(refine, "FAR", 1)
    seen = []
    original = refine._ordered
    monkeypatch.setattr(refine, "_ordered", lambda p: seen.append(p) or original(p))
    run(make(features), features, refined=True)
    assert not seen
    run(make(features), features, refined=True, ordered=True)
    assert len(seen) == 1
