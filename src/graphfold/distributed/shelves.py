"""What a shelf of rows knows: the nearest of them, the same digits on every worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import norm as sparse_norm
from scipy.spatial.distance import cdist

from graphfold.arrays import Array, row_blocks
from graphfold.neighbors import nearest_rows
from graphfold.neighbors.search import strips

#: metrics that are norms of differences; others count what differs, with many ties
NORMS = {"euclidean": 2, "manhattan": 1, "chebyshev": np.inf}
#: what rounding may change of a distance, of the size of the rows
ROUNDING = 1e-6
#: bytes of differences that a task holds
_BYTES = 2**23
Pair = tuple[Array, Array]


@dataclass(frozen=True)
class Search:
    """k rows by a metric; whether they search each other, and have length one."""

    k: int
    metric: str
    themselves: bool
    standard: bool


def nearest_first(away: Array, numbers: Array, k: int) -> Pair:
    """The k nearest of each row, of equals the first number first."""
    order = np.lexsort((numbers, away))[:, :k]
    return np.take_along_axis(away, order, 1), np.take_along_axis(numbers, order, 1)


def nearest_on(shelf: Any, asked: Any, search: Search, spare: int = 4) -> Pair:
    """Distances and numbers of the k nearest rows of a shelf, or of all it has.

    They are sought by products of tables, whose last digits depend on what else is in
    the tables, and then measured one by one. Where one that was not measured might be
    as near as the last that is kept, more of them are.
    """
    (table, known), (rows, numbers) = shelf, asked
    if sp.issparse(rows) != sp.issparse(table):
        rows = rows.toarray() if sp.issparse(rows) else sp.csr_array(rows)
    own = numbers if search.themselves else np.full(len(numbers), -1)
    m, metric = search.k + spare, search.metric
    if metric not in NORMS or m >= len(known) or not len(own):
        return _nearest_of_all(rows, own, shelf, search)
    # products lose fewer digits where rows are seen from the middle of the table
    middle = 0 if sp.issparse(table) else table.mean(axis=0, dtype=np.float64)
    queries, reference = rows - middle, table - middle
    _, at = nearest_rows(queries, m, metric=metric, among=reference, n_jobs=1)
    away = _distances(rows, table, at, NORMS[metric])
    farthest = away.max(axis=1)
    away[known[at] == own[:, None]] = np.inf
    away, found = nearest_first(away, known[at], search.k)

    reach = _norms(queries, NORMS[metric]) + _norms(reference, NORMS[metric]).max()
    at = np.flatnonzero(farthest <= np.hypot(away[:, -1], ROUNDING * reach))
    asked = rows[at], numbers[at]
    away[at], found[at] = nearest_on(shelf, asked, search, 8 * spare)
    return away, found


def _nearest_of_all(rows: Any, own: Array, shelf: Any, search: Search) -> Pair:
    """The same by measuring the distance of each row to all of the shelf."""
    table, known = shelf
    kept = min(search.k, len(known))
    distances, numbers = np.empty((len(own), kept)), np.empty((len(own), kept), int)
    for block in strips(len(own) if kept else 0, len(known)):
        away = _all_distances(rows[block], table, search.metric)
        away[known == own[block, None]] = np.inf
        at = _first_smallest(away, kept)
        distances[block] = np.take_along_axis(away, at, axis=1)
        numbers[block] = known[at]
    return distances, numbers


def _all_distances(rows: Any, table: Any, metric: str) -> Array:
    if metric in NORMS:
        at = np.tile(np.arange(table.shape[0]), (rows.shape[0], 1))
        return _distances(rows, table, at, NORMS[metric])
    kind = bool if metric == "jaccard" else float
    rows, table = (X.toarray() if sp.issparse(X) else X for X in (rows, table))
    return np.asarray(cdist(rows.astype(kind), table.astype(kind), metric))


def _first_smallest(table: Array, m: int) -> Array:
    """Columns of the m smallest entries of each row in order, of equals the first."""
    bound = np.partition(table, m - 1, axis=1)[:, m - 1, None]
    row, column = np.nonzero(table <= bound)
    order = np.lexsort((table[row, column], row))  # which leaves equals as they are
    starts = np.searchsorted(row, np.arange(len(table)))
    return np.asarray(column[order][starts[:, None] + np.arange(m)])


def _distances(rows: Any, table: Any, at: Array, order: float) -> Array:
    """Norms of differences from rows ``at`` of a table: the same digits anywhere."""
    away, m = np.empty(at.shape), at.shape[1]
    width = m * (table.size // table.shape[0] + 1)
    for block in row_blocks(len(at), max(1, _BYTES // (8 * width))):
        there = table[at[block].ravel()].astype(np.float64)  # its order is the true one
        here = rows[np.repeat(np.arange(len(at))[block], m)]
        away[block] = _norms(there - here, order).reshape(-1, m)
    return away


def _norms(rows: Any, order: float) -> Array:
    norm = sparse_norm if sp.issparse(rows) else np.linalg.norm
    return np.asarray(norm(rows, order, axis=1))
