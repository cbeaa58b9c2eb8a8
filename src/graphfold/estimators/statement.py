"""The problem that an estimator's arguments state, for the rows of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.estimators import advice, rows
from graphfold.graphs import Graph, GraphRecipe, Laplacian, laplacian
from graphfold.graphs.responses import response_from
from graphfold.kernels import Kernel
from graphfold.model.plan import Plan
from graphfold.model.problem import Problem
from graphfold.model.strength import absolute_strength
from graphfold.model.terms import graph_term, kernel_term


def generator(random_state: Any) -> np.random.Generator:
    """Randomness of a fit; None is a fixed seed, so that fits repeat bit for bit."""
    if random_state is None:
        return np.random.default_rng(0)
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def graph_of_fit(
    graph: Any, labels: Array | None, X: Any, *, precomputed: bool = False
) -> tuple[GraphRecipe | None, Graph | None]:
    """The recipe, if the graph is made from X, and the graph of the rows of X."""
    if graph is None:
        return None, None
    if isinstance(graph, GraphRecipe) and precomputed:
        raise GraphfoldError(
            'graph must not be a recipe with kernel="precomputed": the rows are not '
            "known; build the graph from them, as NeighborGraph(10).build(rows)"
        )
    recipe = graph.bind(X) if isinstance(graph, GraphRecipe) else None
    if recipe is not None:
        found = recipe.build(X)
    else:
        found = rows.graph_of_rows(graph, labels, X.shape[0])
    advice.on_graph(found)
    return recipe, found


def state_problem(
    estimator: Any,
    kernel: Kernel,
    X: Any,
    graph: Graph | None,
    plan: Plan,
    how: dict[str, Any],
) -> tuple[Problem, Laplacian | None]:
    """M = K + gamma R for these rows; nothing is solved but the scale of K.

    ``how`` says how problems are solved, and learns from that where to start.
    """
    K = kernel_term(kernel, X, tiled=plan.storage == "tiled", strip=plan.strip)
    if graph is None:
        return Problem((K,), (1.0,), center=estimator.center), None
    L = laplacian(graph, estimator.laplacian)
    R = graph_term(
        L,
        response_from(estimator.response),
        n_components=estimator.n_components,
        rng=how["rng"],
        dtype=K.operator.dtype,
    )
    problem = Problem((K,), (1.0,), (R,), (1.0,), center=estimator.center)
    gamma, start = absolute_strength(
        problem,
        estimator.graph_strength,
        normalize=estimator.normalize,
        d=estimator.n_components,
        **how,
    )
    how["start"] = start
    return problem.with_gamma(gamma), L
