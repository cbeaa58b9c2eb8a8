"""Fits in children of a process that has fitted: none hangs, all agree."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trust.faults.required import ALL
from tests.trust.ledger import tried

ROOT = Path(__file__).parents[3]
KINDS = ["fork", "fork while a lock is held", *(["spawn", "loky"] if ALL else [])]
#: embeddings of size 1 that were found by the same code on as many threads, or fewer
TOLERANCE = 1e-8


@pytest.mark.skipif(sys.platform == "win32", reason="forks are POSIX")
def test_children_find_what_their_parent_found():
    """BLAS has two threads in the parent, and has used them."""
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    found = subprocess.run(
        [sys.executable, "-m", "tests.trust.faults.processes", *KINDS],
        cwd=ROOT,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stderr
    gaps = json.loads(found.stdout)
    assert list(gaps) == KINDS
    for kind, values in gaps.items():
        assert max(values) < TOLERANCE
        tried("faults", f"fits in children: {kind}", "same answer", len(values))
