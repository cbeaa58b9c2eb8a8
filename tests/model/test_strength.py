"""Strength without dimension: measured by the best direction of the data."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graphfold import Graph, kernels
from graphfold.graphs import laplacian
from graphfold.model import strength
from graphfold.model.problem import Problem
from graphfold.model.strength import absolute_strength, data_scale, graph_size
from graphfold.model.terms import Term, graph_term, kernel_term
from graphfold.operators import Dense
from tests.model.test_problem_parts import H, N, symmetric, terms


@pytest.mark.parametrize("center", [True, False])
def test_strength_one_lifts_as_much_as_the_best_direction(center, rng):
    X = rng.standard_normal((N, 3))
    L = laplacian(Graph([(i, i + 1) for i in range(N - 1)]), "combinatorial")
    R = graph_term(L, None, n_components=2, rng=rng)
    K = kernel_term(kernels.Gaussian(0.2), X)
    problem = Problem((K,), (1.0,), (R, R), (0.5, 2.0), center=center)
    P = H if center else np.eye(N)
    top = np.linalg.eigvalsh(P @ kernels.Gaussian(0.2).gram(X) @ P)[-1]
    assert graph_size(problem) == pytest.approx(0.5 * 2 + 2.0 * 2)
    found, start = absolute_strength(problem, 3.0, normalize=True, d=2)
    assert found == pytest.approx(3.0 * top / 5.0, rel=1e-6)
    assert start.shape[0] == N
    assert start.shape[1] >= 2
    for gamma, how in ((3.0, {"normalize": False}), (0.0, {"normalize": True})):
        assert absolute_strength(problem, gamma, **how) == (gamma, None)
    alone = Problem((K,), (1.0,))
    assert absolute_strength(alone, 3.0, normalize=True) == (3.0, None)
    assert graph_size(alone) == 1.0


def test_a_kernel_that_is_not_there_or_not_positive_has_size_one():
    alone = Problem((), (), terms(3), (1.0,))
    assert data_scale(alone) == (1.0, None)
    K = Term("k", Dense(-symmetric(1)))
    top, _ = data_scale(Problem((K,), (1.0,), center=False))
    assert top == 1.0


@pytest.mark.parametrize(("dtype", "tol"), [(np.float32, 1e-3), (np.float64, 1e-5)])
def test_a_loose_solve_of_one_direction_is_enough(dtype, tol, monkeypatch):
    asked = []
    solve = strength.top_eigenpairs

    def spy(operator, d, **how):
        asked.append((d, how))
        return solve(operator, d, **how)

    monkeypatch.setattr(strength, "top_eigenpairs", spy)
    problem = Problem(terms(1, dtype=dtype), (1.0,))
    data_scale(problem, 99, start=None)
    ((d, how),) = asked
    assert d == N - 1  # the constant is kept out
    assert (how["tol"], how["needed"], how["start"]) == (tol, 1, None)
    assert_array_equal(how["avoid"], problem.trivial_vector())
    given = np.ones((N, 1), dtype=dtype)
    data_scale(problem, 2, start=given)
    assert asked[-1][1]["start"] is given
    (begun,) = terms(1, start=np.ones((N, 1)))
    data_scale(Problem((begun,), (1.0,), center=False), 99)
    d, how = asked[-1]
    assert (d, how["avoid"]) == (N, None)
    assert how["start"] is begun.start


def test_a_small_kernel_has_its_own_size():
    K = symmetric(1)
    K = K @ K
    K /= 8 * np.linalg.eigvalsh(H @ K @ H)[-1]
    top, _ = data_scale(Problem((Term("k", Dense(K)),), (1.0,)))
    assert top == pytest.approx(1 / 8, rel=1e-6)
