"""Argument checks that name the argument, what is allowed and what came."""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections.abc import Collection, Mapping
from os import PathLike
from typing import Any

import numpy as np

from graphfold.arrays import Array
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
    listed = ", ".join(plain(str(value)) for value in list(values)[:limit])
    return listed + (", ..." if len(values) > limit else "")


def shown(value: Any) -> str:
    """A value in quotes, as in Python, but never long."""
    return _short(repr(value))


def plain(text: str) -> str:
    """A text that came from elsewhere: short, and nothing that moves a cursor."""
    return _short(text if text.isprintable() else repr(text))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def table(name: str, X: Any) -> Any:
    """X if it has rows, columns and a type of number; nothing is read or copied."""
    refuse_other_objects(name, X)
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


# -- what is not a table of numbers ---------------------------------------------------

#: what estimators take
_TABLES = "a table of numbers: an array, a sparse matrix, a DataFrame or a list of rows"
#: an object with one of these is, or turns itself into, an array
_OF_ARRAYS = (
    "__array__",
    "__array_interface__",
    "__array_struct__",
    "__dlpack__",
    "__dask_graph__",
    "tocsr",
    "dtype",
)


def refuse_other_objects(name: str, values: Any, allowed: str = _TABLES) -> None:
    """Raise if ``values`` is not an array, a table, or a list of rows of numbers.

    ``allowed`` says in the message what is. Nothing is converted: ``np.asarray`` asks
    an object that has a length and items for all of its items, one by one, which takes
    minutes for an AnnData.
    """
    if getattr(getattr(values, "dtype", None), "kind", "f") in "Mm":
        raise GraphfoldError(
            f"{name} must hold numbers; got an array of dates or spans of time: turn "
            "them into numbers, such as days since the first of them"
        )
    _refuse_odd_arrays(name, values)
    if any(hasattr(values, one) for one in _OF_ARRAYS) or _has_buffer(values):
        return
    if isinstance(values, list | tuple):
        _refuse_other_items(name, values)
        _refuse_ragged_rows(name, values)
        return
    raise GraphfoldError(f"{name} must be {allowed}; got {_described(values)}")


def _refuse_odd_arrays(name: str, values: Any) -> None:
    """Raise if an array hides entries, has fields, or holds rows of its own."""
    hidden = _masked_rows(values)
    if len(hidden):
        raise GraphfoldError(
            f"{name} must not hide entries; got a masked array with masked entries in "
            f"rows {some_of(hidden)}: fill them with X.filled(...), or drop these rows"
        )
    fields = getattr(getattr(values, "dtype", None), "names", None)
    if fields:
        raise GraphfoldError(
            f"{name} must have numbers as entries; got a structured array with fields "
            f"{some_of(fields)}: use numpy.lib.recfunctions.structured_to_unstructured"
        )
    if isinstance(values, np.ndarray) and values.dtype == object and values.ndim == 1:
        _refuse_ragged_rows(name, values.tolist())


def _masked_rows(values: Any) -> Any:
    if isinstance(values, np.ma.MaskedArray):
        return np.unique(np.nonzero(np.ma.getmaskarray(values))[0])
    rows = values if isinstance(values, list | tuple) else ()
    return [i for i, row in enumerate(rows) if np.ma.is_masked(row)]


def _refuse_ragged_rows(name: str, rows: list[Any] | tuple[Any, ...]) -> None:
    lists = [isinstance(row, list | tuple) for row in rows]
    shapes = [getattr(row, "shape", None) or (1,) for row in rows]
    sizes = [len(rows[i]) if lists[i] else shapes[i][0] for i in range(len(rows))]
    odd = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
    if odd is not None:
        raise GraphfoldError(
            f"{name} must have rows of one length; rows 0 and {odd} have {sizes[0]} "
            f"and {sizes[odd]} entries"
        )


def _has_buffer(values: Any) -> bool:
    """Whether NumPy reads the memory of the object as it is, as of an array.array."""
    if isinstance(values, bytes | bytearray):
        return False
    try:
        memoryview(values)
    except TypeError:
        return False
    return True


def _described(values: Any) -> str:
    """What came, and what to do with it."""
    kind = type(values).__name__
    if hasattr(values, "obsm") and hasattr(values, "obs"):
        several = hasattr(values, "mod")
        parts = '.mod["rna"].X' if several else ".X"
        return (
            f'a {kind}: pass a table of it, such as {parts} or .obsm["X_pca"], or use '
            "the functions of graphfold.ad, which take it whole"
        )
    if isinstance(values, str | bytes | PathLike):
        return (
            f"{shown(values)}: if it is the path of a file, read it first, for example "
            "with pandas.read_csv"
        )
    if _is_graph(values):
        return (
            f"a graph ({kind}): pass it as graph=, and the features of its nodes here"
        )
    if isinstance(values, Mapping):
        return f"a {kind} with keys {some_of(list(values), 3)}: pass one of its values"
    return "None" if values is None else f"an object of type {kind}: convert it first"


