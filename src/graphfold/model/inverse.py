"""A kernel that is known by its pseudo-inverse: K = (T'T)^+, T sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from graphfold.arrays import Array, small_indices
from graphfold.errors import warn
from graphfold.kernels.local import FLOOR
from graphfold.operators import (
    Factorized,
    LowRank,
    PseudoInverse,
    SpectralFunction,
    SymmetricOperator,
)
from graphfold.operators.inverse import factors_stay_sparse, inverse_polynomial
from graphfold.solvers import top_eigenpairs

#: up to this many rows the whole eigenbasis is cheap
SMALL_BASIS = 1000
#: eigenpairs at the bottom that make the rest easy to invert
DEFLATED = 20
TOLERANCE = 1e-12
#: what its rounds are reported as
LOCAL = "spectrum of the local weights"


def normal_operator(T: Any) -> LowRank:
    """A = T'T by two sparse products: T has fewer entries than A."""
    return LowRank(small_indices(sp.csr_array(T.T)), name="A")


def constants_are_null(T: Any) -> bool:
    """Whether T 1 = 0: every row is a mean of others, so constants cost nothing."""
    sums = np.abs(np.asarray(T.sum(axis=1)).ravel())
    return bool(sums.max(initial=0.0) <= 1e-9 * max(1.0, float(abs(T).max())))


def kernel_of(
    T: Any, d: int, rng: np.random.Generator
) -> tuple[SymmetricOperator, Array]:
    """K = (T'T)^+ as an operator, and its top directions, in falling order.

    Small: in the eigenbasis. Else by the lowest eigenvectors, and for what is left a
    sparse factorisation, where it stays sparse, or a polynomial.

    Of the null space only constants are left out (where T 1 = 0): another direction
    that T'T takes to zero is one that neighbours reconstruct without error, the best
    there is. Its eigenvalue is that of the rounding.
    """
    A, n = normal_operator(T), T.shape[0]
    null = np.full((n, 1), n**-0.5) if constants_are_null(T) else np.empty((n, 0))
    room = n - null.shape[1]
    top = 1.05 * float(top_eigenpairs(A, 1, tol=1e-2, rng=rng, name=LOCAL).values[0])
    floor = FLOOR * top
    if n <= SMALL_BASIS:
        pairs = top_eigenpairs(-A, room, solver="lapack", avoid=null, name=LOCAL)
        inverses = 1 / np.maximum(-pairs.values, floor)
        return SpectralFunction(pairs.vectors, inverses, name="K"), pairs.vectors
    wanted = min(max(2 * d, DEFLATED), room)
    while True:
        pairs = top_eigenpairs(
            -A, wanted, avoid=null, tol=TOLERANCE, rng=rng, name=LOCAL
        )
        if -pairs.values[-1] > 1e3 * floor or wanted == room:
            break
        wanted = min(2 * wanted, room)
    if not pairs.converged:
        warn(
            "the bottom of the matrix of local weights was found to a relative "
            f"residual of {pairs.residuals.max():.1e} only: use more neighbours",
            ConvergenceWarning,
        )
    values = np.maximum(-pairs.values, floor)
    vectors = np.hstack([null, pairs.vectors])
    inverses = np.append(np.zeros(null.shape[1]), 1 / values)
    matrix = sp.csr_array(T.T @ T)
    rest: SymmetricOperator
    if factors_stay_sparse(matrix):
        rest = Factorized(matrix + floor * sp.eye_array(n))
    else:
        lowest = np.append(np.zeros(null.shape[1]), values)
        error = TOLERANCE * float(inverses.max())
        rest = inverse_polynomial(A, lowest, vectors, top, error)
    return PseudoInverse(vectors, inverses, rest), pairs.vectors
