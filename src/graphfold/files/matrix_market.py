"""Matrix Market files of strangers: what they claim, before SciPy makes room for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from graphfold.sparse_parts import refuse_emptiness

_LONGEST_LINE = 2**16


def check_claim(path: Path) -> None:
    """Refuse a header that asks for more numbers than the file can hold."""
    size = path.stat().st_size
    with open(path, "rb") as stream:
        banner = stream.readline(1024).lower().split()
        if len(banner) != 5 or banner[0] != b"%%matrixmarket":
            raise ValueError("it does not begin with %%MatrixMarket and four words")
        _, _, layout, _, symmetry = banner
        sizes = _sizes(stream)
        left = size - stream.tell()
    if len(sizes) != (3 if layout == b"coordinate" else 2):
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
    if least > left + len(os.linesep):
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
