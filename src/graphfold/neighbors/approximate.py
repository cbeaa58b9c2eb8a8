"""Nearest rows for tables too large to compare all pairs; the recall is measured.

Cells first, then the few candidates that they yield are compared in full precision:
which rows are found is approximate, their distances are not. How much is compared is
chosen on a sample of rows whose exact neighbours are known.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from graphfold import check
from graphfold.arrays import Array, floating, row_blocks
from graphfold.errors import GraphfoldError, LowRecallWarning
from graphfold.neighbors.cells import (
    Cells,
    sorted_into_cells,
    visit_candidates,
    workers,
)
from graphfold.neighbors.search import nearest_rows, standard_rows, with_marked_zeros

#: metrics that are Euclidean distances of some rows
APPROXIMATE_METRICS = ("euclidean", "cosine", "correlation")
#: share of the neighbours of the sample that must be found, and when to warn
WANTED_RECALL, LOW_RECALL = 0.99, 0.95
SAMPLE = 256
#: more columns than twice this are searched in this many directions first
DIRECTIONS = 64
#: candidates per neighbour: in few directions their order is not the true one
KEPT_OF_DIRECTIONS, KEPT = 3, 1.5
#: bytes of differences that one thread holds
_BYTES = 2**23


@dataclass(frozen=True)
class Neighbors:
    """What an approximate search found.

    ``recall`` is the share of true neighbours among those found, measured on a sample
    of rows; ``probes`` of ``n_cells`` cells were looked into, in ``n_directions``.
    """

    distances: Array
    indices: Array
    recall: float
    probes: int
    n_cells: int
    n_directions: int


def approximate_neighbors(
    X: Any,
    k: int,
    *,
    metric: str = "euclidean",
    among: Any = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> Neighbors:
    """About the k nearest rows of ``among`` for each row of X, with exact distances.

    Without ``among`` the rows of X search each other, and none finds itself. The same
    ``random_state`` gives the same answer on any number of threads (None counts as 0).
    Costs about n^1.5 comparisons where the data have any structure, n^2 if they have
    none.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.neighbors import approximate_neighbors
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> found = approximate_neighbors(X, 5)
    >>> found.indices.shape, found.recall > 0.95
    ((500, 5), True)
    """
    check.one_of("metric", metric, APPROXIMATE_METRICS)
    table, rows = _euclidean(X, among, metric)
    available = len(table) - (among is None)
    k = check.integer_between("k", k, 1, available, f"there are {available} others")
    seed = random_seed(random_state)
    own = np.arange(len(table)) if among is None else None
    with (
        threadpool_limits(1, user_api="blas"),
        ThreadPoolExecutor(n_threads(n_jobs)) as pool,
    ):
        found = _search(table, rows, own, k, seed, workers(pool))
    if found.recall < LOW_RECALL:
        warnings.warn(
            f"the approximate search found {found.recall:.1%} of the nearest rows of a "
            'sample; search="exact" finds all of them',
            LowRecallWarning,
            stacklevel=2,
        )
    if metric != "euclidean":
        return Neighbors(**{**vars(found), "distances": found.distances**2 / 2})
    return found


def random_seed(random_state: Any) -> int:
    """The seed that an integer or None stands for."""
    if random_state is None:
        return 0
    return check.integer_between("random_state", random_state, 0, 2**32 - 1)


def n_threads(n_jobs: Any) -> int:
    """Threads that ``n_jobs`` asks for: None and -1 are all cores, -2 all but one."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    check.integer_between("n_jobs", n_jobs, -(2**31), 2**31)
    if n_jobs == 0:
        raise GraphfoldError("n_jobs must be None, a positive or a negative integer")
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _euclidean(X: Any, among: Any, metric: str) -> tuple[Array, Array]:
    """The table and the rows to be searched for, as rows whose distance is Euclidean.

    The same array twice where the rows search each other.
    """

    def prepared(rows: Any) -> Array:
        rows = np.asarray(rows)
        rows = np.ascontiguousarray(rows, dtype=floating(rows.dtype))
        if not np.isfinite(rows.max(initial=0.0) - rows.min(initial=0.0)):
            raise GraphfoldError("X must be finite for a search of nearest rows")
        if metric == "euclidean":
            return rows
        marked = with_marked_zeros(standard_rows(rows, metric))
        return np.asarray(marked, dtype=rows.dtype)

    table = prepared(X if among is None else among)
    return table, table if among is None else prepared(X)


