"""Chunks, labels and edges that are odd: the right answer, or one clear sentence."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from graphfold import EdgeTable, Graph, GraphKernelPCA, NeighborGraph
from graphfold.errors import (
    DisconnectedGraphWarning,
    DuplicateEdgesWarning,
    GraphError,
    GraphfoldError,
    LabelError,
)
from tests.distributed.problems import (
    chunked,
    edge_table,
    in_memory,
    largest_gap,
    names,
    on_workers,
    table,
    two_clouds,
    weighted_graph,
)

X = two_clouds()
EDGES, GRAPH = weighted_graph(X)
PLAIN = NeighborGraph(6).build(X)


def unknown_chunks(rows, sizes):
    """A dask.array that does not know how many rows its chunks have."""
    array = chunked(rows, sizes)
    return array[da.from_array(np.ones(len(rows), bool), chunks=array.chunks[0])]


# -- chunks ---------------------------------------------------------------------------


def test_unknown_chunk_sizes():
    rows = unknown_chunks(X, (100, 250, 250))
    assert np.isnan(rows.shape[0])
    model = on_workers(rows, PLAIN)
    assert largest_gap(model.embedding_, in_memory(X, PLAIN).embedding_) < 1e-9
    assert model.embedding_.chunks[0] == (100, 250, 250)


@pytest.mark.parametrize("kind", ["int16", "float64", "Int64"])
def test_ends_of_edges_in_another_kind_of_number(kind):
    """Numbers of rows where these have labels, and where they have none."""
    entries = PLAIN.to_scipy().tocoo()
    listed = pd.DataFrame({"s": entries.row, "t": entries.col})
    ends = EdgeTable(dd.from_pandas(listed.astype(kind), npartitions=3), "s", "t")
    expected = in_memory(X, PLAIN).embedding_
    frame = dd.from_pandas(pd.DataFrame(X, index=np.arange(600)), npartitions=4)
    frame.columns = [f"c{i}" for i in range(X.shape[1])]
    labelled = GraphKernelPCA(3, graph=ends, landmarks=60)
    labelled.fit(frame, node_ids=np.arange(600))
    assert largest_gap(labelled.embedding_, expected) < 1e-6
    if kind == "int16":
        by_number = on_workers(chunked(X, (200, 200, 200)), ends)
        assert largest_gap(by_number.embedding_, expected) < 1e-6


def test_chunks_without_rows():
    rows = chunked(X, (300, 300))
    empty = rows[rows[:, 0].compute() > 1e9]
    model = on_workers(da.concatenate([empty, rows]), PLAIN)
    assert largest_gap(model.embedding_, in_memory(X, PLAIN).embedding_) < 1e-9


def test_more_chunks_than_are_worked_on(monkeypatch):
    monkeypatch.setattr("graphfold.distributed.rows.MOST_BLOCKS", 4)
    monkeypatch.setattr("graphfold.distributed.rows.MOST_ROWS", 170)
    for sizes in [(60,) * 10, (600,)]:
        model = on_workers(chunked(X, sizes), PLAIN)
        assert largest_gap(model.embedding_, in_memory(X, PLAIN).embedding_) < 1e-9
        assert model.embedding_.chunks[0] == sizes


def test_another_number_of_columns_in_one_chunk_is_named():
    good, bad = (dask.delayed(part) for part in (X[:300], X[300:, :4]))
    rows = da.concatenate([da.from_delayed(p, (300, 5), float) for p in (good, bad)])
    with pytest.raises(GraphfoldError, match=r"chunk 1 has 4 and those before it 5"):
        on_workers(rows, PLAIN)


def test_another_number_of_rows_than_declared_is_named():
    parts = [dask.delayed(X[:300]), dask.delayed(X[300:590])]
    rows = da.concatenate([da.from_delayed(p, (300, 5), float) for p in parts])
    with pytest.raises(GraphfoldError, match="chunk 1 is 290 x 5 and was declared"):
        on_workers(rows, PLAIN)


def test_nan_is_found_before_work_and_its_rows_are_named():
    rows = X.copy()
    rows[[7, 555]] = np.nan
    with pytest.raises(GraphfoldError, match=r"rows 7, 555 \(2 in all\)"):
        on_workers(chunked(rows, (300, 300)), PLAIN)


def test_text_is_refused():
    frame, _ = table(X)
    frame["word"] = "a"
    with pytest.raises(GraphfoldError, match="X must hold numbers"):
        on_workers(dd.from_pandas(frame, npartitions=2, sort=False), None)


def test_three_dimensions_are_refused():
    with pytest.raises(GraphfoldError, match="two dimensions"):
        on_workers(da.zeros((4, 4, 4)), None)


# -- edges ----------------------------------------------------------------------------


def test_rows_without_edges_are_nodes_without_edges():
    frame, rows = table(X)
    some = EDGES[(EDGES.source > "row 3") & (EDGES.target > "row 3")]
    one = in_memory(frame, Graph(some, nodes=names(600)))
    other = on_workers(rows, edge_table(some))
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9


def test_edges_to_unknown_rows_are_passed_over():
    frame, rows = table(X[:400])
    one = in_memory(frame, GRAPH)
    other = on_workers(rows, edge_table(EDGES))
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9


def test_edges_across_chunks_only():
    half = np.arange(300)
    edges = pd.DataFrame({"source": half, "target": half + 300})
    one = in_memory(X, Graph(edges, nodes=np.arange(600)))
    other = on_workers(chunked(X, (300, 300)), edge_table(edges))
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9


@pytest.mark.filterwarnings("ignore::graphfold.errors.DuplicateEdgesWarning")
@pytest.mark.parametrize("rule", ["once", "sum"])
def test_edges_listed_several_times_and_loops(rule):
    frame, rows = table(X)
    again = EDGES.sample(frac=0.5, random_state=1)
    turned = again.rename(columns={"source": "target", "target": "source"})
    turned["weight"] *= 1.5
    loops = pd.DataFrame({"source": names(9), "target": names(9), "weight": 5.0})
    listed = pd.concat([EDGES, turned, loops], ignore_index=True)
    one = in_memory(frame, Graph(listed, nodes=names(600), duplicates=rule))
    other = on_workers(rows, EdgeTable(edge_table(listed, 4), duplicates=rule))
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9


def test_columns_of_other_names():
    frame, rows = table(X)
    renamed = EDGES.rename(columns={"source": "p", "target": "q", "weight": "w"})
    graph = EdgeTable(edge_table(renamed), source="p", target="q", weight="w")
    other = on_workers(rows, graph)
    assert largest_gap(other.embedding_, in_memory(frame, GRAPH).embedding_) < 1e-9
    with pytest.raises(GraphError, match="there is no 'x'"):
        EdgeTable(edge_table(renamed), source="x")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"weight": -1.0}, "at least 0; got -1"),
        ({"weight": np.nan}, "weight is missing in .*dropna"),
        ({"weight": "heavy"}, "must be numbers"),
        ({"source": 5}, "so none can match"),
        ({"source": "nobody"}, "it has none"),
    ],
)
def test_bad_edges_are_one_sentence(change, sentence):
    _, rows = table(X)
    bad = EDGES.assign(**change)
    with pytest.raises(GraphError, match=sentence):
        on_workers(rows, edge_table(bad))


def test_edges_listed_with_different_weights_are_warned_of():
    _, rows = table(X)
    turned = EDGES[:3].rename(columns={"source": "target", "target": "source"})
    listed = pd.concat([EDGES, turned.assign(weight=9.0)], ignore_index=True)
    with pytest.warns(DuplicateEdgesWarning, match="3 edges are listed"):
        on_workers(rows, edge_table(listed))
    on_workers(rows, EdgeTable(edge_table(listed), duplicates="sum"))
    same = pd.concat([EDGES, EDGES[:3]], ignore_index=True)
    on_workers(rows, edge_table(same))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, ""])
def test_missing_ends_are_refused_or_dropped(missing):
    frame, rows = table(X)
    gaps = pd.DataFrame({"source": [missing], "target": "row 1", "weight": 1.0})
    listed = pd.concat([EDGES.astype({"source": object}), gaps], ignore_index=True)
    # one part: pandas' own strings of Dask cannot hold all of these
    with dask.config.set({"dataframe.convert-string": False}):
        parts = dd.from_pandas(listed, npartitions=2, sort=False)
        with pytest.raises(
            GraphError, match=r"an end is missing in 1 of .*dropna=True"
        ):
            on_workers(rows, parts)
        other = on_workers(rows, EdgeTable(parts, dropna=True))
    assert largest_gap(other.embedding_, in_memory(frame, GRAPH).embedding_) < 1e-9


def test_integer_names_in_another_order_are_names():
    order = np.random.default_rng(0).permutation(600)
    A = PLAIN.to_scipy()
    shuffled = Graph(A[order][:, order], nodes=order)
    rows = chunked(X, (300, 300))
    with pytest.raises(LabelError, match="the rows of X have none"):
        on_workers(rows, shuffled)
    expected = in_memory(X, PLAIN).embedding_
    ordered = on_workers(rows, Graph(A, nodes=np.arange(600)))
    assert largest_gap(ordered.embedding_, expected) < 1e-9
    model = GraphKernelPCA(3, graph=shuffled, landmarks=60)
    named = model.fit(rows, node_ids=da.arange(600, chunks=300))
    assert largest_gap(named.embedding_, expected) < 1e-9


def test_numbers_that_no_row_has():
    edges = pd.DataFrame({"source": [0, 1], "target": [2, 600]})
    with pytest.raises(GraphError, match=r"from 0 to 599.*got 600"):
        on_workers(chunked(X, (300, 300)), edge_table(edges, 1))


def test_labels_where_rows_have_none():
    with pytest.raises(LabelError, match="the rows of X have none"):
        on_workers(chunked(X, (300, 300)), edge_table(EDGES))


def test_labels_that_occur_twice():
    labels = names(600)
    labels[500] = labels[3]
    model = GraphKernelPCA(2, graph=edge_table(EDGES), landmarks=50)
    with pytest.raises(LabelError, match="'row 3' occurs twice"):
        model.fit(chunked(X, (300, 300)), node_ids=da.from_array(labels, chunks=200))


def test_labels_of_another_length():
    model = GraphKernelPCA(2, graph=edge_table(EDGES), landmarks=50)
    with pytest.raises(LabelError, match="each of the 600 rows of X; got 599"):
        model.fit(chunked(X, (300, 300)), node_ids=da.from_array(names(599)))


def test_few_edges_are_warned_of():
    _, rows = table(X)
    with pytest.warns(DisconnectedGraphWarning, match="have no edge"):
        on_workers(rows, edge_table(EDGES[:20]))


def test_edges_of_dask_are_for_rows_of_dask():
    with pytest.raises(GraphError, match="in memory where X is"):
        in_memory(X, edge_table(EDGES))


def test_a_graph_of_another_size():
    with pytest.raises(LabelError, match="600 rows without labels"):
        on_workers(chunked(X, (300, 300)), NeighborGraph(5).build(X[:500]))
    with pytest.raises(GraphError, match="a row and a column for each of the 600"):
        on_workers(chunked(X, (300, 300)), da.eye(599, chunks=200))


# -- what cannot be had ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"refine": True}, "refine must be"),
        ({"graph_strength": "auto"}, "graph_strength must be a number"),
        ({"fit_inverse_transform": True}, "fit_inverse_transform must be False"),
        ({"max_memory": "1GB"}, "max_memory must be None"),
        ({"landmarks": [1, 2, 3]}, "rows of their own"),
        ({"landmarks": 1000}, "between 3 and 600"),
        ({"kernel": "precomputed"}, "function of two rows"),
        ({"graph": NeighborGraph(5, joined=True)}, "joined=False"),
    ],
)
def test_settings_that_need_rows_in_memory(settings, sentence):
    with pytest.raises(GraphfoldError, match=sentence):
        on_workers(chunked(X, (300, 300)), **{"graph": PLAIN} | settings)


def test_methods_without_landmarks():
    from graphfold import LaplacianEigenmaps

    with pytest.raises(GraphfoldError, match="LaplacianEigenmaps, which has no"):
        LaplacianEigenmaps(2, graph=PLAIN).fit(chunked(X, (300, 300)))


def test_streams_are_of_rows_in_memory():
    with pytest.raises(GraphfoldError, match="in memory"):
        GraphKernelPCA(2, landmarks=20).partial_fit(chunked(X, (300, 300)))
