"""What was tried, counted while tests run, so that docs/trust.md can say it.

Nothing is written unless ``GRAPHFOLD_LEDGER`` names a folder; each process of a test
run leaves one file there, and ``merged`` adds them up.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

_counts: Counter[tuple[str, str, str]] = Counter()
_figures: dict[tuple[str, str], Any] = {}


def tried(section: str, subject: str, what: str, number: int = 1) -> None:
    """Count an input that was tried, or a fault that was injected, and was survived.

    Call it after the assertions: what is counted has held.
    """
    _counts[section, subject, what] += number


def measured(section: str, name: str, value: float | str) -> None:
    """Keep a figure: a residual, a growth of memory."""
    _figures[section, name] = value


def write(folder: str | os.PathLike[str]) -> None:
    """Leave what this process has counted in ``folder``; forget it."""
    if not _counts and not _figures:
        return
    content = {
        "counts": [[*key, number] for key, number in sorted(_counts.items())],
        "figures": [[*key, value] for key, value in sorted(_figures.items())],
    }
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    (place / f"ledger-{os.getpid()}.json").write_text(json.dumps(content))
    _counts.clear()
    _figures.clear()


def merged(*folders: str | os.PathLike[str]) -> dict[str, Any]:
    """All files of folders added up: counts by section, subject and what; figures."""
    counts: dict[str, dict[str, dict[str, int]]] = {}
    figures: dict[str, dict[str, Any]] = {}
    files = [path for folder in folders for path in Path(folder).glob("ledger-*.json")]
    for path in files:
        content = json.loads(path.read_text())
        for section, subject, what, number in content["counts"]:
            held = counts.setdefault(section, {}).setdefault(subject, {})
            held[what] = held.get(what, 0) + number
        for section, name, value in content["figures"]:
            figures.setdefault(section, {})[name] = value
    return {"counts": counts, "figures": figures}