def _search(
    table: Array, rows: Array, own: Array | None, k: int, seed: int, run: Any
) -> Neighbors:
    """Try more and more on the sample until it is enough; then search for all rows."""
    rng = np.random.default_rng(seed)
    sample = np.sort(rng.permutation(len(rows))[:SAMPLE])
    of_sample = None if own is None else sample
    bounds = _exact_bounds(table, rows[sample], of_sample, k)
    for cells, probes in _efforts(table, rng, run):
        kept = _candidates_kept(cells, k, len(table) - (own is not None))
        how = (cells, probes, kept, run)
        distances, _ = _nearest(table, rows[sample], of_sample, k, *how)
        recall = float((distances <= bounds).mean())
        if recall >= WANTED_RECALL:
            break
    distances, indices = _nearest(table, rows, own, k, *how)
    n_cells, n_directions = cells.centres.shape
    return Neighbors(distances, indices, recall, probes, n_cells, n_directions)


def _efforts(
    table: Array, rng: np.random.Generator, run: Any
) -> Iterator[tuple[Cells, int]]:
    """Cells and how many of them to look into, from a little to everything."""
    n_columns = table.shape[1]
    if n_columns > 2 * DIRECTIONS:
        cells = sorted_into_cells(table, DIRECTIONS, rng, run)
        for probes in (8, 12, 16, 24, 32):
            if probes < len(cells.centres):
                yield cells, probes
    cells = sorted_into_cells(table, None, rng, run)
    n_cells, probes = len(cells.centres), 4
    while 2 * probes < n_cells:
        yield cells, probes
        probes = probes * 3 // 2
    yield cells, n_cells


def _candidates_kept(cells: Cells, k: int, available: int) -> int:
    factor = KEPT if cells.basis is None else KEPT_OF_DIRECTIONS
    return min(available, int(factor * k) + 3)


def _exact_bounds(table: Array, rows: Array, own: Array | None, k: int) -> Array:
    """Distance of each row to its k-th nearest: what is found within it is right."""
    n_others = k + (own is not None)
    _, indices = nearest_rows(rows, n_others, among=table)
    distances = np.sort(_distances(table, rows, indices), axis=1)
    # an equal row may stand for the row itself, at the same distance 0
    return np.asarray(distances[:, n_others - 1 :] * (1 + 1e-6))


def _nearest(
    table: Array,
    rows: Array,
    own: Array | None,
    k: int,
    cells: Cells,
    probes: int,
    kept: int,
    run: Any,
) -> tuple[Array, Array]:
    """The k nearest of the candidates, the nearest first; of equals the first row."""
    distances = np.empty((len(rows), k), dtype=table.dtype)
    nearest = np.empty((len(rows), k), dtype=np.intp)

    def compare(block: Array, candidates: Array) -> None:
        there = np.sort(candidates, axis=1)
        away = _distances(table, rows[block], there)
        order = np.argsort(away, axis=1, kind="stable")[:, :k]
        distances[block] = np.take_along_axis(away, order, axis=1)
        nearest[block] = np.take_along_axis(there, order, axis=1)

    visit_candidates(cells, rows, kept, probes, compare, own=own, run=run)
    return distances, nearest


def _distances(table: Array, rows: Array, indices: Array) -> Array:
    """Distances of each row to some rows of the table, by their differences."""
    distances = np.empty(indices.shape, dtype=table.dtype)
    held = indices.shape[1] * table.shape[1] * table.itemsize
    for block in row_blocks(len(rows), max(1, _BYTES // held)):
        differences = table[indices[block]]
        differences -= rows[block][:, None]
        distances[block] = np.sqrt(
            np.einsum("ijk,ijk->ij", differences, differences)
        )
    return distances
