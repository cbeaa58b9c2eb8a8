"""What points are coloured by, searched for, and shown with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from graphfold.arrays import Array, are_missing, is_missing_value
from graphfold.errors import GraphfoldError
from graphfold.graphs.labels import LabelIndex, as_labels, first_duplicate
from graphfold.views.packing import Blocks, smallest_unsigned

MOST_CLASSES = 40  # whole numbers with more values than this are a scale
MOST_CATEGORIES = 500  # strings with more values than this are text: shown, searched
_EXACT = 2**31  # whole numbers below it fit into four bytes


class Column(NamedTuple):
    """Values of the rows, and classes in an order of their own where they have one."""

    values: Array
    order: list[Any] | None = None


def named_columns(labels: Any, names: Array | None, n: int) -> dict[str, Column]:
    """The columns meant by ``labels=``: one, a dict, or the columns of a table.

    A pandas column whose index holds the names of the rows meets them by name.
    """
    if labels is None:
        return {}
    if hasattr(labels, "columns") and hasattr(labels, "__getitem__"):
        labels = {str(name): labels[name] for name in labels.columns}
    elif not isinstance(labels, Mapping):
        name = getattr(labels, "name", None)
        labels = {"label" if name is None else str(name): labels}
    found = {}
    for name, given in labels.items():
        column = _read(f"labels {name!r}", given)
        values = column.values
        if values.ndim != 1 or len(values) != n:
            raise GraphfoldError(
                f"labels must have one value for each of the {n} rows; "
                f"{name!r} has shape {values.shape}"
            )
        order = _by_name(getattr(given, "index", None), names)
        found[str(name)] = (
            column if order is None else Column(values[order], column.order)
        )
    return found


def strings(name: str, values: Any, n: int) -> list[str]:
    """One string a row, as ``text=`` gives them; what is missing is empty."""
    listed = _read(name, values).values
    if listed.ndim != 1 or len(listed) != n:
        raise GraphfoldError(
            f"{name} must have one string for each of the {n} rows; "
            f"got shape {listed.shape}"
        )
    return ["" if is_missing_value(value) else str(value) for value in listed.tolist()]


def pack_column(name: str, column: Column, blocks: Blocks) -> dict[str, Any]:
    """A column as the page reads it: classes, numbers on a scale, or text."""
    values = column.values
    if values.dtype.kind in "iuf" and not _counts_as_classes(values):
        return number_column(name, [values], blocks)
    if values.dtype.kind == "f":  # classes with NaN among them
        known = np.isfinite(values)
        whole = np.empty(len(values), dtype=object)
        whole[known] = values[known].astype(np.int64)
        values = whole
    missing = are_missing(values)
    classes, codes = _classes(values, missing, column.order)
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
    whole = all(part.dtype.kind in "iu" for part in values)
    kind = "i4" if whole else "f4"
    # as the page will see them: a filter by these ends hides nobody
    seen = _as_kind(values, kind)
    if seen is None:
        kind, seen = "f8", np.concatenate(values).astype(np.float64)
    known = seen[np.isfinite(seen)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    return {
        "name": name,
        "kind": "number",
        "blocks": [blocks.add(part, kind) for part in values],
        "low": low,
        "high": high,
        "whole": whole,
        "about": about,
    }


def _as_kind(values: list[Array], kind: str) -> Array | None:
    """The numbers in four bytes each; None where that would lose them."""
    exact = np.concatenate(values)
    if kind == "i4":
        fits = exact.size == 0 or np.abs(exact.astype(np.float64)).max() < _EXACT
        return exact if fits else None
    known = exact[np.isfinite(exact)].astype(np.float64)
    with np.errstate(over="ignore"):
        short = known.astype(np.float32)
    spread = np.ptp(known) if len(known) else 0.0
    error = np.abs(short - known).max() if len(known) else 0.0
    if not np.isfinite(short).all() or error > 1e-4 * spread:
        return None
    return exact.astype(np.float32)


def _counts_as_classes(values: Array) -> bool:
    known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    if values.dtype.kind == "f" and (known != np.round(known)).any():
        return False
    if known.size and np.abs(known).max() >= 2**53:
        return False
    return len(np.unique(known)) <= MOST_CLASSES


def _classes(
    values: Array, missing: Array, order: list[Any] | None
) -> tuple[list[Any], Array]:
    """Distinct values in order, and the number of each row's; missing is last."""
    known = values[~missing]
    if known.dtype.kind in "iub":
        distinct, numbers = np.unique(known, return_inverse=True)
        classes = distinct.tolist()
    else:  # strings of NumPy would lose a last "\0"
        listed = known.tolist()
        if {type(value) for value in listed} != {int}:
            listed = [str(value) for value in listed]
        there = set(listed)
        classes = sorted(there, key=_natural)
        if order is not None:
            classes = [str(value) for value in order if str(value) in there]
        number_of = {value: number for number, value in enumerate(classes)}
        numbers = np.fromiter((number_of[v] for v in listed), np.int64, len(listed))
    codes = np.full(len(values), len(classes), dtype=np.int64)
    codes[~missing] = numbers.reshape(-1)
    return classes, codes


def _natural(value: Any) -> Any:
    """Class 2 before class 10."""
    if not isinstance(value, str):
        return value
    parts = re.split(r"([0-9]+)", value)
    return [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)]


def _by_name(index: Any, names: Array | None) -> Array | None:
    """Where each row is in a table that knows the rows by name but in its own order."""
    if names is None or index is None or callable(index):
        return None
    own = as_labels(index)
    if own.dtype.kind != names.dtype.kind or first_duplicate(own) is not None:
        return None
    found = LabelIndex(own).find(names)
    return found if len(own) == len(names) and (found >= 0).all() else None


def _read(name: str, values: Any) -> Column:
    order = None
    if hasattr(values, "cat") and getattr(values.cat, "ordered", False):
        order = list(values.cat.categories)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if not isinstance(values, np.ndarray):
        listed = list(values)
        if any(isinstance(value, list | np.ndarray) for value in listed):
            raise GraphfoldError(
                f"{name} must have one value for each row; got lists of values"
            )
        values = np.empty(len(listed), dtype=object)
        values[:] = listed
    if values.dtype.kind in "mM":
        return Column(_dates(values))
    return Column(_as_numbers(values) if values.dtype == object else values, order)


def _as_numbers(values: Array) -> Array:
    """Objects that are all numbers, or missing, as numbers."""
    listed = values.tolist()
    missing = are_missing(values)
    known = [value for value, gone in zip(listed, missing, strict=True) if not gone]
    numbers = (int, float, np.integer, np.floating)
    plain = all(isinstance(v, numbers) and not isinstance(v, bool) for v in known)
    if not known or not plain:
        return values
    if not missing.any() and all(isinstance(v, int | np.integer) for v in known):
        return np.asarray(known)
    found = np.full(len(listed), np.nan)
    found[~missing] = known
    return found


def _dates(values: Array) -> Array:
    """Dates and durations as people write them; None where there is none."""
    if values.dtype.kind == "M":
        texts = np.datetime_as_string(values.astype("datetime64[s]"))
        day = np.char.endswith(texts, "T00:00:00")
        texts = np.char.partition(texts, "T")[:, 0] if day.all() else texts
    else:
        texts = values.astype("timedelta64[s]").astype(str)
    found = texts.astype(object)
    found[np.isnat(values)] = None
    return found
