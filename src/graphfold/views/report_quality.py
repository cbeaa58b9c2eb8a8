"""The quality table of a report: neighbours, links, classes, convergence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from graphfold.arrays import Array, are_missing
from graphfold.errors import GraphfoldError
from graphfold.quality import (
    clustering_error,
    edge_overlap,
    neighbor_overlap,
    trustworthiness,
)
from graphfold.views.columns import MOST_CLASSES

#: rows that classes are looked at in; more are sampled
MANY = 5_000
N_NEAREST, N_FOLDS = 5, 5
#: starts of k-means up to FEW rows, and beyond
FEW, STARTS, STARTS_BEYOND = 2_000, 10, 3
#: columns that are judged; the others are named
MOST_COLUMNS = 4
#: classes of a column that is judged, and rows that a class must have on average
MOST_JUDGED, ROWS_OF_A_CLASS = 50, 5
#: names in a note; how many more there are is said
LISTED = 20


class Quality(NamedTuple):
    """The rows of the table, the trust of each row of X, and what was left out."""

    table: list[dict[str, Any]]
    trust: Array | None
    notes: list[str]


def quality_of(
    model: Any,
    Z: Array,
    *,
    X: Any,
    labels: Any,
    n_neighbors: int,
    trust: Any,
    overlap: Any,
) -> Quality:
    """How good an embedding is, in rows of a name, a number and what it says.

    ``share`` marks numbers between 0 and 1, which can be drawn as bars; ``better`` says
    which end is good.
    """
    notes: list[str] = []
    if np.isfinite(Z).all():
        trust, overlap = _neighbours(X, Z, n_neighbors, trust, overlap, notes)
        table = [
            *_of_neighbours(trust, overlap, n_neighbors, len(Z)),
            *_of_graphs(model, Z, n_neighbors),
            *_of_classes(labels, Z, notes),
        ]
    else:
        table = []
        notes.append("the embedding is not finite, so no quality was measured")
    table += list(_of_the_fit(model))
    return Quality(table, None if trust is None else np.asarray(trust), notes)


# -- neighbours --------------------------------------------------------------------


def _neighbours(
    X: Any, Z: Array, k: int, trust: Any, overlap: Any, notes: list[str]
) -> tuple[Any, Any]:
    """Trust and overlap of each row: given, measured, or None where they cannot be."""
    n = len(Z)
    if X is None or isinstance(X, Mapping) or (n - 1) // 2 < 1:
        return trust, overlap
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != n:
        raise GraphfoldError(
            f"X must have a row for each of the {n} rows of the embedding; got {rows}"
        )
    try:
        if trust is None:
            trust = trustworthiness(X, Z, min(k, (n - 1) // 2))
        if overlap is None:
            overlap = neighbor_overlap(X, Z, min(k, n - 1))
    except GraphfoldError as error:  # a table that has no distances: texts, NaN
        notes.append(f"neighbours in X were not looked at: {error}")
    return trust, overlap


def _of_neighbours(
    trust: Any, overlap: Any, k: int, n: int
) -> Iterator[dict[str, Any]]:
    near = min(k, n - 1)
    if trust is not None:
        yield _row("trustworthiness", np.mean(trust), "near in the map is near in X")
    if overlap is not None:
        note = f"of {near} nearest; {near / (n - 1):.2g} by chance"
        yield _row("neighbours kept", np.mean(overlap), note)


def _of_graphs(model: Any, Z: Array, k: int) -> Iterator[dict[str, Any]]:
    graphs = getattr(model, "graph_", None)
    if graphs is None:
        return
    several = isinstance(graphs, Mapping)
    for name, graph in (graphs if several else {"": graphs}).items():
        if getattr(graph, "n_nodes", None) != len(Z) or graph.n_edges == 0:
            continue
        labels = graph.nodes if graph.has_labels else None
        shares = edge_overlap(graph, Z, min(k, len(Z) - 1), node_ids=labels)
        if np.isfinite(shares).any():
            title = f"links kept, {name}" if several else "links kept"
            yield _row(title, np.nanmean(shares), "linked rows that are near")


# -- classes -----------------------------------------------------------------------


def _of_classes(labels: Any, Z: Array, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Two rows for each of the first columns of classes; notes name the others."""
    judged = 0
    crowded: list[str] = []
    further: list[str] = []
    for name, column in _columns(labels).items():
        if len(column) != len(Z):
            raise GraphfoldError(
                f"labels must have one entry for each of the {len(Z)} rows of the "
                f"embedding; got {len(column)}"
            )
        codes = class_codes(column)
        if codes is None:
            continue
        sizes = np.bincount(codes[codes >= 0])
        if np.count_nonzero(sizes > 1) < 2:
            continue
        if len(sizes) > min(MOST_JUDGED, sizes.sum() / ROWS_OF_A_CLASS):
            crowded.append(name or "labels")
        elif judged == MOST_COLUMNS:
            further.append(name)
        else:
            of = f", {name}" if name else ""
            found = list(_of_one_column(codes, Z, of))
            judged += bool(found)
            yield from found
    if crowded:
        notes.append(
            f"classes were not judged where they are more than {MOST_JUDGED} or have "
            f"fewer than {ROWS_OF_A_CLASS} rows on average: {_listed(crowded)}"
        )
    if further:
        notes.append(
            f"the first {MOST_COLUMNS} columns of classes were judged, but not "
            f"{_listed(further)}"
        )


