"""``graphfold embed``: every format in and out, and what the options mean."""

import json
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import graphfold
from graphfold import (
    Graph,
    GraphKernelPCA,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    responses,
)
from graphfold.cli import embed, main
from graphfold.files import read_table
from tests.cli.command import answer
from tests.cli.command import graphfold as command
from tests.cli.conftest import LABELS


@pytest.fixture
def known(edges):
    return Graph.from_edges(LABELS[edges[0]], LABELS[edges[1]], nodes=LABELS)


def write(path, points):
    name = path.name
    frame = pd.DataFrame(points, columns=list("abcde"))
    if name.endswith((".csv", ".csv.gz")):
        frame.to_csv(path, index=False)
    elif path.suffix == ".tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".npy":
        np.save(path, points)
    elif path.suffix == ".npz":
        np.savez(path, X=points)
    elif path.suffix == ".mtx":
        scipy.io.mmwrite(path, points)
    elif path.suffix == ".zarr":
        pytest.importorskip("zarr").save_array(str(path), points)
    else:
        anndata = pytest.importorskip("anndata")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            anndata.AnnData(points).write_h5ad(path)


SUFFIXES = (
    ".csv",
    ".csv.gz",
    ".tsv",
    ".npy",
    ".npz",
    ".parquet",
    ".mtx",
    ".h5ad",
    ".zarr",
)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_in_and_out(suffix, points, edges, tmp_path):
    write(tmp_path / f"data{suffix}", points)
    np.save(tmp_path / "edges.npy", np.column_stack(edges))
    words = [f"data{suffix}", "--graph", "edges.npy", "-d", "3", "-o", f"out{suffix}"]
    said = command("embed", *words, cwd=tmp_path)
    assert said.stdout.endswith(f"\nwrote out{suffix}\n")
    assert "60 rows, M = P (1 K[rbf]" in said.stdout
    assert said.stderr == ""
    graph = Graph.from_edges(*edges, nodes=np.arange(60))
    expected = GraphKernelPCA(3, graph=graph).fit_transform(points)
    found = read_table(tmp_path / f"out{suffix}", words=True).X
    assert_allclose(np.asarray(found), expected, atol=1e-8)


def write_graphs(folder, edges):
    names = LABELS[edges[0]], LABELS[edges[1]]
    frame = pd.DataFrame({"source": names[0], "target": names[1], "weight": 1.0})
    frame.to_csv(folder / "g.csv", index=False)
    frame.to_csv(folder / "g.tsv", index=False, header=False, sep="\t")
    frame.to_parquet(folder / "g.parquet")
    graph = nx.Graph()
    graph.add_nodes_from(LABELS.tolist())
    graph.add_edges_from(zip(*names, strict=True))
    nx.write_graphml(graph, folder / "g.graphml")
    A = nx.to_scipy_sparse_array(graph, nodelist=LABELS.tolist(), dtype=float)
    np.save(folder / "g.npy", A.toarray())
    sp.save_npz(folder / "g.npz", sp.csr_matrix(A))
    scipy.io.mmwrite(folder / "g.mtx", sp.coo_matrix(A))


def test_every_format_of_a_graph(folder, edges, known, points):
    write_graphs(folder, edges)
    kinds = ["csv", "tsv", "parquet", "graphml", "npy", "npz", "mtx"]
    words = [word for kind in kinds for word in ("--graph", f"{kind}=g.{kind}")]
    said = answer(
        "embed",
        "data.csv",
        "--label-column",
        "kind",
        *words,
        "-o",
        "out.csv",
        cwd=folder,
    )
    assert list(said["graph_weights"]) == kinds
    weights = list(said["graph_weights"].values())
    assert_allclose(weights, weights[0], rtol=1e-6)  # they are one graph
    expected = GraphKernelPCA(2, graph=known).fit_transform(points, node_ids=LABELS)
    found = read_table(folder / "out.csv", words=True)
    assert found.labels.tolist() == LABELS.tolist()
    assert_allclose(found.X, expected, atol=1e-2)  # of several graphs of that size


