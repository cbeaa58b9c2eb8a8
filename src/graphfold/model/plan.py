"""Which way of solving a memory budget allows, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphfold.arrays import floating
from graphfold.errors import BudgetError
from graphfold.kernels import Kernel, Linear
from graphfold.model import memory, speed
from graphfold.model.speed import is_precomputed
from graphfold.model.terms import has_cheap_factor
from graphfold.operators.tiled import LARGEST_TILE, SMALLEST_TILE
from graphfold.solvers import Choice, choose_solver
from graphfold.threads import n_threads

#: landmarks that are taken where nobody says how many, and memory allows no exact way
MOST_LANDMARKS = 1000
#: directions of the features that are held beyond the components
SPARE_DIRECTIONS = 16


@dataclass(frozen=True)
class Plan:
    """What a fit would do and cost: nothing is computed but a tiny probe.

    Attributes
    ----------
    storage : str
        How the kernel matrices are held: "stored", "low-rank", "tiled" (computed at
        every product), "inverse" (a sparse matrix of local weights, whose
        pseudo-inverse the kernel is) or "none"; "table" for methods that have none
        and hold copies of X; in the landmark way "features", or "compressed" where
        only the leading directions of the features are held.
    solver, reason : str
        The eigensolver and why.
    strip : int
        Side of a tile.
    peak_bytes : int
        Memory beyond X and the graph.
    seconds : float
        From the arithmetic needed and a probe of this machine's speed; 0 where it was
        not asked for.
    way : "exact" or "landmarks"
    landmarks, rank : int or None
        Of the landmark way: how many, and how many columns of features are held.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from graphfold import GraphKernelPCA
    >>> plan = GraphKernelPCA(2).plan(load_iris().data)
    >>> plan.way, plan.storage, plan.solver
    ('exact', 'stored', 'lapack')
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
        if self.way == "landmarks":
            held = "" if self.rank == self.landmarks else f" (rank {self.rank})"
            what = f"{self.landmarks:,} landmarks{held} of {self.n:,} rows"
        elif self.storage == "table":
            what = f"copies of a table of {self.n:,} rows"
        else:
            what = f"{self.storage} kernel of {self.n:,} rows"
        peak = f"{self.peak_bytes / 2**20:,.0f} MB beyond the data"
        digits = ",.0f" if self.seconds >= 10 else ".2g"
        return (
            f"{what}, solver {self.solver} ({self.reason}); about {peak} and "
            f"{self.seconds:{digits}} s"
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
    refined: bool = False,
    n_edges: int = 0,
    n_bases: int = 0,
    exact_only: bool = False,
    keeps_rows: bool = False,
    rows_back: int = 0,
    averaged: int = 0,
) -> Plan:
    """Stored where it fits, tiled where it does not, then landmarks; else an error.

    Landmarks that are asked for are taken whatever fits. ``n_edges`` are the entries
    of the graphs' matrices, which are held again as Laplacians; ``n_bases`` of the
    graphs may need their whole eigenbasis. ``exact_only`` where landmarks have no
    meaning to the caller; ``keeps_rows`` where a landmark fit keeps the rows as well.
    The way back from the embedding is learned from ``rows_back`` rows in the landmark
    way, in the exact one from all, if it is learned. ``averaged`` rows for each are
    what landmarks are means of, if they are.
    """
    how: dict[str, Any] = {"refined": refined, "n_edges": n_edges, "timed": timed}
    how |= {"keeps_rows": keeps_rows, "rows_back": min(rows_back, X.shape[0])}
    how["averaged"] = averaged
    if landmarks is not None:
        plan = landmark_plan(kernels, X, d, landmarks, max_memory, **how)
        if max_memory is not None and plan.peak_bytes > max_memory:
            raise too_small(max_memory, plan, f"with {plan.landmarks:,} landmarks")
        return plan
    plan = exact_plan(kernels, X, d, solver, max_memory, n_edges, n_bases)
    if rows_back:
        back = memory.copy_of_rows(X) + memory.way_back_bytes(X, X.shape[0])
        plan = replace(plan, peak_bytes=max(plan.peak_bytes, back))
    if max_memory is not None and plan.peak_bytes > max_memory:
        leanest = plan
        if not exact_only and can_be_sampled(kernels):
            fitting = lean_landmarks(kernels, X, d, max_memory, **how)
            if fitting.peak_bytes <= max_memory:
                return fitting
            leanest = min(plan, fitting, key=lambda one: one.peak_bytes)
        raise too_small(max_memory, leanest, "by the leanest way")
    if not timed:
        return plan
    width = min(d + 4, plan.n)
    seconds = speed.exact_seconds(
        kernels, X, plan.storage, plan.solver, width, n_edges=n_edges, n_bases=n_bases
    )
    return replace(plan, seconds=seconds)


