"""Lanczos from one vector on a polynomial of M, for a sparse M with cheap products.

A product with a sparse matrix costs less than the orthogonalisation of its result. So
each Lanczos step multiplies by a Chebyshev polynomial of M, which spreads the wanted
end of the spectrum and needs a fraction of the vectors.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import final

import numpy as np

from graphfold.arrays import Array
from graphfold.operators import SymmetricOperator
from graphfold.operators.base import Bounds, diagonal_by_products, entries_by_products
from graphfold.solvers.lanczos import refined
from graphfold.solvers.result import Eigenpairs, Request, judged_by_wanted_end
from graphfold.solvers.vector_lanczos import LOOSEST, Steps, ritz_after, vector_lanczos

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
#: products with M that an answer takes, and how many more for each eigenpair; seconds
#: of an operation in them, and of LAPACK for each of the n^3 numbers of its products
PRODUCTS, PRODUCTS_PER_PAIR, OPERATION, OF_LAPACK = 240, 26, 6e-10, 5e-11


def is_worth_a_try(M: SymmetricOperator, d: int) -> bool:
    """Whether M is sparse, and its products take less time than LAPACK does."""
    seconds = (PRODUCTS + PRODUCTS_PER_PAIR * d) * M.work() * OPERATION
    return seconds < OF_LAPACK * M.n**3 and M.sparse() is not None


def polynomial_lanczos(request: Request) -> Eigenpairs | None:
    """Top-d eigenpairs of M from the Krylov space of one vector and T_k(M), or None.

    A few Lanczos steps with M tell where its spectrum ends, and a value below the
    wanted ones: a Ritz value is never above the eigenvalue of its rank. The Chebyshev
    polynomial T_k of the interval between grows from there on, so the largest
    eigenvalues of T_k(M) are those of M in the same order. ``vector_lanczos`` finds
    them, and whether one was missed; values and residuals are those of M itself.

    None is returned where an eigenvalue has several eigenvectors, and where the wanted
    ones are so close to each other that the space is full before they converge. Pairs
    whose residuals stay above the tolerance are stalled.
    """
    polynomial, start = _polynomial_for(request)
    if polynomial is None:
        return None
    M, d, needed = request.M, request.d, request.needed
    steps = Steps(
        first_look=int(FIRST_LOOK + LOOK_PER_PAIR * needed),
        most=CAPACITY + CAPACITY_PER_PAIR * d,
        allowed=partial(polynomial.allowed, request),
    )
    found = vector_lanczos(replace(request, M=polynomial, start=start), steps)
    if found is None:
        return None
    V, size = found.vectors, polynomial.size
    values, V, _, residuals = refined(V, M.apply(V), size)
    tol = judged_by_wanted_end(request.tol, values, size, M.dtype)
    is_sound = residuals[:needed].max() <= tol and values[needed - 1] >= polynomial.cut
    return replace(
        found,
        values=values.astype(M.dtype),
        vectors=V,
        residuals=residuals,
        converged=bool(found.converged and is_sound),
        stalled=bool(found.converged and not is_sound),
        n_products=found.n_products * polynomial.degree + _first_steps(d) + d,
        size=size,
        next_value=float(polynomial.argument(np.array([found.next_value]))[0]),
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
    polynomial = Polynomial(M, (bottom, cut, top), request.avoid)
    # where even T_2 lifts the largest too far above the others, blocks do better
    return (polynomial, vectors) if polynomial.degree > 1 else (None, None)


def _first_steps(d: int) -> int:
    return FIRST_STEPS + FIRST_STEPS_PER_PAIR * d


@final
class Polynomial(SymmetricOperator):
    """T_k(M), M mapped so that [bottom, cut] is [-1, 1], scaled to be 1 at top.

    Above ``cut`` it grows, and keeps the order of eigenvalues; vectors to be avoided
    are projected out at every product. ``degree`` is k, at most what keeps the lift of
    the largest eigenvalue within what the precision bears.
    """

    def __init__(
        self, M: SymmetricOperator, ends: tuple[float, float, float], avoid: Array
    ):
        self._bottom, self.cut, top = ends
        self._M, self._avoid = M, avoid
        self.n, self.dtype = M.n, M.dtype
        self.size = max(abs(self._bottom), abs(top))
        self._middle = (self.cut + self._bottom) / 2
        self._radius = (self.cut - self._bottom) / 2
        position = float(np.arccosh(max((top - self._middle) / self._radius, 1.0)))
        most = float(np.arccosh(LARGEST_LIFT[self.dtype.itemsize]))
        self.degree = int(min(most / max(position, 1e-3), DEGREE))
        self._scale = 1.0 / float(np.cosh(self.degree * position))

    def allowed(self, request: Request, values: Array) -> float:
        """The residual, relative to the largest of these Ritz values, that leaves what
        is asked of M.

        Of a vector for the eigenvalue a, the part along an eigenvector of x < a has a
        residual of a - x with M, and one of P(a) - P(x) with the polynomial P. P is
        convex above the cut and small below, so the ratio of the two is at least what
        it is for x at the bottom.
        """
        itemsize = self.dtype.itemsize
        wanted = self.argument(values[: request.d + 1])
        asked = min(request.tol, LOOSEST[itemsize])
        tol = judged_by_wanted_end(asked, wanted, self.size, self.dtype)
        last = request.needed - 1
        drop = max(float(values[last]) - self._scale, 0.0)
        steepness = drop / (float(wanted[last]) - self._bottom)
        largest = float(np.abs(values).max()) or 1.0
        least = ROUNDING_ERRORS * float(np.finfo(self.dtype).eps)
        return max(SAFE * tol * self.size * steepness / largest, least)

    def argument(self, values: Array) -> Array:
        """Where above ``cut`` the polynomial has these values, or ``cut``."""
        angles = np.arccosh(np.maximum(values / self._scale, 1.0)) / self.degree
        return np.asarray(self._middle + self._radius * np.cosh(angles))

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
