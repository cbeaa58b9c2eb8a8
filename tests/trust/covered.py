"""Branch coverage by folder, from what ``coverage json`` has written.

``python -m tests.trust.covered coverage.json docs/trust/coverage.json`` keeps the sums.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

#: the share of lines and branches that tests have to reach
ASKED = 0.95
_COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def by_folder(report: dict[str, Any]) -> dict[str, list[int]]:
    """Statements, those reached, branches, those reached; by folder of the package."""
    folders: dict[str, list[int]] = {}
    for name, file in report["files"].items():
        parts = Path(name).parts
        inside = parts[len(parts) - parts[::-1].index("graphfold") :]
        label = inside[0] if len(inside) > 1 else "modules beside them"
        held = folders.setdefault(label, [0] * len(_COUNTS))
        for place, count in enumerate(_COUNTS):
            held[place] += file["summary"][count]
    return dict(sorted(folders.items()))


def share(counts: list[int]) -> float:
    """Lines and branches that were reached, of all: what coverage.py calls percent."""
    statements, lines, branches, taken = counts
    return (lines + taken) / max(statements + branches, 1)


def total(folders: dict[str, list[int]]) -> list[int]:
    """All folders added up."""
    return [sum(column) for column in zip(*folders.values(), strict=True)]


def main(source: str, target: str) -> None:
    """Keep the sums of a report, and refuse one that is below what is asked."""
    folders = by_folder(json.loads(Path(source).read_text()))
    Path(target).write_text(json.dumps(folders, indent=1) + "\n")
    reached = share(total(folders))
    print(f"branch coverage {reached:.1%}, asked {ASKED:.0%}")
    if reached < ASKED:
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