def too_small(max_memory: int, plan: Plan, how: str) -> BudgetError:
    """The sentence that says that a budget cannot be kept, and what could be."""
    return BudgetError(
        f"max_memory must be at least {plan.peak_bytes / 2**20:,.0f} MB for "
        f"{plan.n:,} rows and {plan.n_components} components {how}; got "
        f"{max_memory / 2**20:,.0f} MB"
    )


# -- the exact ways -------------------------------------------------------------------


def exact_plan(
    kernels: Sequence[Kernel],
    X: Any,
    d: int,
    solver: str,
    max_memory: int | None,
    n_edges: int = 0,
    n_bases: int = 0,
) -> Plan:
    """The fastest exact way that fits, or the leanest where none does."""
    n, itemsize = X.shape[0], precision(kernels, X)
    choice = usual_solver(n, d, solver, len(kernels), n_edges)
    given = bool(kernels) and all(is_precomputed(kernel) for kernel in kernels)
    storage = usual_storage(kernels, X)
    thin = storage in ("none", "inverse", "low-rank")
    kept = memory.copy_of_rows(X) + 3 * memory.EDGE * n_edges
    kept += memory.basis_bytes(n, n_bases)
    solving = memory.solver_bytes(n, min(d + 4, n), itemsize, thin=thin)
    if storage == "inverse":
        peak = kept + solving + memory.local_bytes(kernels, X)
    elif storage == "low-rank":
        # the factor of a linear kernel is X; others are tables of their own
        factors = sum(not isinstance(kernel, Linear) for kernel in kernels)
        peak = kept + solving + factors * memory.copy_of_rows(X)
    elif given:
        matrices = memory.stored_bytes(kernels, X) if len(kernels) > 1 else 0
        peak = kept + solving + matrices // (len(kernels) + 1)
    elif storage == "stored":
        # while a kernel is computed its rows are centred: a second copy
        peak = kept + memory.stored_bytes(kernels, X)
        peak += max(solving, memory.copy_of_rows(X))
    else:
        peak = kept + solving + memory.factor_bytes(n_edges)
    whole = memory.lapack_bytes(n, itemsize)
    budget = memory.budget(max_memory, needed=peak + whole)
    if choice.solver == "lapack" and solver == "auto" and peak + whole > budget:
        choice = Choice("krylov", "LAPACK's copies of the matrix exceed max_memory")
    strip = LARGEST_TILE
    if choice.solver == "lapack":
        peak += whole
    elif storage == "stored" and peak > budget and not given and tileable(kernels):
        storage = "tiled"
        strip = tile_side(budget - kept - solving, X, itemsize)
        tiles = memory.tile_bytes(strip, X.shape[1], itemsize, n_threads())
        peak = kept + solving + tiles
    if kernels and tileable(kernels):
        peak = max(peak, kept + memory.median_bytes(n, itemsize))
    return Plan(n, d, storage, choice.solver, choice.reason, strip, int(peak), 0.0)


def usual_solver(n: int, d: int, solver: str, n_kernels: int, n_edges: int) -> Choice:
    """The solver of the exact way where memory is plenty."""
    kind = "sparse" if not n_kernels else "indefinite" if n_edges else "kernel"
    return choose_solver(n, min(d, n), solver, kind=kind)


