"""Warnings of a fit: what was noticed, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from graphfold.arrays import Array
from graphfold.errors import (
    DegenerateKernelWarning,
    DisconnectedGraphWarning,
    IndefiniteKernelWarning,
    LandmarksChosenWarning,
    SignedGraphWarning,
    WeakSpectrumWarning,
    warn,
)
from graphfold.graphs import Graph
from graphfold.kernels import Kernel
from graphfold.kernels.degenerate import degeneracy
from graphfold.model.alternate import Alternation
from graphfold.model.problem import Problem
from graphfold.model.terms import negative_part
from graphfold.solvers import Eigenpairs


def on_kernels(
    kernels: Mapping[str, Kernel],
    X: Any,
    rng: np.random.Generator,
    stored: Mapping[str, Array] | None = None,
) -> None:
    """Kernel matrices that say nothing of the rows; among several, if all of them.

    ``stored`` are the matrices that have been computed, by name.
    """
    what = None
    for name, kernel in kernels.items():
        if not kernel.pointwise:
            return  # what it says depends on the neighbours alone
        what = degeneracy(kernel, X, rng, (stored or {}).get(name))
        if what is None:
            return
    if what is not None:
        which = (
            "the kernel matrix is" if len(kernels) == 1 else "all kernel matrices are"
        )
        warn(
            f"{which} close to {what}, so nothing is said of the rows: "
            'use gamma="median", scale the columns of X, or another kernel',
            DegenerateKernelWarning,
        )


def on_chosen_landmarks(count: int, lost: float) -> None:
    """Landmarks that nobody asked for, because memory left no other way."""
    warn(
        f"max_memory leaves no room for the exact problem: {count} landmarks were "
        f"used, which do not see {lost:.1%} of the variance; raise max_memory, or say "
        "landmarks= yourself",
        LandmarksChosenWarning,
    )


def on_indefinite(problem: Problem, rng: np.random.Generator) -> None:
    """A kernel that nobody promises to be positive, and that is not."""
    for term in problem.kernels:
        found = negative_part(term, center=problem.center, rng=rng)
        if found is not None:
            several = len(problem.kernels) > 1
            remedy = (
                "its weight is the positive part of its share"
                if several
                else "only its positive part can be embedded"
            )
            warn(
                f"kernel {term.name!r} is indefinite, its eigenvalues run from "
                f"{found[0]:.3g} to {found[1]:.3g}: {remedy}; clip or shift its "
                "spectrum if that is not meant",
                IndefiniteKernelWarning,
            )


def on_graph(graph: Graph, name: str = "") -> None:
    """A graph with few edges for its rows, or with negative weights."""
    isolated = int((np.diff(graph.to_scipy().indptr) == 0).sum())
    where = f" in graph {name!r}" if name else ""
    if isolated > graph.n_nodes / 2:
        warn(
            f"{isolated} of {graph.n_nodes} rows have no edge{where}, so it says "
            "nothing of them: check that the labels are the right ones, or add edges",
            DisconnectedGraphWarning,
        )
    if graph.is_signed:
        warn(
            "the graph has negative weights, so its Laplacian is not positive "
            'semi-definite: use negative="clip" or "abs" unless that is meant',
            SignedGraphWarning,
        )


def on_convergence(pairs: Eigenpairs) -> None:
    """A solver that stopped before the tolerance was met."""
    if not pairs.converged:
        warn(
            f"the {pairs.solver} solver stopped at a relative residual of "
            f"{pairs.residuals.max():.1e} after {pairs.n_iterations} rounds: raise "
            "max_iter or tol",
            ConvergenceWarning,
        )


def on_alternation(result: Alternation) -> None:
    """Weights that were still moving when the rounds were over."""
    if not result.converged and result.n_rounds > 1:
        warn(
            f"the weights were still moving after {result.n_rounds} rounds: kernels "
            "or graphs that are nearly alike share their weight slowly; use fewer",
            ConvergenceWarning,
        )


def on_energies(energies: Array) -> None:
    """Components without kernel energy, whose scaled columns vanish."""
    weak = int((energies <= 0).sum())
    if weak:
        warn(
            f"{weak} of {len(energies)} components carry no kernel energy, so their "
            'columns are zero: use fewer components, or scaling="orthonormal"',
            WeakSpectrumWarning,
        )
