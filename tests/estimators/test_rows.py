"""Rows meet nodes by label: at fit, at transform, in every fold."""

import warnings

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphfold import Graph, GraphKernelPCA, NeighborGraph, responses
from graphfold.errors import (
    GraphError,
    GraphfoldError,
    LabelError,
    UnlabelledRowsWarning,
)

N = 60
LABELS = np.array([f"row{i}" for i in range(N)])


@pytest.fixture
def graph(points):
    return Graph(NeighborGraph(5).build(points), nodes=LABELS)


@pytest.fixture
def table(points):
    return pd.DataFrame(points, index=LABELS)


# -- fit ---------------------------------------------------------------------------


def test_node_ids_and_index_say_the_same(points, table, graph):
    by_index = GraphKernelPCA(graph=graph).fit(table)
    by_ids = GraphKernelPCA(graph=graph).fit(points, node_ids=LABELS)
    assert_array_equal(by_index.embedding_, by_ids.embedding_)


def test_fit_takes_the_induced_subgraph(table, graph):
    model = GraphKernelPCA(graph=graph).fit(table.iloc[10:50])
    assert model.graph_ == graph.subgraph(LABELS[10:50])


def test_positions_serve_only_where_nothing_has_labels(points, graph):
    bare = Graph(graph.to_scipy())
    model = GraphKernelPCA(graph=bare).fit(points)
    reference = GraphKernelPCA(graph=graph).fit(points, node_ids=LABELS)
    assert_array_equal(model.embedding_, reference.embedding_)
    for source in (graph.to_scipy(), graph.to_scipy().toarray()):
        assert_array_equal(
            GraphKernelPCA(graph=source).fit(points).embedding_, model.embedding_
        )


def test_integer_names_in_another_order_are_names(points, graph, rng):
    """networkx lists nodes as they were added: its order may be that of the rows."""
    A = graph.to_scipy().toarray()
    order = rng.permutation(N)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(order.tolist())
    shuffled.add_edges_from(zip(*np.nonzero(A), strict=True))
    for source in (shuffled, Graph(A[np.ix_(order, order)], nodes=order)):
        with pytest.raises(
            LabelError, match=r"rows of X have none.*graph.nodes.*range"
        ):
            GraphKernelPCA(graph=source).fit(points)
    reference = GraphKernelPCA(graph=Graph(A)).fit(points).embedding_
    model = GraphKernelPCA(graph=shuffled)
    by_number = model.fit(points, node_ids=range(N)).embedding_
    assert_allclose(by_number, reference, atol=1e-9)
    in_its_order = model.fit(points[order], node_ids=list(shuffled)).embedding_
    assert_allclose(in_its_order, reference[order], atol=1e-9)


def test_integer_names_in_order_are_positions(points, graph):
    A = graph.to_scipy()
    rows, columns = sp.triu(A).nonzero()
    ordered = nx.Graph()
    ordered.add_nodes_from(range(N))
    ordered.add_edges_from(zip(rows.tolist(), columns.tolist(), strict=True))
    reference = GraphKernelPCA(graph=Graph(A)).fit(points).embedding_
    for source in (ordered, np.column_stack([rows, columns]), Graph(A, range(N))):
        found = GraphKernelPCA(graph=source).fit(points).embedding_
        assert_allclose(found, reference, atol=1e-9)


def test_a_shuffled_integer_index_that_a_scaler_drops_is_an_error(points, graph, rng):
    order = rng.permutation(N)
    table = pd.DataFrame(points[order], index=order)
    labelled = Graph(graph.to_scipy()[order][:, order], nodes=table.index)
    pipeline = make_pipeline(StandardScaler(), GraphKernelPCA(graph=labelled))
    with pytest.raises(LabelError, match="the rows of X have none"):
        pipeline.fit(table)
    pipeline.set_output(transform="pandas").fit(table)


def test_igraph_and_edge_tables_as_they_are(points, graph):
    A = graph.to_scipy()
    rows, columns = sp.triu(A).nonzero()
    drawn = igraph.Graph(
        n=N, edges=list(zip(rows.tolist(), columns.tolist(), strict=True))
    )
    reference = GraphKernelPCA(graph=Graph(A)).fit(points).embedding_
    assert_allclose(GraphKernelPCA(graph=drawn).fit(points).embedding_, reference)
    edges = pd.DataFrame({"source": LABELS[rows], "target": LABELS[columns]})
    table = pd.DataFrame(points, index=LABELS)
    assert_allclose(GraphKernelPCA(graph=edges).fit(table).embedding_, reference)


