"""A hook that fails when parsing runs code, starts programs, or touches other files.

Hooks of ``sys.addaudithook`` stay for good, so this one is asleep but for a ``with``.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "os.forkpty",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.putenv",
    "subprocess.Popen",
    "socket.",
    "shutil.",
    "pickle.find_class",
    "ctypes.dlopen",
    "urllib.Request",
    "code.__new__",
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LIBRARIES = tuple(
    {os.path.realpath(path) for path in sysconfig.get_paths().values()}
    | {os.path.realpath(sys.base_prefix), os.path.realpath(sys.prefix)}
    | {os.path.dirname(os.path.dirname(os.path.realpath(__file__)))}
    | {"/proc/", "/sys/", "/usr/share/zoneinfo"}
)
_allowed: str | None = None
_thread = 0
_breaches: list[str] = []
_installed = False
_asleep = False


class Breach(BaseException):
    """Parsing did what no parser may do; no ``except Exception`` swallows it."""


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _allowed is None or threading.get_ident() != _thread:
        return
    what = _breach(event, arguments)
    if what is not None:
        _breaches.append(what)
        raise Breach(what)


def _breach(event: str, arguments: tuple[Any, ...]) -> str | None:
    if event.startswith(_FORBIDDEN):
        return f"{event} {arguments!r}"[:300]
    if event == "open":
        return _breach_of_open(*arguments)
    if event == "exec":
        where = getattr(arguments[0], "co_filename", "")
        return None if _is_library(where) else f"exec of {where!r}"
    if event == "compile":
        # ast.literal_eval compiles to a tree that is never run
        where = os.fsdecode(arguments[1] or "<unknown>")
        named = where == "<unknown>" or _is_library(where)
        return None if named else f"compile of {where!r}"
    return None


def _breach_of_open(path: Any, mode: Any, flags: Any) -> str | None:
    writes = any(letter in (mode or "") for letter in "wax+") or bool(flags & _WRITING)
    known = isinstance(path, int) or os.fspath(path) == _allowed or _is_library(path)
    return f"open of {path!r} with {mode!r}" if writes or not known else None


def _is_library(path: Any) -> bool:
    name = os.fsdecode(path)
    if not os.path.isabs(name):  # "<string>" is no file of this folder
        return name.startswith("<frozen")
    return os.path.realpath(name).startswith(_LIBRARIES)


@contextmanager
def guarded(path: str) -> Iterator[None]:
    """Nothing inside may run code, start a program, or touch a file but ``path``."""
    global _allowed, _thread, _installed
    if _asleep:
        yield
        return
    if not _installed:
        sys.addaudithook(_hook)
        _installed = True
    _breaches.clear()
    _allowed, _thread = path, threading.get_ident()
    try:
        yield
    finally:
        _allowed = None
    if _breaches:
        raise Breach(_breaches[0])


@contextmanager
def asleep() -> Iterator[None]:
    """Inside, nothing is watched: modules that are imported late may be imported."""
    global _asleep
    _asleep = True
    try:
        yield
    finally:
        _asleep = False
