"""Singular values above a threshold, for nuclear norms: none is ever left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from graphfold.arrays import Array, orthonormal, signs_of_columns
from graphfold.operators import LowRank
from graphfold.solvers.choose import top_eigenpairs

#: up to this many rows or columns all singular values cost little
SMALL = 1000
#: above this share of the smaller side all values are found faster than a block
WIDE = 0.05
#: vectors beyond the last rank, so that one value below the threshold is among them
SPARE = 4
#: rounds after which all singular values are computed
MOST_ROUNDS = 300
#: relative accuracy asked of what is left of a value at the threshold
ACCURACY = 1e-6
#: below this share of the largest, squares of singular values drown in rounding
SQUARES_HOLD = 1e-6


@dataclass(frozen=True)
class Shrunk:
    """U diag(values) V' with every singular value lowered by a threshold.

    ``vectors`` are orthonormal on the smaller side of the matrix, where the next
    problem may start from them.
    """

    matrix: Array
    values: Array
    vectors: Array

    @property
    def rank(self) -> int:
        """Number of singular values above the threshold."""
        return len(self.values)


def shrink_singular_values(
    M: Array,
    threshold: float,
    *,
    start: Array | None = None,
    rng: np.random.Generator | None = None,
) -> Shrunk:
    """The proximal map of ``threshold`` times the nuclear norm.

    Argmin over Z of ``threshold |Z|_* + |Z - M|^2 / 2``. The singular vectors are
    eigenvectors of M'M (or MM', whichever is smaller): all of them where that side is
    small, else only so many that the last of them lies below the threshold. ``start``
    holds those of a matrix nearby and fixes how many are tried first; where all of
    them lie above the threshold, twice as many are asked for. Works in float64: a
    threshold in the thousandths of the largest value is a millionth in M'M.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.solvers.singular import shrink_singular_values
    >>> shrink_singular_values(np.diag([3.0, 1.0, 0.5]), 0.75).values
    array([2.25, 0.25])
    """
    if M.shape[0] < M.shape[1]:
        turned = shrink_singular_values(M.T, threshold, start=start, rng=rng)
        return Shrunk(turned.matrix.T, turned.values, turned.vectors)
    tall = M.astype(np.float64, copy=False)
    values, vectors = _singular_pairs(tall, threshold, start, rng)
    above = values > threshold
    kept, V = values[above], vectors[:, above]
    matrix = ((tall @ V) * (1 - threshold / kept)) @ V.T
    return Shrunk(matrix.astype(M.dtype, copy=False), kept - threshold, vectors)


def largest_singular_value(
    M: Array, *, start: Array | None = None, rng: np.random.Generator | None = None
) -> tuple[float, Array]:
    """The spectral norm, its residual added to be on the safe side; a vector of it."""
    tall = (M if M.shape[0] >= M.shape[1] else M.T).astype(np.float64, copy=False)
    n = tall.shape[1]
    solver = "lapack" if n <= SMALL else "auto"
    pairs = top_eigenpairs(
        LowRank(tall.T), 1, solver=solver, tol=1e-6, start=start, rng=rng
    )
    square = float(pairs.values[0]) + float(pairs.residuals[0]) * pairs.size
    return float(np.sqrt(max(square, 0.0))), pairs.vectors


def _singular_pairs(
    tall: Array, threshold: float, start: Array | None, rng: Any
) -> tuple[Array, Array]:
    """Right singular pairs down to the threshold: one below it, or all there are.

    Where the block does not converge, all of them are computed.
    """
    side = tall.shape[1]
    width = SPARE + (side // 40 if start is None else start.shape[1])
    size = float(np.linalg.norm(tall))
    while side > SMALL and width <= WIDE * side and size > 0:
        # a value at the threshold is (threshold / size)^2 of the operator's own size
        share = (threshold / size) ** 2
        pairs = top_eigenpairs(
            LowRank(tall.T),
            width,
            solver="krylov",
            max_iter=MOST_ROUNDS,
            tol=float(np.clip(ACCURACY * share, 1e-14, 1e-6)),
            start=start,
            rng=rng,
        )
        values = np.sqrt(np.maximum(pairs.values, 0.0))
        if not pairs.converged:
            break
        if values[-1] < threshold:
            # those just below come along as a start: a rank may also grow
            wanted = int((values > threshold).sum()) + SPARE
            return values[:wanted], pairs.vectors[:, :wanted]
        width, start = 2 * width, pairs.start
    return _all_singular_pairs(tall, threshold)


def _all_singular_pairs(tall: Array, threshold: float) -> tuple[Array, Array]:
    squares, vectors = scipy.linalg.eigh(tall.T @ tall, check_finite=False)
    values = np.sqrt(np.maximum(squares, 0.0))
    if threshold < SQUARES_HOLD * values[-1]:
        _, values, rows = scipy.linalg.svd(
            tall, full_matrices=False, check_finite=False, lapack_driver="gesdd"
        )
        return values, rows.T
    wanted = min(int((values > threshold).sum()) + SPARE, len(values))
    return values[::-1][:wanted], vectors[:, ::-1][:, :wanted]


def leading_directions(
    M: Array, d: int, *, floor: float = 0.0, rng: np.random.Generator | None = None
) -> tuple[Array, Array]:
    """The d largest singular values of M and its right singular vectors, as rows.

    Signs make the entry of largest size in each vector positive. A value that is
    rounding next to the largest one, or at most ``floor``, is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.solvers.singular import leading_directions
    >>> leading_directions(np.array([[0.0, 2.0], [1.0, 0.0]]), 1)
    (array([2.]), array([[0., 1.]]))
    """
    wide = M.astype(np.float64, copy=False)
    by_columns = M.shape[0] >= M.shape[1]
    side = LowRank(wide.T if by_columns else wide)
    pairs = top_eigenpairs(side, d, rng=rng)
    values = np.sqrt(np.maximum(pairs.values, 0.0))
    values[values <= max(1e-7 * values.max(initial=0.0), floor)] = 0.0
    vectors = pairs.vectors
    if not by_columns:
        # orthonormal also where a value is 0 and M' u says nothing
        vectors = orthonormal(wide.T @ vectors)
    vectors = vectors * signs_of_columns(vectors)
    return values.astype(M.dtype), vectors.T.astype(M.dtype)
