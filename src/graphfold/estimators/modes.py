"""From tables of any kind to one table of numbers, mode by mode.

A mode is some columns: of one table, or a table of its own. Real columns are
standardised, categories become codes. A row that has no value at all in a mode misses
it: its numbers there are 0, and a column at the end of the table says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check, io
from graphfold.arrays import Array, floating
from graphfold.errors import ModeError
from graphfold.graphs import GraphRecipe, NeighborGraph
from graphfold.graphs.search import METRICS

REAL, BINARY, CATEGORICAL = "real", "binary", "categorical"
#: below this share of ones a common one tells more than a common zero
RARE = 0.25


@io.record
@dataclass(frozen=True)
class Mode:
    """How the columns of one mode become numbers, as learned from the fit."""

    name: str
    kind: str
    columns: Any
    shift: Array
    scale: Array
    categories: list[Array]

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.scale)

    def encode(self, table: Any, dtype: Any) -> tuple[Any, Array]:
        """Numbers of the rows, 0 where a row misses the mode, and which rows have it.

        A row that has some values and misses others is refused.
        """
        if sp.issparse(table):
            scaled = sp.csr_array(table @ sp.diags_array(1 / self.scale))
            return scaled.astype(dtype), np.ones(table.shape[0], dtype=bool)
        missing = is_missing(table)
        present = np.asarray(~missing.all(axis=1))
        partly = np.flatnonzero(present & missing.any(axis=1))
        if len(partly):
            raise ModeError(
                f"a row must have all values of a mode or none; mode {self.name!r} has "
                f"some NaN in rows {check.some_of(partly)} ({len(partly)} in all): "
                "fill them, or split the mode"
            )
        numbers = np.zeros(table.shape, dtype=dtype)
        if self.kind == CATEGORICAL:
            for i, names in enumerate(self.categories):
                numbers[present, i] = _codes(table[present, i], names)
        else:
            values = table[present].astype(np.float64)
            numbers[present] = (values - self.shift) / self.scale
        return numbers, present


def learn_mode(name: str, table: Any, columns: Any, kind: str | None = None) -> Mode:
    """A mode whose kind is that of its values, with their means and spreads."""
    if table.shape[1] == 0:
        raise ModeError(f"a mode must have at least one column; mode {name!r} has none")
    n_columns = table.shape[1]
    kind = kind_of(table) if kind is None else kind
    shift, scale = np.zeros(n_columns), np.ones(n_columns)
    categories: list[Array] = []
    if sp.issparse(table):
        if kind == REAL:
            squares = np.asarray(table.power(2).mean(axis=0)).ravel()
            spread = squares - np.asarray(table.mean(axis=0)).ravel() ** 2
            scale = np.sqrt(np.where(spread > 0, spread, 1.0))
        return Mode(name, kind, columns, shift, scale, categories)
    present = ~is_missing(table).all(axis=1)
    if present.sum() < 2:
        raise ModeError(
            f"a mode must be known for at least two rows; mode {name!r} is known for "
            f"{int(present.sum())}"
        )
    known = table[present]
    if kind == CATEGORICAL:
        categories = [np.unique(known[:, i].astype(str)) for i in range(n_columns)]
    elif kind == REAL:
        values = known.astype(np.float64)
        shift, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        size = np.nanmax(np.abs(values), axis=0)
        scale = np.where(spread > 1e-12 * size, spread, 1.0)
    return Mode(name, kind, columns, shift, scale, categories)


def kind_of(table: Any) -> str:
    """Whether values are real numbers, zeros and ones, or categories."""
    if sp.issparse(table):
        return BINARY if np.isin(table.data, (0, 1)).all() else REAL
    if table.dtype.kind in "OUS":
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            return CATEGORICAL
    if table.dtype.kind == "b":
        return BINARY
    values = table[~is_missing(table)]
    return BINARY if np.isin(values, (0, 1)).all() else REAL


def is_missing(table: Array) -> Array:
    """Where a table has no value: NaN, or None."""
    if table.dtype.kind == "f":
        return np.isnan(table)
    if table.dtype.kind != "O":
        return np.zeros(table.shape, dtype=bool)
    # NaN and pandas' missing values are the only ones not equal to themselves
    return np.array(
        [[v is None or _differs_from_itself(v) for v in row] for row in table],
        dtype=bool,
    ).reshape(table.shape)


def _differs_from_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True  # pandas.NA refuses to be compared


def _codes(values: Array, names: Array) -> Array:
    """Positions among the names; what is new gets a number that nothing else has."""
    text = values.astype(str)
    place = np.minimum(np.searchsorted(names, text), len(names) - 1)
    return np.where(names[place] == text, place, -1 - np.arange(len(text)))


def recipe_for(mode: Mode, table: Any, metric: Any, settings: dict[str, Any]) -> Any:
    """The recipe of a mode: the one given, or neighbours by a metric for its kind.

    Real columns, standardised: euclidean. Zeros and ones: Jaccard where ones are
    rare, else Hamming. Categories: Hamming.
    """
    asked = metric.get(mode.name, "auto") if isinstance(metric, Mapping) else metric
    if isinstance(asked, GraphRecipe):
        return asked
    if asked == "auto":
        asked = {REAL: "euclidean", CATEGORICAL: "hamming"}.get(mode.kind)
        if asked is None:
            ones = float(table.mean()) if table.size else 0.0
            asked = "jaccard" if ones < RARE else "hamming"
        if sp.issparse(table) and asked in ("jaccard", "hamming"):
            asked = "cosine"  # the searches by counts have no sparse form
    check.one_of("metric", asked, ("auto", *METRICS))
    return NeighborGraph(metric=asked, **settings)


# -- which columns ------------------------------------------------------------------


def tables_of(
    X: Any,
    modes: Any,
    block_size: int | None,
    overlap: int,
    fitted: list[Mode] | None,
) -> tuple[dict[str, tuple[Any, Any]], Array | None]:
    """Table and columns of each mode, by name, and labels of the rows if there are any.

    ``fitted`` are the modes of a fit, whose columns new rows are read by.
    """
    if isinstance(X, Mapping) and not sp.issparse(X):
        names = list(X) if fitted is None else [mode.name for mode in fitted]
        return _from_tables(X, names)
    if fitted is not None:
        found = {m.name: (_columns(X, m.columns), m.columns) for m in fitted}
    else:
        chosen = _selectors(X, modes, block_size, overlap)
        found = {k: (_columns(X, columns), columns) for k, columns in chosen.items()}
    return found, _labels(X)


def _labels(X: Any) -> Array | None:
    index = getattr(X, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return np.asarray(index)


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
    given = {str(name): tables[name] for name in names if name in tables}
    found = {name: _labels(table) for name, table in given.items()}
    labels = {name: part for name, part in found.items() if part is not None}
    arrays = {name: _columns(table, None) for name, table in given.items()}
    rows: Array | None = None
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


def _selectors(
    X: Any, modes: Any, block_size: int | None, overlap: int
) -> dict[str, Any]:
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
        starts = np.arange(0, max(n_columns - overlap, 1), max(size - overlap, 1))
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
    kinds = np.array([kind_of(_columns(X, np.array([i]))) for i in range(X.shape[1])])
    found = {kind: np.flatnonzero(kinds == kind) for kind in dict.fromkeys(kinds)}
    return {str(kind): columns for kind, columns in found.items()}


def _resolved(X: Any, selector: Any) -> Any:
    """A selector as positions of columns: names, positions, a slice or a callable."""
    if callable(selector):
        selector = selector(X)
    if isinstance(selector, slice):
        return np.arange(X.shape[1])[selector]
    if isinstance(selector, str | int):
        selector = [selector]
    listed = np.asarray(selector)
    if listed.dtype == bool:
        return np.flatnonzero(listed)
    if listed.dtype.kind in "iu" or len(listed) == 0:
        positions = listed.astype(np.int64)
        if len(positions) and not (
            -X.shape[1] <= positions.min() and positions.max() < X.shape[1]
        ):
            raise ModeError(
                f"modes must name columns below {X.shape[1]}; got {positions.max()}"
            )
        return positions % X.shape[1] if len(positions) else positions
    names = list(getattr(X, "columns", []))
    missing = [name for name in listed.tolist() if name not in names]
    if missing:
        raise ModeError(
            f"modes must name columns of X; it has no {check.some_of(missing)}"
        )
    return np.array([names.index(name) for name in listed.tolist()])


def _columns(X: Any, columns: Any) -> Any:
    """Some columns (all for None) as an array: of numbers, or of objects."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        return X if columns is None else X[:, columns]
    if hasattr(X, "iloc"):
        part = X if columns is None else X.iloc[:, columns]
        numeric = all(dtype.kind in "fiub" for dtype in map(_plain, part.dtypes))
        return part.to_numpy(dtype=None if numeric else object)
    if hasattr(X, "to_numpy") and hasattr(X, "columns"):  # polars
        part = X if columns is None else X[:, columns.tolist()]
        return part.to_numpy()
    array = np.asarray(X)
    if array.ndim != 2:
        raise ModeError(f"a table must have two dimensions; got shape {array.shape}")
    return array if columns is None else array[:, columns]


def _plain(dtype: Any) -> Any:
    """A NumPy type, or object for the types of a table library."""
    return dtype if isinstance(dtype, np.dtype) else np.dtype(object)
