"""One line that tells how far a long job is; nothing but its end off a terminal."""

from __future__ import annotations

import sys
import time


class Progress:
    """Of so many steps, some of which may be done already."""

    def __init__(self, name: str, total: int, done: int = 0) -> None:
        self._name, self._total, self._done = name, total, done
        self._before = done
        self._started = time.perf_counter()
        self._live = sys.stderr.isatty()

    def stage(self, text: str) -> None:
        """Say what goes on."""
        self._show(f"{self._name}: {text}")

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        new = self._done - self._before
        left = (time.perf_counter() - self._started) / new * (self._total - self._done)
        bar = ("#" * round(24 * self._done / self._total)).ljust(24, ".")
        text = f"{self._name}: [{bar}] {self._done}/{self._total} runs"
        self._show(f"{text}, about {_duration(left)} left")

    def close(self, seconds: float) -> None:
        """The last word, on a terminal or not."""
        kept = f" ({self._before} of them kept)" if self._before else ""
        text = f"{self._name}: {self._total} runs{kept} in {_duration(seconds)}"
        self._show(text)
        print("" if self._live else text, file=sys.stderr, flush=True)

    def _show(self, text: str) -> None:
        if self._live:
            print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
