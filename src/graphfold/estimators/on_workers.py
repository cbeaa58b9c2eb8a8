"""Fits whose rows lie on workers: the landmark way, with nothing of n rows here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from graphfold.distributed.blocks import Tall
from graphfold.distributed.cost import plan_on_workers
from graphfold.distributed.placing import lean_extension
from graphfold.distributed.rows import (
    DistributedRows,
    column_of,
    is_distributed,
    rows_on_workers,
)
from graphfold.equal_rows import row_fingerprints, row_projections
from graphfold.errors import GraphfoldError, LandmarksChosenWarning, warn
from graphfold.estimators import advice
from graphfold.estimators.fitting import Constrain, Fit, Sources
from graphfold.estimators.landmarks import (
    Landmarks,
    bound_landmarks,
    check_kernels,
    check_landmarks,
    choice_of,
    given_rows,
    n_landmarks,
)
from graphfold.estimators.links_on_workers import read_links_on_workers
from graphfold.estimators.modes_on_workers import (
    fit_modes_on_workers,
    transform_modes_on_workers,
)
from graphfold.estimators.placing_on_workers import place_rows, transform_in_blocks
from graphfold.estimators.rows import has_labels, labels_of_rows
from graphfold.estimators.starting_weights import check_weights
from graphfold.estimators.statement_on_workers import (
    graph_on_workers,
    shares_on_workers,
    state_on_workers,
)
from graphfold.graphs import GraphRecipe
from graphfold.kernels.names import bind_all
from graphfold.model.landmarks import (
    CANDIDATES,
    Chosen,
    best_candidates,
    centres_of,
)
from graphfold.model.memory import N_PROBES
from graphfold.model.plan import MOST_LANDMARKS, Plan
from graphfold.progress import say

_UNSUPPORTED = {
    "fit_inverse_transform": (False, "the way back is learned from rows in memory"),
    "align_to": (None, "axes are turned where the embedding is in memory"),
    "max_memory": (None, "workers have a memory_limit of their own"),
}


def read_blocks(estimator: Any, X: Any, *, reset: bool) -> DistributedRows:
    """X as blocks of rows on workers; at fit its columns are remembered."""
    rows = rows_on_workers(X, least=2 if reset else 1, keep=reset)
    shown = X._meta if hasattr(X, "columns") else np.empty((1, rows.shape[1]))
    validate_data(estimator, shown, reset=reset, skip_check_array=True)
    return rows


def labels_on_workers(X: DistributedRows, node_ids: Any, *, keyed: bool) -> Any:
    """Labels of the rows: ``node_ids``, or the index of a table where it counts."""
    if node_ids is not None:
        return column_of(node_ids, X, "node_ids")
    return X.index if keyed else None


def fit_on_workers(
    estimator: Any,
    X: DistributedRows,
    labels: Tall | None,
    graphs: Sources,
    rng: np.random.Generator,
    constrain: Constrain | None = None,
) -> None:
    """Solve for rows on workers, and keep what was found."""
    _check(estimator, X)
    check_weights(estimator, estimator._kernels(X), graphs)
    X = X.held()
    labels = None if labels is None else labels.held("labels")
    seed = int(rng.integers(2**31))
    fitted = {
        name: graph_on_workers(name, source, X, labels, seed, alone=len(graphs) < 2)
        for name, source in graphs.items()
    }
    landmarks = _landmarks(estimator, X, labels, rng, seed)
    plan = plan_on_workers(estimator, X.shape, len(landmarks), graph=bool(graphs))
    say("plan:", plan)
    how = {"solver": "auto", "tol": estimator._tolerance()}
    how |= {"max_iter": estimator.max_iter, "rng": rng}
    statement = state_on_workers(estimator, X, landmarks, fitted, how, seed)
    problem = statement.problem if constrain is None else constrain(statement)
    say(problem.with_gamma(statement.unit))
    fit = Fit(
        estimator,
        X,
        landmarks.kernels,
        {name: graph.source for name, graph in fitted.items()},
        fitted,  # type: ignore[arg-type]
        plan,
        statement,
        problem,
        how,
        landmarks,
        refine=False,
        shares_of_graphs=shares_on_workers,
    )
    strength = float(estimator.graph_strength)
    result = fit.at(strength)
    advice.on_alternation(result)
    estimator._keep(fit, result, labels)
    _keep_rows(estimator, X, labels, graphs)
    estimator.graph_strength_ = strength if graphs else 0.0


def _keep_rows(
    estimator: Any, X: DistributedRows, labels: Tall | None, graphs: Sources
) -> None:
    """What tells new rows which of the rows they are, and whom they are near."""
    recipes = any(isinstance(source, GraphRecipe) for source in graphs.values())
    estimator._X_fit, estimator._row_keys = X if recipes else None, None
    by_content = estimator._knows_rows_by_content()
    estimator._row_marks = estimator._row_prints = None
    if by_content or labels is not None:
        estimator._row_marks = X.blocks.map(row_projections).held("marks of the rows")
    if by_content:
        estimator._row_prints = X.blocks.map(row_fingerprints).held("marks of the rows")


def transform_on_workers(estimator: Any, X: Any, node_ids: Any, edges: Any) -> Any:
    """Place rows where either they or those of the fit lie on workers.

    Of rows in memory the places come back in memory.
    """
    in_memory = not is_distributed(X)
    if in_memory:
        keys = estimator._label_keys()
        node_ids = labels_of_rows(X, node_ids, keys, np.shape(X)[0])
        X = _as_collection(X)
    rows = read_blocks(estimator, X, reset=False)
    keyed = has_labels(estimator._label_keys())
    labels = labels_on_workers(rows, node_ids, keyed=keyed)
    if not estimator._lies_on_workers():
        if edges is not None:
            raise GraphfoldError(
                "edges must be None where X is of Dask's and the fit was in memory"
            )
        return transform_in_blocks(estimator, rows, labels)
    placed = place_rows(estimator, rows, labels, edges)
    return placed.compute() if in_memory else placed


def plan_of_collection(estimator: Any, X: Any) -> Plan:
    """What fitting a collection of Dask's would do; nothing of it is computed."""
    shape = getattr(X, "shape", (np.nan, np.nan))
    if not all(isinstance(n, Integral) for n in shape):
        raise GraphfoldError(
            "X must have known chunk sizes for a plan: call X.compute_chunk_sizes(), "
            "or to_dask_array(lengths=True) of a dask.dataframe"
        )
    m = n_landmarks(estimator) or min(MOST_LANDMARKS, int(shape[0]))
    graph = bool(estimator._graphs())
    return plan_on_workers(estimator, (int(shape[0]), int(shape[1])), m, graph=graph)


