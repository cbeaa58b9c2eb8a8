"""Edges beneath the points: which, how many, between which rows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphfold import (
    Graph,
    GraphKernelPCA,
    MultiModalGraphEmbedding,
    NeighborGraph,
    plot,
)
from graphfold.errors import GraphError, GraphfoldError, LabelError

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
PATH = Graph([("a", "b", 1.0), ("b", "c", 2.0)])


def segments(lines):
    return [np.asarray(segment).tolist() for segment in lines.get_segments()]


def test_one_segment_an_edge_beneath_the_points(model):
    made = plot.GraphDisplay.from_estimator(model, "near")
    (lines,) = made.lines_
    matrix = model.graph_["near"].to_scipy()
    assert len(segments(lines)) == model.graph_["near"].n_edges
    Z = model.embedding_[:, :2]
    for one, other in segments(lines):
        i = int(np.flatnonzero((one == Z).all(axis=1))[0])
        j = int(np.flatnonzero((other == Z).all(axis=1))[0])
        assert matrix[i, j] > 0
    assert lines.get_zorder() < made.points_.scatter_[0].get_zorder()
    assert made.note_ is None and made.legend_ is None


def test_all_graphs_of_a_model_have_colours_and_a_legend(model):
    made = plot.GraphDisplay.from_estimator(model)
    assert [line.get_label() for line in made.lines_] == ["near", "far"]
    near, far = (line.get_colors()[0, :3].tolist() for line in made.lines_)
    points = made.points_.scatter_[0].get_facecolor()[0, :3].tolist()
    assert near != far and points not in (near, far)
    assert [text.get_text() for text in made.legend_.get_texts()] == ["near", "far"]
    some = plot.GraphDisplay.from_estimator(model, ["far", "near"])
    assert [line.get_label() for line in some.lines_] == ["far", "near"]


def test_labels_colour_the_points_and_keep_their_legend(model):
    y = [f"c{i % 25}" for i in range(60)]
    made = plot.GraphDisplay.from_estimator(model, labels=y)
    legends = [part for part in made.ax_.get_children() if hasattr(part, "get_texts")]
    assert sorted(len(legend.get_texts()) for legend in legends) == [2, 25]


def test_rows_meet_nodes_by_label_whatever_their_order():
    table = pd.DataFrame(SQUARE, index=list("cxab"))
    for ax in (
        plot.graph(table, PATH),
        plot.graph(SQUARE, PATH, node_ids=list("cxab")),
    ):
        (lines,) = (c for c in ax.collections if hasattr(c, "get_segments"))
        drawn = {frozenset(map(tuple, segment)) for segment in segments(lines)}
        assert drawn == {
            frozenset([(1, 1), (1, 0)]),  # a and b
            frozenset([(1, 0), (0, 0)]),  # b and c
        }


def test_the_labels_of_the_fit_are_remembered(rng):
    X = pd.DataFrame(rng.random((4, 3)), index=list("abcd"))
    ring = Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    model = GraphKernelPCA(2, graph=ring).fit(X)
    made = plot.GraphDisplay.from_estimator(model, Graph([("d", "b")]))
    (segment,) = segments(made.lines_[0])
    assert_allclose(sorted(segment), sorted(model.embedding_[[1, 3]].tolist()))


def test_heavier_edges_are_stronger():
    weights = np.diag([1.0, 2.0, 4.0], 1)
    made = plot.GraphDisplay(
        plot.EmbeddingDisplay(SQUARE), {"graph": weights + weights.T}
    ).plot()
    alphas = made.lines_[0].get_colors()[:, 3]
    assert (np.diff(alphas) > 0).all()
    assert (np.diff(made.lines_[0].get_linewidths()) > 0).all()


def test_edges_of_negative_weight_are_dashed():
    weights = np.array([[0, 1.0, 0], [1.0, 0, -1.0], [0, -1.0, 0]])
    made = plot.GraphDisplay(plot.EmbeddingDisplay(SQUARE[:3]), {"graph": weights})
    solid, dashed = made.plot().lines_[0].get_linestyles()
    assert solid[1] is None and dashed[1] is not None


def test_of_many_edges_a_sample_is_drawn_and_said(model):
    total = model.graph_["far"].n_edges
    made = plot.GraphDisplay.from_estimator(model, "far", max_edges=50)
    assert len(segments(made.lines_[0])) == 50
    assert made.note_.get_text() == f"edges drawn: 50 of {total:,}"
    again = plot.GraphDisplay.from_estimator(model, "far", max_edges=50)
    assert segments(again.lines_[0]) == segments(made.lines_[0])
    other = plot.GraphDisplay.from_estimator(model, "far", max_edges=50, random_state=1)
    assert segments(other.lines_[0]) != segments(made.lines_[0])
    every = segments(plot.GraphDisplay.from_estimator(model, "far").lines_[0])
    assert all(segment in every for segment in segments(made.lines_[0]))
    both = plot.GraphDisplay.from_estimator(model, max_edges=200)
    assert both.note_.get_text() == f"edges drawn: far: 200 of {total:,}"


def test_modes_are_graphs(rng):
    X = rng.random((30, 4))
    model = MultiModalGraphEmbedding(2, modes={"left": [0, 1], "right": [2, 3]}).fit(X)
    made = plot.GraphDisplay.from_estimator(model, "right")
    assert len(segments(made.lines_[0])) == model.graph_["right"].n_edges


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"graph": None},
            GraphError,
            "must be given where the embedding comes without",
        ),
        ({"graph": NeighborGraph(2)}, GraphError, r"not a recipe; .*graph\.build\(X\)"),
        (
            {"graph": PATH},
            LabelError,
            "such as a, b, c and the rows have none: pass no",
        ),
        (
            {"graph": Graph(sp.eye_array(3, k=1))},
            LabelError,
            "each of the 4 rows, or labels",
        ),
        ({"node_ids": [1, 2, 3, 4]}, LabelError, "has none: its labels are such as a"),
        ({"node_ids": list("abca")}, LabelError, "'a' occurs twice: one row is one"),
        ({"node_ids": list("abc")}, LabelError, "each of the 4 rows; got 3"),
        ({"max_edges": 0}, GraphfoldError, "max_edges must be between 1 and"),
        ({"model_or_Z": SQUARE[:, :1]}, GraphfoldError, "at least two columns"),
    ],
)
def test_a_mistake_is_named_and_leaves_no_figure(arguments, error, message):
    alone = {} if "graph" in arguments else {"node_ids": list("abcd")}
    given = {"model_or_Z": SQUARE, "graph": PATH, **alone, **arguments}
    with pytest.raises(error, match=message):
        plot.graph(**given)
    assert plt.get_fignums() == []


def test_unknown_names_are_refused_with_those_there_are(model):
    with pytest.raises(GraphError, match="among near, far; got road"):
        plot.graph(model, "road")


def test_the_graph_with_fewer_edges_is_on_top(model):
    for order in (["near", "far"], ["far", "near"]):
        made = plot.GraphDisplay.from_estimator(model, order)
        heights = {line.get_label(): line.get_zorder() for line in made.lines_}
        assert heights["far"] < heights["near"] < 1


def test_edges_that_would_cover_the_points_are_fainter(rng):
    Z = rng.random((400, 2))
    order = np.argsort(Z[:, 0] + Z[:, 1])
    near = sp.coo_array((np.ones(399), (order[:-1], order[1:])), shape=(400, 400))
    far = sp.coo_array((np.ones(20_000), rng.integers(0, 400, (2, 20_000))))
    alphas = {}
    for name, matrix in {"few": near, "many": far}.items():
        graph = {name: matrix + matrix.T}
        made = plot.GraphDisplay(plot.EmbeddingDisplay(Z), graph).plot()
        alphas[name] = made.lines_[0].get_colors()[:, 3].max()
    assert alphas["many"] < 0.1 * alphas["few"]
    short = plot.EmbeddingDisplay(np.vstack([0.01 * Z, [[1, 1]]]))
    crowd = sp.csr_array(sp.block_diag([far + far.T, [[0.0]]]))
    made = plot.GraphDisplay(short, {"short": crowd}).plot()
    assert made.lines_[0].get_colors()[:, 3].max() > 3 * alphas["many"]


@pytest.mark.parametrize("corner", [(0, 1), (1, 0), (1, 1)])
def test_the_legend_is_where_no_points_are(corner):
    sides = [(0, 0), (0, 1), (1, 0), (1, 1)]
    Z = np.array([side for side in sides if side != corner], dtype=np.float64)
    edges = np.ones((3, 3)) - np.eye(3)
    graphs = {"one": edges, "other": edges}
    made = plot.GraphDisplay(plot.EmbeddingDisplay(Z), graphs).plot()
    made.figure_.canvas.draw()
    legend, ax = made.legend_.get_window_extent(), made.ax_.get_window_extent()
    middle = [(legend.x0 + legend.x1) / 2, (legend.y0 + legend.y1) / 2]
    inside = [(middle[0] - ax.x0) / ax.width, (middle[1] - ax.y0) / ax.height]
    assert np.round(inside).tolist() == list(corner)
