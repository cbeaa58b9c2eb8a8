"""Whether to factorise a sparse M, by a look at a small copy of its graph."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu

from graphfold.arrays import small_indices
from graphfold.operators import SymmetricOperator
from graphfold.solvers.krylov import filter_degree
from graphfold.solvers.rooted import root_of
from graphfold.threads import one_blas_thread

#: rows of the small copy, which takes 20 to 140 ms
SEEDS = 1000
#: how many times as much as there is the small copy says, in the middle
TOO_MUCH = 2.0
#: seconds of a factorisation with f entries of n rows: FLOP f^2 / n; and of an entry of
#: M in a product with one column. ``python -m benchmarks.fill``
FLOP, ENTRY = 4e-10, 2e-9
#: products with a column that take as long as a factorisation may: filters need that
#: many for the bottom of T'T, and for that of a graph without thin separators
PRODUCTS_OF_ROOT, PRODUCTS = 50_000, 1_000
#: entries of factors, 12 bytes each, that fit in most memories
MOST_ENTRIES = 1.5e8
#: up to this many rows factors of T are small even where they are full
FEW = 5000


def factors_pay(M: SymmetricOperator) -> bool:
    """Whether a factorisation takes less time than the products it replaces.

    ``M`` has to be sparse. Of M = -T'T it is T that is factorised. Nothing is
    factorised to find out, but a copy of ``SEEDS`` rows.
    """
    root = root_of(M)
    matrix = M.sparse() if root is None else root
    if matrix is None:
        return False
    if root is not None and M.n <= FEW:
        return True
    fill = predicted_fill(matrix)
    products = PRODUCTS if root is None else 2 * PRODUCTS_OF_ROOT
    seconds = FLOP * fill**2 / M.n
    return fill <= MOST_ENTRIES and seconds <= products * matrix.nnz * ENTRY


def threads_for(M: SymmetricOperator) -> AbstractContextManager[Any]:
    """One thread of BLAS where products with M are sparse, else as many as allowed.

    Between sparse products BLAS sees narrow blocks only, and threads that wait for each
    other: Laplacian eigenmaps of 10,000 rows took 6 to 12 times as long with two.
    """
    return one_blas_thread() if filter_degree(M) > 1 else nullcontext()


def predicted_fill(pattern: Any) -> float:
    """About how many entries the factors of a sparse matrix will have.

    Rows go to the nearest of ``SEEDS`` rows, by steps. The graph of these parts is
    factorised, and its entries count as blocks. A separator of the parts is one of the
    rows, so what is long and thin stays sparse, and what is not fills up.
    """
    n = pattern.shape[0]
    graph = small_indices(sp.csr_array(abs(pattern)))
    graph.data[:] = 1.0
    graph = sp.csr_array(graph + graph.T)
    if n > SEEDS:
        some = np.random.default_rng(0).choice(n, SEEDS, replace=False)
        _, _, nearest = dijkstra(
            graph,
            indices=some,
            min_only=True,
            unweighted=True,
            return_predecessors=True,
        )
        _, parts = np.unique(nearest, return_inverse=True)
        P = sp.csr_array((np.ones(n), (np.arange(n), parts)))
        graph = sp.csr_array(P.T @ graph @ P)
    small = graph.shape[0]
    graph.data[:] = -1.0
    degrees = -np.asarray(graph.sum(axis=1)).ravel()
    raised = sp.csc_array(graph + sp.diags_array(2 * degrees + 1))
    factor = splu(
        raised,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    filled = float(factor.nnz)
    return filled if small == n else filled * (n / small) ** 2 / TOO_MUCH
