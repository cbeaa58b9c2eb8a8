"""What graph_strength="auto" costs: a fit that chooses, over the fit at strength 1."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import at_most, ratio, run_alternating, save

#: cases that have to keep the limit, and the limit
ASKED = ("cora linear", "cora cosine", "cora rbf", "osmfish linear", "osmfish rbf")
LIMIT = 5.0


def cora():
    """2,708 papers by words, sparse, and their citations."""
    from graphfold.datasets import load_cora

    found = load_cora()
    return sp.csr_array(found.data, dtype=np.float64), found.graph, found.labels


def osmfish():
    """4,839 cells by 33 genes, standardised, and their 6 nearest in the plane."""
    from sklearn.neighbors import kneighbors_graph

    from graphfold import Graph

    held = np.load(Path(os.environ["GRAPHFOLD_DATA"]) / "osmfish.npz")
    X = np.log1p(held["X"].astype(float))
    near = kneighbors_graph(held["xy"], 6)
    return (X - X.mean(axis=0)) / X.std(axis=0), Graph(near.maximum(near.T)), None


def digits(n: int = 1797):
    """8 x 8 images, and a graph that every fit and every trial builds."""
    from sklearn.datasets import load_digits

    from graphfold import NeighborGraph

    return load_digits().data[:n], NeighborGraph(10), None


def mnist(n: int = 5000):
    """28 x 28 images in single precision, and their graph."""
    from graphfold import NeighborGraph
    from graphfold.datasets import load_mnist

    X = load_mnist().data[:n].astype(np.float32)
    return X, NeighborGraph(10).build(X), None


#: data, kernel and components
CASES = {
    "cora linear": (cora, "linear", 20),
    "cora cosine": (cora, "cosine", 20),
    "cora rbf": (cora, "rbf", 20),
    "osmfish linear": (osmfish, "linear", 20),
    "osmfish rbf": (osmfish, "rbf", 20),
    "digits rbf": (digits, "rbf", 10),
    "digits 500 rbf": (lambda: digits(500), "rbf", 10),
    "mnist 5,000 rbf": (mnist, "rbf", 10),
}


def fit(case: str, strength):
    """One fit, after a small one: imports and the first calls are no part of it."""
    from graphfold import GraphKernelPCA, NeighborGraph

    load, kernel, d = CASES[case]
    X, graph, labels = load()
    warm = {"graph": NeighborGraph(5), "graph_strength": strength}
    GraphKernelPCA(2, **warm).fit(np.random.default_rng(0).random((200, 8)))

    def run():
        model = GraphKernelPCA(d, kernel=kernel, graph=graph, graph_strength=strength)
        model.fit(X, node_ids=labels)
        return {"strength": model.graph_strength_}

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(CASES), choices=list(CASES))
    asked = parser.parse_args()
    cases = {}
    for name in asked.only:
        for strength in (1.0, "auto"):
            arguments = {"case": name, "strength": strength}
            cases[f"{name}, {strength}"] = ("benchmarks.auto", "fit", arguments)
    runs = run_alternating(cases, asked.repeats, timeout=300, keep="auto")
    claims = []
    for name in asked.only:
        cost = ratio(runs, f"{name}, auto", f"{name}, 1.0")
        text = f"{name}: auto / strength 1"
        limit = LIMIT if name in ASKED else 2 * LIMIT
        claims.append(at_most(text, cost, limit))
    save("auto", runs, claims, trial=set(asked.only) != set(CASES))


if __name__ == "__main__":
    main()
