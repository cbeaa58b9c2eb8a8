"""Resident memory of this process in MB: now, and the peak since a moment."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def highest_ever() -> float:
    """The peak of the whole process, its imports and its data included."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 1024)


def start_again() -> float:
    """Give back what is free, forget the peak so far, and say what is resident."""
    gc.collect()
    if STATUS.exists():
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim:
            trim(0)
        CLEAR.write_text("5")
        return _status("VmRSS")
    return highest_ever()


def highest() -> float:
    """The peak since ``start_again``; where Linux does not tell, since the start."""
    return _status("VmHWM") if STATUS.exists() else highest_ever()


def resident_of(process: int) -> float:
    """What another process holds now; 0 when it is gone or cannot be asked."""
    try:
        return _status("VmRSS", Path(f"/proc/{process}/status"))
    except (OSError, StopIteration):
        return 0.0


def _status(field: str, path: Path = STATUS) -> float:
    lines = path.read_text().splitlines()
    return next(int(x.split()[1]) for x in lines if x.startswith(field)) / 1024
