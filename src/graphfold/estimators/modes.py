"""From the tables of modes to numbers: what each mode learns from a fit.

Real columns are standardised, categories become codes. A row that has no value at all
in a mode misses it: its numbers there are the means, and the caller is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from graphfold import check, io
from graphfold.arrays import Array, floating
from graphfold.errors import ModeError
from graphfold.estimators.mode_tables import (
    BINARY,
    CATEGORICAL,
    REAL,
    is_missing,
    kind_of,
)
from graphfold.estimators.reading import refuse_too_large
from graphfold.graphs import GraphRecipe, NeighborGraph
from graphfold.hints import Labels, Numbers, Range, Size, Sizes
from graphfold.neighbors.search import METRICS

#: below this share of ones a common one tells more than a common zero
RARE = 0.25


@io.record
@dataclass(frozen=True)
class Mode:
    """How the columns of one mode become numbers, as learned from the fit.

    ``columns`` are positions in one table, or None for a table of its own; ``means``
    stand for what is missing.
    """

    name: str
    kind: str
    columns: Annotated[Array, Numbers("_w", kind="i", low=0)] | None
    shift: Annotated[Array, Numbers("_w")]
    scale: Annotated[Array, Numbers("_w", low=0.0)]
    means: Annotated[Array, Numbers("_w")]
    categories: list[Annotated[Array, Labels("_")]]
    sparse: bool
    column_names: Annotated[list[str], Size("_w")] | None = None
    #: share of ones, where values are zeros and ones
    ones: Annotated[float, Range(0.0, 1.0)] | None = None

    def _check_loaded(self, sizes: Sizes) -> None:
        """Raise unless every column of a file can be encoded."""
        check.one_of("kind", self.kind, (BINARY, CATEGORICAL, REAL))
        if not self.width or not self.scale.all():
            raise ValueError("scale must be above 0 for each column")
        if self.kind == CATEGORICAL and (
            len(self.categories) != self.width
            or not all(len(c) and c.dtype.kind == "U" for c in self.categories)
        ):
            raise ValueError("categories must be texts for each column")

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.scale)

    def encode(self, table: Any, dtype: Any) -> tuple[Any, Array]:
        """Numbers of the rows, and which rows have the mode."""
        present = rows_present(self.name, table)
        if sp.issparse(table):
            scaled = sp.csr_array(table @ sp.diags_array(1 / self.scale))
            scaled.data[np.isnan(scaled.data)] = 0.0
            return scaled.astype(dtype), present
        numbers = np.tile(self.means, (len(table), 1)).astype(dtype)
        if self.kind == CATEGORICAL:
            text = as_text(table[present])
            for i, names in enumerate(self.categories):
                numbers[present, i] = _codes(text[:, i], names)
        else:
            values = table[present].astype(np.float64)
            numbers[present] = (values - self.shift) / self.scale
        return numbers, present


def rows_present(name: str, table: Any) -> Array:
    """Rows that have the mode; a row with some of its values only is refused.

    A sparse row misses the mode if what is stored of it is NaN.
    """
    if sp.issparse(table):
        if np.isinf(table.data).any():
            raise ModeError(f"mode {name!r} is sparse and holds infinity (inf)")
        n, stored = table.shape[0], np.diff(table.indptr)
        row_of_entry = np.repeat(np.arange(n), stored)
        missing = np.bincount(row_of_entry[np.isnan(table.data)], minlength=n)
        present = missing == 0
        partly = np.flatnonzero(~present & (missing < stored))
    else:
        values = is_missing(table)
        present = np.asarray(~values.all(axis=1))
        partly = np.flatnonzero(present & values.any(axis=1))
    if len(partly):
        raise ModeError(
            f"a row must have all values of a mode or none; mode {name!r} has "
            f"some NaN in rows {check.some_of(partly)} ({len(partly)} in all): "
            "fill them, or split the mode"
        )
    if table.dtype.kind == "f" and not sp.issparse(table):
        endless = np.flatnonzero(np.isinf(table).any(axis=1))
        if len(endless):
            raise ModeError(
                f"a mode must be finite; mode {name!r} has infinity (inf) in rows "
                f"{check.some_of(endless)} ({len(endless)} in all)"
            )
    return present


def learn_mode(
    name: str, table: Any, columns: Any, column_names: list[str] | None = None
) -> Mode:
    """A mode whose kind is that of its values, with their means and spreads."""
    if table.shape[1] == 0:
        raise ModeError(f"a mode must have at least one column; mode {name!r} has none")
    present = rows_present(name, table)
    if present.sum() < 2:
        raise ModeError(
            f"a mode must be known for at least two rows; mode {name!r} is known for "
            f"{int(present.sum())}"
        )
    if table.dtype == np.float64:  # narrower types are squared in it
        refuse_too_large(table)
    kind, n_columns = kind_of(table), table.shape[1]
    shift, scale, means = np.zeros(n_columns), np.ones(n_columns), np.zeros(n_columns)
    categories: list[Array] = []
    if sp.issparse(table):
        if kind == REAL:
            known = table[present]
            squares = np.asarray(known.power(2).mean(axis=0)).ravel()
            spread = squares - np.asarray(known.mean(axis=0)).ravel() ** 2
            scale = np.sqrt(np.where(spread > 0, spread, 1.0))
    elif kind == CATEGORICAL:
        refuse_real_columns(name, table[present])
        categories = [np.unique(column) for column in as_text(table[present]).T]
    elif kind == BINARY:
        means = table[present].mean(axis=0, dtype=np.float64)
    else:
        values = table[present].astype(np.float64)
        shift, spread = values.mean(axis=0), values.std(axis=0)
        scale = np.where(spread > 1e-12 * np.abs(values).max(axis=0), spread, 1.0)
    shift, scale, means = steady(shift), steady(scale), steady(means)
    is_sparse = bool(sp.issparse(table))
    ones = None
    if kind == BINARY:
        ones = float(table.mean() if is_sparse else means.mean())
    return Mode(
        name,
        kind,
        columns,
        shift,
        scale,
        means,
        categories,
        is_sparse,
        column_names,
        ones,
    )


def steady(numbers: Array) -> Array:
    """Numbers to eleven digits: the same in whatever order rows were added up.

    Rows are told apart by a hash of what they are encoded as, to the last bit.
    """
    mantissas, exponents = np.frexp(numbers)
    return np.ldexp(np.round(mantissas * 2.0**36) / 2.0**36, exponents)


def encode_modes(modes: list[Mode], tables: Mapping[str, Any]) -> tuple[int, Any]:
    """Numbers of all modes side by side, then a column of presence for each."""
    given = [table for table in tables.values() if table is not None]
    if not given:
        raise ModeError("X must hold at least one of the modes of the fit")
    n = given[0].shape[0]
    single = all(table.dtype == np.float32 for table in given)
    dtype = floating(np.float32 if single else np.float64)
    numbers, present = [], []
    for mode in modes:
        table = tables[mode.name]
        if table is None:
            values = np.tile(mode.means, (n, 1)).astype(dtype)
            known = np.zeros(n, dtype=bool)
        else:
            values, known = mode.encode(table, dtype)
        numbers.append(values)
        present.append(known)
    nothing = np.flatnonzero(~np.any(present, axis=0))
    if len(nothing):
        raise ModeError(
            f"a sample must have at least one mode; rows {check.some_of(nothing)} "
            f"have none ({len(nothing)} in all): drop them"
        )
    presence = np.column_stack(present).astype(dtype)
    parts = [*numbers, presence]
    for part in parts:
        refuse_too_large(part)
    if any(sp.issparse(part) for part in parts):
        return n, sp.csr_array(sp.hstack(parts))
    return n, np.hstack(parts)


def refuse_real_columns(name: str, table: Array) -> None:
    """Numbers with a fraction beside text would be compared as if they were names."""
    for i, column in enumerate(table.T):
        if any(isinstance(value, float) and value % 1 for value in column):
            raise ModeError(
                f"a mode must not mix text and real numbers; mode {name!r} does, its "
                f"column {i} has numbers: name them as two modes"
            )


def as_text(table: Array) -> Array:
    """Categories as text; a whole number is the same text as a float and as an int."""
    return np.frompyfunc(_text, 1, 1)(table).astype(str)


def _text(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _codes(text: Array, names: Array) -> Array:
    """Positions among the names; what is new is -1, which no row of the fit is."""
    place = np.minimum(np.searchsorted(names, text), len(names) - 1)
    return np.where(names[place] == text, place, -1)


def recipe_for(mode: Mode, metric: Any, settings: dict[str, Any]) -> Any:
    """The recipe of a mode: the one given, or neighbours by a metric for its kind.

    Real columns, standardised: euclidean. Zeros and ones: Jaccard where ones are
    rare, else Hamming. Categories: Hamming.
    """
    asked = metric.get(mode.name, "auto") if isinstance(metric, Mapping) else metric
    if isinstance(asked, GraphRecipe):
        return asked
    if asked == "auto" and mode.kind == BINARY:
        assert mode.ones is not None
        asked = "jaccard" if mode.ones < RARE else "hamming"
        asked = "cosine" if mode.sparse else asked  # counts have no sparse search
    elif asked == "auto":
        asked = "euclidean" if mode.kind == REAL else "hamming"
    check.one_of("metric", asked, ("auto", *METRICS))
    return NeighborGraph(metric=asked, **settings)
