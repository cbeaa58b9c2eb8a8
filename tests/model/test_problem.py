"""The Problem: printed, inspected, solved; the trivial vector stays out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphfold import NeighborGraph, kernels, responses
from graphfold.graphs import laplacian
from graphfold.model.extend import Extension, data_share, graph_shares
from graphfold.model.problem import Problem
from graphfold.model.strength import absolute_strength, data_scale
from graphfold.model.terms import graph_term, kernel_term
from tests.helpers import largest_angle


def make(X, *, gamma=2.0, center=True, response=None, kind="normalized"):
    L = laplacian(NeighborGraph(4).build(X), kind)
    R = graph_term(L, response, n_components=3, rng=np.random.default_rng(0))
    K = kernel_term(kernels.Gaussian(0.2), X)
    return Problem((K,), (1.0,), (R,), (1.0,), gamma=gamma, center=center), L


def dense(problem):
    K, R = (t.operator.to_dense() for t in problem.kernels + problem.graphs)
    M = K + problem.gamma * R
    H = np.eye(problem.n) - 1 / problem.n
    return H @ M @ H if problem.center else M


@pytest.mark.parametrize("center", [True, False])
def test_operator_is_the_formula(points, center):
    problem, _ = make(points, center=center)
    assert_allclose(problem.operator().to_dense(), dense(problem), atol=1e-12)
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 3)))[0]
    assert problem.objective(V) == pytest.approx(np.trace(V.T @ dense(problem) @ V))


def test_prints_as_a_formula(points):
    problem, _ = make(points)
    assert str(problem) == (
        "M = P (1 K[Gaussian] + 2 R[graph: -1 * L]) P, P = I - 11'/n; n = 60, float64"
    )


@pytest.mark.parametrize("gamma", [0.0, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("solver", ["lapack", "krylov"])
def test_the_constant_vector_never_gets_in(points, gamma, solver):
    """At strong gamma it has eigenvalue 0 above all others, and must still stay out."""
    problem, _ = make(points, gamma=gamma, kind="combinatorial")
    pairs = problem.solve(5, solver=solver)
    assert np.abs(pairs.vectors.sum(axis=0)).max() < 1e-6
    values = np.linalg.eigvalsh(dense(problem) - 1e6 * np.ones((60, 60)) / 60)
    assert_allclose(pairs.values, values[::-1][:5], atol=1e-7 * max(gamma, 1))
    if gamma > 50:
        assert pairs.values[-1] < 0  # the trap is really there


def test_all_components_can_be_asked_for(points):
    problem, _ = make(points[:12])
    pairs = problem.solve(12)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(12), atol=1e-10)


def test_signs_do_not_depend_on_the_solver(points):
    problem, _ = make(points)
    one, two = (problem.solve(4, solver=s).vectors for s in ("lapack", "krylov"))
    assert_allclose(one, two, atol=1e-7)
    assert (one[np.abs(one).argmax(axis=0), range(4)] > 0).all()


def test_strength_has_no_unit(points):
    """Scaling the kernel or the weights of the graph must not change the answer."""
    problem, _ = make(points, kind="combinatorial")
    top, _ = data_scale(problem)
    H = np.eye(60) - 1 / 60
    K = H @ problem.kernels[0].operator.to_dense() @ H
    assert top == pytest.approx(np.linalg.eigvalsh(K)[-1], rel=1e-8)
    gamma, _ = absolute_strength(problem, 3.0, normalize=True)
    assert gamma == pytest.approx(3.0 * top / problem.graphs[0].size)
    assert absolute_strength(problem, 3.0, normalize=False) == (3.0, None)
    assert absolute_strength(problem, 0.0, normalize=True) == (0.0, None)


RESPONSES = [None, responses.Diffusion(2.0)]


def solved(X, **how):
    problem, L = make(X, **how)
    pairs = problem.solve(3)
    data = data_share(problem, kernels.Gaussian(0.2), X, pairs.vectors, by_factor=False)
    return problem, L, pairs, data


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@pytest.mark.parametrize("center", [True, False])
def test_fixed_point_gives_every_training_row_back(points, kind, center):
    problem, L, pairs, data = solved(points, kind=kind, center=center)
    rule = Extension(
        pairs.vectors,
        pairs.values,
        data,
        graph_shares(problem, {"graph": L}, pairs.vectors),
    )
    edges = NeighborGraph(4).build(points).to_scipy()
    assert_allclose(rule.place(points, {"graph": edges}), pairs.vectors, atol=1e-12)


def test_the_term_of_the_trivial_vector_matters(points):
    """Without q'RV the training rows would be off: the reason it is there."""
    problem, L, pairs, _ = solved(points)
    (share,) = graph_shares(problem, {"graph": L}, pairs.vectors)
    assert np.abs(share.trivial).max() > 1e-4


