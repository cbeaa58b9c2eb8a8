"""Embeddings into files: each format reads back, and no half of a file is left."""

import gzip
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graphfold.errors import FileError
from graphfold.files import read_table, to_be_written, writing
from graphfold.files.writing import write_table

NAMES = ["component1", "component2"]


@pytest.mark.parametrize(
    "name", ["o.csv", "o.tsv", "o.csv.gz", "o.npy", "o.npz", "o.parquet", "o.mtx"]
)
@pytest.mark.parametrize("labelled", [True, False])
def test_what_is_written_is_read_back(name, labelled, tmp_path, rng):
    Z = rng.standard_normal((5, 2))
    labels = np.array(["a,b", 'say "x"', "c", "001", "é"]) if labelled else None
    path = tmp_path / name
    write_table(path, Z, labels, NAMES, extra={"kind": np.array(list("xyzxy"))})
    table = read_table(path, words=True)
    assert_array_equal(table.X, Z)
    if labelled and path.suffix not in (".npy", ".mtx"):
        assert table.labels.tolist() == labels.tolist()
    if ".csv" in name or path.suffix in (".tsv", ".parquet"):
        assert table.extra["kind"].tolist() == list("xyzxy")
    if name.endswith(".gz"):
        assert gzip.decompress(path.read_bytes()).startswith(b"id,component1")


def test_an_interrupt_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "o.npy"
    write_table(path, np.ones((2, 2)), None, NAMES)

    def interrupted(stream, Z):
        stream.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(writing.np, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_table(path, np.zeros((2, 2)), None, NAMES)
    assert_array_equal(np.load(path), np.ones((2, 2)))
    assert os.listdir(tmp_path) == ["o.npy"]


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(FileError, match=r"none is not a folder"):
        to_be_written(tmp_path / "none" / "o.csv")
    with pytest.raises(FileError, match=r"must end in one of .csv"):
        to_be_written(tmp_path / "o.docx")
    (tmp_path / "o.csv").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        to_be_written(tmp_path / "o.csv")
    with pytest.raises(FileError, match="written as a whole"):
        to_be_written(f"{tmp_path / 'o.h5ad'}:obsm/x")
