"""Rows sorted into cells, so that a row is compared with the cells around it only.

The centres come from k-means on a sample. All rows of a cell share the cells they look
into, so one matrix product compares them all. A product on one thread gives the same
digits however many of them run beside it: the answer does not depend on their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, orthonormal, power_of_two, row_blocks
from graphfold.progress import counted

#: rows per cell that k-means sees, and how often it moves the centres
ROWS_PER_CENTRE, ROUNDS = 40, 8
#: rows of a cell that say which cells to look into, and the share that is heeded:
#: the last cells would serve a few rows only
VOTERS, HEEDED = 64, 0.98
#: entries of a table of distances that one thread holds
TILE = 2**22
#: rows whose leading directions are sought, and rounds of power iteration
SKETCHED, POWERS = 10_000, 3


@dataclass(frozen=True)
class Cells:
    """A table of rows by cells: cell a is ``order[starts[a]:starts[a + 1]]``.

    ``offsets`` are the rows in that order, less the centre of their cell: single
    precision is enough for what is small.
    """

    origin: Array
    scale: float
    basis: Array | None
    centres: Array
    order: Array
    starts: Array
    offsets: Array

    def coordinates(self, X: Array) -> Array:
        """Rows in the space of the centres."""
        rows = X / self.scale - self.origin
        return rows if self.basis is None else rows @ self.basis

    def labels(self, coordinates: Array) -> Array:
        """The cell of each row."""
        return np.asarray(_closeness(coordinates, self.centres).argmax(axis=1))

    @property
    def sizes(self) -> Array:
        """How many rows each cell has."""
        return np.asarray(np.diff(self.starts))


def _labels(cells: Cells, X: Array, rows: slice) -> Array:
    return cells.labels(cells.coordinates(X[rows]))


def n_cells_for(n: int) -> int:
    """Many cells cost as much to choose from as many rows in each to compare."""
    return max(1, min(n // 4, int(2 * np.sqrt(n))))


def sorted_into_cells(
    X: Array, n_directions: int | None, rng: np.random.Generator, run: Any
) -> Cells:
    """The rows of X in some 2 sqrt(n) cells of its leading directions, or of itself.

    ``run`` maps a function over pieces of work, as ``workers`` hands it out.
    """
    n = len(X)
    scale = power_of_two(largest_size(X))
    sample = X[np.sort(rng.permutation(n)[:SKETCHED])] / scale
    # the median is not moved by a row that lies far out, and digits would go with it
    origin = np.median(sample, axis=0)
    basis = None if n_directions is None else _leading(sample - origin, n_directions)
    n_cells = n_cells_for(n)
    empty = np.zeros(0, dtype=np.intp)
    cells = Cells(origin, scale, basis, empty, empty, empty, empty)

    learners = np.sort(rng.permutation(n)[: ROWS_PER_CENTRE * n_cells])
    placed = _stacked(run(lambda b: cells.coordinates(X[learners[b]]), len(learners)))
    centres = _means(placed, n_cells, rng, run)
    cells = Cells(origin, scale, basis, centres, empty, empty, empty)

    labels = _stacked(run(partial(_labels, cells, X), n, "sorting into cells"))
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(n_cells + 1))

    def offsets(block: slice) -> Array:
        rows = order[block]
        away = cells.coordinates(X[rows]) - centres[labels[rows]]
        return np.asarray(away.astype(np.float32))

    stored = _stacked(run(offsets, n, "storing cells"))
    return Cells(origin, scale, basis, centres, order, starts, stored)


def visit_candidates(
    cells: Cells,
    X: Array,
    m: int,
    probes: int,
    visit: Callable[[Array, Array], None],
    *,
    own: Array | None,
    run: Any,
) -> int:
    """Call ``visit`` with rows of X and about the m nearest rows of the table to each.

    Each row asks for its ``probes`` nearest cells and gets those that many of its own
    cell ask for. ``own`` says which row of the table a row of X is, so that it is not
    found. Rows of one cell come together: what they are compared with is in the cache.
    Returns how many pairs were compared.
    """
    labels = _stacked(run(partial(_labels, cells, X), len(X), "finding cells"))
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    place = np.empty(len(cells.order), dtype=np.intp)
    place[cells.order] = np.arange(len(place))

    def search(rows: Array) -> int:
        cell = int(labels[rows[0]])
        queries = cells.coordinates(X[rows]) - cells.centres[cell]
        there = _positions(cells, _asked_for(cells, queries, cell, probes, m + 1))
        table = _around(cells, cell, there)
        half = np.einsum("ij,ij->i", table, table) / 2
        for block in row_blocks(len(rows), max(1, TILE // len(there))):
            closeness = queries[block].astype(np.float32) @ table.T
            closeness -= half
            if own is not None:
                at = np.searchsorted(there, place[own[rows[block]]])
                closeness[np.arange(len(at)), at] = -np.inf
            visit(rows[block], cells.order[there[largest(closeness, m)]])
        return len(rows) * len(there)

    return sum(run(search, groups, "comparing rows"))


def largest(table: Array, m: int) -> Array:
    """Columns of the m largest entries of each row, in no order."""
    n_columns = table.shape[1]
    if m == n_columns:
        return np.tile(np.arange(m), (len(table), 1))
    # partition is several times as fast as argpartition: seek the bound, then compare
    bound = np.partition(table, n_columns - m, axis=1)[:, n_columns - m, None]
    above = table >= bound
    tied = np.flatnonzero(np.count_nonzero(above, axis=1) > m)
    if len(tied):
        kept = np.argpartition(table[tied], n_columns - m, axis=1)[:, n_columns - m :]
        above[tied] = False
        above[tied[:, None], kept] = True
    return np.asarray(np.flatnonzero(above).reshape(len(table), m) % n_columns)


def workers(pool: ThreadPoolExecutor) -> Callable[..., list[Any]]:
    """``run(function, work, name)``: work is a list, or n for blocks of n rows.

    What is done is reported as a stage of that name.
    """

    def run(
        function: Callable[[Any], Any], work: Iterable[Any] | int, name: str = ""
    ) -> list[Any]:
        pieces = list(row_blocks(work, 2048) if isinstance(work, int) else work)
        futures: list[Future[Any]] = []
        try:
            futures.extend(pool.submit(function, piece) for piece in pieces)
            return [future.result() for future in counted(name, futures)]
        finally:
            for future in futures:
                future.cancel()  # an error or an interrupt: nothing more is begun

    return run


def _asked_for(cells: Cells, queries: Array, cell: int, probes: int, m: int) -> Array:
    """The cells that rows of one cell look into; they have m rows at least."""
    voters = queries[:: max(1, len(queries) // VOTERS)]
    n_cells = len(cells.centres)
    close = _closeness(voters + cells.centres[cell], cells.centres)
    votes = np.bincount(largest(close, probes).ravel(), minlength=n_cells)
    votes[cell] = len(voters) + 1  # its own cell comes first
    away = np.square(cells.centres - cells.centres[cell]).sum(axis=1)
    ranked = np.lexsort((away, -votes))
    heard = np.cumsum(votes[ranked])
    enough = np.searchsorted(heard, HEEDED * heard[-1])
    filled = np.searchsorted(np.cumsum(cells.sizes[ranked]), m)
    return np.sort(ranked[: max(enough, filled) + 1])


def _positions(cells: Cells, chosen: Array) -> Array:
    """Where the rows of some cells stand in ``order``."""
    sizes = cells.sizes[chosen]
    before = np.cumsum(sizes) - sizes
    return np.asarray(
        np.repeat(cells.starts[chosen] - before, sizes) + np.arange(sizes.sum())
    )


def _around(cells: Cells, cell: int, there: Array) -> Array:
    """Rows of the table as seen from the centre of a cell, in single precision."""
    shifts = (cells.centres - cells.centres[cell]).astype(np.float32)
    labels = np.searchsorted(cells.starts, there, side="right") - 1
    return np.asarray(cells.offsets[there] + shifts[labels])


def _closeness(rows: Array, centres: Array) -> Array:
    """Largest where the centre is nearest: x'c - c'c / 2."""
    single = centres.astype(np.float32)
    half = np.einsum("ij,ij->i", single, single) / 2
    return np.asarray(rows.astype(np.float32) @ single.T - half)


def _leading(rows: Array, n_directions: int) -> Array:
    """An orthonormal basis of about the directions in which rows differ most."""
    # a start of its own: the cells must not depend on how many numbers it takes
    rng = np.random.default_rng(n_directions)
    width = min(n_directions + 10, *rows.shape)
    basis = rng.standard_normal((rows.shape[1], width)).astype(rows.dtype)
    for _ in range(POWERS):
        basis = orthonormal(rows.T @ (rows @ basis))
    _, _, turn = np.linalg.svd(rows @ basis, full_matrices=False)
    return np.asarray(basis @ turn[:n_directions].T)


def _means(rows: Array, n_cells: int, rng: np.random.Generator, run: Any) -> Array:
    """Centres by k-means, from random rows; a cell without rows keeps its centre."""
    centres = rows[np.sort(rng.permutation(len(rows))[:n_cells])].astype(np.float64)
    n = len(rows)
    starts = np.arange(n + 1)
    for _ in counted("centres of cells", range(ROUNDS), "round"):
        labels = _stacked(
            run(lambda b: _closeness(rows[b], centres).argmax(axis=1), n)  # noqa: B023
        )
        members = sp.csr_array((np.ones(n), labels, starts), shape=(n, n_cells))
        counts = np.bincount(labels, minlength=n_cells)[:, None]
        sums = members.T @ rows
        centres = np.where(counts > 0, sums / np.maximum(counts, 1), centres)
    return centres


def _stacked(parts: list[Array]) -> Array:
    return np.concatenate(parts)


def largest_size(X: Array) -> float:
    """The largest entry by size; not finite if any is not."""
    return float(np.maximum(X.max(initial=0.0), -X.min(initial=0.0)))
