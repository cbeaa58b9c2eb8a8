"""One case in a process of its own that may take so long and so much memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time

from benchmarks import memory

PAUSE = 0.05  # seconds between two looks at the memory


def run_bounded(
    module: str,
    function: str,
    arguments: dict,
    *,
    seconds: float,
    megabytes: float,
    preparation: float = 600,
    python: str = sys.executable,
) -> dict:
    """What ``harness.measure`` found, or {"failed": why}.

    ``seconds`` bounds the timed call alone (the alarm signal ends it in the worker),
    ``megabytes`` the whole process, ``preparation`` what comes before the call:
    imports, reading, compiling.
    """
    request = json.dumps([module, function, arguments, seconds])
    command = [python, "-W", "ignore", "-m", "benchmarks.harness", request]
    give_up = time.monotonic() + preparation + seconds
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        worker = subprocess.Popen(command, stdout=out, stderr=err, text=True)
        failed = None
        while worker.poll() is None:
            if memory.resident_of(worker.pid) > megabytes:
                failed = f"more than {megabytes / 1000:g} GB"
            elif time.monotonic() > give_up:
                failed = f"more than {preparation:g} s to prepare"
            if failed:
                worker.kill()
                worker.wait()
            else:
                time.sleep(PAUSE)
        if worker.returncode == -signal.SIGALRM:
            failed = f"more than {seconds:g} s"
        if failed:
            return {"failed": failed}
        out.seek(0)
        err.seek(0)
        if worker.returncode:
            lines = err.read().strip().splitlines()
            return {"failed": (lines or [f"ended with {worker.returncode}"])[-1]}
        return json.loads(out.read().strip().splitlines()[-1])
