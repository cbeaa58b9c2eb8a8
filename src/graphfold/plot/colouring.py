"""What points are coloured by: classes with an order, or numbers on a scale."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphfold.arrays import Array, are_missing, is_missing_value
from graphfold.check import one_of, some_of
from graphfold.errors import GraphfoldError
from graphfold.graphs.labels import LabelIndex, as_labels, first_duplicate, index_of
from graphfold.plot.style import palette

KINDS = ("auto", "classes", "numbers")
MOST_WHOLE = 40  # whole numbers with more values than this are a scale, as in ``view``
_EXACT = 2**53


@dataclass(frozen=True)
class Classes:
    """A class for each row, by its position among ``names``; -1 is missing."""

    names: list[str]
    codes: Array
    title: str

    def colours(self, given: Any, *, dark: bool) -> list[Any]:
        """One colour a class: those given by class or in their order, or our own."""
        own = palette(len(self.names), dark=dark)
        if given is None:
            return own
        if isinstance(given, Mapping):
            by_name = {_name(value): colour for value, colour in given.items()}
            return [by_name.get(n, c) for n, c in zip(self.names, own, strict=True)]
        return list(given)[: len(self.names)]

    def check_colours(self, given: Any) -> None:
        """Raise unless ``given`` are colours for these classes."""
        if given is None:
            return
        from matplotlib.colors import is_color_like

        listed = [given] if isinstance(given, str) else given
        listed = list(listed.values() if isinstance(listed, Mapping) else listed)
        wrong = [colour for colour in listed if not is_color_like(colour)]
        few = not isinstance(given, Mapping) and len(listed) < len(self.names)
        if wrong or few or isinstance(given, str):
            came = f"{wrong[0]!r}" if wrong else f"{len(listed)} of them"
            raise GraphfoldError(
                "colours must be a dict of class to colour, or one colour for each of "
                f"the {len(self.names)} classes in their order; got {came}"
            )


@dataclass(frozen=True)
class Numbers:
    """A number for each row; NaN is missing; dates are days since 1970."""

    values: Array
    title: str
    dates: bool = False


def read_labels(
    labels: Any, kind: str, n: int, names: Array | None = None
) -> Classes | Numbers | None:
    """Classes or numbers of n rows; a Series meets rows with names by its index."""
    one_of("kind", kind, KINDS)
    if labels is None:
        return None
    title = getattr(labels, "name", None)
    title = "" if title is None else str(title)
    order = _categories(labels)
    values = _column(labels)
    if values.ndim != 1 or len(values) != n:
        raise GraphfoldError(
            f"labels must have one value for each of the {n} rows; got shape "
            f"{values.shape}"
        )
    values = values[_order_of(labels, names, n)]
    if kind == "numbers" or (
        kind == "auto" and order is None and not _counts_as_classes(values)
    ):
        return Numbers(_as_numbers(values), title, values.dtype.kind == "M")
    return _classes(values, order, title)


def _column(labels: Any) -> Array:
    if hasattr(labels, "to_numpy"):
        labels = labels.to_numpy()
    if isinstance(labels, np.ndarray):
        values = labels
    else:
        try:
            values = np.asarray(as_labels(labels))
        except TypeError:
            raise GraphfoldError(
                f"labels must be a sequence with one value for each row; got {labels!r}"
            ) from None
    if values.dtype != object:
        return values
    # True, 1.5 and None in one list: numbers where all that is known are numbers
    known = [value for value in values.ravel().tolist() if not is_missing_value(value)]
    if known and all(_is_number(value) for value in known):
        listed = [np.nan if is_missing_value(v) else v for v in values.ravel().tolist()]
        return np.array(listed, dtype=np.float64).reshape(values.shape)
    return values


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _categories(labels: Any) -> list[Any] | None:
    """Categories of a pandas Categorical, or of a Series of them, in their order."""
    categories = getattr(getattr(labels, "cat", labels), "categories", None)
    return None if categories is None else list(categories)


def _order_of(labels: Any, names: Array | None, n: int) -> Any:
    """Where the value of each row is: by name where both sides have the same names."""
    index = index_of(labels)
    if names is None or index is None:
        return slice(None)
    own = as_labels(index)
    if first_duplicate(own) is not None:
        return slice(None)
    found = LabelIndex(own).find(names)
    if (found < 0).any():
        raise GraphfoldError(
            "labels must have a value for each row by name; its index lacks "
            f"{some_of(names[found < 0].tolist())}: pass labels.to_numpy() if they are "
            "in the order of the rows"
        )
    return found


def _counts_as_classes(values: Array) -> bool:
    if values.dtype.kind not in "iuf":
        return values.dtype.kind not in "mM"
    known = values[np.isfinite(values)]
    if (known != np.round(known)).any() or (np.abs(known) >= _EXACT).any():
        return False
    return len(np.unique(known)) <= MOST_WHOLE


def _as_numbers(values: Array) -> Array:
    if values.dtype.kind in "mM":
        seconds = values.astype(f"{values.dtype.kind}8[s]").astype(np.int64)
        return np.where(np.isnat(values), np.nan, seconds / 86400.0)
    try:
        listed = [np.nan if is_missing_value(v) else v for v in values.tolist()]
        numbers = np.array(listed, dtype=np.float64)
    except (TypeError, ValueError):
        raise GraphfoldError(
            'labels must be numbers for kind="numbers"; got values such as '
            f'{values.tolist()[0]!r}: use kind="classes"'
        ) from None
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _classes(values: Array, order: list[Any] | None, title: str) -> Classes:
    missing = _missing(values)
    if order is None:
        order = _sorted_values(values[~missing])
    index = LabelIndex(_objects(order))
    codes = index.find(_objects(values.tolist()))
    codes[missing] = -1
    return Classes([_name(value) for value in order], codes, title)


def _missing(values: Array) -> Array:
    if values.dtype.kind == "f":
        missing = ~np.isfinite(values)
    elif values.dtype == object:
        missing = are_missing(values)
    else:
        missing = np.zeros(len(values), dtype=bool)
    if values.dtype.kind in "if":
        known = np.unique(values[~missing]).tolist()
        # scikit-learn's "not labelled"; but -1 and 1 alone are two classes
        if known[:1] == [-1] and known != [-1, 1]:
            missing = missing | (values == -1)
    return missing


def _sorted_values(values: Array) -> list[Any]:
    if values.dtype.kind == "U":
        return sorted(np.unique(values).tolist(), key=_counting)
    if values.dtype != object:
        return list(np.unique(values).tolist())
    distinct = list(dict.fromkeys(values.tolist()))
    try:
        return sorted(distinct, key=_counting if _are_text(distinct) else None)
    except TypeError:  # of several kinds
        return sorted(distinct, key=_counting)


def _are_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _counting(value: Any) -> list[Any]:
    """A key that sorts "class 9" before "class 10", as people count."""
    parts = re.split(r"([0-9]+)", str(value))
    return [int(part) if i % 2 else part for i, part in enumerate(parts)]


def _name(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _objects(values: list[Any]) -> Array:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
