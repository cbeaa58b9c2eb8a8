"""Known vulnerabilities of what is installed: ``pip-audit``, where it can run.

Where the advisory service cannot be reached, or knows none of the packages (as behind
a mirror), one line says that nothing was audited; only a vulnerability is an error.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

#: seconds: for one answer of the service, and for all of them
PATIENCE, ALTOGETHER = 5, 60


class Outcome(NamedTuple):
    """What is said, and whether the build goes on."""

    said: str
    good: bool


def audit(command: list[str]) -> Outcome:
    """Run ``pip-audit``, given as a command, on the environment it is installed in.

    One package is asked for first: a service that cannot say anything of NumPy need not
    be asked for all the others.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "asked.txt"
        asked.write_text(f"numpy=={metadata.version('numpy')}\n")
        alone = ["--requirement", str(asked), "--no-deps", "--disable-pip"]
        first = _packages([*command, *alone])
    if isinstance(first, Outcome) or not _audited(first):
        return first if isinstance(first, Outcome) else judged(first)
    packages = _packages([*command, "--local", "--skip-editable"])
    return packages if isinstance(packages, Outcome) else judged(packages)


def _packages(command: list[str]) -> list[dict] | Outcome:
    """What ``pip-audit`` says of each package; or that it was skipped, and why."""
    options = ["--format", "json", "--progress-spinner", "off"]
    options += ["--timeout", str(PATIENCE)]
    try:
        done = subprocess.run(
            [*command, *options], capture_output=True, text=True, timeout=ALTOGETHER
        )
    except FileNotFoundError:
        return _skipped("it is not installed")
    except subprocess.TimeoutExpired:
        return _skipped(f"no answer within {ALTOGETHER} seconds")
    try:
        return json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        return _skipped(lines[-1][:200])


def _audited(packages: list[dict]) -> list[dict]:
    return [package for package in packages if "skip_reason" not in package]


def judged(packages: list[dict]) -> Outcome:
    """What ``pip-audit`` found out about each package, in a few lines."""
    audited = _audited(packages)
    found = [
        f"{package['name']} {package['version']}: {flaw['id']}"
        + (f", mended in {flaw['fix_versions'][0]}" if flaw["fix_versions"] else "")
        for package in audited
        for flaw in package["vulns"]
    ]
    if found:
        return Outcome("\n".join(["pip-audit: known vulnerabilities", *found]), False)
    if not audited:
        names = ", ".join(package["name"] for package in packages[:3])
        return _skipped(f"the service does not know {names or 'any package'}")
    unknown = len(packages) - len(audited)
    rest = f"; {unknown} unknown to the service" if unknown else ""
    said = f"pip-audit: no known vulnerability in {len(audited)} packages{rest}"
    return Outcome(said, True)


def _skipped(why: str) -> Outcome:
    return Outcome(f"pip-audit: skipped, nothing was audited ({why})", True)


def main() -> None:
    """Audit the environment of this Python."""
    command = Path(sys.executable).with_name("pip-audit")
    outcome = audit([str(command)])
    print(outcome.said)
    sys.exit(not outcome.good)


if __name__ == "__main__":
    main()
