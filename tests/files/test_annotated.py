"""h5ad files and zarr stores: tables, graphs, columns and copies with an embedding."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graphfold import replacing
from graphfold.errors import FileError
from graphfold.files import read_column, read_graph, read_table, write_table
from graphfold.replacing import replace_folder

IDS = [f"cell{i}" for i in range(8)]


def annotated(folder, suffix, *, sparse=False):
    anndata = pytest.importorskip("anndata")
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((8, 8)) < 0.5, 1).astype(float)
    X = rng.poisson(2.0, (8, 5)).astype(np.float32)
    made = anndata.AnnData(
        sp.csr_matrix(X) if sparse else X,
        obs=pd.DataFrame({"kind": list("xyxyxyxy"), "age": range(8)}, index=IDS),
        obsm={"X_pca": rng.random((8, 3))},
        obsp={"connectivities": sp.csr_matrix(A + A.T)},
        layers={"counts": X + 1},
    )
    path = folder / f"data{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of anndata's own, on later versions
        made.write_h5ad(path) if suffix == ".h5ad" else made.write_zarr(path)
    return path, made


@pytest.mark.parametrize("suffix", [".h5ad", ".zarr"])
@pytest.mark.parametrize("sparse", [False, True])
def test_an_annotated_table_and_its_parts(suffix, sparse, tmp_path):
    path, made = annotated(tmp_path, suffix, sparse=sparse)
    table = read_table(path, aside=["kind", "age"])
    X = table.X.toarray() if sparse else table.X
    assert_array_equal(X, made.X.toarray() if sparse else made.X)
    assert table.labels.tolist() == IDS
    assert table.extra["kind"].tolist() == list("xyxyxyxy")
    assert_array_equal(table.extra["age"], range(8))
    assert_array_equal(read_table(f"{path}:obsm/X_pca").X, made.obsm["X_pca"])
    assert_array_equal(read_table(f"{path}:layers/counts").X, made.layers["counts"])
    A = made.obsp["connectivities"].toarray()
    labels = table.labels
    for word in ("obsp/connectivities", f"{path}:obsp/connectivities", path):
        graph = read_graph(word, labels, 8, table=table)
        assert_array_equal(graph.subgraph(labels).to_scipy().toarray(), A)
    column = read_column(f"{path}:obs/kind", labels[::-1], 8)
    assert column.values.tolist() == list("yxyxyxyx")
    assert read_column(f"{path}:age", None, 8).values.tolist() == list(range(8))


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        (":obsm/X_none", "no obsm called 'X_none'; there are: X_pca"),
        (":uns/x", "a key must be X, layers/NAME, obsm/NAME or obsp/NAME; got uns/x"),
        (":obsm", "a key must be X"),
    ],
)
def test_keys_that_are_not_there(word, sentence, tmp_path):
    path, _ = annotated(tmp_path, ".h5ad")
    with pytest.raises(FileError, match=sentence):
        read_table(f"{path}{word}")
    with pytest.raises(FileError, match="no obs column 'hue'; there are: age, kind"):
        read_table(path, aside=["hue"])
    table = read_table(path)
    with pytest.raises(FileError, match="no obsp called 'none'"):
        read_graph("obsp/none", table.labels, 8, table=table)


def test_a_key_needs_an_annotated_table(tmp_path, points):
    np.save(tmp_path / "a.npy", points)
    table = read_table(tmp_path / "a.npy")
    with pytest.raises(FileError, match="must be h5ad or an annotated zarr store"):
        read_graph("obsp/connectivities", None, 60, table=table)


def test_broken_stores_get_one_sentence(tmp_path):
    pytest.importorskip("anndata")
    (tmp_path / "a.h5ad").write_bytes(b"no such thing")
    with pytest.raises(FileError, match=r"not a readable .h5ad file"):
        read_table(tmp_path / "a.h5ad")
    pytest.importorskip("zarr")
    (tmp_path / "a.zarr").mkdir()
    with pytest.raises(FileError, match=r"not a readable .zarr file"):
        read_table(tmp_path / "a.zarr")


@pytest.mark.parametrize("suffix", [".h5ad", ".zarr"])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_a_copy_holds_the_embedding_and_all_else(suffix, tmp_path, rng):
    path, made = annotated(tmp_path, ".h5ad")
    anndata = pytest.importorskip("anndata")
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    out = tmp_path / f"out{suffix}"
    table = read_table(path)
    for _ in range(2):  # the second takes the place of the first
        Z = rng.random((8, 2))
        write_table(out, Z, table.labels, ["c1", "c2"], table=table)
        found = getattr(anndata, f"read_{suffix[1:]}")(out)
        assert_array_equal(found.obsm["X_graphfold"], Z)
    assert_array_equal(found.obsm["X_pca"], made.obsm["X_pca"])
    assert found.obs["kind"].tolist() == list("xyxyxyxy")
    assert "X_graphfold" not in anndata.read_h5ad(path).obsm
    again = read_table(out, words=True)
    assert_array_equal(again.X, Z)
    assert list(again.extra) == ["kind", "age"]
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".graphfold")]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_an_embedding_alone_in_h5ad(tmp_path, rng):
    pytest.importorskip("anndata")
    Z = rng.random((3, 2))
    write_table(tmp_path / "o.h5ad", Z, np.array(["a", "b", "c"]), ["c1", "c2"])
    table = read_table(tmp_path / "o.h5ad", words=True)
    assert_array_equal(table.X, Z)
    assert table.labels.tolist() == ["a", "b", "c"]
    with pytest.raises(FileError, match="has no X; name a table in it: obsm/X_graph"):
        read_table(tmp_path / "o.h5ad")


def test_plain_zarr_arrays_and_groups(tmp_path, points):
    zarr = pytest.importorskip("zarr")
    zarr.save_array(str(tmp_path / "a.zarr"), points)
    zarr.save_group(str(tmp_path / "b.zarr"), X=points, other=np.ones(3))
    zarr.save_group(str(tmp_path / "c.zarr"), one=points, other=np.ones(3))
    for word in ("a.zarr", "b.zarr", "b.zarr:X", "c.zarr:one"):
        assert_array_equal(np.asarray(read_table(tmp_path / word).X), points)
    with pytest.raises(FileError, match="no array called 'X'; there are: one, other"):
        read_table(tmp_path / "c.zarr")
    with pytest.raises(FileError, match="no columns beside its array; got kind"):
        read_table(tmp_path / "a.zarr", aside=["kind"])
    write_table(tmp_path / "o.zarr", points, None, [])
    write_table(tmp_path / "o.zarr", points + 1, None, [])
    assert_array_equal(np.asarray(read_table(tmp_path / "o.zarr").X), points + 1)


@pytest.mark.parametrize("number", [1, 2])
def test_an_interrupt_while_a_store_is_replaced_loses_neither(
    tmp_path, monkeypatch, number
):
    """Where two folders cannot change places in one call, two of them are made."""
    path = tmp_path / "a.zarr"
    path.mkdir()
    (path / "old").touch()
    rename, calls = os.rename, []

    def interrupted(*arguments):
        rename(*arguments)
        calls.append(arguments)
        if len(calls) == number:
            raise KeyboardInterrupt

    def fill(folder):
        os.mkdir(folder)
        Path(folder, "new").touch()

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", interrupted)
        patch.setattr(replacing, "_exchanged", lambda *names: False)
        with pytest.raises(KeyboardInterrupt):
            replace_folder(path, fill)
    assert os.listdir(path) == [{1: "old", 2: "new"}[number]]
    assert os.listdir(tmp_path) == ["a.zarr"]
