"""Seconds that a fit may take: its arithmetic over a probe of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import floating
from graphfold.kernels import Kernel, OnColumns, Precomputed
from graphfold.kernels.products import InnerProduct
from graphfold.model.centres import ROUNDS as ROUNDS_OF_MEANS
from graphfold.stores import is_sparse

#: products of a block that a typical solve takes, each of its width
ROUNDS = 20
#: the same where products are cheap and the space is wide
THIN_ROUNDS = 60
#: products with the sparse weights of a local kernel, columns at a time
LOCAL_PRODUCTS = 5000
#: solves of a fit: one more with a graph, for the size of the data; some where weights
#: are learned
SOLVES_WITH_GRAPH, SOLVES_WITH_WEIGHTS = 2, 3
#: products of the whole table that the robust methods take
ROBUST_ROUNDS = 200


@dataclass(frozen=True)
class Machine:
    """Speeds here and now: operations, entries and bytes per second.

    ``products`` of two large blocks, ``thin`` ones of a matrix that does not fit into
    the cache with a few columns, ``exponentials``, ``sparse`` entries times columns.
    """

    products: float
    thin: float
    exponentials: float
    sparse: float


def probe(dtype: Any) -> Machine:
    """Speeds of small products and exponentials; takes some milliseconds."""
    dtype = np.dtype(dtype)
    A = np.ones((512, 512), dtype=dtype)
    room = np.empty_like(A)
    wide = np.ones((2000, 2000), dtype=dtype)
    V = np.ones((2000, 14), dtype=dtype)
    starts = np.arange(0, 20_001, 10)
    indices = np.arange(20_000, dtype=np.int32) * 7 % 2000
    S = sp.csr_array((np.ones(20_000, dtype), indices, starts), shape=(2000, 2000))
    return Machine(
        products=2 * 512**3 / fastest(lambda: np.matmul(A, A.T, out=room)),
        thin=2 * 2000**2 * 14 / fastest(lambda: wide @ V),
        exponentials=512**2 / fastest(lambda: np.exp(A, out=room)),
        sparse=20_000 * 14 / fastest(lambda: S @ V),
    )


def fastest(run: Callable[[], Any], times: int = 3) -> float:
    """Seconds of the fastest of a few runs, after one that warms up."""
    run()
    best = np.inf
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return max(best, 1e-9)


def evaluation_seconds(kernels: Sequence[Kernel], X: Any, machine: Machine) -> float:
    """Of all kernel matrices, one triangle each."""
    n = X.shape[0]
    computed = [kernel for kernel in kernels if not is_precomputed(kernel)]
    curved = [kernel for kernel in computed if not isinstance(kernel, InnerProduct)]
    products = len(computed) * n * n / 2 * operations_per_entry(X) / machine.products
    # an exponential and four passes of the entries beside it, and the mirror image
    return products + len(curved) * n * n / 2 * 3 / machine.exponentials


def exact_seconds(
    kernels: Sequence[Kernel],
    X: Any,
    storage: str,
    solver: str,
    width: int,
    *,
    n_edges: int = 0,
    n_bases: int = 0,
) -> float:
    """Of a fit that holds its kernels as ``storage`` says.

    ``n_bases`` graphs may need their whole eigenbasis.
    """
    n, machine = X.shape[0], probe(floating(X.dtype))
    bases = n_bases * 20.0 * n**3 / machine.products
    solves = SOLVES_WITH_GRAPH if n_edges and kernels else 1
    if len(kernels) > 1 or n_bases > 1:
        solves = SOLVES_WITH_WEIGHTS
    graph = ROUNDS * width * n_edges / machine.sparse
    once = _solve_seconds(kernels, X, storage, solver, width, machine)
    evaluation = evaluation_seconds(kernels, X, machine) if storage == "stored" else 0
    return evaluation + bases + solves * (once + graph)


def _solve_seconds(
    kernels: Sequence[Kernel],
    X: Any,
    storage: str,
    solver: str,
    width: int,
    machine: Machine,
) -> float:
    """Of one solve, the kernels being known."""
    n = X.shape[0]
    columns = ROUNDS * width
    # orthogonalisation against a space of some five blocks, twice
    rounds = columns * 40.0 * n * width / machine.thin
    if solver == "lapack":
        return 4.0 * n**3 / machine.products
    if storage == "inverse":
        search = n * n * operations_per_entry(X) / machine.products
        entries = n * sum(getattr(k, "n_neighbors", 10) + 1 for k in kernels)
        return search + 2 * LOCAL_PRODUCTS * width * entries / machine.sparse
    if storage == "low-rank":
        product = 2 * n * operations_per_entry(X)
        # the transpose of a sparse factor is the slower half
        speed = machine.sparse / 3 if is_sparse(X) else machine.thin
        return THIN_ROUNDS * width * product * len(kernels) / speed + rounds
    if storage == "none":
        return 20 * rounds  # a graph alone takes many rounds
    products = len(kernels) * columns * 2.0 * n * n / machine.thin
    if storage == "tiled":
        products += ROUNDS * evaluation_seconds(kernels, X, machine)
    return products + rounds


def landmark_seconds(
    kernels: Sequence[Kernel],
    X: Any,
    m: int,
    d: int,
    *,
    refined: bool,
    n_edges: int,
    averaged: int = 0,
) -> float:
    """Features of all rows, their m x m products, and rounds of refinement.

    Before them, the landmarks, where they are means of ``averaged`` rows for each.
    """
    n, machine = X.shape[0], probe(np.float32)
    features = n * m * operations_per_entry(X) / machine.products
    curved = len(kernels) * n * m * 3 / machine.exponentials
    # whitening of the features, their Gram matrix, and its eigenvectors
    spans = (4.0 * n * m * m + 10.0 * m**3) / machine.products
    compared = ROUNDS_OF_MEANS * min(averaged * m, n) * m * operations_per_entry(X)
    seconds = len(kernels) * features + curved + spans + compared / machine.products
    if refined:
        columns = ROUNDS * (2 * d + 8)
        seconds += columns * 4.0 * n * m / machine.thin
        seconds += columns * 2.0 * n_edges / machine.sparse
    return float(seconds)


def robust_seconds(X: Any, *, with_vectors: bool) -> float:
    """Of the robust methods: passes over the table, and singular vectors of it."""
    (n, n_columns), machine = X.shape, probe(floating(X.dtype))
    numbers = float(n) * n_columns
    passes = 8 * numbers / machine.exponentials + 10 * numbers / machine.sparse
    vectors = 12 * numbers * min(n, n_columns, 50) / machine.thin if with_vectors else 0
    search = n * n * 2.0 * n_columns / machine.products
    return ROBUST_ROUNDS * (passes + vectors) + search


def search_seconds(X: Any) -> float:
    """Of the nearest rows of each row, by all pairs."""
    n, machine = X.shape[0], probe(floating(X.dtype))
    return float(n * n * (operations_per_entry(X) / machine.products + 2e-9))


def operations_per_entry(X: Any) -> float:
    """Of an inner product of two rows."""
    return 2.0 * X.nnz / X.shape[0] if is_sparse(X) else 2.0 * X.shape[1]


def is_precomputed(kernel: Kernel) -> bool:
    """Whether X holds the values of this kernel."""
    inner = kernel.kernel if isinstance(kernel, OnColumns) else kernel
    return isinstance(inner, Precomputed)
