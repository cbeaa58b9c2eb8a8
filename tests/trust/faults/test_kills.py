"""kill -9 while something is written: the old file or the new one, and whole."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.trust.faults.required import ALL, required
from tests.trust.faults.writers import NEEDS, NEW, OLD, WRITERS
from tests.trust.ledger import tried

#: stops at which each is killed, and random moments: in make test, where all is tried
EVERYDAY = {"embed": (2, 0), "reproduce": (2, 0)}
THOROUGH = {
    **dict.fromkeys(["csv", "save", "h5ad", "zarr"], (None, 10)),
    "annotated.zarr": (3, 1),
    "embed": (8, 4),
    "embed h5ad": (6, 2),
    "embed zarr": (6, 2),
    "reproduce": (8, 4),
}
#: too many calls for every day
LONG = ("annotated.zarr", "embed h5ad", "embed zarr")
TRIED = [name for name in WRITERS if ALL or name not in LONG]


@pytest.mark.parametrize("writer", TRIED)
def test_killed_at_any_call_a_writer_leaves_the_old_file_or_the_new(
    zygote, may, needed, writer
):
    """And named temporaries, which the next run removes; it ends as if undisturbed."""
    required(may["trace"])
    needed(NEEDS.get(writer, []))
    stops, by_time = EVERYDAY.get(writer, (3, 1))
    if ALL:
        stops, by_time = THOROUGH.get(writer, (20, 5))
    found = zygote("kills", writer=writer, stops=stops, by_time=by_time)
    outcomes = found["outcomes"]
    assert set(outcomes) <= {OLD, NEW}
    assert outcomes[OLD] >= 1
    if writer != "annotated.zarr":  # threads: the calls are not the same twice
        assert sum(outcomes.values()) == found["tried"]
        assert outcomes[NEW] >= 1
    for outcome, number in outcomes.items():
        tried("faults", f"kill -9, {writer}", outcome, number)


@pytest.mark.parametrize("writer", ["save", "h5ad", "zarr"])
def test_bytes_reach_the_disk_before_the_name_and_the_name_before_the_end(
    zygote, may, needed, writer
):
    """A loss of power: what is renamed has been forced, and so has its folder."""
    required(may["trace"])
    needed(NEEDS.get(writer, []))
    calls = zygote("kills", writer=writer, stops=1)["calls"]
    done = [call.removeprefix("after ") for call in calls if call.startswith("after")]
    renamed = max(i for i, call in enumerate(done) if call.startswith("rename"))
    written = max(i for i, call in enumerate(done[:renamed]) if "write" in call)
    assert "fsync" in done[written:renamed]
    assert "fsync" in done[renamed:]
    tried("faults", "power loss: order of calls", writer)


@pytest.mark.skipif(
    not ALL, reason="GRAPHFOLD_REQUIRE_FAULTS is not set: half a minute"
)
def test_an_experiment_whose_processes_are_killed_goes_on_and_ends_the_same(tmp_path):
    """The command itself, and its workers with it, at moments that nobody chose."""
    undisturbed = run_readings(tmp_path / "undisturbed")
    moments = random.Random(0)
    for _ in range(3):
        run_readings(tmp_path / "killed", after=moments.uniform(2, 12))
        tried("faults", "kill -9, graphfold reproduce and its workers", "goes on")
    assert run_readings(tmp_path / "killed") == undisturbed
    assert [p for p in tmp_path.rglob(".graphfold-*")] == []


def run_readings(out, after=None):
    """The numbers of all runs, as text; None if it was killed."""
    words = ["reproduce", "readings", "--quick", "--runs", "2", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "graphfold", *words, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if after is not None:
        time.sleep(after)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
    assert process.wait() == 0
    return (out / "readings.csv").read_text()
