"""What ``plan`` says before a fit against what the fit takes: seconds and bytes.

Each case is fitted in a process of its own. Seconds are to be right within a factor of
three, memory is to stay below the plan and 15 %, and 32 MB that the allocator may keep.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.budget import ALLOWANCE, MB, read, save, write_page
from tests.peak import measure

FACTOR = 3.0


def gkpca(n: int, columns: int, **more) -> dict:
    return {"estimator": "GraphKernelPCA", "n": n, "columns": columns, **more}


def robust(name: str, n: int, columns: int) -> dict:
    return {"estimator": name, "n": n, "columns": columns, "neighbors": 10}


SINGLE = {"dtype": "float32"}
LINEAR = {"settings": {"kernel": "linear", "n_components": 10}}
CASES = {
    "stored, 2,000 x 50": gkpca(2000, 50),
    "stored, 5,000 x 50": gkpca(5000, 50),
    "stored, 5,000 x 784, single": gkpca(5000, 784, **SINGLE),
    "stored and a graph, 4,000 x 50": gkpca(4000, 50, neighbors=10),
    "two kernels, 3,000 x 20": gkpca(3000, 20, kernels=["rbf", "poly"]),
    "LAPACK, 2,000 x 20": gkpca(2000, 20, settings={"solver": "lapack"}),
    "tiled, 4,000 x 50": gkpca(4000, 50, budget="40MB"),
    "tiled, 6,000 x 784, single": gkpca(6000, 784, budget="80MB", **SINGLE),
    "low-rank, 20,000 x 100": gkpca(20_000, 100, **LINEAR),
    "low-rank and a graph, 10,000 x 50": gkpca(10_000, 50, neighbors=10, **LINEAR),
    "sparse low-rank, 10,000 x 2,000": gkpca(10_000, 2000, density=0.01, **LINEAR),
    "LLE, 3,000 x 20": {
        "estimator": "LocalNonlinearEmbedding",
        "n": 3000,
        "columns": 20,
        "settings": {"order": 1, "n_neighbors": 10},
    },
    "eigenmaps, 10,000 x 20": {
        "estimator": "LaplacianEigenmaps",
        "n": 10_000,
        "columns": 20,
        "neighbors": 10,
    },
    "FRPCAG, 3,000 x 100": robust("FastRobustGraphPCA", 3000, 100),
    "RPCAG, 1,000 x 100": robust("RobustGraphPCA", 1000, 100),
    "labels, 3,000 x 50": {
        "estimator": "SemiSupervisedGraphKernelPCA",
        "n": 3000,
        "columns": 50,
    },
    "modes, 1,500 x 30": {
        "estimator": "MultiModalGraphEmbedding",
        "n": 1500,
        "columns": 30,
        "settings": {"modes": 3},
    },
}


def line(name: str, run: dict) -> str:
    if "measured" not in run:
        return f"| {name} | {run.get('failed') or run['refused']} | | | | | | |"
    seconds = run["seconds"] / run["planned_seconds"]
    return (
        f"| {name} | {run['storage']} | {run['planned_seconds']:.2f} | "
        f"{run['seconds']:.2f} | {seconds:.1f} | {run['planned'] / MB:,.0f} | "
        f"{run['measured'] / MB:,.0f} | {run['cpu_seconds']:.2f} |"
    )


def within(run: dict) -> bool:
    ratio = run["seconds"] / run["planned_seconds"]
    return 1 / FACTOR <= ratio <= FACTOR


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--timeout", type=float, default=120)
    asked = parser.parse_args()
    runs = read("plan").get("runs", {}) if asked.only else {}
    for name, request in CASES.items():
        if asked.only in name:
            runs[name] = measure(request, asked.timeout)
            print(line(name, runs[name]), file=sys.stderr)
    done = [run for run in runs.values() if "measured" in run]
    close = sum(within(run) for run in done)
    lean = sum(r["measured"] <= 1.15 * r["planned"] + ALLOWANCE for r in done)
    print(f"seconds within a factor of {FACTOR:g}: {close} of {len(done)}")
    print(f"memory within the plan: {lean} of {len(done)}")
    save("plan", {name: runs[name] for name in CASES if name in runs})
    write_page()


if __name__ == "__main__":
    main()
