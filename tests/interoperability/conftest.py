"""Samples in three groups that the graph knows better than the features do."""

from dataclasses import dataclass

import numpy as np
import pytest

from graphfold import Graph, GraphKernelPCA

COLUMNS = [f"gene {i}" for i in range(8)]


@dataclass(frozen=True)
class Samples:
    """Features, groups and labels of samples, and the edges between them."""

    X: np.ndarray
    groups: np.ndarray
    ids: list
    ends: np.ndarray  # positions, one edge a row
    embedding: np.ndarray  # by plain NumPy arrays and labels

    @property
    def edges(self):
        return [(self.ids[i], self.ids[j]) for i, j in self.ends]


@pytest.fixture(scope="session")
def samples():
    rng = np.random.default_rng(7)
    groups = np.repeat([0, 1, 2], 30)
    X = rng.standard_normal((90, 8))
    X[:, :3] += 0.8 * np.eye(3)[groups]
    ids = [f"sample-{i:02d}" for i in rng.permutation(90)]
    share = np.where(groups[:, None] == groups, 0.2, 0.01)
    ends = np.argwhere(np.triu(rng.random((90, 90)) < share, 1))
    graph = Graph(np.array(ids)[ends].tolist(), nodes=ids)
    Z = GraphKernelPCA(2, kernel="linear", graph=graph).fit_transform(X, node_ids=ids)
    return Samples(X, groups, ids, ends, Z)
