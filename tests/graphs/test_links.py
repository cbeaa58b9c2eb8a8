"""Links by groups say what a loop over all pairs of rows says."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graphfold.errors import ConstraintError
from graphfold.graphs.links import (
    LinkGraph,
    class_links,
    link_laplacian,
    positions_of_pairs,
    similarity_links,
)
from graphfold.operators import Dense
from tests.helpers import dense_laplacian, link_closure, link_tables

KINDS = ("normalized", "combinatorial")
NO_PAIRS = np.empty((0, 2), dtype=np.int64)


def as_pairs(pairs):
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def made(codes, must=(), cannot=(), names=None, **how):
    codes = np.asarray(codes)
    names = np.arange(len(codes)) if names is None else np.asarray(names)
    return class_links(codes, as_pairs(must), as_pairs(cannot), names, **how)


def given_tables(codes, must=(), cannot=()):
    """Adjacency of what is together and apart, nothing closed, by loops."""
    n = len(codes)
    same, apart = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j and codes[i] >= 0 and codes[j] >= 0:
                (same if codes[i] == codes[j] else apart)[i, j] = 1.0
    for table, pairs in ((same, must), (apart, cannot)):
        for i, j in pairs:
            table[i, j] = table[j, i] = 1.0
    return same, apart


def assert_same_graph(parts, A, kind):
    """The Laplacian of the parts, its diagonal and its size are those of A."""
    reference = dense_laplacian(A, kind)
    if not parts:
        assert not A.any()
        return
    L, size = link_laplacian(parts, kind)
    assert_allclose(L.to_dense(), reference, atol=1e-12)
    assert_allclose(L.apply(np.eye(len(A))), reference, atol=1e-12)
    assert_allclose(L.diagonal(), np.diag(reference), atol=1e-12)
    lower, upper = L.bounds()
    values = np.linalg.eigvalsh(reference)
    assert lower <= values[0] + 1e-9
    assert upper >= values[-1] - 1e-9
    largest = max(sum(row) for row in A.tolist())
    assert size == pytest.approx(1.0 if kind == "normalized" else largest or 1.0)


@st.composite
def consistent(draw):
    """Labels with gaps and pairs that agree with classes which nobody sees."""
    n = draw(st.integers(2, 14))
    truth = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    seen = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    codes = [c if known else -1 for c, known in zip(truth, seen, strict=True)]
    row = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(row, row), max_size=8))
    must = [(i, j) for i, j in pairs if truth[i] == truth[j]]
    cannot = [(i, j) for i, j in pairs if truth[i] != truth[j]]
    return np.array(codes), must, cannot


@st.composite
def anything(draw):
    n = draw(st.integers(2, 8))
    codes = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    row = st.integers(0, n - 1)
    pairs = st.lists(st.tuples(row, row), max_size=4)
    return np.array(codes), draw(pairs), draw(pairs)


# -- classes and pairs -------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(asked=consistent())
def test_laplacians_of_random_labels_and_pairs(kind, asked):
    links = made(*asked)
    A_same, A_apart = link_tables(*asked)
    assert_same_graph(links.together, A_same, kind)
    assert_same_graph(links.apart, A_apart, kind)


@settings(deadline=None)
@given(asked=consistent())
def test_degrees_are_numbers_of_links(asked):
    links = made(*asked)
    for parts, A in zip(
        (links.together, links.apart), link_tables(*asked), strict=True
    ):
        degrees = np.sum([part.degrees for part in parts], axis=0)
        assert_allclose(degrees, A.sum(axis=1), atol=1e-12)


@settings(deadline=None)
@given(asked=consistent())
def test_groups_are_the_rows_that_must_be_together(asked):
    codes, must, cannot = asked
    groups = made(*asked).groups
    same, _ = link_closure(*asked)
    named = {i for pair in must + cannot for i in pair}
    for i in range(len(codes)):
        assert (groups[i] >= 0) == (codes[i] >= 0 or i in named)
        for j in range(len(codes)):
            if groups[i] >= 0 and groups[j] >= 0:
                assert (groups[i] == groups[j]) == same[i, j]


@settings(deadline=None)
@given(asked=anything())
def test_an_error_exactly_where_the_loops_find_a_contradiction(asked):
    same, apart = link_closure(*asked)
    if (same & apart).any():
        with pytest.raises(ConstraintError, match="contradict"):
            made(*asked)
    else:
        made(*asked)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(asked=consistent())
def test_without_closure_there_are_the_given_pairs_and_classes_alone(kind, asked):
    links = made(*asked, closure=False)
    A_same, A_apart = given_tables(*asked)
    np.fill_diagonal(A_same, 0.0)  # a row and itself are no link
    assert_same_graph(links.together, A_same, kind)
    assert_same_graph(links.apart, A_apart, kind)
    assert_array_equal(links.groups >= 0, asked[0] >= 0)


@settings(deadline=None)
@given(asked=anything())
def test_without_closure_only_a_pair_in_both_is_refused(asked):
    same, apart = given_tables(*asked)
    same += np.eye(len(same))
    if (same * apart).any():
        with pytest.raises(ConstraintError, match="contradict"):
            made(*asked, closure=False)
    else:
        made(*asked, closure=False)


def test_a_chain_that_closure_would_refuse_is_taken_as_it_is():
    codes = np.array([-1, -1, -1])
    asked = codes, [(0, 1), (1, 2)], [(0, 2)]
    with pytest.raises(ConstraintError, match="0 and 2 must be together and apart"):
        made(*asked)
    links = made(*asked, closure=False)
    assert_same_graph(links.together, given_tables(*asked)[0], "combinatorial")
    assert_same_graph(links.apart, given_tables(*asked)[1], "combinatorial")


@settings(deadline=None)
@given(asked=consistent(), seed=st.integers(0, 1000))
def test_pairs_may_come_in_any_order_and_twice(asked, seed):
    codes, must, cannot = asked
    assume(must or cannot)
    rng = np.random.default_rng(seed)

    def shuffled(pairs):
        twice = [pair if rng.integers(2) else pair[::-1] for pair in pairs + pairs]
        return [twice[i] for i in rng.permutation(len(twice))]

    one, two = made(*asked), made(codes, shuffled(must), shuffled(cannot))
    for side in ("together", "apart"):
        assert bool(getattr(one, side)) == bool(getattr(two, side))
        if getattr(one, side):
            first, _ = link_laplacian(getattr(one, side), "combinatorial")
            second, _ = link_laplacian(getattr(two, side), "combinatorial")
            assert_allclose(first.to_dense(), second.to_dense(), atol=1e-12)


def test_must_links_are_transitive_and_cannot_links_reach_whole_groups():
    links = made([-1] * 6, must=[(0, 1), (1, 2), (3, 4)], cannot=[(2, 4)])
    A_same, A_apart = np.zeros((6, 6)), np.zeros((6, 6))
    for group in ([0, 1, 2], [3, 4]):
        for i in group:
            for j in group:
                A_same[i, j] = i != j
    for i in (0, 1, 2):
        for j in (3, 4):
            A_apart[i, j] = A_apart[j, i] = 1.0
    assert_same_graph(links.together, A_same, "combinatorial")
    assert_same_graph(links.apart, A_apart, "combinatorial")


def test_a_must_link_brings_an_unlabelled_row_into_a_class():
    links = made([0, 1, -1, -1], must=[(2, 0)])
    L, _ = link_laplacian(links.apart, "combinatorial")
    assert_allclose(L.to_dense()[2], [0, -1, 1, 0])


def test_counts():
    links = made([0, 0, 1, -1, -1], must=[(3, 4)], cannot=[(3, 0), (4, 2)])
    assert links.n_classes == 2
    assert links.n_labelled == 3
    assert_array_equal(links.must_pairs, [(3, 4)])
    assert_array_equal(links.cannot_pairs, [(3, 0), (4, 2)])


def test_nothing_asked_is_nothing_linked():
    links = made([-1, -1, -1])
    assert links.together == [] and links.apart == []
    assert_array_equal(links.groups, [-1, -1, -1])


def test_one_class_has_nothing_apart_and_lone_rows_nothing_together():
    one_class = made([0, 0, -1])
    assert one_class.together and not one_class.apart
    lone = made([0, 1, -1])
    assert lone.apart and not lone.together


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_stays_single(kind, rng):
    links = made(rng.integers(-1, 3, 40))
    V = rng.standard_normal((40, 2)).astype(np.float32)
    for parts in (links.together, links.apart):
        L, _ = link_laplacian(parts, kind, np.float32)
        assert L.dtype == np.float32
        assert L.apply(V).dtype == np.float32
        exact, _ = link_laplacian(parts, kind)
        assert_allclose(L.apply(V), exact.apply(V.astype(float)), atol=1e-3)


# -- contradictions ----------------------------------------------------------------


def test_all_contradictions_are_in_one_error_that_names_the_rows():
    names = [f"row{i}" for i in range(10)]
    codes = [0, 1, 2, 3, -1, -1, -1, -1, -1, -1]
    must = [(0, 4), (4, 1), (2, 3), (5, 6), (7, 8)]
    cannot = [(5, 6), (8, 7), (9, 0)]
    with pytest.raises(ConstraintError) as caught:
        made(codes, must, cannot, names)
    message = str(caught.value)
    assert "4 do" in message
    assert "different classes" in message
    assert "must be together and apart" in message
    for i in (0, 1, 2, 3, 5, 6, 7, 8):
        assert f"row{i}" in message
    assert "row9" not in message


def test_a_contradiction_through_a_chain_is_found():
    with pytest.raises(ConstraintError, match="0 and 3 must be together and apart"):
        made([-1] * 4, must=[(0, 1), (1, 2), (2, 3)], cannot=[(0, 3)])


def test_a_contradiction_between_labels_and_a_pair_is_found():
    with pytest.raises(ConstraintError, match="1 and 3 must be together and apart"):
        made([0, 1, 0, 1], cannot=[(1, 3)])


def test_a_row_cannot_be_kept_apart_from_itself():
    with pytest.raises(ConstraintError, match="2 and 2"):
        made([-1] * 3, cannot=[(2, 2)])


def test_many_contradictions_are_counted_and_the_first_are_shown():
    pairs = [(2 * i, 2 * i + 1) for i in range(9)]
    with pytest.raises(ConstraintError, match=r"9 do: 0 and 1 .*\.\.\.") as caught:
        made([-1] * 18, must=pairs, cannot=pairs)
    assert "16 and 17" not in str(caught.value)


# -- continuous labels -------------------------------------------------------------


def similarity(a, b, spread):
    return math.exp(-0.5 * ((a - b) / (0.5 * spread)) ** 2)


def standard_deviation(values):
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))


def similarity_tables(values, levels):
    """Alike and apart for all pairs of known rows, by the level of each."""
    n = len(values)
    spread = standard_deviation([v for v in values if not math.isnan(v)])
    alike, unlike = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j and not math.isnan(values[i]) and not math.isnan(values[j]):
                alike[i, j] = similarity(levels[i], levels[j], spread)
                unlike[i, j] = 1.0 - alike[i, j]
    return alike, unlike


def levels_by_quantiles(values, n_bins=32):
    """The mean of the labels of each row's quantile."""
    known = sorted(v for v in values if not math.isnan(v))
    edges = []
    for k in range(1, n_bins):
        place = k / n_bins * (len(known) - 1)
        below = min(int(place), len(known) - 2)
        share = place - below
        edges.append(known[below] * (1 - share) + known[below + 1] * share)
    bins = [-1 if math.isnan(v) else sum(e <= v for e in edges) for v in values]
    levels = []
    for own in bins:
        members = [v for v, b in zip(values, bins, strict=True) if b == own]
        levels.append(sum(members) / len(members))
    return levels