def _of_one_column(codes: Array, Z: Array, of: str) -> Iterator[dict[str, Any]]:
    rows, where = _of_several_rows(codes, np.flatnonzero(codes >= 0)), ""
    if len(rows) > MANY:
        rows = np.sort(np.random.default_rng(0).choice(rows, MANY, replace=False))
        rows = _of_several_rows(codes, rows)
        where = f", in a sample of {len(rows):,} rows"
    Z = Z[rows]
    _, y, counts = np.unique(codes[rows], return_inverse=True, return_counts=True)
    if len(counts) < 2:  # nearly all rows are of one class, and so is the sample
        return
    folds = StratifiedKFold(min(N_FOLDS, counts.min()), shuffle=True, random_state=0)
    # no score of single folds: of small ones scikit-learn may warn
    guessed = cross_val_predict(KNeighborsClassifier(N_NEAREST), Z, y, cv=folds)
    note = f"{counts.max() / counts.sum():.2f} by the largest class{where}"
    yield _row(f"{N_NEAREST}-NN accuracy{of}", np.mean(guessed == y), note)
    starts = STARTS if len(Z) <= FEW else STARTS_BEYOND
    with warnings.catch_warnings():
        # rows in fewer places than there are classes make fewer clusters, which count
        warnings.simplefilter("ignore", ConvergenceWarning)
        k_means = KMeans(len(counts), n_init=starts, random_state=0)
        clusters = k_means.fit_predict(Z)
    note = f"k-means, {len(np.unique(clusters))} clusters{where}"
    error = clustering_error(y, clusters)
    yield _row(f"clustering error{of}", error, note, better="lower")


def _of_several_rows(codes: Array, rows: Array) -> Array:
    """Without the rows that are alone in their class: nothing foretells them."""
    return rows[np.bincount(codes[rows])[codes[rows]] > 1]


def _listed(names: list[str]) -> str:
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _columns(labels: Any) -> dict[str, Any]:
    """Columns of labels by name; one without a name has the empty one."""
    if labels is None:
        return {}
    if isinstance(labels, Mapping) or hasattr(labels, "columns"):
        names = labels.columns if hasattr(labels, "columns") else labels
        return {str(name): labels[name] for name in names}
    return {str(getattr(labels, "name", None) or ""): labels}


def class_codes(column: Any) -> Array | None:
    """Codes of classes, -1 where unknown; None for what is no column of classes.

    Texts and booleans are classes, and so are whole numbers of few kinds.

    Examples
    --------
    >>> from graphfold.views.report_quality import class_codes
    >>> class_codes(["a", "b", None, "a", "b"]).tolist()
    [0, 1, -1, 0, 1]
    >>> class_codes([0.5, 1.5, 2.5, 3.5]) is None
    True
    """
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.ndim != 1:
        return None
    if values.dtype.kind in "OUS":
        known = ~are_missing(values)
    elif values.dtype.kind == "f":
        known = np.isfinite(values)
    else:
        known = np.ones(len(values), dtype=bool)
    listed = values[known]
    if listed.dtype.kind == "O":
        listed = np.array([str(v) for v in listed.tolist()])
    kinds, codes = np.unique(listed, return_inverse=True)
    if len(kinds) < 2 or len(kinds) > len(listed) / 2:
        return None
    found = np.full(len(values), -1)
    found[known] = codes
    if kinds.dtype.kind in "iuf":
        if (kinds % 1 != 0).any() or len(kinds) > MOST_CLASSES:
            return None
        if len(kinds) > 2 and kinds[0] == -1:  # as in scikit-learn: unknown
            found = np.where(found == 0, -1, found - 1)
            found[~known] = -1
    return found


# -- the fit itself ------------------------------------------------------------------


def _of_the_fit(model: Any) -> Iterator[dict[str, Any]]:
    explained = getattr(model, "explained_variance_ratio_", None)
    if explained is not None:
        note = f"of the kernel, {len(explained)} components"
        yield _row("explained variance", np.sum(explained), note)
    error = getattr(model, "landmark_error_", None)
    if error is not None:
        note = "variance that they do not see"
        yield _row("landmark error", error, note, better="lower")
    residuals = getattr(model, "residuals_", None)
    residual = getattr(model, "optimality_residual_", None)
    if residual is None and residuals is not None:
        residual = np.max(residuals, initial=0.0)
    if residual is not None:
        converged = bool(getattr(model, "converged_", True))
        row = _row(
            "residual",
            residual,
            "converged" if converged else "not converged",
            better="lower",
        )
        yield row | {"share": False, "text": f"{residual:.1e}", "good": converged}


def _row(name: str, value: Any, note: str, *, better: str = "higher") -> dict[str, Any]:
    return {
        "name": name,
        "value": float(value),
        "text": f"{value:.3f}",
        "share": True,
        "better": better,
        "note": note,
    }
