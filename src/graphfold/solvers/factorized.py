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

from graphfold.arrays import new_directions
from graphfold.errors import GraphfoldError
from graphfold.operators.inverse import Factorized
from graphfold.solvers.krylov import OVERSAMPLE, Space, filtered_krylov, rayleigh_ritz
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    judged_by_wanted_end,
    relative_residuals,
    value_after,
)
from graphfold.solvers.rooted import inverse_lanczos, inverse_of_root
from graphfold.threads import one_blas_thread

#: how far above the spectrum the shift lies, relative to its size
SHIFT = 1e-10
#: rounds that may pass until a residual has halved
PATIENCE = 12


def shift_invert(request: Request) -> Eigenpairs:
    """Top-d eigenpairs from a Krylov space of an inverse: of T'T by the factors of T,
    where M = -T'T and they are sound; else of s I - M, s just above the top.

    One thread of BLAS: SuperLU's is SciPy's, other products are NumPy's, and the
    threads of both wait for each other. With two, 14 rounds took 8 s in place of 0.2.
    """
    with one_blas_thread():
        return _by_root(request) or _by_shift(request)


def _by_root(request: Request) -> Eigenpairs | None:
    """The answer by the factors of T, if M has such a root and they are sound."""
    inverse = inverse_of_root(request.M, request.avoid)
    if inverse is None:
        return None
    pairs = inverse_lanczos(request, inverse)
    asked = pairs.converged or pairs.n_iterations == request.max_iter
    return pairs if asked else None


def _by_shift(request: Request) -> Eigenpairs:
    """Top-d eigenpairs from a Krylov space of (s I - M)^-1, s just above the top.

    s comes from a few products with M. Ritz values and residuals are those of M itself.
    """
    M, d = request.M, request.d
    matrix = M.sparse()
    if matrix is None:
        raise GraphfoldError(
            'solver="shift-invert" needs a problem whose matrix is sparse (a graph or '
            'local weights alone); use "auto" or "krylov"'
        )
    room = M.n - request.avoid.shape[1]
    width = min(d + OVERSAMPLE, room)
    capacity = min(8 * width, room)
    size, top = _size_and_top(request, matrix)
    solve = Factorized((top + SHIFT * (size or 1.0)) * sp.eye_array(M.n) - matrix)
    space = Space(request.avoid, capacity)
    space.add(request.random_block(width), M)
    best, since = np.inf, 1
    for iteration in range(1, request.max_iter + 1):
        values, S = rayleigh_ritz(space.Q, space.MQ)
        V, MV = space.Q @ S[:, :width], space.MQ @ S[:, :width]
        size = max(size, float(np.abs(values).max()))
        _, residuals = relative_residuals(MV, V, values[:width], size)
        worst = float(residuals[: request.needed].max())
        tol = judged_by_wanted_end(request.tol, values[: d + 1], size, M.dtype)
        stop = request.observe(iteration, worst) or worst <= tol
        if worst <= best / 2:
            best, since = worst, iteration
        elif iteration - since >= PATIENCE:
            break  # this is what rounding leaves
        if stop or iteration == request.max_iter or space.width == room:
            break
        if space.width + width > capacity:
            space.restart(S[:, : min(2 * width, space.width)])
        # of the width vectors some may have converged: those that remain span the rest
        active = np.flatnonzero(residuals > 0.3 * tol)
        grown = solve.apply(V[:, active]).astype(M.dtype)
        fresh = new_directions(grown, against=space.basis)[:, : room - space.width]
        if fresh.shape[1] == 0:
            break
        space.add(fresh, M)
    return Eigenpairs(
        values=values[:d].astype(M.dtype),
        vectors=V[:, :d],
        residuals=residuals[:d],
        converged=worst <= tol,
        n_iterations=iteration,
        n_products=solve.n_solved,
        size=size,
        next_value=value_after(values, residuals, d, size),
        spare=V[:, d:width],
    )


def _size_and_top(request: Request, matrix: Any) -> tuple[float, float]:
    """How large M is, at least, and a bound just above the wanted eigenvalues.

    No column of M is longer than its largest eigenvalue.
    """
    lengths = np.asarray(abs(matrix).power(2).sum(axis=0)).ravel()
    size = float(np.sqrt(lengths.max(initial=0.0)))
    high = request.M.bounds()[1]
    if np.isfinite(high) and high <= SHIFT * size:
        return size, max(high, 0.0)
    few: dict[str, Any] = {"d": 1, "needed": 1, "tol": 1e-2}
    found = filtered_krylov(replace(request, observer=None, start=None, **few))
    size = max(size, found.size)
    return size, float(found.values[0]) + float(found.residuals[0]) * found.size