@pytest.mark.parametrize("kind", KINDS)
def test_few_continuous_labels_are_compared_one_by_one(kind, rng):
    """With fewer rows than quantiles, the quantiles are the rows themselves."""
    values = rng.standard_normal(20)
    alike, unlike = similarity_tables(values, values)
    together, apart = similarity_links(values)
    assert_same_graph(together, alike, kind)
    assert_same_graph(apart, unlike, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_many_continuous_labels_are_compared_by_quantiles(kind, rng):
    values = rng.gamma(2.0, size=90)
    values[rng.random(90) < 0.2] = np.nan
    alike, unlike = similarity_tables(values, levels_by_quantiles(values))
    together, apart = similarity_links(values)
    assert_same_graph(together, alike, kind)
    assert_same_graph(apart, unlike, kind)
    assert_allclose(together[0].degrees, alike.sum(axis=1), atol=1e-10)
    assert_allclose(apart[0].degrees, unlike.sum(axis=1), atol=1e-10)


@settings(deadline=None)
@given(
    values=st.lists(
        st.one_of(st.just(math.nan), st.integers(-8, 8).map(lambda v: v / 4)),
        min_size=2,
        max_size=30,
    ),
    kind=st.sampled_from(KINDS),
)
def test_continuous_labels_with_ties_and_gaps(values, kind):
    assume(len({v for v in values if not math.isnan(v)}) > 1)
    alike, unlike = similarity_tables(values, levels_by_quantiles(values))
    together, apart = similarity_links(np.array(values))
    assert_same_graph(together, alike, kind)
    assert_same_graph(apart, unlike, kind)


def test_equal_or_single_continuous_labels_link_nothing():
    assert similarity_links(np.array([0.5, 0.5, np.nan])) == ([], [])
    assert similarity_links(np.array([0.5, np.nan, np.nan])) == ([], [])


# -- pairs by name -----------------------------------------------------------------

WORDS = np.array(["a", "b", "c", "d"])


@pytest.mark.parametrize(
    "pairs",
    [[("c", "a"), ("b", "d")], [["c", "a"], ["b", "d"]], (("c", "a"), ("b", "d"))],
)
def test_pairs_by_label(pairs):
    found, lost = positions_of_pairs("must_link", pairs, WORDS, 4)
    assert_array_equal(found, [(2, 0), (1, 3)])
    assert lost == 0


def test_pairs_by_integer_label_are_not_positions():
    labels = np.array([10, 3, 0, 1])
    found, lost = positions_of_pairs(
        "must_link", np.array([[0, 1], [3, 10]]), labels, 4
    )
    assert_array_equal(found, [(2, 3), (1, 0)])
    assert lost == 0


def test_pairs_by_position():
    found, lost = positions_of_pairs("must_link", [(0, 3), (2, 1)], None, 4)
    assert_array_equal(found, [(0, 3), (2, 1)])
    assert found.dtype == np.int64
    assert lost == 0


@pytest.mark.parametrize("pairs", [None, [], np.empty((0, 2))])
def test_no_pairs(pairs):
    found, lost = positions_of_pairs("must_link", pairs, WORDS, 4)
    assert found.shape == (0, 2)
    assert lost == 0


def test_pairs_with_a_row_outside_are_passed_over():
    pairs = [("a", "zz"), ("a", "b"), ("yy", "zz"), ("yy", "d")]
    found, lost = positions_of_pairs("must_link", pairs, WORDS, 4)
    assert_array_equal(found, [(0, 1)])
    assert lost == 3


def test_pairs_of_which_no_row_is_known():
    found, lost = positions_of_pairs("cannot_link", [("yy", "zz")], WORDS, 4)
    assert (len(found), lost) == (0, 1)


def test_pairs_that_cannot_be_labels():
    pairs = [(0, 1)]
    with pytest.raises(ConstraintError, match="cannot_link must name rows of X") as e:
        positions_of_pairs("cannot_link", pairs, WORDS, 4)
    assert str(pairs[0][0]) in str(e.value)


@pytest.mark.parametrize(
    "pairs", [[(0, 4)], [(-1, 0)], [(0.0, 1.0)], [("a", "b")], [(0, None)]]
)
def test_positions_outside_or_no_positions(pairs):
    with pytest.raises(ConstraintError, match="must_link must hold positions from 0"):
        positions_of_pairs("must_link", pairs, None, 4)


@pytest.mark.parametrize(
    "pairs", [[0, 1], ["ab", "cd"], [(0, 1, 2)], [(0,)], np.array([0, 1]), [{0, 1}]]
)
def test_malformed_pairs(pairs):
    with pytest.raises(ConstraintError, match="must_link must be pairs") as caught:
        positions_of_pairs("must_link", pairs, None, 4)
    assert f"got {pairs[0]}" in str(caught.value).replace("'", "")


def test_the_malformed_pair_is_the_one_shown():
    with pytest.raises(ConstraintError, match=r"got \(2, 3, 4\)"):
        positions_of_pairs("must_link", [(0, 1), (2, 3, 4)], None, 5)


# -- cost --------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 100_000])
def test_memory_grows_with_rows_not_with_pairs(n_classes):
    """170 bytes a row measured; a byte a pair would be 100,000 a row."""
    n = 200_000
    rng = np.random.default_rng(0)
    codes, V = rng.integers(0, n_classes, n), rng.standard_normal((n, 2))
    names = np.arange(n)
    tracemalloc.start()
    try:
        links = class_links(codes, NO_PAIRS, NO_PAIRS, names)
        for parts in (links.together, links.apart):
            L, _ = link_laplacian(parts, "normalized")
            L.apply(V)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 240 * n


def test_memory_of_continuous_labels():
    n = 200_000
    rng = np.random.default_rng(0)
    values, V = rng.standard_normal(n), rng.standard_normal((n, 2))
    tracemalloc.start()
    try:
        for parts in similarity_links(values):
            L, _ = link_laplacian(parts, "combinatorial")
            L.apply(V)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 240 * n


def test_light_links_have_the_size_of_their_degrees():
    """Not 1, however light they are: a strength of 1 means the same for all."""
    between = np.diag([0.01, 0.02, 0.03])
    groups = np.array([0, 0, 1, 1, 2, 2, -1])
    _, size = link_laplacian([LinkGraph(groups, Dense(between))], "combinatorial")
    assert size == pytest.approx(0.03)
