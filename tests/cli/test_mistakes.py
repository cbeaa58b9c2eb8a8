"""Every mistake gets one sentence and the code 2; a bug gets 1, an interrupt 130."""

import json
import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from graphfold.cli import embed, main, shell
from tests.cli.command import graphfold as command
from tests.cli.command import without

DATA = ["embed", "data.csv", "--label-column", "kind"]
OUT = ["-o", "o.csv"]


def write_mistakes(folder):
    np.savez(folder / "two.npz", a=np.ones(3), b=np.ones(3))
    np.save(folder / "pickled.npy", np.array([{}], dtype=object))
    np.save(folder / "nan.npy", np.array([[1.0, 2.0], [np.nan, 1.0]]))
    np.save(folder / "one.npy", np.ones((1, 3)))
    np.save(folder / "small.npy", np.ones((4, 4)))
    sp.save_npz(folder / "wide.npz", sp.csr_matrix(np.ones((60, 5))))
    (folder / "ragged.csv").write_text("a,b\n1,2\n3,4\n5\n")
    (folder / "words.csv").write_text("a,b\nx,1\ny,z\n")
    (folder / "gap.csv").write_text("a,b\n1,2\n3,\n")
    (folder / "empty.csv").write_text("")
    (folder / "twice.csv").write_text("id,x\na,1\na,2\n")
    (folder / "names.csv").write_text("x,y\ny,z\n")
    (folder / "far.csv").write_text("0,1\n1,60\n")
    (folder / "links.json").write_text("{")
    for suffix in ("npy", "npz", "parquet", "mtx", "h5ad", "graphml"):
        (folder / f"broken.{suffix}").write_bytes(b"no such thing")
    (folder / "broken.zarr").mkdir()


#: a few in a process of their own; the others have the same way out
SHOWN = {
    "no verb": ([], "required: COMMAND; see graphfold --help"),
    "no file": (["embed", "nothing.csv", *OUT], "nothing.csv is not a file"),
    "words": (["embed", "words.csv", *OUT], "line 3, column 'b' has 'z'"),
    "not a model": (["view", "two.npz", "-o", "m.html"], "one array, or one called X"),
}


@pytest.mark.parametrize(("words", "sentence"), SHOWN.values(), ids=SHOWN)
def test_a_mistake_is_one_line_and_the_code_two(words, sentence, folder):
    write_mistakes(folder)
    found = command(*words, cwd=folder, code=2)
    assert found.stdout == ""
    assert sentence in found.stderr
    assert found.stderr.startswith("graphfold: ")
    assert found.stderr.count("\n") == 1
    assert not (folder / "o.csv").exists()


