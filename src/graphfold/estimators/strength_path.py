"""``graph_strength="auto"``: score a path of strengths on what the fit has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.errors import GraphfoldError, UnusedGraphWarning, warn
from graphfold.estimators.fitting import Constrain, InMemory, prepare
from graphfold.graphs import Graph, GraphRecipe
from graphfold.kernels import Kernel
from graphfold.model import path
from graphfold.model.column_groups import groups_to_hide
from graphfold.model.path import StrengthPath
from graphfold.progress import stage

#: held-out columns beyond this many are a sample
MOST_TARGETS = 2000
#: columns whose largest entry is smaller, or larger than its inverse, keep their digits
TINY_ENTRY = 1e-12
#: so do columns with a spread below this share of their largest entry
FEW_DIGITS = 1e-4


def strength_path(
    estimator: Any,
    X: Any,
    labels: Array | None,
    graphs: InMemory,
    rng: np.random.Generator,
    *,
    by: str,
    constrain: Constrain | None = None,
) -> StrengthPath:
    """Scores of each strength, by columns of X or by edges of the graph left out.

    Every fold states a problem of its own, of what it may see, and solves it at all
    strengths together, as far as a score asks.
    """
    groups = groups_to_hide(X) if by == "columns" else None
    if groups is not None and groups.max() < 0:
        return _unscored(X.shape[1])
    seen = X
    if _bears_single(estimator, estimator._kernels(X)):
        seen = in_single_precision(X)
    if groups is None:
        n_folds, trials = _n_edge_folds(graphs), _edge_trials(seen, graphs, labels, rng)
    else:
        n_folds = _n_column_folds(groups)
        trials = _column_trials(X, seen, graphs, groups, rng)
    how: dict[str, Any] = {"constrain": constrain, "quiet": True}
    scores: list[list[float]] = [[] for _ in path.STRENGTHS]
    solving = rng.spawn(1)[0]  # what is held out does not depend on how it is solved
    with stage("strength path", n_folds * len(scores), "strength") as step:
        for fold, (rows, sources, score) in enumerate(trials):
            fit = prepare(estimator, rows, labels, sources, solving, **how)
            for i, vectors in fit.along(path.STRENGTHS):
                scores[i] += score(vectors)
                step(f"fold {fold + 1}, strength {path.STRENGTHS[i]:g}")
    if not scores[0]:
        _refuse_nothing_to_hold_out(X.shape[1])
    found = path.decide(path.STRENGTHS, np.array(scores), by)
    if found.chosen == 0:
        _warn_of_unused_graph(found)
    return found


def _refuse_nothing_to_hold_out(n_columns: int) -> NoReturn:
    raise GraphfoldError(
        f'graph_strength="auto" has nothing to hold out: X has {n_columns} '
        "feature(s), none to spare that varies, and no known edges; give a number"
    )


def _unscored(n_columns: int) -> StrengthPath:
    """Strength 0, with a warning: no column can be hidden from the others."""
    why = (
        "X has one column, and nothing else that would predict it"
        if n_columns == 1
        else "all columns of X determine each other, so none can be predicted fairly"
    )
    warn(
        'graph_strength="auto" chose 0, so the graph has no part in the embedding: '
        f'{why}; use graph_strength="auto-edges" to score edges instead, or give '
        "graph_strength a number to use the graph",
        UnusedGraphWarning,
    )
    scores = np.full((len(path.STRENGTHS), 1), np.nan)
    return StrengthPath(np.array(path.STRENGTHS), scores, 0.0, "columns")


def _warn_of_unused_graph(found: StrengthPath) -> None:
    best = int(np.argmax(found.mean_scores))
    gain, error = found.gains[best], found.standard_errors[best]
    why = (
        "no other strength predicts what was left out better than 0"
        if best == 0
        else f"the best other strength, {found.strengths[best]:g}, predicts what was "
        f"left out better by {gain:.2g} only, with a standard error of {error:.2g}"
    )
    warn(
        'graph_strength="auto" chose 0, so the graph has no part in the embedding: '
        f"{why} (scored by {found.scored_by}); see strength_path_, or give "
        "graph_strength a number to use the graph",
        UnusedGraphWarning,
    )


def _bears_single(estimator: Any, kernels: Mapping[str, Kernel]) -> bool:
    """Whether half of the digits of X are enough for a score.

    Not for kernel matrices, whose centring may need all, nor for what has small
    eigenvalues of its own: local kernels, responses.
    """
    plain = all(k.pointwise and not k.by_inverse for k in kernels.values())
    usual = getattr(estimator, "laplacian", "normalized") == "normalized"
    return estimator._has_rows() and plain and usual and not estimator._responses()


def in_single_precision(X: Any) -> Any:
    """X as float32, where that takes less than a thousandth of any column's spread."""
    largest = abs(X).max(axis=0)
    largest = np.asarray(largest.toarray() if sp.issparse(X) else largest).ravel()
    sizes = largest[largest > 0]
    if sizes.size and not (TINY_ENTRY < sizes.min() <= sizes.max() < 1 / TINY_ENTRY):
        return X
    if not sp.issparse(X):
        varies = X.max(axis=0) > X.min(axis=0)
        if (X.std(axis=0) < FEW_DIGITS * largest)[varies].any():
            return X
    return X.astype(np.float32, copy=False)


