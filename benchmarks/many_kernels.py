"""Ten learned kernels with a graph against one; MKLpy and mvlearn beside us."""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.exact import D, images
from benchmarks.harness import at_least, at_most, ratio, run_alternating, save

N, N_PEERS = 5_000, 2_000


def ours(n: int, dtype: str, kernel: str):
    """A fit; ``seconds`` leaves out the evaluation of the kernels themselves."""
    from graphfold import GraphKernelPCA, NeighborGraph
    from graphfold.estimators import statement

    X = images(n, dtype)
    graph = NeighborGraph(10).build(X)
    model = GraphKernelPCA(D, kernel=kernel, graph=graph)
    evaluate, spent = statement.kernel_terms, [0.0]

    def timed(*arguments, **settings):
        start = time.perf_counter()
        terms = evaluate(*arguments, **settings)
        spent[0] += time.perf_counter() - start
        return terms

    statement.kernel_terms = timed

    def run():
        start = time.perf_counter()
        model.fit(X)
        whole = time.perf_counter() - start
        return {
            "whole": whole,
            "evaluation": spent[0],
            "beyond": whole - spent[0],
            "rounds": len(model.objective_trace_),
            "residual": float(model.residuals_.max()),
        }

    return run


def floor(n: int, dtype: str):
    """What learning ten weights needs at least: sums, shares, products of a block."""
    from graphfold.kernels import gaussian_grid
    from graphfold.kernels.names import bind_all
    from graphfold.kernels.products import gaussian_grams

    X = images(n, dtype)
    grid = bind_all(gaussian_grid(10), X, np.random.default_rng(0))
    rng = np.random.default_rng(0)
    V = rng.standard_normal((n, D)).astype(dtype)
    block = rng.standard_normal((n, D + 4)).astype(dtype)

    def run():
        stack = np.array(gaussian_grams(list(grid.values()), X))
        start = time.perf_counter()
        theta = np.full(10, 0.3, dtype=dtype)
        for _ in range(5):
            K = (theta @ stack.reshape(10, -1)).reshape(n, n)
        for _ in range(4):
            for matrix in stack:
                matrix @ V
        for _ in range(50):
            K @ block
        return {"beyond": time.perf_counter() - start}

    return run


def ten_kernels(n: int):
    """Ten Gaussian kernel matrices around the median width, and the labels."""
    from graphfold.datasets import load_mnist
    from graphfold.kernels import gaussian_grid
    from graphfold.kernels.names import bind_all

    data = load_mnist()
    X = data.data[:n].astype("float64")
    grid = bind_all(gaussian_grid(10), X, np.random.default_rng(0))
    return [kernel.gram(X) for kernel in grid.values()], data.target[:n]


def our_matrices(n: int):
    from graphfold import GraphKernelPCA

    K, _ = ten_kernels(n)
    model = GraphKernelPCA(D, kernel="precomputed")
    return lambda: {"residual": float(model.fit(K).residuals_.max())}


def mklpy(n: int, method: str):
    """Weights from labels (EasyMKL), then kernel PCA of the sum: two steps."""
    from MKLpy import algorithms
    from sklearn.decomposition import KernelPCA

    K, y = ten_kernels(n)

    def run():
        solution = getattr(algorithms, method)().fit(K, y).solution
        parts = solution.values() if isinstance(solution, dict) else [solution]
        weights = np.mean([np.asarray(part.weights) for part in parts], axis=0)
        total = sum(w * matrix for w, matrix in zip(weights, K, strict=True))
        KernelPCA(D, kernel="precomputed", eigen_solver="randomized").fit(total)

    return run


def views():
    from graphfold.datasets import load_mfeat

    return load_mfeat().views


def our_views():
    from graphfold import MultiModalGraphEmbedding

    X = views()
    model = MultiModalGraphEmbedding(D)
    return lambda: {"residual": float(model.fit(X).residuals_.max())}


def mvlearn():
    from mvlearn.embed import MVMDS

    X = [(v - v.mean(axis=0)) / v.std(axis=0).clip(1e-9) for v in views().values()]

    def run():
        MVMDS(n_components=D).fit_transform(X)

    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    cases: dict[str, tuple] = {}
    for dtype in ("float64", "float32"):
        for name, kernel in (("one kernel", "rbf"), ("ten kernels", "gaussian-grid")):
            settings = {"n": N, "dtype": dtype, "kernel": kernel}
            cases[f"{N:,} {name}, graph, {dtype}"] = ("ours", settings)
        cases[f"{N:,} floor of ten, {dtype}"] = ("floor", {"n": N, "dtype": dtype})
    cases[f"{N_PEERS:,} graphfold, ten matrices"] = ("our_matrices", {"n": N_PEERS})
    for method in ("AverageMKL", "EasyMKL"):
        settings = {"n": N_PEERS, "method": method}
        cases[f"{N_PEERS:,} MKLpy {method} + KernelPCA"] = ("mklpy", settings)
    cases["mfeat graphfold, six modes"] = ("our_views", {})
    cases["mfeat mvlearn MVMDS, six views"] = ("mvlearn", {})
    named = {k: ("benchmarks.many_kernels", *case) for k, case in cases.items()}
    runs = run_alternating(named, repeats, timeout=300)
    for listed in runs.values():
        for run in listed:
            if "beyond" in run:  # what is compared is what comes after the kernels
                run["with_evaluation"], run["seconds"] = run["seconds"], run["beyond"]
    save("many_kernels", runs, claims_of(runs))


def claims_of(runs: dict) -> list[dict]:
    claims = []
    for dtype in ("float64", "float32"):
        one, ten = (
            f"{N:,} {k} kernel{s}, graph, {dtype}"
            for k, s in (("one", ""), ("ten", "s"))
        )
        text = f"{dtype}: ten kernels / one kernel, beyond their evaluation"
        claims.append(at_most(text, ratio(runs, ten, one), 3))
        text = f"{dtype}: ten kernels / floor, beyond their evaluation"
        claims.append(
            at_most(text, ratio(runs, ten, f"{N:,} floor of ten, {dtype}"), 2)
        )
    us = f"{N_PEERS:,} graphfold, ten matrices"
    easy = ratio(runs, f"{N_PEERS:,} MKLpy EasyMKL + KernelPCA", us)
    claims.append(at_least("MKLpy EasyMKL + KernelPCA / us", easy, 1))
    views = ratio(runs, "mfeat mvlearn MVMDS, six views", "mfeat graphfold, six modes")
    claims.append(at_least("mvlearn MVMDS / us", views, 1))
    return claims


if __name__ == "__main__":
    main()
