"""Shift-invert: the top of a sparse M as the top of (s I - M)^-1, by one factorisation.

Where eigenvalues at the top lie as close together, beside the width of the spectrum, as
those of a two-dimensional manifold do, no polynomial of M tells them apart soon. Then
the neighbourhoods are also such that a sparse factorisation stays sparse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import orthonormal
from graphfold.errors import GraphfoldError
from graphfold.operators.inverse import Factorized
from graphfold.solvers.krylov import block_krylov, rayleigh_ritz
from graphfold.solvers.result import (
    Eigenpairs,
    Iteration,
    Request,
    relative_residuals,
)

#: how far above the spectrum the shift lies, relative to its size
SHIFT = 1e-10
#: values whose distances to the shift differ by more are not found in one go
FAR = 1e3
#: rounds that may pass until a residual has halved
PATIENCE = 12
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
    distance = SHIFT * size
    loose = replace(request, tol=min(1e-8, request.tol), d=width, needed=d)
    for _ in range(2):
        solve = Factorized((top + distance) * sp.eye_array(M.n) - matrix)
        found = block_krylov(replace(loose, M=solve, observer=_Patience()))
        V = found.vectors
        # residuals are relative to the nearest value: beside a null space that says
        # nothing of the others, so the shift moves away from it
        if found.values[0] <= FAR * found.values[d - 1]:
            break
        values = rayleigh_ritz(V, M.apply(V))[0]
        distance, loose = (top - values[d - 1]) / 10, replace(loose, start=V)
    for rounds in range(1, POLISH + 1):
        V = orthonormal(V, against=request.avoid)
        MV = M.apply(V)
        values, S = rayleigh_ritz(V, MV)
        V, MV = V @ S, MV @ S
        size = max(size, float(np.abs(values).max()))
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


class _Patience:
    """Stops a solver whose residual no longer falls: the factors are not exact."""

    def __init__(self) -> None:
        self._best, self._waited = np.inf, 0

    def __call__(self, iteration: Iteration) -> bool:
        better = iteration.residual < 0.5 * self._best
        self._best = iteration.residual if better else self._best
        self._waited = 0 if better else self._waited + 1
        return self._waited >= PATIENCE


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
    top = float(found.values[0]) + float(found.residuals[0]) * found.size
    return max(size, found.size), top
