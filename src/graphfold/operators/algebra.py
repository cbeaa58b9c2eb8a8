"""Operators made of operators: a sum, a multiple, and H M H."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from graphfold.arrays import Array
from graphfold.operators.base import Bounds, SymmetricOperator


@final
class Sum(SymmetricOperator):
    """M = M_1 + M_2 + ...; a product costs the sum of theirs."""

    def __init__(self, terms: Sequence[SymmetricOperator]):
        flat: list[SymmetricOperator] = []
        for term in terms:
            # sums of sums are one sum: fewer passes, and a readable formula
            flat.extend(getattr(term, "terms", [term]))
        if len({term.n for term in flat}) != 1:
            sizes = ", ".join(str(term.n) for term in flat)
            raise ValueError(f"terms of a sum must have one size; got {sizes}")
        self.terms = flat
        self.n = flat[0].n
        self.dtype = np.result_type(*(term.dtype for term in flat))

    def apply(self, V: Array) -> Array:
        # a new array, so that no term's own product is written into
        product = self.terms[0].apply(V) + 0
        for term in self.terms[1:]:
            product += term.apply(V)
        return product

    def diagonal(self) -> Array:
        return np.asarray(sum(term.diagonal() for term in self.terms))

    def entries(self) -> Array:
        return np.asarray(sum(term.entries() for term in self.terms))

    def bounds(self) -> Bounds:
        lower, upper = zip(*(term.bounds() for term in self.terms), strict=True)
        return sum(lower), sum(upper)

    def work(self) -> float:
        return sum(term.work() for term in self.terms)

    def describe(self) -> str:
        return " + ".join(term.describe() for term in self.terms)


@final
class Scaled(SymmetricOperator):
    """factor * M."""

    def __init__(self, factor: float, operator: SymmetricOperator):
        # a Python float keeps float32 products in float32; a NumPy scalar would not
        self.factor = float(factor)
        self.operator = operator
        self.n, self.dtype = operator.n, operator.dtype

    def apply(self, V: Array) -> Array:
        return self.factor * self.operator.apply(V)

    def diagonal(self) -> Array:
        return self.factor * self.operator.diagonal()

    def entries(self) -> Array:
        return self.factor * self.operator.entries()

    def bounds(self) -> Bounds:
        if self.factor == 0:
            return 0.0, 0.0
        ends = sorted(self.factor * end for end in self.operator.bounds())
        return ends[0], ends[1]

    def work(self) -> float:
        return self.operator.work() + self.n

    def describe(self) -> str:
        inner = self.operator.describe()
        return f"{self.factor:.4g} * {f'({inner})' if ' ' in inner else inner}"


@final
class Centered(SymmetricOperator):
    """H M H with H = I - 11'/n: rows and columns with their means taken off.

    The constant vector is an eigenvector of it with eigenvalue 0. Costs O(n) per
    column beyond a product with M, and stores nothing.
    """

    def __init__(self, operator: SymmetricOperator):
        self.operator = operator
        self.n, self.dtype = operator.n, operator.dtype

    def apply(self, V: Array) -> Array:
        return without_mean(self.operator.apply(without_mean(V)))

    def diagonal(self) -> Array:
        ones = np.ones((self.n, 1), dtype=self.dtype)
        row_means = self.operator.apply(ones)[:, 0] / self.n
        grand_mean = row_means.mean(dtype=np.float64).astype(self.dtype)
        return self.operator.diagonal() - 2 * row_means + grand_mean

    def entries(self) -> Array:
        return without_mean(without_mean(self.operator.entries()).T)

    def bounds(self) -> Bounds:
        lower, upper = self.operator.bounds()
        return min(lower, 0.0), max(upper, 0.0)

    def work(self) -> float:
        return self.operator.work() + 4 * self.n

    def describe(self) -> str:
        return f"H ({self.operator.describe()}) H"


def without_mean(V: Array) -> Array:
    """H V: each column less its mean."""
    return V - V.mean(axis=0, dtype=np.float64).astype(V.dtype)