UNMATCHED = {
    "labelled graph, bare rows": (
        lambda X, t, g: GraphKernelPCA(graph=g).fit(X),
        "the graph has labels such as row0.*node_ids=graph.nodes",
    ),
    "labelled graph, RangeIndex": (
        lambda X, t, g: GraphKernelPCA(graph=g).fit(t.reset_index(drop=True)),
        "rows of X have none",
    ),
    "another size": (
        lambda X, t, g: GraphKernelPCA(graph=g.to_scipy()).fit(X[:50]),
        "50 rows without labels and the graph has 60 nodes.*by label only",
    ),
    "strange labels": (
        lambda X, t, g: GraphKernelPCA(graph=g).fit(X, node_ids=np.arange(N)),
        "60 of 60 labels are not nodes",
    ),
    "one strange label": (
        lambda X, t, g: GraphKernelPCA(graph=g).fit(t.rename(index={"row3": "x"})),
        "1 of 60 labels are not nodes of the graph: x.*name them in Graph",
    ),
    "equal labels": (
        lambda X, t, g: GraphKernelPCA(graph=g).fit(X, node_ids=["row1"] * N),
        "'row1' occurs twice",
    ),
    "too few labels": (
        lambda X, t, g: GraphKernelPCA(graph=g).fit(X, node_ids=LABELS[:5]),
        "one label for each of the 60 rows of X; got 5",
    ),
    "two-dimensional labels": (
        lambda X, t, g: GraphKernelPCA(graph=g).fit(X, node_ids=np.ones((N, 2))),
        "one-dimensional",
    ),
}


@pytest.mark.parametrize(("act", "text"), UNMATCHED.values(), ids=UNMATCHED)
def test_what_cannot_be_matched_is_an_error_with_a_remedy(
    act, text, points, table, graph
):
    with pytest.raises(LabelError, match=text) as caught:
        act(points, table, graph)
    assert "\n" not in str(caught.value)


def test_rows_without_an_edge_among_them_are_an_error(table):
    pairs = Graph([(LABELS[i], LABELS[i + 30]) for i in range(30)])
    with pytest.raises(GraphError, match="an edge between two of the 30 rows"):
        GraphKernelPCA(graph=pairs).fit(table.iloc[:30])


# -- transform -------------------------------------------------------------------


@pytest.mark.parametrize("response", [None, responses.Diffusion(2.0)])
def test_training_rows_come_back_exactly(table, graph, response):
    model = GraphKernelPCA(3, graph=graph, response=response).fit(table.iloc[:45])
    assert_array_equal(model.transform(table.iloc[:45]), model.embedding_)
    shuffled = table.iloc[[9, 50, 3]]
    found = model.transform(shuffled)
    assert_array_equal(found[[0, 2]], model.embedding_[[9, 3]])


def test_new_nodes_bring_their_own_edges(table, graph):
    train, new = table.iloc[:45], table.iloc[45:]
    model = GraphKernelPCA(3, graph=graph, graph_strength=3.0).fit(train)
    edges = graph.to_scipy()[45:][:, :45]
    assert edges.nnz > 0
    by_label = model.transform(new)
    assert_allclose(by_label, model.transform(new.to_numpy(), edges=edges), atol=1e-12)
    with pytest.warns(UnlabelledRowsWarning, match="placed by their features alone"):
        bare = model.transform(new.to_numpy())
    linked = np.diff(edges.indptr) > 0
    assert np.abs(by_label - bare)[linked].max() > 1e-2
    assert_allclose(by_label[~linked], bare[~linked])


def test_edges_can_be_listed(table, graph):
    train, new = table.iloc[:45], table.iloc[45:48]
    model = GraphKernelPCA(3, graph=graph).fit(train)
    matrix = np.zeros((3, 45))
    matrix[0, 4], matrix[2, 7] = 1.0, 2.5
    expected = model.transform(new.to_numpy(), edges=matrix)
    by_label = [("row45", "row4"), ("row47", "row7", 2.5)]
    assert_allclose(model.transform(new, edges=by_label), expected)
    by_position = [(0, "row4"), (2, "row7", 2.5)]
    assert_allclose(model.transform(new.to_numpy(), edges=by_position), expected)


