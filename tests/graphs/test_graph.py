"""A Graph from every source, and one stated rule for each oddity."""

import copy
import pickle

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from anndata import AnnData
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone

from graphfold import Graph, GraphKernelPCA
from graphfold.errors import (
    DuplicateEdgesWarning,
    GraphError,
    GraphfoldError,
    LabelError,
)
from tests.helpers import Tensor

# a - b (1), b - c (2), d alone
A = np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]], dtype=float)
LABELS = ["a", "b", "c", "d"]
EDGES = [("a", "b", 1.0), ("b", "c", 2.0)]


def networkx_graph():
    graph = nx.Graph()
    graph.add_nodes_from(LABELS)
    graph.add_weighted_edges_from(EDGES)
    return graph


def igraph_graph():
    graph = igraph.Graph(n=4, edges=[(0, 1), (1, 2)])
    graph.vs["name"] = LABELS
    graph.es["weight"] = [1.0, 2.0]
    return graph


def edge_table(module):
    return module.DataFrame(
        {"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]}
    )


def anndata_graph():
    adata = AnnData(np.zeros((4, 2)), obs=pd.DataFrame(index=LABELS))
    adata.obsp["connectivities"] = sp.csr_matrix(A)
    return Graph.from_anndata(adata)


SOURCES = {
    **{
        f"{kind}_{container}": (
            lambda kind=kind, container=container: Graph(
                getattr(sp, f"{kind}_{container}")(A), LABELS
            )
        )
        for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for container in ("matrix", "array")
    },
    "dense": lambda: Graph(A, LABELS),
    "dense integers": lambda: Graph(A.astype(int), LABELS),
    "networkx": lambda: Graph(networkx_graph()),
    "igraph": lambda: Graph(igraph_graph()),
    "edge list": lambda: Graph(EDGES, LABELS),
    "edge tuples": lambda: Graph(tuple(EDGES), LABELS),
    "pandas edges": lambda: Graph(edge_table(pd), LABELS),
    "polars edges": lambda: Graph(edge_table(pl), LABELS),
    "arrow edges": lambda: Graph(
        pa.table({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]}),
        pa.array(LABELS),
    ),
    "edge index": lambda: Graph.from_edge_index(
        [[0, 1, 1, 2], [1, 0, 2, 1]], [1, 1, 2, 2], nodes=LABELS
    ),
    "tensor": lambda: Graph(Tensor(A), LABELS),
    "edge index of tensors": lambda: Graph.from_edge_index(
        Tensor([[0, 2], [1, 1]]), Tensor([1.0, 2.0]), nodes=LABELS
    ),
    "square table": lambda: Graph(pd.DataFrame(A, index=LABELS, columns=LABELS)),
    "anndata": anndata_graph,
    "columns": lambda: Graph.from_edges(["a", "b"], ["b", "c"], [1, 2], nodes=LABELS),
    "graph": lambda: Graph(Graph(A, LABELS)),
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_every_source_gives_the_same_graph(make):
    graph = make()
    assert_array_equal(graph.nodes, LABELS)
    assert_array_equal(graph.to_scipy().toarray(), A)
    assert (graph.n_nodes, graph.n_edges, graph.n_parts) == (4, 2, 2)
    assert graph == Graph(A, LABELS)


def test_array_of_edges():
    graph = Graph(np.array([[0, 1], [1, 2], [5, 2]]))
    assert_array_equal(graph.nodes, [0, 1, 2, 5])
    weighted = Graph(np.array([[0, 1, 2.5], [1, 2, 1.0], [0, 2, 4.0], [3, 0, 1.0]]))
    assert weighted.to_scipy()[0, 1] == 2.5
    two = Graph(np.array([[0, 1, 2.5], [1, 2, 1.0]]))  # floats are no edge_index
    assert two.n_edges == 2


def test_igraph_without_names_has_positions_only():
    assert not Graph(igraph.Graph(n=3, edges=[(0, 1)])).has_labels


@pytest.mark.filterwarnings("ignore::graphfold.errors.DuplicateEdgesWarning")
@pytest.mark.parametrize(
    "edges",
    [
        [("a", "b", 3.0)],
        [("a", "b", 3.0), ("b", "a", 3.0)],
        [("a", "b", 3.0), ("a", "b", 1.0)],
    ],
)
def test_an_edge_listed_once_or_twice_has_one_weight(edges):
    assert Graph(edges).to_scipy()[0, 1] == 3.0


def test_duplicates_can_be_summed():
    graph = Graph([("a", "b", 3.0), ("b", "a", 1.0)], duplicates="sum")
    assert_array_equal(graph.to_scipy().toarray(), [[0, 4], [4, 0]])
    with pytest.raises(GraphfoldError, match="duplicates must be"):
        Graph([("a", "b")], duplicates="mean")


def test_parallel_networkx_edges_count_once():
    graph = nx.MultiGraph([("a", "b", {"weight": 2.0}), ("a", "b", {"weight": 5.0})])
    with pytest.warns(DuplicateEdgesWarning, match="a - b with 2 and 5"):
        assert Graph(graph).to_scipy()[0, 1] == 5.0
    assert Graph(graph, duplicates="sum").to_scipy()[0, 1] == 7.0


def test_repeated_entries_of_a_coo_matrix_mean_their_sum():
    repeated = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    assert Graph(repeated).to_scipy()[0, 1] == 3.0


@pytest.mark.parametrize(
    "source",
    [
        np.array([[0, 2.0, 0, 0], [0] * 4, [0] * 4, [0] * 4]),
        sp.csr_array(np.array([[0, 2.0], [0, 0]])),
        nx.DiGraph([(0, 1, {"weight": 2.0})]),
        igraph.Graph(n=2, edges=[(0, 1), (0, 1)], directed=True),
    ],
    ids=["dense", "sparse", "networkx", "igraph"],
)
def test_an_edge_in_one_direction_keeps_its_weight(source):
    weight = Graph(source).to_scipy()[0, 1]
    assert weight == Graph(source).to_scipy()[1, 0]
    assert weight == (1.0 if isinstance(source, igraph.Graph) else 2.0)


def test_self_loops_and_zero_weights_are_dropped():
    graph = Graph([("a", "a", 5.0), ("a", "b", 1.0), ("b", "c", 0.0)])
    assert graph.n_edges == 1
    assert graph.to_scipy().diagonal().sum() == 0
    assert graph.n_nodes == 3


def test_a_diagonal_is_dropped_whatever_is_on_it():
    """Fisher's z of a correlation matrix has infinity there, others put NaN."""
    for value in (1.0, -1.0, np.inf, np.nan):
        assert Graph(A + np.diag([value] * 4), LABELS) == Graph(A, LABELS)
        assert Graph([("a", "a", value), *EDGES], LABELS) == Graph(A, LABELS)


def test_negative_weights_mean_what_is_asked():
    signed = A.copy()
    signed[0, 1] = signed[1, 0] = -3.0
    clipped = Graph(signed, negative="clip").to_scipy()
    assert (clipped.nnz, clipped[1, 2], clipped[0, 1]) == (2, 2.0, 0.0)
    assert Graph(signed, negative="abs").to_scipy()[0, 1] == 3.0
    assert Graph(A, negative="clip") == Graph(A)
    with pytest.raises(GraphError, match=r"-3 and 1 negative edges.*clip.*abs.*thresh"):
        Graph(signed)
    with pytest.raises(GraphError, match="at least one edge"):
        Graph(-A, negative="clip")
    with pytest.raises(GraphfoldError, match="negative must be one of"):
        Graph(A, negative="keep")


def test_edge_index_without_labels_counts_its_nodes():
    ends = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    assert Graph.from_edge_index(ends).n_nodes == 3
    graph = Graph.from_edge_index(ends, num_nodes=5)
    assert (graph.n_nodes, graph.n_edges, graph.n_parts) == (5, 2, 3)
    assert not graph.has_labels
    one_way = Graph.from_edge_index(ends[:, [0, 2]], num_nodes=5)
    assert one_way == graph


def test_a_graph_pickled_before_parts_were_kept_counts_them():
    graph = Graph(A)
    graph.__dict__.pop("_n_parts", None)
    assert graph.n_parts == 2


@pytest.mark.parametrize("seed", range(5))
def test_parts_are_those_of_an_undirected_search(seed):
    A = sp.random(200, 200, 0.004, random_state=seed, format="csr")
    A.setdiag(0)
    found = connected_components(A, directed=False)[0]
    graph = Graph(A.maximum(A.T))
    assert graph.n_parts == graph.n_parts == found > 1


def test_edge_index_listed_twice_has_the_larger_weight():
    with pytest.warns(DuplicateEdgesWarning, match="0 - 1 with 2 and 5"):
        graph = Graph.from_edge_index([[0, 1], [1, 0]], [2.0, 5.0])
    assert graph.to_scipy()[0, 1] == 5.0


BAD = {
    "negative": (lambda: Graph(-A), GraphError, "at least 0; got -2"),
    "edge index": (
        lambda: Graph(np.array([[0, 1, 2, 3], [1, 2, 3, 0]])),
        GraphError,
        r"shape \(2, 4\) looks like an edge_index.*from_edge_index",
    ),
    "two edges or three": (
        lambda: Graph(np.array([[0, 1, 2], [1, 2, 0]])),
        GraphError,
        "2 edges with weights or 3 edges of an edge_index",
    ),
    "edge index on its side": (
        lambda: Graph.from_edge_index([[0, 1], [1, 2], [2, 3]]),
        GraphError,
        r"2 x E array of integers.*shape \(3, 2\)",
    ),
    "edge index of floats": (
        lambda: Graph.from_edge_index([[0.5], [1.0]]),
        GraphError,
        "float64",
    ),
    "edge index below 0": (
        lambda: Graph.from_edge_index([[0, -1], [1, 2]]),
        GraphError,
        "from 0 on; got -1",
    ),
    "edge index with few nodes": (
        lambda: Graph.from_edge_index([[0], [7]], num_nodes=5),
        GraphfoldError,
        r"num_nodes must be between 8 .*edge_index has 7\); got 5",
    ),
    "edge index with few labels": (
        lambda: Graph.from_edge_index([[0], [7]], nodes=["a", "b"]),
        GraphfoldError,
        "num_nodes must be between 8",
    ),
    "edge index with more nodes than labels": (
        lambda: Graph.from_edge_index([[0], [1]], nodes=["a", "b"], num_nodes=3),
        LabelError,
        "one label for each of the 3 nodes; got 2",
    ),
    "edge index with few weights": (
        lambda: Graph.from_edge_index([[0, 1], [1, 2]], [1.0]),
        GraphError,
        r"each of the 2 edges; got shape \(1,\)",
    ),
    "lazy table": (
        lambda: Graph(edge_table(pl).lazy()),
        GraphError,
        r"LazyFrame.*collect\(\)",
    ),
    "nan": (lambda: Graph([("a", "b", np.nan)]), GraphError, "weight is missing"),
    "infinite": (lambda: Graph(np.full((4, 4), np.inf)), GraphError, "finite"),
    "no edges": (lambda: Graph(np.zeros((3, 3))), GraphError, "at least one edge"),
    "only loops": (lambda: Graph([("a", "a")]), GraphError, "at least one edge"),
    "empty": (lambda: Graph(np.zeros((0, 0))), GraphError, "at least one edge"),
    "not square": (lambda: Graph(sp.eye(3, 4)), GraphError, r"square.*\(3, 4\)"),
    "a number": (lambda: Graph(3), GraphError, "got int"),
    "wide array": (lambda: Graph(np.ones((3, 5))), GraphError, r"shape \(3, 5\)"),
    "words as weights": (lambda: Graph([("a", "b", "x")]), GraphError, "numbers"),
    "complex": (lambda: Graph(1j * A), GraphError, "real numbers"),
    "too few labels": (lambda: Graph(A, ["a"]), LabelError, "one label for each"),
    "equal labels": (lambda: Graph(A, list("abca")), LabelError, "'a' occurs twice"),
    "strange end": (
        lambda: Graph([("a", "z")], ["a", "b"]),
        LabelError,
        "z is in an edge",
    ),
    "one column": (lambda: Graph(pd.DataFrame({"a": [1]})), GraphError, "two columns"),
    "missing key": (
        lambda: Graph.from_anndata(AnnData(np.zeros((2, 1))), "spatial"),
        GraphError,
        "obsp; got 'spatial', and there are none",
    ),
}


@pytest.mark.parametrize(("make", "error", "text"), BAD.values(), ids=BAD)
def test_bad_input_gets_one_clear_sentence(make, error, text):
    with pytest.raises(error, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_subgraph_is_induced_and_in_the_order_asked():
    graph = Graph(A, LABELS).subgraph(["c", "d", "b"])
    assert_array_equal(graph.nodes, ["c", "d", "b"])
    assert_array_equal(graph.to_scipy().toarray(), [[0, 0, 2], [0, 0, 0], [2, 0, 0]])


def test_subgraph_names_what_it_lacks():
    with pytest.raises(LabelError, match=r"1 of 2 labels are not nodes.*: z"):
        Graph(A, LABELS).subgraph(["a", "z"])
    with pytest.raises(LabelError, match=r"3 of 3 .* labels such as a, b, c"):
        Graph(A, LABELS).subgraph([0, 1, 2])
    with pytest.raises(LabelError, match="'a' occurs twice"):
        Graph(A, LABELS).subgraph(["a", "a"])


def test_numbers_and_strings_never_match():
    assert_array_equal(Graph(A, [1, 2, 3, 4]).find(["1", "2"]), [-1, -1])
    assert_array_equal(Graph(A, list("1234")).find([1, 2]), [-1, -1])


def test_mixed_labels_stay_what_they_are():
    graph = Graph([(1, "b"), ("b", ("c", 2))])
    assert_array_equal(graph.find([("c", 2), 1, "1"]), [2, 0, -1])


def test_edges_between_new_and_known_nodes():
    edges = Graph(A, LABELS).edges_between(["b", "stranger", "d"], ["c", "a", "nobody"])
    assert_array_equal(edges.toarray(), [[2, 1, 0], [0, 0, 0], [0, 0, 0]])


def test_one_graph_is_as_good_as_a_copy():
    graph = Graph(A, LABELS)
    assert copy.deepcopy(graph) is graph
    assert copy.copy(graph) is graph
    assert clone(GraphKernelPCA(graph=graph)).graph is graph
    assert pickle.loads(pickle.dumps(graph)) == graph
    with pytest.raises(ValueError, match="read-only"):
        graph.to_scipy().data[0] = 7.0


def test_the_source_is_not_changed():
    source = sp.csr_array(A + np.eye(4))
    Graph(source)
    assert_array_equal(source.toarray(), A + np.eye(4))


def test_repr_tells():
    assert repr(Graph(A, LABELS)) == (
        "Graph(4 nodes, 2 edges, 2 parts, weights 1 to 2, labels 'a', 'b', 'c', ...)"
    )
    assert "no labels" in repr(Graph(A))


edge_lists = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.floats(0, 1e6, allow_nan=False)),
    min_size=1,
)


