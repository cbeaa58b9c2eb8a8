"""Exact GraphKernelPCA with a 10-NN graph against KernelPCA and the floor (MNIST)."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.harness import at_least, at_most, ratio, run_alternating, save

SIZES = (2_000, 5_000, 10_000)
D = 10


def images(n: int, dtype: str) -> np.ndarray:
    from graphfold.datasets import load_mnist

    return load_mnist().data[:n].astype(dtype)


def width(X: np.ndarray) -> float:
    from graphfold.kernels import Gaussian

    return Gaussian("median").bind(X, np.random.default_rng(0)).gamma


def residual_of(values, V, K) -> float:
    """Largest |K v - value v| / |K| on the centred kernel matrix."""
    V = V - V.mean(axis=0)
    KV = K @ V
    KV -= KV.mean(axis=0)
    return float(np.linalg.norm(KV - V * values, axis=0).max() / values[0])


def ours(n: int, dtype: str):
    from graphfold import GraphKernelPCA, NeighborGraph

    X = images(n, dtype)
    graph = NeighborGraph(10).build(X)
    model = GraphKernelPCA(D, graph=graph, gamma=width(X), tol=1e-5)

    def run():
        model.fit(X)
        return {"residual": float(model.residuals_.max()), "rounds": model.n_iter_}

    return run


def scikit_learn(n: int, **settings):
    from sklearn.decomposition import KernelPCA

    from graphfold.kernels import Gaussian

    X = images(n, "float64")
    gamma = width(X)
    model = KernelPCA(D, kernel="rbf", gamma=gamma, random_state=0, **settings)

    def run():
        model.fit(X)

        def later():
            K = Gaussian(gamma).gram(X)
            return {"residual": residual_of(model.eigenvalues_, model.eigenvectors_, K)}

        return {"later": later}

    return run


def floor(n: int, dtype: str):
    """The kernel matrix once, and 20 products with a block of width 2d."""
    from graphfold.kernels import Gaussian

    X = images(n, dtype)
    kernel = Gaussian(width(X))
    V = np.random.default_rng(0).standard_normal((n, 2 * D)).astype(dtype)

    def run():
        K = kernel.gram(X)
        for _ in range(20):
            K @ V

    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    arguments = parser.parse_args()
    runs: dict = {}
    claims: list = []
    for n in arguments.sizes:
        names = {
            f"{n:,} graphfold float64": ("ours", {"n": n, "dtype": "float64"}),
            f"{n:,} graphfold float32": ("ours", {"n": n, "dtype": "float32"}),
            f"{n:,} floor float64": ("floor", {"n": n, "dtype": "float64"}),
            f"{n:,} floor float32": ("floor", {"n": n, "dtype": "float32"}),
            f"{n:,} KernelPCA default": ("scikit_learn", {"n": n}),
            f"{n:,} KernelPCA randomized": (
                "scikit_learn",
                {"n": n, "eigen_solver": "randomized"},
            ),
        }
        cases = {name: ("benchmarks.exact", *case) for name, case in names.items()}
        runs |= run_alternating(cases, arguments.repeats, timeout=600)
        claims += claims_at(n, runs)
    save("exact", runs, claims)


def claims_at(n: int, runs: dict) -> list[dict]:
    us = f"{n:,} graphfold float64"
    single = f"{n:,} graphfold float32"
    default = ratio(runs, f"{n:,} KernelPCA default", us)
    randomized = ratio(runs, f"{n:,} KernelPCA randomized", us)
    claims = [
        at_least(f"{n:,}: KernelPCA randomized / us", randomized, 1),
        at_least(f"{n:,}: float64 / float32", ratio(runs, us, single), 1.6),
        at_most(f"{n:,}: us / floor", ratio(runs, us, f"{n:,} floor float64"), 2),
        at_most(
            f"{n:,}: float32 / floor", ratio(runs, single, f"{n:,} floor float32"), 2
        ),
    ]
    if n >= 10_000:
        claims.insert(0, at_least(f"{n:,}: KernelPCA default / us", default, 8))
    return claims


if __name__ == "__main__":
    main()
