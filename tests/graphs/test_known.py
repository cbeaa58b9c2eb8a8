"""A known graph where a recipe is asked for."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graphfold import Graph, MultiModalGraphEmbedding, NeighborGraph, load
from graphfold.errors import GraphError
from graphfold.graphs.known import KnownGraph


def test_it_is_the_graph_whatever_the_rows_are(points):
    graph = NeighborGraph(4).build(points)
    assert KnownGraph(graph).build(np.zeros((60, 1))) is graph
    with pytest.raises(GraphError, match="each of the 5 rows that have the mode"):
        KnownGraph(graph).build(points[:5])


def test_new_rows_find_neighbours_by_its_recipe_or_have_none(points):
    graph = NeighborGraph(4).build(points[:50])
    alone = KnownGraph(graph).edges_to(points[50:], points[:50])
    assert (alone.shape, alone.nnz) == ((10, 50), 0)
    recipe = NeighborGraph(3)
    found = KnownGraph(graph, recipe).edges_to(points[50:], points[:50])
    expected = recipe.edges_to(points[50:], points[:50])
    assert_array_equal(found.toarray(), expected.toarray())


def test_it_stands_for_a_mode_and_is_saved_with_it(points, tmp_path):
    graph = Graph([(i, i + 1) for i in range(59)], nodes=range(60))
    tables = {"one": points[:, :3], "other": points[:, 3:]}
    known = {"one": KnownGraph(graph, NeighborGraph(4))}
    model = MultiModalGraphEmbedding(2, metric=known).fit(tables)
    chain = model.graph_["one"].to_scipy().toarray()
    assert_array_equal(chain, graph.to_scipy().toarray())
    model.save(tmp_path / "model.npz")
    new = {"one": points[:5, :3] + 0.1, "other": points[:5, 3:]}
    read = load(tmp_path / "model.npz")
    assert_array_equal(read.transform(new), model.transform(new))


def test_its_recipe_learns_its_scale_from_the_rows_of_the_fit(points):
    graph = NeighborGraph(4).build(points)
    recipe = NeighborGraph(3, weight="heat")
    bound = KnownGraph(graph, recipe).bind(points)
    assert bound.recipe.scale == recipe.bind(points).scale
    assert bound.recipe.scale > 0
