"""kill -9 while something is written: the old file or the new one, and whole."""

import pytest

from tests.trust.faults.required import ALL, required
from tests.trust.faults.writers import NEEDS, NEW, OLD, WRITERS
from tests.trust.ledger import tried

#: stops at which each is killed, and random moments: in make test, where all is tried
EVERYDAY = {"annotated.zarr": (2, 0), "embed": (3, 0), "reproduce": (3, 0)}
THOROUGH = {"annotated.zarr": (15, 5), "embed": (30, 15), "reproduce": (30, 15)}


@pytest.mark.parametrize("writer", WRITERS)
def test_killed_at_any_call_a_writer_leaves_the_old_file_or_the_new(
    zygote, may, needed, writer
):
    """And named temporaries, which the next run removes; it ends as if undisturbed."""
    required(may["trace"])
    needed(NEEDS.get(writer, []))
    stops, by_time = EVERYDAY.get(writer, (4, 1))
    if ALL:
        stops, by_time = THOROUGH.get(writer, (None, 15))
    found = zygote("kills", writer=writer, stops=stops, by_time=by_time)
    outcomes = found["outcomes"]
    assert set(outcomes) <= {OLD, NEW}
    assert outcomes[OLD] >= 1
    if writer != "annotated.zarr":  # threads: the calls are not the same twice
        assert sum(outcomes.values()) == found["tried"]
        assert outcomes[NEW] >= 1
    for outcome, number in outcomes.items():
        tried("faults", f"kill -9, {writer}", outcome, number)


@pytest.mark.parametrize("writer", ["save", "parquet", "h5ad", "zarr", "view"])
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
