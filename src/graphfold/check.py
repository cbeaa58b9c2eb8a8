"""Argument checks that name the argument, what is allowed and what came."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Collection
from typing import Any

import numpy as np

from graphfold.errors import BudgetError, GraphfoldError

_LONGEST = 200  # characters of a value in a message
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def integer_between(name: str, value: Any, low: int, high: int, why: str = "") -> int:
    """``value`` as an int in [low, high]."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise GraphfoldError(f"{name} must be an integer; got {value!r}")
    number = int(value)
    if not low <= number <= high:
        reason = f" ({why})" if why else ""
        raise GraphfoldError(
            f"{name} must be between {low} and {high}{reason}; got {value}"
        )
    return number


def number(name: str, value: Any) -> float:
    """``value`` as a finite float."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(float(value)):
        raise GraphfoldError(f"{name} must be a finite number; got {value!r}")
    return float(value)


def at_least(name: str, value: Any, low: float, *, strict: bool = False) -> float:
    """``value`` as a finite float that is at least (strictly above) ``low``."""
    allowed = f"{'above' if strict else 'at least'} {low:g}"
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise GraphfoldError(f"{name} must be a number {allowed}; got {value!r}")
    number = float(value)
    if not math.isfinite(number) or number < low or (strict and number == low):
        raise GraphfoldError(f"{name} must be {allowed}; got {value}")
    return number


def between(name: str, value: Any, low: float, high: float) -> float:
    """``value`` as a float in [low, high]."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not low <= float(value) <= high:
        raise GraphfoldError(
            f"{name} must be a number between {low:g} and {high:g}; got {value!r}"
        )
    return float(value)


def one_of(name: str, value: Any, allowed: Collection[str]) -> str:
    """``value`` if it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise GraphfoldError(f"{name} must be one of {words}; got {value!r}")
    return value


def flag(name: str, value: Any) -> bool:
    """``value`` as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise GraphfoldError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def memory_bytes(name: str, value: Any) -> int | None:
    """Bytes meant by ``None``, a number of bytes, or a text such as "2GB"."""
    if value is None:
        return None
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return int(at_least(name, value, 0, strict=True))
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", str(value).lower())
    if not match:
        raise BudgetError(
            f'{name} must be a number of bytes or a text such as "2GB"; got {value!r}'
        )
    return int(float(match[1]) * _UNITS[match[2]])


def some_of(values: Collection[Any], limit: int = 5) -> str:
    """The first few values, for use in a message."""
    listed = ", ".join(_plain(str(value)) for value in list(values)[:limit])
    return listed + (", ..." if len(values) > limit else "")


def shown(value: Any) -> str:
    """A value in quotes, as in Python, but never long."""
    return _short(repr(value))


def _plain(text: str) -> str:
    """A text that came from elsewhere: short, and nothing that moves a cursor."""
    return _short(text if text.isprintable() else repr(text))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def table(name: str, X: Any) -> Any:
    """X if it has rows, columns and a type of number; nothing is read or copied."""
    shape = getattr(X, "shape", None)
    if shape is None or len(shape) != 2:
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise GraphfoldError(f"{name} must have two dimensions; got shape {X.shape}")
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return X if hasattr(X, "dtype") else np.asarray(X)


def no_tensor(name: str, values: Any) -> Any:
    """The NumPy array behind a tensor of another library; all else as it is.

    scikit-learn does not know a tensor's dtype and makes float64 of its float32.
    """
    if not hasattr(values, "__array__") or hasattr(values, "columns"):
        return values
    if isinstance(getattr(values, "dtype", np.dtype(float)), np.dtype):
        return values
    try:
        return np.asarray(values)
    except (TypeError, RuntimeError) as error:
        raise GraphfoldError(
            f"{name} must be a dense tensor on the CPU that needs no gradient; got a "
            f"{type(values).__name__} that NumPy cannot read ({error}): detach it, "
            "move it to the CPU, or pass the edges of a sparse one to "
            "Graph.from_edge_index"
        ) from None
