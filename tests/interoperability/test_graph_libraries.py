"""Graphs of other libraries, as their users hold them.

PyTorch is too large for a test environment: its tensors are stood in for by an object
that shows what NumPy sees of a tensor, a shape and ``__array__``.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphfold import FastRobustGraphPCA, Graph, GraphKernelPCA, LaplacianEigenmaps
from graphfold.errors import GraphfoldError, UnlabelledRowsWarning
from tests.helpers import Tensor


def embed(samples, graph, **labels):
    return GraphKernelPCA(2, kernel="linear", graph=graph).fit_transform(
        samples.X, **labels
    )


def test_networkx_graph_with_string_labels(samples):
    nx = pytest.importorskip("networkx")
    graph = nx.Graph()
    graph.add_nodes_from(reversed(samples.ids))  # rows meet nodes by name
    graph.add_edges_from(samples.edges)
    Z = embed(samples, graph, node_ids=samples.ids)
    assert_allclose(Z, samples.embedding, atol=1e-9)


def test_networkx_largest_part_of_a_graph(samples):
    """Some rows are no nodes: they stay, with features alone."""
    nx = pytest.importorskip("networkx")
    graph = nx.Graph(samples.edges)
    graph.remove_nodes_from(samples.ids[:5])
    graph.add_nodes_from(samples.ids[:5])
    assert embed(samples, graph, node_ids=samples.ids).shape == (90, 2)


def test_igraph_graph_with_named_vertices(samples):
    igraph = pytest.importorskip("igraph")
    order = np.argsort(samples.ids)
    place = np.argsort(order)
    graph = igraph.Graph(n=90, edges=place[samples.ends].tolist())
    graph.vs["name"] = [samples.ids[i] for i in order]
    Z = embed(samples, graph, node_ids=samples.ids)
    assert_allclose(Z, samples.embedding, atol=1e-9)


@pytest.mark.parametrize("wrap", [np.asarray, Tensor], ids=["numpy", "tensor"])
def test_edge_index_of_both_directions(samples, wrap):
    """As ``data.edge_index`` of PyTorch Geometric: 2 x E, each edge there and back."""
    both = np.hstack([samples.ends.T, samples.ends.T[::-1]])
    graph = Graph.from_edge_index(wrap(both), num_nodes=len(samples.X))
    Z = GraphKernelPCA(2, kernel="linear", graph=graph).fit_transform(wrap(samples.X))
    assert_allclose(Z, samples.embedding, atol=1e-9)


def test_a_tensor_keeps_its_precision(samples):
    X = Tensor(samples.X.astype(np.float32))
    for model in (GraphKernelPCA(2), FastRobustGraphPCA(2), LaplacianEigenmaps(2)):
        assert model.fit_transform(X).dtype == np.float32


class OnADevice(Tensor):
    """A tensor that NumPy cannot read."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert device type tensor to numpy")


def test_a_tensor_that_cannot_be_read_is_named(samples):
    X, edges = OnADevice(samples.X), OnADevice(samples.ends.T)
    with pytest.raises(GraphfoldError, match="X must be a dense tensor on the CPU"):
        GraphKernelPCA(2).fit(X)
    with pytest.raises(GraphfoldError, match="edge_index must be a dense tensor"):
        Graph.from_edge_index(edges)
    with pytest.raises(GraphfoldError, match="edge weights must be a dense tensor"):
        Graph.from_edge_index(samples.ends.T, OnADevice(np.ones(len(samples.ends))))
    with pytest.raises(GraphfoldError, match=r"graph must be.*from_edge_index"):
        Graph(OnADevice(np.eye(90)))


def test_edge_index_with_weights_and_labels(samples):
    both = np.hstack([samples.ends.T, samples.ends.T[::-1]])
    weights = np.tile(np.linspace(1, 2, len(samples.ends)), 2)
    graph = Graph.from_edge_index(Tensor(both), Tensor(weights), nodes=samples.ids)
    listed = [
        (*edge, w) for edge, w in zip(samples.edges, weights.tolist(), strict=False)
    ]
    assert graph == Graph(listed, nodes=samples.ids)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_scipy_arrays_and_matrices_for_graph_and_rows(samples, form, kind):
    make = getattr(sp, f"{form}_{kind}")
    A = np.zeros((90, 90))
    A[samples.ends[:, 0], samples.ends[:, 1]] = 1
    model = GraphKernelPCA(2, kernel="linear", graph=make(A + A.T))
    assert_allclose(model.fit_transform(make(samples.X)), samples.embedding, atol=1e-9)
    new = np.round(samples.X[:20], 1)
    with pytest.warns(UnlabelledRowsWarning, match="20 of 20 rows"):
        placed = model.transform(make(new))
    with pytest.warns(UnlabelledRowsWarning, match="20 of 20 rows"):
        assert_allclose(placed, model.transform(new), atol=1e-9)
