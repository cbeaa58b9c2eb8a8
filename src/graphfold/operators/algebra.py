"""Operators made of operators: a sum, a multiple, H M H, and P M P'."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np
import scipy.linalg.blas
import scipy.sparse as sp

from graphfold.arrays import Array, power_of_two, row_blocks
from graphfold.operators.base import Bounds, SymmetricOperator
from graphfold.operators.stored import Dense

#: how far from 1 a factor may be before a product without it may be out of range
FAR = 1e15


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
        # the cheapest first: a sparse product jumps about in V, which is in the cache
        # until a large factor has been read
        first, *others = sorted(self.terms, key=lambda term: term.work())
        product = first.apply(V)
        if product.dtype != np.result_type(self.dtype, V):
            product = product.astype(np.result_type(self.dtype, V))
        for term in others:
            product += term.apply(V)
        return product

    def diagonal(self) -> Array:
        return np.asarray(sum(term.diagonal() for term in self.terms))

    def entries(self) -> Array:
        return np.asarray(sum(term.entries() for term in self.terms))

    def sparse(self) -> Any:
        parts: list[Any] = []
        for term in self.terms:
            parts.append(term.sparse())
            if parts[-1] is None:
                return None
        return sp.csr_array(sum(parts[1:], start=parts[0]))

    def columns_are_cheap(self) -> bool:
        return all(term.columns_are_cheap() for term in self.terms)

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
        # half of a factor far from 1 goes first: M V alone may be out of range
        far = factor != 0 and not 1 / FAR < abs(factor) < FAR
        self._first = power_of_two(abs(self.factor) ** 0.5) if far else 1.0

    def apply(self, V: Array) -> Array:
        product = self.operator.apply(V if self._first == 1 else V * self._first)
        # in place: new memory would cost as much as the product
        product *= self.factor / self._first
        return product

    def diagonal(self) -> Array:
        return self.factor * self.operator.diagonal()

    def entries(self) -> Array:
        return self.factor * self.operator.entries()

    def sparse(self) -> Any:
        matrix = self.operator.sparse()
        return None if matrix is None else self.factor * matrix

    def columns_are_cheap(self) -> bool:
        return self.operator.columns_are_cheap()

    def gram_root(self) -> tuple[float, Any] | None:
        found = self.operator.gram_root()
        return None if found is None else (self.factor * found[0], found[1])

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
class InDoublePrecision(SymmetricOperator):
    """M with products in double precision, whatever its numbers are stored in.

    For a solver whose blocks need more digits than M has. Costs twice the memory of
    the blocks, and up to twice the time of a product.
    """

    def __init__(self, operator: SymmetricOperator):
        self.operator = operator
        self.n, self.dtype = operator.n, np.dtype(np.float64)

    def apply(self, V: Array) -> Array:
        return self.operator.apply(V.astype(np.float64, copy=False)).astype(
            np.float64, copy=False
        )

    def diagonal(self) -> Array:
        return self.operator.diagonal().astype(np.float64)

    def entries(self) -> Array:
        return self.operator.entries().astype(np.float64)

    def sparse(self) -> Any:
        matrix = self.operator.sparse()
        return None if matrix is None else matrix.astype(np.float64)

    def bounds(self) -> Bounds:
        return self.operator.bounds()

    def work(self) -> float:
        return self.operator.work()

    def describe(self) -> str:
        return self.operator.describe()


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
        product = self.operator.apply(without_mean(V))
        product -= product.mean(axis=0, dtype=np.float64).astype(product.dtype)
        return product

    def diagonal(self) -> Array:
        ones = np.ones((self.n, 1), dtype=self.dtype)
        row_means = self.operator.apply(ones)[:, 0] / self.n
        grand_mean = row_means.mean(dtype=np.float64).astype(self.dtype)
        return self.operator.diagonal() - 2 * row_means + grand_mean

    def trace(self) -> float:
        """tr M less the mean of its entries times n: no diagonal is needed."""
        ones = np.ones((self.n, 1), dtype=self.dtype)
        total = float(self.operator.apply(ones).sum(dtype=np.float64))
        return self.operator.trace() - total / self.n

    def entries(self) -> Array:
        return without_mean(without_mean(self.operator.entries()).T)

    def sparse(self) -> Any:
        if not self._may_be_sparse():
            return None
        matrix = self.operator.sparse()
        if matrix is None:
            return None
        sums = np.asarray(matrix.sum(axis=1)).ravel()
        # H M H is M itself, but for constants, only if M takes constants to constants
        is_eigenvector = np.ptp(sums) <= 1e-10 * float(abs(matrix).sum(axis=1).max())
        return matrix if is_eigenvector else None

    def _may_be_sparse(self) -> bool:
        """Whether constants may be an eigenvector: two products tell, before a product
        of sparse factors is formed."""
        if self.work() >= self.n**2:
            return True  # stored: it says at once that it is not sparse
        signs = np.random.default_rng(0).choice([-1.0, 1.0], self.n)
        block = np.column_stack([np.ones(self.n), signs]).astype(self.dtype)
        sums, others = self.operator.apply(block).T
        return bool(np.ptp(sums) <= 1e-3 * np.abs(others).max())

    def columns_are_cheap(self) -> bool:
        return self.operator.columns_are_cheap()

    def bounds(self) -> Bounds:
        lower, upper = self.operator.bounds()
        return min(lower, 0.0), max(upper, 0.0)

    def work(self) -> float:
        return self.operator.work() + 4 * self.n

    def describe(self) -> str:
        return f"H ({self.operator.describe()}) H"


@final
class Lifted(SymmetricOperator):
    """P M P' for a sparse P (n x m) with at most one entry in each row.

    Rows share what M says of their column: M may speak of groups of rows, or of some
    of the rows only. Costs a product with M and 2 n per column.
    """

    def __init__(self, P: Any, operator: SymmetricOperator, dtype: Any = None):
        self.operator = operator
        self.dtype = np.dtype(operator.dtype if dtype is None else dtype)
        self.P = sp.csr_array(P, dtype=self.dtype)
        self.n = self.P.shape[0]

    def apply(self, V: Array) -> Array:
        inner = self.operator.apply(np.asarray(self.P.T @ V))
        return np.asarray(self.P @ inner.astype(self.dtype, copy=False))

    def diagonal(self) -> Array:
        diagonal = self.operator.diagonal().astype(self.dtype, copy=False)
        return np.asarray(self.P.power(2) @ diagonal)

    def entries(self) -> Array:
        entries = self.operator.entries().astype(self.dtype, copy=False)
        return np.asarray(self.P @ (self.P @ entries).T)

    def bounds(self) -> Bounds:
        # the columns of P are orthogonal, so |P M P'| grows by their largest length
        largest = float(self.P.power(2).sum(axis=0).max()) if self.P.nnz else 0.0
        lower, upper = self.operator.bounds()
        return min(lower * largest, 0.0), max(upper * largest, 0.0)

    def work(self) -> float:
        return self.operator.work() + 4.0 * self.n

    def describe(self) -> str:
        return f"P ({self.operator.describe()}) P'"


def fused(operator: SymmetricOperator, room: Array | None = None) -> SymmetricOperator:
    """The same operator with its stored matrices added into one.

    A sum of many stored kernels reads each of them at every product; added up once,
    products cost what a single kernel costs. ``room`` is an n x n array for the sum:
    memory that has been used before is much faster than new memory.
    """
    parts = list(_weighted_leaves(operator, 1.0))
    dense = [(weight, leaf) for weight, leaf in parts if isinstance(leaf, Dense)]
    if len(dense) < 2:
        return operator
    others = [w * leaf for w, leaf in parts if not isinstance(leaf, Dense)]
    total = _weighted_sum(dense, room)
    return Sum([total, *others]) if others else total


def _weighted_leaves(
    operator: SymmetricOperator, weight: float
) -> Iterator[tuple[float, SymmetricOperator]]:
    if isinstance(operator, Sum):
        for term in operator.terms:
            yield from _weighted_leaves(term, weight)
    elif isinstance(operator, Scaled):
        yield from _weighted_leaves(operator.operator, weight * operator.factor)
    else:
        yield weight, operator


def _weighted_sum(parts: Sequence[tuple[float, Dense]], room: Array | None) -> Dense:
    n, dtype = parts[0][1].n, np.result_type(*(leaf.dtype for _, leaf in parts))
    if room is None or room.dtype != dtype:
        room = np.zeros((n, n), dtype=dtype)
    block = _one_block([leaf.matrix for _, leaf in parts])
    if block is not None:
        weights = np.array([weight for weight, _ in parts], dtype=dtype)
        np.dot(weights, block.reshape(len(parts), -1), out=room.reshape(-1))
    else:
        _sum_by_strips(parts, room)
    certified = all(leaf.certified for _, leaf in parts)
    bounds = Sum([w * leaf for w, leaf in parts]).bounds() if certified else None
    return Dense(room, bounds=bounds, name=" + ".join(leaf.name for _, leaf in parts))


def _one_block(matrices: Sequence[Array]) -> Array | None:
    """The array whose slices the matrices are, all of them and in their order."""
    block = matrices[0].base
    if block is None or block.ndim != 3 or len(block) != len(matrices):
        return None
    same = all(
        matrix.base is block and matrix.ctypes.data == block[i].ctypes.data
        for i, matrix in enumerate(matrices)
    )
    return block if same and block.flags.c_contiguous else None


def _sum_by_strips(parts: Sequence[tuple[float, Dense]], total: Array) -> None:
    """Strips that stay in the cache: each matrix is read once, the sum written once."""
    for rows in row_blocks(len(total), max(1, 2**17 // len(total))):
        strip, ((first, leaf), *rest) = total[rows], parts
        np.multiply(leaf.matrix[rows], first, out=strip)
        for weight, leaf in rest:
            _add_multiple(strip, weight, leaf.matrix[rows])


def _add_multiple(total: Array, weight: float, part: Array) -> None:
    """total += weight * part; by BLAS, in one pass, where both lie in one piece."""
    if part.flags.c_contiguous and part.dtype == total.dtype:
        (axpy,) = scipy.linalg.blas.get_blas_funcs(("axpy",), (total,))
        axpy(part.reshape(-1), total.reshape(-1), a=weight)
    else:
        total += weight * part


def without_mean(V: Array) -> Array:
    """H V: each column less its mean."""
    return V - V.mean(axis=0, dtype=np.float64).astype(V.dtype)
