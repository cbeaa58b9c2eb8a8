"""Learned weights: solve for V, then for the weights in closed form, and again.

The objective is tr(V' M V) with M = sum theta K + gamma sum beta R. For given weights
its maximiser is the top of M; for given V it is linear in the weights, so that on the
unit ball of the p-norm the best weights are powers of the shares t = tr(V'K_qV). Each
half-step is exact, so the objective never falls. gamma is held: recomputed in every
round it would change what is maximised. It is that of equal weights wherever learning
starts, so that starts can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.model.problem import Problem
from graphfold.progress import stage
from graphfold.solvers import Eigenpairs

MAX_ROUNDS = 200
#: what may be left to move of a weight
SETTLED = 1e-7
#: called with the number of the round and the objective; True stops
RoundObserver = Callable[[int, float], bool | None]


@dataclass(frozen=True)
class Alternation:
    """The problem at its learned weights, its solution, and how they were reached.

    ``coordinates`` are those of the eigenvectors in the span of some features, where
    they are in it.
    """

    problem: Problem
    pairs: Eigenpairs
    objective_trace: Array
    converged: bool
    coordinates: Array | None = None

    @property
    def n_rounds(self) -> int:
        """How often V was solved for."""
        return len(self.objective_trace)


def best_weights(shares: Array, norm: float = 2.0) -> Array:
    """The w >= 0 with |w|_p = 1 that maximises w't; 0 where t is not positive.

    p = 2 is the paper's ball, w = t+ / |t+|. The closer p is to 1, the sharper: w is
    proportional to t+ to the power 1 / (p - 1), and p = 1 gives all to the largest.
    Equal weights if no share is positive: then nothing speaks for any of them.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.model.alternate import best_weights
    >>> best_weights(np.array([3.0, 4.0, -1.0]))
    array([0.6, 0.8, 0. ])
    >>> best_weights(np.array([3.0, 4.0]), norm=1.0)
    array([0., 1.])
    """
    positive = np.maximum(shares, 0.0)
    top = positive.max(initial=0.0)
    if top <= 0:
        return equal_weights(len(shares), norm)
    if norm == 1:
        powers = (positive == top).astype(float)
    else:
        powers = (positive / top) ** (1.0 / (norm - 1.0))
    return np.asarray(powers / np.linalg.norm(powers, norm))


def equal_weights(count: int, norm: float = 2.0) -> Array:
    """The same weight for all, of unit p-norm."""
    return np.full(count, count ** (-1.0 / norm)) if count else np.empty(0)


def alternate(
    problem: Problem,
    d: int,
    *,
    kernels: bool = True,
    graphs: bool = True,
    norm: float = 2.0,
    on_round: RoundObserver | None = None,
    max_rounds: int = MAX_ROUNDS,
    **how: Any,
) -> Alternation:
    """Learn the weights of the kernels, of the graphs, or of both, from given ones.

    Stops when neither the objective nor a weight moves any more. A round starts from
    the vectors of the one before, and its accuracy follows how far the weights still
    move: the start is part of the space searched, so no accuracy is too low for the
    objective to rise.
    """
    asked = how.pop("tol", None)
    settled = _settled(problem, asked)
    trace: list[float] = []
    moved, pairs, converged = 1.0, None, False
    with stage("weights", unit="update") as told:
        for number in range(1, max_rounds + 1):
            loose = max(min(3e-2 * moved, 1e-3), 1e-2 * settled)
            pairs = problem.solve(d, **how, tol=asked if converged else loose)
            how["start"] = pairs.start
            trace.append(objective_of(problem, pairs))
            stopped = told(f"objective {trace[-1]:.8g}")
            stopped |= on_round is not None and bool(on_round(number, trace[-1]))
            if converged or stopped or number == max_rounds:
                break
            theta, beta = _next_weights(problem, pairs.vectors, kernels, graphs, norm)
            steps = theta - problem.theta, beta - problem.beta
            before, moved = moved, max(np.abs(step).max(initial=0.0) for step in steps)
            # weights move by a nearly constant ratio from round to round, so what is
            # left to move is known; then one more round, as accurate as was asked for
            ratio = min(moved / before, 0.99) if before > 0 else 0.0
            ahead = ratio / (1 - ratio)
            # a ratio that is far from 0 is known less well, and so is what is left
            converged = moved * ahead <= (settled if ratio < 0.1 else 1e-2 * settled)
            if converged:
                theta = _on_the_ball(theta + ahead * steps[0], norm)
                beta = _on_the_ball(beta + ahead * steps[1], norm)
            problem = problem.with_weights(theta, beta)
    assert pairs is not None
    return Alternation(problem, pairs, np.array(trace), converged)


def best_of_starts(
    problem: Problem, d: int, *, starts: Sequence[tuple[Array, Array]], **how: Any
) -> Alternation:
    """The best of the alternations that start from some weights, by its objective.

    The alternation climbs to a local maximum, which depends on where it starts. Of
    those that are equal but for rounding the first is kept.
    """
    best: Alternation | None = None
    for theta, beta in starts:
        found = alternate(problem.with_weights(theta, beta), d, **how)
        if best is None or _is_better(found, best):
            best = found
    assert best is not None
    return best


def _is_better(found: Alternation, best: Alternation) -> bool:
    known = float(best.objective_trace[-1])
    return float(found.objective_trace[-1]) > known + 1e-9 * abs(known)


def objective_of(problem: Problem, pairs: Eigenpairs) -> float:
    """tr(V'MV) at a solution, the shifts of the graph terms included.

    With them the objective never falls while weights are learned: without them it is
    that of another problem, whose best weights of penalties would be zero.
    """
    d = min(pairs.vectors.shape[1], problem.room)
    return float(pairs.values.sum(dtype=np.float64)) + d * problem.shift


def _on_the_ball(weights: Array, norm: float) -> Array:
    """Weights of at least 0 and unit p-norm; a single one, or none, stays."""
    if len(weights) < 2:
        return weights
    positive = np.maximum(weights, 0.0)
    return np.asarray(positive / np.linalg.norm(positive, norm))


def _settled(problem: Problem, tol: float | None) -> float:
    """What may be left to move of a weight, for the tolerance asked of a solver."""
    if problem.dtype == np.float32:
        return 1e-5
    return SETTLED if tol is None else min(SETTLED, 1e3 * float(tol))


def _next_weights(
    problem: Problem, V: Array, kernels: bool, graphs: bool, norm: float
) -> tuple[Array, Array]:
    of_kernels, of_graphs = problem.shares(V)
    theta, beta = np.array(problem.theta), np.array(problem.beta)
    if kernels and len(theta) > 1:
        theta = best_weights(of_kernels, norm)
    if graphs and len(beta) > 1 and problem.gamma > 0:
        beta = best_weights(of_graphs, norm)
    return theta, beta


def solved(problem: Problem, d: int, **how: Any) -> Alternation:
    """A problem whose weights stay as they are, in the same words."""
    pairs = problem.solve(d, **how)
    trace = np.array([objective_of(problem, pairs)])
    return Alternation(problem, pairs, trace, pairs.converged)
