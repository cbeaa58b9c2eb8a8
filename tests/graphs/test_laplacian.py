"""Laplacians against the definition, entry by entry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphfold import CorrelationGraph, Graph
from graphfold.errors import GraphfoldError
from graphfold.graphs import laplacian
from tests.helpers import dense_laplacian

EDGES = [("a", "b", 1.0), ("b", "c", 2.0), ("d", "e", 0.5)]
NODES = list("abcdef")  # f is alone


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_equals_the_definition(kind):
    graph = Graph(EDGES, NODES)
    L = laplacian(graph, kind)
    reference = dense_laplacian(graph.to_scipy().toarray(), kind)
    assert_allclose(L.operator.to_dense(), reference, atol=1e-15)
    values = np.linalg.eigvalsh(reference)
    assert values[0] > -1e-12
    assert values[-1] <= L.bound + 1e-12
    assert np.sum(np.abs(values) < 1e-12) == 3  # one zero for each part
    assert L.scale == (1.0 if kind == "normalized" else 3.0)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_indices_stay_as_narrow_as_those_of_the_graph(kind):
    matrix = laplacian(Graph(EDGES, NODES), kind).operator.matrix
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


def test_single_precision():
    L = laplacian(Graph(EDGES), "normalized", np.float32)
    assert L.operator.dtype == np.float32


def test_signed_graph_is_bounded_on_both_sides(rng):
    recipe = CorrelationGraph(n_neighbors=None, negative="keep")
    graph = recipe.build(rng.standard_normal((20, 5)))
    assert graph.is_signed
    for kind in ("normalized", "combinatorial"):
        L = laplacian(graph, kind).operator
        values = np.linalg.eigvalsh(L.to_dense())
        lower, upper = L.bounds()
        assert lower <= values[0] < 0
        assert values[-1] <= upper


def test_other_kinds_are_refused():
    with pytest.raises(GraphfoldError, match="laplacian must be one of"):
        laplacian(Graph(EDGES), "symmetric")
