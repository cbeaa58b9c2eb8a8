"""Edges of any source against loops over them: names, duplicates and directions."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graphfold import Graph
from graphfold.errors import (
    DroppedEdgesWarning,
    DuplicateEdgesWarning,
    GraphError,
    LabelError,
)
from graphfold.graphs.sources import Rules, from_edges, merge_edges

SIZES = {"refuse": lambda w: w, "abs": abs, "clip": lambda w: max(w, 0)}
differing_weights = pytest.mark.filterwarnings(
    "ignore::graphfold.errors.DuplicateEdgesWarning"
)


def looped(tails, heads, weights, nodes, duplicates, negative="refuse"):
    """The adjacency matrix by a loop over the edges."""
    A = np.zeros((len(nodes), len(nodes)))
    for tail, head, weight in zip(tails, heads, weights, strict=True):
        i, j = nodes.index(tail), nodes.index(head)
        if i == j:
            continue
        size = SIZES[negative](weight)
        A[i, j] = A[i, j] + size if duplicates == "sum" else max(A[i, j], size)
        A[j, i] = A[j, i] + size if duplicates == "sum" else max(A[j, i], size)
    return A


@differing_weights
@pytest.mark.parametrize("duplicates", ["once", "sum"])
@pytest.mark.parametrize("negative", ["abs", "clip"])
def test_any_list_of_edges_is_that_of_a_loop(duplicates, negative, rng):
    for n, m in ((1, 3), (3, 1), (4, 30), (7, 12)):
        nodes = [f"n{i}" for i in rng.permutation(n)]
        tails, heads = (rng.choice(nodes, m).tolist() for _ in range(2))
        weights = rng.integers(-3, 6, m) / 2
        rules = Rules(duplicates, negative)
        found = from_edges(tails, heads, weights, np.array(nodes), rules)
        expected = looped(tails, heads, weights, nodes, duplicates, negative)
        assert_array_equal(found.matrix.toarray(), expected)
        assert found.nodes.tolist() == nodes
        plain = from_edges(tails, heads, None, np.array(nodes), rules)
        expected = looped(tails, heads, np.ones(m), nodes, duplicates)
        assert_array_equal(plain.matrix.toarray(), expected)


def test_nodes_that_nobody_names_are_those_of_the_edges():
    assert from_edges([3, 1], [2, 3], None, None).nodes.tolist() == [1, 2, 3]
    mixed = from_edges([3, "a"], ["b", 3], None, None).nodes
    assert mixed.tolist() == [3, "a", "b"]
    kinds = from_edges(np.array([1, 2]), np.array(["1", "b"]), None, None)
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
    assert Graph(asymmetric).to_scipy()[1, 0] == 3.0


def test_whole_numbers_that_came_as_floats_are_numbers_of_rows():
    graph = Graph(np.array([[0.0, 2.0, 0.5], [2.0, 5.0, 0.25]]))
    assert graph.nodes.tolist() == [0, 2, 5]
    assert graph.nodes.dtype == np.int64
    halves = Graph(np.array([[0.5, 2.0, 1.0], [2.0, 5.0, 1.0]]))
    assert halves.nodes.tolist() == [0.5, 2.0, 5.0]


def test_an_edge_of_three_beside_edges_of_two_has_the_only_weight():
    graph = Graph([("a", "b"), ("b", "c", 3.0), ["a", "c"]])
    assert graph.degrees.tolist() == [2, 4, 4]
    with pytest.raises(GraphError, match=r"got \('a',\)"):
        Graph([("a", "b"), ("a",)])
    with pytest.raises(GraphError, match=r"got ndarray of shape \(3,\)"):
        Graph(np.arange(3))
    with pytest.raises(LabelError, match="y, z is in an edge and not in nodes"):
        Graph([("a", "z"), ("y", "b")], nodes=["a", "b"])


@differing_weights
@pytest.mark.parametrize("directed", [False, True])
def test_igraph_and_networkx_drop_directions_and_keep_weights(directed):
    igraph = pytest.importorskip("igraph", reason="needs igraph")
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    ends, weights = [(0, 1), (1, 2), (2, 1)], [1.0, 2.0, 8.0]
    once = looped(*zip(*ends, strict=True), weights, [0, 1, 2, 3], "once")
    plain = looped(*zip(*ends, strict=True), [1] * 3, [0, 1, 2, 3], "once")
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
    tails, heads = zip(*(ends + ends), strict=True)
    expected = looped(tails, heads, [1] * 3 + weights, [0, 1, 2, 3], "sum")
    assert_array_equal(summed, expected)


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


@differing_weights
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


@differing_weights
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


# -- one rule for directions ----------------------------------------------------------

DIRECTED = [("a", "b", 5.0), ("b", "a", 3.0), ("b", "c", 2.0), ("c", "d", 1.0)]
DIRECTED += [("d", "c", 1.0)]
NAMES = list("abcd")


def as_directed(kind, edges, **how):
    """The same directed edges, from every source that has directions."""
    tails, heads, weights = (list(part) for part in zip(*edges, strict=True))
    rows, columns = ([NAMES.index(x) for x in ends] for ends in (tails, heads))
    matrix = sp.coo_array((weights, (rows, columns)), shape=(4, 4))
    frame = {"source": tails, "target": heads, "weight": weights}
    if kind == "list":
        return Graph(edges, **how)
    if kind == "columns":
        return Graph.from_edges(tails, heads, weights, **how)
    if kind == "sparse":
        return Graph(matrix, nodes=NAMES, **how)
    if kind == "dense":
        return Graph(matrix.toarray(), nodes=NAMES, **how)
    if kind == "edge index":
        return Graph.from_edge_index(np.array([rows, columns]), weights, nodes=NAMES)
    if kind in ("pandas", "polars"):
        return Graph(pytest.importorskip(kind).DataFrame(frame), **how)
    if kind == "square table":
        pandas = pytest.importorskip("pandas")
        return Graph(pandas.DataFrame(matrix.toarray(), NAMES, NAMES), **how)
    if kind == "igraph":
        igraph = pytest.importorskip("igraph")
        ends = list(zip(rows, columns, strict=True))
        drawn = igraph.Graph(n=4, edges=ends, directed=True)
        drawn.vs["name"], drawn.es["weight"] = NAMES, weights
        return Graph(drawn, **how)
    drawn = pytest.importorskip("networkx").DiGraph()
    drawn.add_weighted_edges_from(edges)
    return Graph(drawn, **how)


DIRECTED_SOURCES = [
    *("list", "columns", "sparse", "dense", "edge index", "pandas", "polars"),
    *("square table", "igraph", "networkx"),
]


@pytest.mark.parametrize("kind", DIRECTED_SOURCES)
def test_every_source_has_the_same_rule_for_directions(kind):
    """Of two directions the larger weight; one direction alone keeps its weight."""
    expected = [[0, 5, 0, 0], [5, 0, 2, 0], [0, 2, 0, 1], [0, 0, 1, 0]]
    with pytest.warns(DuplicateEdgesWarning, match=r"1 edge is .*with 3 and 5.*larg"):
        graph = as_directed(kind, DIRECTED)
    assert_array_equal(graph.subgraph(NAMES).to_scipy().toarray(), expected)


@pytest.mark.parametrize("kind", DIRECTED_SOURCES)
def test_directions_that_agree_are_not_warned_of(kind):
    graph = as_directed(kind, DIRECTED[2:])
    assert graph.find(["b", "c"]).min() >= 0
    assert graph.edges_between(["b"], ["c"])[0, 0] == 2.0


@pytest.mark.parametrize("kind", [k for k in DIRECTED_SOURCES if k != "edge index"])
def test_directions_are_added_where_that_is_asked(kind):
    graph = as_directed(kind, DIRECTED, duplicates="sum")
    between = graph.edges_between(["a", "b", "c"], ["b", "c", "d"]).diagonal()
    assert between.tolist() == [8.0, 2.0, 2.0]


def test_a_symmetric_matrix_lists_every_edge_once():
    A = np.array([[0, 2.0, 0, 0], [2, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]])
    assert_array_equal(Graph(A, duplicates="sum").to_scipy().toarray(), A)
    assert Graph(np.triu(A)) == Graph(A) == Graph(np.tril(A))


def test_rounding_is_no_difference_of_directions(rng):
    A = rng.random((6, 6)).astype(np.float32)
    A = A + A.T
    Graph(A * (1 + 1e-6 * rng.random((6, 6))))


# -- negative weights come before duplicates ------------------------------------------


@pytest.mark.parametrize(
    "make",
    [Graph, lambda edges, **how: Graph.from_edges(*zip(*edges, strict=True), **how)],
)
def test_sizes_are_taken_before_edges_are_merged(make):
    edges = [("a", "b", -1.0), ("a", "b", -3.0), ("b", "c", 1.0)]
    with pytest.warns(DuplicateEdgesWarning, match="with 1 and 3"):
        assert make(edges, negative="abs").edges_between(["a"], ["b"])[0, 0] == 3.0
    summed = make(edges, negative="abs", duplicates="sum")
    assert summed.edges_between(["a"], ["b"])[0, 0] == 4.0
    mixed = [("a", "b", -3.0), ("b", "a", 1.0), ("b", "c", 1.0)]
    clipped = make(mixed, negative="clip", duplicates="sum")
    assert clipped.edges_between(["a"], ["b"])[0, 0] == 1.0
    with pytest.raises(GraphError, match="at least 0; got -3 and 1 negative"):
        make(mixed)


def test_a_negative_entry_of_one_triangle_is_refused_or_used():
    A = np.zeros((4, 4))
    A[0, 1], A[1, 2] = -3.0, 1.0
    with pytest.raises(GraphError, match="got -3 and 1 negative edges"):
        Graph(A)
    assert Graph(A, negative="abs").to_scipy()[1, 0] == 3.0
    assert Graph(A, negative="clip").n_edges == 1


# -- missing ends ---------------------------------------------------------------------


def missing_values():
    pandas = pytest.importorskip("pandas", reason="NA and NaT are of pandas")
    return [np.nan, None, pandas.NA, pandas.NaT, ""]


def test_missing_ends_are_refused_and_their_rows_named():
    for missing in missing_values():
        edges = [
            ("a", "b", 1.0),
            (missing, "c", 1.0),
            ("c", "a", 1.0),
            ("d", missing, 1.0),
        ]
        with pytest.raises(GraphError, match=r"missing in 2 of 4 edges, in rows 1, 3 "):
            Graph(edges)
        with pytest.warns(DroppedEdgesWarning, match="2 of 4 edges were dropped"):
            graph = Graph(edges, dropna=True)
        assert graph.nodes.tolist() == ["a", "b", "c"]
        assert graph.n_edges == 2


@pytest.mark.parametrize("kind", ["Int64", "float64", "string", "datetime64[ns]"])
def test_missing_ends_of_columns_of_any_kind_are_refused(kind):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    ends = pandas.Series([1, 2, None], dtype="Int64").astype(kind)
    table = pandas.DataFrame({"source": ends, "target": ends.iloc[::-1].to_numpy()})
    with pytest.raises(GraphError, match="in rows 0, 2 counted from 0"):
        Graph(table)


def test_integers_beside_missing_ends_stay_integers():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    table = pandas.DataFrame({"source": [1, 2, np.nan], "target": [2, 3, 4.0]})
    with pytest.warns(DroppedEdgesWarning, match="1 of 3"):
        graph = Graph(table, dropna=True)
    assert graph.nodes.dtype.kind == "i"
    assert graph.nodes.tolist() == [1, 2, 3]
    with pytest.warns(DroppedEdgesWarning, match="1 of 2"):
        assert Graph.from_edges([1, 2], [2, np.nan], dropna=True).n_nodes == 2
    with pytest.warns(DroppedEdgesWarning, match="1 of 2"):  # a missing weight as well
        assert Graph([("a", "b", 1.0), ("b", "c", np.nan)], dropna=True).n_nodes == 2


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(GraphError, match="got 2, 1 and 2"):
        Graph.from_edges(["a", "b"], ["c"])


def test_dates_are_no_weights():
    with pytest.raises(GraphError, match="edge weights must be numbers; got 2020"):
        Graph.from_edges(["a"], ["b"], np.array(["2020-01-01"], dtype="M8[D]"))


@pytest.mark.parametrize("missing", [np.nan, None, ""])
def test_a_missing_weight_is_refused_with_its_row_or_dropped(missing):
    edges = [("a", "b", 1.0), ("b", "c", missing), ("c", "d", 2.0)]
    with pytest.raises(GraphError, match=r"weight is missing in 1 .*rows 1 .*dropna="):
        Graph(edges)
    with pytest.warns(DroppedEdgesWarning, match="1 of 3"):
        assert Graph(edges, dropna=True) == Graph([edges[0], edges[2]])
    assert Graph([("a", "b"), ("b", "b", np.nan)]).n_edges == 1  # loops need none


def test_the_missing_values_of_pandas_are_missing_weights():
    pd = pytest.importorskip("pandas")
    weights = pd.Series([1.0, None], dtype="Float64")
    with pytest.warns(DroppedEdgesWarning, match="1 of 2"):
        assert Graph.from_edges([1, 2], [2, 3], weights, dropna=True).n_edges == 1


@pytest.mark.parametrize("mixed", [False, True])
def test_a_blank_end_is_missing(mixed):
    edges = [("a", "b"), ("b", " ")] + [(1, 2)] * mixed
    with pytest.raises(GraphError, match=r"an end is missing in 1 of .*rows 1 "):
        Graph(edges)
