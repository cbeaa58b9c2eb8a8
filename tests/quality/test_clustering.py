"""The clustering error against every matching there is."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfold.errors import GraphfoldError
from graphfold.quality import clustering_error


def brute_force_error(labels, clusters):
    names = sorted(set(clusters))
    classes = sorted(set(labels))
    classes += [None] * max(0, len(names) - len(classes))
    best = max(
        sum(
            dict(zip(names, order, strict=False))[c] == y
            for y, c in zip(labels, clusters, strict=True)
        )
        for order in permutations(classes, len(names))
    )
    return 1 - best / len(labels)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20)
)
def test_clustering_error_is_the_best_matching(pairs):
    labels, clusters = zip(*pairs, strict=True)
    expected = brute_force_error(labels, clusters)
    assert clustering_error(labels, clusters) == pytest.approx(expected)


def test_clustering_error_wants_equal_lengths():
    with pytest.raises(GraphfoldError, match="one length"):
        clustering_error([1, 2], [1])
