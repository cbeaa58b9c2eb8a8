"""Robust PCA on a graph (RPCAG): low rank, sparse errors and a graph, by ADMM."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from graphfold.arrays import Array, power_of_two
from graphfold.graphs import Laplacian
from graphfold.model.separation import Observed, Separation
from graphfold.progress import stage
from graphfold.solvers import Iteration
from graphfold.solvers.conjugate import solve_shifted
from graphfold.solvers.result import Observer
from graphfold.solvers.singular import largest_singular_value, shrink_singular_values

#: over-relaxation of ADMM, the usual 1.6
RELAXATION = 1.6
#: penalties are balanced every so many iterations, and held after so many: ADMM is
#: known to converge for penalties that stop moving
BALANCE_EVERY, BALANCE_UNTIL = 10, 100
#: linear systems are solved to this share of the gap that is left
INNER_SHARE = 0.1


@dataclass(frozen=True)
class RobustProblem:
    """``|Z|_* + l |X - Z|_1 + g tr(Z'LZ)`` over the entries that are there."""

    data: Observed
    L: Laplacian
    sparsity: float
    strength: float = 1.0

    def smoothness(self, Z: Array) -> float:
        """g tr(Z'LZ)."""
        return self.strength * float(np.vdot(Z, self.L.operator.apply(Z)))

    def objective(self, Z: Array, nuclear_norm: float) -> float:
        """The objective at Z, whose singular values have been added up."""
        error = self.data.absolute_error(Z)
        return nuclear_norm + self.sparsity * error + self.smoothness(Z)


@dataclass
class Split:
    """The three copies of Z that ADMM brings together, and its prices.

    ``near`` is close to the data, ``smooth`` on the graph; ``price1`` and ``price2``
    are multipliers of Z = near and Z = smooth, divided by their penalties.
    """

    near: Array
    smooth: Array
    penalty1: float
    penalty2: float
    price1: Array = field(init=False)
    price2: Array = field(init=False)

    def __post_init__(self) -> None:
        self.price1 = np.zeros_like(self.near)
        self.price2 = np.zeros_like(self.near)

    @property
    def penalty(self) -> float:
        """Of both constraints together."""
        return self.penalty1 + self.penalty2

    def target(self) -> Array:
        """Where the two other copies would have Z."""
        first = self.penalty1 * (self.near - self.price1)
        first += self.penalty2 * (self.smooth - self.price2)
        first /= self.penalty
        return first


def solve_robust(
    problem: RobustProblem,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    rng: np.random.Generator | None = None,
    observer: Observer | None = None,
) -> Separation:
    """Z by the alternating direction method, with a certificate.

    Z has low rank, ``near`` the l1 error and ``smooth`` the graph; they are made
    equal. Z is a shrinking of singular values (warm-started, rank-adaptive), ``near``
    a move towards X, ``smooth`` the solution of (2 g L + r I) W = right by conjugate
    gradients. Two blocks, Z against the pair of the others, so ADMM converges.

    The residual is the relative duality gap, (objective - bound) / objective, of the
    best objective and the best lower bound met: no Z whatever has an objective
    smaller by more than this share.
    """
    state = _start(problem)
    best, bound, gap = None, 0.0, 1.0
    trace: list[float] = []
    vectors = top = None
    with stage("separating", unit="round") as step:
        for iteration in range(1, max_iter + 1):
            found = shrink_singular_values(
                state.target(), 1 / state.penalty, start=vectors, rng=rng
            )
            Z, vectors = found.matrix, found.vectors
            trace.append(problem.objective(Z, float(found.values.sum())))
            if best is None or trace[-1] <= min(trace):
                best = Z
            moved = _update(problem, state, Z, INNER_SHARE * gap)
            below, top = _lower_bound(problem, state, top, rng)
            bound = max(bound, below)
            gap = (min(trace) - bound) / min(trace) if min(trace) > 0 else 0.0
            stop = step(f"residual {gap:.2e}")
            if observer is not None:
                stop |= bool(observer(Iteration(iteration, max_iter, gap)))
            if stop or gap <= tol:
                break
            if iteration % BALANCE_EVERY == 0 and iteration <= BALANCE_UNTIL:
                _balance(state, Z, moved)
    assert best is not None
    return Separation(
        low_rank=best,
        objective=min(trace),
        trace=np.array(trace),
        residual=gap,
        converged=gap <= tol,
        n_iterations=len(trace),
    )


def _start(problem: RobustProblem) -> Split:
    data = problem.data
    mean_size = float(np.abs(data.X).sum(dtype=np.float64)) / max(data.count, 1)
    # a quarter of the usual 1 / (4 mean |X|), by measurement
    penalty = 1 / (16 * mean_size) if mean_size > 0 else 1.0
    filled = data.filled()
    return Split(filled.copy(), filled.copy(), penalty, penalty)


def _update(
    problem: RobustProblem, state: Split, Z: Array, tol: float
) -> tuple[float, float]:
    """New copies and prices for a new Z; how far the copies went."""
    moved = []
    towards = _relaxed(Z, state.near)
    towards += state.price1
    near = problem.data.pulled_to_data(towards, problem.sparsity / state.penalty1)
    moved.append(float(np.linalg.norm(near - state.near)))
    towards -= near
    state.near, state.price1 = near, towards

    towards = _relaxed(Z, state.smooth)
    towards += state.price2
    # by a power of two, which changes no digit: a strong graph on large numbers may
    # otherwise have squares that are out of range
    unit = power_of_two(max(2 * problem.strength, state.penalty2))
    smooth = solve_shifted(
        problem.L.operator,
        2 * problem.strength / unit,
        state.penalty2 / unit,
        state.penalty2 / unit * towards,
        start=state.smooth,
        tol=min(max(tol, 1e-10), 1e-2),
    )
    moved.append(float(np.linalg.norm(smooth - state.smooth)))
    towards -= smooth
    state.smooth, state.price2 = smooth, towards
    return moved[0], moved[1]


def _relaxed(Z: Array, copy: Array) -> Array:
    return RELAXATION * Z + (1 - RELAXATION) * copy


def _lower_bound(
    problem: RobustProblem,
    state: Split,
    top: Array | None,
    rng: np.random.Generator | None,
) -> tuple[float, Array]:
    """A number below every objective, by duality.

    For any Y with entries in [-l, l], 0 where X is missing, and any W, convexity gives
    objective(Z) >= <Y, X> - g tr(W'LW) + |Z|_* - <Y - 2 g L W, Z>, and the last two
    terms are at least 0 where the spectral norm of Y - 2 g L W is at most 1. Dividing
    Y and W by that norm makes it so.
    """
    data, g, l1 = problem.data, problem.strength, problem.sparsity
    Y = np.clip(-state.penalty1 * state.price1, -l1, l1)
    data.without_missing(Y)
    W = state.smooth
    LW = problem.L.operator.apply(W)
    norm, top = largest_singular_value(Y - 2 * g * LW, start=top, rng=rng)
    scale = max(norm, 1.0)
    pull, energy = float(np.vdot(Y, data.X)), g * float(np.vdot(W, LW))
    return pull / scale - energy / scale**2, top


def _balance(state: Split, Z: Array, moved: tuple[float, float]) -> None:
    """Penalties that make the copies meet as fast as the prices settle.

    A constraint whose copies are far apart is made dearer, one whose copy still moves
    much is made cheaper, both relative to their sizes; at most by 2 at a time.
    """
    size = float(np.linalg.norm(Z))
    factors = []
    for copy, price, step in (
        (state.near, state.price1, moved[0]),
        (state.smooth, state.price2, moved[1]),
    ):
        apart = float(np.linalg.norm(Z - copy)) * float(np.linalg.norm(price))
        settling = step * size
        known = apart > 0 and settling > 0
        factor = float(np.clip(np.sqrt(apart / settling), 0.5, 2)) if known else 1.0
        factors.append(1.0 if 0.8 < factor < 1.25 else factor)
    state.penalty1 *= factors[0]
    state.price1 /= factors[0]
    state.penalty2 *= factors[1]
    state.price2 /= factors[1]
