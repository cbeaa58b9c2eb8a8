"""The rows of a large fit, known again without being kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from graphfold import io
from graphfold.arrays import Array
from graphfold.equal_rows import (
    matching_fingerprints,
    row_fingerprints,
    row_projections,
)
from graphfold.hints import Numbers


@io.record
@dataclass(frozen=True)
class RowKeys:
    """A fingerprint of each row of a fit and, if rows have labels, two projections.

    Fingerprints tell whether a row is exactly one of the fit, projections whether the
    row of a label is what it was up to rounding; in 24 bytes a row.
    """

    fingerprints: Annotated[Array, Numbers("n", kind="u")]
    projections: Annotated[Array, Numbers("n", 2)] | None = None

    @classmethod
    def of(cls, X: Any, *, labelled: bool = True) -> Self:
        """The keys of the rows of X."""
        return cls(row_fingerprints(X), row_projections(X) if labelled else None)

    def __len__(self) -> int:
        return len(self.fingerprints)

    def matching(self, X: Any) -> tuple[Array, Array]:
        """Row of the fit equal to each row of X, or -1; and which equal several."""
        return matching_fingerprints(row_fingerprints(X), self.fingerprints)

    def equal(self, X: Any, rows: Array, rtol: float) -> Array:
        """Whether row i of X equals row ``rows[i]`` of the fit, within ``rtol``."""
        assert self.projections is not None
        gap = np.abs(row_projections(X) - self.projections[rows]).max(axis=1)
        largest = abs(X).max(axis=1)
        if hasattr(largest, "toarray"):
            largest = largest.toarray().ravel()
        # a projection adds up as many roundings as there are columns
        size = np.asarray(largest, dtype=np.float64) * np.sqrt(X.shape[1])
        return np.asarray(gap <= rtol * size)
