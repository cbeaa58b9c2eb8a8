"""One graph or several, by name, each with its response."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphfold import Graph, NeighborGraph, responses
from graphfold.errors import GraphError, ResponseError
from graphfold.graphs import graphs_from, responses_from

A = np.array([[0.0, 1.0], [1.0, 0.0]])


def test_none_one_and_several():
    assert graphs_from(None) == {}
    assert list(graphs_from(Graph([("a", "b")]))) == ["graph"]
    assert list(graphs_from([("a", "b"), ("b", "c", 2.0)])) == ["graph"]
    assert list(graphs_from([sp.csr_array(A), A, NeighborGraph()])) == [
        "graph1",
        "graph2",
        "graph3",
    ]
    two = graphs_from([[("a", "b")], [("b", "c"), ("c", "d")]])
    assert [graph.n_edges for graph in two.values()] == [1, 2]
    assert list(graphs_from({"road": A, "trade": A})) == ["road", "trade"]


def test_an_unusable_one_is_named():
    with pytest.raises(GraphError, match=r"graph 'bad': .*at least 0"):
        graphs_from({"good": A, "bad": -A})
    with pytest.raises(GraphError, match="at least one graph"):
        graphs_from({})


def test_responses_by_order_by_name_or_one_for_all():
    wide, steep = responses.Diffusion(1.0), responses.Diffusion(9.0)
    assert responses_from(wide, ["a", "b"]) == {"a": wide, "b": wide}
    assert responses_from([wide, None], ["a", "b"]) == {"a": wide, "b": None}
    assert responses_from({"b": steep}, ["a", "b"]) == {"a": None, "b": steep}
    with pytest.raises(ResponseError, match="each of the 2 graphs"):
        responses_from([wide], ["a", "b"])
    with pytest.raises(ResponseError, match="among a, b; got c"):
        responses_from({"c": wide}, ["a", "b"])
