"""Figures are drawn without a window, and closed after each test."""

import warnings

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from graphfold import GraphKernelPCA, NeighborGraph
from graphfold.errors import UnusedGraphWarning


@pytest.fixture(autouse=True)
def no_window():
    matplotlib.use("Agg")
    before = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


@pytest.fixture(scope="session")
def model():
    """Two kernels, two graphs, a strength that was chosen."""
    X = np.random.default_rng(0).standard_normal((60, 6))
    graphs = {"near": NeighborGraph(4), "far": NeighborGraph(9)}
    chosen = GraphKernelPCA(
        3, kernel=["rbf", "linear"], graph=graphs, graph_strength="auto"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedGraphWarning)
        return chosen.fit(X)
