"""Bytes that each way of solving takes beyond X and the graph, as measured.

Every number is a peak of the resident memory that a fit adds, compared with
measurements by ``benchmarks/budget.py`` and ``tests/model/test_budget.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfold.arrays import floating
from graphfold.kernels import Kernel
from graphfold.kernels.bandwidth import N_ROWS as ROWS_OF_MEDIAN
from graphfold.kernels.grams import FEW_ROWS
from graphfold.kernels.landmarks import STRIP as FEATURE_STRIP
from graphfold.kernels.landmarks import block_rows
from graphfold.model.centres import rows_at_once
from graphfold.solvers.lanczos import block_width, capacity
from graphfold.stores import RowStore, is_on_disk, is_sparse

#: share of the free memory that a fit may take when nobody sets a budget
SHARE_OF_FREE = 0.6
#: bytes that a fit takes without a look at what is free, which takes 0.2 ms
LITTLE = 2**25
#: rows of a block whose features are computed at a time, and how many are in flight
FEATURE_ROWS, FEATURE_BLOCKS = 2048, 2
#: m x m matrices of float64 that the landmark way holds
SQUARES = 8
#: rows by which the kernel and the landmarks are judged
N_PROBES = 1000
#: bytes of an edge in a sparse matrix: a float64 and an index
EDGE = 12


def copy_of_rows(X: Any) -> int:
    """The fit's own X: a copy, or what is read from disk, in its own precision."""
    if is_sparse(X):
        index = getattr(X, "indices", np.empty(0, np.int32)).itemsize
        return int(X.nnz * (X.dtype.itemsize + index) + X.shape[0] * index)
    return int(X.shape[0] * X.shape[1] * floating(X.dtype).itemsize)


def solver_bytes(n: int, width: int, itemsize: int, *, thin: bool) -> int:
    """The space of a block Krylov solve, and what a round needs.

    Where products are cheap (``thin``) the products of the space are kept as well.
    """
    if thin:
        columns = 2 * max(10 * width, 60) + 13 * width
    else:
        columns = capacity(width, n) + 8 * block_width(width, n)
    return int(n * columns * itemsize)


def stored_bytes(kernels: Sequence[Kernel], X: Any) -> int:
    """Kernel matrices; of several each has one, and their sum has one more."""
    n = X.shape[0]
    matrix = n * n * floating(X.dtype).itemsize
    return int(matrix * (1 if len(kernels) == 1 else len(kernels) + 1))


def lapack_bytes(n: int, itemsize: int) -> int:
    """Copies beside the stored kernel: M, its symmetric part, shifted, LAPACK's own."""
    return 4 * n * n * itemsize


def tile_bytes(strip: int, n_columns: int, itemsize: int, n_threads: int) -> int:
    """A tile, what its kernel needs beside it, and two strips of rows, per thread."""
    return n_threads * (3 * strip * strip + 2 * strip * n_columns) * itemsize


