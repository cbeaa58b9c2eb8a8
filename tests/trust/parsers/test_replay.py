"""Every fuzz target on its seeds and on changes of them: named errors, no code run."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.trust.examples import TIMES
from tests.trust.ledger import measured, tried

pytest.importorskip("fuzz", reason="the archive of sources has no folder fuzz/")
guard = pytest.importorskip("fuzz.guard")

ROOT = Path(__file__).parents[3]
CHANGES = 100


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does")
def test_changed_files_get_a_named_error_and_run_nothing():
    """In a process of its own: what dies there is a finding, not the end of all."""
    where = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.trust.parsers.replay", str(CHANGES * TIMES)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": where, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    peak = found.pop("megabytes")
    assert {name: result["failures"] for name, result in found.items()} == {
        name: [] for name in found
    }
    assert peak < 1024
    for name, result in found.items():
        tried("parsers", name, "replayed inputs", result["inputs"])
    measured("parsers", "peak memory of the replay in MB", peak)


BREACHES = {
    "code": lambda path: exec(compile("1", "<file>", "exec")),
    "an expression": lambda path: eval("1 + 1"),
    "a program": lambda path: subprocess.run(["true"]),
    "a shell": lambda path: os.system("true"),
    "another file": lambda path: open("/etc/hostname").close(),
    "writing": lambda path: open(path, "w").close(),
    "a socket": lambda path: __import__("socket").socket().close(),
}


@pytest.mark.parametrize("act", BREACHES.values(), ids=BREACHES)
def test_the_guard_sees(act, tmp_path):
    path = str(tmp_path / "file")
    with pytest.raises(guard.Breach), guard.guarded(path):
        act(path)
    act(path)  # it is asleep again


def test_the_guard_remembers_what_was_swallowed(tmp_path):
    path = str(tmp_path / "file")
    with pytest.raises(guard.Breach), guard.guarded(path), suppress(BaseException):
        eval("1 + 1")
    assert guard._allowed is None
