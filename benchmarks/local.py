"""Locally linear embedding and Laplacian eigenmaps on MNIST, against others."""

from __future__ import annotations

import argparse
import json
import math
import time

import numpy as np

from benchmarks.harness import (
    RESULTS,
    at_least,
    at_most,
    median,
    ratio,
    run_alternating,
    save,
)

K, D = 12, 10
HERE = "benchmarks.local"


def images(n: int):
    from graphfold.datasets import load_mnist

    return load_mnist().data[:n].astype(np.float64)


def ours(n: int, order: int = 1):
    """A fit, and its seconds beyond the neighbour search."""
    from graphfold import LocalNonlinearEmbedding
    from graphfold.neighbors import local as module

    X = images(n)
    search, spent = module.nearest_rows, [0.0]

    def timed(*arguments, **settings):
        start = time.perf_counter()
        found = search(*arguments, **settings)
        spent[0] += time.perf_counter() - start
        return found

    module.nearest_rows = timed

    def run():
        spent[0], start = 0.0, time.perf_counter()
        model = LocalNonlinearEmbedding(D, n_neighbors=K, order=order).fit(X)
        beyond = time.perf_counter() - start - spent[0]
        return {
            "beyond": beyond,
            "residual": float(model.residuals_.max()),
            "error": model.reconstruction_error_,
            "rounds": model.n_iter_,
        }

    return run


def scikit_learn(n: int):
    from sklearn.manifold import LocallyLinearEmbedding

    X = images(n)

    def run():
        model = LocallyLinearEmbedding(n_neighbors=K, n_components=D).fit(X)
        return {"error": float(model.reconstruction_error_)}

    return run


def tapkee(n: int):
    import tapkee as peer

    X = np.asfortranarray(images(n).T)

    def run():
        peer.embed(
            X,
            method="lle",
            num_neighbors=K,
            target_dimension=D,
            check_connectivity=False,
        )

    return run


def floor(n: int):
    """The neighbour search and the sparse products that a fit of ours needs."""
    import scipy.sparse as sp
    from sklearn.neighbors import NearestNeighbors

    X = images(n)
    V = np.random.default_rng(0).standard_normal((n, D))

    def run():
        search = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(X)
        _, indices = search.kneighbors()
        starts = np.arange(0, n * K + 1, K, dtype=np.int32)
        data = np.full(n * K, 1 / K)
        columns = indices.astype(np.int32).ravel()
        W = sp.csr_array((data, columns, starts), shape=(n, n))
        for _ in range(1300):
            W.T @ (W @ V)

    return run


def our_eigenmaps(n: int):
    from benchmarks.linear_graph import inputs
    from graphfold import Graph, LaplacianEigenmaps

    X, A = inputs(n)

    def run():
        model = LaplacianEigenmaps(D, graph=Graph(A)).fit(X)
        return {"residual": float(model.residuals_.max())}

    return run


def spectral_embedding(n: int):
    import scipy.sparse as sp
    from sklearn.manifold import SpectralEmbedding

    from benchmarks.linear_graph import inputs

    _, A = inputs(n)
    A = sp.csr_array(A)
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)

    def run():
        SpectralEmbedding(n_components=D, affinity="precomputed").fit(A)

    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["growth"], help="renew these runs alone")
    arguments = parser.parse_args()
    # neighbours in time: the exponent compares them, and machines drift
    growth = {
        "growth 10,000": (HERE, "ours", {"n": 10_000}),
        "growth 40,000": (HERE, "ours", {"n": 40_000}),
    }
    if arguments.only:
        runs = json.loads((RESULTS / "local.json").read_text())["runs"]
    else:
        runs = run_alternating(peers(), arguments.repeats, timeout=400)
    runs |= run_alternating(growth, arguments.repeats, timeout=400)
    save("local", runs, claims_of(runs))


def peers() -> dict[str, tuple]:
    return {
        "LLE 10,000 graphfold": (HERE, "ours", {"n": 10_000}),
        "LLE 10,000 scikit-learn": (HERE, "scikit_learn", {"n": 10_000}),
        "LLE 10,000 tapkee": (HERE, "tapkee", {"n": 10_000}),
        "LLE 10,000 floor": (HERE, "floor", {"n": 10_000}),
        "LNE order 2, 10,000 graphfold": (HERE, "ours", {"n": 10_000, "order": 2}),
        "eigenmaps 20,000 graphfold": (HERE, "our_eigenmaps", {"n": 20_000}),
        "eigenmaps 20,000 scikit-learn": (HERE, "spectral_embedding", {"n": 20_000}),
    }


def claims_of(runs: dict) -> list[dict]:
    us = "LLE 10,000 graphfold"
    small, large = (median(runs[f"growth {n}"], "beyond") for n in ("10,000", "40,000"))
    growth = math.log(large / small) / math.log(4)
    maps = ratio(runs, "eigenmaps 20,000 scikit-learn", "eigenmaps 20,000 graphfold")
    second_order = ratio(runs, "LNE order 2, 10,000 graphfold", us)
    return [
        at_least(
            "LLE: scikit-learn / us", ratio(runs, "LLE 10,000 scikit-learn", us), 5
        ),
        at_least("LLE: tapkee / us", ratio(runs, "LLE 10,000 tapkee", us), 1),
        at_most("LLE: growth exponent beyond the neighbour search", growth, 1.3),
        at_most("order 2 / order 1", second_order, 4),
        at_least("Laplacian eigenmaps: scikit-learn / us", maps, 5),
        at_most("LLE: us / floor", ratio(runs, us, "LLE 10,000 floor"), 3),
    ]


if __name__ == "__main__":
    main()
