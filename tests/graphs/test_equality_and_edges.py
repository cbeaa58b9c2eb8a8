"""Two graphs are one where all of them is; edges between labels are those of A."""

import numpy as np
import scipy.sparse as sp

from graphfold import Graph


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
