"""Inner products of all pairs of rows: of many rows tile by tile, on all cores.

A tile of the lower triangle is multiplied, turned into what is asked for, and stored on
both sides of the diagonal while it is in the cache: half the products, half the
exponentials, and no pass over the whole matrix. Of few rows BLAS takes all products at
once, half of them too, and sooner than threads have started.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from graphfold.arrays import Array, row_blocks
from graphfold.threads import do_blocks

#: rows and columns of a tile; two of them stay in the cache of a core
SIDE = 384
#: up to this many rows all products are taken at once
FEW_ROWS = 1000
#: numbers of a strip of them that stays in the cache, and strips, at least
STRIP, STRIPS = 2**16, 4

#: numbers between the rows of a tile: with a power of two they meet in the cache
PADDING = 8

#: turns the products of two slices of the rows into other numbers, in place; products
#: that are symmetric stay so to the last bit
Finish = Callable[[Array, slice, slice], Array]


def fill_grams(
    rooms: Sequence[Array], X: Array, finishes: Sequence[Finish], *, name: str
) -> None:
    """f(x'y) of all pairs of rows of X, for several f, each into an n x n room.

    The rooms are symmetric to the last bit. ``name`` is what the tiles are reported as.
    """

    if len(X) <= FEW_ROWS:
        np.matmul(X, X.T, out=rooms[-1])
        _fill_at_once(rooms, finishes)
        return

    def store(rows: slice, columns: slice, products: Array, spare: Array) -> None:
        for room, finish in zip(rooms[:-1], finishes[:-1], strict=True):
            spare[:] = products
            _mirror(room, finish(spare, rows, columns), rows, columns)
        _mirror(rooms[-1], finishes[-1](products, rows, columns), rows, columns)

    each_tile(X, store, name=name, spare=len(rooms) > 1)


def _fill_at_once(rooms: Sequence[Array], finishes: Sequence[Finish]) -> None:
    """The products are in the last room; its lower triangle is finished by strips."""
    products, n = rooms[-1], len(rooms[-1])
    for rows in row_blocks(n, max(1, min(STRIP // n, n // STRIPS))):
        before, columns = slice(0, rows.start), slice(0, rows.stop)
        for room, finish in zip(rooms, finishes, strict=True):
            strip = room[rows, columns]
            if room is not products:
                strip[:] = products[rows, columns]
            finish(strip, rows, columns)
            room[before, rows] = strip[:, before].T


def each_tile(
    X: Array,
    act: Callable[[slice, slice, Array, Array], None],
    *,
    name: str = "",
    spare: bool = False,
) -> None:
    """Call ``act`` with two slices of the rows, their products and a spare room.

    Tiles cover the lower triangle; those on the diagonal are square.
    """
    X = np.ascontiguousarray(X)
    n = len(X)
    side = n if n <= FEW_ROWS else SIDE
    held = threading.local()

    def work(tile: tuple[slice, slice]) -> None:
        rows, columns = tile
        if not hasattr(held, "rooms"):
            held.rooms = np.empty((1 + spare, side, side + PADDING), dtype=X.dtype)
        height, width = rows.stop - rows.start, columns.stop - columns.start
        products, *others = (room[:height, :width] for room in held.rooms)
        np.matmul(X[rows], X[columns].T, out=products)
        act(rows, columns, products, others[0] if others else products)

    if n <= FEW_ROWS:
        work((slice(0, n), slice(0, n)))
    else:
        do_blocks(name, work, _tiles(n))


def _tiles(n: int) -> Iterator[tuple[slice, slice]]:
    for rows in row_blocks(n, SIDE):
        for columns in row_blocks(rows.stop, SIDE):
            yield rows, columns


def _mirror(room: Array, tile: Array, rows: slice, columns: slice) -> None:
    room[rows, columns] = tile
    if rows != columns:
        room[columns, rows] = tile.T
