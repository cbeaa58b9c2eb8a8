"""What a factorisation costs, and what a small copy of the graph says of it.

The rule of ``solvers.filled``: entries of the factors of I - W, their seconds, and the
prediction for surfaces, images, cubes and blobs.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from benchmarks.local_grid import rows


def neighbours(X):
    from sklearn.neighbors import kneighbors_graph

    n = len(X)
    return sp.csc_array(3 * sp.eye_array(n) - 0.05 * kneighbors_graph(X, 12))


def cases():
    rng = np.random.default_rng(0)
    for n in (5000, 20_000):
        yield f"roll {n:,}", rows("roll", n)
    for n in (2000, 5000, 10_000):
        yield f"pixels {n:,}", rows("pixels", n)
    for n in (5000, 10_000):
        yield f"cube in 3, {n:,}", rng.random((n, 3))
        yield f"cube in 5, {n:,}", rng.random((n, 5))
    centres = 3 * rng.standard_normal((20, 10))
    yield "blobs 10,000", np.repeat(centres, 500, 0) + rng.standard_normal((10_000, 10))


def main() -> None:
    from graphfold.solvers.filled import FLOP, predicted_fill

    print("| case | entries | seconds | predicted / true | look | FLOP f^2 / n |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, X in cases():
        T = neighbours(X)
        start = time.perf_counter()
        guess = predicted_fill(T)
        look = time.perf_counter() - start
        start = time.perf_counter()
        how = {"permc_spec": "MMD_AT_PLUS_A", "options": {"SymmetricMode": True}}
        entries = splu(T, diag_pivot_thresh=0.0, **how).nnz
        seconds = time.perf_counter() - start
        law = FLOP * entries**2 / len(X)
        facts = f"{entries:,} | {seconds:.2f} | {guess / entries:.1f} | {look:.3f}"
        print(f"| {name} | {facts} | {law:.2f} |", flush=True)


if __name__ == "__main__":
    main()
