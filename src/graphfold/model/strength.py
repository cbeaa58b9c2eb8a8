"""From a strength without dimension to the gamma of the formula."""

from __future__ import annotations

from typing import Any

from graphfold.arrays import Array
from graphfold.model.problem import Problem
from graphfold.solvers import top_eigenpairs

#: tolerance asked for, the most of which makes the size of the data less accurate
LOOSEST = 1e-4


def absolute_strength(
    problem: Problem, strength: float, *, normalize: bool, d: int = 1, **how: Any
) -> tuple[float, Array | None]:
    """gamma = strength * lambda_max(K) / c(R), K centred as in the problem.

    Also returns what was met on the way, the top d directions of the data as far as
    they are known: a good place to start the problem from.

    Strength 1 then means that the graphs together can lift a vector by as much as the
    best direction of the data is worth, whatever the units of either.
    ``normalize=False`` is the paper's letter: gamma is the strength itself.
    """
    if strength == 0 or not problem.graphs or not normalize:
        return float(strength), None
    top, vectors = data_scale(problem, d, **how)
    return float(strength) * top / graph_size(problem), vectors


def graph_size(problem: Problem) -> float:
    """c of all graph terms together, at the weights they have: sum beta c(R)."""
    weighted = zip(problem.beta, problem.graphs, strict=True)
    return sum(weight * term.size for weight, term in weighted) or 1.0


def data_scale(problem: Problem, d: int = 1, **how: Any) -> tuple[float, Array | None]:
    """lambda_max of the (centred) kernel, and top directions; 1 where there is none.

    An eigenvalue is known to the square of its residual, so a loose solve is enough
    for ten digits: a looser one where the tolerance of the vectors is loose itself.
    """
    operator = problem.data_operator()
    if operator is None:
        return 1.0, None
    trivial = problem.trivial_vector()
    d = min(d, problem.n - (trivial is not None))
    single = operator.dtype.itemsize == 4
    asked = min(float(how.get("tol") or 0.0), LOOSEST)
    how = {**how, "tol": max(1e-3 if single else 1e-5, asked**0.5), "needed": 1}
    how["start"] = problem.start(how.get("start"))
    how["name"] = "size of the kernel"
    pairs = top_eigenpairs(operator, d, avoid=trivial, **how)
    top = float(pairs.values[0])
    return (top if top > 0 else 1.0), pairs.start
