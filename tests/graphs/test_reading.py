"""Tables and graphs of other libraries: what they mean, or one sentence."""

import numpy as np
import pytest

from graphfold import Graph
from graphfold.errors import GraphError, IgnoredColumnsWarning

pd = pytest.importorskip("pandas", reason="tables of edges")
NAMES = list("abcd")
A = np.array([[0, 1, 2, 0], [1, 0, 3, 0], [2, 3, 0, 4], [0, 0, 4, 0]], dtype=float)

# -- square tables --------------------------------------------------------------------


def test_a_square_table_is_a_matrix_by_its_own_labels():
    square = pd.DataFrame(A, NAMES, NAMES)
    assert Graph(square) == Graph(A, NAMES)
    assert Graph(square, nodes=[4, 5, 6, 7]).nodes.tolist() == [4, 5, 6, 7]
    edges = pd.DataFrame({"u": [0, 1, 2], "v": [1, 2, 3], "w": [1.0, 2.0, 4.0]})
    assert Graph(edges).degrees.tolist() == [1, 3, 6, 4]  # as many rows as columns


@pytest.mark.parametrize("names", [NAMES, [7, 3, 9, 1], [2, 0, 3, 1]])
def test_a_square_table_with_columns_in_another_order_is_aligned_by_label(names):
    square = pd.DataFrame(A, names, names)
    for order in ([3, 1, 0, 2], [1, 0, 2, 3]):
        turned = square[[names[i] for i in order]]
        assert Graph(turned) == Graph(A, names)
        assert Graph(turned.T) == Graph(A, names).subgraph([names[i] for i in order])


AMBIGUOUS = {
    "other names": pd.DataFrame(A, NAMES, list("wxyz")),
    "no index": pd.DataFrame(A, columns=NAMES),
    "one other name": pd.DataFrame(A, NAMES, [*NAMES[:3], "x"]),
    "two by two": pd.DataFrame([[0, 1], [1, 2]], columns=["x", "y"]),
}


