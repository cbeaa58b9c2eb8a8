"""One function for each parser: bytes in; a named error, or nothing, out.

What may come out of bytes is a ``GraphfoldError`` of one short line. Anything else is
a finding: another exception, code that runs, another file that is opened, a process
that dies, much memory, or a long time (the last three are watched from outside).
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import graphfold
from fuzz.guard import asleep, guarded
from graphfold.errors import GraphfoldError, ModelFileError
from graphfold.files import read_column, read_graph, read_links, read_pairs, read_table
from graphfold.files.pairs import MUST

N = 12
LABELS = np.array([f"n{i}" for i in range(N)])
NUMBERS = np.arange(100, 100 + N)
_ROWS = np.linspace(0.0, 1.0, 3 * N).reshape(N, 3)
_SHARED = Path("/dev/shm")
_folder = tempfile.TemporaryDirectory(
    prefix="graphfold-fuzz-", dir=_SHARED if _SHARED.is_dir() else None
)

Target = Callable[[bytes], None]


def _checked(error: GraphfoldError, path: str) -> None:
    """A message is one short line without anything that moves a cursor."""
    sentence = str(error).replace(path, "FILE")
    assert sentence.isprintable(), sentence[:200]
    assert len(sentence) < 2000, len(sentence)


def _of_file(
    suffix: str, read: Callable[[str], Any], kind: Any = GraphfoldError
) -> Any:
    """A target that reads a file of its own with these bytes in it."""
    path = os.path.join(_folder.name, f"{os.getpid()}{suffix}")

    def target(data: bytes) -> None:
        with open(path, "wb") as stream:
            stream.write(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # an arithmetic warning in a parser is a number that it did not expect
            warnings.simplefilter("error", RuntimeWarning)
            try:
                with guarded(path):
                    read(path)
            except kind as error:
                _checked(error, path)

    return target


def _load_and_use(path: str) -> None:
    """A model that loads may be nonsense, but then Python says so: nothing dies."""
    model = graphfold.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows in (_ROWS, _ROWS[:2] + 0.5):
            try:
                model.transform(rows)
            except MemoryError:
                raise
            except Exception:
                pass


def _graph(labels: Any) -> Callable[[str], Any]:
    return lambda path: read_graph(path, labels, N)


def _whole_record(path: str) -> Any:
    from graphfold.experiments import results

    return results.read_record(Path(path))


def _edges_of_lines(path: str) -> Any:
    from graphfold.files import edge_parts
    from graphfold.files.paths import existing

    place = existing(path)
    lines = place.path.read_bytes()
    for labels in (None, LABELS):
        how = (labels, N, place, False)
        edge_parts._edges_of_lines(lines, 3, [0, 1, 2], how, skip=0)


TARGETS: dict[str, Target] = {
    "model": _of_file(".npz", _load_and_use, ModelFileError),
    "table.npy": _of_file(".npy", read_table),
    "table.npz": _of_file(".npz", read_table),
    "table.mtx": _of_file(".mtx", read_table),
    "table.csv": _of_file(".csv", lambda path: read_table(path, words=True)),
    "table.tsv": _of_file(".tsv", read_table),
    "table.csv.gz": _of_file(".csv.gz", read_table),
    "graph.npz": _of_file(".npz", _graph(None)),
    "graph.npy": _of_file(".npy", _graph(LABELS)),
    "graph.mtx": _of_file(".mtx", _graph(None)),
    "graph.csv": _of_file(".csv", _graph(LABELS)),
    "graph.tsv": _of_file(".tsv", _graph(None)),
    "graph.graphml": _of_file(".graphml", _graph(LABELS)),
    "pairs.json": _of_file(".json", lambda path: read_links(path, LABELS, N)),
    "pairs.csv": _of_file(".csv", lambda path: read_pairs(path, MUST, NUMBERS, N)),
    "column.csv": _of_file(".csv", lambda path: read_column(path, LABELS, N)),
    "column.npy": _of_file(".npy", lambda path: read_column(path, None, N)),
    "record.json": _of_file(".json", _whole_record),
    "edges.csv on workers": _of_file(".csv", _edges_of_lines),
}
#: what each needs beside graphfold's own requirements
NEEDS = {
    "record.json": "matplotlib",
    "graph.graphml": "networkx",
    "edges.csv on workers": "dask.dataframe",
}


def warm_up(name: str, honest: list[bytes]) -> None:
    """Read honest files unwatched, so that what is imported late has been imported.

    joblib counts the cores once, by a program: not because a file has told it to.
    """
    with asleep():
        joblib.cpu_count(only_physical_cores=True)
        for content in honest:
            TARGETS[name](content)
            TARGETS[name](content[: len(content) // 2])
