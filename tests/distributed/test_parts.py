"""Tables in blocks, matrices in strips, and the tasks they are made of."""

import platform
import sys

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfold import NeighborGraph
from graphfold.distributed import memory
from graphfold.distributed.blocks import Tall, add, pieces_by_place, routed, tree
from graphfold.distributed.cost import cost_of_fit
from graphfold.distributed.edges import bucket_of
from graphfold.distributed.features import as_array, blocks_of
from graphfold.distributed.grid import block_graph, grid_of_edges
from graphfold.distributed.links import LinkedGroups, LinkLaplacian, groups_of_classes
from graphfold.distributed.rows import _bytes_as_floats, resized, working_sizes
from graphfold.distributed.running import current_client, held, values
from graphfold.distributed.spectrum import lowest_on_workers
from graphfold.distributed.tasks import from_delayed, graph_of, literal, task
from graphfold.distributed.terms import MinusLaplacian, Polynomial
from graphfold.graphs.links import class_links, link_laplacian
from graphfold.progress import listening
from tests.distributed.problems import two_clouds

FEW = settings(max_examples=25, deadline=None)


def in_blocks(table, sizes):
    ends = np.cumsum(sizes)
    parts = [table[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    return Tall(tuple(literal(part) for part in parts), tuple(map(int, sizes)))


def whole(table):
    return np.concatenate(values("", table.blocks))


def cut(n, cuts):
    return tuple(int(size) for size in np.diff([0, *sorted(cuts), n]))


# -- tasks ----------------------------------------------------------------------------


def test_arguments_may_hold_tasks_at_any_depth():
    one, two = literal(1), literal(2)
    found = task(lambda a, b, c: (a, b, c), [one, [two]], {"x": two, 3: 4}, (one, 5))
    assert values("", [found]) == [([1, [2]], {"x": 2, 3: 4}, (1, 5))]


def test_a_task_that_two_need_is_one():
    shared = literal(np.zeros(3))
    both = [task(np.sum, shared), task(np.max, shared)]
    assert len(graph_of(both)[0]) == 3


def test_steps_are_heard():
    heard = []
    parts = [task(int, i) for i in range(4)]
    with listening(lambda report: heard.append(str(report))):
        held("counting", parts)
    assert any("counting: 4/4" in line for line in heard)


def test_a_client_is_not_used_where_a_scheduler_is_named():
    with dask.config.set(scheduler="synchronous"):
        assert current_client() is None


# -- tables ---------------------------------------------------------------------------


@given(st.integers(1, 60), st.sets(st.integers(1, 59)), st.sets(st.integers(1, 59)))
@FEW
def test_blocks_of_any_size_hold_the_same_rows(n, one, other):
    table = np.arange(2.0 * n).reshape(n, 2)
    before = in_blocks(table, cut(n, {c for c in one if c < n}))
    after = resized(before, cut(n, {c for c in other if c < n}))
    np.testing.assert_array_equal(whole(after), table)
    rows = np.random.default_rng(n).integers(0, n, 5)
    np.testing.assert_array_equal(after.take("", rows), table[rows])


@given(st.lists(st.integers(1, 200_000), min_size=1, max_size=40))
@FEW
def test_working_blocks_are_neither_too_large_nor_too_many(sizes):
    found = working_sizes(sizes)
    assert sum(found) == sum(sizes)
    assert 1 <= min(found) <= max(found) <= 2**15


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=30))
@FEW
def test_trees_add_up_all(numbers):
    parts = [literal((np.array([x]), 2 * x, None)) for x in numbers]
    (total,) = values("", [tree(add, parts)])
    np.testing.assert_allclose(total[0], sum(numbers), atol=1e-9)
    np.testing.assert_allclose(total[1], 2 * sum(numbers), atol=1e-9)
    assert total[2] is None


@given(st.lists(st.integers(0, 4), max_size=40))
@FEW
def test_pieces_are_all_there_and_in_their_order(places):
    places = np.array(places, dtype=np.int64)
    numbers = np.arange(len(places))
    for i, (found,) in enumerate(pieces_by_place(places, 5, numbers)):
        np.testing.assert_array_equal(found, numbers[places == i])


@given(st.integers(1, 7), st.integers(1, 20))
@FEW
def test_a_shuffle_brings_every_piece_to_its_place(n_parts, n):
    parts = [literal(i) for i in range(n_parts)]
    pieces = routed(parts, lambda part, n: [(part, i) for i in range(n)], n, n)
    expected = [[(part, i) for part in range(n_parts)] for i in range(n)]
    assert values("", pieces) == expected


def test_rows_are_weighed_as_they_are_worked_on():
    assert _bytes_as_floats(da.zeros((10, 5), dtype=np.uint8)) == 8 * 50
    assert _bytes_as_floats(da.zeros((10, 5), dtype=np.float32)) == 4 * 50
    unknown = da.zeros((10, 5))[da.zeros(10) > 0]
    assert np.isnan(_bytes_as_floats(unknown))


