"""Rows that are chosen by a hash of their content, whatever blocks they lie in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.distributed.blocks import stack
from graphfold.equal_rows import row_fingerprints
from graphfold.model.landmarks import hash_ranks


@dataclass(frozen=True)
class Ranked:
    """Rows of the smallest ranks, distinct, in their order."""

    ranks: Array
    numbers: Array
    rows: Any
    count: int

    @staticmethod
    def merged(parts: list[Ranked]) -> Ranked:
        """The smallest of several."""
        ranks = np.concatenate([part.ranks for part in parts])
        numbers = np.concatenate([part.numbers for part in parts])
        kept = _distinct_smallest(ranks, numbers, parts[0].count)
        rows = stack([part.rows for part in parts])[kept]
        return Ranked(ranks[kept], numbers[kept], rows, parts[0].count)


def smallest_ranks(block: Any, start: int, count: int, seed: int) -> Ranked:
    """The rows of a block whose ranks are smallest; ``start`` numbers its first."""
    ranks = hash_ranks(row_fingerprints(block), seed)
    numbers = np.arange(start, start + len(ranks))
    kept = _distinct_smallest(ranks, numbers, count)
    return Ranked(ranks[kept], numbers[kept], block[kept], count)


def _distinct_smallest(ranks: Array, numbers: Array, count: int) -> Array:
    """Places of the smallest ranks; of equal ones that of the smallest number."""
    order = np.lexsort((numbers, ranks))
    ranked = ranks[order]
    distinct = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    return np.asarray(order[distinct][:count])
