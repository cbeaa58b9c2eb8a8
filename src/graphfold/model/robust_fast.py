"""Fast robust PCA on graphs (FRPCAG): an l1 error and two graphs, by FISTA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphfold.arrays import Array
from graphfold.graphs import Laplacian
from graphfold.model.separation import Observed, Separation
from graphfold.progress import stage
from graphfold.solvers import Iteration
from graphfold.solvers.result import Observer

#: the first curvature tried, as a share of the certified bound
FIRST_CURVATURE = 0.4
#: growth of the curvature where a step shows that it was too small
GROWTH = 1.2
#: up to this many columns a product with the features' Laplacian as a dense matrix
#: is faster than the sparse one of the transposed block
DENSE_FEATURES = 400


@dataclass(frozen=True)
class FastProblem:
    """``|X - Z|_1 + g1 tr(Z'L1Z) + g2 tr(Z L2 Z')`` over the entries that are there.

    L1 is the Laplacian of the rows, L2 of the columns; either may be None.
    """

    data: Observed
    L1: Laplacian | None
    L2: Laplacian | None
    strength1: float = 1.0
    strength2: float = 1.0

    @property
    def curvature(self) -> float:
        """Certified bound of the gradient's Lipschitz constant."""
        rows = 0.0 if self.L1 is None else 2 * self.strength1 * self.L1.bound
        columns = 0.0 if self.L2 is None else 2 * self.strength2 * self.L2.bound
        return rows + columns

    def gradient(self, Z: Array) -> Array:
        """2 g1 L1 Z + 2 g2 Z L2, linear in Z."""
        total = np.zeros_like(Z)
        if self.L1 is not None:
            total = self.L1.operator.apply(Z)
            total *= 2 * self.strength1
        if self.L2 is not None:
            matrix = self.L2.operator.matrix
            if self.L2.n <= DENSE_FEATURES:
                share = Z @ matrix.toarray()
            else:
                share = np.ascontiguousarray((matrix @ Z.T).T)
            share *= 2 * self.strength2
            total += share
        return total


def solve_fast(
    problem: FastProblem,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    momentum: bool = True,
    observer: Observer | None = None,
) -> Separation:
    """Z by the accelerated proximal gradient method.

    With A the (linear) gradient and c the curvature, a step from Y is
    Z = prox(Y - A Y / c). The product A Z is the only one: A of the next Y, the
    objective and the residual follow from it. c starts below its certified bound and
    grows towards it whenever ``<D, A D> > c <D, D>`` for the step D = Z - Y. Momentum
    starts again when it points uphill (``<Y - Z, Z - Z_before> > 0``).

    The residual is the root mean square, over the entries that are there, of
    c (Y - Z) - A (Y - Z): this is a subgradient of the objective at Z, so it is 0 at
    an optimum and nowhere else, in units of the slope of the l1 term (1 per entry).
    """
    data, limit = problem.data, problem.curvature
    curvature = FIRST_CURVATURE * limit if limit > 0 else 1.0
    Z = data.filled()
    AZ = problem.gradient(Z)
    Y, AY, pace = Z, AZ, 1.0
    trace, residual = [], np.inf
    unit = np.sqrt(max(data.count, 1))
    with stage("separating", unit="round") as step:
        for iteration in range(1, max_iter + 1):
            before, A_before = Z, AZ
            Z, AZ, curvature = _step(problem, Y, AY, curvature, limit)
            D = Z - Y
            uphill = float(np.vdot(D, Z - before)) < 0
            subgradient = AZ - AY
            D *= curvature
            subgradient -= D
            residual = float(np.linalg.norm(subgradient) / unit)
            trace.append(data.absolute_error(Z) + 0.5 * float(np.vdot(Z, AZ)))
            stop = step(f"residual {residual:.2e}")
            if observer is not None:
                stop |= bool(observer(Iteration(iteration, max_iter, residual)))
            if stop or residual <= tol:
                break
            pace, inertia = _next_pace(1.0 if uphill else pace)
            inertia = inertia if momentum else 0.0
            Y = _ahead(Z, before, inertia)
            AY = _ahead(AZ, A_before, inertia)
    return Separation(
        low_rank=Z,
        objective=trace[-1],
        trace=np.array(trace),
        residual=residual,
        converged=residual <= tol,
        n_iterations=len(trace),
    )


def _step(
    problem: FastProblem, Y: Array, AY: Array, curvature: float, limit: float
) -> tuple[Array, Array, float]:
    """A proximal step from Y, its gradient, and the curvature that held for it."""
    while True:
        Z = AY / (-curvature)
        Z += Y
        Z = problem.data.pulled_to_data(Z, 1 / curvature)
        AZ = problem.gradient(Z)
        if curvature >= limit:
            return Z, AZ, curvature
        D = Z - Y
        if np.vdot(D, AZ - AY) <= curvature * np.vdot(D, D):
            return Z, AZ, curvature
        curvature = min(GROWTH * curvature, limit)


def _next_pace(pace: float) -> tuple[float, float]:
    """Nesterov's sequence, and the share of the last step that is taken again."""
    following = (1 + np.sqrt(1 + 4 * pace**2)) / 2
    return following, (pace - 1) / following


def _ahead(now: Array, before: Array, inertia: float) -> Array:
    ahead = now - before
    ahead *= inertia
    ahead += now
    return ahead
