"""Edges of any source against loops over them: names, duplicates and directions."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graphfold import Graph
from graphfold.errors import GraphError, LabelError
from graphfold.graphs.sources import edge_columns, from_edges, merge_edges


def looped(tails, heads, weights, nodes, duplicates, directed):
    """The adjacency matrix by a loop over the edges."""
    A = np.zeros((len(nodes), len(nodes)))
    met = set()
    for tail, head, weight in zip(tails, heads, weights, strict=True):
        i, j = nodes.index(tail), nodes.index(head)
        if not directed:
            i, j = min(i, j), max(i, j)
        if duplicates == "sum":
            A[i, j] += weight
        else:
            A[i, j] = max(A[i, j], weight) if (i, j) in met else weight
        met.add((i, j))
    if not directed:
        A = A + np.triu(A, 1).T
    return (A + A.T) / 2


@pytest.mark.parametrize("duplicates", ["once", "sum"])
@pytest.mark.parametrize("directed", [False, True])
def test_any_list_of_edges_is_that_of_a_loop(duplicates, directed, rng):
    for n, m in ((1, 3), (3, 1), (4, 30), (7, 12)):
        nodes = [f"n{i}" for i in rng.permutation(n)]
        tails, heads = (rng.choice(nodes, m).tolist() for _ in range(2))
        weights = rng.integers(-3, 6, m) / 2
        found = from_edges(
            tails, heads, weights, np.array(nodes), duplicates, directed=directed
        )
        expected = looped(tails, heads, weights, nodes, duplicates, directed)
        assert_array_equal(found.matrix.toarray(), expected)
        assert found.nodes.tolist() == nodes
        plain = from_edges(tails, heads, None, np.array(nodes), duplicates)
        expected = looped(tails, heads, np.ones(m), nodes, duplicates, False)
        assert_array_equal(plain.matrix.toarray(), expected)


def test_nodes_that_nobody_names_are_those_of_the_edges():
    assert from_edges([3, 1], [2, 3], None, None, "once").nodes.tolist() == [1, 2, 3]
    mixed = from_edges([3, "a"], ["b", 3], None, None, "once").nodes
    assert mixed.tolist() == [3, "a", "b"]
    kinds = from_edges(np.array([1, 2]), np.array(["1", "b"]), None, None, "once")
    assert kinds.nodes.tolist() == [1, 2, "1", "b"]


def test_entries_are_merged_where_both_ends_agree():
    rows, columns = np.array([0, 1, 0, 0, 1]), np.array([1, 2, 1, 2, 2])
    values = np.array([5.0, 1.0, 7.0, 2.0, -1.0])
    for rule, expected in (
        ("once", [[0, 7, 2], [0, 0, 1]]),
        ("sum", [[0, 12, 2], [0, 0, 0]]),
    ):
        merged = merge_edges(rows, columns, values, (2, 3), rule)
        assert_array_equal(merged.toarray(), expected)
    none = np.empty(0, dtype=int)
    assert merge_edges(none, none, np.empty(0), (2, 3), "once").shape == (2, 3)


SOURCES = ("source", "src", "from", "u", "node1")
TARGETS = ("target", "dst", "to", "v", "node2")


@pytest.mark.parametrize(("source", "target"), [*itertools.product(SOURCES, TARGETS)])
def test_ends_are_found_by_any_of_their_names(source, target):
    listed = ["other", target.upper(), "Weight", source.title()]
    found = edge_columns(listed)
    assert found == (source.title(), target.upper(), "Weight")


def test_columns_without_a_known_name_are_taken_in_order():
    assert edge_columns(["a", "b"]) == ("a", "b", None)
    assert edge_columns(["a", "b", "c"]) == ("a", "b", "c")
    assert edge_columns(["c", "source", "target"]) == ("source", "target", "c")
    assert edge_columns(["a", "b", "c", "d"]) == ("a", "b", None)
    assert edge_columns([0, 1, 2]) == (0, 1, 2)
    with pytest.raises(GraphError, match=r"needs two columns.*; got 7"):
        edge_columns([7])


def test_a_square_table_is_a_matrix_by_its_own_labels():
    pd = pytest.importorskip("pandas", reason="needs pandas")
    names = ["a", "b", "c"]
    square = pd.DataFrame([[0, 1, 0], [3, 0, 0], [0, 2, 0]], names, names)
    graph = Graph(square)
    assert graph.nodes.tolist() == names
    assert_array_equal(graph.to_scipy().toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    assert Graph(square, nodes=[4, 5, 6]).nodes.tolist() == [4, 5, 6]
    # as many rows as columns, but these are edges
    edges = pd.DataFrame({"u": [0, 1, 2], "v": [1, 2, 3], "w": [1.0, 2.0, 4.0]})
    assert Graph(edges).n_nodes == 4
    assert Graph(edges).degrees.tolist() == [1, 3, 6, 4]


def test_small_arrays_that_can_be_read_two_ways_are_refused():
    for shape in ((2, 2), (3, 3)):
        with pytest.raises(GraphError, match="could be a matrix or"):
            Graph(np.arange(np.prod(shape)).reshape(shape))
        with pytest.raises(GraphError, match="could be a matrix or"):
            Graph(np.eye(shape[0]))
    assert Graph(np.array([[0, 2], [2, 0]])).n_edges == 1
    assert Graph(np.array([[0, 1, 0.5], [1, 2, 0.25]])).n_nodes == 3  # weights
    assert Graph(np.array([[0, 1, 3], [1, 2, 4], [5, 2, 6], [5, 1, 7]])).n_edges == 4
    assert Graph(np.array([[0, 1], [1, 2], [2, 3]])).n_edges == 3
    asymmetric = np.zeros((4, 4))
    asymmetric[0, 1] = 3.0
    assert Graph(asymmetric).to_scipy()[1, 0] == 1.5


def test_whole_numbers_that_came_as_floats_are_numbers_of_rows():
    graph = Graph(np.array([[0.0, 2.0, 0.5], [2.0, 5.0, 0.25]]))
    assert graph.nodes.tolist() == [0, 2, 5]
    assert graph.nodes.dtype == np.int64
    halves = Graph(np.array([[0.5, 2.0, 1.0], [2.0, 5.0, 1.0]]))
    assert halves.nodes.tolist() == [0.5, 2.0, 5.0]


def test_an_edge_of_three_beside_edges_of_two_has_the_only_weight():
    graph = Graph([("a", "b"), ("b", "c", 3.0), ["a", "c"]])
    assert graph.degrees.tolist() == [2, 4, 4]
    with pytest.raises(GraphError, match="got list"):
        Graph([("a", "b"), ("a",)])
    with pytest.raises(GraphError, match=r"got ndarray of shape \(3,\)"):
        Graph(np.arange(3))
    with pytest.raises(LabelError, match="y, z is in an edge and not in nodes"):
        Graph([("a", "z"), ("y", "b")], nodes=["a", "b"])


@pytest.mark.parametrize("directed", [False, True])
def test_igraph_and_networkx_tell_directions_and_weights(directed):
    igraph = pytest.importorskip("igraph", reason="needs igraph")
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    ends, weights = [(0, 1), (1, 2), (2, 1)], [1.0, 2.0, 8.0]
    once = looped(*zip(*ends, strict=True), weights, [0, 1, 2, 3], "once", directed)
    plain = looped(*zip(*ends, strict=True), [1] * 3, [0, 1, 2, 3], "once", directed)
    drawn = igraph.Graph(n=4, edges=ends, directed=directed)
    assert_array_equal(Graph(drawn).to_scipy().toarray(), plain)
    assert not Graph(drawn).has_labels
    drawn.es["weight"] = weights
    assert_array_equal(Graph(drawn).to_scipy().toarray(), once)
    assert Graph(drawn, nodes=list("abcd")).nodes.tolist() == list("abcd")
    drawn.vs["name"] = list("wxyz")
    assert Graph(drawn).nodes.tolist() == list("wxyz")
    assert Graph(drawn, nodes=list("abcd")).nodes.tolist() == list("abcd")
    other = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
    other.add_nodes_from(range(4))
    other.add_edges_from(ends)
    assert_array_equal(Graph(other).to_scipy().toarray(), plain)
    for (i, j), weight in zip(ends, weights, strict=True):
        other.add_edge(i, j, weight=weight)
    assert_array_equal(Graph(other).to_scipy().toarray(), once)
    order = [2, 0, 3, 1]
    assert_array_equal(
        Graph(other, nodes=order).to_scipy().toarray(), once[np.ix_(order, order)]
    )
    summed = Graph(other, duplicates="sum").to_scipy().toarray()
    assert_array_equal(summed, once_summed(ends, weights, directed))


def once_summed(ends, weights, directed):
    tails, heads = zip(*(ends + ends), strict=True)
    return looped(tails, heads, [1] * 3 + weights, [0, 1, 2, 3], "sum", directed)


def test_weights_are_real_numbers_of_any_kind():
    for kind in (bool, np.int8, np.uint16, np.float32):
        A = sp.csr_array(np.array([[0, 1], [1, 0]], dtype=kind))
        graph = Graph(A)
        assert graph.to_scipy().dtype == np.float64
        assert graph.degrees.tolist() == [1, 1]
    with pytest.raises(GraphError, match="real numbers; got complex"):
        Graph(sp.csr_array(np.array([[0, 1j], [1j, 0]])))


def test_an_edge_index_may_be_empty_but_a_graph_may_not():
    empty = np.empty((2, 0), dtype=np.int64)
    with pytest.raises(GraphError, match="got 3 nodes and none"):
        Graph.from_edge_index(empty, num_nodes=3)
    with pytest.raises(GraphError, match="got 1 nodes and none"):
        Graph.from_edge_index(empty)
    labelled = Graph.from_edge_index([[0], [1]], nodes=["a", "b", "c"])
    assert (labelled.n_nodes, labelled.nodes.tolist()) == (3, ["a", "b", "c"])


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8", "i1", "i8"])
def test_positions_of_an_edge_index_may_be_of_any_integers(kind):
    graph = Graph.from_edge_index(np.array([[0, 1], [1, 2]], dtype=kind))
    assert (graph.n_nodes, graph.n_edges, graph.has_labels) == (3, 2, False)
    empty = np.empty((2, 0), dtype=kind)
    with pytest.raises(GraphError, match="got 1 nodes and none"):
        Graph.from_edge_index(empty)


def listed_twice(kind):
    ends, weights = [(0, 1), (1, 0), (1, 2), (2, 3)], [1.0, 2.0, 5.0, 4.0]
    if kind == "array":
        return np.column_stack([np.array(ends), weights])
    if kind == "list":
        return [(*pair, weight) for pair, weight in zip(ends, weights, strict=True)]
    if kind == "table":
        pd = pytest.importorskip("pandas", reason="needs pandas")
        return pd.DataFrame(np.array(ends), columns=["u", "v"]).assign(weight=weights)
    if kind == "igraph":
        igraph = pytest.importorskip("igraph", reason="needs igraph")
        return igraph.Graph(n=4, edges=ends, edge_attrs={"weight": weights})
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    graph = networkx.MultiGraph()
    for (i, j), weight in zip(ends, weights, strict=True):
        graph.add_edge(i, j, weight=weight)
    return graph


@pytest.mark.parametrize("kind", ["array", "list", "table", "igraph", "networkx"])
def test_every_source_takes_the_largest_weight_listed_or_their_sum(kind):
    source = listed_twice(kind)
    assert Graph(source).degrees.tolist() == [2, 7, 9, 4]
    assert Graph(source, duplicates="once").degrees.tolist() == [2, 7, 9, 4]
    assert Graph(source, duplicates="sum").degrees.tolist() == [3, 8, 9, 4]
    ends, weights = ([0, 1, 1, 2], [1, 0, 2, 3]), [1.0, 2.0, 5.0, 4.0]
    assert Graph.from_edges(*ends, weights).degrees.tolist() == [2, 7, 9, 4]
    summed = Graph.from_edges(*ends, weights, duplicates="sum")
    assert summed.degrees.tolist() == [3, 8, 9, 4]


def test_igraph_edges_listed_twice_are_added_up_if_asked():
    igraph = pytest.importorskip("igraph", reason="needs igraph")
    drawn = igraph.Graph(n=3, edges=[(0, 1), (0, 1), (1, 2)])
    drawn.es["weight"] = [2.0, 3.0, 1.0]
    for duplicates, expected in (("once", 3.0), ("sum", 5.0)):
        A = Graph(drawn, duplicates=duplicates).to_scipy().toarray()
        assert (A[0, 1], A[1, 2]) == (expected, 1.0)


def test_an_edge_index_may_have_many_nodes():
    graph = Graph.from_edge_index(np.array([[0], [199]]), num_nodes=500)
    assert (graph.n_nodes, graph.n_edges) == (500, 1)
