"""Run cases alternately, each in a process of its own, and keep time and peak memory.

A case is a function of a benchmark module that prepares its data and returns a
function to be timed. Machines are noisy and drift: every repeat runs all cases one
after the other, so that a ratio compares neighbours in time.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import memory

RESULTS = Path(__file__).parent / "results"


def measure(
    module: str, function: str, arguments: dict, cap: float | None = None
) -> dict:
    """In the worker: prepare, warm up BLAS, time one call, read the peak memory.

    ``peak_mb`` is of the whole process, ``beyond_mb`` what the call took on top of
    what was there. A call longer than ``cap`` seconds is ended by the alarm signal,
    compiled code or not.
    """
    run = getattr(importlib.import_module(module), function)(**arguments)
    square = np.ones((256, 256))
    square @ square
    earlier_peak = memory.highest_ever()
    there = memory.start_again()
    before = resource.getrusage(resource.RUSAGE_SELF)
    signal.setitimer(signal.ITIMER_REAL, cap or 0)
    start = time.perf_counter()
    facts = run() or {}
    seconds = time.perf_counter() - start
    signal.setitimer(signal.ITIMER_REAL, 0)
    after = resource.getrusage(resource.RUSAGE_SELF)
    beyond = memory.highest() - there
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # "later" is what is checked after the clock has stopped: residuals, angles
    later = facts.pop("later", None)
    peak = max(earlier_peak, memory.highest_ever())
    facts |= later() if later else {}
    sizes = {"peak_mb": peak, "beyond_mb": beyond}
    return {"seconds": seconds, "cpu": cpu, **sizes, **facts}


def run_alternating(
    cases: dict[str, tuple], repeats: int, timeout: float, keep: str | None = None
) -> dict:
    """cases: name -> (module, function, arguments); returns name -> list of runs.

    With ``keep``, a name, finished runs outlive an interruption: they wait in the
    temporary directory for the next start at the same commit.
    """
    runs: dict[str, list[dict]] = {name: [] for name in cases}
    path = kept(keep) if keep else None
    asked = {name: list(case) for name, case in cases.items()}
    if path and path.exists():
        old = json.loads(path.read_text())
        same = [name for name in asked if old["asked"].get(name) == asked[name]]
        runs |= {name: finished(old["runs"][name]) for name in same}
    for repeat in range(repeats):
        names = list(cases)
        # another order each time: no case always runs on a warm machine
        for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
            if len(runs[name]) > repeat:
                continue
            if runs[name] and took_too_long(runs[name][-1]):
                runs[name].append(runs[name][-1])  # as it would once more
                continue
            run = in_own_process(*cases[name], timeout=timeout)
            runs[name].append(run)
            if path:
                path.write_text(json.dumps({"asked": asked, "runs": runs}))
            text = run.get("failed") or f"{run['seconds']:8.2f} s"
            print(f"  {repeat + 1}/{repeats} {name:42} {text}", file=sys.stderr)
    return {name: found[:repeats] for name, found in runs.items()}


def finished(runs: list[dict]) -> list[dict]:
    """Runs that need no second try: good ones, and those that took too long."""
    return [run for run in runs if "failed" not in run or took_too_long(run)]


def took_too_long(run: dict) -> bool:
    return run.get("failed", "").startswith("more than")


def kept(name: str) -> Path:
    """Where unfinished runs of this commit wait."""
    mark = f"{name}-{git('rev-parse', '--short', 'HEAD')}"
    return Path(tempfile.gettempdir()) / f"graphfold-bench-{mark}.json"


def in_own_process(module: str, function: str, arguments: dict, *, timeout: float):
    request = json.dumps([module, function, arguments])
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.harness", request]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {timeout:.0f} s", "at_least": timeout}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def median(runs: list[dict], key: str = "seconds") -> float:
    values = [run[key] for run in runs if key in run]
    return statistics.median(values) if values else float("nan")


def ratio(runs: dict, slow: str, fast: str) -> float:
    """Median over repeats of slow / fast, each pair taken from one repeat.

    A slow one that was ended counts with the seconds that it had: a bound from below.
    """
    pairs = zip(runs[slow], runs[fast], strict=True)
    ratios = [
        a.get("seconds", a.get("at_least", np.nan)) / b["seconds"]
        for a, b in pairs
        if "seconds" in b
    ]
    return statistics.median(ratios) if ratios else float("nan")


def save(
    name: str,
    runs: dict,
    claims: list[dict],
    *,
    table: list[str] | None = None,
    trial: bool = False,
) -> None:
    """Results as JSON, tied to a commit and a machine; printed as a table.

    ``table`` is shown in place of a line for each case. A trial, at other sizes than
    those that count, is printed only.
    """
    RESULTS.mkdir(exist_ok=True)
    record = {
        "benchmark": name,
        "command": f"python -m benchmarks.{name}",
        "date": time.strftime("%Y-%m-%d"),
        "commit": git("rev-parse", "--short", "HEAD")
        + (" with changes" if git("status", "--porcelain", "--", "src") else ""),
        "machine": machine(),
        "claims": claims,
        "runs": runs,
    }
    if table:
        record["table"] = table
    if not trial:
        (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    kept(name).unlink(missing_ok=True)
    for row in table or rows_of(runs):
        print(row)
    for claim in claims:
        print(sentence(claim))


def sentence(claim: dict) -> str:
    verdict = "met" if claim["met"] else "NOT MET"
    value = claim["value"]
    # what is small has its digits further down: 0.005 is not 0.01
    text = f"{value:.2f}" if abs(value) >= 0.1 or not value else f"{value:.2g}"
    return f"{claim['text']}: {text} (asked: {claim['asked']}) {verdict}"


def at_least(text: str, value: float, asked: float) -> dict:
    met = bool(value >= asked)
    return {"text": text, "value": value, "asked": f"at least {asked:g}", "met": met}


def at_most(text: str, value: float, asked: float) -> dict:
    met = bool(value <= asked)
    return {"text": text, "value": value, "asked": f"at most {asked:g}", "met": met}


def rows_of(runs: dict) -> list[str]:
    """A markdown table: median and range of seconds, peak memory, other facts."""
    titles = ["case", "median s", "min - max s", "CPU s", "peak MB"]
    measured = [run for repeats in runs.values() for run in repeats]
    beyond = any("beyond_mb" in run for run in measured)
    titles += ["MB beyond the inputs"] * beyond + ["residual"]
    lines = ["| " + " | ".join(titles) + " |", "| " + " | ".join(["---"] * len(titles))]
    lines[1] += " |"
    for name, repeats in runs.items():
        good = [run for run in repeats if "seconds" in run]
        if not good:
            empty = [""] * (len(titles) - 2)
            cells = [name, repeats[0]["failed"], *empty]
        else:
            seconds = [run["seconds"] for run in good]
            residuals = [run["residual"] for run in good if "residual" in run]
            cells = [name, f"{median(good):.2f}"]
            cells += [f"{min(seconds):.2f} - {max(seconds):.2f}"]
            cells += [f"{median(good, 'cpu'):.2f}", f"{median(good, 'peak_mb'):.0f}"]
            cells += [f"{median(good, 'beyond_mb'):.0f}"] * beyond
            cells += [f"{max(residuals):.1e}" if residuals else ""]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def grid(cells: dict[tuple[str, str], str]) -> list[str]:
    """A markdown table of texts by their row and column."""
    columns = list(dict.fromkeys(column for _, column in cells))
    lines = ["| | " + " | ".join(columns) + " |", "| --- " * (len(columns) + 1) + "|"]
    for row in dict.fromkeys(row for row, _ in cells):
        texts = [cells.get((row, column), "") for column in columns]
        lines.append(f"| {row} | " + " | ".join(texts) + " |")
    return lines


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    return done.stdout.strip()


def machine() -> dict:
    import numpy
    import scipy
    import sklearn

    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


if __name__ == "__main__":
    print(json.dumps(measure(*json.loads(sys.argv[1]))))
