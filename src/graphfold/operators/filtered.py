"""A function of an operator, f(M): in an eigenbasis, or by Chebyshev polynomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np
import scipy.fft
from numpy.polynomial import chebyshev

from graphfold.arrays import Array, add_multiple
from graphfold.operators.base import (
    Bounds,
    SymmetricOperator,
    diagonal_by_products,
    entries_by_products,
)
from graphfold.progress import counted

ScalarFunction = Callable[[Array], Array]


@final
class SpectralFunction(SymmetricOperator):
    """U diag(f) U' + rest * (I - U U') for orthonormal eigenvectors U.

    With all n eigenvectors it is f(M) exactly. With a few of them it is f(M) where f
    has one value, ``rest``, on all other eigenvalues. Costs 4 n r per column.
    """

    def __init__(
        self, vectors: Array, values: Array, *, rest: float = 0.0, name: str = "f(L)"
    ):
        self.vectors, self.values, self.rest, self.name = vectors, values, rest, name
        self.n, self.dtype = len(vectors), vectors.dtype
        self._weights = (values - rest).astype(self.dtype)

    def apply(self, V: Array) -> Array:
        coefficients = self.vectors.T @ V
        shape = (-1,) + (1,) * (V.ndim - 1)
        product = self.vectors @ (self._weights.reshape(shape) * coefficients)
        if self.rest:
            product += float(self.rest) * V
        return np.asarray(product)

    def diagonal(self) -> Array:
        parts = np.einsum("ij,j,ij->i", self.vectors, self._weights, self.vectors)
        return parts + self.dtype.type(self.rest)

    def entries(self) -> Array:
        rest = np.diag(np.full(self.n, self.rest, dtype=self.dtype))
        return np.asarray((self.vectors * self._weights) @ self.vectors.T + rest)

    def bounds(self) -> Bounds:
        complete = self.vectors.shape[1] == self.n
        ends = self.values if complete else np.append(self.values, self.rest)
        return float(ends.min()), float(ends.max())

    def work(self) -> float:
        return 4.0 * self.vectors.size

    def describe(self) -> str:
        return self.name


@final
class ChebyshevFunction(SymmetricOperator):
    """p(M) for the Chebyshev interpolant p of f on a certified interval.

    ``error_bound`` bounds |f - p| on the interval by the coefficients left out, so
    |f(M) - p(M)| <= error_bound in the spectral norm. Costs ``degree`` products.
    ``interval`` takes the place of the operator's own bounds where more is known.

    Raises
    ------
    ValueError
        When the interval is not finite, or when no polynomial of degree
        ``max_degree`` reaches ``tol`` (a jump, a pole, or a very steep f).
    """

    def __init__(
        self,
        operator: SymmetricOperator,
        function: ScalarFunction,
        *,
        tol: float = 1e-12,
        max_degree: int = 1000,
        interval: Bounds | None = None,
        name: str = "f(L)",
    ):
        self.operator, self.name = operator, name
        self.n, self.dtype = operator.n, operator.dtype
        self.interval = operator.bounds() if interval is None else interval
        if not np.isfinite(self.interval).all():
            raise ValueError("a Chebyshev function needs a finite certified interval")
        self.coefficients, self.error_bound = interpolate(
            function, self.interval, tol, max_degree
        )

    @property
    def degree(self) -> int:
        """How many products with the operator one product with this one costs."""
        return len(self.coefficients) - 1

    def apply(self, V: Array) -> Array:
        lower, upper = self.interval
        middle, radius = (upper + lower) / 2, (upper - lower) / 2 or 1.0
        product = self.coefficients[0] * V
        if self.degree == 0:
            return np.asarray(product)
        older, newer = V, self.operator.apply(V)
        add_multiple(newer, -middle, V)
        newer *= 1 / radius
        add_multiple(product, self.coefficients[1], newer)
        for coefficient in counted("polynomial", self.coefficients[2:], "product"):
            # in place: room for every multiple would cost more than the products
            following = self.operator.apply(newer)
            add_multiple(following, -middle, newer)
            following *= 2 / radius
            following -= older
            older, newer = newer, following
            add_multiple(product, coefficient, newer)
        return np.asarray(product)

    def diagonal(self) -> Array:
        return diagonal_by_products(self)

    def entries(self) -> Array:
        return entries_by_products(self)

    def bounds(self) -> Bounds:
        values = chebyshev.chebval(np.linspace(-1, 1, 2001), self.coefficients)
        # between the points of the grid p can rise by what its derivative allows
        slope = np.abs(self.coefficients) @ np.arange(len(self.coefficients)) ** 2
        slack = float(min(slope * 5e-4, np.abs(self.coefficients).sum()))
        return float(values.min() - slack), float(values.max() + slack)

    def work(self) -> float:
        return self.degree * (self.operator.work() + 5.0 * self.n) + self.n

    def describe(self) -> str:
        return self.name


def interpolate(
    function: ScalarFunction, interval: Bounds, tol: float, max_degree: int
) -> tuple[list[float], float]:
    """Chebyshev coefficients of a function and a bound of what they leave out.

    The function is sampled at twice the degree that is kept, doubling until the upper
    half of the coefficients is negligible; only such a decay proves anything.
    """
    lower, upper = interval
    middle, radius = (upper + lower) / 2, (upper - lower) / 2

    n_points = 32
    while True:
        with np.errstate(all="ignore"):
            angles = np.pi * (np.arange(n_points) + 0.5) / n_points
            samples = function(middle + radius * np.cos(angles))
            coefficients = scipy.fft.dct(np.asarray(samples, np.float64)) / n_points
            coefficients[0] /= 2
        size = np.abs(coefficients)
        # n coefficients cannot be known better than n rounding errors
        allowed = max(tol, 4 * n_points * np.finfo(np.float64).eps) * size.max()
        if np.isfinite(size).all() and size[n_points // 2 :].sum() <= allowed:
            break
        n_points *= 2
        if n_points > 2 * max_degree:
            raise ValueError(f"no polynomial of degree {max_degree} is accurate enough")
    tails = np.cumsum(size[::-1])[::-1]
    kept = max(1, int(np.argmax(tails <= allowed)))
    # aliasing folds the coefficients beyond n_points back: no more than the tail again
    bound = 2 * float(tails[kept]) + np.finfo(np.float64).eps * float(size.sum())
    return [float(c) for c in coefficients[:kept]], bound
