"""Conjugate gradients for a shifted operator, all columns in step."""

from __future__ import annotations

import numpy as np

from graphfold.arrays import Array
from graphfold.operators import SymmetricOperator


def solve_shifted(
    L: SymmetricOperator,
    scale: float,
    shift: float,
    right: Array,
    *,
    start: Array,
    tol: float,
    max_iter: int = 200,
) -> Array:
    """W with (scale L + shift I) W = right, for L positive semi-definite, shift > 0.

    Each column has step lengths of its own; all stop when the residual of the whole
    block is ``tol`` times the right side. Each round costs one product and three
    passes over the block.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.operators import Diagonal
    >>> from graphfold.solvers.conjugate import solve_shifted
    >>> L, right = Diagonal(np.array([0.0, 1.0])), np.array([[2.0], [9.0]])
    >>> solve_shifted(L, 1.0, 2.0, right, start=0 * right, tol=1e-12).ravel()
    array([1., 3.])
    """
    W = start.copy()
    residual = right - scale * L.apply(W) - shift * W
    direction = residual.copy()
    squares = _column_products(residual, residual)
    goal = tol * float(np.linalg.norm(right))
    for _ in range(max_iter):
        if np.sqrt(squares.sum()) <= goal:
            break
        image = scale * L.apply(direction)
        image += shift * direction
        lengths = _quotient(squares, _column_products(direction, image))
        W += direction * lengths
        image *= lengths
        residual -= image
        before, squares = squares, _column_products(residual, residual)
        direction *= _quotient(squares, before)
        direction += residual
    return W


def _column_products(A: Array, B: Array) -> Array:
    return np.einsum("ij,ij->j", A, B)


def _quotient(above: Array, below: Array) -> Array:
    """above / below, and 0 for a column that is already solved."""
    solved = below <= 0
    return np.where(solved, 0, above / np.where(solved, 1, below))
