"""Cost of each way of solving, and which one a memory budget allows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import floating
from graphfold.errors import BudgetError
from graphfold.kernels import Kernel, OnColumns, Precomputed
from graphfold.model.terms import has_cheap_factor
from graphfold.solvers import Choice, choose_solver

#: products of a block that a typical solve takes
TYPICAL_ROUNDS = 20
#: share of the free memory that a fit may take when nobody sets a budget
SHARE_OF_FREE = 0.6


@dataclass(frozen=True)
class Plan:
    """What a fit would do and cost: nothing is computed but a tiny probe.

    Attributes
    ----------
    storage : "stored", "low-rank", "tiled", "inverse" or "none"
        How the kernel matrices are held; "inverse": as a sparse matrix of local
        weights, whose pseudo-inverse the kernel is.
    solver, reason : str
        The eigensolver and why.
    peak_bytes : int
        Memory beyond X and the graph.
    seconds : float
        From the arithmetic needed and a probe of this machine's speed.
    """

    n: int
    n_components: int
    storage: str
    solver: str
    reason: str
    strip: int
    peak_bytes: int
    seconds: float
    way: str = "exact"
    landmarks: int | None = None
    rank: int | None = None

    def __str__(self) -> str:
        return (
            f"{self.storage} kernel of {self.n:,} rows, solver {self.solver} "
            f"({self.reason}); about {self.peak_bytes / 2**20:,.0f} MB beyond the data "
            f"and {self.seconds:.2g} s"
        )


def make_plan(
    kernels: Sequence[Kernel],
    X: Any,
    d: int,
    *,
    solver: str,
    max_memory: int | None,
    timed: bool = False,
    landmarks: int | None = None,
) -> Plan:
    """Stored where it fits, tiled where it does not; an error where neither does.

    Of several kernels each has its matrix, and their sum has one more.
    """
    n, itemsize = X.shape[0], floating(X.dtype).itemsize
    choice = choose_solver(n, min(d, n), solver)
    if landmarks is not None:
        return Plan(
            n, d, "features", "chebyshev", "x", 0, 0, 0.0, "landmarks", landmarks
        )
    budget = max_memory if max_memory is not None else free_memory()
    width = min(d + 4, n)
    # where products are cheap the solver's space is wide
    thin = not kernels or all(k.by_inverse or has_cheap_factor(k, X) for k in kernels)
    basis = 3 * n * max((11 if thin else 6) * width, 60) * itemsize
    copy_of_X = 0 if sp.issparse(X) else X.shape[0] * X.shape[1] * itemsize
    matrix = n * n * itemsize
    pointwise = all(kernel.pointwise for kernel in kernels)
    given = all(is_precomputed(kernel) for kernel in kernels)
    low_rank = all(has_cheap_factor(kernel, X) for kernel in kernels)
    matrices = matrix * (1 if len(kernels) == 1 else len(kernels) + 1)
    strip = int(np.clip(2**25 // (n * itemsize), 16, 1024))

    if not kernels:
        storage, peak = "none", basis
    elif all(kernel.by_inverse for kernel in kernels):
        storage, peak = "inverse", basis + copy_of_X + local_bytes(kernels, X)
    elif given:
        storage, peak = "stored", basis + (matrix if len(kernels) > 1 else 0)
    elif low_rank:
        storage, peak = "low-rank", basis + copy_of_X
    else:
        storage, peak = "stored", matrices + basis + copy_of_X
    copies = 3 * matrix  # the matrix, LAPACK's own copy and the shift
    if choice.solver == "lapack" and solver == "auto" and peak + copies > budget:
        choice = Choice("krylov", "LAPACK's copies of the matrix exceed max_memory")
    if choice.solver == "lapack":
        peak += copies
    elif storage == "stored" and peak > budget and not given and pointwise:
        storage = "tiled"
        room = (budget - basis - copy_of_X) // (4 * n * itemsize)
        strip = int(np.clip(room, 16, strip))
        peak = basis + copy_of_X + 4 * strip * n * itemsize
    if max_memory is not None and peak > max_memory:
        raise BudgetError(
            f"max_memory must be at least {peak / 2**20:,.0f} MB for {n:,} rows and "
            f"{d} components by the leanest exact way; got {max_memory / 2**20:,.0f} MB"
        )
    seconds = (
        estimated_seconds(kernels, X, storage, choice.solver, width) if timed else 0.0
    )
    return Plan(n, d, storage, choice.solver, choice.reason, strip, int(peak), seconds)


def local_bytes(kernels: Sequence[Kernel], X: Any) -> int:
    """Memory of the weights of the rows over their neighbours, and of a batch."""
    n, n_columns = X.shape
    total = 0
    for kernel in kernels:
        unknowns = getattr(kernel, "n_neighbors", 10) * getattr(kernel, "order", 1)
        batch = min(2**28, 32 * n * unknowns * (n_columns + unknowns))
        total += 60 * unknowns * n + batch
    return total


def estimated_seconds(
    kernels: Sequence[Kernel], X: Any, storage: str, solver: str, width: int
) -> float:
    """Arithmetic of a fit divided by this machine's speed in a product."""
    n = X.shape[0]
    per_entry = 2 * X.nnz / n if sp.issparse(X) else 2 * X.shape[1]
    computed = sum(not is_precomputed(kernel) for kernel in kernels)
    evaluation = computed * 0.5 * n * n * (per_entry + 40)
    products = TYPICAL_ROUNDS * width
    if solver == "lapack":
        operations = evaluation + 3.0 * n**3
    elif storage == "inverse":
        # the neighbour search, then some thousand products with the sparse weights
        operations = n * n * per_entry + 1e4 * width * 100.0 * n
    elif storage == "low-rank":
        operations = products * 2 * n * per_entry
    elif storage == "tiled":
        operations = TYPICAL_ROUNDS * evaluation + products * 2.0 * n * n
    else:
        operations = evaluation + products * 2.0 * n * n
    return operations / operations_per_second(floating(X.dtype))


def is_precomputed(kernel: Kernel) -> bool:
    """Whether X holds the values of this kernel."""
    inner = kernel.kernel if isinstance(kernel, OnColumns) else kernel
    return isinstance(inner, Precomputed)


def operations_per_second(dtype: Any) -> float:
    """Speed of a small matrix product here and now; takes some milliseconds."""
    A = np.ones((384, 384), dtype=dtype)
    A @ A
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        A @ A
        best = min(best, time.perf_counter() - start)
    return float(2 * 384**3 / max(best, 1e-9))


def free_memory() -> int:
    """Bytes a fit may take without a budget: a share of what is free now."""
    try:
        with open("/proc/meminfo", encoding="ascii") as report:
            lines = dict(line.split(":", 1) for line in report)
        return int(SHARE_OF_FREE * 1024 * int(lines["MemAvailable"].split()[0]))
    except (OSError, KeyError, ValueError):
        return 4 * 2**30  # not Linux: assume a modest machine
