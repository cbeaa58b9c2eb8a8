"""Columns as binary blocks of a page: little-endian bytes, gzipped where it pays."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

from graphfold.arrays import Array

# what JavaScript has a typed array for; "json" is a list of strings or numbers
_TYPES = {"f4", "f8", "i4", "u4", "u2", "u1"}
_WORTH = 0.9  # a block is kept gzipped below this share of its size
_LEVEL = 4


class Blocks:
    """Numbered blocks; the page finds each by its number, and its type in ``types``."""

    def __init__(self) -> None:
        self.types: list[dict[str, Any]] = []
        self.encoded: list[str] = []

    def add(self, values: Array, kind: str) -> int:
        """Add an array as numbers of a kind such as "f4"; its number."""
        if kind not in _TYPES:
            raise KeyError(kind)
        content = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
        return self._add(content, kind)

    def add_list(self, values: list[Any]) -> int:
        """Add strings or numbers, one a row; its number."""
        return self._add(json.dumps(values).encode(), "json")

    def add_bytes(self, content: bytes) -> int:
        """Add bytes as they are; its number."""
        return self._add(content, "u1")

    def _add(self, content: bytes, kind: str) -> int:
        # without a date: the same map is the same file
        packed = gzip.compress(content, _LEVEL, mtime=0)
        smaller = len(packed) < _WORTH * len(content)
        self.types.append({"type": kind, "gzip": smaller})
        self.encoded.append(base64.b64encode(packed if smaller else content).decode())
        return len(self.encoded) - 1


def smallest_unsigned(largest: int) -> str:
    """The narrowest kind of block that holds 0 ... largest."""
    if largest < 2**8:
        return "u1"
    return "u2" if largest < 2**16 else "u4"
