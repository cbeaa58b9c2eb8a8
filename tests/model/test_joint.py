"""Many strengths in one space: answers of each alone, for the products of a few."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from graphfold import Graph, kernels, responses
from graphfold.errors import ConvergenceError
from graphfold.graphs import laplacian
from graphfold.model import joint
from graphfold.model.alternate import best_of_starts, equal_weights
from graphfold.model.joint import JointSpace, can_be_joint, solutions
from graphfold.model.problem import Problem
from graphfold.model.terms import Term, graph_term, kernel_term
from graphfold.operators import Dense, Diagonal, SymmetricOperator

D = 5
GAMMAS = (0.0, 1.0, 10.0, 100.0, 1000.0)


def clouds(rng, n=400, dtype=float):
    return (
        rng.standard_normal((n, 8)) + 3 * rng.standard_normal((4, 8))[np.arange(n) % 4]
    ).astype(dtype)


def graph_of(X, rng, response=None, kind="normalized"):
    A = kneighbors_graph(X[:, :3], 6)
    L = laplacian(Graph(A.maximum(A.T)), kind)
    return graph_term(L, response, n_components=D, rng=rng, dtype=X.dtype)


def problem_of(rng, *, dtype=float, center=True, response=None, kind="normalized"):
    X = clouds(rng, dtype=dtype)
    K = kernel_term(kernels.Gaussian(0.02), X)
    R = graph_of(X, rng, response, kind)
    return Problem((K,), (1.0,), (R,), (1.0,), center=center)


def assert_as_good_as_alone(problem, gamma, V):
    """Orthonormal, next to invariant, and nearly all of the largest objective."""
    problem = problem.with_gamma(gamma)
    assert np.abs(V.T @ V - np.eye(D)).max() < 1e-4
    exact = problem.solve(D, solver="lapack")
    size = np.abs(exact.values).max()
    MV = problem.operator().apply(V)
    rest = MV - V @ (V.T @ MV)
    assert np.linalg.norm(rest) < joint.TOLERANCE * D**0.5 * size
    gap = exact.values.sum() - np.trace(V.T @ MV)
    assert abs(gap) < 0.03 * D * size


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"dtype": np.float32},
        {"center": False},
        {"kind": "combinatorial"},
        {"response": responses.Diffusion(5.0)},
    ],
    ids=str,
)
def test_every_gamma_has_its_eigenvectors(rng, settings):
    problem = problem_of(rng, **settings)
    found = dict(solutions(problem, GAMMAS, D, rng=rng))
    assert sorted(found) == list(range(len(GAMMAS)))
    for place, gamma in enumerate(GAMMAS):
        assert_as_good_as_alone(problem, gamma, found[place])
        if problem.center:
            assert np.abs(found[place].sum(axis=0)).max() < 1e-3


def test_links_are_part_of_every_problem(rng):
    problem = problem_of(rng)
    rows = rng.permutation(problem.n)[:40]
    numbers = np.zeros(problem.n)
    numbers[rows] = -1.0
    problem = replace(
        problem, fixed=(Term("links", Diagonal(numbers)),), fixed_weights=(50.0,)
    )
    for place, V in solutions(problem, GAMMAS, D, rng=rng):
        assert_as_good_as_alone(problem, GAMMAS[place], V)


class Counting(SymmetricOperator):
    """A kernel that counts the columns it is multiplied by."""

    def __init__(self, matrix):
        self.matrix, self.columns = matrix, 0
        self.n, self.dtype = len(matrix), matrix.dtype

    def apply(self, V):
        self.columns += V.shape[1]
        return self.matrix @ V

    def diagonal(self):
        return np.diagonal(self.matrix).copy()

    def entries(self):
        return self.matrix.copy()

    def bounds(self):
        return 0.0, float(np.trace(self.matrix))

    def work(self):
        return 2.0 * self.n**2

    def describe(self):
        return "K"


def test_a_path_costs_the_products_of_one_space(rng):
    problem = problem_of(rng)
    counted = Counting(problem.kernels[0].base.matrix)
    problem = replace(problem, kernels=(Term("K", counted),))
    gammas = np.geomspace(0.1, 100, 40)
    list(solutions(problem, gammas, D, rng=rng))
    assert counted.columns <= max(joint.LEAST, joint.BLOCKS * (D + joint.OVERSAMPLE))


def test_weights_are_learned_at_every_gamma(rng):
    X = clouds(rng)
    terms = tuple(
        kernel_term(kernels.Gaussian(width), X, name=str(width))
        for width in (0.005, 0.05, 0.5)
    )
    R = graph_of(X, rng)
    problem = Problem(terms, tuple(equal_weights(3)), (R,), (1.0,))
    starts = [(equal_weights(3), np.ones(1))]
    learn = partial(best_of_starts, starts=starts, norm=2.0)
    for place, V in solutions(problem, GAMMAS, D, rng=rng, learn=learn):
        alone = learn(problem.with_gamma(GAMMAS[place]), D, solver="lapack")
        assert_as_good_as_alone(alone.problem, GAMMAS[place], V)


def test_the_last_directions_can_be_had(rng):
    """Few rows: the space becomes all there is."""
    X = clouds(rng, n=130)
    K = kernel_term(kernels.Gaussian(0.02), X)
    problem = Problem((K,), (1.0,), (graph_of(X, rng),), (1.0,))
    d = 120
    assert can_be_joint(problem, d)
    assert not can_be_joint(problem, 126)
    for place, V in solutions(problem, (0.0, 3.0), d, rng=rng):
        exact = problem.with_gamma(3.0 * place).solve(d, solver="lapack")
        M = problem.with_gamma(3.0 * place).operator()
        assert np.trace(V.T @ M.apply(V)) == pytest.approx(exact.values.sum(), rel=1e-2)


def test_products_that_are_no_numbers_are_refused(rng):
    matrix = np.eye(200)
    matrix[3, 4] = matrix[4, 3] = np.inf
    problem = Problem((Term("K", Dense(matrix)),), (1.0,))
    with pytest.raises(ConvergenceError, match="not finite"), np.errstate(all="ignore"):
        list(solutions(problem, (0.0,), 2, rng=rng))


def test_a_space_stays_orthonormal_and_knows_its_products(rng):
    problem = problem_of(rng)
    space = JointSpace(problem, 12)
    block = rng.standard_normal((problem.n, 8))
    assert space.add(block)
    assert space.add(rng.standard_normal((problem.n, 8)))
    assert space.is_full
    assert not space.add(block)
    assert np.abs(space.Q.T @ space.Q - np.eye(12)).max() < 1e-12
    small = space.project(problem.with_gamma(2.0)).operator().to_dense()
    M = problem.with_gamma(2.0).operator()
    assert np.abs(small - space.Q.T @ M.apply(space.Q)).max() < 1e-9


def test_a_sparse_kernel_serves(rng):
    X = sp.csr_array(rng.random((300, 40)) * (rng.random((300, 40)) < 0.1))
    K = kernel_term(kernels.Linear(), X)
    A = kneighbors_graph(X, 5)
    L = laplacian(Graph(A.maximum(A.T)), "normalized")
    R = graph_term(L, None, n_components=D, rng=rng)
    problem = Problem((K,), (1.0,), (R,), (1.0,))
    for place, V in solutions(problem, GAMMAS, D, rng=rng):
        assert_as_good_as_alone(problem, GAMMAS[place], V)