def test_an_edge_of_a_new_row_may_be_given_from_either_end(table, graph):
    train, new = table.iloc[:45], table.iloc[45:48]
    model = GraphKernelPCA(3, graph=graph).fit(train)
    expected = model.transform(new, edges=[("row45", "row4"), ("row47", "row7", 2.5)])
    turned = [("row4", "row45"), ("row47", "row7", 2.5)]
    assert_allclose(model.transform(new, edges=turned), expected)
    bare = [("row4", 0), ("row7", 2, 2.5)]  # rows without labels, by position
    assert_allclose(model.transform(new.to_numpy(), edges=bare), expected)
    with pytest.raises(
        LabelError, match=r"by label and by label; \('row45', 'row46'\)"
    ):
        model.transform(new, edges=[("row45", "row46")])


def test_numbers_of_rows_and_of_nodes_are_told_apart_by_their_order(points, graph):
    model = GraphKernelPCA(3, graph=graph.to_scipy()).fit(points)
    new = points[:2] + 0.5
    matrix = np.zeros((2, N))
    matrix[1, 0] = 1.0
    expected = model.transform(new, edges=matrix)
    assert_allclose(model.transform(new, edges=[(1, 0)]), expected)
    with pytest.raises(LabelError, match=r"by position and by position; \(7, 1\)"):
        model.transform(new, edges=[(7, 1)])


