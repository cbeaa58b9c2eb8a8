"""The parts of a Problem: its sum, its mean, its trivial vector, and how it is told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphfold.model.problem import Memo, Problem, _weighted
from graphfold.model.terms import Term
from graphfold.operators import Dense, Diagonal

N = 8


def symmetric(seed, dtype=np.float64):
    Z = np.random.default_rng(seed).standard_normal((N, N))
    return (Z @ Z.T).astype(dtype)


def terms(*seeds, dtype=np.float64, **more):
    return tuple(Term(f"t{s}", Dense(symmetric(s, dtype)), **more) for s in seeds)


def make(**more):
    how = {"theta": (0.5, 2.0), "beta": (3.0,), "gamma": 0.7, "fixed_weights": (0.2,)}
    how |= more
    return Problem(terms(1, 2), graphs=terms(3), fixed=terms(4), **how)


M = 0.5 * symmetric(1) + 2 * symmetric(2) + 0.7 * 3 * symmetric(3) + 0.2 * symmetric(4)
H = np.eye(N) - 1 / N


@pytest.mark.parametrize("center", [True, False])
def test_all_terms_are_summed_by_their_weights(center):
    problem = make(center=center)
    P = H if center else np.eye(N)
    assert_allclose(problem.operator().to_dense(), P @ M @ P, atol=1e-10)
    data = 0.5 * symmetric(1) + 2 * symmetric(2)
    assert_allclose(problem.data_operator().to_dense(), P @ data @ P, atol=1e-10)
    assert_allclose(problem.raw_data_operator().to_dense(), data, atol=1e-10)
    assert_allclose(problem.graph_operator().to_dense(), 3 * symmetric(3), atol=1e-10)


def test_without_terms_there_is_nothing():
    alone = Problem((), (), terms(3), (1.0,), gamma=0.5)
    assert alone.data_operator() is None
    assert alone.raw_data_operator() is None
    assert Problem(terms(1), (1.0,)).graph_operator() is None
    with pytest.raises(ValueError, match="at least one term"):
        Problem(terms(1), (0.0,)).operator()
    fixed = Problem((), (), fixed=terms(4), fixed_weights=(2.0,), center=False)
    assert_allclose(fixed.operator().to_dense(), 2 * symmetric(4))
    assert fixed.n == N


def test_a_weight_of_one_is_no_product_and_of_zero_no_term():
    first, second = terms(1, 2)
    assert _weighted((first, second), (1.0, 0.0)) == [first.operator]
    (scaled,) = _weighted((first, second), (0.0, 3.0))
    assert_allclose(scaled.to_dense(), 3 * symmetric(2))
    for weights in ((1.0,), (1.0, 2.0, 3.0)):
        with pytest.raises(ValueError, match="zip"):
            _weighted((first, second), weights)


def test_weights_and_strength_are_exchanged():
    problem = make(center=False).with_gamma(0).with_weights([1, 0], [5])
    assert (problem.gamma, problem.theta, problem.beta) == (0.0, (1.0, 0.0), (5.0,))
    expected = symmetric(1) + 0.2 * symmetric(4)
    assert_allclose(problem.operator().to_dense(), expected, atol=1e-10)


def test_the_sum_of_kernels_is_kept_until_other_weights_are_asked_for():
    problem = make()
    first = problem.raw_data_operator()
    assert problem.with_gamma(3.0).raw_data_operator() is first
    other = problem.with_weights([1.0, 1.0], [1.0]).raw_data_operator()
    assert_allclose(other.to_dense(), symmetric(1) + symmetric(2), atol=1e-10)
    again = problem.raw_data_operator()
    assert_allclose(again.to_dense(), 0.5 * symmetric(1) + 2 * symmetric(2), atol=1e-10)
    memo = Memo()
    kept = memo.sum_of([Dense(symmetric(1)), Dense(symmetric(2))], (1.0, 1.0))
    room = kept.matrix
    moved = memo.sum_of([Dense(symmetric(1)), Dense(symmetric(3))], (1.0, 2.0))
    assert moved.matrix is room  # one place for all sums
    mixed = Memo().sum_of([Diagonal(np.ones(N)), Diagonal(np.ones(N))], (1.0, 1.0))
    assert_allclose(mixed.to_dense(), 2 * np.eye(N))


def test_precision_is_that_of_all_terms():
    single = Problem(terms(1, dtype=np.float32), (1.0,))
    assert single.dtype == np.float32
    assert single.trivial_vector().dtype == np.float32
    mixed = Problem(terms(1, dtype=np.float32), (1.0,), terms(3), (1.0,), gamma=1.0)
    assert mixed.dtype == np.float64


def test_the_trivial_vector_is_the_constant_unless_another_is_given():
    problem = make()
    assert_allclose(problem.trivial_vector(), np.full((N, 1), N**-0.5))
    assert make(center=False).trivial_vector() is None
    q = np.eye(N, dtype=np.float32)[2]
    other = make(center=False, trivial=q)
    assert_array_equal(other.trivial_vector(), q[:, None])
    assert other.trivial_vector().dtype == np.float64
    values = other.solve(N, solver="lapack").values
    assert values[-1] == 0.0


@pytest.mark.parametrize("center", [True, False])
def test_all_components_can_be_asked_for(center):
    problem = make(center=center)
    pairs = problem.solve(N, solver="lapack")
    P = H if center else np.eye(N)
    assert pairs.vectors.shape == (N, N)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(N), atol=1e-9)
    rebuilt = (pairs.vectors * pairs.values) @ pairs.vectors.T
    assert_allclose(rebuilt, P @ M @ P, atol=1e-8)
    assert len(pairs.residuals) == N
    largest = pairs.vectors[np.abs(pairs.vectors).argmax(axis=0), np.arange(N)]
    assert (largest > 0).all()
    if center:
        assert (pairs.values[-1], pairs.residuals[-1]) == (0.0, 0.0)
        assert_allclose(pairs.vectors[:, -1], N**-0.5)


def test_a_solver_starts_where_one_kernel_says():
    start, given = np.ones((N, 1)), np.zeros((N, 1))
    (one,) = terms(1, start=start)
    alone = Problem((one,), (1.0,))
    assert alone.start() is start
    assert alone.start(given) is given
    assert Problem((one, one), (1.0, 1.0)).start() is None
    assert Problem((one, one), (1.0, 1.0)).start(given) is given


def test_rows_that_count_unalike_have_a_weighted_mean(rng):
    roots = np.sqrt(np.arange(1.0, N + 1))
    problem = make(roots=roots)
    V = rng.standard_normal((N, 3))
    q = roots / np.linalg.norm(roots)
    assert_allclose(problem.centred(V), V - np.outer(q, q @ V), atol=1e-12)
    assert_allclose(problem.mean_of(V), roots @ V / (roots @ roots))
    single = V.astype(np.float32)
    assert problem.centred(single).dtype == np.float32
    assert problem.mean_of(single).dtype == np.float32
    plain = make()
    assert_allclose(plain.mean_of(V), V.mean(axis=0))
    assert_allclose(plain.centred(V), V - V.mean(axis=0))
    assert make(center=False).centred(V) is V


def test_shares_are_traces_of_each_term(rng):
    V = np.linalg.qr(rng.standard_normal((N, 2)))[0]
    of_kernels, of_graphs = make().shares(V)
    W = H @ V
    expected = [np.trace(W.T @ symmetric(s) @ W) for s in (1, 2)]
    assert_allclose(of_kernels, expected)
    assert_allclose(of_graphs, [np.trace(W.T @ symmetric(3) @ W)])


def test_a_problem_is_told_with_all_its_terms():
    assert str(make()) == (
        "M = P (0.5 K[t1] + 2 K[t2] + 2.1 R[t3: dense] + 0.2 R[t4]) P, "
        "P = I - 11'/n; n = 8, float64"
    ).replace("dense", make().graphs[0].operator.describe())
    assert str(Problem(terms(1), (1.0,), center=False)) == (
        "M = 1 K[t1]; n = 8, float64"
    )
