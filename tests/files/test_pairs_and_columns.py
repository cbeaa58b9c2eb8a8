"""Pairs as the map writes them, and columns of other files, matched to the rows."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from graphfold.errors import FileError, UnknownRowsWarning
from graphfold.files import read_column, read_links, read_pairs

IDS = np.array(["a", "b", "c"])


def test_pairs_of_a_csv(tmp_path):
    path = tmp_path / "must.csv"
    path.write_text("source,target\na,b\nb,c\n")
    assert read_pairs(path, "must_link", IDS, 3) == [("a", "b"), ("b", "c")]
    path.write_text("0,1\n")
    assert read_pairs(path, "must_link", None, 3) == [(0, 1)]
    path.write_text("source,target\n")
    assert read_pairs(path, "must_link", IDS, 3) == []


def test_pairs_of_json(tmp_path):
    path = tmp_path / "links.json"
    path.write_text(
        json.dumps({"must_link": [["a", "b"]], "cannot_link": [["a", "c"]]})
    )
    both = {"must_link": [("a", "b")], "cannot_link": [("a", "c")]}
    assert read_links(path, IDS, 3) == both
    assert read_pairs(path, "cannot_link", IDS, 3) == [("a", "c")]
    path.write_text(json.dumps({"must_link": [[0, 2]]}))
    assert read_links(path, None, 3) == {"must_link": [(0, 2)], "cannot_link": []}


def test_pairs_of_strangers_are_left_out_and_said(tmp_path):
    path = tmp_path / "must.csv"
    path.write_text("a,b\na,z\n")
    with pytest.warns(UnknownRowsWarning, match="1 pairs of .* such as z"):
        assert read_pairs(path, "must_link", IDS, 3) == [("a", "b")]
    path.write_text("0,7\n")
    with pytest.raises(FileError, match="no pair of two rows of the data: it names 7"):
        read_pairs(path, "must_link", None, 3)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "a,b,c\n", "it has 3 columns"),
        ("a.json", "{", "not a readable .json file"),
        ("a.json", "[]", 'must be {"must_link"'),
        ("a.json", '{"must_link": [["a"]]}', r"lists of pairs \[a, b\]"),
        ("a.npy", "", "must end in one of .csv, .tsv, .json"),
    ],
)
def test_broken_pairs_get_one_sentence(name, content, sentence, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_pairs(tmp_path / name, "must_link", IDS, 3)


def test_columns_meet_rows_by_name(tmp_path):
    path = tmp_path / "kinds.csv"
    path.write_text("id,kind\nc,3\na,1\nb,2\nx,9\n")
    column = read_column(path, IDS, 3)
    assert column.name == "kind"
    assert_array_equal(column.values, [1, 2, 3])


@pytest.mark.parametrize(
    ("content", "name", "values"),
    [
        ("kind\nx\ny\nz\n", "kinds", None),  # words above words: no header
        ("kind\n1\n2\n3\n", "kind", [1, 2, 3]),
        ("x\ny\nz\n", "kinds", ["x", "y", "z"]),
        ("a,x\nb,y\nc,z\n", "x", None),
    ],
)
def test_columns_meet_rows_by_position(content, name, values, tmp_path):
    path = tmp_path / "kinds.csv"
    path.write_text(content)
    if values is None:
        with pytest.raises(FileError, match="one value for each of the 3 rows"):
            read_column(path, None, 3)
        return
    column = read_column(path, None, 3)
    assert column.name == name
    assert_array_equal(column.values, values)


def test_a_column_is_named_behind_a_colon(tmp_path):
    frame = pd.DataFrame({"id": IDS[::-1], "kind": ["x", "y", "z"], "age": [1, 2, 3]})
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame.to_parquet(tmp_path / "all.parquet")
    for name in ("all.csv", "all.parquet"):
        column = read_column(f"{tmp_path / name}:kind", IDS, 3)
        assert column.values.tolist() == ["z", "y", "x"]
        with pytest.raises(
            FileError, match="no column 'hue'; there are: age, id, kind"
        ):
            read_column(f"{tmp_path / name}:hue", IDS, 3)
        with pytest.raises(FileError, match="3 columns: name the one that is meant"):
            read_column(tmp_path / name, IDS, 3)


def test_columns_of_arrays(tmp_path):
    np.save(tmp_path / "y.npy", np.array([[1], [2], [1]]))
    column = read_column(tmp_path / "y.npy", IDS, 3)
    assert column.name == "y"
    assert_array_equal(column.values, [1, 2, 1])
    np.save(tmp_path / "z.npy", np.ones((3, 2)))
    with pytest.raises(FileError, match=r"one column; got shape \(3, 2\)"):
        read_column(tmp_path / "z.npy", IDS, 3)


def test_columns_must_cover_the_rows_once(tmp_path):
    path = tmp_path / "kinds.csv"
    path.write_text("id,kind\na,1\nb,2\n")
    with pytest.raises(FileError, match="none for 1 of them, such as c"):
        read_column(path, IDS, 3)
    path.write_text("id,kind\na,1\na,2\n")
    with pytest.raises(FileError, match="'a' occurs twice"):
        read_column(path, IDS, 3)
