"""Which columns are a mode: of one table, or tables of their own, of any library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array, are_missing, floating
from graphfold.errors import GraphfoldError, ModeError
from graphfold.graphs.labels import index_of

REAL, BINARY, CATEGORICAL = "real", "binary", "categorical"


def tables_of(
    X: Any,
    modes: Any,
    block_size: int | None,
    overlap: int,
    fitted: dict[str, Any] | None,
) -> tuple[dict[str, tuple[Any, Any]], Array | None]:
    """Table and columns of each mode, by name, and labels of the rows if there are any.

    ``fitted`` are the modes of a fit and their columns, by which new rows are read.
    """
    given = isinstance(X, Mapping) and not sp.issparse(X)
    if fitted is not None and given != all(c is None for c in fitted.values()):
        raise ModeError(
            "X must come as it came to the fit, "
            f"{'one table' if given else 'a dict of tables'}"
        )
    if given:
        tables = {str(name): table for name, table in X.items()}
        return _from_tables(tables, list(tables if fitted is None else fitted))
    chosen = selectors_of(X, modes, block_size, overlap) if fitted is None else fitted
    found = {name: (columns_of(X, part), part) for name, part in chosen.items()}
    return found, _labels(X)


def is_missing(table: Array) -> Array:
    """Where a table has no value: NaN, or None."""
    if table.dtype.kind == "f":
        return np.isnan(table)
    if table.dtype.kind != "O":
        return np.zeros(table.shape, dtype=bool)
    return are_missing(table)


def _labels(X: Any) -> Array | None:
    index = index_of(X)
    return None if index is None else np.asarray(index)


def _from_tables(
    tables: Mapping[str, Any], names: list[str]
) -> tuple[dict[str, tuple[Any, Any]], Array | None]:
    """A dict of tables: rows are met by label where all have labels, else by place."""
    unknown = [name for name in tables if name not in names]
    if unknown:
        raise ModeError(
            f"X must hold the modes of the fit, {check.some_of(names)}; got "
            f"{check.some_of(unknown)} as well"
        )
    given = {name: tables[name] for name in names if name in tables}
    given = {k: t.to_frame() if _is_series(t) else t for k, t in given.items()}
    found = {name: _labels(table) for name, table in given.items()}
    labels = {name: part for name, part in found.items() if part is not None}
    arrays = {name: columns_of(table, None) for name, table in given.items()}
    rows: Array | None = None
    if labels and len(labels) < len(given):
        bare = [name for name in given if name not in labels]
        raise ModeError(
            "tables must all have labels as their index, or none of them; "
            f"{check.some_of(bare)} without, {check.some_of(list(labels))} with"
        )
    if given and len(labels) == len(given):
        order = list(dict.fromkeys(x for part in labels.values() for x in part))
        rows = np.array(order)
        arrays = {name: _by_label(arrays[name], labels[name], order) for name in arrays}
    else:
        sizes = {name: table.shape[0] for name, table in arrays.items()}
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise ModeError(
                f"tables without labels must have the same rows; got {listed}: give "
                "each a DataFrame index of labels, and rows may miss modes"
            )
    return {name: (arrays.get(name), None) for name in names}, rows


def _is_series(table: Any) -> bool:
    return hasattr(table, "to_frame") and not hasattr(table, "columns")


def names_of(table: Any) -> list[str] | None:
    """Names of the columns, or None where they have none."""
    return [str(c) for c in table.columns] if hasattr(table, "columns") else None


def width_of(table: Any) -> int:
    """Number of columns; a list of numbers, or a series, is one."""
    shape = np.shape(table)
    return int(shape[1]) if len(shape) == 2 else 1


def in_order(name: Any, table: Any, names: list[str] | None) -> Any:
    """A table with the columns of the fit in their order; met by name."""
    given = names_of(table)
    if names is None or given is None or given == names:
        return table
    if sorted(given) != sorted(names):
        raise ModeError(
            f"mode {name!r} must have the columns of the fit, {check.some_of(names)}; "
            f"got {check.some_of(given)}"
        )
    places = [given.index(column) for column in names]
    return table.iloc[:, places] if hasattr(table, "iloc") else table[:, places]


def _by_label(table: Any, labels: Array, order: list[Any]) -> Any:
    """Rows in a common order; a label that the table lacks is a row without values."""
    position = {label: i for i, label in enumerate(labels)}
    if len(position) != len(labels):
        raise ModeError("labels of a table must be distinct; one occurs twice")
    rows = np.array([position.get(label, -1) for label in order])
    if sp.issparse(table):
        table = table.toarray() if (rows < 0).any() else table
    if (rows >= 0).all():
        return table[rows]
    kind = object if table.dtype.kind in "OUS" else floating(table.dtype)
    full = np.full((len(rows), table.shape[1]), np.nan, dtype=kind)
    full[rows >= 0] = table[rows[rows >= 0]]
    return full


def selectors_of(
    X: Any, modes: Any, block_size: int | None, overlap: int
) -> dict[str, Any]:
    """Columns of each mode, by name."""
    n_columns = X.shape[1]
    check.integer_between("overlap", overlap, 0, n_columns)
    if block_size is not None or isinstance(modes, int | np.integer):
        return _blocks(n_columns, modes, block_size, overlap)
    if modes is None:
        return _by_kind(X)
    if isinstance(modes, Mapping):
        return {str(name): _resolved(X, part) for name, part in modes.items()}
    if isinstance(modes, list | tuple):
        return {f"mode{i}": _resolved(X, m) for i, m in enumerate(modes, start=1)}
    raise ModeError(
        "modes must be None, a dict or list of column selectors, or a number of "
        f"blocks; got {modes!r}"
    )


def _blocks(
    n_columns: int, modes: Any, block_size: int | None, overlap: int
) -> dict[str, Any]:
    """Neighbouring columns, ``overlap`` of them shared with the next block."""
    if block_size is not None:
        size = check.integer_between("block_size", block_size, 1, n_columns)
        if overlap >= size:
            raise GraphfoldError(
                f"overlap must be smaller than block_size={size}; got {overlap}"
            )
        starts = np.arange(0, max(n_columns - overlap, 1), size - overlap)
        ends = np.minimum(starts + size, n_columns)
    else:
        count = check.integer_between("modes", int(modes), 1, n_columns)
        edges = np.linspace(0, n_columns, count + 1).astype(int)
        starts, ends = edges[:-1], np.minimum(edges[1:] + overlap, n_columns)
    return {
        f"columns {a}-{b - 1}": np.arange(a, b)
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
    }


def _by_kind(X: Any) -> dict[str, Any]:
    """Columns by the kind of their values: real, binary, categorical."""
    if sp.issparse(X):
        return {kind_of(X): np.arange(X.shape[1])}
    kinds = np.array([kind_of(columns_of(X, np.array([i]))) for i in range(X.shape[1])])
    found = {kind: np.flatnonzero(kinds == kind) for kind in dict.fromkeys(kinds)}
    return {str(kind): columns for kind, columns in found.items()}


def _resolved(X: Any, selector: Any) -> Any:
    """A selector as positions of columns: names, positions, a slice or a callable."""
    if callable(selector):
        selector = selector(X)
    if isinstance(selector, slice):
        return np.arange(X.shape[1])[selector]
    if isinstance(selector, str | int | np.integer):
        selector = [selector]
    listed, n_columns = np.asarray(selector), X.shape[1]
    if listed.dtype == bool:
        if len(listed) != n_columns:
            raise ModeError(
                f"a mask of columns must have {n_columns} entries; got {len(listed)}"
            )
        return np.flatnonzero(listed)
    if listed.dtype.kind in "iu" or len(listed) == 0:
        positions = listed.astype(np.int64)
        wrong = positions[(positions < -n_columns) | (positions >= n_columns)]
        if len(wrong):
            raise ModeError(
                f"modes must name columns below {n_columns}; got {wrong[0]}"
            )
        return positions % n_columns
    names = list(getattr(X, "columns", []))
    missing = [name for name in listed.tolist() if name not in names]
    if missing:
        raise ModeError(
            f"modes must name columns of X; it has no {check.some_of(missing)}"
        )
    return np.array([names.index(name) for name in listed.tolist()])


def columns_of(X: Any, columns: Any) -> Any:
    """Some columns (all for None) as an array: of numbers, or of objects."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        return X if columns is None else X[:, columns]
    if hasattr(X, "iloc"):
        return _from_pandas(X if columns is None else X.iloc[:, columns])
    if hasattr(X, "to_numpy") and hasattr(X, "columns"):  # polars
        part = X if columns is None else X[:, columns.tolist()]
        return numbers_if_possible(part.to_numpy())
    array = np.asarray(X)
    if array.ndim != 2:
        raise ModeError(f"a table must have two dimensions; got shape {array.shape}")
    return numbers_if_possible(array if columns is None else array[:, columns])


