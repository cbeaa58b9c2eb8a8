"""What a plan needs to know of an estimator: its graphs, its tables, its modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import scipy.sparse as sp
from sklearn.base import clone

from graphfold.estimators.mode_tables import CATEGORICAL, tables_of
from graphfold.estimators.modes import encode_modes, learn_mode
from graphfold.graphs import Graph, GraphRecipe
from graphfold.model import memory, speed
from graphfold.model.plan import Plan, too_small
from graphfold.model.preimage import MOST_ROWS
from graphfold.model.terms import LARGEST_BASIS


def known_edges(graph: Any, n: int) -> int:
    """Entries of the matrices of a graph, or of several, as far as they can be told.

    Nothing is built or parsed: of a recipe it is what its number of neighbours says.
    """
    if isinstance(graph, Graph):
        return int(graph.to_scipy().nnz)
    if sp.issparse(graph):
        return int(graph.nnz)
    if isinstance(graph, GraphRecipe):
        count = getattr(graph, "n_neighbors", None)
        return 2 * n * int(count) if isinstance(count, Integral) else 0
    if isinstance(graph, Mapping):
        graph = list(graph.values())
    if isinstance(graph, list | tuple):
        kinds = (Graph, GraphRecipe)
        known = (g for g in graph if isinstance(g, kinds) or sp.issparse(g))
        return sum(known_edges(one, n) for one in known)
    return 0


def n_bases(estimator: Any, n: int) -> int:
    """How many graphs may need their whole eigenbasis, for what their responses ask.

    Polynomials serve most responses, but which do is known after the graphs are.
    """
    if estimator.response is None or n > LARGEST_BASIS:
        return 0
    graphs = getattr(estimator, "_modes", None) or getattr(estimator, "graph", None)
    if isinstance(graphs, list | tuple | dict):
        return len(graphs)
    return int(graphs is not None)


def rows_back(estimator: Any) -> int:
    """Rows of a landmark fit that the way back from the embedding is learned from."""
    return MOST_ROWS if getattr(estimator, "fit_inverse_transform", False) else 0


def has_recipe(graph: Any) -> bool:
    """Whether a graph of the constructor, or one of several, is built from X."""
    listed = list(graph.values()) if isinstance(graph, dict) else graph
    listed = listed if isinstance(listed, list | tuple) else [listed]
    return any(isinstance(one, GraphRecipe) for one in listed)


def n_recipes(graphs: Mapping[str, Any]) -> int:
    """How many of the graphs are built from X, by a search for neighbours."""
    return sum(isinstance(graph, GraphRecipe) for graph in graphs.values())


def with_searches(plan: Plan, X: Any, count: int) -> Plan:
    """A plan with the seconds of so many searches for neighbours added."""
    if not count:
        return plan
    return replace(plan, seconds=plan.seconds + count * speed.search_seconds(X))


def table_plan(
    X: Any,
    d: int,
    *,
    method: str,
    max_memory: int | None,
    n_edges: int = 0,
    timed: bool = False,
) -> Plan:
    """The plan of a method that has no kernel and holds copies of the table."""
    peak = memory.table_bytes(X, method) + 3 * memory.EDGE * n_edges
    vectors = method == "admm"
    seconds = speed.robust_seconds(X, with_vectors=vectors) if timed else 0.0
    reason = "singular vectors in each round" if vectors else "gradients alone"
    plan = Plan(X.shape[0], d, "table", method, reason, 0, peak, seconds)
    if max_memory is not None and peak > max_memory:
        raise too_small(max_memory, plan, "by the only way there is")
    return plan


def plan_of_modes(estimator: Any, X: Any) -> Plan:
    """What fitting X would do and cost: its tables are read, nothing is solved.

    Parameters
    ----------
    X : table of shape (n, n_features), or dict of tables

    Returns
    -------
    Plan

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import MultiModalGraphEmbedding
    >>> model = MultiModalGraphEmbedding(2, modes=2)
    >>> model.plan(np.random.default_rng(0).random((300, 8))).storage
    'none'
    """
    model = clone(estimator)
    X = model._check_input(X, reset=True)
    tables, _ = tables_of(X, model.modes, model.block_size, model.overlap, None)
    learned = [learn_mode(k, table, columns) for k, (table, columns) in tables.items()]
    model._modes = sorted(learned, key=lambda mode: mode.kind == CATEGORICAL)
    _, encoded = encode_modes(model._modes, {k: t for k, (t, _) in tables.items()})
    plan = model._plan(model._kernels(encoded), encoded, timed=True)
    return with_searches(plan, encoded, len(learned))
