"""Ctrl-C in the middle of each kind of loop, on a real terminal."""

import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="terminals and signals are POSIX"
)
ROOT = Path(__file__).parent.parent
#: columns; one job has a narrow terminal
WIDTH, NARROW = 80, 40
CLEARED = b"\r\x1b[2K"
#: what the line says when the loop is under way
UNDER_WAY = {
    "exact": rb"GraphKernelPCA: solving, round [1-9]",
    "landmarks": rb"GraphKernelPCA: features of landmarks \[.*\] [1-9]",
    "robust": rb"FastRobustGraphPCA: separating, round [1-9]",
    "product": rb"product: kernel product \[.*\] [1-9]",
    "exact search": rb"find_neighbors: comparing rows \[.*\] [1-9]",
    "search in cells": rb"find_neighbors: comparing rows \[.*\] [1-9]",
    "Monte Carlo": rb"graph_gain: rewired copies \[.*\] [1-9]",
}


class Terminal:
    """The other side of a terminal, and what it has shown."""

    def __init__(self):
        self.here, self.there = os.openpty()
        self.shown = b""

    def resize(self, columns):
        import fcntl
        import struct
        import termios

        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(self.there, termios.TIOCSWINSZ, size)

    def read_until(self, pattern):
        """What is shown until the pattern is; fails if nothing comes any more."""
        while not re.search(pattern, self.shown):
            ready, _, _ = select.select([self.here], [], [], 120)
            assert ready, f"nothing like {pattern} was shown: {self.shown[-500:]}"
            self.shown += os.read(self.here, 65536)

    def rest(self):
        """All that was written before now."""
        while select.select([self.here], [], [], 0)[0]:
            self.shown += os.read(self.here, 65536)
        shown, self.shown = self.shown, b""
        return shown


@pytest.fixture(scope="module")
def session():
    terminal = Terminal()
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.interrupted"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=terminal.there,
        text=True,
    )
    yield process, terminal
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    os.close(terminal.here)
    os.close(terminal.there)


@pytest.mark.parametrize("job", UNDER_WAY)
def test_an_interrupt_leaves_all_as_it_was(session, job):
    process, terminal = session
    terminal.resize(NARROW if job == "exact" else WIDTH)
    print(job, file=process.stdin, flush=True)
    terminal.read_until(UNDER_WAY[job])
    process.send_signal(signal.SIGINT)
    found = json.loads(process.stdout.readline())
    assert found == {"interrupted": True, "same threads": True, "same model": True}
    shown = terminal.rest()
    assert shown.endswith(CLEARED)
    drawn = shown.split(CLEARED)
    assert drawn[0] == b""
    # a line that wraps cannot be taken back
    assert max(map(len, drawn)) < (NARROW if job == "exact" else WIDTH)
