"""Disks that are full and folders that take nothing: one sentence, nothing lost."""

import os
from pathlib import Path

import pytest

import graphfold
from tests.trust.faults.required import ALL, required
from tests.trust.faults.writers import EMBEDS, NEEDS, NEW, OLD, WRITERS
from tests.trust.ledger import tried

#: bytes that are left on the disk, or that a file may have
ROOM = {
    "full disk": [0, 8192] if ALL else [0],
    "short files": [100, 1500] if ALL else [100],
    "read-only disk": [0],
    "folder of another": [0],
}
SAID = {
    "full disk": "No space left on device",
    "short files": "File too large",
    "read-only disk": "Read-only file system",
    "folder of another": "Permission denied",
}

#: these read files of the package while they write, here as a user without rights
READ_LATE = ("view", "reproduce")
READABLE = all(
    folder.stat().st_mode & 0o001 for folder in Path(graphfold.__file__).parents
)

#: all writers in all rooms; in make test those that write in ways of their own
TRIED = [
    (writer, room)
    for room in ROOM
    for writer in WRITERS
    if (ALL or writer in ("save", "csv", "h5ad", "zarr", "parquet", "embed"))
    and (ALL or room != "short files" or writer in ("save", "h5ad"))
]


@pytest.mark.parametrize(("writer", "room"), TRIED)
def test_what_cannot_be_written_is_one_sentence_and_the_old_file_stays(
    zygote, may, needed, writer, room
):
    if "disk" in room:
        required(may["mount"])
    needed(NEEDS.get(writer, []))
    if room == "folder of another" and writer in READ_LATE and not READABLE:
        pytest.skip("this checkout lies where nobody else may read it")
    answers = zygote("refusals", writer=writer, room=room, sizes=ROOM[room])
    for size, found in zip(ROOM[room], answers, strict=True):
        assert found["left"] == []
        if found["said"] is None:
            assert found["is"] == NEW
            tried("faults", f"{room}, {writer}", "there was room: new file")
            continue
        is_embed, said = writer in EMBEDS, found["said"]
        # of several files the first may have been written: each is whole
        assert found["is"] == OLD or (size > 0 and writer in (*EMBEDS, "reproduce"))
        if (writer, room) == ("embed h5ad", "short files"):
            # HDF5 cannot close its file either, and h5py shows that before our sentence
            said = "CommandFailed: 2 " + said.splitlines()[-1]
        assert SAID[room] in said or "does not allow writing" in said
        assert ("toy" if writer == "reproduce" else "out.") in said
        assert "Traceback" not in said
        assert len(said.strip().splitlines()) == 1
        if is_embed:
            assert said.startswith("CommandFailed: 2 graphfold: ")
        tried("faults", f"{room}, {writer}", f"one sentence, {found['is']}")


@pytest.mark.parametrize("room", ["full disk", "short files"])
def test_a_stream_whose_rows_find_no_room_says_so_and_goes_on(zygote, may, room):
    """Written to, not mapped: a map of a full disk would end the process."""
    if "disk" in room:
        required(may["mount"])
    for found in zygote("spills", room=room, sizes=[0, 200_000]):
        assert SAID[room] in found["said"]
        assert "max_memory" in found["said"]
        assert found["same"]
        assert found["rows"]
        tried("faults", f"{room}, partial_fit", "as before")


@pytest.mark.skipif(
    not (ALL and os.path.exists("/dev/full")),
    reason="/dev/full is Linux's, and GRAPHFOLD_REQUIRE_FAULTS has to be set",
)
def test_an_output_stream_that_takes_nothing_is_one_sentence(tmp_path):
    import subprocess
    import sys

    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "graphfold", "reproduce", "--list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
    assert found.returncode == 2
    assert found.stderr == "graphfold: [Errno 28] No space left on device\n"
    tried("faults", "full disk, standard output", "one sentence")
