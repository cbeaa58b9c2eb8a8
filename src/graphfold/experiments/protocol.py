"""What an experiment is: prepared once, measured run by run, drawn, and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from graphfold.arrays import Array
from graphfold.errors import GraphfoldError

#: names one number: the values of an experiment's columns, in their order
Cell = tuple[Any, ...]
#: first seed of a quick pass: what is tried out never sees the seeds reported
QUICK_SEED = 900
#: values that differ by less, relatively, are the same
ROUNDING = 1e-12
#: below this a difference is called certain
LEVEL = 0.05


@dataclass(frozen=True)
class Scope:
    """How much to do, and where the data are."""

    quick: bool = False
    data_dir: str | None = None


@dataclass(frozen=True)
class Notes:
    """What the page says of an experiment, in Markdown."""

    paper: str
    left_open: str
    chosen: str
    found: str = ""
    in_short: str = ""


@dataclass(frozen=True)
class Claim:
    """One ordering, and what the runs say of it."""

    text: str
    difference: float
    standard_error: float
    p_value: float
    by_paper: bool = True

    @property
    def holds(self) -> bool:
        """Whether the mean over the runs says so."""
        return self.difference < 0

    @property
    def verdict(self) -> str:
        if np.isnan(self.p_value):
            return "not tested"
        if self.p_value >= LEVEL:
            return "a tie"
        return "holds" if self.holds else "does not hold"

    @property
    def evidence(self) -> str:
        if np.isnan(self.p_value):
            return f"{self.difference:+.4f}, one run"
        sure = f"p = {self.p_value:.1g}" if self.standard_error else "in every run"
        return f"{self.difference:+.4f} ({self.standard_error:.4f}), {sure}"


class Measured:
    """The numbers of all runs: one for each cell and seed.

    Parameters
    ----------
    columns : names of the values of a cell
    by_cell : dict from cell to a dict from seed to number
    """

    def __init__(
        self, columns: tuple[str, ...], by_cell: Mapping[Cell, Mapping[int, float]]
    ) -> None:
        self.columns = columns
        self.by_cell = {cell: dict(runs) for cell, runs in by_cell.items()}

    @classmethod
    def from_runs(
        cls, columns: tuple[str, ...], runs: Mapping[int, Mapping[Cell, float]]
    ) -> Measured:
        by_cell: dict[Cell, dict[int, float]] = {}
        for seed, numbers in runs.items():
            for cell, value in numbers.items():
                by_cell.setdefault(cell, {})[seed] = value
        return cls(columns, by_cell)

    def levels(self, column: str, **chosen: Any) -> list[Any]:
        """The values of a column among the cells chosen, in order of appearance."""
        place = self.columns.index(column)
        return list(dict.fromkeys(cell[place] for cell in self.select(**chosen)))

    def per_run(self, **chosen: Any) -> Array:
        """One number for each seed: the mean over all cells that match.

        A column may be asked for by one value or by a list of them.
        """
        return np.array(list(self.by_seed(**chosen).values()))

    def by_seed(self, **chosen: Any) -> dict[int, float]:
        """As ``per_run``, under the seeds that all cells have, in their order."""
        cells = self.select(**chosen)
        if not cells:
            raise GraphfoldError(f"nothing was measured for {chosen}")
        seeds = sorted(set.intersection(*(set(self.by_cell[cell]) for cell in cells)))
        return {
            seed: float(np.mean([self.by_cell[cell][seed] for cell in cells]))
            for seed in seeds
        }

    def mean(self, **chosen: Any) -> float:
        return float(self.per_run(**chosen).mean())

    def standard_error(self, **chosen: Any) -> float:
        return standard_error(self.per_run(**chosen))

    def is_below(
        self,
        text: str,
        lower: Mapping[str, Any],
        upper: Mapping[str, Any],
        *,
        by_paper: bool = True,
    ) -> Claim:
        """The claim that ``lower`` is below ``upper``, by a paired test over seeds."""
        first, second = self.by_seed(**lower), self.by_seed(**upper)
        if first.keys() != second.keys():
            raise GraphfoldError(f"{lower} and {upper} were measured in different runs")
        differences = [
            0.0 if np.isclose(a, b, rtol=ROUNDING, atol=0) else a - b
            for a, b in zip(first.values(), second.values(), strict=True)
        ]
        return claim_of(text, differences, by_paper=by_paper)

    def select(self, **chosen: Any) -> list[Cell]:
        """The cells that match, in order of appearance."""
        places = [
            (self.columns.index(name), value if isinstance(value, list) else [value])
            for name, value in chosen.items()
        ]
        return [
            cell
            for cell in self.by_cell
            if all(cell[place] in allowed for place, allowed in places)
        ]


def claim_of(text: str, differences: Any, *, by_paper: bool = True) -> Claim:
    """The claim that differences are below zero, by a t test.

    Where all are the same there is nothing to test: they decide by themselves. One run
    decides nothing.
    """
    differences = np.asarray(differences, dtype=np.float64)
    mean, error = float(differences.mean()), standard_error(differences)
    if abs(mean) <= ROUNDING * np.abs(differences).max():
        mean = 0.0
    if len(differences) < 2:
        p = float("nan")
    elif error > 0:
        p = float(stats.ttest_1samp(differences, 0.0).pvalue)
    else:
        p = 0.0 if mean else 1.0
    return Claim(text, mean, error, p, by_paper)


def standard_error(values: Array) -> float:
    """Of the mean; 0 for a single value."""
    if len(values) < 2 or np.ptp(values) <= ROUNDING * np.abs(values).max():
        return 0.0
    return float(values.std(ddof=1) / np.sqrt(len(values)))


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper, or of ours.

    Parameters
    ----------
    name : what ``graphfold reproduce`` calls it
    title : one line
    files : data sets that it reads, as ``graphfold.datasets`` names them
    columns : what names a number, such as ("data", "method", "d", "measure")
    measure : the numbers of one run, from its seed, the arrays and the scope
    draw : a matplotlib figure, from the numbers and the arrays
    claims : the orderings to be judged, from the numbers
    notes : what the page says
    prepare : arrays that all runs share (no randomness), from the scope; default: none
    across : the column whose values head the columns of the printed table
    table : Markdown of the numbers, where the general table does not do
    first_seed : of the runs that are reported; choices are made on other seeds
    most_runs : where fewer do
    """

    name: str
    title: str
    files: tuple[str, ...]
    columns: tuple[str, ...]
    measure: Callable[[int, Mapping[str, Array], Scope], dict[Cell, float]]
    draw: Callable[[Measured, Mapping[str, Array]], Any]
    claims: Callable[[Measured], list[Claim]]
    notes: Notes
    prepare: Callable[[Scope], dict[str, Array]] = lambda scope: {}
    across: str = "d"
    table: Callable[[Measured], str] | None = None
    first_seed: int = 7000
    most_runs: int | None = None

    def seeds(self, scope: Scope, runs: int) -> list[int]:
        """The seeds of so many runs; a quick pass has its own."""
        first = QUICK_SEED if scope.quick else self.first_seed
        return list(range(first, first + min(runs, self.most_runs or runs)))

    def missing(self, absent: Iterable[str]) -> list[str]:
        """The files among ``absent`` that this experiment needs."""
        return [name for name in self.files if name in set(absent)]
