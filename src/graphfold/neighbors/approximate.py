"""Nearest rows for tables too large to compare all pairs; the recall is measured.

Cells first, then the few candidates that they yield are compared in full precision:
which rows are found is approximate, their distances are not. How many cells are looked
into is chosen on a sample of rows whose exact neighbours are known; where no number
that would save time is enough, all pairs are compared.
"""

from __future__ import annotations

import numbers
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphfold.arrays import Array, floating, power_of_two, row_blocks
from graphfold.errors import GraphfoldError
from graphfold.neighbors.cells import (
    Cells,
    largest_size,
    n_cells_for,
    sorted_into_cells,
    visit_candidates,
    workers,
)
from graphfold.neighbors.search import nearest_rows, standard_rows, with_marked_zeros
from graphfold.progress import shown
from graphfold.threads import one_blas_thread

#: metrics that are Euclidean distances of some rows
MOST_THREADS = 2**16  # a number beyond it is a mistake
APPROXIMATE_METRICS = ("euclidean", "cosine", "correlation")
#: share of the neighbours of the sample that must be found
WANTED_RECALL, SAMPLE = 0.99, 256
#: cells looked into at first; most of them among few directions; least share not to
FIRST_PROBES, MOST_PROBES, SPARED = 8, 32, 4
#: below this recall the next try is a bold one
FAR_OFF = 0.8
#: more columns than twice this are searched in this many directions first
DIRECTIONS = 64
#: candidates per neighbour: in few directions their order is not the true one
KEPT_OF_DIRECTIONS, KEPT = 3, 1.5
#: bytes of differences that one thread holds
_BYTES = 2**23


@dataclass(frozen=True)
class Neighbors:
    """What a search found.

    ``recall`` is the share of the true neighbours that it finds, measured on a sample
    of rows; ``compared`` the share of all pairs of rows that it looked at. Both are 1
    for an exact search.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.neighbors import find_neighbors
    >>> found = find_neighbors(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> found.indices.ravel().tolist(), found.recall
    ([1, 0, 1], 1.0)
    """

    distances: Array
    indices: Array
    recall: float = 1.0
    compared: float = 1.0