MISTAKES = {
    "unknown verb": (["fold"], "invalid choice: 'fold'"),
    "no output": (["embed", "data.csv"], "required: -o/--output; see graphfold embed"),
    "ragged": (["embed", "ragged.csv", *OUT], "line 4 has 1"),
    "broken zip": (["embed", "broken.npz", *OUT], "not a readable .npz file"),
    "pickle": (["embed", "pickled.npy", *OUT], "would run code"),
    "no such row": ([*DATA, "--graph", "names.csv", *OUT], "no edge between two rows"),
    "too many": ([*DATA, "-d", "99", *OUT], "between 1 and 60"),
    "folder": ([*DATA, "-o", "no/such/o.csv"], "is not a folder"),
    "no model": (["report", "two.npz"], "two.npz is not a model"),
    "plan": (["plan", "nothing.csv"], "nothing.csv is not a file"),
    "bench": (["bench", "plain.npy", "--rows", "61"], "at most the 60 rows"),
    "unknown format": (["embed", "x.docx", *OUT], "must end in one of .csv"),
    "unknown output": ([*DATA, "-o", "o.docx"], "must end in one of"),
    "output is a folder": ([*DATA, "-o", "broken.zarr/../blocked.csv"], "is a folder"),
    "model suffix": ([*DATA, *OUT, "--model", "m.pkl"], "must end in one of .npz"),
    "map suffix": ([*DATA, *OUT, "--map", "m.htm"], "must end in one of .html"),
    "components 0": ([*DATA, "-d", "0", *OUT], "between 1 and 60"),
    "components word": ([*DATA, "-d", "two", *OUT], "invalid int value: 'two'"),
    "neighbors 0": ([*DATA, "--neighbors", "0", *OUT], "whole number from 1; got '0'"),
    "kernel": ([*DATA, "--kernel", "x", *OUT], "kernel must be"),
    "kernels": ([*DATA, "--kernel", "none", "--kernel", "rbf", *OUT], "stands alone"),
    "nothing at all": ([*DATA, "--kernel", "none", *OUT], "graph"),
    "strength": ([*DATA, "--strength", "much", *OUT], "invalid strength value"),
    "strength below 0": (
        [*DATA, "--neighbors", "3", "--strength", "-1", *OUT],
        "at least 0",
    ),
    "strength auto-x": ([*DATA, "--strength", "auto-x", *OUT], "graph_strength must"),
    "laplacian": ([*DATA, "--laplacian", "x", *OUT], "invalid choice: 'x'"),
    "response": ([*DATA, "--response", "x", *OUT], "--response must be one of"),
    "response number": ([*DATA, "--response", "diffusion=x", *OUT], "have a number"),
    "memory": ([*DATA, "--max-memory", "lots", *OUT], "number of bytes or a text"),
    "little memory": ([*DATA, "--max-memory", "1kB", *OUT], "at least"),
    "landmarks": ([*DATA, "--landmarks", "61", *OUT], "landmarks must be"),
    "no classes": (["embed", "plain.npy", "--semi-supervised", *OUT], "needs classes"),
    "class column": (["embed", "data.csv", "--label-column", "x", *OUT], "no column"),
    "class file": ([*DATA, "--labels", "none.csv:x", *OUT], "none.csv:x"),
    "left in": (
        ["embed", "data.csv", *OUT],
        "say --id-column kind if it names the rows",
    ),
    "empty": (["embed", "empty.csv", *OUT], "it is empty"),
    "gap": (["embed", "gap.csv", *OUT], "line 3, column 'b' is missing"),
    "nan": (["embed", "nan.npy", *OUT], "1 rows have NaN or infinity: 1"),
    "one row": (["embed", "one.npy", *OUT], "minimum of 2 is required"),
    "twice": (["embed", "twice.csv", *OUT], "'a' occurs twice"),
    "several arrays": (["embed", "two.npz", *OUT], "one called X"),
    "broken npy": (["embed", "broken.npy", *OUT], "not a readable .npy file"),
    "broken parquet": (["embed", "broken.parquet", *OUT], "readable .parquet file"),
    "broken mtx": (["embed", "broken.mtx", *OUT], "not a readable .mtx file"),
    "graph of columns": (
        [*DATA, "--graph", "data.csv", *OUT],
        "got id, a, b, c, d, e, kind: name them with --source",
    ),
    "graph not square": ([*DATA, "--graph", "wide.npz", *OUT], "square matrix of 60"),
    "graph of others": ([*DATA, "--graph", "small.npy", *OUT], "square matrix of 60"),
    "graph twice": (
        [*DATA, "--graph", "edges.csv", "--graph", "edges.csv", *OUT],
        "different names; edges is twice",
    ),
    "graph key": ([*DATA, "--graph", "obsp/x", *OUT], "must be h5ad"),
    "graphml": ([*DATA, "--graph", "broken.graphml", *OUT], "readable .graphml file"),
    "numbers too high": (
        ["embed", "plain.npy", "--graph", "far.csv", *OUT],
        "0 to 59; got 60",
    ),
    "names without names": (
        ["embed", "plain.npy", "--graph", "names.csv", *OUT],
        "rows by number",
    ),
    "links": ([*DATA, "--links", "links.json", *OUT], "not a readable .json file"),
    "pairs": ([*DATA, "--must-link", "names.csv", *OUT], "no pair of two rows"),
    "unknown option": ([*DATA, *OUT, "--fast"], "unrecognized arguments: --fast"),
    "half an option": ([*DATA, *OUT, "--comp", "3"], "unrecognized arguments"),
    "view nothing": (["view", "-o", "m.html"], "required: [NAME=]FILE"),
    "view no html": (["view", "plain.npy", "-o", "m.png"], "must end in one of .html"),
    "view layout": (["view", "plain.npy", "--layout", "x"], "invalid choice: 'x'"),
    "view twice": (["view", "plain.npy", "plain.npy"], "say NAME=FILE"),
    "view other rows": (["view", "a=plain.npy", "b=small.npy"], "same rows"),
    "view images": (
        ["view", "plain.npy", "--images", "."],
        "picture for each of the 60 rows",
    ),
    "report gain": (["report", "broken.npz", "--gain"], "--gain needs --data"),
    "report page": (["report", "m.npz", "-o", "r.pdf"], "must end in one of .html"),
    "demo picture": (["demo", "-o", "demo.docx"], "must end in one of .png"),
    "bench methods": (["bench", "--methods", "x"], "--methods must be among"),
    "bench rows": (["bench", "--rows", "0"], "whole number from 1"),
    "reproduce": (["reproduce", "all", "brain"], 'give "all" or names, not both'),
}


