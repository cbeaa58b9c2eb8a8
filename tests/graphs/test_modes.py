"""A mode's graph is the graph of its own rows and columns, and nothing else's."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import CorrelationGraph, NeighborGraph
from graphfold.graphs.modes import ModeGraph

START, STOP, PRESENCE = 2, 5, 7
RECIPES = {
    "binary": NeighborGraph(3),
    "heat": NeighborGraph(3, weight="heat"),
    "cosine": NeighborGraph(4, metric="cosine", weight="similarity"),
    "mutual": NeighborGraph(4, mode="mutual"),
    "correlation": CorrelationGraph(4),
}
CONTAINERS = [np.asarray, sp.csr_array]


def table(rng, n, missing=()):
    """Seven columns of values, then presence of this mode and of another."""
    X = np.hstack([rng.standard_normal((n, 7)), np.ones((n, 2))])
    X[list(missing), START:STOP] = 0.0
    X[list(missing), PRESENCE] = 0.0
    X[1, PRESENCE + 1] = 0.0  # the other mode's business
    return X


def expected_edges(recipe, X, rows, Y, columns):
    """Edges of some rows to others, set one by one in a matrix of zeros."""
    new, old = X[rows][:, START:STOP], Y[columns][:, START:STOP]
    if X is Y:
        found = recipe.bind(old).build(old).to_scipy().toarray()
    else:
        found = recipe.bind(old).edges_to(new, old).toarray()
    full = np.zeros((len(X), len(Y)))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            full[row, column] = found[i, j]
    return full


def brute_force_neighbours(X, k):
    """k nearest by distance, an edge where either row chose the other."""
    A = np.zeros((len(X), len(X)))
    for i, x in enumerate(X):
        distances = [np.sqrt(((x - y) ** 2).sum()) for y in X]
        distances[i] = np.inf
        for j in sorted(range(len(X)), key=distances.__getitem__)[:k]:
            A[i, j] = A[j, i] = 1.0
    return A


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("missing", [(), (0, 4, 5, 19)])
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_it_is_the_graph_of_the_rows_that_have_the_mode(
    recipe, missing, container, rng
):
    X = table(rng, 20, missing)
    rows = [i for i in range(20) if i not in missing]
    given = container(X)
    graph = ModeGraph(recipe, START, STOP, PRESENCE).bind(given).build(given)
    found = graph.to_scipy().toarray()
    assert_allclose(found, expected_edges(recipe, X, rows, X, rows), atol=1e-12)
    assert not found[list(missing)].any()
    assert not found[:, list(missing)].any()


def test_it_agrees_with_a_search_by_loops(rng):
    X = table(rng, 20, (3, 8))
    rows = [i for i in range(20) if i not in (3, 8)]
    graph = ModeGraph(NeighborGraph(3), START, STOP, PRESENCE).build(X)
    reference = np.zeros((20, 20))
    reference[np.ix_(rows, rows)] = brute_force_neighbours(X[rows][:, START:STOP], 3)
    assert_array_equal(graph.to_scipy().toarray(), reference)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_edges_of_new_rows_go_from_and_to_rows_that_have_the_mode(
    recipe, container, rng
):
    X, new = table(rng, 20, (0, 4, 19)), table(rng, 6, (2, 5))
    old_rows = [i for i in range(20) if i not in (0, 4, 19)]
    mode = ModeGraph(recipe, START, STOP, PRESENCE).bind(container(X))
    found = mode.edges_to(container(new), container(X))
    reference = expected_edges(recipe, new, [0, 1, 3, 4], X, old_rows)
    assert found.shape == (6, 20)
    assert_allclose(found.toarray(), reference, atol=1e-12)


def test_new_rows_that_all_miss_the_mode_have_no_edges(rng):
    X, new = table(rng, 20), table(rng, 3, (0, 1, 2))
    edges = ModeGraph(NeighborGraph(3), START, STOP, PRESENCE).edges_to(new, X)
    assert edges.shape == (3, 20)
    assert edges.nnz == 0


@pytest.mark.parametrize("container", CONTAINERS)
def test_presence_is_none_where_every_row_has_the_mode(container, rng):
    mode = ModeGraph(NeighborGraph(3), START, STOP, PRESENCE)
    assert mode.present(container(table(rng, 20))) is None
    found = mode.present(container(table(rng, 20, (0, 7))))
    assert found.dtype == bool
    assert_array_equal(np.flatnonzero(~found), [0, 7])


def test_a_width_is_bound_to_the_rows_that_have_the_mode(rng):
    X = table(rng, 30, (0, 1))
    recipe = NeighborGraph(3, weight="heat")
    bound = ModeGraph(recipe, START, STOP, PRESENCE).bind(X)
    assert bound.recipe.scale == recipe.bind(X[2:, START:STOP]).scale
    assert bound.recipe.scale != recipe.bind(X[:, START:STOP]).scale
    assert recipe.scale == "auto"  # the one that was given stays as it was


@settings(max_examples=25, deadline=None)
@given(present=st.lists(st.booleans(), min_size=8, max_size=20), seed=st.integers(0, 9))
def test_other_columns_and_other_rows_change_nothing(present, seed):
    present = [True, True, *present]
    rng = np.random.default_rng(seed)
    X = table(rng, len(present), np.flatnonzero(~np.array(present)))
    mode = ModeGraph(NeighborGraph(3), START, STOP, PRESENCE)
    before = mode.build(X).to_scipy().toarray()
    other = X.copy()
    other[:, :START] += rng.standard_normal((len(X), START))
    other[:, STOP:PRESENCE] += 1.0
    other[~np.array(present), START:STOP] = 7.0
    assert_array_equal(mode.build(other).to_scipy().toarray(), before)
    assert_array_equal(before, before.T)


def test_a_mode_hands_on_dense_columns_where_asked(rng):
    X = sp.csr_array(np.hstack([rng.random((6, 3)), np.ones((6, 1))]))
    for dense in (False, True):
        mode = ModeGraph(NeighborGraph(2), 0, 3, 3, dense=dense)
        values, rows = mode._rows(X)
        assert sp.issparse(values) != dense
        assert values.shape == (6, 3)
        assert_array_equal(rows, np.arange(6))
    plain = ModeGraph(NeighborGraph(2), 0, 3, 3, dense=True)._rows(X.toarray())[0]
    assert isinstance(plain, np.ndarray)