def approximate_neighbors(
    X: Any,
    k: int,
    *,
    metric: str = "euclidean",
    among: Any = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Neighbors:
    """About the k nearest rows of ``among`` for each row of X, with exact distances.

    Without ``among`` the rows of X search each other, and none finds itself. The same
    ``random_state`` gives the same answer on any number of threads (None counts as 0).
    Costs about n^1.5 comparisons where a few cells around a row are enough, n^2 where
    rows have no structure. ``verbose`` shows how far the search is, as in the
    estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.neighbors import approximate_neighbors
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> found = approximate_neighbors(X, 5)
    >>> found.indices.shape, found.recall > 0.95
    ((500, 5), True)
    """
    if metric not in APPROXIMATE_METRICS:
        allowed = ", ".join(APPROXIMATE_METRICS)
        raise GraphfoldError(f"metric must be one of {allowed}; got {metric!r}")
    table, rows, unit = _euclidean(X, among, metric)
    available = len(table) - (among is None)
    if not 1 <= k <= available:
        raise GraphfoldError(
            f"k must be between 1 and {available}, the rows to be found; got {k!r}"
        )
    seed = random_seed(random_state)
    own = np.arange(len(table)) if among is None else None
    with shown(verbose, "approximate_neighbors"):
        with (
            one_blas_thread(),
            ThreadPoolExecutor(n_threads(n_jobs)) as pool,
        ):
            found = _search(table, rows, own, k, seed, workers(pool))
        if found is None:
            how = {"metric": metric, "among": among, "n_jobs": n_jobs}
            return Neighbors(*nearest_rows(X, k, **how))
    distances = found.distances * unit
    return replace(
        found, distances=distances if metric == "euclidean" else distances**2 / 2
    )


def random_seed(random_state: Any) -> int:
    """The seed that an integer or None stands for."""
    if random_state is None:
        return 0
    if not _is_integer(random_state) or random_state < 0:
        raise GraphfoldError(
            "random_state must be None or an integer of at least 0, so that a search "
            f"can be repeated; got {random_state!r}"
        )
    return int(random_state)


def n_threads(n_jobs: Any) -> int:
    """Threads that ``n_jobs`` asks for: None and -1 are all cores, -2 all but one."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if not _is_integer(n_jobs) or n_jobs == 0 or abs(n_jobs) > MOST_THREADS:
        raise GraphfoldError(
            f"n_jobs must be None, a number of threads up to {MOST_THREADS}, or -1 for "
            f"all cores; got {n_jobs!r}"
        )
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _euclidean(X: Any, among: Any, metric: str) -> tuple[Array, Array, Any]:
    """The table and the rows to be searched for, as rows whose distance is Euclidean.

    The same array twice where the rows search each other. The last is their unit.
    """
    table = _rows(X if among is None else among, metric)
    rows = table if among is None else _rows(X, metric)
    unit = power_of_two(max(largest_size(table), largest_size(rows)))
    if 1e-9 < unit < 1e9:
        return table, rows, table.dtype.type(1)
    # squares of these would overflow or vanish
    unit = table.dtype.type(unit)
    scaled = table / unit
    return scaled, scaled if among is None else rows / unit, unit


def _rows(X: Any, metric: str) -> Array:
    X = np.asarray(X)
    X = np.ascontiguousarray(X, dtype=floating(X.dtype))
    if not np.isfinite(largest_size(X)):
        raise GraphfoldError("X must be finite for a search of nearest rows")
    if metric == "euclidean":
        return X
    return np.asarray(with_marked_zeros(standard_rows(X, metric)), dtype=X.dtype)


def _search(
    table: Array, rows: Array, own: Array | None, k: int, seed: int, run: Any
) -> Neighbors | None:
    """All rows by the least effort that serves the sample; None if none does."""
    rng = np.random.default_rng(seed)
    sample = np.sort(rng.permutation(len(rows))[:SAMPLE])
    of_sample = None if own is None else sample
    if _n_probes(len(table), None) < FIRST_PROBES:
        return None
    bounds = _exact_bounds(table, rows[sample], of_sample, k)
    wide = table.shape[1] > 2 * DIRECTIONS
    for n_directions in (DIRECTIONS, None) if wide else (None,):
        cells = sorted_into_cells(table, n_directions, rng, run)
        kept = int((KEPT if n_directions is None else KEPT_OF_DIRECTIONS) * k) + 3
        kept = min(kept, len(table) - (own is not None))
        probes = FIRST_PROBES
        while probes <= _n_probes(len(table), n_directions):
            how = (k, kept, cells, probes, run)
            found = _nearest(table, rows[sample], of_sample, *how)
            recall = float((found.distances <= bounds).mean())
            if recall >= WANTED_RECALL:
                found = _nearest(table, rows, own, *how)
                return replace(found, recall=recall)
            probes = 3 * probes if recall < FAR_OFF else 3 * probes // 2
    return None


def _n_probes(n: int, n_directions: int | None) -> int:
    """Cells to look into at most: with more of them all pairs cost no more."""
    probes = n_cells_for(n) // SPARED
    return probes if n_directions is None else min(probes, MOST_PROBES)


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
    kept: int,
    cells: Cells,
    probes: int,
    run: Any,
) -> Neighbors:
    """The k nearest of the candidates, the nearest first; of equals the first row."""
    distances = np.empty((len(rows), k), dtype=table.dtype)
    nearest = np.empty((len(rows), k), dtype=np.intp)

    def compare(block: Array, candidates: Array) -> None:
        there = np.sort(candidates, axis=1)
        away = _distances(table, rows[block], there)
        order = np.argsort(away, axis=1, kind="stable")[:, :k]
        distances[block] = np.take_along_axis(away, order, axis=1)
        nearest[block] = np.take_along_axis(there, order, axis=1)

    pairs = visit_candidates(cells, rows, kept, probes, compare, own=own, run=run)
    compared = pairs / (len(rows) * len(table))
    return Neighbors(distances, nearest, compared=compared)


def _distances(table: Array, rows: Array, indices: Array) -> Array:
    """Distances of each row to some rows of the table, by their differences."""
    distances = np.empty(indices.shape, dtype=table.dtype)
    held = indices.shape[1] * table.shape[1] * table.itemsize
    for block in row_blocks(len(rows), max(1, _BYTES // held)):
        differences = table[indices[block]]
        differences -= rows[block][:, None]
        distances[block] = np.sqrt(np.einsum("ijk,ijk->ij", differences, differences))
    return distances
