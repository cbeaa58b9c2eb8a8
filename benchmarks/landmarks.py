"""Landmarks on all of MNIST with its 10-NN graph, against their floor and UMAP."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.harness import at_least, at_most, median, ratio, run_alternating, save
from benchmarks.linear_graph import neighbour_graph

HERE = "benchmarks.landmarks"
D, K = 10, 10
SPAN, REFINED = 1_000, 300
WIDTH = 2 * D  # columns of the block that refine works on


def images(n: int) -> np.ndarray:
    from graphfold.datasets import load_mnist

    return load_mnist().data[:n]  # float32


def ours(n: int, landmarks: int, refine: bool):
    from graphfold import Graph, GraphKernelPCA

    X, graph = images(n), Graph(neighbour_graph(n))
    model = GraphKernelPCA(D, graph=graph, landmarks=landmarks, refine=refine)

    def run():
        model.fit(X)
        return {
            "landmark_error": float(model.landmark_error_),
            "rounds": int(model.n_iter_),
        }

    return run


def floor(n: int, landmarks: int, products: int = 0):
    """The matrix products of the span in float32, and sparse ones with a narrow block.

    X Z' with the landmarks Z, the whitening, Phi'Phi (one half, by syrk) and
    Phi'(S Phi). Memory is there and touched before the clock starts. With
    ``products``, also S Phi and as many S V.
    """
    from scipy.linalg.blas import ssyrk

    X, S = images(n), neighbour_graph(n).astype(np.float32)
    rng = np.random.default_rng(0)
    Z = np.ascontiguousarray(X[rng.choice(n, landmarks, replace=False)].T)
    W = rng.standard_normal((landmarks, landmarks), dtype=np.float32)
    V = rng.standard_normal((n, WIDTH), dtype=np.float32)
    K_block = np.ones((n, landmarks), dtype=np.float32)
    Phi = np.ones((n, landmarks), dtype=np.float32)
    SPhi = np.ones((n, landmarks), dtype=np.float32)
    G = np.zeros((landmarks, landmarks), dtype=np.float32, order="F")

    def run():
        np.matmul(X, Z, out=K_block)
        np.matmul(K_block, W, out=Phi)
        ssyrk(1.0, Phi.T, c=G, overwrite_c=1)
        Phi.T @ SPhi
        if products:
            S @ Phi
        for _ in range(products):
            S @ V

    return run


def umap(n: int):
    """UMAP with the neighbours given, compiled before on a few rows."""
    from umap import UMAP

    X = images(n)
    indices, distances = lists_with_self(X, neighbour_graph(n))

    def embed(X, indices, distances):
        UMAP(
            n_neighbors=K + 1,
            n_components=D,
            precomputed_knn=(indices, distances),
            force_approximation_algorithm=True,
        ).fit_transform(X)

    few = images(500)
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=K + 1).fit(few).kneighbors(few)
    embed(few, found[1].astype(indices.dtype), found[0].astype(distances.dtype))

    def run():
        embed(X, indices, distances)

    return run


def lists_with_self(X: np.ndarray, A) -> tuple[np.ndarray, np.ndarray]:
    """Each row, then its K nearest of those linked to it: the lists UMAP wants."""
    rows = np.repeat(np.arange(len(X)), np.diff(A.indptr))
    squares = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), 50_000):
        part = slice(start, start + 50_000)
        gap = X[rows[part]] - X[A.indices[part]]
        squares[part] = np.einsum("ij,ij->i", gap, gap)
    order = np.lexsort((squares, rows))
    # the first K of each row; a graph of K neighbours leaves no row fewer
    first = (A.indptr[:-1, None] + np.arange(K)).ravel()
    chosen = order[first].reshape(-1, K)
    self_, zero = np.arange(len(X))[:, None], np.zeros((len(X), 1), np.float32)
    indices = np.hstack([self_, A.indices[chosen]]).astype(np.int32)
    return indices, np.hstack([zero, np.sqrt(squares[chosen])])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=70_000)
    parser.add_argument("--products", type=int, default=40, help="of refine's floor")
    arguments = parser.parse_args()
    n = arguments.rows
    neighbour_graph(n)
    cases = {
        f"span, m = {SPAN:,}": ("ours", {"landmarks": SPAN, "refine": False}),
        f"floor, m = {SPAN:,}": ("floor", {"landmarks": SPAN}),
        f"refined, m = {REFINED}": ("ours", {"landmarks": REFINED, "refine": True}),
        f"floor, m = {REFINED}": (
            "floor",
            {"landmarks": REFINED, "products": arguments.products},
        ),
        "UMAP": ("umap", {}),
    }
    full = {
        name: (HERE, function, {"n": n, **settings})
        for name, (function, settings) in cases.items()
    }
    runs = run_alternating(full, arguments.repeats, timeout=900, keep="landmarks")
    save("landmarks", runs, claims_of(runs))


def claims_of(runs: dict) -> list[dict]:
    span, refined = f"span, m = {SPAN:,}", f"refined, m = {REFINED}"
    peak = max(median(runs[name], "peak_mb") for name in (span, refined))
    return [
        at_most(f"{span}: us / floor", ratio(runs, span, f"floor, m = {SPAN:,}"), 1.3),
        at_most(
            f"{refined}: us / floor", ratio(runs, refined, f"floor, m = {REFINED}"), 2
        ),
        at_most("peak memory, GB", peak / 1000, 2),
        at_least(f"UMAP / {span}", ratio(runs, "UMAP", span), 5),
        at_least(f"UMAP / {refined}", ratio(runs, "UMAP", refined), 5),
    ]


if __name__ == "__main__":
    main()
