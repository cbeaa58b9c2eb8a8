"""Memory that a task uses again and again, on workers that give all of it back at once.

Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_``, so that what is freed goes back
to the system. A loop over strips of rows then gets new pages for each of them, which
takes longer than to fill them. While a task of ours runs, freed memory is kept for its
next strip; when it is done, all of it is given back.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import Any

#: of the C library: from which size on memory is mapped, and how much is kept
_TRIM, _MAP = -1, -3
#: arrays up to this size are used again (the C library takes no more), and all is kept
_LARGEST, _KEPT = 2**25, 2**31 - 1
#: what the C library does by itself
_USUAL_MAP = 128 * 1024

_lock = Lock()
_running = 0


def reusing_memory(function: Callable[..., Any]) -> Callable[..., Any]:
    """A task whose memory is used again while it runs, and given back afterwards."""

    @wraps(function)
    def called(*arguments: Any) -> Any:
        library = _library()
        if library is None:
            return function(*arguments)
        _begin(library)
        try:
            return function(*arguments)
        finally:
            _end(library)

    return called


def _begin(library: Any) -> None:
    global _running
    with _lock:
        if _running == 0:
            library.mallopt(_MAP, _LARGEST)
            library.mallopt(_TRIM, _KEPT)
        _running += 1


def _end(library: Any) -> None:
    global _running
    with _lock:
        _running -= 1
        if _running == 0:
            library.mallopt(_TRIM, int(os.environ["MALLOC_TRIM_THRESHOLD_"]))
            library.mallopt(_MAP, _USUAL_MAP)
            library.malloc_trim(0)


@cache
def _library() -> Any:
    """The C library, where Dask has told it to give memory back; else None.

    Who has set when memory is mapped has thought of it: then nothing is changed.
    """
    if not os.environ.get("MALLOC_TRIM_THRESHOLD_", "").isdecimal():
        return None
    if "MALLOC_MMAP_THRESHOLD_" in os.environ:
        return None
    try:
        library = ctypes.CDLL("libc.so.6")
        return library if hasattr(library, "malloc_trim") else None
    except OSError:
        return None
