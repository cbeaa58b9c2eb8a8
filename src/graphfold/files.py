"""Tables and graphs in csv, tsv, npy, npz, parquet and mtx files, for the shell."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp

from graphfold.check import some_of
from graphfold.errors import GraphfoldError
from graphfold.graphs import Graph
from graphfold.graphs.labels import as_labels
from graphfold.io import write_atomically

TABLE_FORMATS = (".csv", ".tsv", ".npy", ".npz", ".parquet", ".mtx")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ID_NAMES = ("", "id", "node", "node_id", "label", "name", "index")


class Table(NamedTuple):
    """Numbers, labels of the rows if the file has any, and names of the columns."""

    X: Any
    labels: Any
    columns: list[str] | None


def read_table(path: str | os.PathLike[str]) -> Table:
    """A table of numbers; a first column of names (or called "id") labels the rows."""
    path, suffix = _existing(path)
    if suffix in _DELIMITERS:
        return _read_text(path, _DELIMITERS[suffix])
    if suffix == ".parquet":
        frame = _read_parquet(path)
        columns = list(frame.columns)
        if not _is_label_column(str(columns[0]), frame[columns[0]].to_numpy()[:1]):
            return Table(frame.to_numpy(dtype=float), None, columns)
        labels, numbers = frame[columns[0]], frame[columns[1:]]
        return Table(numbers.to_numpy(dtype=float), as_labels(labels), columns[1:])
    return Table(_read_matrix(path, suffix), None, None)


def read_graph(path: str | os.PathLike[str], labels: Any, n: int) -> Graph:
    """A graph for n rows: edges by label (or by row number), or a square matrix."""
    path, suffix = _existing(path)
    if suffix in (".npy", ".npz", ".mtx"):
        matrix = _read_matrix(path, suffix)
        if matrix.shape[0] == matrix.shape[1]:
            return Graph(matrix, nodes=labels)
        edges = matrix.toarray() if sp.issparse(matrix) else matrix
        ends, weights = (
            edges[:, :2].astype(int),
            edges[:, 2] if edges.shape[1] > 2 else None,
        )
        return _graph_from_ends(ends[:, 0], ends[:, 1], weights, labels, n)
    if suffix == ".parquet":
        frame = _read_parquet(path)
        columns = [frame[name].to_numpy() for name in frame.columns[:3]]
    else:
        columns = _read_edges(path, _DELIMITERS[suffix])
    weights = np.asarray(columns[2], dtype=float) if len(columns) > 2 else None
    return _graph_from_ends(columns[0], columns[1], weights, labels, n)


def write_table(
    path: str | os.PathLike[str], Z: Any, labels: Any, columns: list[str]
) -> None:
    """Write an embedding, with the labels of its rows, in the format of the suffix."""
    suffix = Path(path).suffix.lower()
    if suffix in _DELIMITERS:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=_DELIMITERS[suffix], lineterminator="\n")
        writer.writerow(["id", *columns])
        names = range(len(Z)) if labels is None else labels
        writer.writerows(
            [name, *row] for name, row in zip(names, Z.tolist(), strict=True)
        )
        write_atomically(path, lambda stream: stream.write(text.getvalue().encode()))
    elif suffix == ".npy":
        write_atomically(path, lambda stream: np.save(stream, Z))
    elif suffix == ".npz":
        arrays = {"embedding": Z} | ({} if labels is None else {"labels": labels})
        write_atomically(path, lambda stream: np.savez(stream, **arrays))
    elif suffix == ".parquet":
        frame = _pandas().DataFrame(Z, columns=columns)
        frame.insert(0, "id", range(len(Z)) if labels is None else labels)
        write_atomically(path, lambda stream: frame.to_parquet(stream, index=False))
    elif suffix == ".mtx":
        write_atomically(path, lambda stream: scipy.io.mmwrite(stream, Z))
    else:
        raise _unknown(path)


def _existing(path: str | os.PathLike[str]) -> tuple[Path, str]:
    path = Path(path)
    if path.suffix.lower() not in TABLE_FORMATS:
        raise _unknown(path)
    if not path.is_file():
        raise GraphfoldError(f"{path} is not a file")
    return path, path.suffix.lower()


def _unknown(path: Any) -> GraphfoldError:
    return GraphfoldError(
        f"a file must end in one of {', '.join(TABLE_FORMATS)}; got {path}"
    )


def _read_matrix(path: Path, suffix: str) -> Any:
    if suffix == ".mtx":
        return scipy.io.mmread(path)
    content = np.load(path, allow_pickle=False)
    if suffix == ".npy":
        return content
    with content:
        if "indptr" in content or "row" in content:
            return sp.load_npz(path)
        names = list(content)
        chosen = "X" if "X" in names else names[0]
        if len(names) > 1 and chosen != "X":
            raise GraphfoldError(
                f"{path} must hold one array, or one called X; it has {some_of(names)}"
            )
        return content[chosen]


def _read_text(path: Path, delimiter: str) -> Table:
    with open(path, newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.reader(stream, delimiter=delimiter))
    rows = [row for row in rows if row]
    if not rows:
        raise GraphfoldError(f"{path} must have at least one row; it is empty")
    width = len(rows[0])
    ragged = [i + 1 for i, row in enumerate(rows) if len(row) != width]
    if ragged:
        raise GraphfoldError(
            f"{path} must have {width} columns in every line, as in its first; "
            f"line {ragged[0]} has {len(rows[ragged[0] - 1])}"
        )
    header = None
    if _is_header(rows[0]):
        header, rows = rows[0], rows[1:]
    first = header[0] if header else "-"
    labelled = bool(rows) and _is_label_column(first, [row[0] for row in rows[:1]])
    try:
        X = np.array([row[labelled:] for row in rows], dtype=float)
    except ValueError as error:
        raise GraphfoldError(
            f"{path} must hold numbers, but for a first column of names: {error}"
        ) from None
    labels = as_labels([row[0] for row in rows]) if labelled else None
    return Table(X, labels, header[labelled:] if header else None)


def _is_header(cells: list[str]) -> bool:
    """Names of columns: words, or the 0, 1, 2 ... that pandas writes without any."""
    counted = [str(i) for i in range(len(cells))]
    if cells == counted or (cells[0] == "" and cells[1:] == counted[:-1]):
        return True
    # an empty cell is a missing number, not the name of a column
    return not all(cell == "" or _is_number(cell) for cell in cells[1:] or cells)


def _is_label_column(name: str, cells: Any) -> bool:
    return name.lower() in _ID_NAMES or not all(_is_number(str(cell)) for cell in cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_edges(path: Path, delimiter: str) -> list[Any]:
    with open(path, newline="", encoding="utf-8-sig") as stream:
        rows = [row for row in csv.reader(stream, delimiter=delimiter) if row]
    if rows and rows[0][0].lower() in ("source", "src", "from", "u"):
        rows = rows[1:]
    widths = {len(row) for row in rows}
    if not rows or len(widths) != 1 or not widths <= {2, 3}:
        raise GraphfoldError(
            f"{path} must list edges, one a line: source, target and perhaps weight"
        )
    return [list(column) for column in zip(*rows, strict=True)]


def _graph_from_ends(
    tails: Any, heads: Any, weights: Any, labels: Any, n: int
) -> Graph:
    if labels is None:
        try:
            tails, heads = (np.asarray(end).astype(np.int64) for end in (tails, heads))
        except ValueError:
            raise GraphfoldError(
                "edges must be row numbers 0, 1, ... when the data have no column of "
                f"names; got {some_of(list(tails), 3)}"
            ) from None
        return Graph.from_edges(tails, heads, weights, nodes=np.arange(n))
    # by kind, not by width: "n10" must not be cut to the "n1" of a narrower array
    kind = str if labels.dtype.kind == "U" else labels.dtype
    ends = [np.asarray(as_labels(end)).astype(kind) for end in (tails, heads)]
    nodes = np.union1d(labels, np.concatenate(ends))
    return Graph.from_edges(ends[0], ends[1], weights, nodes=nodes)


def _read_parquet(path: Path) -> Any:
    return _pandas().read_parquet(path)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise GraphfoldError(
            "parquet files need pandas and pyarrow: pip install 'graphfold[tables]'"
        ) from None
    return pandas
