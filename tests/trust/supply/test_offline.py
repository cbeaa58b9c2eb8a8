"""Importing, fitting, saving, loading and showing opens no socket."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.trust.ledger import measured, tried
from tests.trust.supply import offline

ROOT = Path(__file__).resolve().parents[3]


def test_nothing_opens_a_socket(tmp_path):
    """Clusters of Dask are not in it: their workers talk over the loopback device."""
    command = [sys.executable, "-m", "tests.trust.supply.offline", str(tmp_path)]
    environment = os.environ | {"MPLCONFIGDIR": str(tmp_path)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["sockets"] == []
    assert said["modules"] > 150
    assert len(said["used"]) >= 13
    for what in said["used"]:
        tried("supply", "no network", what)
    measured("supply", "modules imported without a socket", said["modules"])


def test_a_socket_would_be_noticed():
    """The hook itself, in a process of its own: it can never be taken off again."""
    program = (
        "import sys, socket\n"
        "from tests.trust.supply import offline\n"
        "sys.addaudithook(offline.forbid)\n"
        "try:\n"
        "    socket.create_connection(('localhost', 9))\n"
        "except PermissionError as error:\n"
        "    print(error, len(offline.EVENTS))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.startswith("no network: socket.getaddrinfo 1"), done.stderr
    assert offline.EVENTS == []
