"""Inverse block Lanczos: the top of M = -T'T by the factors of T."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphfold.arrays import Array, new_directions, orthonormal
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
    """Top-d eigenpairs of M from a block Krylov space of its negative inverse B.

    An eigenvector is sharp where ``|B v - mu v| / mu`` is small, mu its eigenvalue of
    B: an error that is judged by the wanted end, however large M is at the other one.
    It has to be 1e-2 sqrt(tol), or less where the residual of M needs it: of B v / mu,
    which is the answer, that is the error times 1 / mu.

    The block starts from d + 2 random directions, so eigenvalues of multiplicity up to
    d + 2 are found whole; a start that was given might not see all of them.
    """
    avoid = request.avoid.astype(np.float64)
    room = request.M.n - avoid.shape[1]
    width = min(request.d + BEYOND, room)
    capacity = min(WIDTHS * width, room)
    T = root_of(request.M)
    size = float(T.power(2).sum(axis=0).max())
    space = Space(avoid, capacity)
    start = replace(request, start=None).directions(width)
    space.add(start.astype(np.float64), inverse)
    best, since = np.inf, 1
    for iteration in range(1, request.max_iter + 1):
        values, S = rayleigh_ritz(space.Q, space.MQ)
        V, BV = space.Q @ S[:, :width], space.MQ @ S[:, :width]
        values = np.maximum(values[:width], np.finfo(float).tiny)
        block, errors = relative_residuals(BV, V, values, 1.0)
        errors = errors / values
        goals = np.minimum(1e-2 * np.sqrt(request.tol), request.tol * size * values / 2)
        excess = float((errors / goals)[: request.needed].max())
        if excess <= best / 2:
            best, since = excess, iteration
        worst = float(errors[: request.needed].max())
        stop = request.observe(iteration, worst) or excess <= 1
        if stop or space.width == room or iteration - since >= PATIENCE:
            break
        if space.width + width > capacity:
            space.restart(S[:, : KEPT * width])
        # of the width vectors some may have converged: those that remain span the rest
        fresh = new_directions(block[:, errors > 0.3 * goals], against=space.basis)
        fresh = fresh[:, : room - space.width]
        if fresh.shape[1] == 0:
            break
        space.add(fresh, inverse)
    sharp = worst <= np.sqrt(request.tol)
    # from V anew: B V as it was put together has the rounding of its largest parts
    V = orthonormal(inverse.refined(V) / values, against=avoid)
    pairs = _pairs(request, T, V, size)
    return replace(
        pairs,
        converged=bool(sharp and pairs.converged),
        n_iterations=iteration,
        n_products=inverse.n_solved,
    )


def _pairs(request: Request, T: Any, V: Array, size: float) -> Eigenpairs:
    """Values and residuals of M itself, and whether they are what was asked.

    Not by Rayleigh-Ritz: M V has the rounding of all of M, T V that of its root.
    """
    dtype, d = request.M.dtype, request.d
    TV = T @ V
    values = -np.square(TV).sum(axis=0)
    order = np.argsort(-values, kind="stable")
    _, residuals = relative_residuals(-(T.T @ TV), V, values, size)
    values, V, residuals = values[order], V[:, order], residuals[order]
    return Eigenpairs(
        values=values[:d].astype(dtype),
        vectors=V[:, :d].astype(dtype),
        residuals=residuals[:d],
        converged=bool(residuals[: request.needed].max() <= request.tol),
        n_iterations=0,
        n_products=0,
        size=size,
        next_value=value_after(values, residuals, d, size),
        spare=V[:, d:].astype(dtype),
    )
