"""Gradients of kernel expansions f(x) = sum_j w_j k(x, y_j), in closed form.

A kernel of inner products has the gradient s(x, y) y, s its slope, so that all rows of
X are served by one product of slopes with Y; distances and lengths add a multiple of x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array, floating, row_blocks
from graphfold.errors import GraphfoldError, KernelError
from graphfold.kernels.base import Kernel
from graphfold.kernels.borrowed import Pairwise, Precomputed
from graphfold.kernels.combined import Combination, OnColumns
from graphfold.kernels.inner import squared_norms, unit_rows
from graphfold.kernels.products import (
    Cosine,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
)
from graphfold.progress import counted

#: numbers in a block of slopes, block x n
BLOCK = 2**22


def gradient_of_expansion(kernel: Kernel, X: Any, Y: Any, W: Any) -> Array:
    """Gradient of f(x) = sum_j W_j k(x, y_j) at each row x of X.

    O(m n D) arithmetic in matrix products, and block x n numbers at a time; Linear
    and Cosine need O((m + n) D) only.

    Parameters
    ----------
    kernel : Kernel
        Bound: Linear, Gaussian, Polynomial, Sigmoid or Cosine.
    X : array or sparse matrix of shape (m, D)
        Where the gradient is wanted.
    Y : array or sparse matrix of shape (n, D)
        The reference rows.
    W : array of shape (n,) or (n, 1)
        Their weights.

    Returns
    -------
    array of shape (m, D)
        Dense; float32 if X and Y are, else float64. For Cosine, whose gradient is not
        defined at a zero row, that row is zero.

    Raises
    ------
    KernelError
        For a kernel without a closed form (``Pairwise``, ``Precomputed``), and where
        a slope is not finite.

    Examples
    --------
    f(x) = exp(-x^2) has the gradient -2 x exp(-x^2):

    >>> import numpy as np
    >>> from graphfold import kernels
    >>> from graphfold.kernels.gradients import gradient_of_expansion
    >>> x = np.array([[-1.0], [0.0], [1.0]])
    >>> gradient_of_expansion(kernels.Gaussian(1.0), x, [[0.0]], [1.0]).round(4)
    array([[ 0.7358],
           [ 0.    ],
           [-0.7358]])
    """
    gradient = _GRADIENTS.get(type(kernel))
    if gradient is None:
        reason = _REASONS.get(type(kernel), "graphfold does not know its slopes")
        raise KernelError(
            f"kernel {kernel!r} has no closed-form gradient: {reason}, "
            "use Linear, Gaussian, Polynomial, Sigmoid or Cosine"
        )
    X, Y = _alike(check.table("X", X), check.table("Y", Y))
    return gradient(kernel, X, Y, _column("W", W, Y))


def _alike(X: Any, Y: Any) -> tuple[Any, Any]:
    """X and Y of one floating type, and both dense or both sparse."""
    if X.shape[1] != Y.shape[1]:
        raise GraphfoldError(
            f"X and Y must have the same columns; got {X.shape[1]} and {Y.shape[1]}"
        )
    dtype = floating(np.result_type(X.dtype, Y.dtype))
    if sp.issparse(X) or sp.issparse(Y):
        return sp.csr_array(X, dtype=dtype), sp.csr_array(Y, dtype=dtype)
    return np.asarray(X, dtype=dtype), np.asarray(Y, dtype=dtype)


def _column(name: str, W: Any, Y: Any) -> Array:
    """W as n numbers of Y's type."""
    weights = np.asarray(W, dtype=Y.dtype)
    n = Y.shape[0]
    if weights.shape not in ((n,), (n, 1)):
        raise GraphfoldError(
            f"{name} must hold one weight for each of the {n} rows of Y; "
            f"got shape {weights.shape}"
        )
    return weights.ravel()


def _of_linear(kernel: Linear, X: Any, Y: Any, W: Array) -> Array:
    return np.tile(W @ Y, (X.shape[0], 1))


