"""One product with a tiled kernel against its floor, and a whole fit in 2 GB.

``python -m benchmarks.tiled`` measures a product with the Gaussian kernel of
70,000 x 784 rows in float32: its floor is the arithmetic that no way around exists
for, half the products of all pairs of rows, exponentials of half the entries, and both
uses of each tile, each timed on its own on one tile in the same run.
``python -m benchmarks.tiled --fit`` fits GraphKernelPCA to MNIST (or to random rows
where GRAPHFOLD_DATA is not set) with ``max_memory="2GB"``; that takes long.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import RESULTS, git, machine
from graphfold.kernels import Gaussian
from graphfold.kernels.tiles import tiles_of
from graphfold.operators import TiledKernel
from graphfold.threads import n_threads


def images(n: int, columns: int = 784) -> np.ndarray:
    """MNIST in float32, scaled to [0, 1]; random rows where it is not there."""
    folder = os.environ.get("GRAPHFOLD_DATA")
    path = Path(folder) / "mnist.npz" if folder else None
    if path and path.exists() and columns == 784:
        with np.load(path) as stored:
            key = next(k for k in stored.files if stored[k].ndim > 1)
            X = stored[key][:n].reshape(-1, 784)
        return X.astype(np.float32) / np.float32(255)
    return np.random.default_rng(0).random((n, columns), dtype=np.float32)


def floor_per_entry(X: np.ndarray, side: int, width: int, threads: int) -> dict:
    """Seconds per entry of a tile: product of rows, exponential, both uses."""
    A, B = np.ascontiguousarray(X[:side]), np.ascontiguousarray(X[side : 2 * side])
    V = np.ones((side, width), dtype=X.dtype)

    def many(step, times=6):
        def work(_):
            room = np.full((side, side), -0.5, dtype=X.dtype)
            other = room.copy()
            step(room, other)
            start = time.perf_counter()
            for _ in range(times):
                step(room, other)
            return time.perf_counter() - start

        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            spent = max(pool.map(work, range(threads)))
        return spent / (times * threads * side * side)

    return {
        "products": many(lambda room, _: np.matmul(A, B.T, out=room)),
        "exponentials": many(lambda room, other: np.exp(other, out=room)),
        "uses": many(lambda room, _: (room @ V, room.T @ V)),
    }


def product(n: int, columns: int, width: int, side: int) -> dict:
    """Seconds of one product, and of its floor."""
    X = images(n, columns)
    n = len(X)
    kernel = Gaussian(gamma=0.01)
    K = TiledKernel(
        kernel.block, X, kernel.diagonal(X), strip=side, tiles=tiles_of(kernel, X)
    )
    V = np.random.default_rng(1).standard_normal((n, width)).astype(np.float32)
    floor = floor_per_entry(X, side, width, n_threads())
    entries = n * (n + side) / 2  # tiles on the diagonal are computed whole
    start = time.perf_counter()
    K.apply(V)
    seconds = time.perf_counter() - start
    parts = {name: entries * each for name, each in floor.items()}
    return {
        "n": n,
        "columns": X.shape[1],
        "width": width,
        "side": side,
        "threads": n_threads(),
        "seconds": seconds,
        "floor": sum(parts.values()),
        "ratio": seconds / sum(parts.values()),
        **{f"floor_{name}": value for name, value in parts.items()},
    }


def whole_fit(n: int, budget: str, tol: float, max_iter: int | None) -> dict:
    """A tiled fit to the end, with the memory that it takes."""
    from graphfold import GraphKernelPCA
    from tests.peak import added

    X = images(n)
    model = GraphKernelPCA(10, max_memory=budget, tol=tol, max_iter=max_iter, verbose=2)
    plan = model.plan(X)
    print(plan, flush=True)
    peak, seconds, _ = added(lambda: model.fit(X))
    return {
        "n": len(X),
        "columns": X.shape[1],
        "budget": budget,
        "storage": plan.storage,
        "planned_bytes": plan.peak_bytes,
        "measured_bytes": peak,
        "planned_seconds": plan.seconds,
        "seconds": seconds,
        "rounds": int(model.n_iter_),
        "converged": bool(model.converged_),
        "residual": float(np.max(model.residuals_)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=70_000)
    parser.add_argument("--columns", type=int, default=784)
    parser.add_argument("--width", type=int, default=14)
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--budget", default="2GB")
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--max-iter", type=int, default=None)
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    if asked.fit:
        name = "tiled_fit"
        found = whole_fit(asked.n, asked.budget, asked.tol, asked.max_iter)
    else:
        name = "tiled"
        found = product(asked.n, asked.columns, asked.width, asked.side)
    print(json.dumps(found, indent=1))
    if asked.save:
        commit = git("rev-parse", "--short", "HEAD")
        record = {"benchmark": name, "commit": commit, "machine": machine(), **found}
        text = json.dumps(record, indent=1) + "\n"
        (RESULTS / f"{name}.json").write_text(text)


if __name__ == "__main__":
    main()
