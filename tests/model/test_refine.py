"""The answer in the span and the refined one, against dense eigenvectors."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import Graph, NeighborGraph, kernels, responses
from graphfold.graphs import laplacian
from graphfold.kernels.landmarks import landmark_features
from graphfold.model import refine
from graphfold.model.alternate import alternate, best_weights
from graphfold.model.problem import Problem
from graphfold.model.refine import REFINED, in_span
from graphfold.model.span import span_of
from graphfold.model.terms import Term, graph_term
from graphfold.operators import LowRank, with_neighbours_near
from tests.helpers import dense_laplacian, largest_angle

D = 3


def make(X, *, widths=(0.1,), neighbors=(5,), kind="normalized", m=30, **terms):
    """A problem of landmark features and graphs, and its terms as dense matrices."""
    center, gamma = terms.get("center", True), terms.get("gamma", 5.0)
    response = terms.get("response")
    data, K = [], []
    for width in widths:
        features = landmark_features(kernels.Gaussian(width), X[:m], center=center)
        phi = features.of(X)
        data.append(Term(f"k{width}", LowRank(phi, name="K")))
        K.append(phi.astype(float) @ phi.astype(float).T)
    found, graphs, R = {}, [], []
    for k in neighbors:
        graph = NeighborGraph(k).build(X)
        L = laplacian(graph, kind)
        found[f"g{k}"] = L
        term = graph_term(
            L,
            response,
            n_components=D,
            rng=np.random.default_rng(0),
            dtype=np.float32,
            name=f"g{k}",
        )
        dense = -dense_laplacian(graph.to_scipy().toarray(), kind)
        if response is not None:
            values, U = np.linalg.eigh(-dense)
            dense = (U * np.exp(-response.scale * values / 2)) @ U.T
        if len(neighbors) > 1 and response is None:
            term = term.lifted_above_zero()
            dense = dense + term.shift * np.eye(len(X))
        graphs.append(term)
        R.append(dense)
    problem = Problem(tuple(data), (), tuple(graphs), (), gamma=gamma, center=center)
    theta = np.full(len(K), len(K) ** -0.5)
    beta = np.full(len(R), max(len(R), 1) ** -0.5)
    return problem.with_weights(theta, beta), found, K, R


def whole(problem, K, R):
    """M, and P M P without the constant vector, by dense sums."""
    M = sum(w * part for w, part in zip(problem.theta, K, strict=True))
    for weight, part in zip(problem.beta, R, strict=True):
        M = M + problem.gamma * weight * part
    if not problem.center:
        return M, np.eye(len(M))
    H = np.eye(len(M)) - 1 / len(M)
    return H @ M @ H, np.linalg.svd(H)[0][:, :-1]


def top(M, basis, d=D):
    values, B = np.linalg.eigh(basis.T @ M @ basis)
    return values[::-1], basis @ B[:, ::-1][:, :d]


def run(problem, found, d=D, *, refined, learn=None, wide=None, **how):
    span = span_of(problem, found, wide=not refined if wide is None else wide)
    how = {"rng": np.random.default_rng(0), "max_iter": None, **how}
    return span, in_span(span, problem, d, learn=learn, refined=refined, **how)


def basis_of(span, center):
    Psi = np.hstack(span.features.parts).astype(float)
    Psi = Psi - Psi.mean(axis=0) if center else Psi
    U, s, _ = np.linalg.svd(Psi, full_matrices=False)
    return U[:, s > 3e-4 * s[0]]


@pytest.fixture
def rows(rng):
    return rng.standard_normal((150, 3)) * [2, 1, 1]


@pytest.mark.parametrize("response", [None, responses.Diffusion(3.0)])
@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@pytest.mark.parametrize("center", [True, False])
def test_refined_is_the_top_of_the_whole_operator(rows, response, kind, center):
    problem, found, K, R = make(rows, response=response, kind=kind, center=center)
    M, basis = whole(problem, K, R)
    values, V = top(M, basis)
    size = np.abs(np.linalg.eigvalsh(M)).max()
    _, result = run(problem, found, refined=True)
    pairs = result.pairs
    W = pairs.vectors.astype(float)
    assert pairs.converged
    assert_allclose(W.T @ W, np.eye(D), atol=1e-4)
    residual = np.linalg.norm(M @ W - W * pairs.values, axis=0)
    assert residual.max() <= 2 * REFINED * size
    assert_allclose(pairs.values, values[:D], atol=REFINED * size)
    gap = (values[D - 1] - values[D]) / size
    assert np.sin(largest_angle(W, V)) <= 3 * REFINED / gap
    if center:
        assert_allclose(W.sum(axis=0), 0, atol=1e-3)


def test_a_tighter_residual_can_be_asked_for(rows):
    problem, found, K, R = make(rows)
    M, basis = whole(problem, K, R)
    _, V = top(M, basis)
    gaps = []
    for tol in (1e-2, 1e-5):
        _, result = run(problem, found, refined=True, tol=tol)
        assert result.pairs.residuals.max() <= tol
        gaps.append(largest_angle(result.pairs.vectors.astype(float), V))
    assert gaps[1] < 1e-3
    assert gaps[1] <= gaps[0]


@pytest.mark.parametrize("solver", ["lapack", "krylov", "lobpcg"])
def test_other_solvers_refine_to_the_same_answer(rows, solver):
    problem, found, K, R = make(rows)
    _, V = top(*whole(problem, K, R))
    _, result = run(problem, found, refined=True, solver=solver, tol=1e-5)
    assert largest_angle(result.pairs.vectors.astype(float), V) < 1e-3


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_unrefined_is_rayleigh_ritz(rows, center, wide):
    problem, found, K, R = make(rows, center=center)
    span, result = run(problem, found, refined=False, wide=wide)
    M, _ = whole(problem, K, R)
    values, V = top(M, basis_of(span, center))
    size = np.abs(np.linalg.eigvalsh(M)).max()
    assert_allclose(result.pairs.values, values[:D], atol=2e-4 * size)
    W = result.pairs.vectors.astype(float)
    gap = (values[D - 1] - values[D]) / size
    assert np.sin(largest_angle(W, V)) < 2e-3 / gap
    assert result.objective_trace[-1] == pytest.approx(values[:D].sum(), rel=1e-3)


def test_refining_gains_what_the_graph_alone_knows(rows):
    """At a strong graph the span misses the answer; refined it is there."""
    problem, found, K, R = make(rows, gamma=50.0, m=8)
    M, basis = whole(problem, K, R)
    values, V = top(M, basis)
    sums, angles = [], []
    for refined, wide in ((False, False), (False, True), (True, False)):
        _, result = run(problem, found, refined=refined, wide=wide)
        W = result.pairs.vectors.astype(float)
        sums.append(np.trace(W.T @ M @ W))
        angles.append(largest_angle(W, V))
    size = np.abs(np.linalg.eigvalsh(M)).max()
    assert sums[0] <= sums[1] + 1e-4 * size
    assert sums[1] <= sums[2] + 1e-4 * size
    assert sums[2] == pytest.approx(values[:D].sum(), abs=D * REFINED * size)
    assert angles[0] > 0.2  # what is tested is really there
    assert angles[2] < angles[0] / 4


def test_the_largest_entry_of_each_axis_is_positive(rows):
    problem, found, _, _ = make(rows)
    for refined in (True, False):
        V = run(problem, found, refined=refined)[1].pairs.vectors
        assert (V[np.abs(V).argmax(axis=0), range(D)] > 0).all()


# -- weights ---------------------------------------------------------------------------


def dense_alternation(problem, K, R, basis, rounds=400, norm=2.0):
    """The alternation restricted to a span, by LAPACK, until nothing moves."""
    Q, n = basis, len(basis)
    H = np.eye(n) - 1 / n if problem.center else np.eye(n)
    small_K = [Q.T @ H @ part @ H @ Q for part in K]
    small_R = [Q.T @ H @ part @ H @ Q for part in R]
    theta, beta = np.array(problem.theta), np.array(problem.beta)
    objectives = []
    for _ in range(rounds):
        M = sum(w * k for w, k in zip(theta, small_K, strict=True))
        M = M + problem.gamma * sum(w * r for w, r in zip(beta, small_R, strict=True))
        values, B = np.linalg.eigh(M)
        V = B[:, ::-1][:, :D]
        objectives.append(values[::-1][:D].sum())
        before = np.append(theta, beta)
        if len(K) > 1:
            theta = best_weights(np.array([np.trace(V.T @ k @ V) for k in small_K]))
        if len(R) > 1:
            beta = best_weights(np.array([np.trace(V.T @ r @ V) for r in small_R]))
        if np.abs(np.append(theta, beta) - before).max() < 1e-9:
            break
    return theta, beta, np.array(objectives)


SEVERAL = [
    {"widths": (0.02, 0.3, 1.0)},
    {"neighbors": (3, 12)},
    {"widths": (0.02, 0.5), "neighbors": (3, 12)},
    {"widths": (0.02, 0.5), "neighbors": (3, 12), "center": False},
    {
        "widths": (0.02, 0.5),
        "neighbors": (3, 12),
        "response": responses.Diffusion(3.0),
    },
]


@pytest.mark.parametrize("refined", [True, False])
@pytest.mark.parametrize("settings", SEVERAL)
def test_learned_weights_are_those_of_a_dense_alternation(rows, settings, refined):
    problem, found, K, R = make(rows, gamma=2.0, **settings)
    span, result = run(problem, found, refined=refined, learn=alternate)
    basis = basis_of(span, problem.center)
    theta, beta, objectives = dense_alternation(problem, K, R, basis)
    assert result.converged
    assert_allclose(result.problem.theta, theta, atol=2e-3)
    assert_allclose(result.problem.beta, beta, atol=2e-3)
    trace = result.objective_trace
    assert (np.diff(trace) >= -1e-4 * np.abs(trace).max()).all()
    in_the_span = trace[-2] if refined else trace[-1]
    assert in_the_span == pytest.approx(objectives[-1], rel=2e-3)
    # the problem that comes back is the large one, at these weights
    assert result.problem.n == len(rows)
    assert result.pairs.vectors.shape == (len(rows), D)


def test_refined_with_learned_weights_is_the_top_at_these_weights(rows):
    problem, found, K, R = make(rows, **SEVERAL[2])
    _, result = run(problem, found, refined=True, learn=alternate, tol=1e-5)
    M, basis = whole(result.problem, K, R)
    values, V = top(M, basis)
    size = np.abs(np.linalg.eigvalsh(M)).max()
    shifted = result.pairs.values + result.problem.shift
    assert_allclose(shifted, values[:D], atol=1e-4 * size)
    assert largest_angle(result.pairs.vectors.astype(float), V) < 1e-2
    assert result.objective_trace[-1] >= result.objective_trace[-2] - 1e-4 * size


@given(st.integers(0, 10_000), st.floats(0.1, 20), st.booleans())
@settings(max_examples=8, deadline=None)
def test_the_objective_never_falls(seed, gamma, refined):
    X = np.random.default_rng(seed).standard_normal((50, 3))
    problem, found, _, _ = make(
        X, widths=(0.05, 0.4), neighbors=(3, 8), gamma=gamma, m=15
    )
    told = []
    learn = partial(alternate, on_round=lambda i, value: told.append(value))
    _, result = run(problem, found, refined=refined, learn=learn)
    trace = result.objective_trace
    assert (np.diff(trace) >= -2e-4 * np.abs(trace).max()).all()
    for weights in (result.problem.theta, result.problem.beta):
        assert np.linalg.norm(weights) == pytest.approx(1, abs=1e-6)
        assert min(weights) >= 0
    assert_array_equal(told, trace[: len(told)])
    assert len(trace) == len(told) + refined


# -- small spans -----------------------------------------------------------------------


@pytest.mark.parametrize("refined", [True, False])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_fewer_directions_than_components(rows, m, refined):
    """With m landmarks the centred features have m - 1: the graph says the rest."""
    problem, found, K, R = make(rows, m=m)
    M, basis = whole(problem, K, R)
    values, V = top(M, basis)
    size = np.abs(np.linalg.eigvalsh(M)).max()
    span, result = run(problem, found, refined=refined, wide=False)
    W = result.pairs.vectors.astype(float)
    assert W.shape == (150, D)
    assert np.isfinite(W).all()
    assert_allclose(W.T @ W, np.eye(D), atol=1e-3)
    if refined or span.dimension <= D:
        assert_allclose(result.pairs.values, values[:D], atol=2 * REFINED * size)
        gap = (values[D - 1] - values[D]) / size
        assert np.sin(largest_angle(W, V)) <= 5 * REFINED / gap


def test_no_direction_at_all(rows):
    """Features that are all zero leave the graph alone to speak."""
    nothing = Term("K", LowRank(np.zeros((150, 2), dtype=np.float32)))
    problem, found, _, R = make(rows)
    problem = replace(problem, kernels=(nothing,))
    _, result = run(problem, found, refined=True)
    M, basis = whole(problem, [np.zeros((150, 150))], R)
    values, _ = top(M, basis)
    size = np.abs(np.linalg.eigvalsh(M)).max()
    assert_allclose(result.pairs.values, values[:D], atol=2 * REFINED * size)


def test_without_a_graph_the_span_is_all_there_is(rows):
    problem, _, K, _ = make(rows, neighbors=())
    _, result = run(problem, {}, refined=False)
    M, basis = whole(problem, K, [])
    values, V = top(M, basis)
    assert_allclose(result.pairs.values, values[:D], rtol=1e-4)
    assert largest_angle(result.pairs.vectors.astype(float), V) < 1e-3


def test_isolated_nodes_are_refined_too(rows):
    A = NeighborGraph(5).build(rows).to_scipy().toarray()
    A[100:], A[:, 100:] = 0, 0
    problem, _, K, _ = make(rows)
    for kind in ("normalized", "combinatorial"):
        L = laplacian(Graph(sp.csr_array(A)), kind)
        term = graph_term(
            L, None, n_components=D, rng=np.random.default_rng(0), dtype=np.float32
        )
        here = replace(problem, graphs=(term,))
        _, result = run(here, {"graph": L}, refined=True, tol=1e-5)
        M, basis = whole(here, K, [-dense_laplacian(A, kind)])
        _, V = top(M, basis)
        assert largest_angle(result.pairs.vectors.astype(float), V) < 1e-2


def test_the_same_bits_again(rows):
    problem, found, _, _ = make(rows, **SEVERAL[2])
    one, two = (
        run(problem, found, refined=True, learn=alternate)[1].pairs.vectors
        for _ in range(2)
    )
    assert_array_equal(one, two)


def test_rounds_of_refining_are_reported_and_can_be_stopped(rows):
    problem, found, _, _ = make(rows, gamma=50.0, m=8)
    seen = []
    _, result = run(
        problem, found, refined=True, tol=1e-6, observer=lambda step: seen.append(step)
    )
    assert len(seen) == result.pairs.n_iterations
    _, stopped = run(problem, found, refined=True, tol=1e-6, observer=lambda step: True)
    assert stopped.pairs.n_iterations == 1


def test_refining_starts_from_the_answer_in_the_span(rows):
    """Its first residual is far below that of a random block."""
    problem, found, _, _ = make(rows, gamma=0.5)
    first = []
    run(problem, found, refined=True, observer=lambda step: first.append(step.residual))
    at_random = []
    problem.solve(
        D,
        solver="chebyshev",
        tol=REFINED,
        rng=np.random.default_rng(0),
        observer=lambda step: at_random.append(step.residual),
    )
    assert first[0] < 0.1 * at_random[0]
    assert len(first) <= len(at_random)


@pytest.mark.parametrize("neighbors", [(5,), (4, 7)])
def test_an_order_of_the_rows_changes_nothing(rows, monkeypatch, neighbors):
    """Large graphs are put in an order in which neighbours are near."""
    problem, found, _, _ = make(rows, neighbors=neighbors)
    ordered = []
    monkeypatch.setattr(
        refine,
        "with_neighbours_near",
        lambda base: ordered.append(base) or with_neighbours_near(base),
    )

    def answer(**how):
        span = span_of(problem, found, wide=False)
        rng = np.random.default_rng(0)
        return in_span(span, problem, D, refined=True, rng=rng, tol=1e-5, **how)

    given = answer(ordered=True)
    assert not ordered, "so few rows are left as they are"
    monkeypatch.setattr(refine, "FAR", 10)
    answer(ordered=False)
    assert not ordered, "no copy of the graph where memory counts"
    moved = answer(ordered=True)
    assert len(ordered) == len(neighbors)
    assert_allclose(moved.pairs.values, given.pairs.values, rtol=1e-4)
    assert largest_angle(moved.pairs.vectors, given.pairs.vectors) < 0.1
