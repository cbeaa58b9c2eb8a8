"""Tables of text of strangers: each trick gets one short sentence."""

import gzip
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graphfold import allowance
from graphfold.files import read_graph, read_table
from graphfold.files import text as text_files
from tests.trust.parsers.readers import (
    column,
    named_graph,
)

TEXTS = {
    "a zero in a name": "id,x\na\0,1\na,2\n",
    "quotes without an end": 'id,x\n"a,1\nb,2\n',
    "a long cell": f"id,x\n{'a' * 200_000},1\nb,2\n",
    "no UTF-8": b"id,x\n\xff\xfe,1\n",
    "no UTF-8 far below": b"id,x\n" + b"a,1\n" * 2_000 + b"\xff,1\n",
    "beyond the largest": "x,y\n1,1e400\n",
    "not a number": "x,y\n1,nan\n",
    "infinity": "x,y\n1,-inf\n",
    "an escape of the terminal": "x,y\n1,\x1b[2J\n",
    "a line break in a header": '"x\ny",z\n1,w\n',
    "nothing": "",
    "line breaks": "\r\n\n\r",
    "a formula": "x,y\n1,=1+1\n",
    "an underscore": "x,y\n1,1_0\n",
}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_a_text_that_is_no_table_is_refused(content, suffix, refused):
    content = content if isinstance(content, bytes) else content.encode()
    if suffix == ".tsv":
        content = content.replace(b",", b"\t")
    if suffix == ".csv.gz":
        content = gzip.compress(content)
    refused(f"data{suffix}", content)


def test_line_breaks_of_all_systems_may_be_mixed(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xef\xbb\xbfid,x\r\na,1\nb,2\r\nc,3")
    found = read_table(path)
    assert found.labels.tolist() == ["a", "b", "c"]
    assert_array_equal(found.X, [[1], [2], [3]])


@pytest.mark.parametrize("without_pyarrow", [False, True])
def test_a_gzip_bomb_is_refused_with_the_way_out(without_pyarrow, refused, monkeypatch):
    if without_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(allowance, "FREE", 2**19)
    content = gzip.compress(b"x,y\n" + b"1,2\n" * 2**16)
    said = refused("data.csv.gz", content)
    assert "unpack it with gunzip" in said


def test_a_long_line_of_a_gzip_file_is_refused(refused, monkeypatch):
    monkeypatch.setattr(text_files, "LONGEST_LINE", 2**16)
    said = refused("data.csv.gz", gzip.compress(b"1" * 2**18))
    assert "65536 characters in a line; line 1 has more" in said


def test_a_table_has_a_widest(refused, monkeypatch):
    monkeypatch.setattr(text_files, "MOST_COLUMNS", 100)
    said = refused("data.csv", ",".join(["1"] * 101))
    assert "may have 100 columns; it has 101" in said


@pytest.mark.parametrize("read", [read_table, named_graph, column])
def test_one_long_name_does_not_make_all_names_long(read, refused):
    """An array of texts is as wide as its longest: 4 GB here, of a file of 200 kB."""
    long = "x" * 100_000
    head = "id,x\n" if read is not named_graph else "source,target\n"
    content = head + f"{long},1\n" + "n1,2\n" * 10_000
    assert "shorten" in refused("data.csv", content, read)


def test_a_long_name_among_edges_does_not_widen_the_names_of_the_data(refused):
    labels = np.array([f"n{i}" for i in range(50_000)])
    content = f"n1,{'x' * 20_000}\nn1,n2\n"
    said = refused("data.csv", content, lambda path: read_graph(path, labels, 50_000))
    assert "shorten" in said


def test_long_cells_are_cut_in_messages(refused):
    said = refused("data.csv", f"x,y\n1,{'w' * 5000}\n")
    assert "..." in said and len(said) < 600


def test_names_with_underscores_are_names(tmp_path):
    """Python reads 1_2 as the number 12."""
    path = tmp_path / "data.csv"
    path.write_text("1_2,0.5\n1_3,0.25\n")
    found = read_table(path)
    assert found.labels.tolist() == ["1_2", "1_3"]
    assert_array_equal(found.X, [[0.5], [0.25]])
    assert text_files.typed(np.array(["1_2", "1_3"])).dtype.kind == "U"


@pytest.mark.parametrize("cell", ["1e300", "inf", "-1e19", "9223372036854775808"])
def test_numbers_that_no_integer_holds_stay_floats(cell):
    found = text_files.typed(np.array([cell, "1"]))
    assert found.dtype.kind == "f"
    assert found[0] == float(cell)


def test_a_wide_table_of_words_is_set_aside_column_by_column(tmp_path):
    """By lists of columns it took minutes at fifty thousand."""
    n = 50_000
    path = tmp_path / "x.csv"
    path.write_text(",".join(["id", *(f"c{i}" for i in range(n))]) + "\n")
    with open(path, "a") as stream:
        stream.write(",".join(["a", *("w" for _ in range(n - 1)), "1"]) + "\n")
    table = read_table(path, words=True)
    assert table.X.shape == (1, 1)
    assert len(table.extra) == n - 1
