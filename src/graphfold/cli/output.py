"""What a command says: text for people, JSON for machines, warnings, progress."""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from graphfold.progress import LiveLine, bar, listening

#: of other packages, and no business of who embeds a table
_HIDDEN = (
    DeprecationWarning,
    PendingDeprecationWarning,
    FutureWarning,
    ImportWarning,
    ResourceWarning,
)


class Console:
    """The standard streams: answers on one, everything else on the other."""

    def __init__(self, *, json: bool = False, quiet: bool = False) -> None:
        self.json, self.quiet = json, quiet
        self.warnings: list[dict[str, str]] = []
        self.seconds: dict[str, float] = {}
        self._line = LiveLine(live=not quiet)

    # -- answers ----------------------------------------------------------------------

    def say(self, text: str = "") -> None:
        """A line for people, on the standard output."""
        if not (self.json or self.quiet):
            self._print(text)

    def answer(self, **content: Any) -> None:
        """All there is to say, for machines: one JSON object, if that is asked for."""
        if self.json:
            more: dict[str, Any] = {"warnings": self.warnings}
            if self.seconds:
                more["stage_seconds"] = self.seconds
            self._print(json.dumps(plain(content | more), allow_nan=False))

    def _print(self, text: str) -> None:
        self._line.clear()
        try:
            print(text, flush=True)
        except BrokenPipeError:
            silence_output()  # nobody reads on; what is to be written still is

    # -- everything else --------------------------------------------------------------

    def note(self, text: str) -> None:
        """A line beside the answer, on the standard error stream."""
        if not self.quiet:
            self.error(text)

    def error(self, text: str) -> None:
        """A line that is always said."""
        self._line.clear()
        one_line = " ".join(text.split())
        print(f"graphfold: {one_line}", file=sys.stderr, flush=True)

    def fail(self, sentence: str, kind: str) -> None:
        """Say what went wrong; to machines as JSON as well."""
        self.error(sentence)
        if self.json:
            content = {"error": {"kind": kind, "message": " ".join(sentence.split())}}
            self._print(json.dumps(content | {"warnings": self.warnings}))

    @contextmanager
    def stage(self, name: str, text: str) -> Iterator[Any]:
        """Show what goes on while it does, and keep how long it took.

        Gives a function that adds to the line; loops within add to it, too.
        """
        self._line.show(text)
        started = time.perf_counter()

        def tell(more: str) -> None:
            self._line.show(f"{text}: {more}")

        try:
            with listening(tell):
                yield tell
        finally:
            self._line.clear()
            spent = time.perf_counter() - started
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def steps(self, text: str, done: int, total: int) -> None:
        """How many of many are done."""
        self._line.show(f"{bar(done, total)} {text}")

    def finished(self) -> None:
        """Leave a clean line."""
        self._line.clear()

    @contextmanager
    def listening_to_warnings(self) -> Iterator[None]:
        """Each warning is one line, said once, and kept for machines."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for category in _HIDDEN:
                warnings.simplefilter("ignore", category)
            warnings.showwarning = self._show_warning  # type: ignore[assignment]
            yield

    def _show_warning(self, message: Any, category: type, *where: Any) -> None:
        found = {"name": category.__name__, "text": " ".join(str(message).split())}
        if found not in self.warnings:
            self.warnings.append(found)
            self.note(f"warning: {found['name']}: {found['text']}")


def silence_output() -> None:
    """Let the standard output lead nowhere: its reader has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def plain(value: Any) -> Any:
    """What JSON can say: lists, numbers, texts; NaN and infinity are null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)
