"""``graphfold embed`` on Dask: the answer of one machine, and no worker left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import graphfold
from graphfold import Graph, GraphKernelPCA, NeighborGraph, SemiSupervisedGraphKernelPCA
from graphfold.cli import main
from tests.cli.command import graphfold as command
from tests.cli.command import without
from tests.distributed.problems import own_cluster

pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
zarr = pytest.importorskip("zarr")

N = 120
LABELS = np.array([f"row{i}" for i in range(N)])
#: of one machine, without the refinement that needs n numbers here
LEAN = {"landmarks": 40, "refine": False}
LANDMARKS = ["--landmarks", "40"]
DATA = ["embed", "data", "--label-column", "kind", *LANDMARKS]


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(3).standard_normal((N, 5)) + 1.0


@pytest.fixture(scope="module")
def kinds(X):
    return np.where(X[:, 0] > 1, "high", "low")


@pytest.fixture(scope="module")
def edges(X):
    return sp.triu(NeighborGraph(4).build(X).to_scipy()).nonzero()


@pytest.fixture
def known(edges):
    return Graph.from_edges(LABELS[edges[0]], LABELS[edges[1]], nodes=LABELS)


@pytest.fixture
def folder(X, kinds, edges, tmp_path, monkeypatch):
    """data/ with three files, edges of every kind, and data.zarr."""
    frame = pd.DataFrame(X, columns=list("abcde"), index=pd.Index(LABELS, name="who"))
    frame["kind"] = kinds
    (tmp_path / "data").mkdir()
    for i, rows in enumerate(np.array_split(np.arange(N), [50, 90])):
        frame.iloc[rows].to_parquet(tmp_path / "data" / f"part.{i}.parquet")
    ends = pd.DataFrame({"source": LABELS[edges[0]], "target": LABELS[edges[1]]})
    ends.to_parquet(tmp_path / "edges.parquet")
    ends.to_csv(tmp_path / "edges.csv", index=False)
    zarr.create_array(
        str(tmp_path / "data.zarr"), shape=X.shape, chunks=(32, 3), dtype=X.dtype
    )[:] = X
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """The address of a scheduler with one worker, as others have them running."""
    folder = tmp_path_factory.mktemp("cluster")
    known = str(folder / "scheduler.json")
    here = ["--host", "127.0.0.1", "--scheduler-file", known]
    run = partial(subprocess.Popen, cwd=folder, stderr=subprocess.DEVNULL)
    module = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    started = [run([*module, *here, "--port", "0", "--dashboard-address", ":0"])]
    try:
        module = [sys.executable, "-m", "distributed.cli.dask_worker"]
        more = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        started.append(run([*module, *here, *more]))
        yield _address_in(known, started)
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=30)


def _address_in(path, started):
    end = time.monotonic() + 60
    while time.monotonic() < end and started[0].poll() is None:
        try:
            with open(path) as stream:
                return json.load(stream)["address"]
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.1)
    raise AssertionError("the scheduler has not started")


def assert_same(found, expected):
    """Up to the signs of axes."""
    signs = np.sign(np.sum(np.asarray(found) * expected, axis=0))
    assert_allclose(np.asarray(found) * signs, expected, atol=1e-6)


def left_behind(group):
    """Processes of a group that still run; one that has ended is not waited for."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pgid=,stat=,pid="], capture_output=True, text=True
    ).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [pid for pgid, stat, pid in rows if pgid == str(group) and stat[0] != "Z"]


def test_parquet_in_and_out_is_the_answer_of_one_machine(folder, X, kinds, known):
    words = ["--graph", "edges.parquet", "-d", "3", "-o", "out.parquet"]
    found = command(*DATA, *words, "--workers", "2", "--json", cwd=folder)
    said = json.loads(found.stdout)
    assert (said["rows"], said["columns"], said["components"]) == (N, 5, 3)
    assert said["formula"].startswith("M = P (1 K[rbf] + ")
    assert said["dashboard"].startswith("http://127.0.0.1:")
    assert said["wrote"] == ["out.parquet"]
    assert (said["landmarks"], said["warnings"]) == (40, [])
    assert found.stderr == f"graphfold: dashboard: {said['dashboard']}\n"
    written = pd.read_parquet("out.parquet")
    assert len(os.listdir("out.parquet")) == 3
    assert list(written.columns) == [f"component{i}" for i in (1, 2, 3)] + ["kind"]
    assert_array_equal(written.index, LABELS)
    assert_array_equal(written["kind"], kinds)
    model = GraphKernelPCA(3, graph=known, **LEAN)
    assert_same(written.iloc[:, :3], model.fit_transform(X, node_ids=LABELS))
    assert not [name for name in os.listdir() if name.startswith(".graphfold-")]


