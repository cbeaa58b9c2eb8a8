"""Chebyshev-filtered subspace iteration: a polynomial that lifts the wanted end."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graphfold.arrays import Array, orthonormal
from graphfold.operators import SymmetricOperator
from graphfold.solvers.krylov import rayleigh_ritz
from graphfold.solvers.result import Eigenpairs, Request, relative_residuals

DEGREE = 10


def chebyshev_filtered(request: Request) -> Eigenpairs:
    """Top-d eigenpairs by filtering a block with T_10 of the unwanted interval.

    The interval runs from a bound of the bottom of the spectrum to the smallest Ritz
    value of the block; on it the polynomial stays within [-1, 1], above it it grows
    fastest of all. The block is twice as wide as what is asked, because convergence
    depends on the gap to the first value outside it. Needs O(n) memory beyond the
    block; each round costs 11 products.
    """
    M, d = request.M, request.d
    room = M.n - request.avoid.shape[1]
    width = min(max(2 * d, d + 8), room)
    bottom = lowest_eigenvalue_bound(M, request.rng)

    V = request.random_block(width)
    MV = M.apply(V)
    n_products = width
    for iteration in range(1, request.max_iter + 1):
        values, S = rayleigh_ritz(V, MV)
        V, MV = V @ S, MV @ S
        size = float(max(np.abs(values).max(), abs(bottom)))
        bottom = min(bottom, float(values[-1]))
        _, residuals = relative_residuals(MV, V, values, size)
        worst = float(residuals[:d].max())
        if request.observe(iteration, worst) or worst <= request.tol:
            break
        if iteration == request.max_iter or width == room:
            break
        V = filtered(M, V, MV, bottom, float(values[-1]), float(values[0]))
        V = orthonormal(V, against=request.avoid)
        MV = M.apply(V)
        n_products += DEGREE * width

    return Eigenpairs(
        values=values[:d],
        vectors=V[:, :d],
        residuals=residuals[:d],
        converged=worst <= request.tol,
        n_iterations=iteration,
        n_products=n_products,
    )


def filtered(
    M: SymmetricOperator, V: Array, MV: Array, bottom: float, cut: float, top: float
) -> Array:
    """T_10 of M, mapped so that [bottom, cut] is [-1, 1], scaled to be 1 at ``top``.

    The scaling keeps the recurrence from overflowing; it changes no direction.
    """
    middle, radius = (cut + bottom) / 2, (cut - bottom) / 2
    if radius <= 0 or top <= cut:
        return MV
    sigma = first = radius / (top - middle)
    older, newer = V, (MV - middle * V) * (first / radius)
    for _ in range(DEGREE - 1):
        following_sigma = 1 / (2 / first - sigma)
        following = M.apply(newer)
        following -= middle * newer
        following *= 2 * following_sigma / radius
        following -= (sigma * following_sigma) * older
        older, newer, sigma = newer, following, following_sigma
    return newer


def lowest_eigenvalue_bound(M: SymmetricOperator, rng: np.random.Generator) -> float:
    """A bound of the bottom of the spectrum: certified, or by twelve Lanczos steps.

    The Lanczos value less its residual is safe in practice (Zhou and Li, 2011), and
    the iteration widens it whenever a Ritz value falls below.
    """
    lower, upper = M.bounds()
    n_steps = min(12, M.n)
    v = rng.standard_normal(M.n).astype(M.dtype)
    v /= np.linalg.norm(v)
    diagonal, off, previous = [], [0.0], np.zeros_like(v)
    for _ in range(n_steps):
        w = M.apply(v[:, None])[:, 0] - off[-1] * previous
        diagonal.append(float(v @ w))
        w = w - diagonal[-1] * v
        off.append(float(np.linalg.norm(w)))
        if off[-1] <= 1e-12 * max(map(abs, diagonal)):
            break
        previous, v = v, w / off[-1]
    ritz = scipy.linalg.eigh_tridiagonal(diagonal, off[1:-1], eigvals_only=True)
    return float(max(ritz[0] - off[-1], lower))
