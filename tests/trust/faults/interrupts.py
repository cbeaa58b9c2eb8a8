"""An interrupt at a given call of a function of graphfold, or at a step of a loop."""

import sys
from contextlib import contextmanager

import numpy as np

from graphfold.progress import Watcher, watching


class Calls:
    """Counts calls into graphfold in this thread; raises at one of them."""

    def __init__(self, at=None, error=KeyboardInterrupt):
        self.count, self.at, self.error = 0, at, error

    def __call__(self, frame, event, argument):
        if event not in ("call", "return"):
            return
        if not frame.f_globals.get("__name__", "").startswith("graphfold"):
            return
        self.count += 1
        if self.count == self.at:
            sys.setprofile(None)
            raise self.error("injected")


@contextmanager
def calls(at=None, error=KeyboardInterrupt):
    counted, before = Calls(at, error), sys.getprofile()
    sys.setprofile(counted)
    try:
        yield counted
    finally:
        sys.setprofile(before)


class Steps(Watcher):
    """Counts what a watcher of progress hears; raises at one of them."""

    def __init__(self, at=None, error=KeyboardInterrupt):
        self.count, self.at, self.error = 0, at, error

    def _heard(self, *_):
        self.count += 1
        if self.count == self.at:
            raise self.error("injected")

    began = stepped = said = ended = _heard


@contextmanager
def steps(at=None, error=KeyboardInterrupt):
    counted = Steps(at, error)
    with watching(counted):
        yield counted


def chosen(count, number):
    """So many of the numbers from 1 to ``count``, the first and the last among them."""
    return sorted({int(k) for k in np.linspace(1, max(count, 1), min(number, count))})


def snapshot(model):
    """The attributes of a model, and copies of the arrays among them."""
    held = dict(vars(model))
    copies = {k: v.copy() for k, v in held.items() if isinstance(v, np.ndarray)}
    return held, copies


def assert_as_before(model, before):
    held, copies = before
    assert vars(model).keys() == held.keys()
    for name, value in held.items():
        assert vars(model)[name] is value, f"{name} was replaced"
    for name, copy in copies.items():
        same = np.array_equal(held[name], copy, equal_nan=copy.dtype.kind == "f")
        assert same, f"{name} was changed in place"
