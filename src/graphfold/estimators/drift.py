"""Has a stream changed? What the landmarks see of each batch, and where it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from graphfold import io
from graphfold.arrays import Array
from graphfold.equal_rows import row_fingerprints
from graphfold.errors import DriftWarning, warn
from graphfold.hints import Numbers
from graphfold.kernels.landmarks import LandmarkFeatures
from graphfold.progress import counted

#: rows of a batch that are looked at
MOST_ROWS = 1000
#: a batch of which this much more is lost than usual is news to the landmarks
NEWS = 0.1


@io.record
@dataclass(frozen=True)
class DriftReport:
    """One number of each kind for each batch that is kept, in order of arrival.

    Attributes
    ----------
    batches : array
        Numbers of the batches.
    lost : array
        Share of the batch's variance in feature space that the landmarks do not see,
        landmarks left out; NaN of a batch of nothing but landmarks.
    shift : array
        Squared distance between the mean of the batch and the mean of all, in units
        of the variance of all: 0 is no drift, 1 as far as a typical row.
    """

    batches: Annotated[Array, Numbers("_b", kind="iu")]
    lost: Annotated[Array, Numbers("_b", finite=False)]
    shift: Annotated[Array, Numbers("_b", finite=False)]

    @property
    def news(self) -> float:
        """How much more of the last batch is lost than of a typical one before it."""
        before = self.lost[:-1][np.isfinite(self.lost[:-1])]
        if not len(before) or np.isnan(self.lost[-1]):
            return 0.0
        return float(self.lost[-1] - np.median(before))

    def __str__(self) -> str:
        lines = ["batch   lost    shift"]
        lines += [
            f"{number:5d}   {lost:.4f}  {shift:.4f}"
            for number, lost, shift in zip(
                self.batches, self.lost, self.shift, strict=True
            )
        ]
        return "\n".join(lines)


def drift_report(
    features: Sequence[LandmarkFeatures],
    X: Any,
    batches: Sequence[slice],
    numbers: Sequence[int],
) -> DriftReport:
    """Look at some rows of each batch with the features of every kernel."""
    lost, means, squares, counts = [], [], [], []
    for rows in counted("drift", batches, "batch"):
        step = max(1, (rows.stop - rows.start) // MOST_ROWS)
        sample = X[rows.start : rows.stop : step]
        found = np.hstack([part.of_block(sample) for part in features])
        wide = found.astype(np.float64)
        lost.append(_lost_share(sample, features))
        means.append(wide.mean(axis=0))
        squares.append(float(np.square(wide).sum(axis=1).mean()))
        counts.append(rows.stop - rows.start)
    shares = np.array(counts) / sum(counts)
    centre = shares @ np.array(means)
    variance = float(shares @ np.array(squares) - centre @ centre)
    gaps = np.square(np.array(means) - centre).sum(axis=1)
    shift = gaps / variance if variance > 0 else np.zeros(len(gaps))
    return DriftReport(np.array(numbers), np.array(lost), shift)


def _lost_share(sample: Any, features: Sequence[LandmarkFeatures]) -> float:
    """Landmarks see all of themselves: the batch they came from would look known."""
    landmarks = np.concatenate([row_fingerprints(part.rows) for part in features])
    others = ~np.isin(row_fingerprints(sample), landmarks)
    if not others.any():
        return np.nan
    return float(np.mean([part.lost_share(sample[others]) for part in features]))


def warn_of_news(report: DriftReport) -> None:
    """The last batch is not like those before, and the landmarks do not know it."""
    if report.news > NEWS:
        warn(
            f"the landmarks do not see {report.lost[-1]:.0%} of the newest batch, "
            f"{report.news:.0%} more than of those before: the stream has changed; use "
            "more landmarks, or forgetting below 1",
            DriftWarning,
        )
