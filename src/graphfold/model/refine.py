"""The answer in a span, and from there the answer itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.model.alternate import Alternation, objective_of, solved
from graphfold.model.problem import Problem
from graphfold.model.span import Span
from graphfold.operators import (
    Reordered,
    Scaled,
    Sparse,
    SymmetricOperator,
    with_neighbours_near,
)
from graphfold.solvers import Eigenpairs
from graphfold.solvers.filtering import lowest_eigenvalue_bound
from graphfold.threads import ours

#: residual of a refined answer: landmarks are a hundredth off, more digits are lost
REFINED = 5e-3
#: features are of single precision: a smaller residual cannot be had
FINEST = 1e-6
#: a problem in the span is small: it is solved to what float32 features are worth
IN_SPAN = 1e-6
#: rows from which the vectors of a block are larger than the cache
FAR = 200_000
#: dimension of a span from which LAPACK takes longer than iteration
LARGE_SPAN = 1500


def in_span(
    span: Span,
    problem: Problem,
    d: int,
    *,
    learn: Callable[..., Alternation] | None = None,
    refined: bool,
    ordered: bool = False,
    **how: Any,
) -> Alternation:
    """Solve a problem in a span, weights and all; then, if asked, on all n-vectors.

    Refining is Chebyshev-filtered iteration of a block that starts with the answer in
    the span: what a function of the features cannot say, the graph adds. ``ordered``:
    a large graph may be copied to put neighbours near each other.
    """
    tol, solver = how.pop("tol", None), how.pop("solver", "auto")
    how.pop("start", None)
    whole = span.features.whole and problem.roots is None
    if span.dimension < d or (whole and span.dimension == d):
        # the features know fewer directions than are asked for
        if not whole:
            where = "forgotten" if span.features.whole else "on workers"
            raise GraphfoldError(
                f"n_components must be at most {span.dimension} where rows are "
                f"{where}: the kernel has no more directions; got {d}"
            )
        return (learn or solved)(problem, d, tol=tol, solver=solver, **how)
    small = span.project(problem)
    iterative = "krylov" if span.dimension > LARGE_SPAN else "lapack"
    in_small: dict[str, Any] = {"solver": iterative, "rng": how.get("rng")}
    in_small["tol"] = IN_SPAN if refined else 1e-10
    result = (learn or solved)(small, d, **in_small)
    problem = problem.with_weights(result.problem.theta, result.problem.beta)
    if not refined:
        pairs, coordinates = _expanded(span, result.pairs)
        return replace(result, problem=problem, pairs=pairs, coordinates=coordinates)
    width = min(2 * d, span.dimension)
    wide = result.problem.solve(width, **in_small)
    with ours():
        pairs = (_ordered(problem) if ordered else problem).solve(
            d,
            solver="chebyshev" if solver == "auto" else solver,
            tol=REFINED if tol is None else max(tol, FINEST),
            start=span.vectors(wide.vectors),
            bottom=_bottom(problem, how["rng"]),
            **how,
        )
    if solver == "auto":
        pairs = replace(pairs, reason="of the whole problem, from the landmarks' span")
    trace = np.append(result.objective_trace, objective_of(problem, pairs))
    return replace(result, problem=problem, pairs=pairs, objective_trace=trace)


def _bottom(problem: Problem, rng: np.random.Generator) -> float | None:
    """A bound of the bottom of M: kernels are positive, graphs are cheap to probe."""
    without = replace(problem, kernels=(), theta=())
    if not without.graphs and not without.fixed:
        return 0.0
    return min(0.0, lowest_eigenvalue_bound(without.operator(), rng))


def _ordered(problem: Problem) -> Problem:
    """The same problem; products with large graphs jump about less."""
    if problem.n < FAR:
        return problem
    return replace(
        problem,
        graphs=tuple(replace(t, base=_near(t.base)) for t in problem.graphs),
        fixed=tuple(replace(t, base=_near(t.base)) for t in problem.fixed),
        _memo=type(problem._memo)(),
    )


def _near(operator: SymmetricOperator) -> SymmetricOperator:
    if isinstance(operator, Scaled):
        return Scaled(operator.factor, _near(operator.operator))
    if isinstance(operator, Sparse):
        return Reordered(*with_neighbours_near(operator))
    return operator


def _expanded(span: Span, pairs: Eigenpairs) -> tuple[Eigenpairs, Array]:
    """The answer as n-vectors, and its coordinates in the basis of the span."""
    V = span.vectors(pairs.vectors)
    signs = span.features.signs(V)
    reason = f"in the span of {span.dimension} features"
    expanded = replace(
        pairs, vectors=V * signs.astype(V.dtype), spare=None, reason=reason
    )
    return expanded, pairs.vectors * signs
