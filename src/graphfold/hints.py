"""Whether a value of a file is what the annotation of a dataclass says."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def check_fields(cls: type, fields: Mapping[str, Any]) -> None:
    """Refuse values that the annotations of a dataclass do not allow.

    Names that it does not have, or that are missing, are left to its constructor.
    """
    hints = _hints_of(cls)
    for name, value in fields.items():
        if name in hints and not fits(value, hints[name]):
            raise ValueError(
                f"{cls.__name__}.{name} cannot be a {type(value).__name__} like this"
            )


@functools.cache
def _hints_of(cls: type) -> dict[str, Any]:
    named = typing.get_type_hints(cls)
    return {field.name: named[field.name] for field in dataclasses.fields(cls)}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type; of generic ones, every item.

    Whole numbers are numbers, lists and tuples are sequences.
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray)
    if origin is tuple and inner[-1:] != (...,):
        return (
            isinstance(value, tuple)
            and len(value) == len(inner)
            and all(map(fits, value, inner))
        )
    if origin in (list, tuple, Sequence):
        kind = (list, tuple) if origin is Sequence else origin
        return isinstance(value, kind) and all(fits(item, inner[0]) for item in value)
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(
            fits(key, inner[0]) and fits(item, inner[1]) for key, item in value.items()
        )
    if hint in (int, float):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (hint is float and isinstance(value, float))
    return isinstance(value, origin or hint)
