"""Each row from its neighbours: many small regressions, solved in one batch.

For a row x with neighbours y_1 ... y_k, entry by entry over the features m,

    x_m = sum_j sum_{p=1..P} w_j[p] * y_jm^p + e_m,

D equations with k P unknowns. Everything that is needed of the data are products
between regressors: G (k P x k P) and c (k P), for a batch of rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, row_blocks
from graphfold.threads import blocks

#: numbers of a batch of regressors, rows x k P x D; with eight times as many the l1
#: penalty took twice as long, for regressions that are solved wait for the others
_BATCH_NUMBERS = 2**19
#: steps of the active-set method, per coefficient
MOST_STEPS = 20
#: optimality residual at which a regression with an l1 penalty is solved
SOLVED = 1e-10
#: what is added to a Gram matrix that may be singular, relative to its trace
JITTER = 1e-14


@dataclass(frozen=True)
class Rule:
    """How the coefficients of a row are chosen.

    ``constrained``: those of locally linear embedding. They sum to one and G, that of
    the differences y_j - x, is regularised by ``weight`` times its trace. Otherwise
    ``penalty`` is "ridge", weight * sum w^2, or "l1", weight * sum of sizes, of rows
    that were divided by ``scale``.
    """

    order: int = 1
    constrained: bool = True
    penalty: str = "ridge"
    weight: float = 1e-3
    scale: float = 1.0


def coefficients(
    points: Any, reference: Any, members: Array, rule: Rule
) -> tuple[Array, float]:
    """w of each point over its members, rows of ``reference``: an array (m, k, P).

    Also how far from optimal the worst of them is: the largest entry of the gradient
    (of its distance to the penalty's subgradient) relative to the largest entry of c.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.kernels.coefficients import Rule, coefficients
    >>> line = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> w, residual = coefficients(line[1:2], line, np.array([[0, 2]]), Rule())
    >>> w[0, :, 0]
    array([0.5, 0.5])
    """
    m, k = members.shape
    found = np.empty((m, k, rule.order))
    size = max(1, _BATCH_NUMBERS // max(1, k * rule.order * reference.shape[1]))

    def solve(rows: slice) -> float:
        own, near = _dense(points[rows]), _gathered(reference, members[rows])
        if rule.constrained:
            near -= own[:, None]  # an array of its own
            found[rows] = _summing_to_one(near, rule.weight)[:, :, None]
            return 0.0
        found[rows], residual = _regressed(own / rule.scale, near / rule.scale, rule)
        return residual

    with blocks("local weights", solve, row_blocks(m, size)) as residuals:
        worst = max(residuals, default=0.0)
    return found, worst


def _dense(X: Any) -> Array:
    dense = X.toarray() if sp.issparse(X) else X
    return np.asarray(dense, dtype=np.float64)


def _gathered(reference: Any, members: Array) -> Array:
    rows = _dense(reference[members.ravel()])
    return rows.reshape(*members.shape, -1)


def _summing_to_one(differences: Array, reg: float) -> Array:
    """min |sum_j w_j (y_j - x)|^2 with sum w = 1, regularised by reg * trace(G)."""
    # rescaled, so that squares of tiny or huge data neither under- nor overflow
    axes: dict[str, Any] = {"axis": (1, 2), "keepdims": True, "initial": 0.0}
    size = np.maximum(differences.max(**axes), -differences.min(**axes))
    differences /= np.where(size > 0, size, 1.0)
    G = differences @ differences.transpose(0, 2, 1)
    k = G.shape[1]
    # neighbours that all equal x say nothing: any weights do, take equal ones
    trace = np.trace(G, axis1=1, axis2=2)
    ridge = max(reg, JITTER) * np.where(trace > 0, trace, 1.0)
    G[:, np.arange(k), np.arange(k)] += ridge[:, None]
    w = np.linalg.solve(G, np.ones((len(G), k, 1)))[:, :, 0]
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def _regressed(own: Array, near: Array, rule: Rule) -> tuple[Array, float]:
    m, k, _ = near.shape
    powers = np.stack([near**p for p in range(1, rule.order + 1)], axis=2)
    regressors = powers.reshape(m, k * rule.order, -1)
    G = regressors @ regressors.transpose(0, 2, 1)
    c = (regressors @ own[:, :, None])[:, :, 0]
    if rule.penalty == "l1":
        w, residual = lasso(G, c, rule.weight / 2)
    else:
        w = ridge(G, c, rule.weight)
        gap = np.abs((G @ w[:, :, None])[:, :, 0] + rule.weight * w - c)
        residual = _relative(gap, c)
    return w.reshape(m, k, rule.order), residual


def ridge(G: Array, c: Array, weight: float) -> Array:
    """(G + weight I)^-1 c for each of a batch; of least length where weight is 0."""
    if weight == 0:
        return np.asarray(np.linalg.pinv(G, hermitian=True) @ c[:, :, None])[:, :, 0]
    k = G.shape[1]
    jitter = JITTER * np.trace(G, axis1=1, axis2=2)
    H = G.copy()
    H[:, np.arange(k), np.arange(k)] += np.maximum(weight, jitter)[:, None]
    return np.asarray(np.linalg.solve(H, c[:, :, None])[:, :, 0])


def lasso(G: Array, c: Array, threshold: float) -> tuple[Array, float]:
    """min w'Gw / 2 - c'w + threshold * sum of sizes, for each of a batch.

    An active-set method: with the signs at hand the optimum is a small linear system;
    the way to it is walked until a coefficient reaches zero, which then leaves. Where
    nothing leaves, the inactive coefficient whose gradient exceeds the threshold the
    most comes in, until none does. The objective falls at every step, so no set comes
    twice. Returns the coefficients and the largest optimality residual, relative to
    the largest entry of c.
    """
    w = np.zeros_like(c)
    left = np.arange(len(c))
    part = _ActiveSets(G, c, w.copy(), np.zeros_like(c))
    for _ in range(MOST_STEPS * c.shape[1]):
        more = part.admit(threshold)
        w[left] = part.w
        left, part = left[more], part.rows(more)
        if len(left) == 0:
            break
        part.walk(threshold)
    gradient = (G @ w[:, :, None])[:, :, 0] - c
    return w, _relative(_distance_to_subgradient(gradient, w, threshold), c)


@dataclass
class _ActiveSets:
    """Regressions of a batch that are not solved yet; inactive signs are zero."""

    G: Array
    c: Array
    w: Array
    signs: Array
    settled: Array | None = None

    def rows(self, kept: Array) -> _ActiveSets:
        if kept.all():
            return self
        settled = None if self.settled is None else self.settled[kept]
        parts = (self.G[kept], self.c[kept], self.w[kept], self.signs[kept])
        return _ActiveSets(*parts, settled)

    def admit(self, threshold: float) -> Array:
        """Let a coefficient in where the set is settled; False where none wants to."""
        gradient = (self.G @ self.w[:, :, None])[:, :, 0] - self.c
        excess = np.where(self.signs == 0, np.abs(gradient) - threshold, -np.inf)
        best = excess.argmax(axis=1)
        every = np.arange(len(best))
        size = np.abs(self.c).max(axis=1)
        wants = excess[every, best] > SOLVED * size
        settled = np.ones(len(best), bool) if self.settled is None else self.settled
        entering = np.flatnonzero(settled & wants)
        place = best[entering]
        self.signs[entering, place] = -np.sign(gradient[entering, place])
        return np.asarray(~settled | wants)

    def walk(self, threshold: float) -> None:
        """Towards the optimum for the signs at hand, as far as they stay right."""
        target = self._optimum_for_signs(threshold)
        wrong = (target * self.signs < 0) | ((target == 0) & (self.signs != 0))
        way = self.w - target
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(wrong & (way != 0), self.w / way, np.inf)
        first = share.argmin(axis=1)
        every = np.arange(len(first))
        reach = np.clip(share[every, first], 0.0, 1.0)
        self.w = self.w - reach[:, None] * way
        self.settled = ~wrong.any(axis=1)
        stopped = np.flatnonzero(~self.settled)
        self.w[stopped, first[stopped]] = 0.0
        self.signs[stopped, first[stopped]] = 0.0

    def _optimum_for_signs(self, threshold: float) -> Array:
        active = self.signs != 0
        width = int(active.sum(axis=1).max())
        chosen = np.argsort(~active, axis=1, kind="stable")[:, :width]
        rows = np.arange(len(chosen))[:, None]
        inside = active[rows, chosen]
        H = self.G[rows[:, :, None], chosen[:, :, None], chosen[:, None, :]]
        H *= inside[:, :, None] & inside[:, None, :]
        jitter = JITTER * np.trace(self.G, axis1=1, axis2=2)
        H[:, np.arange(width), np.arange(width)] += np.where(
            inside, jitter[:, None], 1.0
        )
        right = (self.c - threshold * self.signs)[rows, chosen] * inside
        target = np.zeros_like(self.w)
        target[rows, chosen] = np.linalg.solve(H, right[:, :, None])[:, :, 0]
        return target


def _distance_to_subgradient(gradient: Array, w: Array, threshold: float) -> Array:
    at_zero = np.maximum(np.abs(gradient) - threshold, 0.0)
    return np.where(w == 0, at_zero, np.abs(gradient + threshold * np.sign(w)))


def _relative(gap: Array, c: Array) -> float:
    size = np.abs(c).max(axis=1, initial=0.0)
    return float((gap.max(axis=1, initial=0.0) / np.where(size > 0, size, 1.0)).max())
