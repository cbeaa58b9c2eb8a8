"""The contract of a symmetric operator: a product with a block, and its diagonal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from graphfold.arrays import Array, row_blocks
from graphfold.progress import counted

Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-np.inf, np.inf)


class SymmetricOperator(ABC):
    """A real symmetric n x n matrix known by its products.

    Subclasses set ``n`` and ``dtype`` and give ``apply``, ``diagonal``, ``entries``
    and ``bounds``. They know nothing of eigenvalues or of solving. Symmetric means that
    there is no adjoint to write and none to get wrong.
    """

    n: int
    dtype: np.dtype[Any]

    @abstractmethod
    def apply(self, V: Array) -> Array:
        """The product with a block V of n rows, an array of its own: it may be
        written into."""

    @abstractmethod
    def diagonal(self) -> Array:
        """The n diagonal entries."""

    @abstractmethod
    def entries(self) -> Array:
        """The n x n entries as an array of their own; only for small n."""

    @abstractmethod
    def bounds(self) -> Bounds:
        """Certified interval that holds every eigenvalue (infinite where unknown)."""

    @abstractmethod
    def work(self) -> float:
        """Floating-point operations of a product, per column of the block."""

    @abstractmethod
    def describe(self) -> str:
        """The operator as a short formula."""

    def sparse(self) -> Any:
        """The matrix as a sparse array, where that is what it is; else None.

        Of an operator that centres, up to what it does to constants.
        """
        return None

    def columns_are_cheap(self) -> bool:
        """Whether a product with one column takes its share of one with sixteen.

        Entries that are stored are read once in either, entries that are computed
        are computed in both.
        """
        return False

    def gram_root(self) -> tuple[float, Any] | None:
        """c and a sparse square T with M = c T'T, where that is what it is."""
        return None

    def trace(self) -> float:
        """Sum of the eigenvalues."""
        return float(self.diagonal().sum(dtype=np.float64))

    def energies(self, V: Array) -> Array:
        """v' M v for each column v of V, in float64."""
        return np.einsum("ij,ij->j", V, self.apply(V), dtype=np.float64)

    def to_dense(self) -> Array:
        """The matrix itself, symmetric to the last bit; only for small n."""
        matrix = self.entries()
        return (matrix + matrix.T) / 2

    def __add__(self, other: SymmetricOperator) -> SymmetricOperator:
        from graphfold.operators.algebra import Sum

        return Sum([self, other])

    def __mul__(self, factor: float) -> SymmetricOperator:
        from graphfold.operators.algebra import Scaled

        return Scaled(factor, self)

    __rmul__ = __mul__

    def __neg__(self) -> SymmetricOperator:
        return self * -1.0

    def __sub__(self, other: SymmetricOperator) -> SymmetricOperator:
        return self + -other

    def __repr__(self) -> str:
        return f"{self.describe()}  [{self.n} x {self.n}, {self.dtype.name}]"


def unit_columns(n: int, columns: slice, dtype: np.dtype[Any]) -> Array:
    """The given columns of the identity."""
    block = np.zeros((n, columns.stop - columns.start), dtype=dtype)
    block[np.arange(columns.start, columns.stop), np.arange(block.shape[1])] = 1.0
    return block


def entries_by_products(operator: SymmetricOperator) -> Array:
    """The entries by n products, for operators that have no cheaper way."""
    entries = np.empty((operator.n, operator.n), dtype=operator.dtype)
    for columns in counted("entries", row_blocks(operator.n, 256)):
        unit = unit_columns(operator.n, columns, operator.dtype)
        entries[:, columns] = operator.apply(unit)
    return entries


def diagonal_by_products(operator: SymmetricOperator) -> Array:
    """The diagonal by n products, for operators that have no cheaper way."""
    diagonal = np.empty(operator.n, dtype=operator.dtype)
    for columns in counted("diagonal", row_blocks(operator.n, 256)):
        product = operator.apply(unit_columns(operator.n, columns, operator.dtype))
        diagonal[columns] = np.diagonal(product[columns])
    return diagonal
