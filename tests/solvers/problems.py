"""Questions to solvers, and problems like texts with citations: words and links."""

import numpy as np
import scipy.sparse as sp

from graphfold import Graph
from graphfold.graphs import laplacian
from graphfold.operators import Centered, Dense, LowRank, SymmetricOperator
from graphfold.solvers.result import Request

N_TOPICS = 7


def texts(n, n_words, rng):
    """Unit rows of words, and the adjacency of texts that cite each other."""
    topic = rng.integers(0, N_TOPICS, n)
    chances = 0.7 * rng.dirichlet(np.full(n_words, 0.1), N_TOPICS) + 0.3 / n_words
    words = np.zeros((n, n_words))
    for i in range(n):
        words[i, rng.choice(n_words, 30, p=chances[topic[i]])] = 1.0
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    ends = rng.integers(0, n, (6 * n, 2))
    ends = ends[(topic[ends[:, 0]] == topic[ends[:, 1]]) & (ends[:, 0] != ends[:, 1])]
    ring = np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])
    ends = np.vstack([ends, ring])
    shape = (n, n)
    return words, sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape)


def citation_problem(
    n, n_words, seed, dtype, *, rows="dense", strength=1.0
) -> SymmetricOperator:
    """P (K - gamma L) P of a linear kernel, its rows dense, sparse or a matrix."""
    words, citations = texts(n, n_words, np.random.default_rng(seed))
    size = float(np.linalg.svd(words - words.mean(axis=0), compute_uv=False)[0] ** 2)
    L = laplacian(Graph(citations), "normalized", dtype).operator
    X = words.astype(dtype)
    K = {
        "dense": lambda: LowRank(X),
        "sparse": lambda: LowRank(sp.csr_array(X)),
        "matrix": lambda: Dense(X @ X.T),
    }[rows]()
    return Centered(K - strength * size * L)


def request(M, d, **more):
    """A question to a solver, at the default tolerance."""
    settings = {
        "tol": 1e-10 if M.dtype == np.float64 else 1e-5,
        "max_iter": 300,
        "rng": np.random.default_rng(0),
        "avoid": np.empty((M.n, 0), M.dtype),
        "start": None,
        "needed": d,
        "observer": None,
    }
    return Request(M=M, d=d, **{**settings, **more})
