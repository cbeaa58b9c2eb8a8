"""Tables of every format: names of rows and columns, columns set aside, mistakes."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from graphfold.errors import FileError, PackageError
from graphfold.files import arrays, read_table

IDS = [f"row{i}" for i in range(60)]


def test_a_class_behind_the_numbers_needs_no_header(tmp_path):
    path = tmp_path / "iris.csv"
    path.write_text("5.1,3.5,setosa\n4.9,3.0,setosa\n")
    table = read_table(path, words=True)
    assert_array_equal(table.X, [[5.1, 3.5], [4.9, 3.0]])
    assert table.extra["3"].tolist() == ["setosa", "setosa"]
    assert table.columns is None


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_columns_are_set_aside_by_name(suffix, points, tmp_path):
    path = tmp_path / f"data{suffix}"
    frame = pd.DataFrame(points, columns=list("abcde"), index=pd.Index(IDS, name="id"))
    frame["kind"], frame["size"] = "x", np.arange(60)
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="\t" if suffix == ".tsv" else ",")
    table = read_table(path, aside=["kind", "size"])
    assert_allclose(table.X, points, rtol=1e-12)
    assert table.labels.tolist() == IDS
    assert table.columns == list("abcde")
    assert table.extra["kind"].tolist() == ["x"] * 60
    assert_array_equal(table.extra["size"], np.arange(60))
    with pytest.raises(FileError, match="no column 'colour'; there are: a, b, c"):
        read_table(path, aside=["colour"])
    with pytest.raises(FileError, match=r"column 'kind' has 'x'.*--label-column"):
        read_table(path, aside=["size"])
    assert list(read_table(path, words=True).extra) == ["kind"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_embed_has_written_is_read_back(suffix, tmp_path):
    path = tmp_path / f"out{suffix}"
    frame = pd.DataFrame({"id": ["a", "b"], "component1": [1.0, 2.0]})
    frame["component2"], frame["age"], frame["kind"] = [3.0, 4.0], [30, 40], ["x", ""]
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    table = read_table(path, words=True)
    assert_array_equal(table.X, [[1, 3], [2, 4]])
    assert table.labels.tolist() == ["a", "b"]
    assert_array_equal(table.extra["age"], [30, 40])
    assert table.extra["kind"].tolist() == ["x", ""]


def test_matrices_dense_and_sparse(points, tmp_path):
    X = np.where(points > 1, points, 0.0)
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", X=X, other=np.ones(3))
    np.savez(tmp_path / "c.npz", anything=X)
    np.savez(tmp_path / "d.npz", embedding=X, labels=np.array(IDS))
    sp.save_npz(tmp_path / "e.npz", sp.csr_matrix(X))
    sp.save_npz(tmp_path / "f.npz", sp.coo_matrix(X))
    scipy.io.mmwrite(tmp_path / "g.mtx", sp.coo_matrix(X))
    scipy.io.mmwrite(tmp_path / "h.mtx", X)
    for path in sorted(tmp_path.iterdir()):
        found = read_table(path).X
        dense = found.toarray() if sp.issparse(found) else found
        assert_allclose(dense, X, rtol=1e-12, err_msg=path.name)
    assert read_table(tmp_path / "d.npz").labels.tolist() == IDS


def test_a_large_npy_stays_on_disk(points, tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "STAYS_ON_DISK", 100)
    np.save(tmp_path / "a.npy", points)
    found = read_table(tmp_path / "a.npy").X
    assert isinstance(found, np.memmap)
    assert_array_equal(found, points)


def write_mistakes(folder):
    np.save(folder / "pickled.npy", np.array([{}, None], dtype=object))
    np.save(folder / "cube.npy", np.ones((2, 2, 2)))
    np.save(folder / "words.npy", np.array([["a", "b"]]))
    np.save(folder / "none.npy", np.ones((0, 3)))
    np.save(folder / "nan.npy", np.array([[1.0], [np.nan], [np.inf]]))
    sp.save_npz(folder / "nan.npz", sp.csr_matrix([[0.0, 1.0], [np.nan, 0.0]]))
    np.savez(folder / "two.npz", a=np.ones(3), b=np.ones(3))
    np.savez(folder / "model.npz", header=np.ones(3))
    for name in ("npy", "npz", "parquet", "mtx", "h5ad"):
        (folder / f"broken.{name}").write_bytes(b"PK\x03\x04 no such thing")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b\n")
    (folder / "semicolons.csv").write_text("a;b\n1;2\n")
    (folder / "commas.tsv").write_text("a,b\n1,2\n")
    (folder / "twice.csv").write_text("id,x\na,1\nb,2\na,3\n")
    (folder / "folder.csv").mkdir()


MISTAKES = {
    "missing.csv": "missing.csv is not a file",
    "folder.csv": "is not a file",
    "data.docx": "must end in one of .csv, .tsv",
    "data.gz": "must end in one of",
    "empty.csv": "it is empty",
    "header.csv": "at least one row below its first line",
    "semicolons.csv": "separated by commas; it begins with 'a;b'",
    "commas.tsv": "separated by tabs; it begins with 'a,b'",
    "twice.csv": "must be distinct; 'a' occurs twice",
    "pickled.npy": "Python objects.*would run code",
    "cube.npy": r"rows and columns; got shape \(2, 2, 2\)",
    "words.npy": "must hold numbers; got <U1",
    "none.npy": "got 0 rows and 3 columns",
    "nan.npy": "2 rows have NaN or infinity: 1, 2",
    "nan.npz": "1 rows have NaN or infinity: 1",
    "two.npz": "one array, or one called X; it has a, b",
    "model.npz": "is a saved model, not a table",
    "broken.npy": "not a readable .npy file",
    "broken.npz": "not a readable .npz file",
    "broken.parquet": "not a readable .parquet file",
    "broken.mtx": "not a readable .mtx file",
}


@pytest.mark.parametrize(("name", "sentence"), MISTAKES.items(), ids=MISTAKES)
def test_a_broken_table_gets_one_sentence(name, sentence, tmp_path):
    write_mistakes(tmp_path)
    with pytest.raises(FileError, match=sentence) as caught:
        read_table(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_columns_of_a_matrix_have_no_names(points, tmp_path):
    np.save(tmp_path / "a.npy", points)
    with pytest.raises(FileError, match="no named columns"):
        read_table(tmp_path / "a.npy", aside=["kind"])


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"x")
    (tmp_path / "a.h5ad").write_bytes(b"x")
    (tmp_path / "a.zarr").mkdir()
    for module, name, extra in (
        ("pandas", "a.parquet", "tables"),
        ("anndata", "a.h5ad", "ad"),
        ("zarr", "a.zarr", "disk"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(PackageError, match=rf"{module}: pip install .*\[{extra}\]"):
            read_table(tmp_path / name)
