"""Importing graphfold against importing scikit-learn's decomposition module."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.harness import at_most, save

REPEATS = 15


def seconds_to_import(module: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return time.perf_counter() - start


def main() -> None:
    modules = ("sklearn.decomposition", "graphfold")
    for module in modules:
        seconds_to_import(module)  # fill the disk cache
    times = {m: [] for m in modules}
    for _ in range(REPEATS):
        for module in modules:
            times[module].append(seconds_to_import(module))
    pairs = zip(times["graphfold"], times["sklearn.decomposition"], strict=True)
    value = statistics.median(a / b for a, b in pairs)
    runs = {
        m: [{"seconds": s, "cpu": s, "peak_mb": 0} for s in times[m]] for m in modules
    }
    save("import_time", runs, [at_most("import graphfold / decomposition", value, 1.2)])


if __name__ == "__main__":
    main()
