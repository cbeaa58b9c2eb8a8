"""Whether values of a file are what the annotations of a record say.

A record, a dataclass or a ``TypedDict``, annotates its fields with types, and with what
types do not say: ``Annotated[Array, Numbers("n", "d")]`` is an array of n x d finite
floats. Sizes have names, and one name is one size in a whole model, so that parts which
do not fit each other are refused. A name with an underscore, such as ``"_k"``, counts
within one record only. Whatever is wrong is a ``ValueError`` that says where.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired, Required

import numpy as np
import scipy.sparse as sp


class Sizes:
    """Sizes of a model by name, and the field that each was first seen in."""

    def __init__(self) -> None:
        self._shared: dict[str, tuple[int, str]] = {}
        self._own: dict[str, tuple[int, str]] = {}

    def within_record(self) -> Sizes:
        """The same sizes, for one record more: names with an underscore are new."""
        inner = Sizes()
        inner._shared = self._shared
        return inner

    def agree(self, where: str, name: str | int, size: int) -> None:
        """Refuse a size that is not the one known by its name, such as "d" or "d+1"."""
        if isinstance(name, int):
            if size != name:
                raise ValueError(f"{where} has a size of {size} in place of {name}")
            return
        if name == "_":  # any size
            return
        base, _, more = name.partition("+")
        known = self._own if base.startswith("_") else self._shared
        number = size - int(more or 0)
        first, seen = known.setdefault(base, (number, where))
        if number != first or number < 0:
            raise ValueError(f"{where} does not fit {seen}: {number} against {first}")

    def known(self, name: str) -> int | None:
        """A size, if it is known yet."""
        found = (self._own if name.startswith("_") else self._shared).get(name)
        return None if found is None else found[0]


# -- what types do not say -------------------------------------------------------------


@dataclasses.dataclass(frozen=True, init=False)
class Numbers:
    """An array of numbers of this shape, finite unless said otherwise.

    ``kind`` is "f" for single or double precision, "i" for integers, "u" for unsigned
    ones, or several of them.
    """

    shape: tuple[str | int, ...]
    kind: str
    low: float
    high: float
    finite: bool

    def __init__(
        self,
        *shape: str | int,
        kind: str = "f",
        low: float = -math.inf,
        high: float = math.inf,
        finite: bool = True,
    ):
        found = {"shape": shape, "kind": kind, "low": low, "high": high}
        for name, value in {**found, "finite": finite}.items():
            object.__setattr__(self, name, value)

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse another kind, shape or range."""
        if not isinstance(value, np.ndarray):
            raise ValueError(f"{where} must be an array; got {_kind_of(value)}")
        self._check_numbers(where, value)
        self._check_shape(where, value.shape, sizes)

    def _check_numbers(self, where: str, values: Any) -> None:
        kind, width = values.dtype.kind, values.dtype.itemsize
        if kind not in self.kind or (kind == "f" and width not in (4, 8)):
            raise ValueError(f"{where} cannot have numbers of {values.dtype}")
        if self.finite and kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"{where} has NaN or infinity in it")
        if ((values < self.low) | (values > self.high)).any():  # NaN is neither
            raise ValueError(
                f"{where} has numbers outside of {self.low:g} to {self.high:g}"
            )

    def _check_shape(self, where: str, shape: tuple[int, ...], sizes: Sizes) -> None:
        if len(shape) != len(self.shape):
            raise ValueError(
                f"{where} must have {len(self.shape)} dimensions; got {len(shape)}"
            )
        for name, size in zip(self.shape, shape, strict=True):
            sizes.agree(where, name, size)


class Table(Numbers):
    """Rows and columns, dense or sparse."""

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse what is no table of numbers, or has another shape."""
        if not sp.issparse(value):
            super().check(where, value, sizes)
            return
        self._check_numbers(where, value.data)
        self._check_shape(where, value.shape, sizes)


@dataclasses.dataclass(frozen=True)
class Labels:
    """A list of so many labels, all different unless said otherwise."""

    size: str
    distinct: bool = True

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse what is no list, or cannot be looked up."""
        if not isinstance(value, np.ndarray) or value.ndim != 1:
            raise ValueError(f"{where} must be a list of labels; got {_kind_of(value)}")
        if value.dtype.kind not in "biufUSOmM":
            raise ValueError(f"{where} cannot have labels of {value.dtype}")
        sizes.agree(where, self.size, len(value))
        if self.distinct:
            listed = value.tolist() if value.dtype == object else np.unique(value)
            if len(set(listed) if value.dtype == object else listed) < len(value):
                raise ValueError(f"{where} has a label twice")


@dataclasses.dataclass(frozen=True)
class Label:
    """One label: what can be looked up."""

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse what has no hash."""
        try:
            hash(value)
        except TypeError:
            raise ValueError(f"{where} cannot be {_kind_of(value)}") from None


@dataclasses.dataclass(frozen=True)
class Range:
    """A number from ``low`` to ``high``; NaN where ``finite`` is False."""

    low: float = -math.inf
    high: float = math.inf
    finite: bool = True

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse a number that is outside."""
        if not math.isfinite(value) and not self.finite:
            return
        if not (self.low <= value <= self.high and math.isfinite(value)):
            raise ValueError(
                f"{where} must be from {self.low:g} to {self.high:g}; got {value:g}"
            )


