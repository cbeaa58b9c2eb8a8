"""Landmarks on all of MNIST with its 10-NN graph, against their floor and UMAP."""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.harness import at_least, at_most, median, ratio, run_alternating, save
from benchmarks.linear_graph import neighbour_graph

HERE = "benchmarks.landmarks"
ROWS, D, K = 70_000, 10, 10
SPAN, REFINED = 1_000, 300


def images(n: int) -> np.ndarray:
    from graphfold.datasets import load_mnist

    return load_mnist().data[:n]  # float32


def model_of(n: int, landmarks: int):
    from graphfold import Graph, GraphKernelPCA

    return GraphKernelPCA(D, graph=Graph(neighbour_graph(n)), landmarks=landmarks)


def refined(n: int, landmarks: int):
    X, model = images(n), model_of(n, landmarks)
    warm_up(X)

    def run():
        model.fit(X)
        return {
            "landmark_error": float(model.landmark_error_),
            "rounds": int(model.n_iter_),
        }

    return run


def span(n: int, landmarks: int):
    """All of a fit up to where refining begins: the best function of the features.

    It has no name in the interface (``refine=False`` widens the span), so the parts of
    a fit are called one by one.
    """
    from graphfold.estimators.fitting import prepare
    from graphfold.estimators.statement import generator
    from graphfold.model.refine import in_span

    X, model, rng = images(n), model_of(n, landmarks), generator(None)
    warm_up(X)

    def run():
        fit = prepare(model, X, None, model._graphs(), rng)
        problem = fit.problem.with_gamma(fit.statement.unit)
        in_span(fit.statement.span, problem, D, refined=False, rng=rng)
        return {"landmark_error": fit.landmarks.lost}

    return run


def warm_up(X: np.ndarray) -> None:
    """A fit of few rows, so that no module is imported while the clock runs."""
    from graphfold import GraphKernelPCA, NeighborGraph

    graph = NeighborGraph(K).build(X[:1000])
    GraphKernelPCA(D, graph=graph, landmarks=100).fit(X[:1000])


def floor(n: int, landmarks: int, refined: bool):
    """The matrix products of the span in float32; with those of refining, if asked.

    X Z' with the landmarks Z, the whitening, Phi'Phi (one half, by syrk) and
    Phi'(S Phi): memory is there and touched before the clock starts. Refined adds
    the sparse products: S Phi, every edge once, and those with L as many and as wide
    as a fit before the clock has made.
    """
    import scipy.sparse as sp
    from scipy.linalg.blas import ssyrk

    X, S = images(n), neighbour_graph(n).astype(np.float32)
    upper = sp.csr_array(sp.triu(S, k=1))
    widths = widths_of_products(n, landmarks) if refined else []
    rng = np.random.default_rng(0)
    Z = np.ascontiguousarray(X[rng.choice(n, landmarks, replace=False)].T)
    W = rng.standard_normal((landmarks, landmarks), dtype=np.float32)
    blocks = {w: rng.standard_normal((n, w), dtype=np.float32) for w in set(widths)}
    values, Phi, SPhi = (np.ones((n, landmarks), dtype=np.float32) for _ in range(3))
    G = np.zeros((landmarks, landmarks), dtype=np.float32, order="F")

    def run():
        start = time.perf_counter()
        np.matmul(X, Z, out=values)
        np.matmul(values, W, out=Phi)
        ssyrk(1.0, Phi.T, c=G, overwrite_c=1)
        Phi.T @ SPhi
        dense = time.perf_counter() - start
        if refined:
            upper @ Phi
        for w in widths:
            S @ blocks[w]
        return {"dense_seconds": dense, "products": len(widths), "columns": sum(widths)}

    return run


def widths_of_products(n: int, landmarks: int) -> list[int]:
    """Columns of every product with the Laplacian that a refined fit makes."""
    from graphfold.operators import Sparse

    widths, apply = [], Sparse.apply

    def counted(self, V):
        widths.append(V.shape[1] if V.ndim > 1 else 1)
        return apply(self, V)

    Sparse.apply = counted
    model_of(n, landmarks).fit(images(n))
    Sparse.apply = apply
    return widths


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
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--timeout", type=float, default=600, help="seconds per run")
    arguments = parser.parse_args()
    n = arguments.rows
    neighbour_graph(n)
    large, small = {"landmarks": SPAN}, {"landmarks": REFINED}
    cases = {
        f"span, m = {SPAN:,}": ("span", large),
        f"floor, m = {SPAN:,}": ("floor", {**large, "refined": False}),
        f"refined, m = {REFINED}": ("refined", small),
        f"floor, m = {REFINED}": ("floor", {**small, "refined": True}),
        "UMAP": ("umap", {}),
    }
    full = {
        name: (HERE, function, {"n": n, **settings})
        for name, (function, settings) in cases.items()
    }
    runs = run_alternating(
        full, arguments.repeats, timeout=arguments.timeout, keep="landmarks"
    )
    trial = n != ROWS
    save("landmarks", runs, claims_of(runs), trial=trial)


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
