"""Matrix Market files of strangers: looked through before SciPy sees them.

SciPy's reader makes room for whatever the header claims, and ends the process where a
number is followed by what is none, where a matrix has no rows, or where a dense one has
more numbers than it has room for.
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
    last, count = b"\n", 0
    with open(path, "rb") as stream:
        wanted = _wanted(stream, size)
        for chunk in iter(lambda: stream.read(_CHUNK), b""):
            odd = chunk.translate(None, _OF_NUMBERS)
            if odd:
                raise ValueError(f"{odd[:1]!r} is no part of a finite number")
            goes_on = not (last.isspace() or chunk[:1].isspace())
            count += len(chunk.split()) - goes_on
            last = chunk[-1:]
    if wanted is not None and count != wanted:
        raise ValueError(f"it must have {wanted} numbers below its sizes; got {count}")
    if last == b"\n":
        return scipy.io.mmread(path)
    return scipy.io.mmread(io.BytesIO(path.read_bytes() + b"\n"))


def _wanted(stream: Any, size: int) -> int | None:
    """How many numbers follow the header; None where SciPy counts the entries itself.

    A header that asks for more than the file can hold is refused.
    """
    banner = stream.readline(1024).lower().split()
    if len(banner) != 5 or banner[0] != b"%%matrixmarket":
        raise ValueError("it does not begin with %%MatrixMarket and four words")
    _, _, layout, field, symmetry = banner
    sizes = _sizes(stream)
    left = size - stream.tell()
    if len(sizes) != (3 if layout == b"coordinate" else 2) or 0 in sizes[:2]:
        raise ValueError("its first numbers are not the sizes of a matrix")
    rows, columns = sizes[:2]
    if symmetry != b"general" and rows != columns:
        raise ValueError(f"a symmetric matrix cannot be {rows} x {columns}")
    if layout == b"coordinate":
        refuse_emptiness((rows, columns), sizes[2])
        least, wanted = 4 * sizes[2], None  # "1 1" and the end of the line
    else:
        wanted = _stored(rows, columns, symmetry) * (2 if field == b"complex" else 1)
        least = 2 * wanted
    if least > left + 1:
        raise ValueError("it claims to have more numbers than the file can hold")
    return wanted


def _stored(rows: int, columns: int, symmetry: bytes) -> int:
    """Numbers of a dense matrix that are written; the others are known from these."""
    if symmetry == b"general":
        return rows * columns
    if symmetry == b"skew-symmetric":
        if rows == 1:
            raise ValueError("a skew-symmetric matrix must have at least 2 rows")
        return rows * (rows - 1) // 2
    return rows * (rows + 1) // 2


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
