"""The command line: every format in and out, one sentence on a mistake."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from numpy.testing import assert_allclose

import graphfold
from graphfold import Graph, GraphKernelPCA, NeighborGraph
from graphfold.cli import main

LABELS = [f"row{i}" for i in range(60)]


@pytest.fixture
def edges(points):
    return sp.triu(NeighborGraph(4).build(points).to_scipy()).nonzero()


@pytest.fixture
def expected(points, edges):
    graph = Graph.from_edges(*edges, nodes=np.arange(60))
    return GraphKernelPCA(3, graph=graph).fit_transform(points)


def embed(folder, data, graph, output="out.csv", *more):
    paths = [str(folder / data), "--graph", str(folder / graph)]
    return main(["embed", *paths, "-d", "3", "-o", str(folder / output), *more])


def write(folder, name, points, labels=None):
    path = folder / name
    if path.suffix in (".csv", ".tsv"):
        frame = pd.DataFrame(points, index=labels)
        frame.to_csv(
            path, sep="\t" if path.suffix == ".tsv" else ",", index=labels is not None
        )
    elif path.suffix == ".parquet":
        frame = pd.DataFrame(points, columns=list("abcde"))
        if labels is not None:
            frame.insert(0, "id", labels)
        frame.to_parquet(path)
    elif path.suffix == ".npy":
        np.save(path, points)
    elif path.suffix == ".npz":
        np.savez(path, X=points)
    else:
        scipy.io.mmwrite(path, points)


def read(path):
    if path.suffix == ".csv":
        return pd.read_csv(path, index_col=0).to_numpy()
    if path.suffix == ".tsv":
        return pd.read_csv(path, sep="\t", index_col=0).to_numpy()
    if path.suffix == ".parquet":
        return pd.read_parquet(path).iloc[:, 1:].to_numpy()
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".npz":
        return np.load(path)["embedding"]
    return scipy.io.mmread(path)


SUFFIXES = [".csv", ".tsv", ".npy", ".npz", ".parquet", ".mtx"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_in_and_out(suffix, points, edges, expected, tmp_path):
    write(tmp_path, f"data{suffix}", points)
    pd.DataFrame({"source": edges[0], "target": edges[1]}).to_csv(
        tmp_path / "edges.csv", index=False
    )
    assert embed(tmp_path, f"data{suffix}", "edges.csv", f"out{suffix}") == 0
    assert_allclose(read(tmp_path / f"out{suffix}"), expected, atol=1e-9)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npy", ".npz", ".parquet", ".mtx"])
def test_every_format_of_a_graph(suffix, points, edges, expected, tmp_path):
    write(tmp_path, "data.csv", points)
    path = tmp_path / f"graph{suffix}"
    A = Graph.from_edges(*edges, nodes=np.arange(60)).to_scipy()
    if suffix in (".csv", ".tsv", ".parquet"):
        frame = pd.DataFrame({"source": edges[0], "target": edges[1]})
        if suffix == ".parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, sep="\t" if suffix == ".tsv" else ",", index=False)
    elif suffix == ".npy":
        np.save(path, np.column_stack(edges))
    elif suffix == ".npz":
        sp.save_npz(path, sp.csr_matrix(A))
    else:
        scipy.io.mmwrite(path, A)
    assert embed(tmp_path, "data.csv", path.name) == 0
    assert_allclose(read(tmp_path / "out.csv"), expected, atol=1e-9)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_names_in_the_first_column_are_labels(
    suffix, points, edges, expected, tmp_path, rng
):
    order = rng.permutation(60)
    labels = np.array(LABELS)
    write(tmp_path, f"data{suffix}", points[order], labels[order])
    frame = pd.DataFrame(
        {"source": labels[edges[0]], "target": labels[edges[1]], "w": 1.0}
    )
    frame.to_csv(tmp_path / "edges.csv", index=False, header=False)
    assert embed(tmp_path, f"data{suffix}", "edges.csv") == 0
    found = pd.read_csv(tmp_path / "out.csv", index_col="id")
    assert_allclose(found.loc[LABELS], expected, atol=1e-8)


def test_the_model_can_be_kept(points, tmp_path, capsys):
    write(tmp_path, "data.npy", points)
    model = str(tmp_path / "model.npz")
    arguments = ["embed", str(tmp_path / "data.npy"), "-o", str(tmp_path / "o.npy")]
    assert main([*arguments, "--model", model, "--kernel", "linear"]) == 0
    assert "60 rows, M = P (1 K[linear]) P" in capsys.readouterr().out
    assert_allclose(graphfold.load(model).embedding_, np.load(tmp_path / "o.npy"))


def test_the_strength_may_choose_itself(points, tmp_path, capsys):
    write(tmp_path, "data.npy", points)
    A = np.triu(np.random.default_rng(0).random((60, 60)) < 0.1, 1)
    np.save(tmp_path / "graph.npy", (A + A.T).astype(float))
    model = str(tmp_path / "model.npz")
    more = ["--strength", "auto", "--model", model]
    assert embed(tmp_path, "data.npy", "graph.npy", "o.npy", *more) == 0
    assert graphfold.load(model).strength_path_.scored_by == "columns"


MISTAKES = {
    "no file": (["embed", "nothing.csv", "-o", "o.csv"], "nothing.csv is not a file"),
    "unknown format": (["embed", "x.docx", "-o", "o.csv"], "must end in one of .csv"),
    "unknown output": (["embed", "data.csv", "-o", "o.docx"], "must end in one of"),
    "too many": (["embed", "data.csv", "-d", "99", "-o", "o.csv"], "between 1 and 60"),
    "kernel": (["embed", "data.csv", "--kernel", "x", "-o", "o.csv"], "kernel must be"),
    "words": (["embed", "words.csv", "-o", "o.csv"], "must hold numbers"),
    "ragged": (["embed", "ragged.csv", "-o", "o.csv"], "line 3 has 1"),
    "empty": (["embed", "empty.csv", "-o", "o.csv"], "it is empty"),
    "several arrays": (["embed", "two.npz", "-o", "o.csv"], "one called X"),
    "graph": (
        ["embed", "data.csv", "--graph", "data.csv", "-o", "o.csv"],
        "list edges",
    ),
    "edge of names": (
        ["embed", "data.csv", "--graph", "names.csv", "-o", "o.csv"],
        "rows by number",
    ),
    "folder": (["embed", "data.csv", "-o", "no/such/o.csv"], "is not a folder"),
}


@pytest.mark.parametrize(("arguments", "text"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_gets_one_sentence(
    arguments, text, points, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "data.csv", points)
    (tmp_path / "words.csv").write_text("a,b\nx,1\ny,z\n")
    (tmp_path / "ragged.csv").write_text("1,2\n3,4\n5\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "names.csv").write_text("u,v\n")
    (tmp_path / "names.csv").write_text("x,y\n")
    np.savez(tmp_path / "two.npz", a=np.ones(3), b=np.ones(3))
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.startswith("graphfold: ")
    assert "Traceback" not in error


def test_debug_shows_the_traceback(tmp_path):
    with pytest.raises(ValueError, match="not a file"):
        main(["--debug", "embed", "nothing.csv", "-o", "o.csv"])


def test_demo_prints_a_table_and_draws_a_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="the picture needs the plot extra")
    path = tmp_path / "demo.png"
    assert main(["demo", "-o", str(path)]) == 0
    output = capsys.readouterr().out
    scores = {
        line.split()[0]: [float(word) for word in line.split()[1:3]]
        for line in output.splitlines()
        if line.startswith(("PCA", "KernelPCA", "GraphKernelPCA"))
    }
    assert scores["GraphKernelPCA"][0] > scores["KernelPCA"][0] + 0.15
    assert scores["GraphKernelPCA"][1] < scores["KernelPCA"][1] - 0.1
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 20_000


def test_the_installed_command_and_the_module_answer():
    result = subprocess.run(
        [sys.executable, "-m", "graphfold", "--version"], capture_output=True, text=True
    )
    assert result.stdout.strip() == graphfold.__version__
