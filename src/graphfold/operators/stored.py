"""Operators whose numbers are in memory: dense, sparse, low-rank, diagonal."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsymv, ssymv

from graphfold.arrays import Array, row_blocks, tall_gram, tall_product
from graphfold.operators.base import Bounds, SymmetricOperator

#: products of a symmetric matrix with one column
_SYMV = {np.dtype(np.float32): ssymv, np.dtype(np.float64): dsymv}
#: bytes of a factor that is read twice a product and stays in the cache
IN_CACHE = 2**25
#: a product of sparse factors with more is not worth being formed
MOST_ENTRIES_PER_ROW = 2000


@final
class Dense(SymmetricOperator):
    """A symmetric array. Products cost 2 n^2 per column.

    ``bounds``, if given, are the caller's certificate (a kernel knows that it is
    positive semi-definite); otherwise Gershgorin's circles are used.
    """

    def __init__(self, matrix: Array, *, bounds: Bounds | None = None, name: str = "A"):
        self.matrix = matrix
        self.name = name
        self.n, self.dtype = len(matrix), matrix.dtype
        self._bounds = bounds
        self._is_fortran = matrix.flags.f_contiguous
        # of anything else SciPy would make a copy at every product
        in_one_piece = self._is_fortran or matrix.flags.c_contiguous
        self._by_columns = in_one_piece and self.dtype in _SYMV

    @property
    def certified(self) -> bool:
        """Whether bounds are known without looking at every entry."""
        return self._bounds is not None

    def apply(self, V: Array) -> Array:
        if V.ndim == 1 and self._by_columns and V.dtype == self.dtype:
            # half of the matrix is read, by SciPy's BLAS as in Lanczos
            by_columns = self.matrix if self._is_fortran else self.matrix.T
            return np.asarray(_SYMV[self.dtype](1.0, by_columns, V))
        if V.dtype.itemsize <= self.dtype.itemsize:
            # from the left: up to twice as fast for a few columns that are contiguous
            return np.asarray((V.T @ self.matrix).T)
        # by strips: NumPy would make a wider copy of the whole matrix
        product = np.empty(V.shape, dtype=V.dtype)
        for rows in row_blocks(self.n, 512):
            product[rows] = self.matrix[rows] @ V
        return product

    def columns_are_cheap(self) -> bool:
        return self._by_columns

    def diagonal(self) -> Array:
        return np.diagonal(self.matrix).copy()

    def entries(self) -> Array:
        return self.matrix.copy()

    def bounds(self) -> Bounds:
        if self._bounds is not None:
            return self._bounds
        size_of_rows = np.empty(self.n)
        for rows in row_blocks(self.n, 1024):
            size_of_rows[rows] = np.abs(self.matrix[rows]).sum(axis=1)
        return gershgorin(self.diagonal(), size_of_rows)

    def work(self) -> float:
        return 2.0 * self.n**2

    def describe(self) -> str:
        return self.name


@final
class Sparse(SymmetricOperator):
    """A symmetric SciPy sparse matrix. Products cost 2 nnz per column."""

    def __init__(self, matrix: Any, *, bounds: Bounds | None = None, name: str = "A"):
        self.matrix = sp.csr_array(matrix)
        self.name = name
        self.n, self.dtype = self.matrix.shape[0], self.matrix.dtype
        self._bounds = bounds

    def apply(self, V: Array) -> Array:
        return np.asarray(self.matrix @ V)

    def diagonal(self) -> Array:
        return np.asarray(self.matrix.diagonal())

    def entries(self) -> Array:
        return np.asarray(self.matrix.toarray())

    def sparse(self) -> Any:
        return self.matrix

    def columns_are_cheap(self) -> bool:
        return True

    def bounds(self) -> Bounds:
        if self._bounds is not None:
            return self._bounds
        return gershgorin(self.diagonal(), np.asarray(abs(self.matrix).sum(axis=1)))

    def work(self) -> float:
        return 2.0 * self.matrix.nnz

    def describe(self) -> str:
        return self.name


@final
class LowRank(SymmetricOperator):
    """Z diag(weights) Z' from a factor Z (n x r), dense or sparse.

    Products cost 4 n r (or 4 nnz(Z)) per column; nothing n x n is formed.
    """

    def __init__(self, Z: Any, weights: Array | None = None, *, name: str = "ZZ'"):
        self.Z = sp.csr_array(Z) if sp.issparse(Z) else Z
        self.weights = weights
        self.name = name
        self.n, self.dtype = self.Z.shape[0], self.Z.dtype

    def apply(self, V: Array) -> Array:
        if sp.issparse(self.Z) or V.ndim == 1:
            coefficients = self.Z.T @ V
        else:
            coefficients = tall_gram(V, self.Z).T
        if self.weights is not None:
            shape = (-1,) + (1,) * (coefficients.ndim - 1)
            coefficients = self.weights.reshape(shape) * coefficients
        if sp.issparse(self.Z) or V.ndim == 1:
            return np.asarray(self.Z @ coefficients)
        return tall_product(self.Z, coefficients)

    def diagonal(self) -> Array:
        if sp.issparse(self.Z):
            squares = self.Z.power(2)
            ones = np.ones(self.Z.shape[1], self.dtype)
            return np.asarray(
                squares @ (ones if self.weights is None else self.weights)
            )
        weighted = self.Z if self.weights is None else self.Z * self.weights
        return np.einsum("ij,ij->i", weighted, self.Z)

    def entries(self) -> Array:
        weighted = self.Z
        if self.weights is not None:
            weighted = self.Z @ sp.diags_array(self.weights)
        product = weighted @ self.Z.T
        return np.asarray(product.toarray() if sp.issparse(product) else product)

    def sparse(self) -> Any:
        """Z Z', where it has few entries."""
        if not sp.issparse(self.Z) or self.weights is not None:
            return None
        per_column = np.bincount(self.Z.indices, minlength=self.Z.shape[1])
        entries = np.square(per_column, dtype=np.float64).sum()
        if entries > MOST_ENTRIES_PER_ROW * self.n:
            return None
        return sp.csr_array(self.Z @ self.Z.T)

    def gram_root(self) -> tuple[float, Any] | None:
        square = self.Z.shape[0] == self.Z.shape[1]
        if not sp.issparse(self.Z) or self.weights is not None or not square:
            return None
        return 1.0, self.Z.T

    def columns_are_cheap(self) -> bool:
        return bool(self.work() * self.dtype.itemsize <= 4 * IN_CACHE)

    def bounds(self) -> Bounds:
        weights = np.ones(1) if self.weights is None else self.weights
        if sp.issparse(self.Z):
            squared_norm = float(self.Z.power(2).sum())
        else:
            squared_norm = float(np.vdot(self.Z, self.Z))
        # |Z W Z'| <= |W| |Z|_F^2, separately for the two signs of W
        return (
            min(float(weights.min()), 0.0) * squared_norm,
            max(float(weights.max()), 0.0) * squared_norm,
        )

    def work(self) -> float:
        return 4.0 * (self.Z.nnz if sp.issparse(self.Z) else self.Z.size)

    def describe(self) -> str:
        return self.name


@final
class Diagonal(SymmetricOperator):
    """A diagonal matrix; a scalar multiple of the identity among them."""

    def __init__(self, numbers: Array, *, name: str = "D"):
        self.numbers = numbers
        self.name = name
        self.n, self.dtype = len(numbers), numbers.dtype

    def apply(self, V: Array) -> Array:
        return self.numbers.reshape((-1,) + (1,) * (V.ndim - 1)) * V

    def diagonal(self) -> Array:
        return self.numbers.copy()

    def entries(self) -> Array:
        return np.diag(self.diagonal())

    def sparse(self) -> Any:
        return sp.csr_array(sp.diags_array(self.numbers))

    def columns_are_cheap(self) -> bool:
        return True

    def bounds(self) -> Bounds:
        return float(self.numbers.min()), float(self.numbers.max())

    def work(self) -> float:
        return float(self.n)

    def describe(self) -> str:
        return self.name


def gershgorin(diagonal: Array, absolute_row_sums: Array) -> Bounds:
    """Interval that holds the spectrum: each a_ii with a radius of its row's rest."""
    radius = absolute_row_sums - np.abs(diagonal)
    return float((diagonal - radius).min()), float((diagonal + radius).max())
