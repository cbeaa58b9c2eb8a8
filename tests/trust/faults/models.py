"""Every estimator, on few rows: what is interrupted, shared and forked."""

import numpy as np

from graphfold import (
    FastRobustGraphPCA,
    Graph,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    NeighborGraph,
    RobustGraphPCA,
    SemiSupervisedGraphKernelPCA,
)

N = 36
X = np.random.default_rng(0).standard_normal((N, 6))
Y = np.arange(N) % 3
#: one object that all fits share
RING = Graph([(i, (i + 1) % N) for i in range(N)])

MODELS = {
    "GraphKernelPCA": GraphKernelPCA(2, graph=RING),
    "GraphKernelPCA, recipe": GraphKernelPCA(2, graph=NeighborGraph(4)),
    "GraphKernelPCA, krylov": GraphKernelPCA(2, graph=RING, solver="krylov"),
    "GraphKernelPCA, several": GraphKernelPCA(
        2, kernel=["linear", "rbf"], graph=[NeighborGraph(3), NeighborGraph(5)]
    ),
    "GraphKernelPCA, auto": GraphKernelPCA(2, graph=RING, graph_strength="auto"),
    "GraphKernelPCA, landmarks": GraphKernelPCA(2, graph=RING, landmarks=12),
    "SemiSupervisedGraphKernelPCA": SemiSupervisedGraphKernelPCA(2, graph=RING),
    "MultiModalGraphEmbedding": MultiModalGraphEmbedding(2, block_size=3),
    "RobustGraphPCA": RobustGraphPCA(2, graph=NeighborGraph(4), max_iter=30),
    "FastRobustGraphPCA": FastRobustGraphPCA(2, graph=NeighborGraph(4)),
    "LocalNonlinearEmbedding": LocalNonlinearEmbedding(2, n_neighbors=6),
    "LaplacianEigenmaps": LaplacianEigenmaps(2, n_neighbors=6),
    "GraphLaplacianPCA": GraphLaplacianPCA(2, n_neighbors=6),
}


def fit(model, rows=X):
    """Classes are for those who take them."""
    takes_classes = isinstance(model, SemiSupervisedGraphKernelPCA)
    return model.fit(rows, Y) if takes_classes else model.fit(rows)
