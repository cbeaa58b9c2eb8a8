"""What the robust methods share: entries that are there, and what is found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from graphfold.arrays import Array, power_of_two
from graphfold.errors import GraphfoldError


@dataclass(frozen=True)
class Observed:
    """The data X with 0 where an entry is missing, and where that is.

    ``missing`` is None where every entry is there.
    """

    X: Array
    missing: Array | None = None

    @classmethod
    def of(cls, X: Array) -> Self:
        """The entries of a table in which NaN stands for a missing one."""
        missing = np.isnan(X)
        if not missing.any():
            return cls(X)
        return cls(np.where(missing, X.dtype.type(0), X), missing)

    @property
    def unit(self) -> float:
        """A power of two near the largest entry where squares are out of range, else 1.

        A power of two changes no digit.
        """
        largest = float(np.abs(self.X).max(initial=0.0))
        comfortable = float(np.finfo(self.X.dtype).max) ** 0.25
        if largest == 0 or 1 / comfortable <= largest <= comfortable:
            return 1.0
        return power_of_two(largest)

    def over(self, unit: float) -> Self:
        """The data measured in a unit."""
        return self if unit == 1 else replace(self, X=self.X / self.X.dtype.type(unit))

    @property
    def count(self) -> int:
        """Number of entries that are there."""
        lost = 0 if self.missing is None else int(self.missing.sum())
        return self.X.size - lost

    def absolute_error(self, Z: Array) -> float:
        """``|X - Z|_1`` over the entries that are there."""
        gap = np.abs(self.X - Z)
        if self.missing is not None:
            gap[self.missing] = 0
        # in float64: a million entries of float32 do not add up to seven digits
        return float(gap.sum(dtype=np.float64))

    def error(self, Z: Array) -> Array:
        """S = X - Z, and 0 where an entry is missing."""
        return self.without_missing(self.X - Z)

    def without_missing(self, V: Array) -> Array:
        """V with 0 written where an entry is missing."""
        if self.missing is not None:
            V[self.missing] = 0
        return V

    def pulled_to_data(self, V: Array, distance: float) -> Array:
        """The proximal map of ``distance |X - Z|_1``: V moved towards X.

        Each entry goes by at most ``distance``; where X is missing it stays.
        """
        excess = V - self.X
        # X + (excess - its clipped part) is X itself, to the bit, where that is reached
        excess -= self.without_missing(np.clip(excess, -distance, distance))
        excess += self.X
        return excess

    def filled(self) -> Array:
        """X with the median of its column in each missing place; 0 if it has none."""
        if self.missing is None:
            return self.X
        return np.where(self.missing, self.column_medians(), self.X)

    def column_medians(self) -> Array:
        """Median of what is there in each column; 0 where nothing is."""
        if self.missing is None:
            return np.asarray(np.median(self.X, axis=0))
        empty = self.missing.all(axis=0)
        table = np.where(self.missing & ~empty, np.nan, self.X)
        return np.asarray(np.nanmedian(table, axis=0)).astype(self.X.dtype)


def refuse_too_strong(data: Observed, curvature: float) -> None:
    """Raise where the graph leaves nothing of the other terms but rounding.

    ``curvature`` bounds its gradient. Where that is quadratic in X they are linear, so
    that it has to be seen beside the size of X.
    """
    largest = float(np.abs(data.X).max(initial=0.0))
    most = float(np.finfo(data.X.dtype).eps) ** -1.5
    if not curvature * largest <= most:
        raise GraphfoldError(
            "graph_strength (or feature_strength) times the largest degree of its "
            f"graph times the largest entry of X must be at most {most:.2g}: beyond it "
            f"the graph is all; got {curvature * largest:.3g}: lower it, or scale X "
            "or the weights of the graph down"
        )


@dataclass(frozen=True)
class Separation:
    """X taken apart into a smooth, low-rank Z and what is left.

    ``residual`` is what the method stopped by, comparable with its ``tol``; the
    objective is that of ``low_rank`` itself, ``trace`` has it after each iteration.
    """

    low_rank: Array
    objective: float
    trace: Array
    residual: float
    converged: bool
    n_iterations: int

    def times(self, unit: float) -> Self:
        """The answer for data that were measured in a unit."""
        if unit == 1:
            return self
        return replace(
            self,
            low_rank=self.low_rank * self.low_rank.dtype.type(unit),
            objective=self.objective * unit,
            trace=self.trace * unit,
        )