@pytest.mark.parametrize(("mapped", "ours"), [(None, True), ("1000", False)])
def test_settings_of_memory_that_a_user_has_chosen_are_left(monkeypatch, mapped, ours):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)
    if mapped:
        monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", mapped)
    find = memory._library.__wrapped__
    has_one = sys.platform == "linux" and platform.libc_ver()[0] == "glibc"
    assert (find() is not None) == (ours and has_one)


def test_a_worker_has_its_share_of_the_rows_not_of_the_blocks():
    sizes = (1000, 1000, *[10] * 20)
    table = Tall(tuple(literal(i) for i in range(22)), sizes)
    places = [block.place for block in table.blocks]
    assert places[0] < 0.5 < places[1]
    assert places == sorted(places)
    assert places[-1] < 1


def test_a_word_that_is_the_name_of_a_task_is_a_word():
    given = dask.delayed(lambda: "data")(dask_key_name="source")
    found = task(lambda part, word: (part, word), from_delayed(given), "source")
    assert values("", [found]) == [("data", "source")]


def test_a_label_has_one_bucket_however_it_is_stored():
    short = np.array(["a", "bb"])
    long = np.array(["a", "bb", "a very long label"])[:2]
    np.testing.assert_array_equal(bucket_of(short, 7), bucket_of(long, 7))
    objects = short.astype(object)
    np.testing.assert_array_equal(bucket_of(short, 7), bucket_of(objects, 7))
    small, large = (np.array([3, 4], dtype=kind) for kind in (np.int32, np.int64))
    np.testing.assert_array_equal(bucket_of(small, 7), bucket_of(large, 7))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.arange(50), np.arange(50.0)),
        (np.arange(50, dtype=np.int16), np.arange(50.0, dtype=np.float32)),
        (np.arange(50), np.array([*range(49), 49.0], dtype=object)),
        (np.arange(50), np.array([pd.NA, *range(1, 50)], dtype=object)),
        (np.array([0.0, 1.0]), np.array([-0.0, 1.0])),
        (np.array([True, False]), np.array([1, 0])),
        (
            np.arange(50).astype("M8[D]").astype("M8[us]"),
            np.arange(50).astype("M8[D]").astype("M8[ns]"),
        ),
    ],
)
def test_equal_labels_of_other_kinds_meet(one, other):
    first, second = bucket_of(one, 7), bucket_of(other, 7)
    known = np.array([value is not pd.NA for value in other])
    np.testing.assert_array_equal(first[known], second[known])
    assert len(one) < 50 or len(set(first)) > 3


def test_arrays_of_dask_and_back():
    table = np.random.default_rng(0).random((20, 3))
    array = as_array(in_blocks(table, (5, 15)), (3,), table.dtype)
    np.testing.assert_array_equal(np.asarray(array), table)
    np.testing.assert_array_equal(whole(blocks_of(array)), table)


# -- matrices -------------------------------------------------------------------------


def random_edges(n, m, rng):
    tails, heads = rng.integers(0, n, (2, m))
    return tails, heads, rng.random(m) + 0.1


@given(
    st.integers(2, 40),
    st.integers(1, 80),
    st.sets(st.integers(1, 39)),
    st.integers(0, 9),
)
@FEW
def test_strips_are_the_matrix(n, m, cuts, seed):
    rng = np.random.default_rng(seed)
    tails, heads, weights = random_edges(n, m, rng)
    sizes = cut(n, {c for c in cuts if c < n})
    half = m // 2
    parts = [
        literal((tails[s], heads[s], weights[s]))
        for s in (slice(half), slice(half, None))
    ]
    A = np.zeros((n, n))
    for i, j, w in zip(tails, heads, weights, strict=True):
        if i != j:
            A[i, j] = A[j, i] = max(A[i, j], w)
    grid = grid_of_edges(parts, sizes)
    table = rng.random((n, 3)).astype(np.float32)
    found = whole(grid.apply(in_blocks(table, sizes), 3))
    np.testing.assert_allclose(found, A @ table.astype(float), atol=1e-12)
    np.testing.assert_allclose(whole(grid.row_sums()), A.sum(axis=1), atol=1e-12)
    if A.any():
        degrees = A.sum(axis=1)
        root = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0)
        S = block_graph(grid).normalized
        found = whole(S.apply(in_blocks(table, sizes), 3))
        np.testing.assert_allclose(found, root[:, None] * A * root @ table, atol=1e-6)


def test_whole_blocks_and_some_rows_of_them_give_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    parts = [literal(random_edges(60, 200, rng))]
    table, sizes = rng.random((60, 4)), (20, 30, 10)
    found = []
    for share in (0.0, 2.0):
        monkeypatch.setattr("graphfold.distributed.grid.WHOLE", share)
        product = grid_of_edges(parts, sizes).apply(in_blocks(table, sizes), 4)
        found.append(whole(product))
    np.testing.assert_allclose(*found, rtol=1e-12)


