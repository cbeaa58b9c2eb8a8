"""Columns of csv and tsv files: read fast, the bad cell sought only after a failure.

pyarrow reads where it is installed, NumPy elsewhere; both parse numbers exactly. Only
when one of them gives up is the file looked at cell by cell, to name the line.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TextIO

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import FileError
from graphfold.files.paths import TEXT, Place

#: what an empty cell may look like; pyarrow and pandas agree on most of it
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>")


class Peek(NamedTuple):
    """The first two lines that are not empty: enough to know the columns."""

    first: list[str]
    second: list[str] | None

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.first)


class Sheet(NamedTuple):
    """Numbers of the columns that hold some, and words of the others by position."""

    numbers: Array
    words: dict[int, Array]


def peek(place: Place) -> Peek:
    """How a file begins."""
    with _open(place) as stream:
        rows = _records(place, stream)
        first = next(rows, None)
        if first is None:
            raise FileError(f"{place} must have at least one row; it is empty")
        second = next(rows, None)
        return Peek(first[1], second[1] if second else None)


def read_sheet(
    place: Place, width: int, *, header: bool, words: Collection[int]
) -> Sheet:
    """All rows of a file with ``width`` columns, of which ``words`` are text."""
    if header and peek(place).second is None:
        raise FileError(f"{place} must have at least one row below its first line")
    try:
        sheet = _by_pyarrow(place, width, header, words)
        if sheet is None:
            sheet = _by_numpy(place, width, header, words)
        if np.isfinite(sheet.numbers).all():
            return sheet
    except (ValueError, OSError):
        pass  # the slow way says what is wrong, and where
    return _cell_by_cell(place, width, header, words)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def typed(cells: Any) -> Array:
    """Words as whole numbers if all of them are, else as numbers, else as they are.

    Empty cells are NaN among numbers, and empty among words.
    """
    cells = np.asarray(cells)
    if cells.dtype.kind not in "UO":
        return cells
    known = ~np.isin(cells.astype(str), MISSING)
    if not known.any():
        return cells
    try:
        numbers = np.full(len(cells), np.nan)
        numbers[known] = cells[known].astype(np.float64)
    except ValueError:
        return np.where(known, cells.astype(str), "")
    whole = known.all() and bool((numbers % 1 == 0).all())
    return numbers.astype(np.int64) if whole else numbers


# -- the three ways -------------------------------------------------------------------


def _by_pyarrow(
    place: Place, width: int, header: bool, words: Collection[int]
) -> Sheet | None:
    try:
        from pyarrow import csv as arrow
        from pyarrow import float64, string
    except ImportError:
        return None
    names = [str(i) for i in range(width)]
    kinds = {n: string() if int(n) in words else float64() for n in names}
    table = arrow.read_csv(
        str(place.path),
        arrow.ReadOptions(column_names=names, skip_rows_after_names=int(header)),
        arrow.ParseOptions(delimiter=TEXT[place.suffix], newlines_in_values=True),
        arrow.ConvertOptions(column_types=kinds, null_values=list(MISSING)),
    )
    found = {i: table.column(names[i]) for i in range(width)}
    numbers = [found[i].to_numpy() for i in found if i not in words]
    return Sheet(
        np.column_stack(numbers) if numbers else np.empty((table.num_rows, 0)),
        {i: np.array(found[i].to_pylist(), dtype=str) for i in words},
    )


def _by_numpy(place: Place, width: int, header: bool, words: Collection[int]) -> Sheet:
    kept: dict[int, list[str]] = {i: [] for i in words}

    def keep(i: int) -> Any:
        def one(cell: str) -> float:
            kept[i].append(cell)
            return 0.0

        return one

    with _open(place) as stream:
        if header:
            next(_records(place, stream))
        numbers = np.loadtxt(
            stream,
            delimiter=TEXT[place.suffix],
            comments=None,
            quotechar='"',
            converters={i: keep(i) for i in words},
            encoding="utf-8",
            ndmin=2,
        )
    if numbers.shape[1] != width:
        raise ValueError("ragged")
    rest = [i for i in range(width) if i not in words]
    return Sheet(
        numbers[:, rest] if words else numbers,
        {i: np.array(cells, dtype=str) for i, cells in kept.items()},
    )


def _cell_by_cell(
    place: Place, width: int, header: bool, words: Collection[int]
) -> Sheet:
    """Slow and exact: what it accepts is right, what it refuses has a line."""
    numbers: list[list[float]] = []
    kept: dict[int, list[str]] = {i: [] for i in words}
    names = [str(i + 1) for i in range(width)]
    with _open(place) as stream:
        for position, (line, row) in enumerate(_records(place, stream)):
            if len(row) != width:
                raise FileError(
                    f"{place} must have {width} columns in every line, as in its "
                    f"first; line {line} has {len(row)}"
                )
            if position == 0 and header:
                names = row
                continue
            values = []
            for i, cell in enumerate(row):
                if i in kept:
                    kept[i].append(cell)
                else:
                    values.append(_number(place, cell, line, names[i]))
            numbers.append(values)
    return Sheet(
        np.array(numbers), {i: np.array(cells, dtype=str) for i, cells in kept.items()}
    )


def _number(place: Place, cell: str, line: int, column: str) -> float:
    where = f"line {line}, column {column!r}"
    cell = cell.strip()
    if cell in MISSING:
        raise FileError(
            f"{place} must hold numbers: {where} is missing; fill it, or leave that "
            "row out"
        )
    try:
        number = float(cell)
    except ValueError:
        raise FileError(
            f"{place} must hold numbers, but for a first column of names; {where} "
            f"has {cell!r}: a column of classes or names can be left out with "
            "--label-column"
        ) from None
    if not math.isfinite(number):
        raise FileError(f"{place} must hold finite numbers; {where} has {cell!r}")
    return number


# -- lines ----------------------------------------------------------------------------


@contextmanager
def _open(place: Place) -> Iterator[TextIO]:
    opener: Any = gzip.open if place.compressed else open
    try:
        with opener(place.path, "rt", newline="", encoding="utf-8-sig") as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise FileError(
            f"{place} must be text in UTF-8; byte {error.start} is not"
        ) from None
    except (gzip.BadGzipFile, EOFError) as error:
        raise FileError(f"{place} is not a whole gzip file: {error}") from None


def _records(place: Place, stream: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, each with the number of its (last) line."""
    reader = csv.reader(stream, delimiter=TEXT[place.suffix])
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise FileError(f"{place}, line {reader.line_num + 1}: {error}") from None