def _is_graph(values: Any) -> bool:
    """Whether it looks like a graph of networkx, igraph, PyTorch Geometric, or ours."""
    pairs = [("nodes", "edges"), ("vs", "es"), ("n_nodes", "n_edges")]
    pairs += [("edge_index", "num_nodes")]
    return any(all(hasattr(values, one) for one in pair) for pair in pairs)


def _refuse_other_items(name: str, rows: list[Any] | tuple[Any, ...]) -> None:
    """Raise unless a list holds rows, and these hold cells."""
    cells: dict[type, Any] = {}
    for row in rows:
        inner = row if isinstance(row, list | tuple) else (row,)
        cells.update((type(cell), cell) for cell in inner)
    for cell in cells.values():
        if isinstance(cell, list | tuple):
            raise GraphfoldError(
                f"{name} must have two dimensions; got a {type(cell).__name__} as an "
                "entry"
            )
        if isinstance(cell, numbers.Number | np.generic | None):
            continue
        if any(hasattr(cell, one) for one in _OF_ARRAYS) or _has_buffer(cell):
            continue
        if isinstance(cell, str) and (odd := _first_text(rows)) is None:
            continue
        what = shown(odd) if isinstance(cell, str) else _described(cell)
        raise GraphfoldError(
            f"{name} must be a table of numbers; got a {type(rows).__name__} that "
            f"holds {what}"
        )


def _first_text(rows: list[Any] | tuple[Any, ...]) -> str | None:
    """The first text among the cells that is not a number; None if there is none."""
    for row in rows:
        for cell in row if isinstance(row, list | tuple) else (row,):
            if isinstance(cell, str) and not _is_number(cell):
                return cell
    return None


# -- tables with named columns --------------------------------------------------------


def refuse_odd_columns(
    name: str,
    frame: Any,
    *,
    text: bool = False,
    error: type[GraphfoldError] = GraphfoldError,
) -> None:
    """Raise if a DataFrame is empty, repeats a name, or has a column of no numbers.

    With ``text``, text and categories are allowed. All else passes unseen.
    """
    names, kinds = _columns(frame)
    if names is None:
        return
    n_rows, n_columns = frame.shape
    if not n_rows or not n_columns:
        raise error(
            f"{name} must have rows (samples) and columns (features); got an empty "
            f"{type(frame).__name__} of {n_rows} rows and {n_columns} columns: check "
            "how it was filtered or read"
        )
    if len(set(names)) < len(names):
        repeated = next(one for one in names if names.count(one) > 1)
        raise error(
            f"{name} must have a name of its own for each column; {shown(repeated)} "
            f"names {names.count(repeated)} of them: rename them, or drop all but one"
        )
    allowed = "numbers, text or categories" if text else "numbers"
    for column, kind in zip(names, kinds, strict=True):
        if kind == "O":
            cells = np.asarray(frame[column], dtype=object)
            kind = "M" if isinstance(cells[0], datetime.date | datetime.time) else kind
        if kind in _REFUSED:
            what, remedy = _REFUSED[kind]
            raise error(
                f"{name} must hold {allowed}; its column {shown(column)} holds {what}: "
                f"{remedy}, or drop it"
            )
        if kind == "O" and not text:
            _refuse_text(name, cells, column)


#: kinds of columns that are no numbers, and how they become some
_REFUSED = {
    "M": ("dates", "turn it into numbers, such as days since the first of them"),
    "m": ("spans of time", "turn it into numbers, such as their days or seconds"),
    "c": ("complex numbers", "take its real and imaginary parts as two columns"),
}


def _columns(frame: Any) -> tuple[list[Any] | None, list[str]]:
    """Names of the columns of a table and the kind of each, as NumPy has them.

    pandas, polars and Arrow; None for what is no such table.
    """
    if not hasattr(frame, "columns") or hasattr(frame, "__dask_graph__"):
        return None, []
    if hasattr(frame, "dtypes"):
        return list(frame.columns), [_kind(dtype) for dtype in frame.dtypes]
    if hasattr(frame, "column_names"):
        return list(frame.column_names), [_kind(dtype) for dtype in frame.schema.types]
    return None, []


def _kind(dtype: Any) -> str:
    """The letter NumPy has for a type of column: "O" is what has to be looked at."""
    if isinstance(dtype, np.dtype):
        return dtype.kind
    spelled = str(dtype).lower()
    if spelled.startswith(("duration", "timedelta")):
        return "m"
    if spelled.startswith(("period", "date", "time")):
        return "M"
    if spelled.startswith(("int", "uint", "float", "double", "half", "bool", "dec")):
        return "O" if spelled.startswith("interval") else "f"
    return str(getattr(dtype, "kind", "O"))


def _refuse_text(name: str, cells: Array, column: Any) -> None:
    """Raise if the cells of a column of objects are not numbers."""
    try:
        cells.astype(np.float64)
    except (TypeError, ValueError):
        pass
    else:
        return
    culprit = next(cell for cell in cells if not _is_number(cell))
    raise GraphfoldError(
        f"{name} must hold numbers; its column {shown(column)} holds {shown(culprit)} "
        f"({type(culprit).__name__}): drop the column, or turn it into numbers, for "
        "example with sklearn.preprocessing.OneHotEncoder"
    )


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True
