"""Solvers of other libraries, behind our signature."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse.linalg

from graphfold.progress import stage
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    judged_by_wanted_end,
    relative_residuals,
)


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
