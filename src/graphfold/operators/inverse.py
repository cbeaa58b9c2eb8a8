"""The inverse of an operator: by a sparse factorisation, or by products alone."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import splu

from graphfold.arrays import Array, small_indices
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
#: up to this many rows even a factorisation that fills up is small
FILLED = 5000
#: steps from one row to the farthest: a graph that is this long has thin separators
LONG = 12


@final
class PseudoInverse(SymmetricOperator):
    """A^+ for a positive semi-definite A whose lowest eigenvectors U are known.

    A^+ = U diag(inverses) U' + (I - U U') rest (I - U U'). On the span of U, where A^+
    is large, it is as exact as U and costs 4 n r; elsewhere it costs a product with
    ``rest``, an inverse of A there: ``Factorized``, or ``inverse_polynomial``.

    Parameters
    ----------
    vectors : array of shape (n, r)
        The lowest eigenvectors of A.
    inverses : array of shape (r,)
        Eigenvalues of A^+ on them; 0 for the null space.
    rest : SymmetricOperator
    """

    def __init__(
        self,
        vectors: Array,
        inverses: Array,
        rest: SymmetricOperator,
        *,
        name: str = "K",
    ):
        self.vectors, self.inverses, self.rest = vectors, inverses, rest
        self.n, self.dtype, self.name = len(vectors), vectors.dtype, name

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
        rng = np.random.default_rng(0)
        signs = rng.choice([-1.0, 1.0], size=(self.n, PROBES)).astype(self.dtype)
        signs -= self.vectors @ (self.vectors.T @ signs)
        rest = np.einsum("ij,ij->", signs, self.apply(signs)) / PROBES
        return float(self.inverses.sum() + rest)

    def bounds(self) -> Bounds:
        upper = self.rest.bounds()[1]
        return 0.0, float(max(self.inverses.max(initial=0.0), upper))

    def work(self) -> float:
        return self.rest.work() + 8.0 * self.vectors.size

    def describe(self) -> str:
        return self.name


def inverse_polynomial(
    operator: SymmetricOperator, values: Array, vectors: Array, top: float, error: float
) -> ChebyshevFunction:
    """p(A), p the Chebyshev interpolant of 1/x from the last of ``values`` to ``top``.

    ``values`` and ``vectors`` are the lowest eigenpairs of A; ``error`` is the largest
    absolute error. A's lowest eigenvectors are lifted into the interval: rounding
    errors along them would else grow as the polynomial does outside of it.
    """
    low = float(values[-1])
    lift = LowRank(vectors, (top - values).astype(vectors.dtype))
    return ChebyshevFunction(
        operator + lift,
        lambda x: 1.0 / x,
        tol=min(1e-3, error * low),
        max_degree=20_000,
        interval=(low, float(top)),
    )


@final
class Factorized(SymmetricOperator):
    """A^-1 for a sparse positive definite A, by one sparse factorisation.

    Products cost 4 times the entries of a factor.
    """

    def __init__(self, matrix: Any, *, name: str = "K"):
        self.n, self.dtype, self.name = matrix.shape[0], np.dtype(np.float64), name
        self.n_solved = 0
        self._factor = splu(
            sp.csc_matrix(matrix, dtype=np.float64),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def apply(self, V: Array) -> Array:
        self.n_solved += 1 if V.ndim == 1 else V.shape[1]
        return np.asarray(self._factor.solve(np.asarray(V, dtype=np.float64)))

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


def factors_stay_sparse(matrix: Any) -> bool:
    """Whether a factorisation is affordable: few rows, or a long and thin graph.

    In a graph of high dimension every row is a few steps from every other, and the
    factors fill up; a surface is long in both directions.
    """
    if matrix.shape[0] <= FILLED:
        return True
    n = matrix.shape[0]
    some = np.array([0, n // 3, n - 1])  # one alone might lie in a small part
    linked = small_indices(sp.csr_array(matrix != 0, dtype=np.float64))
    steps = shortest_path(linked, indices=some, unweighted=True, directed=False)
    return bool(steps[np.isfinite(steps)].max() >= LONG)