def _of_cosine(kernel: Cosine, X: Any, Y: Any, W: Array) -> Array:
    # f(x) = u't with u = x / |x|: what of t is orthogonal to u, divided by |x|
    t, U = W @ unit_rows(Y), unit_rows(X)
    lengths = np.sqrt(squared_norms(X))[:, None]
    across = t - _scaled_rows(U, U @ t)
    return np.divide(across, lengths, out=np.zeros_like(across), where=lengths > 0)


def _of_gaussian(kernel: Gaussian, X: Any, Y: Any, W: Array) -> Array:
    if not sp.issparse(Y):
        # y - x does not change under a common shift, but the sums below would lose
        # their digits far from the origin
        shift = Y.mean(axis=0)
        X, Y = X - shift, Y - shift
    moments, masses = _weighted_sums(lambda rows: kernel.block(X[rows], Y), X, Y, W)
    moments -= _scaled_rows(X, masses)
    moments *= 2 * float(kernel.gamma)  # type: ignore[arg-type]
    return moments


def _of_polynomial(kernel: Polynomial, X: Any, Y: Any, W: Array) -> Array:
    if kernel.degree == 0:
        return np.zeros(X.shape, dtype=X.dtype)
    lowered = kernel.with_params(degree=kernel.degree - 1)

    def slopes(rows: slice) -> Array:
        with np.errstate(divide="ignore"):  # an infinite slope is refused by `block`
            return lowered.block(X[rows], Y)

    moments, _ = _weighted_sums(slopes, X, Y, W)
    moments *= float(kernel.gamma) * kernel.degree  # type: ignore[arg-type]
    return moments


def _of_sigmoid(kernel: Sigmoid, X: Any, Y: Any, W: Array) -> Array:
    def slopes(rows: slice) -> Array:
        values = kernel.block(X[rows], Y)
        values *= values
        return np.subtract(1.0, values, out=values)

    moments, _ = _weighted_sums(slopes, X, Y, W)
    moments *= float(kernel.gamma)  # type: ignore[arg-type]
    return moments


def _of_combination(kernel: Combination, X: Any, Y: Any, W: Array) -> Array:
    parts = (w * gradient_of_expansion(k, X, Y, W) for w, k in kernel.parts())
    return np.asarray(sum(parts, start=np.zeros(X.shape, dtype=X.dtype)))


def _of_columns(kernel: OnColumns, X: Any, Y: Any, W: Array) -> Array:
    gradient = np.zeros(X.shape, dtype=X.dtype)
    inner = gradient_of_expansion(kernel.kernel, kernel.view(X), kernel.view(Y), W)
    kernel.view(gradient)[:] = inner
    return gradient


def _weighted_sums(
    slopes: Callable[[slice], Array], X: Any, Y: Any, W: Array
) -> tuple[Array, Array]:
    """sum_j s(x, y_j) W_j y_j and sum_j s(x, y_j) W_j for each row x of X.

    ``slopes`` gives s(x, y) for a slice of the rows of X and all of Y.
    """
    moments = np.empty(X.shape, dtype=X.dtype)
    masses = np.empty(X.shape[0], dtype=X.dtype)
    size = int(np.clip(BLOCK // max(Y.shape[0], 1), 16, 1024))
    for rows in counted("gradients", row_blocks(X.shape[0], size)):
        weighted = slopes(rows)
        weighted *= W
        moments[rows] = weighted @ Y
        masses[rows] = weighted.sum(axis=1)
    return moments, masses


def _scaled_rows(X: Any, factors: Array) -> Array:
    """Each row of X times its factor, dense."""
    dense = X.toarray() if sp.issparse(X) else X
    return np.asarray(dense * factors[:, None])


_GRADIENTS: dict[type[Kernel], Callable[..., Array]] = {
    Linear: _of_linear,
    Cosine: _of_cosine,
    Gaussian: _of_gaussian,
    Polynomial: _of_polynomial,
    Sigmoid: _of_sigmoid,
    Combination: _of_combination,
    OnColumns: _of_columns,
}

_REASONS: dict[type[Kernel], str] = {
    Pairwise: "its values come from scikit-learn or a callable, without slopes",
    Precomputed: "X holds its values and not the points they are taken at",
}
