"""pip-audit: what it finds fails the build, what it cannot do is said in one line."""

import json
import sys
from pathlib import Path

import pytest

from tests.trust.ledger import tried

ROOT = Path(__file__).resolve().parents[3]
if not (ROOT / "release").exists():
    pytest.skip("a checkout is needed", allow_module_level=True)

from release import audit  # noqa: E402


def stand_in(folder, said, *, code=0, errors=""):
    """A program in the place of pip-audit that says this."""
    path = folder / "audit.py"
    path.write_text(
        "import sys\n"
        f"sys.stdout.write({said!r})\nsys.stderr.write({errors!r})\nsys.exit({code})\n"
    )
    return [sys.executable, str(path)]


def answer(*packages):
    return json.dumps({"dependencies": list(packages), "fixes": []})


GOOD = {"name": "numpy", "version": "2.0", "vulns": []}
UNKNOWN = {"name": "scipy", "skip_reason": "Dependency not found on PyPI"}
FLAW = {"id": "PYSEC-1", "fix_versions": ["2.1"], "aliases": [], "description": ""}
BAD = GOOD | {"vulns": [FLAW, FLAW | {"id": "PYSEC-2", "fix_versions": []}]}


def test_a_vulnerability_fails_the_build_and_is_named(tmp_path):
    said, good = audit.audit(stand_in(tmp_path, answer(GOOD, BAD), code=1))
    assert not good
    assert said.splitlines()[1:] == [
        "numpy 2.0: PYSEC-1, mended in 2.1",
        "numpy 2.0: PYSEC-2",
    ]
    tried("supply", "pip-audit", "vulnerability")


def test_nothing_found_is_said_with_how_much_was_looked_at(tmp_path):
    said, good = audit.audit(stand_in(tmp_path, answer(GOOD, UNKNOWN)))
    assert good
    assert said == (
        "pip-audit: no known vulnerability in 1 packages; 1 unknown to the service"
    )
    tried("supply", "pip-audit", "no vulnerability")


SKIPPED = {
    "a mirror that knows none": (answer(UNKNOWN), 0, "", "does not know scipy"),
    "no connection": ("", 1, "ERROR: x\nConnectionError: host", "ConnectionError"),
    "silence": ("", 1, "", "it said nothing"),
    "half an answer": ('{"dependencies": [', 0, "", "it said nothing"),
}


@pytest.mark.parametrize("case", SKIPPED)
def test_what_cannot_be_audited_is_said_in_one_line(tmp_path, case):
    out, code, errors, why = SKIPPED[case]
    said, good = audit.audit(stand_in(tmp_path, out, code=code, errors=errors))
    assert good
    assert said.startswith("pip-audit: skipped, nothing was audited (")
    assert why in said
    assert "\n" not in said
    tried("supply", "pip-audit", "skipped")


def test_a_missing_or_silent_program_is_skipped(tmp_path, monkeypatch):
    assert "not installed" in audit.audit([str(tmp_path / "none")]).said
    monkeypatch.setattr(audit, "ALTOGETHER", 0.2)
    slow = [sys.executable, "-c", "import time; time.sleep(20)"]
    outcome = audit.audit(slow)
    assert outcome.good
    assert "no answer within 0.2 seconds" in outcome.said
