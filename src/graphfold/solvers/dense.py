"""LAPACK on the matrix itself: the reference, and the fastest way for small n."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graphfold.arrays import Array, column_lengths, orthonormal
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    relative_residuals,
)
from graphfold.threads import threads_for

#: up to this many rows two threads are slower than one
ONE_THREAD = 800
#: cosine with a vector to be avoided that is more than rounding
LEAK = 1e-10


def lapack(request: Request) -> Eigenpairs:
    """Top-d eigenpairs of the dense matrix, O(n^3), in double precision.

    Vectors to avoid are sent to the bottom of the spectrum by a shift below it. In
    single precision LAPACK's vectors of close eigenvalues are orthogonal to 1e-4 only.
    """
    M, n, d = request.M, request.M.n, request.d
    matrix = M.to_dense().astype(np.float64, copy=False)
    avoid = request.avoid.astype(np.float64, copy=False)
    shifted = matrix
    if avoid.shape[1]:
        depth = 2 * _bound(matrix) + 1e-300
        shifted = matrix - depth * avoid @ avoid.T
    ahead = min(d + 1, n - avoid.shape[1])  # one more, to know the gap
    with threads_for(n, ONE_THREAD):
        values, vectors = _largest(shifted, ahead)
    after = float(values[0]) if ahead > d else np.nan
    values, vectors = values[::-1][:d].copy(), vectors[:, ::-1][:, :d].copy()
    if np.abs(avoid.T @ vectors).max(initial=0.0) > LEAK:
        # M is rounding, and does not map the complement into itself
        vectors = orthonormal(vectors, against=avoid)
    # no eigenvalue at the top of -L says how large L is; its longest column does
    size = float(column_lengths(matrix).max(initial=0.0))
    if size == 0:
        values[:] = 0.0  # the shift may leave something
    size = max(size, float(np.abs(values).max(initial=0.0)))
    _, residuals = relative_residuals(matrix @ vectors, vectors, values, size)
    request.observe(1, float(residuals.max()))
    # backward stable: its residual is as small as the arithmetic allows
    return Eigenpairs(
        values.astype(M.dtype, copy=False),
        vectors.astype(M.dtype, copy=False),
        residuals,
        converged=True,
        n_iterations=1,
        n_products=n,
        size=size,
        next_value=after,
    )


def _largest(matrix: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues, rising, and their eigenvectors."""
    n, how = len(matrix), {"check_finite": False}
    matrix = matrix.T  # the same, in LAPACK's order
    values, vectors = scipy.linalg.eigh(
        matrix, subset_by_index=[n - count, n - 1], driver="evr", **how
    )
    if len(values) < count:
        # LAPACK's bisection can lose a group of exactly equal eigenvalues (an identity)
        values, vectors = scipy.linalg.eigh(matrix, driver="evd", **how)
        values, vectors = values[n - count :], vectors[:, n - count :]
    return values, vectors


def _bound(matrix: Array) -> float:
    """A bound of the sizes of the eigenvalues: the root of the sum of squares."""
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0
    return largest * float(np.linalg.norm(matrix / largest))
