"""Tables of many rows in blocks on workers, and what is done to all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import getitem
from typing import Any, Self

import numpy as np

from graphfold.arrays import Array
from graphfold.distributed.running import held, values
from graphfold.distributed.tasks import in_their_places, task

#: results that one task adds up
FAN_IN = 8


@dataclass(frozen=True)
class Tall:
    """Rows in blocks: a table that nobody holds whole.

    ``blocks`` are tasks, one for each block, and ``sizes`` how many rows it has.
    """

    blocks: tuple[Any, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        in_their_places(self.blocks, self.sizes)

    @property
    def n(self) -> int:
        """Rows of all blocks."""
        return sum(self.sizes)

    @cached_property
    def starts(self) -> Array:
        """The number of the first row of each block, and that of all rows."""
        return np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])

    def map(self, function: Callable[..., Any], *others: Any) -> Self:
        """``function(block, *blocks of others)`` of each block, as many rows.

        Others are tables in the same blocks, or values that are the same for all.
        """
        return type(self)(tuple(self.tasks(function, *others)), self.sizes)

    def tasks(self, function: Callable[..., Any], *others: Any) -> list[Any]:
        """The same, for what is no table."""
        return [
            task(
                function,
                block,
                *(_block_of(other, i) for other in others),
                place=block.place,
            )
            for i, block in enumerate(self.blocks)
        ]

    def held(self, name: str) -> Self:
        """The same table, computed: its blocks lie on the workers."""
        return type(self)(tuple(held(name, self.blocks)), self.sizes)

    def total(self, name: str, function: Callable[..., Any], *others: Any) -> Any:
        """Sum over the blocks of what ``function`` returns: arrays, or tuples of them.

        Adding is done on the workers, eight at a time, in a fixed order.
        """
        parts = self.tasks(function, *others)
        (found,) = values(name, [tree(add, parts)], parts)
        return found

    def take(self, name: str, rows: Array) -> Array:
        """Some rows, in the order in which they are named; for a few of them."""
        rows = np.asarray(rows, dtype=np.int64)
        block = np.searchsorted(self.starts, rows, side="right") - 1
        order, parts = [], []
        for i in np.unique(block):
            here = np.flatnonzero(block == i)
            order.append(here)
            parts.append(task(getitem, self.blocks[i], rows[here] - self.starts[i]))
        if not parts:
            raise ValueError("no rows were named")
        found = values(name, parts)
        stacked = stack(found)
        return stacked[np.argsort(np.concatenate(order), kind="stable")]


def _block_of(other: Any, i: int) -> Any:
    return other.blocks[i] if isinstance(other, Tall) else other


def tree(function: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
    """One task from many: ``function`` of lists of eight, and of what it returns."""
    parts = list(parts)
    while len(parts) > 1:
        groups = range(0, len(parts), FAN_IN)
        parts = [task(function, parts[start : start + FAN_IN]) for start in groups]
    return parts[0]


def add(parts: list[Any]) -> Any:
    """The sum of arrays, or of tuples of them part by part; None counts as nothing."""
    if isinstance(parts[0], tuple):
        return tuple(add(list(same)) for same in zip(*parts, strict=True))
    there = [part for part in parts if part is not None]
    if not there:
        return None
    total = there[0]
    for part in there[1:]:
        total = total + part
    return total


def stack(parts: Sequence[Any]) -> Any:
    """Blocks of rows below each other, dense or sparse."""
    import scipy.sparse as sp

    if any(sp.issparse(part) for part in parts):
        return sp.csr_array(sp.vstack(parts, format="csr"))
    return np.concatenate(list(parts))


def routed(
    parts: Sequence[Any], where: Callable[..., list[Any]], n: int, *others: Any
) -> list[Any]:
    """A shuffle: each part is cut into n pieces, and piece i goes to place i.

    ``where(part, *others)`` returns the list of pieces. What comes back is, for each
    place, a task of its pieces in the order of the parts. Pieces go by way of others
    for the same stretch of places: there are some n sqrt(n) tasks, and not n^2.
    """
    cut = [
        task(where, part, *others, place=getattr(part, "place", None)) for part in parts
    ]
    width = max(1, math.isqrt(n))
    bundles = [cut[first : first + width] for first in range(0, len(cut), width)]
    found = []
    for first in range(0, n, width):
        stretch = slice(first, min(first + width, n))
        middle = (stretch.start + stretch.stop) / (2 * n)
        sorted_bundles = [
            task(
                _by_place,
                [task(getitem, one, stretch, place=one.place) for one in bundle],
                place=middle,
            )
            for bundle in bundles
        ]
        for i in range(stretch.stop - first):
            here = [task(getitem, pieces, i) for pieces in sorted_bundles]
            found.append(task(_one_list, here))
    return list(in_their_places(found))


def _by_place(parts: list[list[Any]]) -> list[list[Any]]:
    """For each place the pieces that several parts have for it."""
    return [list(pieces) for pieces in zip(*parts, strict=True)]


def _one_list(lists: list[list[Any]]) -> list[Any]:
    return [piece for some in lists for piece in some]


def pieces_by_place(places: Array, n: int, *columns: Array) -> list[tuple[Array, ...]]:
    """Rows of some columns by where they go: a tuple of columns for each place."""
    order = np.argsort(places, kind="stable")
    ends = np.searchsorted(places[order], np.arange(n + 1))
    sorted_columns = [column[order] for column in columns]
    return [
        tuple(column[ends[i] : ends[i + 1]] for column in sorted_columns)
        for i in range(n)
    ]
