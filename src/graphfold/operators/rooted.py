"""The inverse of T'T by the factors of T, which has fewer entries than T'T."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from graphfold.arrays import Array
from graphfold.operators.base import (
    Bounds,
    SymmetricOperator,
    diagonal_by_products,
    entries_by_products,
)

#: |T x - y| relative to |T| |x| + |y|: factors that are worse are not used
BACKWARD = 1e-11
#: a pinned entry of the left null vector, beside its largest, that says enough of it
PINNED = 1e-6
#: times 1 / |T|^2 that an inverse may grow to; beyond it T has null vectors
LARGEST = 1e13


class UnsoundFactorsError(ArithmeticError):
    """T is singular, or its factors are too far from it."""


@final
class RootInverse(SymmetricOperator):
    """(T'T)^+ for a sparse square T whose null space is that of ``null``.

    By factors of T itself: of T of locally linear weights they have a third of the
    entries of those of T'T and take a fourth of the time, and the condition of T is the
    root of that of T'T, so small eigenvalues keep their digits.

    Where T q = 0, one entry of the diagonal is raised by one: S = T + e_i e_i'. For b
    orthogonal to q the solution of S'y = b has y_i = 0, so T'y = b as well. Its part
    along the left null vector u, T'u = 0, is taken off, and S x = y then has x_i = 0
    and T x = y. The part of x along q is what the pseudo-inverse does not have.

    Products cost 4 times the entries of the factors.

    Parameters
    ----------
    T : sparse array of shape (n, n)
    null : array of shape (n, k), k at most 1
        The unit vector q with T q = 0, or no column.

    Raises
    ------
    UnsoundFactorsError
        Where T has more null vectors than that.
    """

    def __init__(self, T: Any, null: Array, *, name: str = "K"):
        self.n, self.dtype, self.name = T.shape[0], np.dtype(np.float64), name
        self.n_solved = 0
        self._T, self._null = sp.csc_array(T, dtype=np.float64), null.astype(np.float64)
        self._size = float(np.sqrt(self._T.power(2).sum(axis=0).max()))
        self._left = np.empty((self.n, 0))
        if null.shape[1]:
            self._pin(_place_to_pin(self._T))
        else:
            self._factor = _factors(self._T)
        self._check()

    def _pin(self, place: int) -> None:
        """Factorise T with a raised entry, and find its left null vector."""
        for _ in range(2):
            self._factor = _factors(_raised(self._T, place))
            unit = np.zeros(self.n)
            unit[place] = 1.0
            left = self._factor.solve(unit, trans="T")
            largest = int(np.argmax(np.abs(left)))
            if not np.isfinite(left).all() or left[largest] == 0:
                raise UnsoundFactorsError("no left null vector")
            if abs(left[place]) > PINNED * abs(left[largest]):
                break
            place = largest
        left = left[:, None] / np.linalg.norm(left)
        if np.linalg.norm(self._T.T @ left) > BACKWARD * self._size:
            raise UnsoundFactorsError("T has full rank, or more null vectors")
        self._left, self._place = left, place
        along = self._factor.solve(left)
        self._along = along / along[place]

    def _check(self) -> None:
        """Refuse factors that do not solve, and inverses that are too large."""
        b = np.random.default_rng(0).standard_normal((self.n, 2))
        with np.errstate(all="ignore"):
            b = _without(self._null, b)
            y, x = self._halves(b)
            for T, right, found in ((self._T.T, b, y), (self._T, y, x)):
                error = np.linalg.norm(T @ found - right)
                size = self._size * np.linalg.norm(found) + np.linalg.norm(right)
                if not error <= BACKWARD * size:
                    raise UnsoundFactorsError(f"backward error of {error / size:.1e}")
        if np.linalg.norm(x) * self._size**2 > LARGEST * np.linalg.norm(b):
            raise UnsoundFactorsError("T has null vectors")

    def _halves(self, V: Array) -> tuple[Array, Array]:
        """T'^-1 V and T^-1 of it."""
        y = self._first_half(V)
        return y, self._second_half(y)

    def _first_half(self, V: Array) -> Array:
        return _without(self._left, self._factor.solve(V, trans="T"))

    def _second_half(self, y: Array) -> Array:
        x = self._factor.solve(y)
        if self._left.shape[1]:
            # x_i says what of y is still along u, more sharply than u'y does
            x -= self._along * x[self._place]
        return _without(self._null, x)

    def refined(self, V: Array) -> Array:
        """The product with a block, to the last digits: each half is solved again.

        Pivots were not sought, so the factors have lost some. Costs two products.
        """
        V = _without(self._null, np.asarray(V, dtype=np.float64))
        y = self._first_half(V)
        y += self._first_half(V - self._T.T @ y)
        x = self._second_half(y)
        x += self._second_half(y - self._T @ x)
        self.n_solved += 2 * V.shape[1]
        return x

    def apply(self, V: Array) -> Array:
        self.n_solved += 1 if V.ndim == 1 else V.shape[1]
        V = np.asarray(V, dtype=np.float64)
        return np.asarray(self._halves(_without(self._null, V))[1])

    def diagonal(self) -> Array:
        return diagonal_by_products(self)

    def entries(self) -> Array:
        return entries_by_products(self)

    def bounds(self) -> Bounds:
        return 0.0, np.inf

    def work(self) -> float:
        return 4.0 * float(self._factor.nnz)

    def describe(self) -> str:
        return self.name


def _without(basis: Array, V: Array) -> Array:
    """V less its part in the span of a few orthonormal columns."""
    return np.asarray(V - basis @ (basis.T @ V)) if basis.shape[1] else V


def _place_to_pin(T: Any) -> int:
    """A row that is a neighbour of many, among those that u may say something of.

    Where T has one null vector, its graph has one strong component that no edge leaves.
    The left null vector u is 0 outside of it.
    """
    count, labels = connected_components(T, connection="strong")
    rows, columns = T.nonzero()
    leaving = labels[rows] != labels[columns]
    is_closed = np.ones(count, dtype=bool)
    is_closed[labels[rows[leaving]]] = False
    return int(np.argmax(np.where(is_closed[labels], np.diff(T.indptr), 0)))


def _raised(T: Any, place: int) -> Any:
    raised = sp.csc_array(([1.0], ([place], [place])), shape=T.shape)
    return sp.csc_array(T + raised)


def _factors(T: Any) -> Any:
    """LU with a minimum degree order of T + T' and pivots on the diagonal."""
    try:
        return splu(
            T,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError as error:  # exactly singular
        raise UnsoundFactorsError(str(error)) from None
