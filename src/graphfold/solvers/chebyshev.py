"""Chebyshev-filtered subspace iteration: one block, filtered again and again."""

from __future__ import annotations

import numpy as np

from graphfold.arrays import (
    Array,
    inverse_root,
    orthonormal,
    row_blocks,
    small_eigenbasis,
    tall_product,
)
from graphfold.operators import SymmetricOperator
from graphfold.solvers.filtering import chebyshev_filter, lowest_eigenvalue_bound
from graphfold.solvers.krylov import LARGEST_DEGREE, filter_degree, rayleigh_ritz
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    judged_by_wanted_end,
    relative_residuals,
    value_after,
)
from graphfold.threads import blocks

TINY = float(np.finfo(np.float32).tiny)
#: rows of a sum in double precision
BLOCK = 8192
#: factors of a combination of unit vectors whose rounding is that of one of them
NEARLY_ORTHONORMAL = 2.0
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

    V, MV, values = ritz_block(M, request.rough_block(width), request.avoid)
    n_products = width
    for iteration in range(1, request.max_iter + 1):
        bottom = min(bottom, float(values[-1]))
        size = max(abs(bottom), float(np.abs(values).max()))
        _, residuals = relative_residuals(MV, V, values, size)
        worst = float(residuals[: request.needed].max())
        tol = judged_by_wanted_end(request.tol, values[: d + 1], size, M.dtype)
        stop = request.observe(iteration, worst) or worst <= tol
        if stop or iteration == request.max_iter or width == room:
            break
        n_done = int(np.argmax(residuals > 0.3 * tol))
        done, rest = V[:, :n_done], slice(n_done, None)
        ends = (bottom, values[-1], values[n_done])
        grown = chebyshev_filter(M, V[:, rest], MV[:, rest], ends, degree, done=done)
        n_products += degree * grown.shape[1]
        V, MV, values = ritz_block(M, grown, request.avoid, done, MV[:, :n_done])

    return Eigenpairs(
        values=values[:d].astype(M.dtype),
        vectors=V[:, :d],
        residuals=residuals[:d],
        converged=worst <= tol,
        n_iterations=iteration,
        n_products=n_products,
        size=size,
        next_value=value_after(values, residuals, d, size),
    )


def ritz_block(
    M: SymmetricOperator,
    block: Array,
    avoid: Array,
    done: Array | None = None,
    M_done: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Ritz vectors of a block (and of what is done), M times them, and Ritz values.

    In single precision a filter lifts by a few thousand at most (``bearable_degree``),
    so that a Gram matrix in double precision tells all directions apart: two small
    products take the place of a QR, and are done again for the last digits where the
    block was far from orthonormal.
    """
    against = avoid if done is None else np.hstack([avoid, done])
    if block.dtype == np.float32:
        for _ in range(2):
            block = block - against @ (against.T @ block)
            block /= np.maximum(np.linalg.norm(block, axis=0), TINY)
    else:
        block = orthonormal(block, against=against)
    V, MV = block, M.apply(block)
    if done is not None and M_done is not None:
        V, MV = np.hstack([done, V]), np.hstack([M_done, MV])
    if block.dtype != np.float32:
        values, S = rayleigh_ritz(V, MV)
        return V @ S, MV @ S, values
    for _ in range(2):
        values, S = rayleigh_ritz_of_any(V, MV)
        V, MV = (tall_product(block, S.astype(V.dtype)) for block in (V, MV))
        # rounding of V S is that of its largest parts, which nearly cancel
        if np.abs(S).max() < NEARLY_ORTHONORMAL:
            break
    return V, MV, values


def rayleigh_ritz_of_any(Q: Array, MQ: Array) -> tuple[Array, Array]:
    """Ritz values in falling order and the combinations of Q that are Ritz vectors.

    Q need not be orthonormal: sums over blocks of its rows are in double precision.
    """
    width = Q.shape[1]
    gram, T = np.zeros((width, width)), np.zeros((width, width))

    def products(rows: slice) -> tuple[Array, Array]:
        wide = Q[rows].astype(np.float64)
        return wide.T @ wide, wide.T @ MQ[rows].astype(np.float64)

    with blocks("Rayleigh-Ritz", products, row_blocks(len(Q), BLOCK)) as parts:
        for own, other in parts:
            gram += own
            T += other
    W = inverse_root(gram, 1e-13)
    values, S = small_eigenbasis(W.T @ ((T + T.T) / 2) @ W)
    return values[::-1], np.ascontiguousarray((W @ S)[:, ::-1])