@pytest.mark.parametrize(("words", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_gets_one_sentence(words, sentence, folder, capsys):
    write_mistakes(folder)
    (folder / "blocked.csv").mkdir()
    assert main(words) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.out == ""
    lines = said.err.splitlines()
    # a warning may come before, the sentence is the last
    assert all(line.startswith("graphfold: warning: ") for line in lines[:-1])
    assert lines[-1].startswith("graphfold: ")


@pytest.mark.parametrize("name", ["broken.h5ad", "broken.zarr"])
def test_a_broken_store_gets_one_sentence(name, folder, capsys):
    pytest.importorskip("anndata" if name.endswith("h5ad") else "zarr")
    write_mistakes(folder)
    assert main(["embed", name, *OUT]) == 2
    assert "is not a readable" in capsys.readouterr().err


@pytest.mark.parametrize("debug_first", [True, False])
def test_debug_shows_the_traceback(debug_first, folder):
    words = ["embed", "nothing.csv", "-o", "o.csv"]
    words = ["--debug", *words] if debug_first else [*words, "--debug"]
    found = command(*words, cwd=folder, code=2)
    assert "Traceback (most recent call last)" in found.stderr
    assert found.stderr.endswith("graphfold: nothing.csv is not a file\n")


def test_machines_are_told_as_well(folder):
    found = command("embed", "nothing.csv", *OUT, "--json", cwd=folder, code=2)
    error = {"kind": "FileError", "message": "nothing.csv is not a file"}
    assert json.loads(found.stdout) == {"error": error, "warnings": []}
    assert found.stderr == "graphfold: nothing.csv is not a file\n"


def test_a_missing_package_comes_with_its_line(folder):
    (folder / "d.parquet").write_bytes(b"x")
    found = command(
        *("embed", "d.parquet", *OUT),
        cwd=folder,
        code=2,
        env=without("pyarrow", folder),
    )
    line = "parquet files need pyarrow: pip install 'graphfold[tables]'"
    assert found.stderr == f"graphfold: {line}\n"
    found = command("demo", cwd=folder, code=2, env=without("matplotlib", folder))
    line = "this needs matplotlib: pip install 'graphfold[plot]'"
    assert found.stderr == f"graphfold: {line}\n"


def test_a_bug_asks_for_a_report_and_is_code_one(folder, capsys, monkeypatch):
    def broken(*_):
        raise IndexError("off by one")

    monkeypatch.setattr(embed, "model_for", broken)
    assert main([*DATA, *OUT]) == shell.BUG
    said = capsys.readouterr().err
    assert said.startswith("graphfold: unexpected IndexError: off by one; --debug")
    monkeypatch.setattr(embed, "model_for", lambda *_: np.ones(3).reshape(2, 2))
    assert main([*DATA, *OUT]) == shell.BUG  # a ValueError of ours is no mistake


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "not enough memory: say --max-memory"),
        (PermissionError(13, "Permission denied", "o.csv"), "o.csv: Permission denied"),
        (OSError("no space"), "no space"),
    ],
)
def test_what_the_machine_refuses_is_no_bug(
    error, sentence, folder, monkeypatch, capsys
):
    def refused(*_):
        raise error

    monkeypatch.setattr(embed, "model_for", refused)
    assert main([*DATA, *OUT]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals to groups are POSIX")
def test_an_interrupt_leaves_no_file(tmp_path, rng):
    np.save(tmp_path / "many.npy", rng.standard_normal((15_000, 20)))
    process = subprocess.Popen(
        [sys.executable, "-m", "graphfold", "embed", "many.npy", "-v", "-o", "o.csv"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a test run in the background ignores interrupts, and its children would
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr.readline().startswith("[GraphKernelPCA] plan: ")
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    # what Python itself may say of finalizers at its end comes after our line
    before, stopped, _ = said.partition("graphfold: stopped\n")
    assert stopped and "Traceback" not in before, said
    assert os.listdir(tmp_path) == ["many.npy"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise there")
@pytest.mark.parametrize(
    "words",
    [["--help"], ["embed", "plain.npy", "-o", "o.csv"], ["reproduce", "--list"]],
)
def test_a_closed_pipe_is_no_trouble(words, folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "graphfold", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()  # as head does, early
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 0
    assert said == ""
    if "embed" in words:
        assert len(pd.read_csv(folder / "o.csv")) == 60
