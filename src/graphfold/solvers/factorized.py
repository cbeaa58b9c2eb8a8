"""Shift-invert: the top of a sparse M as the top of (s I - M)^-1, by one factorisation.

Where eigenvalues at the top lie as close together, beside the width of the spectrum, as
those of a two-dimensional manifold do, no polynomial of M tells them apart soon. Then
the neighbourhoods are also such that a sparse factorisation stays sparse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import splu

from graphfold.arrays import Array, orthonormal
from graphfold.errors import GraphfoldError
from graphfold.operators import SymmetricOperator
from graphfold.operators.base import Bounds, diagonal_by_products, entries_by_products
from graphfold.solvers.krylov import block_krylov, rayleigh_ritz
from graphfold.solvers.result import Eigenpairs, Request, relative_residuals

#: up to this many rows even a factorisation that fills up is small
FILLED = 5000
#: steps from one row to the farthest: a graph that is this long has thin separators
LONG = 12
#: how far above the spectrum the shift lies, relative to its size
SHIFT = 1e-10
#: rounds of inverse iteration that polish what the Krylov space has found
POLISH = 3


def shift_invert(request: Request) -> Eigenpairs:
    """Top-d eigenpairs through a sparse factorisation of s I - M, s above the top.

    s comes from a few products with M. Residuals are those of M itself.
    """
    M, d = request.M, request.d
    matrix = M.sparse()
    if matrix is None:
        raise GraphfoldError(
            'solver="shift-invert" needs a problem whose matrix is sparse (a graph or '
            'local weights alone); use "auto" or "krylov"'
        )
    room = M.n - request.avoid.shape[1]
    width = min(d + 4, room)
    size, top = _size_and_top(request)
    solve = _Solve(matrix, top + SHIFT * size)
    loose = replace(request, M=solve, tol=1e-8, d=width, needed=d, observer=None)
    V = block_krylov(loose).vectors
    for rounds in range(1, POLISH + 1):
        V = orthonormal(V, against=request.avoid)
        MV = M.apply(V)
        values, S = rayleigh_ritz(V, MV)
        V, MV = V @ S, MV @ S
        _, residuals = relative_residuals(MV, V, values, size)
        worst = float(residuals[: request.needed].max())
        if request.observe(rounds, worst) or worst <= request.tol:
            break
        if rounds < POLISH:
            V = solve.apply(V)
    return Eigenpairs(
        values=values[:d],
        vectors=V[:, :d],
        residuals=residuals[:d],
        converged=worst <= request.tol,
        n_iterations=rounds,
        n_products=solve.n_solved,
        size=size,
        next_value=float(values[d]) if width > d else np.nan,
        spare=V[:, d:],
    )


def factors_stay_sparse(matrix: Any) -> bool:
    """Whether a factorisation is affordable: few rows, or a long and thin graph.

    In a graph of high dimension every row is a few steps from every other, and the
    factors fill up; a surface is long in both directions.
    """
    if matrix.shape[0] <= FILLED:
        return True
    steps = shortest_path(matrix, indices=0, unweighted=True, directed=False)
    return bool(steps[np.isfinite(steps)].max() >= LONG)


def _size_and_top(request: Request) -> tuple[float, float]:
    """Largest size of an eigenvalue of M, and a bound just above the wanted ones."""
    few: dict[str, Any] = {
        "d": 1,
        "needed": 1,
        "tol": 1e-2,
        "observer": None,
        "start": None,
    }
    low = block_krylov(replace(request, M=-request.M, **few))
    size = max(float(np.abs(low.values[0])), low.size)
    high = request.M.bounds()[1]
    if np.isfinite(high) and high <= SHIFT * size:
        return size, max(high, 0.0)
    found = block_krylov(replace(request, **few))
    return size, float(found.values[0]) + float(found.residuals[0]) * found.size


@final
class _Solve(SymmetricOperator):
    """(s I - M)^-1 by a sparse factorisation."""

    def __init__(self, matrix: Any, shift: float):
        self.n, self.dtype = matrix.shape[0], matrix.dtype
        shifted = sp.csc_array(shift * sp.eye_array(self.n) - matrix, dtype=np.float64)
        options = {"SymmetricMode": True}
        self._factor = splu(
            sp.csc_matrix(shifted),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options=options,
        )
        self.n_solved = 0

    def apply(self, V: Array) -> Array:
        self.n_solved += 1 if V.ndim == 1 else V.shape[1]
        solved = self._factor.solve(np.asarray(V, dtype=np.float64))
        return np.asarray(solved, dtype=self.dtype)

    def diagonal(self) -> Array:
        return diagonal_by_products(self)

    def entries(self) -> Array:
        return entries_by_products(self)

    def bounds(self) -> Bounds:
        return 0.0, np.inf

    def work(self) -> float:
        return 4.0 * float(self._factor.nnz)

    def describe(self) -> str:
        return "(s I - M)^-1"
