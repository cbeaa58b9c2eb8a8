"""Inverse block Lanczos: the top of M = -T'T by the factors of T."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphfold.arrays import Array, new_directions
from graphfold.operators import SymmetricOperator
from graphfold.operators.rooted import RootInverse, UnsoundFactorsError
from graphfold.solvers.krylov import Space, rayleigh_ritz
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    relative_residuals,
    value_after,
)

#: columns beyond those that are wanted
BEYOND = 2
#: widths of the block that a space holds, and that a restart keeps
WIDTHS, KEPT = 12, 3
#: rounds that may pass until an error has halved
PATIENCE = 4
#: |T q| of a null vector, relative to the size of T
NULL = 1e-10


def inverse_of_root(M: SymmetricOperator, avoid: Array) -> RootInverse | None:
    """(-M)^+ where M = -T'T and T has no null vector but the one to be avoided."""
    T = root_of(M)
    if T is None or avoid.shape[1] > 1:
        return None
    size = float(np.sqrt(T.power(2).sum(axis=0).max()))
    if np.linalg.norm(T @ avoid) > NULL * size:
        return None
    try:
        return RootInverse(T, avoid)
    except UnsoundFactorsError:
        return None


def root_of(M: SymmetricOperator) -> Any:
    """T with M = -T'T, a sparse array, or None."""
    found = M.gram_root()
    if found is None or not found[0] < 0:
        return None
    return float(np.sqrt(-found[0])) * found[1]


def inverse_lanczos(request: Request, inverse: RootInverse) -> Eigenpairs:
    """Top-d eigenpairs of M from a block Krylov space of its negative inverse.

    An eigenvector is sharp where ``|v - s (-M)^-1 v|`` is small, s its eigenvalue of
    -M: an error that is judged by the wanted end, however large M is at the other one.
    It has to be 1e-2 sqrt(tol), and the residual of M itself has to be ``tol``.

    The block starts from d + 2 random directions, so eigenvalues of multiplicity up to
    d + 2 are found whole; a start that was given might not see all of them.
    """
    avoid = request.avoid.astype(np.float64)
    room = request.M.n - avoid.shape[1]
    width = min(request.d + BEYOND, room)
    capacity = min(WIDTHS * width, room)
    space = Space(avoid, capacity)
    start = replace(request, start=None).directions(width)
    space.add(start.astype(np.float64), inverse)
    watch = _Watch(request)
    for iteration in range(1, request.max_iter + 1):
        values, S = rayleigh_ritz(space.Q, space.MQ)
        V, BV = space.Q @ S[:, :width], space.MQ @ S[:, :width]
        block, errors = relative_residuals(BV, V, values[:width], 1.0)
        errors = errors / values[:width]
        if watch.may_end(iteration, errors, V):
            break
        if space.width + width > capacity:
            space.restart(S[:, : KEPT * width])
        # of the width vectors some may have converged: those that remain span the rest
        active = np.flatnonzero(errors > 0.3 * watch.goal)
        fresh = new_directions(block[:, active], against=space.basis)
        fresh = fresh[:, : room - space.width]
        if fresh.shape[1] == 0:
            watch.end(iteration, errors, V)
            break
        space.add(fresh, inverse)
    return replace(watch.pairs, n_products=inverse.n_solved)


class _Watch:
    """What has been reached, by the errors of the inverse and the residuals of M."""

    pairs: Eigenpairs

    def __init__(self, request: Request):
        self._request, self._T = request, root_of(request.M)
        self._size = float(self._T.power(2).sum(axis=0).max())
        self._best, self._since = np.inf, 1
        self.goal = 1e-2 * float(np.sqrt(request.tol))

    def may_end(self, iteration: int, errors: Array, V: Array) -> bool:
        """Whether V is the answer, or no better one is to be had."""
        request = self._request
        worst = float(errors[: request.needed].max())
        if worst <= self._best / 2:
            self._best, self._since = worst, iteration
        stop = request.observe(iteration, worst) or iteration == request.max_iter
        stop = stop or iteration - self._since >= PATIENCE
        if not (stop or worst <= self.goal):
            return False
        self.end(iteration, errors, V)
        if worst <= self.goal:
            self.goal /= 10  # for the next round, if M is not satisfied
        return stop or self.pairs.converged

    def end(self, iteration: int, errors: Array, V: Array) -> None:
        """Values and residuals of M itself, and whether they will do.

        Not by Rayleigh-Ritz: M V has the rounding of all of M, T V that of its root.
        """
        request, dtype, d = self._request, self._request.M.dtype, self._request.d
        TV = self._T @ V
        values = -np.square(TV).sum(axis=0)
        order = np.argsort(-values, kind="stable")
        _, residuals = relative_residuals(-(self._T.T @ TV), V, values, self._size)
        values, V, residuals = values[order], V[:, order], residuals[order]
        sharp = errors[: request.needed].max() <= np.sqrt(request.tol)
        solved = residuals[: request.needed].max() <= request.tol
        self.pairs = Eigenpairs(
            values=values[:d].astype(dtype),
            vectors=V[:, :d].astype(dtype),
            residuals=residuals[:d],
            converged=bool(sharp and solved),
            n_iterations=iteration,
            n_products=0,
            size=self._size,
            next_value=value_after(values, residuals, d, self._size),
            spare=V[:, d:].astype(dtype),
        )