def _from_pandas(part: Any) -> Array:
    """Numbers where all columns are numbers, else objects; categories stay text."""
    kinds = [getattr(dtype, "kind", "O") for dtype in part.dtypes]
    if any(kind in "mM" for kind in kinds):
        raise ModeError(
            "a mode must hold numbers, text or categories; got dates: turn them into "
            "numbers first"
        )
    if all(kind in "fiub" for kind in kinds):
        plain = all(isinstance(dtype, np.dtype) for dtype in part.dtypes)
        if plain:
            return np.asarray(part.to_numpy())
        return np.asarray(part.to_numpy(dtype=np.float64, na_value=np.nan))
    table = np.empty(part.shape, dtype=object)
    for i, dtype in enumerate(part.dtypes):
        table[:, i] = part.iloc[:, i].to_numpy(dtype=object)
        if type(dtype).__name__ == "CategoricalDtype":
            column = table[:, i]
            known = ~is_missing(column)
            column[known] = [f"{value}" for value in column[known]]
    return numbers_if_possible(table)


def numbers_if_possible(table: Array) -> Array:
    """A table of objects that are all numbers, or missing, as a table of numbers."""
    if table.dtype != object:
        return table
    missing = is_missing(table)
    if all(
        isinstance(x, bool | int | float | np.number | np.bool_)
        for x in table[~missing]
    ):
        return np.where(missing, np.nan, table).astype(np.float64)
    return table


def kind_of(table: Any) -> str:
    """Whether values are real numbers, zeros and ones, or categories."""
    if sp.issparse(table):
        known = table.data[~is_missing(table.data)]
        return BINARY if np.isin(known, (0, 1)).all() else REAL
    table = numbers_if_possible(table)
    if table.dtype.kind in "OUS":
        return CATEGORICAL
    if table.dtype.kind == "b":
        return BINARY
    return BINARY if np.isin(table[~is_missing(table)], (0, 1)).all() else REAL
