"""Laplacian eigenmaps of a given graph against SpectralEmbedding, ARPACK and AMG."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from benchmarks.harness import (
    at_least,
    grid,
    median,
    ratio,
    run_alternating,
    save,
    took_too_long,
)
from benchmarks.linear_graph import neighbour_graph

HERE = "benchmarks.spectral"


def graph_of(n: int):
    """Ten nearest images, both ways, with the indices that scikit-learn takes."""
    A = neighbour_graph(n)
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    return A


def residual_of(A, Y) -> float:
    """Of the eigenvectors of the normalised Laplacian that Y is made of."""
    roots = np.sqrt(np.asarray(A.sum(axis=1)).ravel())
    V = Y * roots[:, None]
    V = V / np.linalg.norm(V, axis=0)
    product = V - (A @ (V / roots[:, None])) / roots[:, None]
    values = np.einsum("ij,ij->j", V, product)
    return float(np.linalg.norm(product - V * values, axis=0).max())


def ours(n: int, d: int, tol: float | None = None):
    from graphfold import Graph, LaplacianEigenmaps

    A = graph_of(n)
    X, graph = np.zeros((n, 2)), Graph(A)

    def run():
        model = LaplacianEigenmaps(d, graph=graph, tol=tol).fit(X)
        Y = model.embedding_
        return {"later": lambda: {"residual": residual_of(A, Y)}}

    return run


def scikit_learn(n: int, d: int, solver: str):
    from sklearn.manifold import SpectralEmbedding

    A = graph_of(n)

    def run():
        model = SpectralEmbedding(
            d, affinity="precomputed", eigen_solver=solver, random_state=0
        )
        Y = model.fit_transform(A)
        return {"later": lambda: {"residual": residual_of(A, Y)}}

    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2000, 10_000, 70_000])
    parser.add_argument("--solvers", nargs="+", default=["arpack", "amg"])
    parser.add_argument("--timeout", type=float, default=150)
    arguments = parser.parse_args()
    for n in arguments.sizes:
        graph_of(n)
    cases, cells = {}, []
    for n in arguments.sizes:
        for d in (2, 10):
            us, how = f"{n:,}, d = {d}, graphfold", {"n": n, "d": d}
            cases[us] = (HERE, "ours", how)
            # AMG stops at a residual of about 1e-4
            cases[f"{us} 1e-4"] = (HERE, "ours", how | {"tol": 1e-4})
            for solver in arguments.solvers:
                peer = f"{n:,}, d = {d}, {solver}"
                cases[peer] = (HERE, "scikit_learn", how | {"solver": solver})
                cells.append((peer, us if solver == "arpack" else f"{us} 1e-4"))
    runs = run_alternating(
        cases, arguments.repeats, timeout=arguments.timeout, keep="spectral"
    )
    found = {peer: ratio(runs, peer, us) for peer, us in cells}
    ended = {peer for peer in found if took_too_long(runs[peer][0])}
    claims = [at_least(f"{peer} / us", found[peer], 2) for peer, _ in cells]
    table = {
        (peer.split(", d")[0] + ", " + peer.split(", ")[-1], peer.split(", ")[1]): (
            f"**{'> ' * (peer in ended)}{found[peer]:.2f}** ({median(runs[us]):.2f} s)"
        )
        for peer, us in cells
    }
    save("spectral", runs, claims, table=grid(table), trial=len(sys.argv) > 1)


if __name__ == "__main__":
    main()