@pytest.mark.filterwarnings("ignore::graphfold.errors.DuplicateEdgesWarning")
@given(edge_lists)
def test_any_edge_list_becomes_symmetric_without_diagonal(edges):
    if not any(u != v and w > 0 for u, v, w in edges):
        return
    graph = Graph(edges, nodes=range(10))
    matrix = graph.to_scipy().toarray()
    assert_array_equal(matrix, matrix.T)
    assert (np.diag(matrix) == 0).all()
    for u, v, w in edges:
        assert u == v or matrix[u, v] >= w
    assert graph == Graph([(v, u, w) for u, v, w in edges[::-1]], nodes=range(10))


@pytest.mark.filterwarnings("ignore::graphfold.errors.DuplicateEdgesWarning")
@given(st.permutations(range(6)), edge_lists)
def test_subgraph_of_all_nodes_only_reorders(order, edges):
    edges = [(u % 6, v % 6, w) for u, v, w in edges]
    if not any(u != v and w > 0 for u, v, w in edges):
        return
    graph = Graph(edges, nodes=range(6))
    shuffled = graph.subgraph(np.array(order)).to_scipy().toarray()
    assert_array_equal(shuffled, graph.to_scipy().toarray()[np.ix_(order, order)])


@pytest.mark.parametrize("negative", ["clip", "abs"])
def test_nodes_without_edges_stay_where_weights_are_made_positive(negative):
    A = np.zeros((5, 5))
    A[0, 1] = A[1, 0] = -2.0
    A[1, 2] = A[2, 1] = 1.0
    graph = Graph(sp.csr_array(A), negative=negative)
    expected = np.maximum(A, 0) if negative == "clip" else np.abs(A)
    assert_array_equal(graph.to_scipy().toarray(), expected)


def test_names_of_a_graph_without_labels_are_refused_with_the_remedy():
    graph = Graph(np.ones((4, 4)))
    with pytest.raises(LabelError, match=r"have no labels, .*a, b.*nodes=node_ids"):
        graph.subgraph(["a", "b"])
    assert graph.subgraph([2, 0]).nodes.tolist() == [2, 0]  # positions
