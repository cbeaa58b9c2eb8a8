"""Edges that lie elsewhere: which columns they are in, and what is refused."""

import copy

import numpy as np
import pytest

from graphfold import EdgeTable, Graph
from graphfold.errors import GraphError, GraphfoldError, IgnoredColumnsWarning
from graphfold.graphs.edge_table import is_edge_table
from graphfold.graphs.named import graph_from, in_memory

da = pytest.importorskip("dask.array", reason="needs Dask")
dd = pytest.importorskip("dask.dataframe", reason="needs Dask")
pd = pytest.importorskip("pandas", reason="needs pandas")


def table(*names, parts=1):
    rows = {name: [0, 1, 2, 3] for name in names}
    return dd.from_pandas(pd.DataFrame(rows), npartitions=parts)


def columns(edges):
    return edges.source, edges.target, edges.weight


def test_columns_are_found_by_their_usual_names():
    assert columns(EdgeTable(table("weight", "target", "source"))) == (
        "source",
        "target",
        "weight",
    )
    assert columns(EdgeTable(table("a", "b"))) == ("a", "b", None)


def test_columns_that_are_named_come_first():
    edges = table("source", "target", "weight", "p", "q", "w")
    assert columns(EdgeTable(edges, "p", "q", "w")) == ("p", "q", "w")
    assert columns(EdgeTable(edges, "p", "q", False)) == ("p", "q", None)
    with pytest.raises(GraphError, match="must be given together"):
        EdgeTable(edges, target="q")
    with pytest.warns(IgnoredColumnsWarning, match="'p', 'q', 'w'"):
        assert columns(EdgeTable(edges)) == ("source", "target", "weight")


def test_columns_are_never_guessed():
    with pytest.raises(GraphError, match="got when, payer, payee, amount"):
        EdgeTable(table("when", "payer", "payee", "amount"))
    with pytest.warns(IgnoredColumnsWarning, match="not used: 'year'"):
        assert columns(EdgeTable(table("source", "target", "year")))[2] is None


def test_a_matrix_has_no_columns_and_lists_no_duplicates():
    matrix = da.zeros((4, 4))
    with pytest.raises(GraphError, match=r"must be None for a dask.array"):
        EdgeTable(matrix, weight="w")
    with pytest.raises(GraphError, match=r'must be "once" for a dask.array.*A \+ A.T'):
        EdgeTable(matrix, duplicates="sum")


@pytest.mark.parametrize("place", ["source", "target", "weight"])
def test_a_column_that_is_not_there_is_named(place):
    with pytest.raises(GraphError, match="there is no 'x' among a, b"):
        EdgeTable(table("a", "b"), **{place: "x"})


def test_labels_and_parts_are_told():
    edges = EdgeTable(table("a", "b", parts=2))
    assert (edges.has_labels, edges.is_matrix, edges.n_parts) == (True, False, 2)
    assert repr(edges) == "EdgeTable(a, b; 2 parts)"
    weighted = EdgeTable(table("a", "b", "w"), duplicates="sum")
    assert repr(weighted) == "EdgeTable(a, b, w; 1 part)"
    assert (weighted.duplicates, edges.duplicates) == ("sum", "once")
    matrix = EdgeTable(da.zeros((6, 6), chunks=(2, 6)))
    assert (matrix.has_labels, matrix.is_matrix, matrix.n_parts) == (False, True, 3)
    assert repr(matrix) == "EdgeTable(rows of a matrix; 3 parts)"


def test_parquet_files_are_read_by_their_path(tmp_path):
    pytest.importorskip("pyarrow", reason="parquet files need pyarrow")
    folder = tmp_path / "edges"
    table("source", "target").to_parquet(str(folder))
    for path in (folder, str(folder)):
        assert columns(EdgeTable(path)) == ("source", "target", None)


@pytest.mark.parametrize("shape", [(4, 5), (5, 4), (4,), (4, 4, 4)])
def test_a_matrix_is_square(shape):
    with pytest.raises(GraphError, match=f"square matrix; got shape \\({shape[0]},"):
        EdgeTable(da.zeros(shape))


def test_what_is_in_memory_is_refused():
    for edges in (np.eye(3), pd.DataFrame({"a": [1], "b": [2]}), [(0, 1)]):
        with pytest.raises(GraphError, match="Graph takes what is in memory"):
            EdgeTable(edges)
    with pytest.raises(GraphfoldError, match="duplicates must be one of"):
        EdgeTable(table("a", "b"), duplicates="twice")


def test_a_copy_is_the_table_itself():
    edges = EdgeTable(table("a", "b"))
    assert copy.deepcopy(edges) is edges


def test_collections_of_dask_are_tables_of_edges():
    assert is_edge_table(table("a", "b"))
    assert is_edge_table(da.zeros((3, 3)))
    assert not is_edge_table(pd.DataFrame({"a": [1]}))
    assert not is_edge_table(np.eye(3))
    bag = pytest.importorskip("dask.bag", reason="needs Dask")
    assert not is_edge_table(bag.from_sequence([1, 2]))  # neither table nor matrix
    assert isinstance(graph_from(table("a", "b")), EdgeTable)
    with pytest.raises(GraphError, match="in memory where X is"):
        in_memory(graph_from(table("a", "b")))
    graph = Graph([(0, 1)])
    assert in_memory(graph) is graph
