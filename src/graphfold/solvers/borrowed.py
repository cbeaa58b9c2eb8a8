"""Solvers of other libraries, behind our signature."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse.linalg

from graphfold.arrays import Array, column_lengths
from graphfold.operators.stored import gershgorin
from graphfold.progress import stage
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    judged_by_wanted_end,
    relative_residuals,
)

#: how far above the last wanted value an eigenvalue is missed, relative to M
MISSED = 1e-9
#: cosine with a vector to be avoided that is more than rounding
LEAK = 1e-10


def arpack(request: Request) -> Eigenpairs:
    """SciPy's ARPACK on the matrix itself, in double precision, for small n.

    One vector at a time misses copies of a multiple eigenvalue. So the answer is
    certified: s I - M, s just above the last wanted value, is positive definite once
    the pairs that were found are taken out of M. A Cholesky factorisation shows that.
    An answer that fails is returned as not converged.
    """
    M, n, d = request.M, request.M.n, request.d
    matrix = M.to_dense().astype(np.float64, copy=False)
    avoid = request.avoid.astype(np.float64, copy=False)
    shifted = matrix
    if avoid.shape[1]:
        low, high = gershgorin(np.diagonal(matrix), np.abs(matrix).sum(axis=1))
        depth = 2 * max(abs(low), abs(high)) + 1e-300
        shifted = matrix - depth * avoid @ avoid.T
    v0 = request.random_block(1)[:, 0].astype(np.float64)
    found = min(d + 1, n - 1)  # one more, to know the gap
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few rows SciPy says to take LAPACK
            values, vectors = scipy.sparse.linalg.eigsh(
                shifted, found, which="LA", v0=v0, tol=request.tol
            )
    except scipy.sparse.linalg.ArpackError:
        values, vectors = np.zeros(found), np.zeros((n, found))
    values, vectors = values[::-1], vectors[:, ::-1]
    size = float(column_lengths(matrix).max(initial=0.0))
    size = max(size, float(np.abs(values).max(initial=0.0)))
    _, residuals = relative_residuals(
        matrix @ vectors[:, :d], vectors[:, :d], values[:d], size
    )
    request.observe(1, float(residuals.max()))
    tol = judged_by_wanted_end(request.tol, values[: d + 1], size, np.float64)
    is_whole = np.abs(avoid.T @ vectors).max(initial=0.0) <= LEAK
    is_whole = is_whole and _has_no_larger(shifted, values, vectors, size)
    return Eigenpairs(
        values[:d].astype(M.dtype),
        vectors[:, :d].astype(M.dtype),
        residuals,
        converged=bool(is_whole and residuals[: request.needed].max() <= tol),
        n_iterations=1,
        n_products=n,
        size=size,
        next_value=float(values[d]) if found > d else np.nan,
    )


def _has_no_larger(matrix: Array, values: Array, vectors: Array, size: float) -> bool:
    """Whether no eigenvalue beside those found lies above the last of them."""
    shift = values[-1] + MISSED * size
    rest = (vectors * (values + (size - shift))) @ vectors.T - matrix
    rest[np.diag_indices_from(rest)] += shift
    try:
        np.linalg.cholesky(rest)
    except np.linalg.LinAlgError:
        return False
    return True


def lobpcg(request: Request) -> Eigenpairs:
    """SciPy's LOBPCG for the largest eigenvalues, with its residuals checked by us.

    It runs in float64: SciPy's code loses its basis in float32. Blocks of a fifth of
    n or more are not what it is made for, and ``choose_solver`` refuses them.
    """
    M, d = request.M, request.d
    n_products, n_rounds = 0, 0

    def product(V: np.ndarray) -> np.ndarray:
        nonlocal n_products, n_rounds
        step()
        V = V.reshape(M.n, -1)
        n_products += V.shape[1]
        n_rounds += 1
        return M.apply(V.astype(M.dtype)).astype(np.float64)

    operator = scipy.sparse.linalg.LinearOperator(
        (M.n, M.n), matvec=product, matmat=product, dtype=np.float64
    )
    # where a block has more than a fifth of the rows SciPy takes no vectors to avoid
    width = max(d, min(d + 2, (M.n - request.avoid.shape[1]) // 5))
    block = request.random_block(width).astype(np.float64)
    Y = request.avoid.astype(np.float64) if request.avoid.shape[1] else None
    with stage("LOBPCG", unit="product") as step, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # we judge its answer by our own residuals
        size = float(np.linalg.norm(product(block), ord=2))
        values, vectors = scipy.sparse.linalg.lobpcg(
            operator,
            block,
            Y=Y,
            largest=True,
            tol=0.3 * request.tol * size,
            maxiter=request.max_iter,
        )
    ranked = np.argsort(values)[::-1]
    after = float(values[ranked[d]]) if len(ranked) > d else np.nan
    order = ranked[:d]
    values, vectors = values[order], vectors[:, order].astype(M.dtype)
    size = float(max(size, np.abs(values).max()))
    _, residuals = relative_residuals(M.apply(vectors), vectors, values, size)
    tol = judged_by_wanted_end(request.tol, values, size, M.dtype)
    request.observe(n_rounds, float(residuals.max()))
    return Eigenpairs(
        values=values.astype(M.dtype),
        vectors=vectors,
        residuals=residuals,
        converged=bool(residuals[: request.needed].max() <= tol),
        n_iterations=n_rounds,
        n_products=n_products,
        size=size,
        next_value=after,
    )
