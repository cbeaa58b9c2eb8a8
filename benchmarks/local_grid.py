"""Locally linear embedding at the sizes and dimensions people use, against others."""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

from benchmarks.harness import at_least, grid, median, ratio, run_alternating, save

K = 12
HERE = "benchmarks.local_grid"
#: data and its largest size by default: more pixels take scikit-learn minutes a run
DATA = {"pixels": 10_000, "roll": 20_000}
SIZES = [1000, 2000, 5000, 10_000, 20_000]


def rows(data: str, n: int, columns: int = 3):
    if data == "pixels":
        from benchmarks.local import images

        return images(n)
    from sklearn.datasets import make_swiss_roll

    # scikit-learn refuses more dimensions than there are columns
    return np.pad(make_swiss_roll(n, random_state=0)[0], ((0, 0), (0, columns - 3)))


def warmed(fit, X):
    """Everything is imported before the clock starts; up to 2,000 rows, in memory too.

    A second fit of 1,000 rows takes two thirds of the first.
    """
    fit(X if len(X) <= 2000 else np.random.default_rng(0).random((300, 20)))


def ours(data: str, n: int, d: int):
    from graphfold import LocalNonlinearEmbedding

    def fit(X):
        return LocalNonlinearEmbedding(d, n_neighbors=K, order=1).fit(X)

    X = rows(data, n, columns=max(d, 3))
    warmed(fit, X)

    def run():
        model = fit(X)
        facts = {"error": model.reconstruction_error_, "solver": model.solver_}
        return {**facts, "residual": float(model.residuals_.max())}

    return run


def scikit_learn(data: str, n: int, d: int):
    """ARPACK, the fastest of its solvers from 500 rows on."""
    from sklearn.manifold import LocallyLinearEmbedding

    def fit(X):
        model = LocallyLinearEmbedding(
            n_neighbors=K, n_components=d, eigen_solver="arpack", random_state=0
        )
        return model.fit(X)

    X = rows(data, n, columns=max(d, 3))
    warmed(fit, X)
    return lambda: {"error": float(fit(X).reconstruction_error_)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 5, 8, 10])
    parser.add_argument("--data", nargs="+", choices=[*DATA], default=[*DATA])
    parser.add_argument("--pixels", type=int, default=DATA["pixels"])
    parser.add_argument("--timeout", type=float, default=400)
    arguments = parser.parse_args()
    cells = [
        (data, n, d)
        for data in arguments.data
        for n in arguments.sizes
        for d in arguments.dimensions
        if n <= (arguments.pixels if data == "pixels" else DATA[data])
    ]
    cases = {}
    for data, n, d in cells:
        how = {"data": data, "n": n, "d": d}
        cases[f"{name(data, n, d)} graphfold"] = (HERE, "ours", how)
        cases[f"{name(data, n, d)} scikit-learn"] = (HERE, "scikit_learn", how)
    runs = run_alternating(
        cases, arguments.repeats, timeout=arguments.timeout, keep="local_grid"
    )
    found = ratios(runs, cells)
    table = {
        (f"{data}, {n:,}", f"d = {d}"): f"**{found[data, n, d]:.2f}** "
        f"({median(runs[name(data, n, d) + ' graphfold']):.2f} s)"
        for data, n, d in cells
    }
    trial = len(sys.argv) > 1
    save("local_grid", runs, claims_of(found), table=grid(table), trial=trial)


def name(data: str, n: int, d: int) -> str:
    return f"{data} {n:,}, d = {d},"


def ratios(runs: dict, cells: list[tuple]) -> dict[tuple, float]:
    found = {}
    for cell in cells:
        us = f"{name(*cell)} graphfold"
        found[cell] = ratio(runs, f"{name(*cell)} scikit-learn", us)
    return found


def claims_of(found: dict[tuple, float]) -> list[dict]:
    known = {cell: r for cell, r in found.items() if math.isfinite(r)}
    worst = min(known, key=lambda cell: known[cell])
    claims = [at_least(f"worst cell ({name(*worst)})", known[worst], 1)]
    large = [r for (_, n, _), r in known.items() if n >= 10_000]
    if large:
        mean = float(np.exp(np.mean(np.log(large))))
        claims.append(at_least("mean at 10,000 rows and more", mean, 2))
    return claims


if __name__ == "__main__":
    main()
