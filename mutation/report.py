"""What was tried, as JSON: counts by module, and the survivors with their reasons."""

from __future__ import annotations

import argparse
import json
import math
import platform
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

OUTCOMES = ("killed", "timeout", "survived", "no tests", "broken")
TOOLS = ("mutmut", "libcst", "pytest", "hypothesis", "numpy", "scipy", "scikit-learn")


def read(path: Path) -> dict[str, Any]:
    """A report that was written."""
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def write(
    out: Path,
    everything: list[list[Any]],
    messages: dict[str, int],
    trials: Any,
    earlier: dict[str, Any] | None,
    arguments: argparse.Namespace,
) -> None:
    """Write the report; with ``earlier``, what was killed there stays killed."""
    reasons = classified(Path(__file__).parent / "survivors.json")
    mutants = {mutant.name: mutant for found in everything for mutant in found}
    modules: dict[str, dict[str, int]] = {}
    for found, (file, left_alone) in zip(everything, messages.items(), strict=True):
        counts = Counter(trials.verdicts.get(mutant.name) for mutant in found)
        if earlier is not None:
            for outcome in ("killed", "timeout"):
                counts[outcome] += earlier["modules"].get(file, {}).get(outcome, 0)
        if found:
            modules[file] = {
                "mutants": len(found),
                "tried": sum(counts[outcome] for outcome in OUTCOMES),
                **{outcome: counts[outcome] for outcome in OUTCOMES},
                "message texts left alone": left_alone,
            }
    survivors = [
        entry(mutants[name], outcome, reasons)
        for name, outcome in trials.verdicts.items()
        if outcome in ("survived", "no tests")
    ]
    total = Counter[str]()
    for counts_of in modules.values():
        total.update(counts_of)
    known = Counter(test.outcome for test in trials.coverage.tests.values())
    out.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "commit": Path("commit.txt").read_text(),
        "versions": {"python": platform.python_version()}
        | {tool: version(tool) for tool in TOOLS},
        "share": earlier["share"] if earlier else arguments.share,
        "beyond": earlier.get("beyond", 0.0) if earlier else arguments.beyond,
        "seed": earlier["seed"] if earlier else arguments.seed,
        "tests": dict(known),
        "controls": trials.controls,
        "total": {**total, **killed_share(total)},
        "modules": modules,
        "classes": dict(Counter(entry["class"] for entry in survivors)),
        "survivors": survivors,
    }
    out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    print(json.dumps(result["total"]))


def killed_share(total: Counter[str]) -> dict[str, Any]:
    """Killed (or timed out) of those tried, with Wilson's 95 % interval."""
    n = total["tried"] - total["broken"]
    if not n:
        return {}
    share, z = (total["killed"] + total["timeout"]) / n, 1.959964
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = (
        z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    )
    interval = [round(middle - half, 4), round(middle + half, 4)]
    return {"killed share": round(share, 4), "interval of 95 %": interval}


def entry(mutant: Any, outcome: str, reasons: dict[str, dict[str, str]]) -> Any:
    """One survivor, with what is known about it."""
    key = f"{mutant.before} -> {mutant.after}"
    reason = reasons.get(key, {"class": "not looked at", "reason": ""})
    return {
        "id": mutant.name,
        "line": mutant.first_line,
        "outcome": outcome,
        "before": mutant.before,
        "after": mutant.after,
        **reason,
    }


def classified(path: Path) -> dict[str, dict[str, str]]:
    """Reasons by the change itself: numbers of mutants move when code does."""
    return json.loads(path.read_text()) if path.exists() else {}
