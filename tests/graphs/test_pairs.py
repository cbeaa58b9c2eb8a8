"""Pairs of rows by position or by label, and Laplacians of the links they make."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphfold.errors import ConstraintError
from graphfold.graphs.links import (
    LinkGraph,
    class_links,
    link_laplacian,
    positions_of_pairs,
    similarity_links,
)
from graphfold.graphs.named import graphs_from, responses_from
from graphfold.operators import Diagonal

LABELS = np.array(["a", "b", "c"])


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 1), (2, 0)],
        [[0, 1], [2, 0]],
        np.array([[0, 1], [2, 0]]),
        np.array([[0, 1], [2, 0]], dtype=np.uint8),
        [np.array([0, 1]), (2, 0)],
    ],
)
def test_positions_stay_positions(pairs):
    found, lost = positions_of_pairs("must_link", pairs, None, 3)
    assert_array_equal(found, [[0, 1], [2, 0]])
    assert (found.dtype, lost) == (np.int64, 0)


@pytest.mark.parametrize("pairs", [[(0, 3)], [(-1, 0)], [(0.5, 1.0)], [("a", "b")]])
def test_other_positions_are_refused(pairs):
    with pytest.raises(
        ConstraintError, match="must_link must hold positions from 0 to 2"
    ):
        positions_of_pairs("must_link", pairs, None, 3)


def test_labels_become_positions_and_rows_elsewhere_are_counted():
    pairs = [("c", "a"), ("b", "z"), ("z", "y"), ("b", "c")]
    found, lost = positions_of_pairs("cannot_link", pairs, LABELS, 3)
    assert_array_equal(found, [[2, 0], [1, 2]])
    assert lost == 2


@pytest.mark.parametrize("pairs", [None, [], np.empty((0, 2))])
def test_no_pairs_are_none(pairs):
    found, lost = positions_of_pairs("must_link", pairs, LABELS, 3)
    assert (found.shape, found.dtype, lost) == ((0, 2), np.int64, 0)


@pytest.mark.parametrize(
    ("pairs", "labels", "text"),
    [
        (
            [(0, 1, 2)],
            None,
            r"must be pairs of labels or of positions; got \(0, 1, 2\)",
        ),
        ([(0, 1), 7], None, "or of positions; got 7"),
        (["ab"], None, "or of positions; got 'ab'"),
        ([("a", "b")], np.array(["a", "b", "a"]), "distinct labels.*'a' occurs twice"),
        ([(0, 1)], LABELS, "none of 0, 1 can be a label such as a, b, c"),
    ],
)
def test_what_is_no_pair_is_named(pairs, labels, text):
    with pytest.raises(ConstraintError, match=text):
        positions_of_pairs("must_link", pairs, labels, 3)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_laplacian_of_groups_is_that_of_all_their_pairs(kind, dtype):
    groups = np.array([0, 0, 1, -1, 1, 1, 2])
    part = LinkGraph(groups, Diagonal(np.array([1.0, 2.0, 5.0])))
    A = np.zeros((7, 7))
    for i in range(7):
        for j in range(7):
            if i != j and groups[i] == groups[j] >= 0:
                A[i, j] = [1.0, 2.0, 5.0][groups[i]]
    degrees = A.sum(axis=1)
    assert_allclose(part.degrees, degrees)
    root = np.where(degrees > 0, 1 / np.sqrt(np.maximum(degrees, 1e-9)), 0)
    L = np.diag(degrees) - A
    L = L if kind == "combinatorial" else root[:, None] * L * root
    found, size = link_laplacian([part], kind, dtype)
    assert_allclose(found.to_dense(), L, atol=1e-6)
    assert found.dtype == dtype
    assert size == (1.0 if kind == "normalized" else 4.0)
    assert found.describe().startswith("D")
    both, size = link_laplacian([part, part], "combinatorial")
    assert_allclose(both.to_dense(), 2 * (np.diag(degrees) - A), atol=1e-9)
    assert size == 8.0


def test_links_without_any_row_have_size_one():
    nobody = LinkGraph(np.full(3, -1), Diagonal(np.ones(1)))
    for kind in ("normalized", "combinatorial"):
        found, size = link_laplacian([nobody], kind)
        assert_array_equal(found.to_dense(), np.zeros((3, 3)))
        assert size == 1.0


def test_one_link_says_nothing_where_nobody_is_labelled():
    none = np.empty((0, 2), dtype=np.int64)
    links = class_links(np.full(4, -1), none, none, np.arange(4))
    assert (links.together, links.apart) == ([], [])
    assert (links.n_classes, links.n_labelled, links.n_unknown_pairs) == (0, 0, 0)
    assert_array_equal(links.groups, np.full(4, -1))
    pair = np.array([[1, 3]])
    links = class_links(np.full(4, -1), pair, none, np.arange(4))
    assert_array_equal(links.groups, [-1, 0, -1, 0])
    assert len(links.together) == 1
    assert links.apart == []
    assert_array_equal(links.must_pairs, pair)


def test_labels_that_are_all_alike_or_alone_link_nothing():
    for values in ([1.0, 1.0, np.nan], [1.0, np.nan, np.nan]):
        assert similarity_links(np.array(values)) == ([], [])
    ((alike,), (apart,)) = similarity_links(np.array([0.0, np.nan, 4.0, 4.0]))
    assert_array_equal(alike.groups, [0, -1, 1, 1])
    spread = np.std([0.0, 4.0, 4.0])
    near = np.exp(-0.5 * (4.0 / (0.5 * spread)) ** 2)
    assert_allclose(alike.between.to_dense(), [[1, near], [near, 1]])
    assert_allclose(apart.between.to_dense(), [[0, 1 - near], [1 - near, 0]])


def test_a_list_of_one_graph_is_a_list_of_graphs():
    edges = [(0, 1), (1, 2)]
    assert list(graphs_from([edges])) == ["graph1"]
    assert list(graphs_from(edges)) == ["graph"]
    assert list(graphs_from([np.ones((4, 4)), edges])) == ["graph1", "graph2"]
    assert list(graphs_from({3: edges})) == ["3"]
    assert graphs_from(None) == {}
    assert responses_from(None, ["a", "b"]) == {"a": None, "b": None}
