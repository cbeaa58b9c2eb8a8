"""Landmarks from 100,000 to 1,000,000 rows of 50 features, their 10-NN graph given."""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.base import clone

from benchmarks.forest import inputs
from benchmarks.harness import at_most, median, ratio, run_alternating, save
from benchmarks.landmarks import warm_up

HERE = "benchmarks.million"
SIZES = (100_000, 300_000, 1_000_000)
M, D, BUDGET = 500, 10, "1GB"


def ours(n: int, landmarks: int, max_memory: str | None = None):
    from graphfold import Graph, GraphKernelPCA

    X, A = inputs(n, "plain")
    graph = Graph(A)
    warm_up(X)
    model = GraphKernelPCA(D, graph=graph, landmarks=landmarks, max_memory=max_memory)

    def run():
        model.fit(X)

        def later():
            whole = clone(model).set_params(max_memory=None).fit(X)
            ends = (each.embedding_.astype(float) for each in (model, whole))
            angles = subspace_angles(*ends)
            return {"angle": float(np.degrees(angles.max()))}

        facts = {"landmark_error": float(model.landmark_error_)}
        return facts | ({"later": later} if max_memory else {})

    return run


def growth(seconds: dict[int, float]) -> float:
    """The exponent between the first and the last size."""
    small, large = min(seconds), max(seconds)
    return math.log(seconds[large] / seconds[small]) / math.log(large / small)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--landmarks", type=int, default=M)
    parser.add_argument("--timeout", type=float, default=600, help="seconds per run")
    arguments = parser.parse_args()
    sizes = sorted(arguments.sizes)
    cases = {}
    for n in sizes:
        inputs(n, "plain")  # made here, not inside somebody's time limit
        settings = {"n": n, "landmarks": arguments.landmarks}
        cases[f"{n:,} in memory"] = (HERE, "ours", settings)
        budget = {**settings, "max_memory": BUDGET}
        cases[f"{n:,} within {BUDGET}"] = (HERE, "ours", budget)
    runs = run_alternating(
        cases, arguments.repeats, timeout=arguments.timeout, keep="million"
    )
    trial = tuple(sizes) != SIZES
    save("million", runs, claims_of(runs, sizes), trial=trial)


def claims_of(runs: dict, sizes: list[int]) -> list[dict]:
    seconds = {n: median(runs[f"{n:,} in memory"]) for n in sizes}
    small, large = min(sizes), max(sizes)
    span = f"from {small:,} to {large:,}"
    within = f"{large:,} within {BUDGET}"
    beyond = median(runs[within], "beyond_mb") / 1024  # max_memory counts in 1024
    slower = ratio(runs, within, f"{large:,} in memory")
    # time saved by another answer would be no saving
    angle = median(runs[within], "angle")
    return [
        at_most(f"growth exponent of the fit {span}", growth(seconds), 1.1),
        at_most(f"{large:,}: within {BUDGET} / in memory", slower, 1.6),
        at_most(f"{large:,}: GB beyond the inputs, within {BUDGET}", beyond, 1.15),
        at_most(f"{large:,}: angle between both answers, degrees", angle, 2),
    ]


if __name__ == "__main__":
    main()
