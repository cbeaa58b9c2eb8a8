"""A process with everything imported, which makes a child for each fault.

A child costs milliseconds where a new Python costs seconds. Requests and answers are
lines of JSON; ``python -m tests.trust.faults.zygote`` waits for them.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from graphfold.replacing import PREFIX
from tests.trust.faults import ptrace, rooms
from tests.trust.faults.ptrace import run_traced
from tests.trust.faults.writers import NEW, OLD, WRITERS, model_of


def import_all():
    """What writers import when they are first asked; a child would do it each time."""
    for name in (
        "anndata",
        "encodings.utf_8_sig",
        "graphfold.cli.shell",
        "graphfold.views.view",
        "h5py",
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "pandas",
        "pyarrow.parquet",
        "pandas.io.parquet",
        "scipy.io",
        "zarr",
    ):
        with suppress(ImportError):
            import_module(name)


class Failed(Exception):
    """What a child says that did not come to its end."""


def in_child(work, seconds=None):
    """What ``work`` returns in a child; None if it was killed after ``seconds``."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            answer = {"is": work()}
        except BaseException:
            answer = {"failed": traceback.format_exc()}
        with os.fdopen(writing, "w") as stream:
            stream.write(json.dumps(answer))
        os._exit(0)
    os.close(writing)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    with os.fdopen(reading) as stream:
        said = stream.read()
    _, status = os.waitpid(pid, 0)
    if seconds is not None:
        return None
    if not said:
        raise Failed(f"the child ended with status {status}")
    answer = json.loads(said)
    if "failed" in answer:
        raise Failed(answer["failed"])
    return answer["is"]


# -- kill -9 ---------------------------------------------------------------------------


def kills(writer, stops=None, by_time=0):
    """Kill a writer at each change of the file system; then at random moments.

    Of the changes so many as ``stops`` says, those about renames among them. What is
    there afterwards is counted; a second, undisturbed run ends well each time.
    """
    write, _ = WRITERS[writer]
    with tempfile.TemporaryDirectory() as room:
        old = Path(room, "old")
        old.mkdir()
        in_child(lambda: write(str(old), OLD))
        calls = run_traced(_work(write, _copy(old, "counted")))
        assert calls.pop() is None
        chosen = _chosen(calls, stops)
        found = {}
        for number in chosen:
            place = _copy(old, "killed")
            seen = run_traced(_work(write, place), number)
            if seen[-1] is None:
                continue  # threads take turns: it made fewer calls this time
            _count(found, _after_kill(writer, place))
        timed = _work(write, _copy(old, "timed"))
        started = time.perf_counter()
        in_child(timed)
        usual = time.perf_counter() - started
        moments = random.Random(0)
        for _ in range(by_time):
            place = _copy(old, "killed")
            in_child(_work(write, place), seconds=moments.random() * usual)
            _count(found, _after_kill(writer, place))
        return {"outcomes": found, "calls": calls, "tried": len(chosen) + by_time}


def _work(write, place):
    return lambda: write(place, NEW)


def _copy(old, name):
    place = old.parent / name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(old, place)
    return str(place)


def _chosen(calls, stops):
    """Numbers of calls: all, or some from end to end and all that rename."""
    if stops is None or stops >= len(calls):
        return list(range(len(calls)))
    renaming = [i for i, call in enumerate(calls) if "rename" in call]
    renaming = renaming[-4 if stops > 4 else -2 :]
    step = max(1, len(calls) // max(1, stops - len(renaming)))
    return sorted({*renaming, *range(0, len(calls), step)})


def _count(found, outcome):
    found[outcome] = found.get(outcome, 0) + 1


def _after_kill(writer, place):
    """What is there; and that who comes next finds it, and finishes the job."""
    write, read = WRITERS[writer]

    def judge():
        left = [name for name in _hidden(place) if not name.startswith(PREFIX)]
        assert not left, f"temporaries that nobody recognises: {left}"
        outcome = read(place)
        write(place, NEW)
        assert read(place) == NEW
        assert not _hidden(place), "a later run leaves what a killed one has left"
        return outcome

    return in_child(judge)


def _hidden(place):
    return [
        name
        for _, folders, files in os.walk(place)
        for name in [*folders, *files]
        if name.startswith(".graphfold-")
    ]


# -- disks and folders that take no more -----------------------------------------------


def refusals(writer, room, sizes):
    """A writer on a disk with so much room, or in a folder that takes nothing."""
    write, read = WRITERS[writer]

    def work(size):
        with rooms.ROOMS[room](size) as (place, close_up):
            write(place, OLD)
            close_up()
            said = None
            try:
                write(place, NEW)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            rooms.have_rights_back()
            return {"said": said, "left": _hidden(place), "is": read(place)}

    return [in_child(lambda size=size: work(size)) for size in sizes]


def spills(room, sizes):
    """A stream whose rows go to a disk with so much room."""
    return [in_child(lambda size=size: rooms.spill(room, size)) for size in sizes]


def may():
    """Why no child can be traced, and why none can mount; None where they can."""
    return {"trace": ptrace.why_not(), "mount": rooms.why_no_mounts()}


ANSWERS = {"kills": kills, "refusals": refusals, "spills": spills, "may": may}


def answer(request):
    name = request.pop("what")
    try:
        return ANSWERS[name](**request)
    except Failed as error:
        return {"failed": str(error)}
    except Exception:
        return {"failed": traceback.format_exc()}


if __name__ == "__main__":
    import_all()
    model_of(OLD), model_of(NEW)  # every child has them
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
