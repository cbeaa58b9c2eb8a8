"""Lanczos from one vector on a polynomial of M, for a sparse M with cheap products.

A product with a sparse matrix costs less than the orthogonalisation of its result. So
each Lanczos step multiplies by a Chebyshev polynomial of M, which spreads the wanted
end of the spectrum and needs a fraction of the vectors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np

from graphfold.arrays import Array
from graphfold.operators import SymmetricOperator
from graphfold.operators.base import Bounds, diagonal_by_products, entries_by_products
from graphfold.solvers.lanczos import refined
from graphfold.solvers.result import Eigenpairs, Request, judged_by_wanted_end
from graphfold.solvers.vector_lanczos import ritz_after, vector_lanczos

#: products with M in one Lanczos step, at most
DEGREE = 8
#: products of the first look at the spectrum, and how many more for each eigenpair
FIRST_STEPS, FIRST_STEPS_PER_PAIR = 24, 2
#: by the bytes of a number: how many times the polynomial may lift the largest
#: eigenvalue above the unwanted ones; what it lifts less has fewer digits
LARGEST_LIFT = {4: 20.0, 8: 1e3}
#: of what the tolerance allows, and rounding errors of a Lanczos step
SAFE, ROUNDING_ERRORS = 0.5, 50
#: steps before the first Ritz values are computed, and how many more for each eigenpair
FIRST_LOOK, LOOK_PER_PAIR = 14, 2.0
#: vectors that there is room for, and how many more for each eigenpair
CAPACITY, CAPACITY_PER_PAIR = 60, 6


def polynomial_lanczos(request: Request) -> Eigenpairs | None:
    """Top-d eigenpairs of M from the Krylov space of one vector and T_k(M), or None.

    A few Lanczos steps with M tell where its spectrum ends, and a value below the
    wanted ones: a Ritz value is never above the eigenvalue of its rank. The Chebyshev
    polynomial T_k of the interval between grows from there on, so the largest
    eigenvalues of T_k(M) are those of M in the same order. ``vector_lanczos`` finds
    them, and whether one was missed; values and residuals are those of M itself.

    None is returned where an eigenvalue has several eigenvectors, where the wanted
    ones are so close to each other that the space is full before they converge, and
    where residuals stay above the tolerance.
    """
    polynomial, start = _polynomial_for(request)
    if polynomial is None:
        return None
    d, needed = request.d, request.needed
    found = vector_lanczos(
        replace(
            request,
            M=polynomial,
            tol=polynomial.tolerance(request.tol),
            start=start,
            bottom=None,
        ),
        first_look=int(FIRST_LOOK + LOOK_PER_PAIR * needed),
        most=CAPACITY + CAPACITY_PER_PAIR * d,
    )
    if found is None:
        return None
    V = found.vectors
    values, V, _, residuals = refined(V, request.M.apply(V), polynomial.size)
    worst = float(residuals[:needed].max())
    tol = judged_by_wanted_end(request.tol, values, polynomial.size, request.M.dtype)
    is_in_order = values[needed - 1] >= polynomial.cut
    if found.converged and not (worst <= tol and is_in_order):
        return None
    return replace(
        found,
        values=values.astype(request.M.dtype),
        vectors=V,
        residuals=residuals,
        n_products=found.n_products * polynomial.degree + _first_steps(d) + d,
        size=polynomial.size,
        next_value=polynomial.argument(found.next_value),
    )


def _polynomial_for(request: Request) -> tuple[Polynomial | None, Array | None]:
    """The polynomial that lifts the wanted end, and Ritz vectors to start from."""
    M, d = request.M, request.d
    room = M.n - request.avoid.shape[1]
    steps = _first_steps(d)
    if 2 * steps > room:
        return None, None
    values, vectors, remainder = ritz_after(request, steps)
    if len(values) < steps:
        return None, None  # the space has ended: blocks see what is left
    cut, top = float(values[d + 1]), float(values[0])
    bottom = max(float(values[-1]) - remainder, M.bounds()[0])
    if not bottom < cut < top:
        return None, None
    last = float(values[d - 1])
    return Polynomial(M, (bottom, cut, top), request.avoid, last), vectors


def _first_steps(d: int) -> int:
    return FIRST_STEPS + FIRST_STEPS_PER_PAIR * d


@final
class Polynomial(SymmetricOperator):
    """T_k(M), M mapped so that [bottom, cut] is [-1, 1], scaled to be 1 at top.

    Above ``cut`` it grows, and keeps the order of eigenvalues; vectors to be avoided
    are projected out at every product. ``last`` is a bound of the last wanted
    eigenvalue from below.
    """

    def __init__(
        self,
        M: SymmetricOperator,
        ends: tuple[float, float, float],
        avoid: Array,
        last: float,
    ):
        bottom, self.cut, top = ends
        self._M, self._avoid = M, avoid
        self.n, self.dtype = M.n, M.dtype
        self.size = max(abs(bottom), abs(top))
        self._middle, self._radius = (self.cut + bottom) / 2, (self.cut - bottom) / 2
        position = np.arccosh(max(self._position(top), 1.0))
        most = np.arccosh(LARGEST_LIFT[self.dtype.itemsize])
        self.degree = int(np.clip(most / max(position, 1e-3), 2, DEGREE))
        self._scale = 1.0 / float(np.cosh(self.degree * position))
        self._last = last

    def _position(self, value: float) -> float:
        return (value - self._middle) / self._radius

    def tolerance(self, tol: float) -> float:
        """The residual of this operator that leaves ``tol`` of M, relative to its size.

        Parts along an eigenvector whose value differs by x have a residual of M of x,
        and one of the polynomial of the difference there: x times its slope at the
        last wanted value, at least, above it, and the drop to its values below cut.
        """
        angle = float(np.arccosh(max(self._position(self._last), 1.0)))
        k = self.degree
        ratio = float(np.sinh(k * angle) / np.sinh(angle)) if angle > 1e-6 else k
        slope = k * ratio * self._scale / self._radius
        drop = (np.cosh(k * angle) - 1.0) * self._scale / (2 * self._radius)
        steepness = float(min(slope, max(drop, 0.1 * slope)))
        least = ROUNDING_ERRORS * float(np.finfo(self.dtype).eps)
        return max(SAFE * tol * self.size * steepness, least)

    def argument(self, value: float) -> float:
        """Where above ``cut`` the polynomial has this value, or ``cut``."""
        height = max(value / self._scale, 1.0)
        position = np.cosh(np.arccosh(height) / self.degree)
        return float(self._middle + self._radius * position)

    def apply(self, V: Array) -> Array:
        older, newer = V, self._mapped(V, 1.0)
        for _ in range(self.degree - 1):
            following = self._mapped(newer, 2.0)
            following -= older
            older, newer = newer, following
        newer *= self._scale
        return newer

    def _mapped(self, V: Array, factor: float) -> Array:
        product = self._M.apply(V)
        product -= self._middle * V
        product *= factor / self._radius
        if self._avoid.shape[1]:
            product -= self._avoid @ (self._avoid.T @ product)
        return product

    def diagonal(self) -> Array:
        return diagonal_by_products(self)

    def entries(self) -> Array:
        return entries_by_products(self)

    def bounds(self) -> Bounds:
        return -self._scale, np.inf

    def work(self) -> float:
        return self.degree * (self._M.work() + 6.0 * self.n)

    def describe(self) -> str:
        return f"T_{self.degree}({self._M.describe()})"
