"""Matrix Market files of strangers: looked through before SciPy sees them.

SciPy's reader makes room for whatever the header claims, and ends the process where a
number is followed by what is none, or where a matrix has no rows.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import scipy.io

from graphfold.sparse_parts import refuse_emptiness

_LONGEST_LINE = 2**16
_CHUNK = 2**20
_OF_NUMBERS = b"0123456789+-.eE \t\r\n"


def read(path: Path) -> Any:
    """The matrix of a file, as SciPy reads it."""
    size = path.stat().st_size
    last = b"\n"
    with open(path, "rb") as stream:
        _check_claim(stream, size)
        for chunk in iter(lambda: stream.read(_CHUNK), b""):
            odd = chunk.translate(None, _OF_NUMBERS)
            if odd:
                raise ValueError(f"{odd[:1]!r} is no part of a finite number")
            last = chunk[-1:]
    if last == b"\n":
        return scipy.io.mmread(path)
    return scipy.io.mmread(io.BytesIO(path.read_bytes() + b"\n"))


def _check_claim(stream: Any, size: int) -> None:
    """Refuse a header that asks for more numbers than the file can hold."""
    banner = stream.readline(1024).lower().split()
    if len(banner) != 5 or banner[0] != b"%%matrixmarket":
        raise ValueError("it does not begin with %%MatrixMarket and four words")
    _, _, layout, _, symmetry = banner
    sizes = _sizes(stream)
    left = size - stream.tell()
    if len(sizes) != (3 if layout == b"coordinate" else 2) or 0 in sizes[:2]:
        raise ValueError("its first numbers are not the sizes of a matrix")
    rows, columns = sizes[:2]
    if symmetry != b"general" and rows != columns:
        raise ValueError(f"a symmetric matrix cannot be {rows} x {columns}")
    if layout == b"coordinate":
        refuse_emptiness((rows, columns), sizes[2])
        least = 4 * sizes[2]  # "1 1" and the end of the line
    else:
        half = rows * (rows - 1) // 2  # what is symmetric may be left out
        least = 2 * (rows * columns if symmetry == b"general" else half)
    if least > left + 1:
        raise ValueError("it claims to have more numbers than the file can hold")


def _sizes(stream: Any) -> list[int]:
    """The numbers of the first line that is no comment."""
    for line in iter(lambda: stream.readline(_LONGEST_LINE), b""):
        words = line.split()
        if line.startswith(b"%") or not words:
            continue
        if len(words) > 3 or not all(w.isdigit() and len(w) < 19 for w in words):
            break
        return [int(word) for word in words]
    raise ValueError("its first numbers are not the sizes of a matrix")
