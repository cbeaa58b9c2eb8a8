"""How far an axis can be trusted: gaps, and the turn a small change could cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from graphfold.arrays import Array
from graphfold.hints import Numbers, Sizes
from graphfold.solvers import Eigenpairs

#: size of the change, relative to M, for which turns are bounded
CHANGE = 0.01
#: an axis that may turn by this much (sine of 45 degrees) can become its neighbour
HALF_TURN = float(np.sqrt(0.5))


@dataclass(frozen=True)
class AxisReport:
    """What is certain about each axis of an embedding, in the order of eigenvalues.

    Attributes
    ----------
    eigengaps : array of shape (d,)
        Distance of each eigenvalue to the nearest other one.
    solver_turn : array of shape (d,)
        Largest sine of the angle between the axis found and the true eigenvector:
        residual / gap, at most 1.
    turn_bounds : array of shape (d,)
        Largest sine of the angle by which the axis can turn if M changes by 1 % of
        its size (other samples, noise, another strength): twice the change over the
        gap, at most 1.
    interchangeable : list of lists of int
        Axes that such a change may mix: only the space they span is sure. The number
        d in a group means that an axis left out belongs to it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from graphfold import GraphKernelPCA
    >>> report = GraphKernelPCA(3).fit(load_iris().data).axis_report_
    >>> report.interchangeable  # the third axis, and one that was left out
    [[2, 3]]
    """

    eigengaps: Annotated[Array, Numbers("d", finite=False)]
    solver_turn: Annotated[Array, Numbers("d", finite=False)]
    turn_bounds: Annotated[Array, Numbers("d", finite=False)]
    interchangeable: list[list[int]]

    def _check_loaded(self, sizes: Sizes) -> None:
        """Raise if a group has an axis that there is not."""
        d = len(self.eigengaps)
        if any(not 0 <= axis <= d for group in self.interchangeable for axis in group):
            raise ValueError(f"interchangeable must name axes from 0 to {d}")

    def __str__(self) -> str:
        lines = ["axis   eigengap   turn at 1 % change"]
        lines += [
            f"{i:4d} {gap:10.3g}   {'any' if turn >= 1 else f'sin <= {turn:.2g}'}"
            for i, (gap, turn) in enumerate(
                zip(self.eigengaps, self.turn_bounds, strict=True)
            )
        ]
        for group in self.interchangeable:
            names = ", ".join(
                "one not kept" if i == len(self.eigengaps) else str(i) for i in group
            )
            lines.append(f"axes {names} are interchangeable")
        return "\n".join(lines)


def axis_report(pairs: Eigenpairs) -> AxisReport:
    """Gaps of the spectrum, and bounds after Davis and Kahan for each axis.

    A group is interchangeable where neighbouring eigenvalues are closer than the
    change that lets axes turn by 45 degrees.
    """
    values = np.append(pairs.values.astype(np.float64), pairs.next_value)
    steps = values[:-1] - values[1:]  # to the next one; NaN if there is none
    steps = np.where(np.isnan(steps), np.inf, np.maximum(steps, 0.0))
    gaps = np.minimum(steps, np.append(np.inf, steps[:-1]))
    size = pairs.size or 1.0
    found = pairs.residuals.astype(np.float64) * size
    return AxisReport(
        eigengaps=gaps,
        solver_turn=_bounded(found, gaps),
        turn_bounds=_bounded(np.full(len(gaps), 2 * CHANGE * size), gaps),
        interchangeable=_groups(steps <= 2 * CHANGE * size / HALF_TURN),
    )


def _bounded(change: Array, gaps: Array) -> Array:
    """change / gap, a sine: at most 1, and 1 where the gap is 0."""
    sure = gaps > change
    return np.where(sure, change / np.where(sure, gaps, 1.0), 1.0)


def _groups(close: Array) -> list[list[int]]:
    """Runs of axes of which each is close to the next."""
    groups: list[list[int]] = []
    for axis in np.flatnonzero(close).tolist():
        if groups and groups[-1][-1] == axis:
            groups[-1].append(axis + 1)
        else:
            groups.append([axis, axis + 1])
    return groups
