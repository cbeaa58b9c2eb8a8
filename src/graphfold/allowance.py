"""How much memory the reading of a file may take, by the size of that file.

A file of a few bytes can claim to hold terabytes. Each reader estimates what a file
would take before it takes it, and asks here. The two numbers below are the rule; the
documentation states them in one place (docs/command_line.md, "Formats").
"""

from __future__ import annotations

#: bytes that reading may always take, and how many times the size of the file beyond
FREE = 2**28
TIMES = 200

_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def most_for(size: int) -> int:
    """Bytes of memory that reading a file of ``size`` bytes may take."""
    return max(FREE, TIMES * size)


def refuse_beyond(needed: int, size: int, remedy: str) -> None:
    """Raise ``ValueError`` if reading would take more than the file justifies.

    Parameters
    ----------
    needed : int
        Estimate of the bytes of memory that reading takes.
    size : int
        Bytes of the file.
    remedy : str
        What the user can do, for the message.
    """
    if needed > most_for(size):
        raise ValueError(
            f"reading it would take {readable(needed)} of memory, more than {TIMES} "
            f"times its {readable(size)}: {remedy}"
        )


def readable(size: int) -> str:
    """A number of bytes for people."""
    if size >= 2**60:
        return "more than a billion GiB"
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
