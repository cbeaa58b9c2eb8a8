"""Block Krylov with restarts: a few products with wide blocks, no factorisation."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graphfold.arrays import Array, orthonormal
from graphfold.solvers.result import Eigenpairs, Request, relative_residuals

OVERSAMPLE = 4


def block_krylov(request: Request) -> Eigenpairs:
    """Top-d eigenpairs from a block Krylov space that is restarted when it is full.

    The space starts from d + 4 random directions, so eigenvalues of multiplicity up
    to d are found whole, and grows by the residuals of the Ritz pairs that have not
    converged (for these the residual spans what the next Krylov block would). A
    Krylov space does not change when M is shifted, so Rayleigh-Ritz picks the
    algebraically largest values of an indefinite M as it is.

    Each round costs one product with at most d + 4 columns; M V is kept for the whole
    space, so residuals, restarts and the answer need no further product.
    """
    M, d, n = request.M, request.d, request.M.n
    room = n - request.avoid.shape[1]
    width = min(d + OVERSAMPLE, room)
    capacity = min(max(6 * width, 60), room)

    Q = request.random_block(width)
    MQ = M.apply(Q)
    n_products = Q.shape[1]
    for iteration in range(1, request.max_iter + 1):
        values, S = rayleigh_ritz(Q, MQ)
        V, MV = Q @ S[:, :width], MQ @ S[:, :width]
        size = float(np.abs(values).max())
        residual_block, residuals = relative_residuals(MV, V, values[:width], size)
        worst = float(residuals[:d].max())
        if request.observe(iteration, worst) or worst <= request.tol:
            break
        if iteration == request.max_iter or Q.shape[1] == room:
            break
        if Q.shape[1] + width > capacity:
            keep = min(2 * width, capacity - width, Q.shape[1])
            Q, MQ = Q @ S[:, : max(keep, width)], MQ @ S[:, : max(keep, width)]
        # a wanted pair that has converged needs no more products of its own
        active = np.flatnonzero(residuals > 0.3 * request.tol)
        active = active[: min(len(active), room - Q.shape[1])]
        against = np.hstack([request.avoid, Q])
        fresh = orthonormal(residual_block[:, active], against=against)
        Q, MQ = np.hstack([Q, fresh]), np.hstack([MQ, M.apply(fresh)])
        n_products += fresh.shape[1]

    return Eigenpairs(
        values=values[:d],
        vectors=V[:, :d],
        residuals=residuals[:d],
        converged=worst <= request.tol,
        n_iterations=iteration,
        n_products=n_products,
    )


def rayleigh_ritz(Q: Array, MQ: Array) -> tuple[Array, Array]:
    """Ritz values in falling order and the rotation that gives the Ritz vectors."""
    T = Q.T @ MQ
    values, S = scipy.linalg.eigh((T + T.T) / 2, check_finite=False)
    return values[::-1], S[:, ::-1]
