"""Seconds of every solver over sizes, numbers of components and kinds of operator.

The rule of ``solver="auto"`` (``graphfold.solvers.choose``) is read off this grid:
LAPACK up to the size where Krylov becomes faster. ARPACK is SciPy's ``eigsh`` on the
centred matrix, without a check that no copy of an eigenvalue was missed.

    python -m benchmarks.solver_grid           all, some ten minutes on an idle machine
    python -m benchmarks.solver_grid --sizes 200 500 --components 2
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from benchmarks.exact import images
from benchmarks.harness import RESULTS, git, machine
from graphfold import NeighborGraph
from graphfold.graphs import laplacian
from graphfold.kernels import Gaussian
from graphfold.operators import Centered, Dense, Sum
from graphfold.solvers import choose_solver, top_eigenpairs
from graphfold.solvers.choose import kind_of

SIZES = (200, 300, 400, 500, 700, 1_000, 1_500, 2_000, 5_000)
COMPONENTS = (2, 10, 30)
SOLVERS = ("lapack", "krylov", "chebyshev", "lobpcg", "shift-invert", "arpack")
#: no solver is run at sizes where it took longer than this at the size before
PATIENCE = 5.0
#: runs of which the fastest counts
REPEATS = 5


def operators(n: int, dtype: str):
    """A Gaussian kernel, the same with a 10-NN graph, and the graph alone."""
    X = images(n, dtype) / np.array(255, dtype)
    kernel = Gaussian("median").bind(X, np.random.default_rng(0))
    K = Dense(kernel.gram(X), bounds=(0.0, np.inf))
    L = laplacian(NeighborGraph(10).build(X), dtype=np.dtype(dtype)).operator
    gamma = float(top_eigenpairs(Centered(K), 1, tol=1e-4).values[0])
    return {
        "kernel": Centered(K),
        "kernel and graph": Centered(Sum([K, -gamma * L])),
        "graph": -L,
    }


def arpack(M, d: int, tol: float):
    product = LinearOperator((M.n, M.n), lambda v: M.apply(v.reshape(-1, 1))[:, 0])
    product.dtype = M.dtype
    start = np.random.default_rng(0).standard_normal(M.n).astype(M.dtype)
    return eigsh(product, d, which="LA", v0=start, tol=tol)


def seconds(M, d: int, solver: str, q) -> float:
    """The fastest of some runs; infinite where the solver gives up."""
    tol, best = 1e-10 if M.dtype == np.float64 else 1e-5, np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        try:
            if solver == "arpack":
                arpack(M, d, tol)
            else:
                found = top_eigenpairs(M, d, solver=solver, avoid=q, tol=tol)
                if not found.converged:
                    return float("inf")
        except (ArpackError, ValueError):
            return float("inf")
        best = min(best, time.perf_counter() - start)
        if best > 1:
            break
    return best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--components", type=int, nargs="+", default=list(COMPONENTS))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    rows, slow = [], {}
    for dtype in ("float64", "float32"):
        for n in arguments.sizes:
            for name, M in operators(n, dtype).items():
                q = None if name == "graph" else np.full((n, 1), n**-0.5, M.dtype)
                for d in arguments.components:
                    case = (dtype, name, d)
                    found = {}
                    for solver in SOLVERS:
                        if slow.get((*case, solver), 0) > PATIENCE:
                            continue
                        if solver == "shift-invert" and name != "graph":
                            continue
                        found[solver] = seconds(M, d, solver, q)
                        slow[*case, solver] = found[solver]
                    chosen = choose_solver(n, d, kind=kind_of(M)).solver
                    row = {"dtype": dtype, "n": n, "operator": name, "d": d}
                    row |= {"chosen": chosen, "seconds": found}
                    rows.append(row)
                    print(line(row), flush=True)
    if arguments.write:
        record = {
            "command": "python -m benchmarks.solver_grid --write",
            "date": time.strftime("%Y-%m-%d"),
            "commit": git("rev-parse", "--short", "HEAD"),
            "machine": machine(),
            "rows": rows,
        }
        # infinity is no JSON: what did not converge has no number
        for row in rows:
            row["seconds"] = {
                k: None if np.isinf(v) else round(v, 5)
                for k, v in row["seconds"].items()
            }
        path = RESULTS / "solver_grid.json"
        path.write_text(json.dumps(record) + "\n")


def line(row: dict) -> str:
    times = "  ".join(
        f"{'*' if k == row['chosen'] else ''}{k} {1e3 * v:.1f}"
        for k, v in row["seconds"].items()
    )
    return f"{row['dtype']} {row['operator']:16} n={row['n']} d={row['d']}: {times} ms"


if __name__ == "__main__":
    main()
