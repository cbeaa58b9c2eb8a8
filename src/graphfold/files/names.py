"""Names of rows and nodes in arrays, where each takes the room of the longest."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import FileError

#: bytes of names that are fine, and how many times their texts they may take beyond
_FINE = 2**28
_TIMES = 64


def refuse_wide(needed: int, held: int, where: Any) -> None:
    """Refuse names that would take far more memory than there are texts."""
    if needed > max(_FINE, _TIMES * held):
        raise FileError(
            f"{where} has names that are far longer than the others: together they "
            f"would take {needed / 2**30:.1f} GiB; shorten them"
        )


def as_words(columns: dict[int, list[str]], where: Any) -> dict[int, Array]:
    """Columns of texts as arrays of them."""
    needed = held = 0
    for cells in columns.values():
        joined = "".join(cells)
        if "\0" in joined:
            # NumPy would drop it: two names could become one
            raise FileError(f"{where} must be text; it has a character of code zero")
        needed += 4 * len(cells) * max(map(len, cells), default=0)
        held += 4 * len(joined) + len(cells)
    refuse_wide(needed, held, where)
    return {i: np.array(cells, dtype=str) for i, cells in columns.items()}