def median_bytes(n: int, itemsize: int) -> int:
    """Distances of the pairs that the median rule looks at, and a strip of them."""
    rows = min(n, ROWS_OF_MEDIAN)
    at_once = max(256 * rows, rows**2 if rows <= FEW_ROWS else 0)
    return itemsize * (rows * rows // 2 + at_once)


def way_back_bytes(X: Any, n: int) -> int:
    """The kernel of n embedded rows, factored in place, and what maps them to X."""
    return n * (n + 2 * X.shape[1]) * floating(X.dtype).itemsize


def factor_bytes(n_edges: int) -> int:
    """A sparse factorisation of M, where there is nothing but graphs."""
    return 10 * EDGE * n_edges


def basis_bytes(n: int, count: int) -> int:
    """Whole eigenbases of graphs, and the work of the last: responses may need them."""
    return 8 * n * n * (count + 3) if count else 0


def local_bytes(kernels: Sequence[Kernel], X: Any) -> int:
    """Memory of the weights of the rows over their neighbours, and of a batch."""
    n, n_columns = X.shape
    total = 0
    for kernel in kernels:
        unknowns = getattr(kernel, "n_neighbors", 10) * getattr(kernel, "order", 1)
        batch = min(2**28, 32 * n * unknowns * (n_columns + unknowns))
        total += 60 * unknowns * n + batch
    return total


def landmark_bytes(
    X: Any,
    d: int,
    m: int,
    *,
    refined: bool,
    n_edges: int = 0,
    n_threads: int = 1,
    keeps_rows: bool = False,
    averaged: int = 0,
) -> int:
    """What m landmarks need beside their features.

    The rows are copied only where new rows have to find their neighbours among them.
    Landmarks that are means are those of ``averaged`` rows for each.
    """
    n, itemsize = X.shape[0], floating(X.dtype).itemsize
    rows = copy_of_rows(X) if keeps_rows and not is_on_disk(X) else 0
    blocks = FEATURE_BLOCKS * min(FEATURE_ROWS, n) * m * 8 * n_threads
    squares = SQUARES * m * m * 8
    # L in float32; while it is made, its numbers in float64 as well
    laplacian, making = 8 * n_edges, 18 * n_edges
    # the block, its product, two more, and what a product holds on its way
    refining = 10 * n * max(2 * d, d + 8) * 4 if refined else 0
    answer = 3 * n * d * max(itemsize, 8)
    # neighbours of 512 rows, gathered in double precision, where nothing is refined
    gathering = 0 if refined or not n_edges else n_threads * 8 * m * min(n, 512 * 12)
    of_rows, passing = _rows_of_landmarks(X, m, n_threads, averaged)
    choosing = means_bytes(X, m, averaged, n_threads) if averaged else 0
    widest = max(making, refining, answer, blocks + passing, 2 * gathering, choosing)
    return int(rows + squares + laplacian + of_rows + widest)


def means_bytes(X: Any, m: int, averaged: int, n_threads: int) -> int:
    """The rows whose means are sought, three tables of means, and blocks of a round."""
    count = min(averaged * m, X.shape[0])
    row = row_bytes(X)
    # sparse means hold no more entries than the rows they are of, in wider numbers
    means = 2 * count * row if is_sparse(X) else 8 * m * X.shape[1]
    products = (16 if is_sparse(X) else 4) * m
    block = min(rows_at_once(X.shape[1], is_sparse=is_sparse(X)), count)
    return count * row + 3 * means + n_threads * block * (3 * row + products)


def row_bytes(X: Any) -> int:
    """Of one row, as the fit holds it."""
    if isinstance(X, RowStore):
        return X.row_bytes
    return -(-copy_of_rows(X) // max(X.shape[0], 1))


def _rows_of_landmarks(
    X: Any, m: int, n_threads: int, averaged: int
) -> tuple[int, int]:
    """Rows that the landmark way holds for good, and those that pass by.

    The landmarks, in the order of their features, and about their mean; beside them
    their copies in double precision, the probes, or a block for each thread and what
    is made of it.
    """
    n, on_disk, row = X.shape[0], isinstance(X, RowStore), row_bytes(X)
    # a mean of sparse rows has the entries of all of them
    fill = min(averaged, -(-n // m)) if averaged and is_sparse(X) else 1
    doubled = 4 * m if floating(X.dtype).itemsize == 4 and not is_sparse(X) else m
    # of a table in memory the blocks are views, unless they are sparse
    block = block_rows(X) if on_disk or is_sparse(X) else 0
    strip = min(FEATURE_STRIP, block or FEATURE_STRIP)
    blocks = min(n_threads * (block + strip), 2 * n)
    return 3 * m * row * fill, max(doubled, min(2 * N_PROBES, 2 * n), blocks) * row


def feature_bytes(n: int, rank: int) -> int:
    """Phi, in float32 whatever X is."""
    return 4 * n * rank


#: copies of the table that the robust methods hold at their peak
TABLES = {"fista": 13, "admm": 17}


def table_bytes(X: Any, method: str) -> int:
    """Tables as large as X: iterates, prices, gradients and what a step makes."""
    return TABLES[method] * copy_of_rows(X)


def budget(max_memory: int | None, *, needed: float = np.inf) -> float:
    """Bytes a fit may take; what is free is not asked for where little is needed."""
    if max_memory is not None:
        return max_memory
    return np.inf if needed <= LITTLE else free_memory()


def free_memory() -> int:
    """Bytes a fit may take without a budget: a share of what is free now."""
    try:
        with open("/proc/meminfo", encoding="ascii") as report:
            lines = dict(line.split(":", 1) for line in report)
        return int(SHARE_OF_FREE * 1024 * int(lines["MemAvailable"].split()[0]))
    except (OSError, KeyError, ValueError):
        return 4 * 2**30  # not Linux: assume a modest machine
