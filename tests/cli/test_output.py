"""What a command says: answers on one stream, all else on the other, bars on a tty."""

import io
import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import graphfold
from graphfold.cli.output import Console, plain
from tests.cli.command import graphfold as command


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_installed_command_and_the_module_answer(tmp_path):
    found = command("--version", cwd=tmp_path)
    assert found.stdout.strip() == graphfold.__version__
    assert found.stderr == ""


def test_help_names_every_verb_and_exits_well(tmp_path):
    said = command("--help", cwd=tmp_path).stdout
    for verb in ("embed", "view", "report", "plan", "demo", "reproduce", "bench"):
        assert re.search(rf"^ +{verb}\s+\w", said, re.MULTILINE)
    assert "Exit codes: 0 fine, 2 a mistake" in said


def test_json_is_plain():
    value = {
        "a": np.float64(1.5),
        2: np.array([1.0, np.nan]),
        "c": (np.int64(1), None, True),
        "d": float("inf"),
        "e": object,
    }
    found = plain(value)
    assert found["a"] == 1.5
    assert found["2"] == [1.0, None]
    assert found["c"] == [1, None, True]
    assert found["d"] is None
    assert found["e"] == str(object)
    json.dumps(found, allow_nan=False)


def test_a_warning_is_one_line_and_said_once(capsys):
    console = Console()
    with console.listening_to_warnings():
        for _ in range(2):
            warnings.warn("two\n lines", graphfold.errors.DriftWarning, stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    said = capsys.readouterr()
    assert said.err == "graphfold: warning: DriftWarning: two lines\n"
    assert console.warnings == [{"name": "DriftWarning", "text": "two lines"}]


@pytest.mark.parametrize("quiet", [False, True])
def test_stages_are_shown_on_a_terminal_only(quiet, monkeypatch):
    for stream in (io.StringIO, Terminal):
        shown = stream()
        monkeypatch.setattr(sys, "stderr", shown)
        console = Console(quiet=quiet)
        with console.stage("fitting", "fitting 60 rows") as tell:
            tell("round 1: " + "x" * 300)
        console.steps("runs", 1, 4)
        console.finished()
        said = shown.getvalue()
        if quiet or stream is io.StringIO:
            assert said == ""
        else:
            parts = said.split("\r\x1b[2K")
            assert parts[1] == "fitting 60 rows"
            assert parts[2].startswith("fitting 60 rows: round 1: xxx")
            assert parts[2].endswith("...")
            assert len(parts[2]) < 300
            assert parts[4].startswith("[######......")
            assert said.endswith("\r\x1b[2K")
        assert console.seconds["fitting"] > 0


@pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX")
def test_a_real_terminal_sees_reading_fitting_and_writing(tmp_path, rng):
    np.save(tmp_path / "data.npy", rng.standard_normal((1500, 5)))
    here, there = os.openpty()
    words = ["embed", "data.npy", "-d", "3", "-o", "out.npy"]
    process = subprocess.Popen(
        [sys.executable, "-m", "graphfold", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=there,
        text=True,
    )
    os.close(there)
    shown = b""
    try:
        while part := os.read(here, 4096):
            shown += part
    except OSError:  # Linux: the other side has closed
        pass
    os.close(here)
    said = process.stdout.read()
    process.stdout.close()
    assert process.wait(timeout=120) == 0
    assert "\x1b" not in said
    for text in (
        b"reading data.npy",
        b"fitting 1,500 rows: solving, round ",
        b"writing out.npy",
    ):
        assert text in shown
