"""A Chebyshev filter: the polynomial of M that lifts the wanted end the most."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from graphfold.arrays import Array, add_multiple, column_lengths
from graphfold.operators import SymmetricOperator
from graphfold.progress import counted

LANCZOS_STEPS = 12
#: a gap this small, beside what a filter of its degree can tell apart, is none
CLOSE = 1e-3


def chebyshev_filter(
    M: SymmetricOperator,
    V: Array,
    MV: Array,
    ends: tuple[float, float, float],
    degree: int,
    *,
    done: Array,
) -> Array:
    """T_degree(M) V, with M mapped so that [bottom, cut] is [-1, 1].

    ``ends`` are (bottom, cut, top), top the largest Ritz value of V. On the unwanted
    interval the polynomial stays within [-1, 1]; above it, it grows faster than any
    other. It is scaled to be 1 at ``top``, which keeps the recurrence from overflowing
    and changes no direction.

    Rounding errors along the largest eigenvectors grow fastest. So the degree is cut
    where the growth would exceed what the precision bears, and eigenvectors that have
    converged or are to be avoided, ``done``, are projected out at every step.
    """
    bottom, cut, top = (float(end) for end in ends)
    middle, radius = (cut + bottom) / 2, (cut - bottom) / 2
    if radius > 0 and top - cut < CLOSE * radius / degree**2:
        # a group of equal values through the cut: the polynomial would lift nothing
        cut = top - 2 * radius / degree**2
        middle, radius = (cut + bottom) / 2, (cut - bottom) / 2
    if radius <= 0 or top <= cut:
        return np.asarray(MV - bottom * V)
    degree = min(degree, bearable_degree((top - middle) / radius, V.dtype))
    sigma = first = radius / (top - middle)
    older, newer = V, (MV - middle * V) * (first / radius)
    for _ in counted("filter", range(degree - 1), "product"):
        following_sigma = 1 / (2 / first - sigma)
        following = M.apply(newer)
        add_multiple(following, -middle, newer)
        following *= 2 * following_sigma / radius
        add_multiple(following, -sigma * following_sigma, older)
        if done.shape[1]:
            # of the whole step: of M V alone it would put them at eigenvalue 0
            following -= done @ (done.T @ following)
        older, newer, sigma = newer, following, following_sigma
    return newer


def bearable_degree(position: float, dtype: np.dtype[Any]) -> int:
    """Largest degree at which T at ``position`` > 1 grows no more than is bearable.

    Growth times precision is the noise that the filter leaves: at most the square root
    of the precision, and at most 1e-5, the residual that single precision aims at.
    """
    eps = float(np.finfo(dtype).eps)
    growth = min(eps**-0.5, 1e-5 / eps)
    # a group of equal eigenvalues through the cut: position is 1 but for rounding
    return max(1, int(np.arccosh(growth) / max(np.arccosh(position), eps)))


def lowest_eigenvalue_bound(M: SymmetricOperator, rng: np.random.Generator) -> float:
    """A bound of the bottom of the spectrum: certified, or by twelve Lanczos steps.

    The lowest Ritz value less the last residual is safe in practice (Zhou and Li,
    2011), and solvers widen it whenever a Ritz value falls below. The tighter of the
    two is used: a loose bound costs products.
    """
    certified, _ = M.bounds()
    v = rng.standard_normal(M.n).astype(M.dtype)
    v /= np.linalg.norm(v)
    diagonal: list[float] = []
    off = [0.0]
    previous = np.zeros_like(v)
    for _ in range(min(LANCZOS_STEPS, M.n)):
        w = M.apply(v[:, None])[:, 0] - off[-1] * previous
        diagonal.append(float(v @ w))
        w = w - diagonal[-1] * v
        off.append(float(column_lengths(w[:, None])[0]))
        if off[-1] <= 1e-12 * max(map(abs, diagonal)):
            break
        previous, v = v, w / off[-1]
    ritz = scipy.linalg.eigh_tridiagonal(diagonal, off[1:-1], eigvals_only=True)
    return float(max(ritz[0] - off[-1], certified))
