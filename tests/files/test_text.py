"""Columns of text files: three ways that agree, and the line of what is wrong."""

import gzip
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graphfold.errors import FileError
from graphfold.files import text
from graphfold.files.paths import existing

WAYS = [text._by_pyarrow, text._by_numpy, text._cell_by_cell]


@pytest.fixture
def place(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return existing(path)

    return write


def sheet(way, place, width, words=()):
    if way is text._by_pyarrow:
        pytest.importorskip("pyarrow")
    return way(place, width, True, words)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["data.csv", "data.tsv", "data.csv.gz"])
def test_every_way_reads_numbers_exactly(way, name, place, rng):
    X = rng.standard_normal((40, 3)) * 10.0 ** rng.integers(-300, 300, (40, 3))
    lines = ["a\tb\tc", *("\t".join(map(repr, row)) for row in X.tolist())]
    content = "\n".join(lines) + "\n"
    if ".csv" in name:
        content = content.replace("\t", ",")
    assert_array_equal(sheet(way, place(content, name), 3).numbers, X)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_keeps_words_as_they_are(way, place):
    content = '﻿id,x,class\r\n"Smith, J",1,NA\r\n001,2.5,"say ""no"""\r\n\r\n'
    found = sheet(way, place(content), 3, (0, 2))
    assert_array_equal(found.numbers, [[1.0], [2.5]])
    assert found.words[0].tolist() == ["Smith, J", "001"]
    assert found.words[2].tolist() == ["NA", 'say "no"']


def test_a_line_break_inside_quotes_is_part_of_a_name(place):
    found = text.read_sheet(
        place('id,x\n"two\nlines",1\nb,2\n'), 2, header=True, words=(0,)
    )
    assert found.words[0].tolist() == ["two\nlines", "b"]


def test_numpy_reads_where_pyarrow_is_missing(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = text.read_sheet(place("a,b\n1,2\n3,4\n"), 2, header=True, words=())
    assert_array_equal(found.numbers, [[1, 2], [3, 4]])
    with pytest.raises(FileError, match="line 3 has 3"):
        text.read_sheet(place("a,b\n1,2\n3,4,5\n"), 2, header=True, words=())


MISTAKES = {
    "short line": ("a,b\n1,2\n3\n", "2 columns in every line.*line 3 has 1"),
    "long line": ("a,b\n1,2\n\n3,4,5\n", "line 4 has 3"),
    "long first line": ("a,b\n1,2,3\n", "line 2 has 3"),
    "word": ("a,b\n1,2\n3,x\n", "line 3, column 'b' has 'x'.*--label-column"),
    "empty cell": ("a,b\n1,2\n,4\n", "line 3, column 'a' is missing"),
    "not available": ("a,b\n1,NA\n", "line 2, column 'b' is missing"),
    "infinity": ("a,b\n1,inf\n", "finite numbers; line 2, column 'b' has 'inf'"),
    "header alone": ("a,b\n", "at least one row below"),
    "not text": (b"a,b\n1,\xff\xfe\n", "UTF-8; byte"),
}


@pytest.mark.parametrize("without_pyarrow", [False, True])
@pytest.mark.parametrize(("content", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_wrong_has_a_line(
    content, sentence, without_pyarrow, place, monkeypatch
):
    if without_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FileError, match=sentence):
        text.read_sheet(place(content), 2, header=True, words=())


def test_broken_gzip_is_said(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1000)[:40])
    with pytest.raises(FileError, match="not a whole gzip file"):
        text.read_sheet(existing(path), 2, header=True, words=())
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(FileError, match="not a whole gzip file"):
        text.peek(existing(path))


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "2"], "i", [1, 2]),
        (["1", "2.5"], "f", [1.0, 2.5]),
        (["1", ""], "f", [1.0, np.nan]),
        (["a", "NA"], "U", ["a", ""]),
        (["", ""], "U", ["", ""]),
        ([True, False], "b", [True, False]),
    ],
)
def test_words_become_what_they_are(cells, kind, values):
    found = text.typed(np.array(cells))
    assert found.dtype.kind == kind
    assert_array_equal(found, values)
