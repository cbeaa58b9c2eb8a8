"""Chebyshev-filtered subspace iteration: one block, filtered again and again."""

from __future__ import annotations

import numpy as np

from graphfold.arrays import orthonormal
from graphfold.solvers.filtering import chebyshev_filter, lowest_eigenvalue_bound
from graphfold.solvers.krylov import LARGEST_DEGREE, filter_degree, rayleigh_ritz
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    relative_residuals,
    value_after,
)

#: products of a round, at least; more where they are cheap
DEGREE = 10


def chebyshev_filtered(request: Request) -> Eigenpairs:
    """Top-d eigenpairs by filtering a block with a Chebyshev polynomial.

    The interval runs from a bound of the bottom of the spectrum to the smallest Ritz
    value of the block. The block is twice as wide as what is asked, because convergence
    depends on the gap to the first value outside it. It needs less memory than a Krylov
    space: the block, its product and two more. Each round costs 10 products with what
    has not converged, or up to 128 where they are cheap; what has is kept as it is.
    """
    M, d = request.M, request.d
    room = M.n - request.avoid.shape[1]
    width = min(max(2 * d, d + 8), room)
    degree = max(DEGREE, min(8 * filter_degree(M), 2 * LARGEST_DEGREE))
    bottom = request.bottom
    if bottom is None:
        bottom = lowest_eigenvalue_bound(M, request.rng)

    V = request.random_block(width)
    MV = M.apply(V)
    n_products = width
    for iteration in range(1, request.max_iter + 1):
        values, S = rayleigh_ritz(V, MV)
        V, MV = V @ S, MV @ S
        bottom = min(bottom, float(values[-1]))
        size = max(abs(bottom), float(np.abs(values).max()))
        _, residuals = relative_residuals(MV, V, values, size)
        worst = float(residuals[: request.needed].max())
        stop = request.observe(iteration, worst) or worst <= request.tol
        if stop or iteration == request.max_iter or width == room:
            break
        n_done = int(np.argmax(residuals > 0.3 * request.tol))
        done, rest = V[:, :n_done], slice(n_done, None)
        ends = (bottom, values[-1], values[n_done])
        grown = chebyshev_filter(M, V[:, rest], MV[:, rest], ends, degree, done=done)
        fresh = orthonormal(grown, against=np.hstack([request.avoid, done]))
        V, MV = np.hstack([done, fresh]), np.hstack([MV[:, :n_done], M.apply(fresh)])
        n_products += degree * fresh.shape[1]

    return Eigenpairs(
        values=values[:d],
        vectors=V[:, :d],
        residuals=residuals[:d],
        converged=worst <= request.tol,
        n_iterations=iteration,
        n_products=n_products,
        size=size,
        next_value=value_after(values, residuals, d, size),
    )
