"""Outputs never replace what is read, and files of others only with --overwrite."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from graphfold.cli import main

ROWS = "id,x,y\na,1,2\nb,3,5\nc,4,1\nd,0,2\ne,7,7\n"
EDGES = "source,target\na,b\nb,c\nd,e\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "kinds.csv").write_text("id,kind\na,1\nb,1\nc,2\nd,2\ne,1\n")
    (tmp_path / "pairs.csv").write_text("source,target\na,b\n")
    (tmp_path / "links.json").write_text('{"must_link": [["a", "b"]]}')
    return tmp_path


def refused(words, capsys):
    """The sentence of a command that changes nothing."""
    before = content()
    assert main([*words, "--quiet"]) == 2
    assert content() == before
    return capsys.readouterr().err


def content():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
@pytest.mark.parametrize(
    "words",
    [
        ["-o", "data.csv"],
        ["-o", "./data.csv"],
        ["-o", "edges.csv", "--graph", "edges.csv"],
        ["-o", "edges.csv", "--graph", "roads=edges.csv"],
        ["-o", "kinds.csv", "--labels", "kinds.csv"],
        ["-o", "kinds.csv", "--labels", "kinds.csv:kind"],
        ["-o", "pairs.csv", "--must-link", "pairs.csv"],
        ["-o", "pairs.csv", "--cannot-link", "pairs.csv"],
    ],
)
def test_an_input_is_never_replaced(words, overwrite, capsys):
    said = refused(["embed", "data.csv", *words, *overwrite], capsys)
    assert "which is read: choose another name" in said


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_links_are_followed(link, capsys):
    link("data.csv", "other.csv")
    assert "which is read" in refused(["embed", "data.csv", "-o", "other.csv"], capsys)
    assert "which is read" in refused(["embed", "other.csv", "-o", "data.csv"], capsys)


def test_a_model_or_map_does_not_replace_an_input(capsys):
    np.savez("data.npz", X=np.random.default_rng(0).random((6, 3)))
    words = ["embed", "data.npz", "-o", "out.csv", "--model", "data.npz", "--overwrite"]
    assert "--model data.npz would replace data.npz" in refused(words, capsys)
    os.symlink("data.npz", "map.html")
    words = ["embed", "data.npz", "-o", "out.csv", "--map", "map.html", "--overwrite"]
    assert "--map map.html would replace data.npz" in refused(words, capsys)


def test_two_outputs_are_two_files(capsys):
    words = ["embed", "data.csv", "-o", "out.npz", "--model", "out.npz"]
    assert "-o and --model must name different files" in refused(words, capsys)


def test_a_page_does_not_replace_what_it_shows(capsys):
    assert main(["embed", "data.csv", "-o", "out.csv", "--model", "m.npz"]) == 0
    os.symlink("out.csv", "out.html")
    os.symlink("m.npz", "m.html")
    said = refused(["view", "out.csv", "-o", "out.html", "--overwrite"], capsys)
    assert "would replace out.csv" in said
    said = refused(["report", "m.npz", "-o", "m.html", "--overwrite"], capsys)
    assert "would replace m.npz" in said


def test_a_store_does_not_replace_itself_or_what_lies_in_it(capsys):
    zarr = pytest.importorskip("zarr")
    zarr.save_group("data.zarr", X=np.random.default_rng(0).random((6, 3)))
    for data in ("data.zarr", "data.zarr:X", "data.zarr/X"):
        words = ["embed", data, "-o", "data.zarr", "--overwrite"]
        if data == "data.zarr/X":
            os.rename("data.zarr/X", "data.zarr/X.zarr")
            words[1] = "data.zarr/X.zarr"
        assert "which is read" in refused(words, capsys)


FORMATS = [".csv", ".tsv", ".csv.gz", ".npz", ".mtx", ".parquet", ".zarr", ".h5ad"]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.filterwarnings("ignore")
def test_a_command_can_be_run_again(suffix):
    needed = {".parquet": "pyarrow", ".zarr": "zarr", ".h5ad": "anndata"}
    if suffix in needed:
        pytest.importorskip(needed[suffix])
    words = ["embed", "data.csv", "-o", f"out{suffix}", "--model", "m.npz"]
    for _ in range(2):
        assert main([*words, "--map", "m.html", "--quiet"]) == 0


@pytest.mark.filterwarnings("ignore")
def test_a_copy_of_an_annotated_table_can_be_written_again():
    anndata = pytest.importorskip("anndata")
    pytest.importorskip("zarr")
    X = np.random.default_rng(0).random((6, 3))
    anndata.AnnData(X).write_h5ad("cells.h5ad")
    for name in ("out.h5ad", "out.zarr", "out.h5ad"):
        for _ in range(2):
            assert main(["embed", "cells.h5ad", "-o", name, "--quiet"]) == 0
    assert main(["embed", "out.zarr", "-o", "more.zarr", "--quiet"]) == 0
    found = anndata.read_zarr("more.zarr")
    np.testing.assert_array_equal(found.X, X)
    assert found.obsm["X_graphfold"].shape == (6, 2)


def foreign(suffix):
    """A file of somebody else's at the place of the output."""
    X = np.random.default_rng(0).random((6, 3))
    name = f"theirs{suffix}"
    if suffix in (".csv", ".html"):
        Path(name).write_text("precious\n1\n")
    elif suffix == ".npy":
        np.save(name, X)
    elif suffix == ".npz":
        np.savez(name, X=X)
    elif suffix == ".mtx":
        import scipy.io

        scipy.io.mmwrite(name, X)
    elif suffix == ".parquet":
        pytest.importorskip("pyarrow")
        pd.DataFrame({"a": [1.0]}).to_parquet(name)
    elif suffix == ".zarr":
        pytest.importorskip("zarr").save_array(name, X)
    else:
        anndata = pytest.importorskip("anndata")
        anndata.AnnData(X, obsm={"X_graphfold": X}).write_h5ad(name)
    return name


@pytest.mark.parametrize(
    "suffix", [".csv", ".npy", ".npz", ".mtx", ".parquet", ".zarr", ".h5ad"]
)
@pytest.mark.filterwarnings("ignore")
def test_a_file_of_others_needs_the_option(suffix, capsys):
    name = foreign(suffix)
    words = ["embed", "data.csv", "-o", name]
    assert "say --overwrite" in refused(words, capsys)
    assert main([*words, "--overwrite", "--quiet"]) == 0


@pytest.mark.parametrize("option", ["--model", "--map"])
def test_so_do_models_and_maps_of_others(option, capsys):
    name = foreign(".npz" if option == "--model" else ".html")
    words = ["embed", "data.csv", "-o", "out.csv", option, name]
    assert f"another name for {option}" in refused(words, capsys)
    assert main([*words, "--overwrite", "--quiet"]) == 0
    assert main([*words, "--quiet"]) == 0  # it is ours by now


def test_on_workers_an_input_is_not_replaced_either(capsys):
    pytest.importorskip("dask.dataframe")
    pytest.importorskip("pyarrow")
    os.mkdir("rows.parquet")
    rows = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8.0) ** 2})
    rows.to_parquet("rows.parquet/part.0.parquet")
    words = ["embed", "rows.parquet", "-o", "rows.parquet", "--workers", "1"]
    assert "which is read" in refused([*words, "--overwrite"], capsys)
