"""Names of rows and nodes in arrays, where each takes the room of the longest."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold.allowance import most_for, readable
from graphfold.arrays import Array
from graphfold.errors import FileError

#: how many times names are held while they are compared and sorted
_COPIES = 4


def refuse_wide(needed: int, held: int, where: Any) -> None:
    """Refuse names that would take far more memory than there are texts.

    ``needed`` are the bytes of an array of them, ``held`` those of the texts.
    """
    if _COPIES * needed > most_for(held):
        raise FileError(
            f"{where} has names that are far longer than the others: together they "
            f"would take {readable(_COPIES * needed)}; shorten them"
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
        held += len(joined) + len(cells)
    refuse_wide(needed, held, where)
    return {i: np.array(cells, dtype=str) for i, cells in columns.items()}
