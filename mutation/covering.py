"""Which lines each test runs, and how long it takes in a process of its own."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Covered:
    """What one test did without any mutant."""

    outcome: str  # passed, failed, skipped, slow
    seconds: float = 0.0
    lines: dict[str, list[int]] = field(default_factory=dict)


def traced(root: Path, run: Callable[[], str]) -> dict[str, Any]:
    """Outcome of ``run()``, its CPU seconds, and the lines it ran under ``root``."""
    import time

    prefix = f"{root}/"
    seen: dict[str, set[int]] = {}

    def lines_of(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            seen[frame.f_code.co_filename].add(frame.f_lineno)
        return lines_of

    def calls(frame: Any, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(prefix):
            return None
        seen.setdefault(name, set())
        return lines_of

    began = time.process_time()
    threading.settrace(calls)
    sys.settrace(calls)
    try:
        outcome = run()
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
    lines = {name.removeprefix(prefix): sorted(found) for name, found in seen.items()}
    return asdict(Covered(outcome, time.process_time() - began, lines))


class Coverage:
    """What is known of the tests, by node id; kept in a file between runs."""

    def __init__(self, path: Path, version: str) -> None:
        self.path, self.version = path, version
        self.tests: dict[str, Covered] = {}
        self.files: dict[str, str] = {}
        if path.exists():
            kept = json.loads(path.read_text())
            if kept["version"] == version:
                self.files = kept["files"]
                self.tests = {k: Covered(**v) for k, v in kept["tests"].items()}

    def forget_changed(self, files: dict[str, str]) -> None:
        """Tests whose file has another content now are to be measured again."""
        changed = {name for name in self.files if files.get(name) != self.files[name]}
        self.tests = {
            test: known
            for test, known in self.tests.items()
            if test.split("::")[0] not in changed
        }
        self.files = files

    def save(self) -> None:
        tests = {test: asdict(known) for test, known in self.tests.items()}
        kept = {"version": self.version, "files": self.files, "tests": tests}
        self.path.write_text(json.dumps(kept))

    def by_line(self, slow: float) -> dict[tuple[str, int], list[str]]:
        """Tests that run a line, pass, and take fewer than ``slow`` CPU seconds."""
        found: dict[tuple[str, int], list[str]] = {}
        for test, known in self.tests.items():
            if known.outcome == "passed" and known.seconds < slow:
                for file, lines in known.lines.items():
                    for line in lines:
                        found.setdefault((file, line), []).append(test)
        return found
