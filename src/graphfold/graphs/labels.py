"""Node labels as arrays that can be searched: no Python loop over rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import LabelError


def as_labels(values: Any) -> Array:
    """A 1-D array of labels: integers, strings, or objects where they are mixed.

    A list such as ``[1, "a"]`` stays a list of two kinds: NumPy alone would turn the
    number into a string that matches nothing.
    """
    if hasattr(values, "__array__"):
        values = np.asarray(values)  # columns of tables, tensors
    if not isinstance(values, np.ndarray):
        listed = list(values)
        values = np.empty(len(listed), dtype=object)
        values[:] = listed
    if values.ndim != 1:
        raise LabelError(f"labels must be one-dimensional; got shape {values.shape}")
    if values.dtype != object:
        return values
    kinds = set(map(type, values.tolist()))
    if kinds and kinds <= {str, np.str_}:
        _refuse_odd_texts(values.tolist())
        return values.astype(str)
    if kinds and kinds <= {int, np.int64, np.int32}:
        try:
            return values.astype(np.int64)
        except OverflowError:
            return values  # Python's integers have no end
    return values


def index_of(table: Any, first: int = 0) -> Any:
    """The index of a DataFrame or a Series if it names rows, else None.

    A RangeIndex from 0 in steps of 1 does not: after a reset it names other rows. Any
    other range, such as that of ``frame[::-1]`` or ``frame.iloc[10:]``, says which
    rows of a table these are. Rows of a stream may count on from ``first``.
    """
    index = getattr(table, "index", None)
    if index is None or callable(index):
        return None
    is_range = type(index).__name__ == "RangeIndex"
    if is_range and index.step == 1 and index.start in (0, first):
        return None
    return index


def _refuse_odd_texts(listed: list[str]) -> None:
    """In an array each takes the room of the longest, and loses zeros at its end."""
    lengths = list(map(len, listed))
    if max(lengths) * len(lengths) > max(2**26, 64 * sum(lengths)):
        raise LabelError(
            f"labels must be of like length; the longest of {len(lengths)} has "
            f"{max(lengths)} characters, and all would take as much memory: shorten it"
        )
    if any("\0" in label for label in listed):
        raise LabelError("labels must be text; one has a character of code zero")


def missing_labels(labels: Array) -> Array:
    """Which labels are missing: NaN, None, NA, NaT, an empty or blank text."""
    kind = labels.dtype.kind
    if kind in "iub":
        return np.zeros(len(labels), dtype=bool)
    if kind == "f":
        return np.isnan(labels)
    if kind in "mM":
        return np.isnat(labels)
    if kind in "US":
        return np.asarray((labels == labels.dtype.type()) | np.char.isspace(labels))
    return np.fromiter(map(_is_missing, labels.tolist()), dtype=bool, count=len(labels))


def _is_missing(label: Any) -> bool:
    if label is None or (isinstance(label, str) and not label.strip()):
        return True
    # NA and NaT of pandas are known by name: pandas itself may not be installed
    return type(label).__name__ in ("NAType", "NaTType") or (
        isinstance(label, float | np.floating | np.datetime64) and label != label
    )


def are_positions(nodes: Array) -> bool:
    """Whether the labels are 0, 1, 2, ... in this order, as positions are.

    In another order they are names: networkx lists nodes as they were added, and rows
    may be in that order or in the order of the numbers.
    """
    return nodes.dtype.kind in "iu" and np.array_equal(nodes, np.arange(len(nodes)))


def first_duplicate(labels: Array) -> Any:
    """A label that occurs twice, or None."""
    if labels.dtype == object:
        seen: set[Any] = set()
        for label in labels:
            if label in seen:
                return label
            seen.add(label)
        return None
    values, counts = np.unique(labels, return_counts=True)
    return values[counts > 1][0].item() if (counts > 1).any() else None


def distinct_labels(labels: Array) -> Array:
    """Each label once, in any order."""
    if labels.dtype != object:
        return np.unique(labels)
    listed = list(dict.fromkeys(labels.tolist()))
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found


class LabelIndex:
    """Where each label is; labels must be distinct."""

    def __init__(self, labels: Array):
        self.labels = labels
        self._order: Array | None = None
        self._positions: dict[Any, int] | None = None
        if labels.dtype == object:
            self._positions = {label: i for i, label in enumerate(labels.tolist())}
        else:
            self._order = np.argsort(labels, kind="stable")

    def find(self, asked: Array) -> Array:
        """Position of each asked label, -1 where it is not known."""
        if len(self.labels) == 0:
            return np.full(len(asked), -1)
        if self._order is None:
            assert self._positions is not None
            found = [self._positions.get(label, -1) for label in asked.tolist()]
            return np.array(found, dtype=np.int64)
        if asked.dtype == object:
            # mixed kinds: each is looked up as what it is
            if self._positions is None:
                self._positions = {x: i for i, x in enumerate(self.labels.tolist())}
            found = [self._positions.get(label, -1) for label in asked.tolist()]
            return np.array(found, dtype=np.int64)
        if not comparable(asked, self.labels):
            return np.full(len(asked), -1)
        place = np.searchsorted(self.labels[self._order], asked)
        candidate = self._order[np.minimum(place, len(self._order) - 1)]
        return np.where(self.labels[candidate] == asked, candidate, -1)


class Positions:
    """Numbers of rows, from 0, where rows have no labels."""

    def __init__(self, n: int):
        self._n = n

    def find(self, asked: Array) -> Array:
        """Each number itself, -1 where it is that of no row."""
        if asked.dtype == object:
            listed = [x if isinstance(x, Integral) else -1 for x in asked.tolist()]
            asked = np.array(listed)
        if asked.dtype.kind not in "iuf":
            return np.full(len(asked), -1)
        inside = (asked >= 0) & (asked < self._n) & (asked % 1 == 0)
        return np.where(inside, asked, -1).astype(np.int64)


def comparable(one: Array, other: Array) -> bool:
    """Numbers with numbers, strings with strings; NumPy would compare 1 and "1"."""
    if object in (one.dtype, other.dtype):
        return True
    numeric = "iufb"
    return (one.dtype.kind in numeric) == (other.dtype.kind in numeric) and (
        one.dtype.kind == other.dtype.kind or one.dtype.kind in numeric
    )