def test_labels_unknown_to_the_graph_have_no_edges(points, table, graph):
    model = GraphKernelPCA(3, graph=graph).fit(table)
    new = pd.DataFrame(points[:2] + 0.1, index=["x", "y"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bare = model.transform(new.to_numpy())
    assert_allclose(model.transform(new), bare)


def test_a_known_label_with_other_features_is_an_error(table, graph):
    model = GraphKernelPCA(graph=graph).fit(table)
    changed = table.copy()
    changed.iloc[[4, 7]] += 1.0
    with pytest.raises(LabelError, match=r"2 rows .* other features: row4, row7"):
        model.transform(changed)


def test_single_precision_of_the_same_features_is_the_same_row(table, graph):
    model = GraphKernelPCA(graph=graph).fit(table)
    assert_allclose(model.transform(table.astype(np.float32)), model.embedding_)


BAD_EDGES = {
    "shape": (np.zeros((2, 3)), "a row for each of the 2 rows of X"),
    "negative": (-np.eye(2, N), "at least 0"),
    "nan": (np.full((2, N), np.nan), "finite"),
    "unknown node": ([(0, "nobody")], "does not"),
    "unknown row": ([(9, "row1")], "does not"),
    "one end": ([(0,)], "pairs"),
}


@pytest.mark.parametrize(("edges", "text"), BAD_EDGES.values(), ids=BAD_EDGES)
def test_bad_edges_are_refused(edges, text, points, table, graph):
    model = GraphKernelPCA(graph=graph).fit(table)
    with pytest.raises(GraphError, match=text):
        model.transform(points[:2] + 1, edges=edges)


def test_edges_without_a_graph_are_refused(points):
    with pytest.raises(GraphfoldError, match="the fit had no graph"):
        GraphKernelPCA().fit(points).transform(points, edges=np.eye(N))


def test_labels_that_the_fit_did_not_have_are_refused(points, graph):
    model = GraphKernelPCA(graph=graph.to_scipy()).fit(points)
    with pytest.raises(LabelError, match="the rows of the fit had no labels"):
        model.transform(points, node_ids=np.arange(N))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_with_a_recipe_an_equal_row_is_that_node(points, container):
    X = container(points)
    model = GraphKernelPCA(3, graph=NeighborGraph(4)).fit(X)
    assert_array_equal(model.transform(X), model.embedding_)
    mixed = container(np.vstack([points[7], points[7] + 1e-3]))
    found = model.transform(mixed)
    assert_array_equal(found[0], model.embedding_[7])
    assert not np.array_equal(found[1], model.embedding_[7])


def test_positions_and_range_index_never_stand_in_for_labels(points):
    """Contiguous folds: rows 0..9 of the test set are not nodes 0..9 of the fit."""
    integers = Graph(NeighborGraph(5).build(points), nodes=np.arange(N))
    frame = pd.DataFrame(points)
    model = GraphKernelPCA(2, graph=integers).fit(
        points[10:], node_ids=np.arange(10, N)
    )
    reset = frame.iloc[50:].reset_index(drop=True)  # RangeIndex 0..9: other rows' names
    with pytest.warns(UnlabelledRowsWarning):
        placed = model.transform(reset)
    with pytest.warns(UnlabelledRowsWarning):
        assert_allclose(placed, model.transform(points[50:]))
    assert np.abs(placed - model.embedding_[40:]).max() > 1e-6
    sliced = frame.iloc[0:10]
    assert isinstance(sliced.index, pd.RangeIndex)
    with pytest.warns(UnlabelledRowsWarning):
        model.transform(sliced)
    with pytest.raises(LabelError, match="by label only"):
        GraphKernelPCA(2, graph=integers).fit(sliced)


CUTS = {
    "reversed": slice(None, None, -1),
    "every second": slice(1, None, 2),
    "the last": slice(20, None),
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_a_range_that_is_not_the_default_one_names_rows(points, cut):
    graph = Graph(NeighborGraph(5).build(points), nodes=np.arange(N))
    frame = pd.DataFrame(points).iloc[cut]
    assert isinstance(frame.index, pd.RangeIndex)
    model = GraphKernelPCA(2, graph=graph).fit(frame)
    named = GraphKernelPCA(2, graph=graph).fit(points[cut], node_ids=np.arange(N)[cut])
    assert_array_equal(model.graph_.nodes, np.arange(N)[cut])
    assert_allclose(model.embedding_, named.embedding_)
    assert_allclose(model.transform(frame.iloc[3:7]), model.embedding_[3:7])


def test_a_range_after_a_fit_by_position_names_rows(points):
    graph = Graph(NeighborGraph(5).build(points), nodes=np.arange(N))
    frame = pd.DataFrame(points)
    model = GraphKernelPCA(2, graph=graph).fit(frame)
    assert_allclose(model.transform(frame[::-1]), model.embedding_[::-1])
    assert_allclose(model.transform(frame.iloc[50:]), model.embedding_[50:])


# -- cross-validation ------------------------------------------------------------


class Seen(GraphKernelPCA):
    """Remembers the graphs that its fits and transforms saw."""

    log: list = []  # noqa: RUF012

    def fit(self, X, y=None, *, node_ids=None):
        super().fit(X, y, node_ids=node_ids)
        self.log.append(("fit", self.graph_.nodes.tolist(), self.graph_.n_nodes))
        return self

    def transform(self, X, *, node_ids=None, edges=None):
        Z = super().transform(X, node_ids=node_ids, edges=edges)
        self.log.append(("transform", list(X.index), Z))
        return Z


@pytest.mark.parametrize("shuffle", [True, False], ids=["shuffled", "contiguous"])
def test_each_fold_sees_its_induced_subgraph(table, graph, shuffle):
    y = (table[0] > table[0].median()).astype(int)
    folds = KFold(5, shuffle=shuffle, random_state=0 if shuffle else None)
    Seen.log = []
    pipeline = make_pipeline(Seen(3, graph=graph), LogisticRegression())
    cross_val_score(pipeline, table, y, cv=folds)
    fits = [entry for entry in Seen.log if entry[0] == "fit"]
    tests = [entry for entry in Seen.log if entry[0] == "transform"]
    assert [size for _, _, size in fits] == [48] * 5
    for (train, test), fit, placed in zip(folds.split(table), fits, tests, strict=True):
        assert fit[1] == LABELS[train].tolist()
        assert placed[1] == LABELS[test].tolist()
        model = GraphKernelPCA(3, graph=graph).fit(table.iloc[train])
        edges = graph.to_scipy()[test][:, train]
        expected = model.transform(table.iloc[test].to_numpy(), edges=edges)
        assert_allclose(placed[2], expected, atol=1e-9)


def test_grid_search_over_strength_and_the_kernel(table, graph):
    y = (table[0] > table[0].median()).astype(int)
    pipeline = make_pipeline(
        StandardScaler(), GraphKernelPCA(3, graph=graph), LogisticRegression()
    ).set_output(transform="pandas")
    grid = {
        "graphkernelpca__graph_strength": [0, 1],
        "graphkernelpca__gamma": [0.1, None],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise", n_jobs=2).fit(
        table, y
    )
    assert search.best_score_ > 0.5


def test_without_labels_a_fold_is_an_error_not_a_guess(points, graph):
    pipeline = make_pipeline(
        GraphKernelPCA(3, graph=graph.to_scipy()), LogisticRegression()
    )
    y = np.arange(N) % 2
    with pytest.raises(LabelError, match="by label only"):
        cross_val_score(pipeline, points, y, error_score="raise")


def test_routed_node_ids_reach_fit(points, graph):
    with sklearn.config_context(enable_metadata_routing=True):
        model = GraphKernelPCA(2, graph=graph).set_fit_request(node_ids=True)
        model.set_transform_request(node_ids=True)
        pipeline = make_pipeline(model, LogisticRegression())
        y = np.arange(N) % 2
        pipeline.fit(points, y, node_ids=LABELS)
        reference = GraphKernelPCA(2, graph=graph).fit(points, node_ids=LABELS)
        assert_array_equal(pipeline[0].embedding_, reference.embedding_)
        Z = pipeline[:-1].transform(points, node_ids=LABELS)
        assert_array_equal(Z, reference.embedding_)


def test_edges_of_the_caller_stay_as_they_are(points):
    """A Graph's own matrix is read-only; one with stored zeros keeps them."""
    graph = NeighborGraph(4).build(points)
    model = GraphKernelPCA(2, graph=graph).fit(points)
    placed = model.transform(points + 0.1, edges=graph.to_scipy())
    edges = sp.csr_array(graph.to_scipy(), copy=True)
    edges.data[:3] = 0.0
    before = edges.nnz
    other = model.transform(points + 0.1, edges=edges)
    assert edges.nnz == before
    assert np.isfinite(other).all()
    assert np.abs(placed[5:] - other[5:]).max() < 1e-12


# -- edges= of transform ---------------------------------------------------------------


def _fitted_by_label(rng):
    X = rng.standard_normal((8, 3))
    names = [f"n{i}" for i in range(8)]
    graph = Graph([(names[i], names[i + 1]) for i in range(7)])
    return GraphKernelPCA(2, graph=graph).fit(X, node_ids=names), X + 0.1


def test_edges_of_new_rows_may_be_a_table(rng):
    pd = pytest.importorskip("pandas")
    model, X = _fitted_by_label(rng)
    table = pd.DataFrame({"source": ["x", "y"], "target": ["n1", "n4"], "w": [1.0, 2]})
    how = {"node_ids": ["x", "y"]}
    expected = model.transform(X[:2], edges=[("x", "n1", 1.0), ("y", "n4", 2.0)], **how)
    assert np.array_equal(model.transform(X[:2], edges=table, **how), expected)


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        (np.array([["x", "n1"]]), "edges must be a matrix of numbers.*list or table"),
        (Graph([("x", "n1")]), "list or table of .*; got Graph"),
        ([("x", "n1", "much")], "edge weights must be numbers; got much"),
        ([1, 2], "edges must be pairs"),
    ],
)
def test_edges_of_new_rows_that_are_none_get_one_sentence(edges, sentence, rng):
    model, X = _fitted_by_label(rng)
    with pytest.raises(GraphError, match=sentence):
        model.transform(X[:1], node_ids=["x"], edges=edges)


def test_node_ids_of_a_graph_without_labels_are_refused_with_the_remedy(rng):
    X, A = rng.standard_normal((4, 2)), np.ones((4, 4))
    with pytest.raises(LabelError, match=r"no labels.*Graph\(matrix, nodes=node_ids\)"):
        GraphKernelPCA(1, graph=A).fit(X, node_ids=list("abcd"))
    GraphKernelPCA(1, graph=Graph(A, nodes=list("abcd"))).fit(X, node_ids=list("abcd"))
