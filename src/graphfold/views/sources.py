"""Embeddings of the same rows, and what estimators know of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from graphfold.arrays import Array
from graphfold.check import refuse_odd_columns, refuse_other_objects, some_of
from graphfold.errors import GraphfoldError
from graphfold.graphs import Graph
from graphfold.graphs.labels import as_labels, first_duplicate, index_of

#: what ``view`` takes
_EMBEDDINGS = "a fitted estimator, an array of numbers, a table, or a dict of them"


@dataclass(frozen=True)
class Source:
    """One embedding: its name, coordinates, labels of the rows, and the estimator."""

    name: str
    Z: Array
    labels: Array | None = None
    model: Any = None
    axes: list[str] | None = None

    @property
    def graphs(self) -> dict[str, Graph]:
        """The graphs of the rows that the estimator was fitted with, by name."""
        graph = getattr(self.model, "graph_", None)
        if isinstance(graph, Mapping):
            return {str(name): part for name, part in graph.items()}
        names = getattr(self.model, "graph_names_", ())
        return {} if graph is None else {names[0] if names else "graph": graph}


def read_sources(embedding: Any) -> list[Source]:
    """The embeddings meant by the first argument of ``view``: one, or several."""
    if isinstance(embedding, Mapping):
        named = {str(name): part for name, part in embedding.items()}
        if not named:
            raise GraphfoldError("embedding must hold at least one embedding; got none")
    else:
        named = {"": embedding}
    sources = [_read(name, part) for name, part in named.items()]
    counts = {source.name: len(source.Z) for source in sources}
    if len(set(counts.values())) > 1:
        raise GraphfoldError(
            f"embedding must hold the same rows in every part; got {counts} rows"
        )
    _refuse_other_order(sources)
    return sources


def row_ids(ids: Any, sources: list[Source], n: int) -> Array | None:
    """Names of the rows: those given, else those that an embedding has, else None."""
    if ids is None:
        known = [source.labels for source in sources if source.labels is not None]
        if not known:
            return None
        labels = known[0]
    else:
        labels = as_labels(ids)
    if len(labels) != n:
        raise GraphfoldError(
            f"ids must have one label for each of the {n} rows; got {len(labels)}"
        )
    repeated = first_duplicate(labels)
    if repeated is not None:
        raise GraphfoldError(f"ids must be distinct; {repeated!r} occurs twice")
    return labels


def places(Z: Array) -> Array:
    """Columns from -1 to 1, at least two of them: four bytes a number are enough."""
    Z = Z / (np.abs(Z).max() or 1.0)
    middle = (Z.max(axis=0) + Z.min(axis=0)) / 2
    half = (Z.max(axis=0) - Z.min(axis=0)) / 2
    unit = (Z - middle) / np.where(half > 0, half, 1.0)
    return unit if unit.shape[1] > 1 else np.column_stack([unit, 0 * unit])


def shown_names(labels: Array) -> list[Any]:
    """Names as the page shows them: numbers it can count exactly, or text."""
    if labels.dtype.kind in "mM":
        return labels.astype(str).tolist()
    return [
        value if isinstance(value, int) and abs(value) < 2**53 else str(value)
        for value in labels.tolist()
    ]


def can_be_paired(labels: Array) -> bool:
    """Whether pairs written by the page would name these rows again."""
    if labels.dtype == object:
        return all(isinstance(value, int | str) for value in labels.tolist())
    return labels.dtype.kind in "iuU"


def _read(name: str, part: Any) -> Source:
    if isinstance(part, BaseEstimator):
        return _of_estimator(name or type(part).__name__, part)
    labels, axes = None, None
    if hasattr(part, "columns"):
        axes = [str(column) for column in part.columns]
        index = index_of(part)
        labels = None if index is None else as_labels(index)
    return Source(name, _coordinates(part), labels, axes=axes)


def _of_estimator(name: str, model: Any) -> Source:
    if not hasattr(model, "embedding_"):
        raise NotFittedError(
            f"embedding must be a fitted estimator; this {type(model).__name__} has no "
            "embedding_: call fit first, or pass what its transform returns"
        )
    labels = getattr(model, "_row_labels", None)
    if labels is None:
        labels = getattr(model, "_fit_labels", None)
    return Source(name, _coordinates(model.embedding_), labels, model)


def _coordinates(values: Any) -> Array:
    refuse_other_objects("embedding", values, _EMBEDDINGS)
    refuse_odd_columns("embedding", values)
    try:
        Z = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise GraphfoldError(
            f"embedding must be {_EMBEDDINGS}; got {type(values).__name__}"
        ) from None
    if Z.ndim != 2 or 0 in Z.shape:
        raise GraphfoldError(
            f"embedding must have rows and columns; got shape {Z.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(Z).all(axis=1))
    if len(bad):
        raise GraphfoldError(
            f"embedding must be finite; rows {some_of(bad.tolist())} are not"
        )
    return Z


def _refuse_other_order(sources: list[Source]) -> None:
    known = [(s.name, s.labels) for s in sources if s.labels is not None]
    for name, labels in known[1:]:
        if not np.array_equal(known[0][1], labels):
            raise GraphfoldError(
                "embedding must have the same rows in the same order in every part; "
                f"{known[0][0]!r} and {name!r} have other labels"
            )
