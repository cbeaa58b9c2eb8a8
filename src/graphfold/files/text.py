"""Columns of csv and tsv files: read fast, the bad cell sought only after a failure.

pyarrow reads where it is installed, NumPy elsewhere; both parse numbers exactly. Only
when one of them gives up is the file looked at cell by cell, to name the line.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from array import array
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, TextIO

import numpy as np

from graphfold.allowance import TIMES, most_for
from graphfold.archives import DEFLATE
from graphfold.arrays import Array
from graphfold.check import plain, shown
from graphfold.errors import FileError
from graphfold.files.names import as_words
from graphfold.files.paths import TEXT, Place

#: what an empty cell may look like; pyarrow and pandas agree on most of it
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>")

#: characters of a line, and columns
LONGEST_LINE = 2**25
MOST_COLUMNS = 2**20
#: bytes of memory that a byte of text takes, and that pyarrow takes for a column
OF_TEXT = 8
OF_COLUMN = 2**13


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
        if len(first[1]) > MOST_COLUMNS:
            raise FileError(
                f"{place} may have {MOST_COLUMNS} columns; it has {len(first[1])}: "
                "wider tables are read from npy files"
            )
        second = next(rows, None)
        return Peek(first[1], second[1] if second else None)


def read_sheet(
    place: Place, width: int, *, header: bool, words: Collection[int]
) -> Sheet:
    """All rows of a file with ``width`` columns, of which ``words`` are text."""
    if header and peek(place).second is None:
        raise FileError(f"{place} must have at least one row below its first line")
    words = dict.fromkeys(words)  # in their order; each column is looked up in it
    try:
        sheet = _by_pyarrow(place, width, header, words)
        if sheet is None:
            sheet = _by_numpy(place, width, header, words)
        if np.isfinite(sheet.numbers).all():
            return sheet
    except (FileError, MemoryError):
        raise
    except Exception:
        pass  # whatever a library says: the slow way says what is wrong, and where
    return _cell_by_cell(place, width, header, words)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number; 1_2 is none, though Python reads it as 12."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


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
        if any("_" in str(cell) for cell in cells[known].tolist()):
            raise ValueError("Python would read 1_2 as 12")
        numbers = np.full(len(cells), np.nan)
        numbers[known] = cells[known].astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.where(known, cells.astype(str), "")
    whole = known.all() and are_whole(numbers)
    return numbers.astype(np.int64) if whole else numbers


def weights_of_words(cells: Any) -> Array | None:
    """Words as numbers, NaN where they are missing; None if some are neither."""
    words = [str(cell).strip() for cell in np.asarray(cells).tolist()]
    if not all(word in MISSING or is_number(word) for word in words):
        return None
    return np.array([np.nan if word in MISSING else float(word) for word in words])


def are_whole(numbers: Array) -> bool:
    """Whether all numbers are whole, and small enough for it to mean something."""
    small = np.abs(numbers) < 2**53
    return bool(small.all()) and bool((numbers % 1 == 0).all())


# -- the three ways -------------------------------------------------------------------


def _by_pyarrow(
    place: Place, width: int, header: bool, words: Collection[int]
) -> Sheet | None:
    try:
        from pyarrow import csv as arrow
        from pyarrow import float64, string
    except ImportError:
        return None
    if OF_COLUMN * width > most_for(place.size):
        return None
    names = [str(i) for i in range(width)]
    kinds = {n: string() if int(n) in words else float64() for n in names}
    _refuse_bomb(place)
    table = arrow.read_csv(
        str(place.path),
        arrow.ReadOptions(column_names=names, skip_rows_after_names=int(header)),
        arrow.ParseOptions(delimiter=TEXT[place.suffix], newlines_in_values=True),
        arrow.ConvertOptions(column_types=kinds, null_values=list(MISSING)),
    )
    of_numbers = [i for i in range(width) if i not in words]
    # column by column into one array: the table is held twice, not three times
    numbers = np.empty((table.num_rows, len(of_numbers)))
    for position, i in enumerate(of_numbers):
        numbers[:, position] = table.column(i).to_numpy()
    return Sheet(
        numbers,
        as_words({i: table.column(i).to_pylist() for i in words}, place),
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
        as_words(kept, place),
    )


def _cell_by_cell(
    place: Place, width: int, header: bool, words: Collection[int]
) -> Sheet:
    """Slow and exact: what it accepts is right, what it refuses has a line."""
    numbers, count = array("d"), 0
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
            count += 1
            for i, cell in enumerate(row):
                if i in kept:
                    kept[i].append(cell)
                else:
                    numbers.append(_number(place, cell, line, names[i]))
    shape = (count, width - len(kept))
    return Sheet(np.array(numbers).reshape(shape), as_words(kept, place))


def _number(place: Place, cell: str, line: int, column: str) -> float:
    where = f"line {line}, column {shown(column)}"
    cell = cell.strip()
    if cell in MISSING:
        raise FileError(
            f"{place} must hold numbers: {where} is missing; fill it, or leave that "
            "row out"
        )
    if not is_number(cell):
        raise FileError(
            f"{place} must hold numbers, but for a first column of names; {where} "
            f"has {shown(cell)}: {remedy_for_words(column)}"
        )
    number = float(cell)
    if not math.isfinite(number):
        raise FileError(f"{place} must hold finite numbers; {where} has {shown(cell)}")
    return number


def remedy_for_words(column: str) -> str:
    """What can be done with a column of the data that does not hold numbers."""
    name = plain(column)
    return (
        f"say --id-column {name} if it names the rows, or --label-column {name} if "
        "it holds classes or is to be left out"
    )


# -- lines ----------------------------------------------------------------------------


class _Unpacked(io.RawIOBase):
    """What a gzip file holds, up to a multiple of its size that no table has."""

    def __init__(self, place: Place):
        self._place = place
        self._most = most_for(place.size) // OF_TEXT
        self._stream = gzip.open(place.path, "rb")  # noqa: SIM115 (closed with it)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._stream.readinto(buffer)
        self._most -= count
        if self._most < 0:
            raise FileError(
                f"{self._place} unpacks to more than {TIMES // OF_TEXT} times its "
                "size: if that is meant, unpack it with gunzip and name the file that "
                "comes out"
            )
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()


def unpacking(place: Place) -> io.BufferedReader:
    """The bytes of a compressed text file."""
    return io.BufferedReader(_Unpacked(place), 2**18)


def _refuse_bomb(place: Place) -> None:
    """Unpack it once for nothing, if it is large enough to be one.

    pyarrow unpacks by itself; an older one waits for ever where a stream of ours fails.
    """
    if place.compressed and DEFLATE * place.size > most_for(place.size) // OF_TEXT:
        with unpacking(place) as stream:
            while stream.read(2**20):
                pass


@contextmanager
def _open(place: Place) -> Iterator[TextIO]:
    try:
        with ExitStack() as opened:
            raw: Any = unpacking(place) if place.compressed else place.path.open("rb")
            stream = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
            yield opened.enter_context(stream)
    except UnicodeDecodeError as error:
        raise FileError(
            f"{place} must be text in UTF-8; byte {error.start} is not"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(f"{place} is not a whole gzip file: {error}") from None


def _lines(place: Place, stream: TextIO) -> Iterator[str]:
    for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE), "")):
        if len(line) == LONGEST_LINE:
            raise FileError(
                f"{place} may have {LONGEST_LINE} characters in a line; line "
                f"{number + 1} has more"
            )
        yield line


def _records(place: Place, stream: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, each with the number of its (last) line."""
    reader = csv.reader(_lines(place, stream), delimiter=TEXT[place.suffix])
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise FileError(f"{place}, line {reader.line_num + 1}: {error}") from None
