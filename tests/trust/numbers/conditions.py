"""Matrices that arithmetic finds hard, each as an operator that solvers are given."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from graphfold import Graph
from graphfold.graphs import laplacian
from graphfold.operators import Centered, Dense, LowRank, SymmetricOperator
from tests.trust.numbers.tables import mixed, ring, table

#: rows of most of them; the reference works in long double, which is slow
N = 100


class Condition(NamedTuple):
    """A matrix, how many of its pairs are asked for, and why it is hard."""

    build: Callable[[], SymmetricOperator]
    d: int
    hard: str


def hilbert(n: int) -> np.ndarray:
    i = np.arange(n)
    return 1.0 / (i[:, None] + i + 1)


def turned(values: np.ndarray) -> Dense:
    """A matrix with these eigenvalues, in a basis by an integer formula."""
    Q, _ = np.linalg.qr(mixed(len(values), len(values)) / 1021.0 - 0.5)
    A = (Q * values) @ Q.T
    return Dense((A + A.T) / 2)


def spread(kind: str) -> SymmetricOperator:
    """A ring with chords whose weights run over twelve orders of magnitude."""
    A = sp.coo_matrix(ring(N).to_scipy())
    low, high = np.minimum(A.row, A.col), np.maximum(A.row, A.col)
    weights = 10.0 ** ((low * 7 + high * 3) % 13 - 6.0)
    return -laplacian(
        Graph(sp.csr_array((weights, (A.row, A.col)), A.shape)), kind
    ).operator


def bridged(kind: str) -> SymmetricOperator:
    """Two rings that one edge of weight 1e-12 holds together."""
    half = ring(N // 2).to_scipy()
    A = sp.lil_array(sp.block_diag([half, half]))
    A[0, N // 2] = A[N // 2, 0] = 1e-12
    return -laplacian(Graph(sp.csr_array(A)), kind).operator


def kernel_and_graph(strength: float) -> SymmetricOperator:
    K = Dense(rbf_kernel(table(N), gamma=0.005))
    return Centered(K - strength * laplacian(ring(N), "normalized").operator)


def multiplet(apart: float) -> SymmetricOperator:
    """Three near 3, five near 2: asking for six cuts the second group."""
    values = np.linspace(1, 0, N)
    values[:3], values[3:8] = 3 + apart * np.arange(3), 2 + apart * np.arange(5)
    return turned(values)


CONDITIONS: dict[str, Condition] = {
    "Hilbert, n = 40": Condition(lambda: Dense(hilbert(40)), 8, "condition 1e+57"),
    "Hilbert, n = 200": Condition(lambda: Dense(hilbert(200)), 8, "condition 1e+302"),
    "weights over 1e12, combinatorial": Condition(
        lambda: spread("combinatorial"), 5, "wanted eigenvalues are 1e-12 of the size"
    ),
    "weights over 1e12, normalized": Condition(
        lambda: spread("normalized"), 5, "many eigenvalues within 1e-6"
    ),
    "bridge of 1e-12, combinatorial": Condition(
        lambda: bridged("combinatorial"), 4, "an eigenvalue of 1e-14 beside 0"
    ),
    "bridge of 1e-12, normalized": Condition(
        lambda: bridged("normalized"), 4, "an eigenvalue of 1e-14 beside 0"
    ),
    "multiplets, 1e-8 apart": Condition(lambda: multiplet(1e-8), 6, "cut through one"),
    "multiplets, 1e-12 apart": Condition(
        lambda: multiplet(1e-12), 6, "cut through one"
    ),
    "multiplets, equal": Condition(lambda: multiplet(0.0), 6, "cut through one"),
    "rank 3 of 6": Condition(lambda: LowRank(table(N, p=3)), 6, "half of it is zero"),
    "rows twice": Condition(
        lambda: Dense(rbf_kernel(np.tile(table(N // 2), (2, 1)), gamma=0.005)),
        8,
        "half of the spectrum is zero",
    ),
    "columns + 1e6": Condition(
        lambda: LowRank(table(N) + 1e6), 4, "the second pair is 1e-12 of the first"
    ),
    "columns + 1e8": Condition(
        lambda: LowRank(table(N) + 1e8), 4, "the second pair is 1e-16 of the first"
    ),
    "times 1e+100": Condition(
        lambda: Dense(1e100 * rbf_kernel(table(N), gamma=0.005)), 6, "squares are 1e200"
    ),
    "times 1e-100": Condition(
        lambda: Dense(1e-100 * rbf_kernel(table(N), gamma=0.005)),
        6,
        "squares are 1e-200",
    ),
    **{
        f"kernel and graph, strength {strength:g}": Condition(
            lambda strength=strength: kernel_and_graph(strength),
            4,
            "one of the two is below the rounding of the other",
        )
        for strength in (1e-12, 1e-6, 1.0, 1e6, 1e12)
    },
}
