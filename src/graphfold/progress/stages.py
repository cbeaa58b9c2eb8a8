"""What a loop reports: a stage has a name, steps and, where it is known, a total.

A loop does not know who listens. Where nobody does, a stage is one look at a context
variable. Worker threads are not heard: a loop that hands out work counts what comes
back, in the thread that waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import get_ident
from typing import Any, Self, TypeVar

Piece = TypeVar("Piece")


class Stage:
    """A loop that is under way; calling it says that one more step is done.

    Attributes
    ----------
    name, unit : str
        What goes on, and what one step of it is called.
    total, done : int
        Steps; ``total`` is None where it is not known.
    detail : str
        What was said of the last step.
    parent : Stage or None
        The stage that this one is a part of.
    """

    def __init__(
        self, name: str, total: int | None, unit: str, audience: Audience | None = None
    ) -> None:
        self.name, self.total, self.unit = name, total, unit
        self.done, self.detail = 0, ""
        self.parent: Stage | None = None
        self._audience = audience

    @property
    def depth(self) -> int:
        """How many stages this one is a part of."""
        return 0 if self.parent is None else 1 + self.parent.depth

    def __enter__(self) -> Self:
        audience = self._audience
        if audience is not None:
            self.parent, audience.current = audience.current, self
            for watcher in audience.watchers:
                watcher.began(self)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        audience = self._audience
        if audience is not None:
            if audience.current is self:
                audience.current = self.parent
            if kind is None:
                for watcher in audience.watchers:
                    watcher.ended(self)

    def __call__(self, detail: str = "", count: int = 1) -> bool:
        """So many more steps are done; True if someone asks to stop here."""
        if self._audience is None:
            return False
        self.done, self.detail = self.done + count, detail
        # a list: all are to hear of it, whoever wants to stop
        return any([bool(w.stepped(self)) for w in self._audience.watchers])


class Watcher:
    """Hears of stages; what it does not care for it leaves as it is.

    Examples
    --------
    >>> from graphfold.progress import Watcher, counted, watching
    >>> class Names(Watcher):
    ...     def began(self, stage):
    ...         print(stage.name)
    >>> with watching(Names()):
    ...     for block in counted("reading", range(3)):
    ...         pass
    reading
    """

    def began(self, stage: Stage) -> None:
        """A stage begins."""

    def stepped(self, stage: Stage) -> bool | None:
        """A step of it is done; True asks to stop, where that can be done."""

    def ended(self, stage: Stage) -> None:
        """A stage has come to its end; one that fails does not."""

    def said(self, text: str) -> None:
        """Something worth knowing."""

    def finished(self) -> None:
        """The whole job is done; one that fails is not."""

    def close(self) -> None:
        """Nothing more comes, whether the job is done or has failed."""


class Audience:
    """Those who hear, and the innermost stage that is under way."""

    def __init__(self, watchers: list[Watcher], outer: Audience | None) -> None:
        self.watchers: list[Watcher] = [*(outer.watchers if outer else []), *watchers]
        self.current: Stage | None = outer.current if outer else None
        self.thread = get_ident()


_SILENT = Stage("", None, "")
_audience: ContextVar[Audience | None] = ContextVar("audience", default=None)


def _present() -> Audience | None:
    """The audience of this thread: some Pythons hand contexts on to new threads."""
    audience = _audience.get()
    return audience if audience is not None and audience.thread == get_ident() else None


def stage(name: str, total: int | None = None, unit: str = "block") -> Stage:
    """A stage to be entered; within it, call it once for each step that is done.

    One without a name is not reported, nor one that is known to have a single step.

    Examples
    --------
    >>> from graphfold.progress import listening, stage
    >>> with listening(print), stage("counting", total=2, unit="number") as step:
    ...     for number in (1, 2):
    ...         stop = step()
    counting
    counting: 1/2
    counting: 2/2
    """
    is_loop = bool(name) and (total is None or total > 1)
    audience = _present() if is_loop else None
    return _SILENT if audience is None else Stage(name, total, unit, audience)


def counted(name: str, pieces: Iterable[Piece], unit: str = "block") -> Iterator[Piece]:
    """The pieces of a loop, which is a stage of this name.

    Examples
    --------
    >>> from graphfold.progress import counted, listening
    >>> with listening(print):
    ...     total = sum(counted("adding", [3, 4], "number"))
    adding
    adding: 1/2
    adding: 2/2
    """
    listed = list(pieces)
    with stage(name, len(listed), unit) as step:
        for piece in listed:
            yield piece
            step()


def say(*words: object) -> None:
    """Something worth knowing that is no step of a stage; as ``print`` takes it.

    Nothing is turned into text where nobody listens.
    """
    audience = _present()
    if audience is not None:
        text = " ".join(map(str, words))
        for watcher in audience.watchers:
            watcher.said(text)


@contextmanager
def watching(*watchers: Watcher) -> Iterator[None]:
    """What goes on in here is told to these watchers, and to those outside.

    Examples
    --------
    >>> from graphfold.progress import Watcher, counted, watching
    >>> class Count(Watcher):
    ...     steps = 0
    ...     def stepped(self, stage):
    ...         self.steps += 1
    >>> with watching(count := Count()):
    ...     for block in counted("reading", range(3)):
    ...         pass
    >>> count.steps
    3
    """
    outer = _present()
    audience = Audience(list(watchers), outer)
    own = len(outer.watchers) if outer else 0
    token = _audience.set(audience)
    try:
        yield
        for watcher in audience.watchers[own:]:
            watcher.finished()
    finally:
        _audience.reset(token)
        for watcher in audience.watchers[own:]:
            watcher.close()


def present() -> list[Watcher]:
    """Those who hear what goes on here."""
    audience = _present()
    return [] if audience is None else audience.watchers


def join(watcher: Watcher) -> None:
    """One more who hears, until the innermost ``watching`` ends."""
    audience = _present()
    if audience is not None:
        audience.watchers.append(watcher)