def test_a_graph_among_the_annotations(points, edges, tmp_path):
    anndata = pytest.importorskip("anndata")
    A = sp.coo_array((np.ones(len(edges[0])), edges), shape=(60, 60))
    made = anndata.AnnData(
        points.astype(np.float64), obsp={"near": sp.csr_matrix(A + A.T)}
    )
    made.obs_names = LABELS.tolist()
    made.obs["kind"] = np.where(points[:, 0] > 1, "high", "low")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.write_h5ad(tmp_path / "cells.h5ad")
    words = ["--graph", "obsp/near", "--label-column", "kind", "-o", "out.h5ad"]
    said = answer("embed", "cells.h5ad", *words, cwd=tmp_path)
    assert said["wrote"] == ["out.h5ad"]
    graph = Graph(A + A.T, nodes=LABELS)
    expected = GraphKernelPCA(2, graph=graph).fit_transform(points, node_ids=LABELS)
    written = anndata.read_h5ad(tmp_path / "out.h5ad")
    assert_allclose(written.obsm["X_graphfold"], expected, atol=1e-8)
    assert_array_equal(written.X, points)


def test_names_in_the_first_column_are_labels(folder, points, known, rng):
    order = rng.permutation(60)
    frame = pd.read_csv(folder / "data.csv", index_col="id").iloc[order]
    frame.to_csv(folder / "mixed.csv")
    words = ["mixed.csv", "--label-column", "kind", "--graph", "edges.csv"]
    assert main(["embed", *words, "-o", "out.csv"]) == 0
    found = pd.read_csv(folder / "out.csv", index_col="id").loc[LABELS]
    expected = GraphKernelPCA(2, graph=known).fit_transform(points, node_ids=LABELS)
    assert_allclose(found[["component1", "component2"]], expected, atol=1e-8)
    assert found["kind"].tolist() == np.where(points[:, 0] > 1, "high", "low").tolist()


def fitted(*words):
    """The model that embed saves for these options."""
    words = [*words, "-o", "out.npy", "--overwrite", "--model", "model.npz"]
    code = main(["embed", *words, "--quiet"])
    assert code == 0
    return graphfold.load("model.npz")


def test_the_model_can_be_kept(folder, capsys):
    words = ["embed", "plain.npy", "-o", "out.npy", "--kernel", "linear"]
    assert main([*words, "--model", "model.npz"]) == 0
    said = capsys.readouterr()
    assert "60 rows, M = P (1 K[linear]) P" in said.out
    assert "wrote out.npy, model.npz" in said.out
    assert_allclose(graphfold.load("model.npz").embedding_, np.load("out.npy"))


def test_options_reach_the_estimator(folder, points):
    model = fitted(
        *("plain.npy", "-d", "4", "--kernel", "rbf", "--kernel", "linear"),
        *("--neighbors", "3", "--strength", "2.5", "--laplacian", "combinatorial"),
        *("--response", "diffusion=0.5", "--scaling", "unit", "--gamma", "0.3"),
        *("--landmarks", "30", "--max-memory", "1GB", "--seed", "7"),
    )
    params = model.get_params(deep=False)
    assert params["n_components"] == 4
    assert params["kernel"] == ["rbf", "linear"]
    assert isinstance(params["graph"], NeighborGraph)
    assert params["graph"].n_neighbors == 3
    assert isinstance(params["response"], responses.Diffusion)
    assert params["response"].scale == 0.5
    assert (params["graph_strength"], params["gamma"]) == (2.5, 0.3)
    assert (params["laplacian"], params["scaling"]) == ("combinatorial", "unit")
    assert (params["landmarks"], params["random_state"]) == (30, 7)
    assert params["max_memory"] == "1GB"


def test_no_kernel_is_the_graph_alone(folder):
    model = fitted("plain.npy", "--kernel", "none", "--neighbors", "4")
    assert model.kernel_names_ == []


def test_graphs_have_names(folder, edges):
    np.save("g1.npy", np.column_stack(edges))
    words = ["plain.npy", "--graph", "known=g1.npy", "--graph", "g1.npy"]
    model = fitted(*words, "--neighbors", "3", "--strength", "auto")
    assert model.graph_names_ == ["known", "g1", "neighbors"]
    assert model.strength_path_.scored_by == "columns"


