"""What a solver is asked and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphfold.arrays import Array, column_lengths, new_directions, orthonormal
from graphfold.operators import SymmetricOperator


class Iteration(NamedTuple):
    """How far a solver has come: reported after every round."""

    number: int
    limit: int
    residual: float


#: called after every round; returning True stops the solver
Observer = Callable[[Iteration], bool | None]


@dataclass(frozen=True)
class Eigenpairs:
    """Top eigenpairs in falling order, and how good they are.

    ``residuals`` are ``|M v - value v|`` relative to the size of M (the largest size of
    an eigenvalue met), so they can be compared with ``tol``. ``size`` is that size.
    ``converged`` asks for less where M is very much larger at its other end
    (``judged_by_wanted_end``).
    ``next_value`` is where the spectrum goes on after the last pair: an estimate from
    above, its residual added; NaN where there is nothing more. ``spare`` are further
    vectors that came along, not converged: with them a nearby problem starts faster.
    ``stalled`` says that more rounds of the same kind would bring little.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.operators import Diagonal
    >>> from graphfold.solvers import top_eigenpairs
    >>> found = top_eigenpairs(Diagonal(np.array([1.0, -5.0, 3.0])), 1)
    >>> found.values, found.converged
    (array([3.]), True)
    """

    values: Array
    vectors: Array
    residuals: Array
    converged: bool
    n_iterations: int
    n_products: int
    size: float = 1.0
    next_value: float = np.nan
    spare: Array | None = None
    stalled: bool = False
    solver: str = ""
    reason: str = ""

    @property
    def start(self) -> Array:
        """Where to start a problem that differs a little."""
        if self.spare is None or self.spare.shape[1] == 0:
            return self.vectors
        return np.hstack([self.vectors, self.spare])


@dataclass(frozen=True)
class Request:
    """A question put to every solver in the same words.

    Of the d pairs only the first ``needed`` have to converge; the others come along as
    they are. ``avoid`` holds orthonormal columns that answers must be orthogonal to; M
    must map their complement into itself. ``bottom`` bounds the spectrum from below,
    where more is known than the operator tells.
    """

    M: SymmetricOperator
    d: int
    tol: float
    max_iter: int
    rng: np.random.Generator
    avoid: Array
    start: Array | None
    needed: int
    observer: Observer | None
    bottom: float | None = None

    def random_block(self, width: int) -> Array:
        """An orthonormal starting block: the given start, filled up at random."""
        return orthonormal(self.rough_block(width), against=self.avoid)

    def rough_block(self, width: int) -> Array:
        """The given start, filled up at random; no column is like another."""
        if self.start is not None and self.start.shape[1] >= width:
            return self.start[:, :width].astype(self.M.dtype)
        block = self.rng.standard_normal((self.M.n, width)).astype(self.M.dtype)
        if self.start is not None:
            given = self.start[:, :width]
            block[:, : given.shape[1]] = given
        return block

    def directions(self, width: int) -> Array:
        """A starting block as that of ``random_block``, by products, not by a QR."""
        block = new_directions(self.rough_block(width), against=self.avoid)
        missing = width - block.shape[1]
        if missing == 0:
            return block
        # columns of the given start repeat each other: random ones take their place
        more = self.rng.standard_normal((self.M.n, missing)).astype(self.M.dtype)
        more = new_directions(more, against=np.hstack([self.avoid, block]))
        return np.hstack([block, more])

    def observe(self, number: int, residual: float) -> bool:
        """Report a round; True means that the observer wants to stop."""
        if self.observer is None:
            return False
        return bool(self.observer(Iteration(number, self.max_iter, residual)))


#: by the bytes of a number: how many times its wanted end M may be as large before
#: residuals are judged by that end; and the least share of M that can be reached
FAR_END = {4: 1e3, 8: 1e4}
LEAST_SHARE = {4: 0.1, 8: 1e-3}


def judged_by_wanted_end(tol: float, values: Array, size: float, dtype: Any) -> float:
    """The tolerance of residuals relative to ``size``, for these wanted values.

    ``tol`` itself, as a rule. Where the other end of the spectrum is far away (a
    penalty that grows like exp on a hub), a residual that is small beside it may be as
    large as all that is wanted: there less is allowed, as far as rounding permits.
    """
    bytes_ = np.dtype(dtype).itemsize
    wanted = float(np.abs(values).max(initial=0.0)) / (size or 1.0)
    return tol * min(1.0, max(FAR_END[bytes_] * wanted, LEAST_SHARE[bytes_]))


def value_after(values: Array, residuals: Array, d: int, size: float) -> float:
    """The Ritz value that follows the first d, with its residual added; or NaN."""
    if len(residuals) <= d:
        return float("nan")
    return float(values[d]) + float(residuals[d]) * size


def relative_residuals(
    MV: Array, V: Array, values: Array, size: float
) -> tuple[Array, Array]:
    """The residual block M V - V diag(values) and its column norms relative to M."""
    block = MV - V * values.astype(V.dtype)
    return block, column_lengths(block) / (size or 1.0)
