"""Two graphs are one where all of them is; edges between labels are those of A."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphfold import Graph
from graphfold.errors import LabelError
from graphfold.graphs import laplacian


def test_graphs_are_equal_where_all_of_them_is():
    A = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]], dtype=float)
    graph = Graph(sp.csr_array(A), nodes=list("abc"))
    assert graph == Graph(sp.csr_array(A), nodes=list("abc"))
    assert hash(graph) == hash(Graph(sp.csr_array(A), nodes=list("abc")))
    others = [
        Graph(sp.csr_array(A)),
        Graph(sp.csr_array(A), nodes=list("abd")),
        Graph(sp.csr_array(2 * A), nodes=list("abc")),
        Graph(sp.csr_array(A[:2, :2]), nodes=list("ab")),
        Graph(sp.csr_array(A), nodes=[0, 1, 2]),
    ]
    for other in others:
        assert graph != other
    assert Graph(sp.csr_array(A)) != Graph(sp.csr_array(A), nodes=[0, 1, 2])
    assert graph.__eq__(A) is NotImplemented


def test_edges_between_any_labels_are_entries_of_the_matrix():
    A = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]], dtype=float)
    graph = Graph(sp.csr_array(A), nodes=list("abc"))
    rows, columns = ["b", "z", "a", "c"], ["a", "b", "y", "c", "b"]
    found = graph.edges_between(rows, columns).toarray()
    for i, one in enumerate(rows):
        for j, other in enumerate(columns):
            known = one in "abc" and other in "abc"
            expected = A["abc".index(one), "abc".index(other)] if known else 0
            assert found[i, j] == expected
    assert graph.edges_between(["z"], ["a"]).nnz == 0


def test_a_subgraph_of_any_labels_is_that_of_the_matrix():
    A = np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]], dtype=float)
    graph = Graph(sp.csr_array(A), nodes=list("abc"))
    found = graph.subgraph(["c", "a"])
    assert found.to_scipy().toarray().tolist() == [[0, 3], [3, 0]]
    assert (found.n_nodes, found.n_edges, found.nodes.tolist()) == (2, 1, ["c", "a"])
    with pytest.raises(LabelError, match="labels must be distinct; 'a' occurs twice"):
        graph.subgraph(["a", "a"])
    with pytest.raises(ValueError, match="read-only"):
        graph.to_scipy().data[0] = 7.0
    different = Graph(sp.csr_array(2 * A), nodes=list("abc"))
    assert hash(graph) != hash(different)


def test_bounds_of_a_laplacian_hold_and_are_known():
    A = np.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]], dtype=float)
    signed = A * np.array([[1, -1, 1], [-1, 1, 1], [1, 1, 1]])
    for matrix, lowest in ((A, 0.0), (signed, -1.0)):
        graph = Graph._unchecked(sp.csr_array(matrix))
        L = laplacian(graph, "normalized").operator
        assert L.bounds() == (2 * lowest, 2.0)
        L = laplacian(graph, "combinatorial").operator
        assert L.bounds() == (10 * lowest, 10.0)  # twice the largest degree
        values = np.linalg.eigvalsh(L.to_dense())
        assert 10 * lowest - 1e-12 <= values[0] <= values[-1] <= 10.0
        single = laplacian(graph, "combinatorial", dtype=np.float32)
        assert single.operator.dtype == np.float32
        assert L.describe() == "L"
