"""Rows, graphs and models that the tests of rows on workers share."""

import os
from contextlib import contextmanager

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from graphfold import Graph, GraphKernelPCA, NeighborGraph

#: quiet, on loopback, and as many threads of BLAS as of Dask
QUIET = {"silence_logs": 50, "dashboard_address": None, "host": "127.0.0.1"}


#: tests that start clusters of their own, or large ones, take minutes: .ci/run has them
own_cluster = pytest.mark.skipif(
    not os.environ.get("GRAPHFOLD_REQUIRE_CLUSTERS"),
    reason="starts a cluster of its own; set GRAPHFOLD_REQUIRE_CLUSTERS",
)


@contextmanager
def start_cluster(n_workers, **settings):
    how = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True}
    with (
        LocalCluster(**how | QUIET | settings) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(n_workers, timeout=60)
        yield client


@contextmanager
def working_on(client):
    """Dask's work goes to this cluster."""
    with client.as_current(), dask.config.set(scheduler="distributed"):
        yield


def two_clouds(n=600, p=5, seed=0):
    """Rows of two clouds in random order."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 2.5 * (np.arange(n) % 2)[:, None]
    return X[rng.permutation(n)]


def names(n):
    return np.array([f"row {i}" for i in range(n)])


def weighted_graph(X, k=6, seed=0):
    """A neighbour graph with random weights; node i is called ``row i``."""
    rng = np.random.default_rng(seed)
    A = NeighborGraph(k).build(X).to_scipy().tocoo()
    half = A.row < A.col
    edges = pd.DataFrame(
        {
            "source": names(len(X))[A.row[half]],
            "target": names(len(X))[A.col[half]],
            "weight": rng.random(int(half.sum())) + 0.1,
        }
    )
    return edges, Graph(edges, nodes=names(len(X)))


def chunked(X, sizes):
    """X as a dask.array in chunks of these sizes."""
    columns = X.shape[1]
    return da.from_array(X, chunks=(tuple(sizes), columns))


def table(X, npartitions=3, index=True):
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    if index:
        frame.index = names(len(X))
    return frame, dd.from_pandas(frame, npartitions=npartitions, sort=False)


def edge_table(edges, npartitions=3, seed=0):
    """Edges in random order, in parts."""
    mixed = edges.sample(frac=1, random_state=seed)
    return dd.from_pandas(mixed.reset_index(drop=True), npartitions=npartitions)


def in_memory(X, graph, node_ids=None, **settings):
    how = {"landmarks": 60, "refine": False} | settings
    return GraphKernelPCA(3, graph=graph, **how).fit(X, node_ids=node_ids)


def on_workers(X, graph, node_ids=None, **settings):
    how = {"landmarks": 60} | settings
    return GraphKernelPCA(3, graph=graph, **how).fit(X, node_ids=node_ids)


def largest_gap(one, other):
    """Largest difference of two embeddings, relative to their size."""
    one, other = (np.asarray(Z) for Z in (one, other))
    return float(np.abs(one - other).max() / np.abs(other).max())
