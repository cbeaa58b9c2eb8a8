"""Those who hear of stages: a line on a terminal, lines of a log, a function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from graphfold.progress.stages import Stage, Watcher, present, watching
from graphfold.progress.terminal import LiveLine, bar, make_room

#: seconds between two drawings of a line, and between two lines of a log on blocks
REDRAWN, LOGGED = 0.1, 1.0


class Report(str):
    """What a listener is told: words, and the numbers behind them.

    Attributes
    ----------
    stage : str
        Name of the stage; empty where the words are no step of one.
    done, total : int
        Steps; ``total`` is None where it is not known.

    Examples
    --------
    >>> from graphfold.progress import counted, listening
    >>> heard = []
    >>> with listening(heard.append):
    ...     for block in counted("reading", range(3)):
    ...         pass
    >>> heard[-1], heard[-1].stage, heard[-1].done, heard[-1].total
    ('reading: 3/3', 'reading', 3, 3)
    """

    stage: str
    done: int
    total: int | None

    def __new__(
        cls, text: str, stage: str = "", done: int = 0, total: int | None = None
    ) -> Report:
        report = super().__new__(cls, text)
        report.stage, report.done, report.total = stage, done, total
        return report


Listener = Callable[[Report], object]


class OneLine(Watcher):
    """``verbose=1``: the stage under way, on one line of the terminal."""

    def __init__(self, title: str) -> None:
        self.title, self._line, self._next = title, LiveLine(), 0.0

    def began(self, stage: Stage) -> None:
        # a part of a stage waits its turn: what the line says of the whole stays true
        self._draw(stage, at_once=stage.parent is None)

    def stepped(self, stage: Stage) -> None:
        self._draw(stage)

    def said(self, text: str) -> None:
        self._line.show(f"{self.title}: {text}")

    def close(self) -> None:
        self._line.clear()

    def _draw(self, stage: Stage, at_once: bool = False) -> None:
        now = time.monotonic()
        if self._line.live and (at_once or now >= self._next):
            self._next = now + REDRAWN
            self._line.show(f"{self.title}: {_whole(stage)}")


class EveryLine(Watcher):
    """``verbose=2``: stages and rounds as lines, wherever the error stream goes.

    Of blocks, of which there may be thousands, a line each second.
    """

    def __init__(self, title: str) -> None:
        self.title, self._next = title, 0.0
        self._begun: dict[Stage, float] = {}

    def began(self, stage: Stage) -> None:
        self._next = time.monotonic() + LOGGED
        if stage.parent is None:
            self._begun[stage] = time.monotonic()
            self.said(stage.name if stage.total is None else _step(stage))

    def stepped(self, stage: Stage) -> None:
        if stage.total is None:
            self.said(_step(stage))
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + LOGGED
            self.said(_step(stage))

    def ended(self, stage: Stage) -> None:
        begun = self._begun.pop(stage, None)
        if begun is not None and time.monotonic() - begun >= LOGGED:
            self.said(f"{stage.name}: {time.monotonic() - begun:.3g} s")

    def said(self, text: str) -> None:
        make_room()
        print(f"[{self.title}] {text}", file=sys.stderr, flush=True)


class Words(Watcher):
    """A function that is told everything; of blocks, ten times a second at most."""

    def __init__(self, listener: Listener) -> None:
        self._listener, self._next = listener, 0.0

    def began(self, stage: Stage) -> None:
        if stage.parent is None:
            self._tell(stage.name, stage)

    def stepped(self, stage: Stage) -> None:
        now = time.monotonic()
        if stage.total is None or stage.done == stage.total or now >= self._next:
            self._next = now + REDRAWN
            self._tell(_step(stage), stage)

    def said(self, text: str) -> None:
        self._listener(Report(text))

    def _tell(self, text: str, stage: Stage) -> None:
        self._listener(Report(text, stage.name, stage.done, stage.total))


def watchers_for(verbose: Any, title: str) -> list[Watcher]:
    """Who hears at this ``verbose``: nobody, the terminal, or the error stream."""
    level = int(verbose)
    heard = any(getattr(watcher, "title", None) == title for watcher in present())
    if level <= 0 or heard:  # a method that calls another of the same estimator
        return []
    return [OneLine(title) if level == 1 else EveryLine(title)]


def shown(verbose: Any, title: str) -> AbstractContextManager[None]:
    """What goes on in here is shown as ``verbose`` asks, under a title.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import NeighborGraph
    >>> from graphfold.progress import shown
    >>> with shown(1, "my graph"):  # one line, if that is a terminal
    ...     graph = NeighborGraph(2).build(np.eye(5))
    """
    return watching(*watchers_for(verbose, title))


def listening(listener: Listener) -> AbstractContextManager[None]:
    """What goes on in here is told to ``listener``, a :class:`Report` at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA
    >>> from graphfold.progress import listening
    >>> heard = []
    >>> with listening(heard.append):
    ...     model = GraphKernelPCA(2).fit(np.random.default_rng(0).random((50, 3)))
    >>> heard[0].startswith("plan: stored kernel of 50 rows")
    True
    >>> [report.done for report in heard if report.stage == "solving"]
    [0, 1]
    """
    return watching(Words(listener))


def _step(stage: Stage) -> str:
    """A step in words: the round and what it brought, or how many blocks are done."""
    if stage.total is None:
        said = f": {stage.detail}" if stage.detail else ""
        return f"{stage.name}, {stage.unit} {stage.done}{said}"
    said = f", {stage.detail}" if stage.detail else ""
    return f"{stage.name}: {stage.done}/{stage.total}{said}"


def _whole(stage: Stage) -> str:
    """The stage and those it is a part of; a bar for the outermost of known length."""
    chain = [stage]
    while chain[0].parent is not None:
        chain.insert(0, chain[0].parent)
    words = [_step(part) if part.done else part.name for part in chain]
    for i, part in enumerate(chain):
        if part.total is not None:
            words[i] = f"{part.name} {bar(part.done, part.total)}"
            break
    return " | ".join(words)