#: attributes of a fit that are rows on workers, or know them
_OF_ROWS = ("embedding_", "eigenvectors_", "mode_contributions_", "graph_")


def without_rows(state: dict[str, Any]) -> dict[str, Any]:
    """What a fit leaves behind, but for rows on workers: a rule for features."""
    kept = {name: value for name, value in state.items() if name not in _OF_ROWS}
    kept["_extension"] = replace(lean_extension(state["_extension"]), graphs=())
    kept |= dict.fromkeys(("_X_fit", "_row_marks", "_row_prints", "_row_keys"))
    kept |= {"_fit_labels": None, "_row_labels": None, "_sources": {}}
    return kept


def _as_collection(X: Any) -> Any:
    """A table in memory as one of Dask's, in one chunk."""
    import dask.array as da

    if hasattr(X, "iloc"):
        import dask.dataframe as dd

        return dd.from_pandas(X, npartitions=1, sort=False)
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    return da.from_array(X, chunks=X.shape, asarray=False)


def _check(estimator: Any, X: DistributedRows) -> None:
    """What cannot be had where rows lie on workers is said before any work."""
    if estimator.landmarks is not None:
        check_landmarks(estimator, X.shape[0], None)
    if estimator.refine is True:
        raise GraphfoldError(
            'refine must be "auto" or False where X is of Dask\'s: refining needs '
            "vectors of n numbers here"
        )
    if isinstance(estimator.graph_strength, str):
        raise GraphfoldError(
            "graph_strength must be a number where X is of Dask's; got "
            f"{estimator.graph_strength!r}: choose it on a sample of the rows in "
            "memory, and pass what strength_path_.chosen says"
        )
    for name, (value, why) in _UNSUPPORTED.items():
        came = getattr(estimator, name, value)
        if came is not value and came != value:
            raise GraphfoldError(
                f"{name} must be {value} where X is of Dask's: {why}; got {came!r}"
            )


# -- landmarks ------------------------------------------------------------------------


def _landmarks(
    estimator: Any,
    X: DistributedRows,
    labels: Tall | None,
    rng: np.random.Generator,
    seed: int,
) -> Landmarks:
    """Landmarks as a fit in memory would choose them, and the features they give."""
    kernels = estimator._kernels(X)
    check_kernels(estimator, kernels)
    asked, count = estimator.landmarks, n_landmarks(estimator)
    if asked is None:
        count = min(MOST_LANDMARKS, X.shape[0])
    probes, _ = X.smallest_ranks(min(N_PROBES, X.shape[0]), seed + 1)
    if asked is not None and np.ndim(asked) == 2:
        rows = given_rows(asked, probes, getattr(estimator, "feature_names_in_", None))
        chosen = Chosen(rows, rows)
    elif asked is not None and np.ndim(asked) == 1:
        raise GraphfoldError(
            "landmarks must be a number, or rows of their own, where X is of Dask's; "
            "got a list of labels: pass the rows that they name"
        )
    else:
        assert count is not None
        how = choice_of(estimator, kernels)
        chosen = _chosen(X, count, how, kernels, seed, rng)
    bound = bind_all(kernels, chosen.typical, rng)
    landmarks = bound_landmarks(estimator, bound, chosen.rows, probes)
    advice.on_kernels(landmarks.kernels, probes, rng)
    if asked is None:
        warn(
            f"{len(landmarks)} landmarks were used, since X is of Dask's; they do not "
            f"see {landmarks.lost:.1%} of the variance: say landmarks= yourself",
            LandmarksChosenWarning,
        )
    return landmarks


def _chosen(
    X: DistributedRows,
    count: int,
    how: str,
    kernels: Mapping[str, Any],
    seed: int,
    rng: np.random.Generator,
) -> Chosen:
    """What a fit in memory would choose, of candidates that are brought here."""
    wanted = count if how == "uniform" else CANDIDATES * count
    rows, _ = X.smallest_ranks(wanted, seed)
    if how == "k-means":
        return centres_of(rows, count)
    if rows.shape[0] > count:
        best = best_candidates(rows, count, how, list(kernels.values()), rng, seed)
        rows = rows[np.unique(best)]
    return Chosen(rows, rows)


__all__ = [
    "fit_modes_on_workers",
    "fit_on_workers",
    "labels_on_workers",
    "plan_of_collection",
    "read_blocks",
    "read_links_on_workers",
    "transform_modes_on_workers",
    "transform_on_workers",
    "without_rows",
]