def usual_storage(kernels: Sequence[Kernel], X: Any) -> str:
    """How kernels are held where memory is plenty."""
    if not kernels:
        return "none"
    if all(kernel.by_inverse for kernel in kernels):
        return "inverse"
    given = any(is_precomputed(kernel) for kernel in kernels)
    if not given and all(has_cheap_factor(kernel, X) for kernel in kernels):
        return "low-rank"
    return "stored"


def tileable(kernels: Sequence[Kernel]) -> bool:
    """Whether every kernel can be computed tile by tile."""
    return all(kernel.pointwise and not kernel.by_inverse for kernel in kernels)


def tile_side(room: float, X: Any, itemsize: int) -> int:
    """The largest tile whose work fits, within what is worth it."""
    side, threads = LARGEST_TILE, n_threads()
    while side > SMALLEST_TILE:
        if memory.tile_bytes(side, X.shape[1], itemsize, threads) <= room:
            break
        side //= 2
    return side


def precision(kernels: Sequence[Kernel], X: Any) -> int:
    """Bytes of a number of M: local weights are of double precision, as graphs are."""
    if any(kernel.by_inverse for kernel in kernels):
        return np.dtype(np.float64).itemsize
    return floating(X.dtype).itemsize


# -- the landmark way -----------------------------------------------------------------


def can_be_sampled(kernels: Sequence[Kernel]) -> bool:
    """Whether k(x, y) is known for any two rows, so that some may stand for all."""
    known = tileable(kernels) and not any(is_precomputed(k) for k in kernels)
    return bool(kernels) and known


def landmark_plan(
    kernels: Sequence[Kernel],
    X: Any,
    d: int,
    m: int,
    max_memory: int | None,
    *,
    refined: bool,
    n_edges: int,
    timed: bool = False,
    keeps_rows: bool = False,
    rows_back: int = 0,
    averaged: int = 0,
) -> Plan:
    """m landmarks, their features whole or cut to the rank that fits.

    The rank is at least d + 16: a plan that takes more than the budget all the same is
    the leanest there is for m landmarks.
    """
    n = X.shape[0]
    m = min(m, n)
    budget = memory.budget(max_memory)
    sizes: dict[str, Any] = {"refined": refined, "n_edges": n_edges}
    sizes["averaged"] = averaged
    beside = memory.landmark_bytes(
        X, d, m, n_threads=n_threads(), keeps_rows=keeps_rows, **sizes
    )
    # every kernel has features of its own; a span that is widened, twice as many, and
    # once more on the way to the neighbours of neighbours
    parts = len(kernels) * (1 if refined or not n_edges else 3)
    fitting = (budget - beside) // memory.feature_bytes(n, parts)
    rank = int(np.clip(fitting, min(d + SPARE_DIRECTIONS, m), m))
    seconds = speed.landmark_seconds(kernels, X, m, d, **sizes) if timed else 0.0
    back = memory.way_back_bytes(X, rows_back)
    return Plan(
        n,
        d,
        storage="features" if rank == m else "compressed",
        solver="chebyshev" if refined else "lapack",
        reason="of the whole operator" if refined else f"in the span of {m} landmarks",
        strip=memory.FEATURE_ROWS,
        peak_bytes=max(beside + memory.feature_bytes(n, parts * rank), back),
        seconds=seconds,
        way="landmarks",
        landmarks=m,
        rank=rank,
    )


def lean_landmarks(
    kernels: Sequence[Kernel], X: Any, d: int, max_memory: int, **how: Any
) -> Plan:
    """As many landmarks as fit, at most 1,000; the fewest where none do."""
    fewest = min(d + SPARE_DIRECTIONS, X.shape[0])
    m = max(min(MOST_LANDMARKS, X.shape[0]), fewest)
    while True:
        plan = landmark_plan(kernels, X, d, m, max_memory, **how)
        if plan.peak_bytes <= max_memory or m == fewest:
            return plan
        m = max(fewest, m * 3 // 4)