def _column_trials(
    X: Any, seen: Any, graphs: InMemory, groups: Array, rng: np.random.Generator
) -> Any:
    """Rows without some groups of columns, and how well an embedding foretells them.

    ``seen`` is what the embedding sees of X.
    """
    n = X.shape[0]
    row_folds = path.folds(n, min(path.N_ROW_FOLDS, n), rng)
    n_folds = _n_column_folds(groups)
    fold_of_group = path.folds(int(groups.max()) + 1, n_folds, rng)
    column_folds = np.where(groups >= 0, fold_of_group[groups], -1)
    for fold in range(n_folds):
        held = np.flatnonzero(column_folds == fold)[:MOST_TARGETS]
        targets = _standardised(X[:, held])
        if targets.shape[1] == 0:
            continue
        hidden = _hidden(seen, (column_folds == fold) | (column_folds < 0))
        yield hidden, graphs, path.HiddenColumns(targets, row_folds).foretold


def _n_column_folds(groups: Array) -> int:
    return min(path.N_COLUMN_FOLDS, int(groups.max()) + 1)


def _n_edge_folds(graphs: InMemory) -> int:
    known = [g.n_edges for g in graphs.values() if isinstance(g, Graph)]
    return min([path.N_EDGE_FOLDS, *known])


def _hidden(X: Any, columns: Array) -> Any:
    """X with some columns at 0, which tells no row from another."""
    kept = (~columns).astype(X.dtype)
    if sp.issparse(X):
        hidden = sp.csr_array(X @ sp.diags_array(kept))
        hidden.eliminate_zeros()
        return hidden
    return X * kept


def _standardised(X: Any) -> Any:
    """Columns of unit variance; constant ones are left out."""
    if sp.issparse(X):
        X = X.astype(np.float64)  # a difference of squares keeps half of the digits
        size = np.asarray(abs(X).max(axis=0).toarray()).ravel()
        X = X @ sp.diags_array(1 / np.where(size > 0, size, 1.0))
        mean = np.asarray(X.mean(axis=0)).ravel()
        squares = np.asarray(X.power(2).mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
        kept = np.flatnonzero(spread > 1e-7)  # what rounding leaves of a constant one
        return sp.csr_array(X[:, kept] @ sp.diags_array(1 / spread[kept]))
    spread = X.std(axis=0, dtype=np.float64)
    kept = spread > 1e-9 * np.abs(X).max(axis=0, initial=0.0)
    return (X[:, kept] - X[:, kept].mean(axis=0)) / spread[kept]


def _edge_trials(
    X: Any, graphs: InMemory, labels: Array | None, rng: np.random.Generator
) -> Any:
    """The graphs without some of their edges, and how well these are foretold."""
    known = {k: g for k, g in graphs.items() if isinstance(g, Graph)}
    if not known:
        return
    edges = {
        name: sp.triu(g.to_scipy(), k=1, format="coo") for name, g in known.items()
    }
    if min(part.nnz for part in edges.values()) < 2:
        return
    rows = {}
    for name, graph in known.items():
        # beside others a graph without labels is known by position
        by_label = graph.has_labels or len(graphs) == 1
        rows[name] = _rows_of_nodes(graph, labels if by_label else None)
    n_folds = _n_edge_folds(graphs)
    groups = _folds_of_pairs(edges, rows, n_folds, rng)
    for fold in range(n_folds):
        seen: dict[str, Graph | GraphRecipe] = dict(graphs)
        held: list[Array] = []
        others: list[Array] = []
        for name, part in edges.items():
            left_out = groups[name] == fold
            pairs = np.column_stack([part.row[left_out], part.col[left_out]])
            seen[name] = _without(known[name], part, left_out)
            free = path.pairs_without_edge(known[name].to_scipy(), len(pairs), rng)
            for found, kept in ((pairs, held), (free, others)):
                located = rows[name][found]
                kept.append(located[(located >= 0).all(axis=1)])

        score = partial(_edge_score, held=np.vstack(held), others=np.vstack(others))
        yield X, seen, score


def _folds_of_pairs(
    edges: dict[str, Any], rows: dict[str, Array], n_folds: int, rng: Any
) -> dict[str, Array]:
    """The fold of each edge: a pair of rows is hidden in all graphs at once."""
    keys = {}
    for name, part in edges.items():
        ends = np.sort(np.column_stack([rows[name][part.row], rows[name][part.col]]))
        keys[name] = ends[:, 0] * (2**32) + ends[:, 1]
    pairs = np.unique(np.concatenate(list(keys.values())))
    fold = path.folds(len(pairs), n_folds, rng)
    return {name: fold[np.searchsorted(pairs, own)] for name, own in keys.items()}


def _edge_score(V: Array, held: Array, others: Array) -> list[float]:
    if len(held) == 0 or len(others) == 0:
        return [0.5]  # nothing to tell apart
    return [path.foretold_edges(V, held, others)]


def _rows_of_nodes(graph: Graph, labels: Array | None) -> Array:
    """The row of X that each node is, or -1."""
    if labels is None:
        return graph.nodes  # positions, or labels that are positions
    rows = np.full(graph.n_nodes, -1)
    nodes = graph.find(labels)
    rows[nodes[nodes >= 0]] = np.flatnonzero(nodes >= 0)
    return rows


def _without(graph: Graph, edges: Any, left_out: Array) -> Graph:
    kept = ~left_out
    half = sp.coo_array(
        (edges.data[kept], (edges.row[kept], edges.col[kept])), shape=edges.shape
    )
    labels = graph.nodes if graph.has_labels else None
    return Graph._unchecked(half + half.T, labels)
