"""Constraints of the newest dependencies: ``make constraints`` writes them.

``pip freeze`` of an environment into which '.[dev,docs]' was resolved anew, without
graphfold itself: names and versions, no paths and no addresses.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PLACE = Path(__file__).resolve().parent.parent / ".ci" / "constraints.txt"
#: installed with every environment, whatever asks for it
_TOOLS = ("pip", "setuptools", "wheel", "graphfold")
_HEAD = """\
# What .ci/run installs, so that it does the same tomorrow: written by make constraints,
# which resolves '.[dev,docs]' anew. The lowest versions are pinned in tests/lowest.txt.
"""


def pins(frozen: str) -> list[str]:
    """Lines ``name==version`` of what ``pip freeze`` says; a path or address fails."""
    found = []
    for line in frozen.splitlines():
        line = line.strip()
        if not line or line.startswith(("#", "-e ")):
            continue
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.+!_-]+)", line)
        if match is None:
            raise ValueError(f"a pin must be name==version; got {line!r}")
        if normal(match[1]) not in _TOOLS:
            found.append(f"{normal(match[1])}=={match[2]}")
    return sorted(found)


def normal(name: str) -> str:
    """A project's name as an index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    """Write the pins of the environment of this Python."""
    command = [sys.executable, "-m", "pip", "freeze", "--exclude", "graphfold"]
    frozen = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = pins(frozen)
    PLACE.write_text(_HEAD + "\n".join(lines) + "\n")
    print(f"{PLACE.name}: {len(lines)} pins")


if __name__ == "__main__":
    main()
