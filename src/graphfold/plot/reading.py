"""What a figure is made from: a fitted estimator, a table, or an array."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from graphfold.arrays import Array
from graphfold.check import some_of
from graphfold.errors import GraphfoldError
from graphfold.graphs.labels import as_labels, index_of


class Rows(NamedTuple):
    """Coordinates, labels of the rows if they have any, and a name for each column."""

    Z: Array
    names: Array | None
    axes: list[str]


def is_estimator(thing: Any) -> bool:
    """Whether it is an estimator and not its embedding."""
    return hasattr(thing, "fit") and hasattr(thing, "get_params")


def fitted(estimator: Any) -> Any:
    """The estimator that was fitted: the last of a Pipeline, the best of a search."""
    if not is_estimator(estimator):
        raise GraphfoldError(
            "estimator must be a fitted estimator; got "
            f"{type(estimator).__name__}: pass arrays to the class or function itself"
        )
    while True:
        try:
            check_is_fitted(estimator)
        except NotFittedError:
            raise NotFittedError(
                f"estimator must be fitted; this {type(estimator).__name__} is not: "
                "call fit first"
            ) from None
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator


def rows_of(model_or_Z: Any) -> Rows:
    """Rows of an embedding, or those an estimator was fitted to."""
    if is_estimator(model_or_Z):
        return rows_of_estimator(fitted(model_or_Z))
    Z, axes = model_or_Z, None
    columns = getattr(Z, "columns", None)
    if columns is not None and any(isinstance(name, str) for name in columns):
        axes = [str(name) for name in columns]
    index = index_of(Z)
    names = None if index is None else as_labels(index)
    Z = coordinates(Z)
    return Rows(Z, names, axes or [f"component {k + 1}" for k in range(Z.shape[1])])


def rows_of_estimator(model: Any) -> Rows:
    """The embedding that a fitted estimator keeps, its axes with what they explain."""
    Z = getattr(model, "embedding_", None)
    if Z is None:
        raise GraphfoldError(
            f"model must have an embedding_; this {type(model).__name__} has none: "
            "pass what its transform returns"
        )
    Z = coordinates(Z)
    axes = [f"component {k + 1}" for k in range(Z.shape[1])]
    ratios = getattr(model, "explained_variance_ratio_", None)
    if ratios is not None:
        axes = [f"{a} ({percent(r)})" for a, r in zip(axes, ratios, strict=True)]
    return Rows(Z, row_names(model), axes)


def row_names(model: Any) -> Array | None:
    """Labels of the rows that an estimator was fitted to."""
    names = getattr(model, "_row_labels", None)
    return getattr(model, "_fit_labels", None) if names is None else names


def percent(share: float) -> str:
    """A share as people say it: 12 %, and 0.4 % rather than 0 %."""
    value = 100 * float(share)
    return f"{value:.0f} %" if abs(value) >= 1 or value == 0 else f"{value:.1g} %"


def coordinates(values: Any) -> Array:
    """Rows and columns of finite numbers."""
    try:
        Z = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise GraphfoldError(
            "model_or_Z must be a fitted estimator, or an array or table of numbers; "
            f"got {type(values).__name__}"
        ) from None
    if Z.ndim != 2 or len(Z) == 0:
        raise GraphfoldError(
            f"model_or_Z must have rows and columns; got shape {Z.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(Z).all(axis=1))
    if len(bad):
        raise GraphfoldError(
            f"model_or_Z must be finite; rows {some_of(bad.tolist())} are not: leave "
            "them out"
        )
    return Z


def two_columns(rows: Rows, components: Any) -> tuple[Array, str, str]:
    """The columns that are drawn, and their names."""
    d = rows.Z.shape[1]
    if d < 2:
        raise GraphfoldError(
            "model_or_Z must have at least two columns; got shape "
            f"{rows.Z.shape}: use n_components=2 or more"
        )
    try:
        one, other = (int(part) for part in components)
        exact = [one, other] == list(components)
    except (TypeError, ValueError):
        exact = False
    if not exact or not (0 <= one < d and 0 <= other < d):
        raise GraphfoldError(
            f"components must be two column numbers between 0 and {d - 1}; "
            f"got {components!r}"
        )
    return rows.Z[:, [one, other]], rows.axes[one], rows.axes[other]
