"""Warnings of a fit: what was noticed, and what to do about it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from graphfold.arrays import Array
from graphfold.errors import (
    DegenerateKernelWarning,
    DisconnectedGraphWarning,
    SignedGraphWarning,
    WeakSpectrumWarning,
)
from graphfold.graphs import Graph
from graphfold.kernels import Kernel
from graphfold.kernels.degenerate import degeneracy
from graphfold.solvers import Eigenpairs

# from here to the line of the user who called fit
_DEPTH = 4


def on_kernel(kernel: Kernel, X: Any, rng: np.random.Generator) -> None:
    """A kernel matrix that says nothing of the rows."""
    what = degeneracy(kernel, X, rng)
    if what is not None:
        warnings.warn(
            f"the kernel matrix is close to {what}, so it says nothing of the rows: "
            'use gamma="median", scale the columns of X, or another kernel',
            DegenerateKernelWarning,
            stacklevel=_DEPTH,
        )


def on_graph(graph: Graph) -> None:
    """A graph with few edges for its rows, or with negative weights."""
    isolated = int((np.diff(graph.to_scipy().indptr) == 0).sum())
    if isolated > graph.n_nodes / 2:
        warnings.warn(
            f"{isolated} of {graph.n_nodes} rows have no edge, so the kernel alone "
            "places them: check that the labels are the right ones, or add edges",
            DisconnectedGraphWarning,
            stacklevel=_DEPTH + 1,
        )
    if graph.is_signed:
        warnings.warn(
            "the graph has negative weights, so its Laplacian is not positive "
            'semi-definite: use negative="clip" or "abs" unless that is meant',
            SignedGraphWarning,
            stacklevel=_DEPTH + 1,
        )


def on_convergence(pairs: Eigenpairs) -> None:
    """A solver that stopped before the tolerance was met."""
    if not pairs.converged:
        warnings.warn(
            f"the {pairs.solver} solver stopped at a relative residual of "
            f"{pairs.residuals.max():.1e} after {pairs.n_iterations} rounds: raise "
            "max_iter or tol",
            ConvergenceWarning,
            stacklevel=_DEPTH,
        )


def on_energies(energies: Array) -> None:
    """Components without kernel energy, whose scaled columns vanish."""
    weak = int((energies <= 0).sum())
    if weak:
        warnings.warn(
            f"{weak} of {len(energies)} components carry no kernel energy, so their "
            'columns are zero: use fewer components, or scaling="orthonormal"',
            WeakSpectrumWarning,
            stacklevel=_DEPTH + 1,
        )
