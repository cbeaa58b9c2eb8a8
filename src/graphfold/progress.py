"""One line on a terminal that tells how far a long job is; nothing elsewhere."""

from __future__ import annotations

import sys


class LiveLine:
    """A line on the standard error stream that is written over and over.

    Off a terminal, or with ``live=False``, it shows nothing.
    """

    def __init__(self, *, live: bool = True) -> None:
        self.live = live and sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Put ``text`` in the place of what the line says."""
        if self.live:
            print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave an empty line."""
        self.show("")


def bar(done: int, total: int) -> str:
    """So much of a job, in 24 signs.

    Examples
    --------
    >>> from graphfold.progress import bar
    >>> bar(1, 4)
    '[######..................] 1/4'
    """
    filled = ("#" * round(24 * done / total)).ljust(24, ".")
    return f"[{filled}] {done}/{total}"


def duration(seconds: float) -> str:
    """Minutes and seconds, in words."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
