"""The pseudo-inverse of an operator, by products with the operator alone."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from graphfold.arrays import Array
from graphfold.operators.base import (
    Bounds,
    SymmetricOperator,
    diagonal_by_products,
    entries_by_products,
)
from graphfold.operators.filtered import ChebyshevFunction
from graphfold.operators.stored import LowRank

#: what is left of a vector beyond the known eigenvectors and counts as nothing
NOTHING = 1e-12
PROBES = 32


@final
class PseudoInverse(SymmetricOperator):
    """A^+ for a positive semi-definite A whose lowest eigenvectors U are known.

    A^+ = U diag(inverses) U' + p(A) (I - U U'), where p is the Chebyshev interpolant of
    1/x between the last of ``values`` and ``top``, so nothing is factorised. On the
    span of U, where A^+ is large, it is exact and costs 4 n r; elsewhere it costs the
    degree of p in products with A.

    Parameters
    ----------
    operator : SymmetricOperator
        A.
    values, vectors : arrays of shape (r,) and (n, r)
        Its lowest eigenpairs, ascending.
    inverses : array of shape (r,)
        Eigenvalues of A^+ on them; 0 for the null space.
    top : float
        An upper bound of the spectrum of A.
    tol : float
        Largest error of p, relative to the largest of ``inverses``.
    """

    def __init__(
        self,
        operator: SymmetricOperator,
        values: Array,
        vectors: Array,
        inverses: Array,
        top: float,
        *,
        tol: float = 1e-12,
        name: str = "K",
    ):
        self.operator, self.name = operator, name
        self.values, self.vectors, self.inverses = values, vectors, inverses
        self.top, self.tol = float(top), tol
        self.n, self.dtype = operator.n, vectors.dtype

    @cached_property
    def rest(self) -> ChebyshevFunction:
        """1/x of A on the complement of U: A with U lifted into the interval.

        Without the lift, rounding errors along U would grow as the polynomial does
        outside its interval.
        """
        low = float(self.values[-1])
        lift = LowRank(self.vectors, (self.top - self.values).astype(self.dtype))
        largest = float(np.abs(self.inverses).max(initial=0.0)) or 1.0
        return ChebyshevFunction(
            self.operator + lift,
            lambda x: 1.0 / x,
            tol=min(1e-3, self.tol * largest * low),
            max_degree=20_000,
            interval=(low, self.top),
        )

    def apply(self, V: Array) -> Array:
        shape = (-1,) + (1,) * (V.ndim - 1)
        inside = self.vectors.T @ V
        outside = V - self.vectors @ inside
        product = self.vectors @ (self.inverses.reshape(shape) * inside)
        product = product.astype(V.dtype, copy=False)
        if np.linalg.norm(outside) <= NOTHING * np.linalg.norm(V):
            return np.asarray(product)
        beyond = self.rest.apply(outside)
        return np.asarray(product + beyond - self.vectors @ (self.vectors.T @ beyond))

    def diagonal(self) -> Array:
        return diagonal_by_products(self)

    def entries(self) -> Array:
        return entries_by_products(self)

    def trace(self) -> float:
        """Exact on U; the small rest is estimated from random signs (Hutchinson)."""
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(self.n, PROBES))
        signs = signs.astype(self.dtype)
        signs -= self.vectors @ (self.vectors.T @ signs)
        rest = np.einsum("ij,ij->", signs, self.rest.apply(signs)) / PROBES
        return float(self.inverses.sum() + rest)

    def bounds(self) -> Bounds:
        low = float(self.values[-1])
        return 0.0, float(max(self.inverses.max(initial=0.0), 1 / low))

    def work(self) -> float:
        return self.rest.work() + 4.0 * self.vectors.size

    def describe(self) -> str:
        return self.name
