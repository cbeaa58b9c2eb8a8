"""Data of any size with a 10-NN graph, made once and kept in the temporary directory.

The graph is cheap, not exact: each random tree cuts the rows at medians of random
directions until a leaf holds a few hundred, neighbours are sought inside leaves, and
the best of several trees are kept. ``recall`` says how many true ones were found.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

K, LEAF, TREES = 10, 500, 8


def clusters(n: int, seed: int = 0) -> np.ndarray:
    """Ten Gaussian clusters in 12 dimensions, by tanh into 64 features, noise."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.standard_normal((10, 12))
    into = rng.standard_normal((12, 64)) / np.sqrt(12)
    latent = centres[rng.integers(10, size=n)] + rng.standard_normal((n, 12))
    X = np.tanh(latent @ into).astype(np.float32)
    X += 0.1 * rng.standard_normal(X.shape, dtype=np.float32)
    return X


def plain_clusters(n: int, seed: int = 0) -> np.ndarray:
    """A hundred Gaussian clusters in 50 dimensions, of which 12 carry much."""
    rng = np.random.default_rng(seed)
    sizes = np.where(np.arange(50) < 12, 1.0, 0.2).astype(np.float32)
    centres = 2 * rng.standard_normal((100, 50), dtype=np.float32)
    X = rng.standard_normal((n, 50), dtype=np.float32)
    X += centres[rng.integers(100, size=n)]
    X *= sizes
    return X


MAKERS = {"clusters": clusters, "plain": plain_clusters}


def inputs(n: int, kind: str = "clusters") -> tuple[np.ndarray, sp.csr_array]:
    """Rows in float32 and their binary graph: symmetric, no loops."""
    return rows(n, kind), _graph(n, kind)


def rows(n: int, kind: str = "clusters") -> np.ndarray:
    path = _place(n, kind, "rows.npy")
    if not path.exists():
        _keep(path, lambda file: np.save(file, MAKERS[kind](n)))
    return np.load(path)


def neighbours(n: int, kind: str = "clusters") -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances of K neighbours, nearest first, the row itself left out."""
    path = _place(n, kind, "neighbours.npz")
    if not path.exists():
        found, squares = nearest(rows(n, kind))
        distances = np.sqrt(squares)
        _keep(path, lambda file: np.savez(file, found=found, distances=distances))
    with np.load(path) as file:
        return file["found"], file["distances"]


def _graph(n: int, kind: str) -> sp.csr_array:
    path = _place(n, kind, "graph.npz")
    if not path.exists():
        A = symmetric(neighbours(n, kind)[0])
        _keep(path, lambda file: sp.save_npz(file, sp.csr_matrix(A), compressed=False))
    return sp.csr_array(sp.load_npz(path))


def _place(n: int, kind: str, what: str) -> Path:
    return Path(tempfile.gettempdir()) / f"graphfold-bench-{kind}-{n}-{what}"


def _keep(path: Path, write) -> None:
    """A file is whole or not there: written beside, then renamed."""
    beside = path.with_suffix(".part")
    with beside.open("wb") as file:
        write(file)
    beside.rename(path)


def symmetric(found: np.ndarray) -> sp.csr_array:
    """The binary graph that links a row to those it names and those that name it."""
    n, k = found.shape
    starts = np.arange(0, n * k + 1, k, dtype=np.int32)
    ones = np.ones(n * k, dtype=np.float32)
    A = sp.csr_array((ones, found.ravel().astype(np.int32), starts), shape=(n, n))
    return sp.csr_array(A.maximum(A.T))


def nearest(X: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """K neighbours of every row and their squared distances, by a forest."""
    rng = np.random.default_rng(seed)
    n = len(X)
    found = np.full((n, K), -1, dtype=np.int32)
    squares = np.full((n, K), np.inf, dtype=np.float32)
    for _ in range(TREES if n > LEAF else 1):
        for leaf in leaves(X, rng):
            improve(X, leaf, found, squares)
    return found, np.maximum(squares, 0)


def leaves(X: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Rows cut at medians of random directions, until LEAF rows or fewer are left."""
    whole, small = [np.arange(len(X), dtype=np.int32)], []
    while whole:
        part = whole.pop()
        if len(part) <= LEAF:
            small.append(part)
            continue
        # the direction of two rows of the part follows the data where they spread
        a, b = X[rng.choice(part, 2, replace=False)]
        order = np.argpartition(X[part] @ (a - b), len(part) // 2)
        whole += [part[order[: len(part) // 2]], part[order[len(part) // 2 :]]]
    return small


def improve(X, leaf, found, squares) -> None:
    """Let the rows of a leaf see each other; each keeps its K best so far."""
    Y = X[leaf]
    sizes = np.einsum("ij,ij->i", Y, Y)
    D = sizes[:, None] + sizes - 2 * (Y @ Y.T)
    np.fill_diagonal(D, np.inf)
    near = np.argpartition(D, K - 1, axis=1)[:, :K]
    indices = np.hstack([found[leaf], leaf[near]])
    values = np.hstack([squares[leaf], np.take_along_axis(D, near, axis=1)])
    # a row found before is the same row again: its second entry does not count
    order = np.argsort(indices, axis=1, kind="stable")
    ordered = np.take_along_axis(indices, order, axis=1)
    again = np.zeros(values.shape, dtype=bool)
    np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    values[again] = np.inf
    best = np.argsort(values, axis=1, kind="stable")[:, :K]
    found[leaf] = np.take_along_axis(indices, best, axis=1)
    squares[leaf] = np.take_along_axis(values, best, axis=1)


def recall(n: int, kind: str = "clusters", sample: int = 100) -> float:
    """The share of true neighbours that the graph's lists hold, on a sample."""
    X, (found, _) = rows(n, kind), neighbours(n, kind)
    asked = np.random.default_rng(1).choice(n, min(sample, n), replace=False)
    D = (X**2).sum(axis=1) - 2 * (X[asked] @ X.T)
    D[np.arange(len(asked)), asked] = np.inf
    true = np.argpartition(D, K - 1, axis=1)[:, :K]
    hits = [len(np.intersect1d(a, b)) for a, b in zip(true, found[asked], strict=True)]
    return float(np.mean(hits)) / K


if __name__ == "__main__":
    import argparse
    import time

    parser = argparse.ArgumentParser(description="make and keep the graphs")
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--kind", choices=MAKERS, default="clusters")
    arguments = parser.parse_args()
    for size in arguments.sizes:
        start = time.perf_counter()
        inputs(size, arguments.kind)
        seconds = time.perf_counter() - start
        print(f"{size:,}: {seconds:.1f} s, recall {recall(size, arguments.kind):.3f}")
