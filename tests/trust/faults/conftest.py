"""The zygote, one for all tests of a process."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.trust.faults.required import required

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def zygote():
    """Asks for a fault by name: a dict of what came of it."""
    if sys.platform == "win32":
        required("children that share what is imported are POSIX")
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "tests.trust.faults.zygote"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask(what, **settings):
        print(json.dumps({"what": what, **settings}), file=process.stdin, flush=True)
        answer = json.loads(process.stdout.readline())
        if isinstance(answer, dict) and "failed" in answer:
            pytest.fail(answer["failed"])
        return answer

    yield ask
    process.stdin.close()
    process.wait(timeout=60)
    process.stdout.close()


@pytest.fixture(scope="session")
def may(zygote):
    return zygote("may")


@pytest.fixture
def needed():
    """Skips where an optional package is not there."""

    def check(packages):
        for name in packages:
            if find_spec(name) is None:
                pytest.skip(f"{name} is not installed")

    return check
