"""How far an experiment is, on a terminal; nothing but its end elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

from graphfold.progress import LiveLine, bar, duration


class Progress:
    """Of so many steps, some of which may be done already; the line goes at the end."""

    def __init__(self, name: str, total: int, done: int = 0) -> None:
        self._name, self._total, self._done = name, total, done
        self._before = done
        self._started = time.perf_counter()
        self._line = LiveLine()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._line.clear()

    def stage(self, text: str) -> None:
        """Say what goes on."""
        self._line.show(f"{self._name}: {text}")

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        new = self._done - self._before
        left = (time.perf_counter() - self._started) / new * (self._total - self._done)
        text = f"{self._name}: {bar(self._done, self._total)} runs"
        self._line.show(f"{text}, about {duration(left)} left")

    def close(self, seconds: float) -> None:
        """The last word, on a terminal or not."""
        kept = f" ({self._before} of them kept)" if self._before else ""
        text = f"{self._name}: {self._total} runs{kept} in {duration(seconds)}"
        if self._line.live:
            self._line.show(text)
            self._line.keep()
        else:
            print(text, file=sys.stderr, flush=True)