def test_energies_trace_and_offsets_by_definition(points):
    _, _, pairs, data = solved(points)
    H = np.eye(60) - 1 / 60
    K = kernels.Gaussian(0.2).gram(points)
    centred = H @ K @ H
    assert_allclose(data.energies, np.diag(pairs.vectors.T @ centred @ pairs.vectors))
    assert data.trace == pytest.approx(np.trace(centred))
    products, means = data.of(points[:7])
    assert_allclose(products, (centred @ pairs.vectors)[:7], atol=1e-12)
    norms = data.squared_norms(points[:7], means)
    assert_allclose(norms, np.diag(centred)[:7], atol=1e-12)


def test_a_row_without_edges_is_placed_by_its_features(points):
    problem, L, pairs, data = solved(points)
    rule = Extension(
        pairs.vectors,
        pairs.values,
        data,
        graph_shares(problem, {"graph": L}, pairs.vectors),
    )
    new = points[:3] + 0.1
    expected = data.of(new)[0] / data.energies
    assert_allclose(rule.place(new), expected)
    assert_allclose(rule.place(new, {"graph": np.zeros((3, 60))}), expected)
    with_edges = rule.place(new, {"graph": np.eye(60)[:3]})
    assert np.abs(with_edges - expected).max() > 1e-3


def test_kernel_form_takes_the_mean_over_neighbours(points):
    problem, L, pairs, data = solved(points, response=responses.Diffusion(2.0))
    (share,) = graph_shares(problem, {"graph": L}, pairs.vectors)
    rule = Extension(pairs.vectors, pairs.values, data, [share])
    edges = np.zeros((1, 60))
    edges[0, [3, 8]] = 1.0, 3.0
    R = problem.graphs[0].operator.to_dense()
    RV = R @ pairs.vectors
    mean = (RV[3] + 3 * RV[8]) / 4 - RV.mean(axis=0)
    new = points[:1] + 0.2
    expected = (data.of(new)[0] + problem.gamma * mean) / pairs.values
    assert_allclose(rule.place(new, {"graph": edges}), expected, rtol=1e-9)


def test_a_vanishing_denominator_falls_back_to_the_features(points):
    problem, L, pairs, data = solved(points)
    (share,) = graph_shares(problem, {"graph": L}, pairs.vectors)
    # one edge makes the normalised degree 1, so v'Kv + v'Rv = -gamma cancels exactly
    energies = share.energies.copy()
    energies[1] = -problem.gamma - data.energies[1]
    share = replace(share, energies=energies)
    rule = Extension(pairs.vectors, pairs.values, data, [share])
    placed = rule.place(points[:1] + 0.1, {"graph": np.eye(60)[:1]})
    expected = data.of(points[:1] + 0.1)[0] / data.energies
    assert placed[0, 1] == pytest.approx(expected[0, 1])
    assert placed[0, 0] != pytest.approx(expected[0, 0])
    assert np.isfinite(placed).all()


@given(
    st.integers(0, 10_000),
    st.floats(0, 30),
    st.sampled_from(["normalized", "combinatorial"]),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_solution_is_stationary_and_orthonormal(seed, gamma, kind, center):
    X = np.random.default_rng(seed).standard_normal((25, 3))
    problem, _ = make(X, gamma=gamma, kind=kind, center=center)
    pairs = problem.solve(4)
    M = dense(problem)
    size = np.abs(np.linalg.eigvalsh(M)).max()
    V = pairs.vectors
    assert_allclose(V.T @ V, np.eye(4), atol=1e-10)
    assert np.abs(M @ V - V * pairs.values).max() < 1e-9 * size
    rotated = np.linalg.qr(np.random.default_rng(seed).standard_normal((25, 4)))[0]
    rotated = np.linalg.qr(rotated - rotated.mean(axis=0))[0] if center else rotated
    assert problem.objective(V) >= problem.objective(rotated) - 1e-9 * size


@given(st.integers(0, 10_000), st.floats(0.1, 10))
@settings(max_examples=20, deadline=None)
def test_rows_in_another_order_give_the_same_subspace(seed, gamma):
    rng = np.random.default_rng(seed)
    X, order = rng.standard_normal((30, 3)), rng.permutation(30)
    V = make(X, gamma=gamma)[0].solve(3)
    W = make(X[order], gamma=gamma)[0].solve(4)
    gap = W.values[2] - W.values[3]
    if gap < 1e-6 * W.values[0]:
        return  # the third axis is not determined
    assert largest_angle(V.vectors[order], W.vectors[:, :3]) < 1e-5
