"""What points are coloured by, searched for, and shown with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.views.packing import Blocks, smallest_unsigned

MOST_CLASSES = 40  # whole numbers with more values than this are a scale
MOST_CATEGORIES = 500  # strings with more values than this are text: shown, searched


def named_columns(labels: Any, n: int) -> dict[str, Array]:
    """The columns meant by ``labels=``: one, a dict, or the columns of a table."""
    if labels is None:
        return {}
    if hasattr(labels, "columns") and hasattr(labels, "__getitem__"):
        labels = {str(name): labels[name] for name in labels.columns}
    elif not isinstance(labels, Mapping):
        name = getattr(labels, "name", None)
        labels = {"label" if name is None else str(name): labels}
    found = {str(name): _values(values) for name, values in labels.items()}
    for name, values in found.items():
        if values.ndim != 1 or len(values) != n:
            raise GraphfoldError(
                f"labels must have one value for each of the {n} rows; "
                f"{name!r} has shape {values.shape}"
            )
    return found


def strings(name: str, values: Any, n: int) -> list[str]:
    """One string a row, as ``text=`` gives them; what is missing is empty."""
    listed = _values(values)
    if listed.ndim != 1 or len(listed) != n:
        raise GraphfoldError(
            f"{name} must have one string for each of the {n} rows; "
            f"got shape {listed.shape}"
        )
    return ["" if _is_missing(value) else str(value) for value in listed.tolist()]


def pack_column(name: str, values: Array, blocks: Blocks) -> dict[str, Any]:
    """A column as the page reads it: classes, numbers on a scale, or text."""
    if values.dtype.kind in "iufb" and not _counts_as_classes(values):
        return number_column(name, [values], blocks)
    if values.dtype.kind == "f":  # classes with NaN among them
        values = np.array(
            [None if np.isnan(v) else int(v) for v in values], dtype=object
        )
    missing = np.array([_is_missing(value) for value in values.tolist()], dtype=bool)
    classes, codes = _classes(values, missing)
    if len(classes) > MOST_CATEGORIES:
        listed = strings(name, values, len(values))
        return {"name": name, "kind": "text", "block": blocks.add_list(listed)}
    kind = smallest_unsigned(len(classes))
    return {
        "name": name,
        "kind": "category",
        "categories": [str(value) for value in classes],
        "block": blocks.add(codes, kind),  # the last code, one past them, is missing
    }


def number_column(
    name: str, values: list[Array], blocks: Blocks, about: str = ""
) -> dict[str, Any]:
    """Numbers on a scale: one array for all views, or one for each."""
    known = np.concatenate([part[np.isfinite(part)] for part in values]).astype(float)
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    return {
        "name": name,
        "kind": "number",
        "blocks": [blocks.add(part, "f4") for part in values],
        "low": low,
        "high": high,
        "whole": all(part.dtype.kind in "iu" for part in values),
        "about": about,
    }


def _counts_as_classes(values: Array) -> bool:
    if values.dtype.kind == "b":
        return True
    known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    if values.dtype.kind == "f" and (known != np.round(known)).any():
        return False
    return len(np.unique(known)) <= MOST_CLASSES


def _classes(values: Array, missing: Array) -> tuple[list[Any], Array]:
    """Distinct values in order, and the number of each row's; missing is last."""
    known = values[~missing]
    if known.dtype == object:  # strings of NumPy would lose a last "\0"
        listed = known.tolist()
        if {type(value) for value in listed} != {int}:
            listed = [str(value) for value in listed]
        classes = sorted(set(listed))
        number_of = {value: number for number, value in enumerate(classes)}
        numbers = np.fromiter((number_of[v] for v in listed), np.int64, len(listed))
    else:
        distinct, numbers = np.unique(known, return_inverse=True)
        classes = distinct.tolist()
    codes = np.full(len(values), len(classes), dtype=np.int64)
    codes[~missing] = numbers.reshape(-1)
    return classes, codes


def _values(values: Any) -> Array:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        return values
    listed = list(values)
    if any(isinstance(value, str) or value is None for value in listed):
        column = np.empty(len(listed), dtype=object)
        column[:] = listed
        return column
    return np.asarray(listed)


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ == "NAType"
