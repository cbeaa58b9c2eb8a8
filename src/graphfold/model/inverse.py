"""A kernel that is known by its pseudo-inverse: K = (T'T)^+, T sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from graphfold.arrays import Array, small_indices
from graphfold.errors import NullDirectionsWarning, warn
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


def null_level(T: Any) -> float:
    """A direction v with |Tv|^2 up to this is a null vector of A = T'T.

    A share of the largest diagonal entry of A: less is rounding.
    """
    squares = np.asarray(abs(T).power(2).sum(axis=0)).ravel()
    return FLOOR * float(squares.max(initial=0.0))


def null_directions(T: Any, V: Array) -> Array:
    """Which of the columns of V are null vectors of T'T."""
    errors = np.square(T @ V.astype(np.float64)).sum(axis=0)
    return np.asarray(errors <= null_level(T))


def warn_of_null_directions(count: int) -> None:
    """Say that directions are dropped which others would call the best."""
    warn(
        f"neighbours reconstruct {count} directions of the rows exactly, so they are "
        "null vectors of A = (I - W)'(I - W), which its pseudo-inverse drops: use more "
        "neighbours or a stronger penalty (reg, alpha), or "
        'LocalNonlinearEmbedding(form="local"), which keeps them',
        NullDirectionsWarning,
    )


def kernel_of(
    T: Any, d: int, rng: np.random.Generator
) -> tuple[SymmetricOperator, Array]:
    """K = (T'T)^+ as an operator, and its top directions, in falling order.

    Small: in the eigenbasis. Else by the lowest eigenvectors, and for what is left a
    sparse factorisation, where it stays sparse, or a polynomial.

    Null vectors of T'T are taken to zero, as by every pseudo-inverse; a warning names
    those that are not constant.
    """
    A, n = normal_operator(T), T.shape[0]
    null = np.full((n, 1), n**-0.5) if constants_are_null(T) else np.empty((n, 0))
    room = n - null.shape[1]
    top = 1.05 * float(top_eigenpairs(A, 1, tol=1e-2, rng=rng, name=LOCAL).values[0])
    floor = FLOOR * top
    if n <= SMALL_BASIS:
        pairs = top_eigenpairs(-A, room, solver="lapack", avoid=null, name=LOCAL)
        lost = _lost(T, pairs.vectors)
        inverses = np.where(lost, 0.0, 1 / np.maximum(-pairs.values, floor))
        operator = SpectralFunction(pairs.vectors, inverses, name="K")
        return operator, pairs.vectors[:, ~lost]
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
    lost = _lost(T, pairs.vectors)
    values = np.maximum(-pairs.values, floor)
    vectors = np.hstack([null, pairs.vectors])
    inverses = np.append(np.zeros(null.shape[1]), np.where(lost, 0.0, 1 / values))
    matrix = sp.csr_array(T.T @ T)
    rest: SymmetricOperator
    if factors_stay_sparse(matrix):
        rest = Factorized(matrix + floor * sp.eye_array(n))
    else:
        lowest = np.append(np.zeros(null.shape[1]), values)
        error = TOLERANCE * float(inverses.max())
        rest = inverse_polynomial(A, lowest, vectors, top, error)
    return PseudoInverse(vectors, inverses, rest), pairs.vectors[:, ~lost]


def _lost(T: Any, V: Array) -> Array:
    lost = null_directions(T, V)
    if lost.any():
        warn_of_null_directions(int(lost.sum()))
    return lost
