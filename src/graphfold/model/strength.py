"""From a strength without dimension to the gamma of the formula."""

from __future__ import annotations

from typing import Any

from graphfold.model.problem import Problem
from graphfold.solvers import top_eigenpairs


def absolute_strength(
    problem: Problem, strength: float, *, normalize: bool, **how: Any
) -> float:
    """gamma = strength * lambda_max(K) / c(R), K centred as in the problem.

    Strength 1 then means that the graph can lift a vector by as much as the best
    direction of the data is worth, whatever the units of either. ``normalize=False``
    is the paper's letter: gamma is the strength itself.
    """
    if strength == 0 or not problem.graphs or not normalize:
        return float(strength)
    size = max(term.size for term in problem.graphs)
    return float(strength) * largest_data_eigenvalue(problem, **how) / size


def largest_data_eigenvalue(problem: Problem, **how: Any) -> float:
    """lambda_max of the (centred) kernel; 1 where there is none, or where it is 0.

    An eigenvalue is known to the square of its residual, so a loose solve is enough.
    """
    operator = problem.data_operator()
    if operator is None:
        return 1.0
    single = operator.dtype.itemsize == 4
    how = {**how, "tol": 1e-3 if single else 1e-5}
    pairs = top_eigenpairs(operator, 1, avoid=problem.trivial_vector(), **how)
    return float(pairs.values[0]) if pairs.values[0] > 0 else 1.0
