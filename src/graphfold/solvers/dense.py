"""LAPACK on the matrix itself: the reference, and the fastest way for small n."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from graphfold.operators.stored import gershgorin
from graphfold.solvers.result import Eigenpairs, Request, relative_residuals


def lapack(request: Request) -> Eigenpairs:
    """Top-d eigenpairs of the dense matrix, O(n^3).

    Vectors to avoid are sent to the bottom of the spectrum by a shift below it.
    """
    M, n, d = request.M, request.M.n, request.d
    matrix = M.to_dense()
    shifted = matrix
    if request.avoid.shape[1]:
        low, high = gershgorin(np.diagonal(matrix), np.abs(matrix).sum(axis=1))
        depth = 2 * max(abs(low), abs(high)) + 1e-300
        shifted = matrix - depth * request.avoid @ request.avoid.T
    values, vectors = scipy.linalg.eigh(
        shifted, subset_by_index=[n - d, n - 1], check_finite=False, driver="evr"
    )
    if len(values) < d:
        # LAPACK's bisection can lose a group of exactly equal eigenvalues (an identity)
        values, vectors = scipy.linalg.eigh(shifted, check_finite=False, driver="evd")
        values, vectors = values[n - d :], vectors[:, n - d :]
    values, vectors = values[::-1].copy(), vectors[:, ::-1].copy()
    size = np.abs(values).max(initial=0.0)
    _, residuals = relative_residuals(matrix @ vectors, vectors, values, size)
    request.observe(1, float(residuals.max()))
    # backward stable: its residual is as small as the arithmetic allows
    return Eigenpairs(values, vectors, residuals, True, 1, n)