def test_a_few_classes_are_listened_to(folder, points):
    kinds = np.where(points[:, 0] > 1, "high", "low").astype(object)
    kinds[10:] = ""
    pd.DataFrame({"id": LABELS, "kind": kinds}).to_csv("few.csv", index=False)
    words = ["data.csv", "--label-column", "kind", "--semi-supervised"]
    assert fitted(*words).constraint_report_.n_labelled == 60
    words = ["plain.npy", "--labels", "few.csv:kind", "--semi-supervised"]
    model = fitted(*words)
    y = [kind or None for kind in kinds]
    expected = SemiSupervisedGraphKernelPCA(2).fit_transform(points, y)
    assert_allclose(model.embedding_, expected, atol=1e-10)


def test_pairs_of_the_map_are_listened_to(folder):
    (folder / "must.csv").write_text("source,target\nrow0,row1\nrow2,row3\n")
    (folder / "cannot.csv").write_text("source,target\nrow0,row9\n")
    both = {"must_link": [["row4", "row5"]], "cannot_link": [["row4", "row6"]]}
    (folder / "links.json").write_text(json.dumps(both))
    data = ["data.csv", "--label-column", "kind"]
    apart = ["--must-link", "must.csv", "--cannot-link", "cannot.csv"]
    report = fitted(*data, *apart, "--links", "links.json").constraint_report_
    assert (report.n_must_pairs, report.n_cannot_pairs) == (3, 2)
    report = fitted(*data, "--must-link", "links.json").constraint_report_
    assert (report.n_must_pairs, report.n_cannot_pairs) == (1, 0)


def test_json_says_all_and_warnings_are_listed(folder):
    (folder / "more.csv").write_text("row0,row1\nrow1,x9\n")
    words = ["data.csv", "--label-column", "kind", "--graph", "more.csv", "-o", "o.csv"]
    found = command("embed", *words, "--json", cwd=folder)
    said = json.loads(found.stdout)
    assert found.stdout.count("\n") == 1
    assert said["command"] == "embed"
    assert (said["rows"], said["columns"], said["components"]) == (60, 5, 2)
    assert said["estimator"] == "GraphKernelPCA"
    assert said["converged"] is True
    assert said["wrote"] == ["o.csv"]
    assert set(said["stage_seconds"]) == {"reading", "fitting", "writing"}
    names = [warning["name"] for warning in said["warnings"]]
    assert names == ["UnknownRowsWarning", "DisconnectedGraphWarning"]
    lines = found.stderr.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("graphfold: warning: UnknownRowsWarning: 1 edges of")


def test_quiet_says_nothing(folder):
    (folder / "more.csv").write_text("row0,row1\nrow1,x9\n")
    words = ["data.csv", "--label-column", "kind", "--graph", "more.csv", "-o", "o.csv"]
    found = command("--quiet", "embed", *words, cwd=folder)
    assert found.stdout == found.stderr == ""


def test_a_long_fit_is_announced(folder, capsys, monkeypatch):
    monkeypatch.setattr(embed, "MANY_ROWS", 10)
    monkeypatch.setattr(embed, "LONG", 0.0)
    assert main(["embed", "plain.npy", "-o", "out.npy"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("graphfold: stored kernel of 60 rows")
    assert "; --landmarks 1000 takes about" in said


def test_the_map_is_asked_for_with_all_that_is_known(folder, points, monkeypatch):
    asked = {}

    def view(model, path, **more):
        asked.update(more, model=model, path=path)

    monkeypatch.setattr(graphfold, "view", view, raising=False)
    words = ["data.csv", "--label-column", "kind", "-o", "o.csv", "--map", "map.html"]
    assert main(["embed", *words]) == 0
    assert isinstance(asked["model"], GraphKernelPCA)
    assert asked["path"] == "map.html"
    assert list(asked["labels"]) == ["kind"]
    assert asked["ids"].tolist() == LABELS.tolist()
    assert_allclose(asked["X"], points)


def test_a_map_is_written(folder):
    words = ["data.csv", "--label-column", "kind", "-o", "o.csv", "--map", "map.html"]
    said = answer("embed", *words, cwd=folder)
    assert said["wrote"] == ["o.csv", "map.html"]
    page = (folder / "map.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html")
