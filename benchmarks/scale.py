"""The whole story: time and peak memory against n, us and the others.

Every point is written to ``results/scale.json`` as it comes, and what is there is not
run again: an interrupted run goes on where it stopped, and a second environment adds
the methods that the first one lacks. A method that took too long or too much at one n
is not tried at a larger one.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.bounded import run_bounded
from benchmarks.harness import RESULTS, git, machine

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
PATH = RESULTS / "scale.json"
SHORT = 5.0  # seconds below which a run is repeated
#: name -> function of benchmarks.scale_methods
METHODS = {
    "graphfold, exact": "our_exact",
    "graphfold, 300 landmarks": "our_landmarks",
    "graphfold, linear": "our_linear",
    "graphfold, filter": "our_filter",
    "scikit-learn KernelPCA": "kernel_pca",
    "scikit-learn Nystroem + PCA": "nystroem",
    "scikit-learn IncrementalPCA": "incremental_pca",
    "scikit-learn SpectralEmbedding": "spectral_embedding",
    "scikit-learn SpectralEmbedding, lobpcg": "spectral_lobpcg",
    "scikit-learn LLE": "lle",
    "scikit-learn Isomap": "isomap",
    "umap-learn": "umap",
    "pymde": "pymde",
    "graspologic CASE": "case",
    "st-graphpca": "graph_pca",
    "mlpack Nystroem": "mlpack",
    "scikit-network Spectral": "sknetwork",
    "PyGSP filter": "pygsp",
}
PACKAGES = (
    "umap-learn",
    "pymde",
    "graspologic",
    "st-graphpca",
    "mlpack",
    "scikit-network",
    "PyGSP",
)


def method(name: str, n: int):
    """In the worker: a method by name, called once before on few rows.

    So nobody's clock runs while modules are found and code is compiled. What the call
    returns is let go.
    """
    prepare = getattr(
        importlib.import_module("benchmarks.scale_methods"), METHODS[name]
    )
    prepare(SIZES[0])()
    prepared = prepare(n)

    def run() -> None:
        prepared()

    return run


def load(path: Path = PATH) -> list[dict]:
    return json.loads(path.read_text())["points"] if path.exists() else []


def store(points: list[dict], path: Path = PATH) -> None:
    """The points with what they need to be understood; whole or not at all."""
    order = list(METHODS)
    points = sorted(points, key=lambda p: (order.index(p["method"]), p["n"]))
    record = {
        "benchmark": "scale",
        "command": "python -m benchmarks.scale",
        "machine": machine(),
        "versions": versions(),
        "points": points,
    }
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(record, indent=1) + "\n")
    beside.rename(path)


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def wanted(points: list[dict], name: str, n: int) -> bool:
    """Whether this point is to be run: not there, and nothing smaller went wrong."""
    own = [p for p in points if p["method"] == name]
    if any(p["n"] == n and not is_error(p) for p in own):
        return False
    return not any("failed" in p and p["n"] < n for p in own)


def is_error(point: dict) -> bool:
    """An error may be mended and is tried again; a limit that was met is a finding."""
    return not point.get("failed", "more than").startswith("more than")


def growth(points: list[dict], key: str = "seconds") -> float:
    """Slope of log(key) in log(n) over the last factor of ten, by least squares."""
    good = [(p["n"], p[key]) for p in points if key in p]
    if not good:
        return math.nan
    largest = max(n for n, _ in good)
    last = [(math.log(n), math.log(max(v, 1e-9))) for n, v in good if 10 * n >= largest]
    if len(last) < 2:
        return math.nan
    slope, _ = statistics.linear_regression(*zip(*last, strict=True))
    return slope


def measured(name: str, n: int, arguments: argparse.Namespace) -> dict:
    """The median of some runs, or why there is none."""
    runs: list[dict] = []
    while len(runs) < arguments.repeats:
        run = run_bounded(
            "benchmarks.scale",
            "method",
            {"name": name, "n": n},
            seconds=arguments.cap,
            megabytes=1000 * arguments.gigabytes,
            python=arguments.python,
        )
        if "failed" in run:
            return run
        runs.append(run)
        if run["seconds"] > SHORT:
            break
    keys = ("seconds", "cpu", "peak_mb", "beyond_mb")
    middle = {key: round(statistics.median(r[key] for r in runs), 4) for key in keys}
    return middle | {"runs": len(runs)}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="parts of names")
    parser.add_argument("--cap", type=float, default=60, help="seconds per run")
    parser.add_argument("--gigabytes", type=float, default=6, help="per process")
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--repeats", type=int, default=3, help="of short runs")
    parser.add_argument("--again", action="store_true", help="forget these points")
    parser.add_argument("--python", default=sys.executable, help="of the workers")
    parser.add_argument("--note", default="", help="kept with each point of this run")
    parser.add_argument("--output", type=Path, default=PATH)
    return parser.parse_args()


def main(arguments: argparse.Namespace | None = None) -> None:
    arguments = arguments or parsed()
    sizes = [n for n in SIZES if n <= arguments.largest]
    names = [
        name
        for name in METHODS
        if not arguments.only or any(part in name for part in arguments.only)
    ]
    points = load(arguments.output)
    if arguments.again:
        points = [p for p in points if p["method"] not in names or p["n"] not in sizes]
    for n in sizes:
        todo = [name for name in names if wanted(points, name, n)]
        if todo:
            # made in a process of its own: what a parent holds counts for its children
            command = [arguments.python, "-m", "benchmarks.forest", str(n)]
            subprocess.run(command, check=True)
        for name in todo:
            found = measured(name, n, arguments)
            text = found.get("failed") or f"{found['seconds']:.2f} s"
            print(f"{n:>9,} {name:40} {text}", flush=True)
            if "No module named" in found.get("failed", ""):
                names = [other for other in names if other != name]
                continue
            points = [p for p in points if (p["method"], p["n"]) != (name, n)]
            when = {"date": time.strftime("%Y-%m-%d"), "cap": arguments.cap}
            when |= {"note": arguments.note} if arguments.note else {}
            commit = git("rev-parse", "--short", "HEAD")
            points.append({"method": name, "n": n, **found, **when, "commit": commit})
            store(points, arguments.output)


if __name__ == "__main__":
    main()
