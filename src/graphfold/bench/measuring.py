"""All methods in turn, several times: machines drift, and neighbours in time compare.

Every repeat runs each method once, in an order that shifts; a ratio is the median of
the ratios within a repeat.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from graphfold.bench.methods import OURS


@dataclass
class Measured:
    """One method at one number of rows; a run that failed says why in ``failed``."""

    method: str
    rows: int
    seconds: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)
    failed: str | None = None

    @property
    def median(self) -> float | None:
        """Seconds, in the middle of all repeats."""
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def peak_mb(self) -> float | None:
        """Memory beyond the data, in the middle of all repeats."""
        return statistics.median(self.peaks) if self.peaks else None

    def ratio(self, other: Measured) -> float | None:
        """How many times as long as the other it takes."""
        if self.failed or other.failed or not self.seconds:
            return None
        pairs = zip(self.seconds, other.seconds, strict=True)
        return statistics.median(own / its for own, its in pairs)


def measure(
    methods: Sequence[str],
    rows: Sequence[int],
    *,
    repeats: int,
    components: int = 2,
    path: str | None = None,
    timeout: float = 300.0,
    tell: Callable[[str, int, int], object] = lambda text, done, total: None,
) -> list[Measured]:
    """Time every method at every number of rows.

    Parameters
    ----------
    methods : names in ``METHODS``
    rows : numbers of rows
    repeats : runs of each
    components : dimensions of the embedding
    path : table to take rows of; the bundled digits by default
    timeout : seconds after which a run is ended, and not tried again
    tell : called with what runs, how many runs are done and how many there are
    """
    found = [Measured(name, n) for n in rows for name in methods]
    total, done = repeats * len(found), 0
    for repeat in range(repeats):
        for n in rows:
            group = [each for each in found if each.rows == n]
            first = repeat % len(group)
            for each in group[first:] + group[:first]:
                tell(f"{each.method}, {n:,} rows", done, total)
                if each.failed is None:
                    _run(each, components, path, timeout)
                done += 1
    return found


def ours_at(found: Sequence[Measured], rows: int) -> Measured | None:
    """The run that others are compared with."""
    same = (each for each in found if (each.method, each.rows) == (OURS, rows))
    return next(same, None)


def _run(each: Measured, components: int, path: str | None, timeout: float) -> None:
    request = {"method": each.method, "rows": each.rows, "components": components}
    words = [sys.executable, "-m", "graphfold.bench.worker"]
    words.append(json.dumps(request | {"path": path}))
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        each.failed = f"more than {timeout:g} s"
        return
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        each.failed = last
        return
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    each.seconds.append(answer["seconds"])
    each.peaks.append(answer["peak_mb"])