@dataclasses.dataclass(frozen=True)
class Size:
    """A number that is a size, or a list that has so many items."""

    name: str

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse another size."""
        is_number = isinstance(value, int)
        sizes.agree(where, self.name, value if is_number else len(value))


# -- records ---------------------------------------------------------------------------


def check_fields(cls: Any, values: Mapping[str, Any], sizes: Sizes) -> None:
    """Refuse values that the annotations of a record do not allow.

    All have to be there, but for those that are ``NotRequired``. What the record does
    not name is not looked at, but for records within it.
    """
    hints = hints_of(cls)
    own = sizes.within_record()
    # in the order of the annotations: what fits is measured by the first of them
    for name, hint in hints.items():
        if name in values:
            _check(name, values[name], hint, own)
        elif typing.get_origin(hint) is not NotRequired:
            raise ValueError(f"it has no {name}")
    for name, value in values.items():
        if name not in hints:
            _check(str(name)[:80], value, Any, own)


@functools.cache
def hints_of(cls: Any) -> dict[str, Any]:
    """The annotations of the fields of a record, those of its bases first."""
    named = typing.get_type_hints(cls, include_extras=True)
    if dataclasses.is_dataclass(cls):
        return {field.name: named[field.name] for field in dataclasses.fields(cls)}
    return dict(named)


def _check(where: str, value: Any, hint: Any, sizes: Sizes) -> None:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        _check(where, value, inner[0], sizes)
        for more in inner[1:]:
            more.check(where, value, sizes)
    elif origin in (Required, NotRequired):
        _check(where, value, inner[0], sizes)
    elif origin in (typing.Union, types.UnionType):
        _check_any_of(where, value, inner, sizes)
    elif origin is typing.Literal:
        if value not in inner or isinstance(value, bool) != isinstance(inner[0], bool):
            raise ValueError(f"{where} must be one of {inner}; got {_kind_of(value)}")
    elif not _is_of(value, hint if origin is None else origin):
        raise ValueError(f"{where} cannot be {_kind_of(value)}")
    else:
        fixed = origin is tuple and inner[-1:] != (...,)
        for name, item, kind in _items(value, inner, fixed):
            _check(f"{where}{name}", item, kind, sizes)
        if dataclasses.is_dataclass(value):
            _check_record(where, value, sizes)


def _check_any_of(where: str, value: Any, kinds: Sequence[Any], sizes: Sizes) -> None:
    """One of several types; the sentence is of the one that comes nearest."""
    fitting = [kind for kind in kinds if _may_be(value, kind)]
    if not fitting:
        raise ValueError(f"{where} cannot be {_kind_of(value)}")
    for kind in fitting[:-1]:
        try:
            return _check(where, value, kind, sizes)
        except ValueError:
            continue
    return _check(where, value, fitting[-1], sizes)


def _may_be(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, whatever is within it."""
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return _may_be(value, typing.get_args(hint)[0])
    if origin is typing.Literal:
        return value in typing.get_args(hint)
    return _is_of(value, hint if origin is None else origin)


def _is_of(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if kind is None or kind is types.NoneType:
        return value is None
    if kind is Sequence:
        return isinstance(value, list | tuple)
    if kind is Mapping:
        return isinstance(value, dict)
    if kind in (int, float):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (kind is float and isinstance(value, float))
    return isinstance(value, kind)


def _items(
    value: Any, kinds: tuple[Any, ...], fixed: bool
) -> Iterator[tuple[str, Any, Any]]:
    """What is within a list, a tuple or a dict, and the type it should be of.

    ``fixed``: a tuple has a type for each of its items.
    """
    if isinstance(value, dict):
        of_key, of_item = kinds or (Any, Any)
        for key, item in value.items():
            if not _is_of(key, of_key):
                raise ValueError(f"a name in it cannot be {_kind_of(key)}")
            yield f".{str(key)[:80]}", item, of_item
    elif fixed:
        if len(value) != len(kinds):
            raise ValueError(f"a tuple in it must have {len(kinds)} items")
        for i, (item, kind) in enumerate(zip(value, kinds, strict=True)):
            yield f"[{i}]", item, kind
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield f"[{i}]", item, kinds[0] if kinds else Any


def _check_record(where: str, record: Any, sizes: Sizes) -> None:
    """The fields of a record, and what it says of them together."""
    values = {f.name: getattr(record, f.name) for f in dataclasses.fields(record)}
    try:
        check_fields(type(record), values, sizes)
        together = getattr(record, "_check_loaded", None)
        if together is not None:
            together(sizes)
    except ValueError as error:
        raise ValueError(f"{type(record).__name__}.{error}") from None


def _kind_of(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, str | int | float) or value is None:
        return repr(value)[:40]
    return f"a {type(value).__name__}"
