"""Nearest rows of a table in blocks: every row asks the cells around it.

A sample yields the centres of some n / 10,000 cells. Rows to be found go to the shelves
of their cells, one task each; rows that ask go to the few cells nearest to them, and
what they find goes home, where the nearest are kept. How many cells have to be asked is
learned from a sample that asks all. Few rows have one cell: their search is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import getitem
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator

from graphfold import check
from graphfold.arrays import Array
from graphfold.distributed.blocks import Tall, pieces_by_place, routed, stack, tree
from graphfold.distributed.running import held, values
from graphfold.distributed.shelves import NORMS, Pair, Search, nearest_first, nearest_on
from graphfold.distributed.tasks import literal, task
from graphfold.equal_rows import first_equal_rows
from graphfold.neighbors import METRICS, nearest_rows
from graphfold.neighbors.search import standard_rows, with_marked_zeros

#: rows of a cell; up to twice as many lie on one shelf, or are a table's only cell
CELL_ROWS = 10_000
#: rows that centres are learned from, of each and of all; how often these are moved
ROWS_PER_CENTRE, MOST_LEARNERS, ROUNDS = 40, 20_000, 8
#: rows on which the recall is measured; most rows that ask together
SAMPLE, MOST_ASKING = 300, 200_000
#: metrics that are norms of differences once rows have length one
STANDARD = ("cosine", "correlation")


@dataclass(frozen=True)
class Found:
    """What a search found.

    A block of ``neighbors`` is ``(indices, distances)``: the nearest rows first, and of
    rows as near the first ones. ``recall`` is the share of the true neighbours that is
    found, measured on a sample; each row has asked ``n_probes`` of ``n_cells`` cells.
    """

    neighbors: Tall
    recall: float
    n_cells: int
    n_probes: int


def distributed_neighbors(
    rows: Tall,
    k: int,
    *,
    metric: str = "euclidean",
    among: Tall | None = None,
    seed: int = 0,
    wanted_recall: float | None = 0.99,
    present: Tall | None = None,
    among_present: Tall | None = None,
) -> Found:
    """The k nearest rows of ``among`` for each row, exactly or nearly so.

    Without ``among`` the rows search each other, and none finds itself; k is clipped
    to what can be found. Rows for which ``present`` is False neither ask nor are found:
    they have indices -1, at infinity; ``among_present`` says it of ``among``. Distances
    are exact. With one cell, as up to 20,000 rows have, nothing depends on the blocks.

    With ``wanted_recall=None`` every row asks all cells, and the search is exact.

    Blocks are read several times, so they had better be held. Compares each row with
    ``n_probes`` times 10,000; the workers hold a second copy of ``among``, by cells.
    """
    check.one_of("metric", metric, METRICS)
    check.integer_between("k", k, 1, 2**31)
    if wanted_recall is not None:
        check.between("wanted_recall", wanted_recall, 0, 1)
    rng = np.random.default_rng(seed)
    asking = _numbered(rows, present, metric)
    table = asking if among is None else _numbered(among, among_present, metric)
    k = max(0, min(k, table.rows.n - (among is None)))
    standard = metric in STANDARD
    search = Search(k, "euclidean" if standard else metric, among is None, standard)
    if not k or not asking.rows.n:
        nothing = [task(_merged, [], 0, n, search) for n in rows.sizes]
        return Found(Tall(tuple(nothing), rows.sizes), 1.0, 1, 1)

    cells = _sorted_into_cells(table, search, rng)
    recalls = _recalls(asking, cells, search, rng)
    # whichever cells are asked, they must have k rows between them
    least = np.searchsorted(np.cumsum(np.sort(cells.sizes)), k + search.themselves)
    n_probes = len(recalls)
    if wanted_recall is not None:
        n_probes = 1 + max(int(least), int(np.argmax(recalls >= wanted_recall)))
    homes = _homes(rows, asking, cells, n_probes, search)
    neighbors = Tall(tuple(held("nearest rows", homes)), rows.sizes)
    return Found(neighbors, float(recalls[n_probes - 1]), len(recalls), n_probes)


class _Rows(NamedTuple):
    """Rows that are there, and which of the whole table each is."""

    rows: Tall
    numbers: Tall


def _numbered(rows: Tall, present: Tall | None, metric: str) -> _Rows:
    ranges = [(int(start), int(end)) for start, end in pairwise(rows.starts)]
    numbers = Tall(tuple(task(np.arange, *ends) for ends in ranges), rows.sizes)
    if present is not None:
        sizes = tuple(map(int, values("cells", present.tasks(np.count_nonzero))))
        rows = Tall(rows.map(getitem, present).blocks, sizes)
        numbers = Tall(numbers.map(getitem, present).blocks, sizes)
    if metric in STANDARD:
        loudest = _loudest(stack(values("cells", rows.tasks(_loudest, metric))), metric)
        rows = rows.map(_standardised, literal(loudest), metric)
    return _Rows(rows, numbers)


def _loudest(rows: Any, metric: str) -> Any:
    """The row by whose largest entry it is judged which rows are zero, if any is."""
    if sp.issparse(rows) and metric == "cosine":
        return rows[:0]  # a sparse row is zero if nothing is stored
    rows = rows.toarray() if sp.issparse(rows) else rows
    middle = rows.mean(axis=1, keepdims=True) if metric == "correlation" else 0.0
    return rows[np.argsort(np.abs(rows - middle).max(axis=1))[-1:]]


def _standardised(rows: Any, loudest: Any, metric: str) -> Any:
    # the loudest row goes along: a row must not be zero in one block only
    standard = standard_rows(stack([rows, loudest]), metric)
    return with_marked_zeros(standard[: rows.shape[0]])


class _Cells(NamedTuple):
    """Rows to be found, each in the cell of its nearest centre.

    A shelf is a task that returns rows of a cell and their numbers. A cell that has too
    many for one task has several: ``of_shelf`` tells which cell a shelf belongs to.
    """

    centres: Any
    sizes: Array
    shelves: list[Any]
    of_shelf: Array


def _sorted_into_cells(table: _Rows, search: Search, rng: Generator) -> _Cells:
    n, metric = table.rows.n, search.metric
    n_cells = 1 if n <= 2 * CELL_ROWS else -(-n // CELL_ROWS)
    n_learners = min(ROWS_PER_CENTRE * n_cells, MOST_LEARNERS)
    learners = table.rows.take("cells", _spread(n, n_learners, rng))
    centres = _centres(learners, n_cells, metric, rng)

    labels = table.rows.map(_nearest_cells, literal(centres), metric).held("cells")
    sizes = labels.total("cells", np.bincount, None, centres.shape[0])
    n_shelves = -(-sizes // (2 * CELL_ROWS))
    parts = list(zip(*(part.blocks for part in (*table, labels)), strict=True))
    pieces = routed(parts, _by_shelf, int(n_shelves.sum()), literal(n_shelves))
    shelves = held("cells", [task(_shelf, of_shelf, search.k) for of_shelf in pieces])
    there = sizes > 0
    of_shelf = np.repeat(np.arange(np.count_nonzero(there)), n_shelves[there])
    return _Cells(centres[there], sizes[there], shelves, of_shelf)


def _spread(n: int, m: int, rng: Generator) -> Array:
    """About m of n numbers, one at random of each m-th part."""
    m = min(n, m)
    return np.unique(((np.arange(m) + rng.random(m)) * (n / m)).astype(np.int64))


def _centres(rows: Any, n_cells: int, metric: str, rng: Generator) -> Any:
    """Means of rows that are near each other, or some rows where there are no means."""
    distinct = np.unique(first_equal_rows(rows))
    centres = rows[np.sort(rng.permutation(distinct)[:n_cells])]
    if metric not in NORMS:
        return centres
    ends = np.arange(rows.shape[0] + 1, dtype=np.int32)
    for _ in range(ROUNDS):
        labels = _nearest_cells(rows, centres, metric)
        _, labels, counts = np.unique(labels, return_inverse=True, return_counts=True)
        shares = (1 / counts[labels]).astype(rows.dtype)
        centres = sp.csr_array((shares, labels.astype(np.int32), ends)).T @ rows
    return centres[8 * counts >= counts.mean()]  # or all would ask for a few rows more


def _nearest_cells(rows: Any, centres: Any, metric: str, m: int = 1) -> Array:
    """The m nearest cells of each row, one row after the other."""
    if not rows.shape[0]:
        return np.zeros(0, dtype=np.int64)
    return nearest_rows(rows, m, metric=metric, among=centres, n_jobs=1)[1].ravel()


def _by_shelf(part: Any, n_shelves: Array) -> list[Any]:
    """Rows and numbers for each shelf; rows of a cell take its shelves in turn."""
    rows, numbers, labels = part
    turns = np.empty(len(labels), dtype=np.int64)
    turns[np.argsort(labels, kind="stable")] = np.arange(len(labels))
    shelf = (np.cumsum(n_shelves) - n_shelves)[labels] + turns % n_shelves[labels]
    return pieces_by_place(shelf, int(n_shelves.sum()), rows, numbers)


def _shelf(pieces: list[Any], k: int) -> tuple[Any, Array]:
    """Rows and numbers; of equal rows k + 1, since nobody finds more of them."""
    rows, numbers = _joined(pieces)
    first = first_equal_rows(rows)
    order = np.argsort(first, kind="stable")
    turns = np.arange(len(order)) - np.searchsorted(first[order], first[order])
    kept = np.sort(order[turns <= k])
    return rows[kept], numbers[kept]


def _joined(pieces: list[Any]) -> tuple[Any, Array]:
    rows, numbers = zip(*pieces, strict=True)
    return stack(rows), np.concatenate(numbers)


def _recalls(asking: _Rows, cells: _Cells, search: Search, rng: Generator) -> Array:
    """Share of the neighbours of a sample that its nearest 1, 2, ... cells have."""
    n_cells = len(cells.sizes)
    if n_cells == 1:
        return np.ones(1)
    at = _spread(asking.rows.n, SAMPLE, rng)
    sample = tuple(table.take("recall", at) for table in asking)
    asked = literal(sample)
    found = [task(nearest_on, shelf, asked, search) for shelf in cells.shelves]
    near = [task(getitem, pair, 0) for pair in found]
    nearest = tree(partial(_smallest, search.k), near)
    right = values("recall", [task(_n_right, away, nearest) for away in near], near)
    by_cell = np.stack(right, axis=1) @ (cells.of_shelf[:, None] == np.arange(n_cells))
    order = _nearest_cells(sample[0], cells.centres, search.metric, n_cells)
    ranked = np.take_along_axis(by_cell, order.reshape(by_cell.shape), axis=1)
    return np.minimum(ranked.cumsum(axis=1), search.k).mean(axis=0) / search.k


def _smallest(k: int, parts: list[Array]) -> Array:
    return np.sort(np.hstack(parts), axis=1)[:, :k]


def _n_right(away: Array, nearest: Array) -> Array:
    """How many are as near as the last of the true neighbours, and as good as one."""
    return np.count_nonzero(away <= nearest[:, -1:] * (1 + 1e-6), axis=1)


def _homes(
    rows: Tall, asking: _Rows, cells: _Cells, n_probes: int, search: Search
) -> list[Any]:
    """For each block a task that returns its neighbours.

    Few blocks ask together, so that what they send is no more than the table, and a
    shelf is asked by about as many rows as it has.
    """
    n_cells, homes = len(cells.sizes), []
    most = min(CELL_ROWS * n_cells // n_probes + 1, MOST_ASKING)
    group = np.cumsum(asking.rows.sizes) // most
    ends = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(group)]
    parts = list(zip(*(part.blocks for part in asking), strict=True))
    how = (literal(cells.centres), search.metric, n_probes)
    for start, end in pairwise(ends):
        pieces = routed(parts[start:end], _by_cell, n_cells, *how)
        found = [
            task(_ask, shelf, pieces[cell], search)
            for shelf, cell in zip(cells.shelves, cells.of_shelf, strict=True)
        ]
        for block in range(start, end):
            mine = [task(getitem, of_shelf, block - start) for of_shelf in found]
            place = int(rows.starts[block]), rows.sizes[block]
            homes.append(task(_merged, mine, *place, search))
    return homes


def _by_cell(part: Any, centres: Any, metric: str, n_probes: int) -> list[Any]:
    """For each cell the rows that ask it, and their numbers."""
    rows, numbers = part
    cells = _nearest_cells(rows, centres, metric, n_probes)
    places = np.repeat(np.arange(len(numbers)), n_probes)
    asking = pieces_by_place(cells, centres.shape[0], places)
    return [(rows[at], numbers[at]) for (at,) in asking]


def _ask(shelf: Any, pieces: list[Any], search: Search) -> list[Any]:
    """What is found on a shelf, for each piece: who asked, distances and numbers."""
    asked = _joined(pieces)
    ends = np.cumsum([len(numbers) for _, numbers in pieces])[:-1]
    columns = (asked[1], *nearest_on(shelf, asked, search))
    return list(zip(*(np.split(column, ends) for column in columns), strict=True))


def _merged(parts: list[Any], start: int, n: int, search: Search) -> Pair:
    """Indices and distances of the k nearest of all that was found for a block."""
    shape = n, search.k
    distances, indices = np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64)
    for asked, away, numbers in parts:
        at = asked - start
        both = np.hstack([distances[at], away]), np.hstack([indices[at], numbers])
        distances[at], indices[at] = nearest_first(*both, search.k)
    if search.standard:
        distances, indices = nearest_first(distances**2 / 2, indices, search.k)
    return indices, distances