@pytest.mark.parametrize("table", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_a_square_table_that_could_be_either_is_refused_with_both_remedies(table):
    with pytest.raises(GraphError, match=r"matrix or a list of edges.*to_numpy.*sourc"):
        Graph(table)
    with pytest.raises(GraphError, match="could be a matrix or a list of edges"):
        Graph(pytest.importorskip("polars").from_pandas(table))
    assert Graph(A, nodes=NAMES).n_nodes == 4


def test_what_a_square_table_is_can_be_said():
    table = pd.DataFrame([[0, 1], [1, 2]], columns=["x", "y"])
    assert Graph(table, source="x", target="y").n_edges == 2
    matrix = pd.DataFrame(A, columns=NAMES)
    assert Graph(matrix.to_numpy(), nodes=matrix.columns) == Graph(A, NAMES)
    words = pd.DataFrame({"x": ["a", "b"], "y": ["b", "c"]})
    assert Graph(words).nodes.tolist() == ["a", "b", "c"]  # no numbers: no matrix


def test_a_small_square_table_without_any_names_is_refused_as_an_array_is():
    edges = pd.DataFrame([[0, 1, 5], [1, 2, 6], [2, 3, 7]])
    with pytest.raises(GraphError, match="could be a matrix or 3 edges"):
        Graph(edges)
    assert Graph(pd.DataFrame(A)) == Graph(A, range(4))
    with pytest.raises(GraphError, match="must hold numbers"):
        Graph(pd.DataFrame([["x", "y"], ["y", "x"]], ["a", "b"], ["a", "b"]))


# -- columns --------------------------------------------------------------------------


def table(library, **columns):
    if library == "pyarrow":
        return pytest.importorskip(library).table(columns)
    return pytest.importorskip(library).DataFrame(columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_third_column_is_a_weight_only_by_name(library):
    ends = {"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "a"]}
    edges = table(library, **ends, year=[2001, 2002, 2003, 2004])
    with pytest.warns(IgnoredColumnsWarning, match=r"not used: 'year'; .*weight="):
        assert Graph(edges).degrees.tolist() == [2, 2, 2, 2]
    assert Graph(edges, weight="year").degrees[0] == 2001 + 2004
    assert Graph(edges, weight=False).degrees[0] == 2
    for name in ("weight", "w", "value", "similarity"):
        weighted = table(library, **ends, **{name: [1.0, 2.0, 3.0, 4.0]})
        assert Graph(weighted).degrees.tolist() == [5, 3, 5, 7]


def test_a_saved_index_is_no_weight():
    edges = pd.DataFrame(
        {"Unnamed: 0": [0, 1], "source": ["a", "b"], "target": ["b", "c"]}
    )
    assert Graph(edges).n_edges == 2  # and nothing to warn of


def test_columns_that_are_not_known_are_named_by_the_caller():
    edges = pd.DataFrame(
        {"when": [1, 2], "payer": ["a", "b"], "payee": ["b", "c"], "amount": [5.0, 7.0]}
    )
    with pytest.raises(GraphError, match="got when, payer, payee, amount"):
        Graph(edges)
    how = {"source": "payer", "target": "payee"}
    assert Graph(edges, **how, weight="amount").degrees.tolist() == [5, 12, 7]
    with pytest.warns(IgnoredColumnsWarning, match="'when', 'amount'"):
        assert Graph(edges, **how).degrees.tolist() == [1, 2, 1]


@pytest.mark.parametrize("source", [A, [("a", "b")], Graph(A)])
def test_what_has_no_columns_is_given_none(source):
    for name in ("source", "target", "weight"):
        with pytest.raises(GraphError, match=f"{name} must be None where the graph is"):
            Graph(source, **{name: "x"})


# -- attributes of networkx and igraph ------------------------------------------------


def drawn(library, **attributes):
    ends = [(0, 1), (1, 2)]
    if library == "igraph":
        igraph = pytest.importorskip("igraph")
        return igraph.Graph(n=3, edges=ends, edge_attrs=attributes)
    graph = pytest.importorskip("networkx").Graph(ends)
    for name, values in attributes.items():
        for (i, j), value in zip(ends, values, strict=True):
            graph[i][j][name] = value
    return graph


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_the_attribute_that_is_the_weight_can_be_named(library):
    graph = drawn(library, weight=[1.0, 2.0], trips=[5, 7], kind=["x", "y"])
    assert Graph(graph).degrees.tolist() == [1, 3, 2]
    assert Graph(graph, weight="weight").degrees.tolist() == [1, 3, 2]
    assert Graph(graph, weight="trips").degrees.tolist() == [5, 12, 7]
    assert Graph(graph, weight=False).degrees.tolist() == [1, 2, 1]
    with pytest.raises(GraphError, match="got 'x', and there are weight, trips, kind"):
        Graph(graph, weight="x")
    with pytest.raises(GraphError, match="source must be None where the graph is"):
        Graph(graph, source="x", target="y")


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_numbers_that_are_not_called_weight_are_warned_of(library):
    graph = drawn(library, trips=[5, 7], kind=["x", "y"])
    with pytest.warns(
        IgnoredColumnsWarning, match=r"trips is not used.*weight='trips'"
    ):
        assert Graph(graph).degrees.tolist() == [1, 2, 1]
    assert Graph(drawn(library, kind=["x", "y"])).n_edges == 2
    assert Graph(drawn(library, open=[True, False])).n_edges == 2


def test_known_names_of_the_ends_decide_that_a_square_table_lists_edges():
    edges = pd.DataFrame({"source": [0, 1], "target": [1, 0]})
    assert Graph(edges).n_edges == 1
    weighted = pd.DataFrame({"u": [0, 1, 2], "v": [1, 0, 3], "w": [2.0, 2.0, 1.0]})
    assert Graph(weighted) == Graph([(0, 1, 2.0), (2, 3, 1.0)])
    named = pd.DataFrame(A[:2, :2], ["source", "target"], ["source", "target"])
    assert Graph(named).nodes.tolist() == ["source", "target"]  # rows have them too


def test_a_small_table_without_names_that_may_list_edges_is_refused():
    edges = [[0, 1, 0.5, 2020], [1, 2, 0.5, 2021], [2, 3, 1.5, 2022], [3, 0, 1, 2023]]
    with pytest.raises(GraphError, match="could be a matrix or 4 edges"):
        Graph(pd.DataFrame(edges))
    assert Graph(pd.DataFrame(A)).n_edges == 4
    assert Graph(pd.DataFrame(A + 0.5)).n_edges == 6  # no whole numbers: a matrix


def test_polars_counts_columns_without_names_from_0():
    polars = pytest.importorskip("polars")
    edges = np.array([[0, 1, 2.0], [1, 2, 3.0], [2, 3, 1.0], [0, 3, 1.0]])
    assert Graph(polars.from_numpy(edges)) == Graph(edges)


@pytest.mark.parametrize("name", [0, ""])
def test_a_falsy_name_of_the_weight_is_a_name(name):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge("a", "b", **{"weight": 1.0})
    graph.edges["a", "b"][name] = 7.0
    assert Graph(graph, weight=name).degrees.tolist() == [7, 7]


@pytest.mark.parametrize("listed", [[1, 2, 3], ["ab", "cd"], [{"a", "b"}]])
def test_a_list_of_something_else_than_edges_is_refused(listed):
    with pytest.raises(GraphError, match=r"must hold \(node, node\) or .*; got "):
        Graph(listed)
