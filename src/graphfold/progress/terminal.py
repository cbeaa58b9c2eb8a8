"""One line on a terminal that tells how far a long job is; nothing elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from multiprocessing import current_process
from unicodedata import east_asian_width

_CLEARED = "\r\x1b[2K"
_lock = threading.Lock()


class LiveLine:
    """A line on the standard error stream that is written over and over.

    Off a terminal, in a worker process, or with ``live=False``, it shows nothing. A
    terminal has one such line at a time: while it shows something, others are silent.
    """

    def __init__(self, *, live: bool = True) -> None:
        self.live = live and _is_terminal() and current_process().name == "MainProcess"

    def show(self, text: str) -> None:
        """Put ``text`` in the place of what the line says, cut to the terminal."""
        global _holder
        with _lock:
            if self.live and _holder() in (None, self):
                _holder = weakref.ref(self)
                self._write(_CLEARED + cut(text, terminal_width()))

    def clear(self) -> None:
        """Leave an empty line."""
        self._end(_CLEARED)

    def keep(self) -> None:
        """Leave the line as it is and go to the next."""
        self._end("\n")

    def _end(self, sign: str) -> None:
        global _holder
        with _lock:
            if _holder() is self:
                _holder = _nobody
                self._write(sign)

    def _write(self, text: str) -> None:
        try:
            print(text, end="", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            self.live = False  # the terminal has gone: no reason to fail


def _nobody() -> LiveLine | None:
    return None


#: the line that is on the terminal; weak, for a line may be dropped without a word
_holder: Callable[[], LiveLine | None] = _nobody


def make_room() -> None:
    """Empty the live line, if there is one: something else is about to be printed.

    The line comes back with the next step.
    """
    with _lock:
        line = _holder()
        if line is not None:
            line._write(_CLEARED)


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stream at all, or a closed one
        return False


def terminal_width() -> int:
    """Columns of the terminal; 80 where it does not say."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def cut(text: str, width: int) -> str:
    """No longer than ``width`` columns: a line that wraps cannot be taken back."""
    if _columns(text) < width:
        return text
    while text and _columns(text) > max(width - 4, 1):
        text = text[:-1]
    return text + "..."[: max(width - 2, 0)]


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def bar(done: int, total: int) -> str:
    """So much of a job, in 24 signs.

    Examples
    --------
    >>> from graphfold.progress import bar
    >>> bar(1, 4)
    '[######..................] 1/4'
    """
    filled = ("#" * round(24 * min(done / max(total, 1), 1))).ljust(24, ".")
    return f"[{filled}] {done}/{total}"


def duration(seconds: float) -> str:
    """Minutes and seconds, in words."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