def test_zarr_in_and_out(folder, X):
    words = ["data.zarr", "-o", "out.zarr", *LANDMARKS, "--memory-limit", "1GB"]
    found = command("embed", *words, "--workers", "1", "--quiet", cwd=folder)
    assert found.stdout == found.stderr == ""
    expected = GraphKernelPCA(2, **LEAN).fit_transform(X)
    assert_same(zarr.open_array("out.zarr")[:], expected)


# -- on a cluster that others have started --------------------------------------------


@own_cluster
def test_rows_may_go_to_a_cluster_that_is_there(folder, X, known, scheduler, capsys):
    words = ["--graph", "edges.csv", "-o", "out.parquet", "--dask", scheduler]
    found = command(*DATA, *words, "--model", "model.npz", cwd=folder)
    assert f"{N} rows, M = P (1 K[rbf]" in found.stdout
    assert found.stdout.endswith("\nwrote out.parquet, model.npz\n")
    assert found.stderr.startswith("graphfold: dashboard: http://127.0.0.1:")
    model = GraphKernelPCA(2, graph=known, **LEAN)
    expected = model.fit_transform(X, node_ids=LABELS)
    assert_same(pd.read_parquet("out.parquet").iloc[:, :2], expected)
    kept = graphfold.load("model.npz")
    assert_allclose(kept.eigenvalues_, model.eigenvalues_, rtol=1e-6)
    for words in (["report", "model.npz"], ["view", "model.npz", "-o", "map.html"]):
        assert main(words) == 2
        assert "has no embedding" in capsys.readouterr().err


@own_cluster
def test_classes_and_pairs_are_listened_to(folder, X, kinds, scheduler):
    few = kinds.astype(object)
    few[30:] = ""
    frame = pd.DataFrame(X, columns=list("abcde")).assign(id=np.arange(N), few=few)
    frame[["id", "few", *"abcde"]].to_parquet("few.parquet", row_group_size=50)
    (folder / "links.json").write_text('{"must_link": [[40, 41], [42, 999]]}')
    words = ["few.parquet", "--label-column", "few", "--semi-supervised", *LANDMARKS]
    words += ["--links", "links.json", "-o", "out.parquet", "--dask", scheduler]
    command("embed", *words, cwd=folder)
    model = SemiSupervisedGraphKernelPCA(2, must_link=[(40, 41)], **LEAN)
    expected = model.fit_transform(X, [kind or None for kind in few])
    found = pd.read_parquet("out.parquet")
    assert_same(found.iloc[:, :2], expected)
    assert found["few"].tolist() == few.tolist()


@own_cluster
def test_graphs_of_other_formats_meet_the_rows(folder, X, edges, known, scheduler):
    A = known.to_scipy()
    sp.save_npz("square.npz", sp.csr_matrix(A))
    words = ["--graph", "known=edges.csv", "--graph", "square.npz", "-o", "out.zarr"]
    command(*DATA, *words, "--dask", scheduler, cwd=folder)
    graphs = {"known": known, "square": known}
    model = GraphKernelPCA(2, graph=graphs, **LEAN)
    expected = model.fit_transform(X, node_ids=LABELS)
    assert_same(zarr.open_array("out.zarr")[:], expected)


def test_what_workers_find_wrong_is_one_sentence(folder, scheduler):
    (folder / "ragged.csv").write_text("source,target\nrow0,row1\nrow1,row2,row3\n")
    words = ["--graph", "ragged.csv", "-o", "out.parquet", "--dask", scheduler]
    found = command(*DATA, *words, cwd=folder, code=2)
    line = found.stderr.splitlines()[-1]
    assert line.startswith("graphfold: ragged.csv is not a readable .csv file: ")
    assert found.stderr.count("\n") == 2  # the dashboard, the mistake
    assert not os.path.exists("out.parquet")


# -- mistakes -------------------------------------------------------------------------

