"""The rows of a large fit, known again without being kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from graphfold import io
from graphfold.arrays import Array, row_projections

#: rounding of a projection, relative to its size
ROUNDING = 1e-9


@io.record
@dataclass(frozen=True)
class RowKeys:
    """Two numbers for each row of a fit (``row_projections``).

    They tell whether a row that comes back is the one that it was, in 16 bytes a row.
    """

    projections: Array

    @classmethod
    def of(cls, X: Any) -> Self:
        """The keys of the rows of X."""
        return cls(row_projections(X))

    def __len__(self) -> int:
        return len(self.projections)

    def matching(self, X: Any) -> Array:
        """Index of a row of the fit equal to each row of X, or -1."""
        asked = row_projections(X)
        order = np.argsort(self.projections[:, 0], kind="stable")
        known = self.projections[order]
        slack = ROUNDING * (1 + np.abs(asked[:, 0]))
        first = np.searchsorted(known[:, 0], asked[:, 0] - slack)
        found = np.full(len(asked), -1)
        # rows whose first numbers agree by chance are told apart by the second
        for step in range(8):
            place = np.minimum(first + step, len(known) - 1)
            near = np.abs(known[place] - asked).max(axis=1) <= slack
            found = np.where((found < 0) & near, order[place], found)
        return found

    def equal(self, X: Any, rows: Array, rtol: float) -> Array:
        """Whether row i of X equals row ``rows[i]`` of the fit, within ``rtol``."""
        gap = np.abs(row_projections(X) - self.projections[rows]).max(axis=1)
        largest = abs(X).max(axis=1)
        if hasattr(largest, "toarray"):
            largest = largest.toarray().ravel()
        size = np.asarray(largest, dtype=np.float64) * np.sqrt(X.shape[1])
        return np.asarray(gap <= 10 * rtol * size + np.finfo(float).tiny)