def graph_on_workers(n=90, k=5):
    X = two_clouds(n)
    A = sp.csr_array(NeighborGraph(k).build(X).to_scipy())
    half = sp.triu(A, k=1).tocoo()
    edges = half.row.astype(np.int64), half.col.astype(np.int64), half.data
    return A.toarray(), block_graph(grid_of_edges([literal(edges)], (40, 50)))


def dense_laplacian(A, kind):
    degrees = A.sum(axis=1)
    if kind == "combinatorial":
        return np.diag(degrees) - A
    return np.eye(len(A)) - A / np.sqrt(np.outer(degrees, degrees))


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_laplacians_and_polynomials_of_them(kind):
    A, graph = graph_on_workers()
    L, minus = dense_laplacian(A, kind), MinusLaplacian(graph, kind)
    table = np.random.default_rng(0).random((90, 4))
    T = in_blocks(table, (40, 50))
    np.testing.assert_allclose(whole(minus.times(T, 4)), -L @ table, atol=1e-12)
    np.testing.assert_allclose(minus.of_table(T, 4), -table.T @ L @ table, atol=1e-10)
    coefficients = [0.3, -0.5, 0.2, 0.7, -0.1, 0.05]
    moved = 2 * L / -minus.bounds()[0] - np.eye(90)
    powers = [np.eye(90), moved]
    while len(powers) < len(coefficients):
        powers.append(2 * moved @ powers[-1] - powers[-2])
    for degree in (0, 1, 4, 5):
        used = coefficients[: degree + 1]
        f = sum(c * P for c, P in zip(used, powers, strict=False))
        p = Polynomial(minus, used)
        np.testing.assert_allclose(p.of_table(T, 4), table.T @ f @ table, atol=1e-9)
        np.testing.assert_allclose(whole(p.times(T, 4)), f @ table, atol=1e-10)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_the_low_end_of_a_spectrum(kind):
    A, graph = graph_on_workers()
    expected = np.linalg.eigvalsh(dense_laplacian(A, kind))[:6]
    found, vectors = lowest_on_workers(MinusLaplacian(graph, kind), 6, 0, tol=1e-9)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    U = whole(vectors)
    np.testing.assert_allclose(U.T @ U, np.eye(6), atol=1e-9)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_laplacians_of_links(kind):
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(50) < 0.5, rng.integers(0, 3, 50), -1)
    none = np.empty((0, 2), dtype=int)
    links = class_links(codes, none, none, np.arange(50))
    classes = np.arange(3)
    groups = groups_of_classes(
        in_blocks(codes, (20, 30)), 3, classes, np.empty(0, int), classes
    )
    table = rng.random((50, 4))
    T = in_blocks(table, (20, 30))
    for parts in (links.together, links.apart):
        dense, size = link_laplacian(parts, kind)
        L = LinkLaplacian([LinkedGroups(groups, parts[0].between)], kind, 50)
        assert L.size == pytest.approx(size)
        np.testing.assert_allclose(whole(L.times(T, 4)), dense.apply(table), atol=1e-10)
        expected = table.T @ dense.apply(table)
        np.testing.assert_allclose(L.of_table(T, 4), expected, atol=1e-9)


def test_costs_grow_as_they_should():
    one, two = (cost_of_fit((n, 50), 200, 10) for n in (10**6, 2 * 10**6))
    for name in ("bytes_held", "bytes_moved", "flops"):
        assert getattr(two, name) == pytest.approx(2 * getattr(one, name))
    assert two.tasks == one.tasks
    few, many = (cost_of_fit((10**6, 50), 200, 10, n_blocks=n) for n in (100, 200))
    assert 3 < many.tasks / few.tasks < 4
    assert cost_of_fit((10**6, 50), 200, 10, graph=False).bytes_moved == 0
    assert cost_of_fit((10**6, 50), 200, 10, n_workers=1).bytes_moved == 0
    near, anywhere = (
        cost_of_fit((10**6, 50), 200, 10, n_blocks=99, n_workers=9, remote=remote)
        for remote in (0.1, 1.0)
    )
    assert near.bytes_moved < 0.2 * anywhere.bytes_moved


def test_rows_sent_to_other_workers_are_counted_right():
    """Against edges that are drawn: a row goes once to each block that needs it."""
    n, degree, n_blocks, n_workers = 6000, 3, 30, 5
    rng = np.random.default_rng(0)
    block = np.arange(n) * n_blocks // n
    heads = rng.integers(0, n, (n, degree))
    pairs = np.unique(np.stack([np.repeat(block, degree), heads.ravel()]), axis=1)
    away = block[pairs[1]] * n_workers // n_blocks != pairs[0] * n_workers // n_blocks
    how = {"degree": degree, "n_blocks": n_blocks, "n_workers": n_workers}
    cost = cost_of_fit((n, 5), 10, 2, **how)
    assert cost.bytes_moved == pytest.approx(4 * 3 * 10 * away.sum(), rel=0.05)