OUT = ["-o", "o.parquet"]
MISTAKES = {
    "both": ([*DATA, *OUT, "--workers", "1", "--dask", "x:1"], "say either"),
    "no workers": ([*DATA, *OUT, "--workers", "0"], "whole number from 1; got '0'"),
    "limit alone": ([*DATA, *OUT, "--memory-limit", "1GB"], "say --workers N"),
    "limit": (
        [*DATA, *OUT, "--workers", "1", "--memory-limit", "lots"],
        "a size such as 4GB; got lots",
    ),
    "csv in": (
        ["embed", "edges.csv", *OUT, "--workers", "1"],
        "a parquet file, a folder of them, or a zarr array (.zarr); got edges.csv",
    ),
    "csv out": (
        [*DATA, "-o", "o.csv", "--workers", "1"],
        "a folder that ends in .parquet or .zarr; got o.csv",
    ),
    "no file": (["embed", "none.parquet", *OUT, "--workers", "1"], "neither a file"),
    "map": (
        [*DATA, *OUT, "--workers", "1", "--map", "m.html"],
        "--map does not go with --workers: a map needs all points here",
    ),
    "labels": (
        [*DATA, *OUT, "--dask", "x:1", "--labels", "l.csv"],
        "--labels does not go with --dask",
    ),
    "memory": (
        [*DATA, *OUT, "--workers", "1", "--max-memory", "1GB"],
        "say --memory-limit with --workers",
    ),
    "strength": (
        [*DATA, *OUT, "--workers", "1", "--strength", "auto"],
        "must be a number with --workers; got auto",
    ),
    "classes": (
        ["embed", "data.zarr", *OUT, "--workers", "1", "--semi-supervised"],
        "needs classes",
    ),
    "model": (
        [*DATA, *OUT, "--workers", "1", "--model", "m.pkl"],
        "must end in one of .npz",
    ),
    "graph": (
        [*DATA, *OUT, "--workers", "1", "--graph", "none.csv"],
        "none.csv is not a file",
    ),
    "graph twice": (
        [*DATA, *OUT, "--workers", "1", *["--graph", "edges.csv"] * 2],
        "edges is twice",
    ),
    "address": ([*DATA, *OUT, "--dask", "foo"], "missing port number"),
}


@pytest.mark.parametrize(("words", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence_before_any_worker(words, sentence, folder, capsys):
    assert main(words) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.startswith("graphfold: ")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not os.path.exists("o.parquet")


@own_cluster
def test_an_address_where_nobody_listens_is_one_sentence(folder):
    found = command(*DATA, *OUT, "--dask", "tcp://127.0.0.1:1", cwd=folder, code=2)
    assert found.stderr.startswith("graphfold: --dask must be the address of a sched")
    assert "at tcp://127.0.0.1:1 there is none: " in found.stderr
    assert found.stderr.count("\n") == 1


def test_dask_is_imported_for_its_options_alone(folder, X):
    np.save("plain.npy", X)
    script = (
        "import sys; from graphfold.cli import main\n"
        "assert main(['embed', 'plain.npy', '-o', 'o.npy', '--quiet']) == 0\n"
        "assert not {'dask', 'distributed'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=folder)
    env = without("dask", folder)
    found = command(*DATA, *OUT, "--workers", "1", cwd=folder, code=2, env=env)
    line = "this needs dask: pip install 'graphfold[dask]'"
    assert found.stderr == f"graphfold: {line}\n"


@own_cluster
@pytest.mark.skipif(sys.platform == "win32", reason="signals to groups are POSIX")
def test_an_interrupt_leaves_no_file_and_no_worker(tmp_path, rng):
    frame = pd.DataFrame(rng.standard_normal((60_000, 20))).rename(columns=str)
    frame.to_parquet(tmp_path / "many.parquet", row_group_size=10_000)
    words = ["embed", "many.parquet", "-v", "--landmarks", "1500", *OUT]
    process = subprocess.Popen(
        [sys.executable, "-m", "graphfold", *words, "--workers", "2"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a test run in the background ignores interrupts, and its children would
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr.readline().startswith("graphfold: dashboard: ")
    assert process.stderr.readline().startswith("[GraphKernelPCA] ")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it, too
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    before, stopped, _ = said.partition("graphfold: stopped\n")
    assert stopped and "Traceback" not in before, said
    assert os.listdir(tmp_path) == ["many.parquet"]
    assert left_behind(process.pid) == []
