"""Neighbours of rows in blocks against scikit-learn and against all pairs of rows."""

from itertools import pairwise

import dask
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from graphfold.distributed import neighbors as module
from graphfold.distributed.blocks import Tall
from graphfold.distributed.neighbors import distributed_neighbors
from graphfold.distributed.running import current_client, values
from graphfold.distributed.tasks import literal
from graphfold.errors import GraphfoldError
from graphfold.neighbors import METRICS, nearest_rows
from graphfold.progress import listening

CHUNKINGS = [[90], [30, 30, 30], [1, 0, 49, 40], [10] * 9]
CODES = ("hamming", "jaccard")


def tall(X, sizes):
    ends = np.cumsum([0, *sizes])
    blocks = [literal(X[a:b]) for a, b in pairwise(ends)]
    return Tall(tuple(blocks), tuple(sizes))


def in_blocks(X, n_blocks):
    sizes = [len(part) for part in np.array_split(np.arange(X.shape[0]), n_blocks)]
    return tall(X, sizes)


def gathered(found):
    indices, distances = zip(*values("", found.neighbors.blocks), strict=True)
    return np.concatenate(indices), np.concatenate(distances)


def all_distances(X, Y, metric):
    """By SciPy, pair by pair, which knows no tables in blocks."""
    if metric == "jaccard":
        return cdist(X.astype(bool), Y.astype(bool), metric)
    names = {"manhattan": "cityblock"}
    return cdist(X.astype(float), Y.astype(float), names.get(metric, metric))


def first_nearest(distances, k):
    """The k smallest of each row, of equals the first."""
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


def clustered(rng, n, columns, clusters=40, spread=3.0):
    centres = spread * rng.standard_normal((clusters, columns))
    return centres[rng.integers(clusters, size=n)] + rng.standard_normal((n, columns))


def true_recall(X, indices, distances, k):
    """Of all rows, by distances to all others."""
    bounds, _ = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X).kneighbors()
    lengths = np.linalg.norm(X[indices] - X[:, None], axis=2)
    assert_allclose(distances, lengths, rtol=1e-12)
    return float((distances <= bounds[:, -1:] * (1 + 1e-6)).mean())


@pytest.fixture
def small_cells(monkeypatch):
    monkeypatch.setattr(module, "CELL_ROWS", 200)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_columns", [4, 20])
@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
def test_finds_what_scikit_learn_finds(metric, n_columns, kind, rng):
    X = rng.integers(0, 4, (90, n_columns)).astype(float)
    if metric not in CODES:
        X += (X > 0) * rng.standard_normal(X.shape) / 10
    X = sp.csr_array(X) if kind == "sparse" else X.astype(kind)
    dense = X.toarray() if kind == "sparse" else X
    found = distributed_neighbors(tall(X, [30, 0, 25, 35]), 7, metric=metric)
    assert (found.recall, found.n_cells, found.n_probes) == (1.0, 1, 1)
    assert found.neighbors.sizes == (30, 0, 25, 35)
    indices, distances = gathered(found)
    assert indices.dtype == np.int64

    rows = dense.astype(bool) if metric == "jaccard" else dense.astype(float)
    search = NearestNeighbors(n_neighbors=7, metric=metric, algorithm="brute")
    expected, _ = search.fit(rows).kneighbors()
    atol = 1e-6 if kind == "float32" else 1e-12
    assert_allclose(distances, expected, atol=atol)
    own = np.take_along_axis(all_distances(dense, dense, metric), indices, axis=1)
    assert_allclose(distances, own, atol=atol)
    assert (indices != np.arange(90)[:, None]).all()


def test_an_exact_search_asks_all_cells(rng, small_cells):
    X = clustered(rng, 1500, 12)
    found = distributed_neighbors(tall(X, [500, 1000]), 8, wanted_recall=None)
    assert found.n_probes == found.n_cells > 3
    assert true_recall(X, *gathered(found), 8) == 1.0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["rounded", "offset", "float32", "sparse", "constant"])
def test_blocks_make_no_difference_to_an_exact_search(metric, kind, rng):
    """To no digit, and with copies and many rows that are as far."""
    X = rng.integers(0, 3, (90, 19)).astype(float)
    X[40:60], X[7], X[80] = X[3], 0, 0
    if kind == "offset":
        X += 1e6 + rng.standard_normal(X.shape)
    if kind == "float32":
        X = (X + rng.standard_normal(X.shape)).astype(np.float32)
    if kind == "constant":
        X[:40] = rng.standard_normal((40, 1))  # a block of them has no other row
        assert np.ptp(X[:40] - X[:40].mean(axis=1, keepdims=True)) > 0  # but noise
    X = sp.csr_array(X) if kind == "sparse" else X
    results = [
        gathered(distributed_neighbors(tall(X, sizes), 6, metric=metric))
        for sizes in CHUNKINGS
    ]
    for indices, distances in results:
        assert_array_equal(indices, results[0][0])
        assert_array_equal(distances, results[0][1])
    indices, distances = results[0]
    assert (np.diff(distances, axis=1) >= 0).all()
    tied = np.diff(distances, axis=1) == 0
    assert (np.diff(indices, axis=1)[tied] > 0).all()
    expected, _ = nearest_rows(X, 6, metric=metric)
    if kind == "offset" and metric == "euclidean":  # products have lost these digits
        expected = np.sort(all_distances(X, X, metric), axis=1)[:, 1:7]
    assert_allclose(distances, expected, atol=1e-5 if kind == "float32" else 1e-7)


@pytest.mark.parametrize("metric", [*module.NORMS, "hamming"])
@pytest.mark.parametrize("n_columns", [6, 20])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_of_rows_as_near_the_first_are_found(metric, n_columns, kind, rng):
    """More rows are as near as the last neighbour than are measured at first."""
    X = (rng.random((400, n_columns)) < 4 / n_columns).astype(float)
    distances = all_distances(X, X, metric)
    np.fill_diagonal(distances, np.inf)
    last = np.sort(distances, axis=1)[:, 9, None]
    assert np.median((distances <= last).sum(axis=1)) > 10 + 4
    rows = in_blocks(sp.csr_array(X) if kind == "sparse" else X, 3)
    found = gathered(distributed_neighbors(rows, 10, metric=metric))
    for part, expected in zip(found, first_nearest(distances, 10), strict=True):
        assert_array_equal(part, expected)


@settings(max_examples=30, deadline=None)
@given(
    X=arrays(
        float,
        st.tuples(st.integers(2, 25), st.integers(1, 3)),
        elements=st.integers(-2, 2),
    ),
    cuts=st.lists(st.integers(0, 25), max_size=4),
    k=st.integers(1, 30),
    metric=st.sampled_from(["euclidean", "manhattan", "chebyshev", "hamming"]),
)
def test_however_few_rows_are_cut_all_others_can_be_found(X, cuts, k, metric):
    ends = np.sort(np.minimum([0, *cuts, len(X)], len(X)))
    found = distributed_neighbors(tall(X, np.diff(ends).tolist()), k, metric=metric)
    distances = all_distances(X, X, metric)
    np.fill_diagonal(distances, np.inf)
    k = min(k, len(X) - 1)
    expected = first_nearest(distances, k)
    indices, lengths = gathered(found)
    assert_array_equal(indices, expected[0])
    assert_allclose(lengths, expected[1], rtol=1e-15)


@pytest.mark.parametrize("metric", METRICS)
def test_rows_of_another_table_may_be_found_by_their_equals(metric, rng):
    X = rng.integers(0, 3, (50, 6)).astype(float)
    Y = np.vstack([X[:20], rng.integers(0, 3, (11, 6))])
    rows, among = tall(X, [20, 30]), tall(Y, [6, 25])
    indices, distances = gathered(
        distributed_neighbors(rows, 4, metric=metric, among=among)
    )
    expected, _ = nearest_rows(X, 4, metric=metric, among=Y)
    assert_allclose(distances, expected, atol=1e-12)
    assert (distances[:20, 0] < 1e-12).all()
    everything = distributed_neighbors(rows, 99, metric=metric, among=among)
    indices, _ = gathered(everything)
    assert_array_equal(np.sort(indices, axis=1), np.tile(np.arange(31), (50, 1)))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("cell_rows", [10_000, 12])
def test_one_table_may_be_sparse(metric, cell_rows, rng, monkeypatch):
    monkeypatch.setattr(module, "CELL_ROWS", cell_rows)
    X, Y = (rng.integers(0, 3, (n, 6)).astype(float) for n in (30, 60))
    how = {"metric": metric, "wanted_recall": 1.0}
    results = [
        gathered(distributed_neighbors(tall(A, [30]), 4, among=in_blocks(B, 3), **how))
        for A, B in [(X, Y), (sp.csr_array(X), Y), (X, sp.csr_array(Y))]
    ]
    for _, distances in results[1:]:
        assert_allclose(distances, results[0][1], atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "correlation", "hamming"])
@pytest.mark.parametrize("cell_rows", [10_000, 12])
def test_absent_rows_neither_ask_nor_are_found(metric, cell_rows, rng, monkeypatch):
    monkeypatch.setattr(module, "CELL_ROWS", cell_rows)
    X = rng.integers(0, 5, (90, 6)).astype(float)
    there = rng.random(90) < 0.6
    there[30:60] = False  # a block without any
    X[~there] = np.nan
    found = distributed_neighbors(
        tall(X, [30, 30, 30]),
        5,
        metric=metric,
        present=tall(there, [30, 30, 30]),
        wanted_recall=1.0,
    )
    indices, distances = gathered(found)
    assert (indices[~there] == -1).all()
    assert np.isinf(distances[~there]).all()
    few, few_distances = gathered(
        distributed_neighbors(in_blocks(X[there], 2), 5, metric=metric)
    )
    assert_array_equal(indices[there], np.flatnonzero(there)[few])
    assert_array_equal(distances[there], few_distances)


def test_absent_rows_of_another_table_are_not_found(rng):
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((30, 3))
    there = np.arange(30) % 3 > 0
    known = tall(there, [10, 20])
    rows, among = tall(X, [20]), tall(Y, [10, 20])
    found = distributed_neighbors(rows, 99, among=among, among_present=known)
    expected, at = nearest_rows(X, 20, among=Y[there])
    indices, distances = gathered(found)
    assert_allclose(distances, expected, rtol=1e-12)
    assert_array_equal(indices, np.flatnonzero(there)[at])


def test_k_is_clipped_to_the_rows_that_are_there(rng):
    X, there = rng.standard_normal((9, 2)), np.arange(9) < 4
    present = tall(there, [5, 4])
    indices, _ = gathered(distributed_neighbors(tall(X, [5, 4]), 8, present=present))
    assert indices.shape == (9, 3)
    none = tall(np.arange(9) < 1, [5, 4])
    indices, _ = gathered(distributed_neighbors(tall(X, [5, 4]), 8, present=none))
    assert indices.shape == (9, 0)
    nobody = tall(np.zeros(9, dtype=bool), [5, 4])
    found = distributed_neighbors(
        tall(X, [5, 4]), 8, present=nobody, among=tall(X, [9])
    )
    indices, distances = gathered(found)
    assert (indices == -1).all()
    assert np.isinf(distances).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_all_cells_have_what_one_cell_has(metric, kind, rng, small_cells, monkeypatch):
    X = rng.integers(0, 4, (900, 12)).astype(float)
    X = sp.csr_array(X) if kind == "sparse" else X
    monkeypatch.setattr(module, "SAMPLE", 900)  # every row says how many cells it takes
    cut = distributed_neighbors(in_blocks(X, 4), 5, metric=metric, wanted_recall=1.0)
    assert cut.recall == 1.0
    assert 1 < cut.n_probes <= cut.n_cells <= 5
    monkeypatch.setattr(module, "CELL_ROWS", 10_000)
    whole = distributed_neighbors(in_blocks(X, 3), 5, metric=metric)
    assert_allclose(gathered(cut)[1], gathered(whole)[1], atol=1e-15)


def test_measured_recall_is_that_of_all_rows(rng):
    """60,000 rows in cells of 1,000, compared with all pairs for some of them."""
    X = clustered(rng, 60_000, 16, spread=1.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CELL_ROWS", 1000)
        found = distributed_neighbors(in_blocks(X, 7), 10)
    assert 0.99 <= found.recall < 1.0
    assert found.n_probes < found.n_cells / 2
    indices, distances = gathered(found)
    assert (indices != np.arange(len(X))[:, None]).all()
    assert (np.diff(np.sort(indices, axis=1), axis=1) > 0).all()
    some = rng.permutation(len(X))[:2000]
    bounds, _ = nearest_rows(X[some], 11, among=X)  # themselves among them
    lengths = np.linalg.norm(X[indices[some]] - X[some, None], axis=2)
    assert_allclose(distances[some], lengths, rtol=1e-12)
    right = distances[some] <= bounds[:, -1:] * (1 + 1e-6)
    assert abs(right.mean() - found.recall) < 0.01


def test_more_cells_are_asked_until_the_recall_is_reached(rng, small_cells):
    """Rows without any structure: their neighbours are in many cells."""
    X = rng.standard_normal((3000, 10))
    wanted = (0.1, 0.9, 0.99, 1.0)
    found = [distributed_neighbors(in_blocks(X, 5), 8, wanted_recall=w) for w in wanted]
    probes = [one.n_probes for one in found]
    assert probes[0] == 1 < probes[1] < probes[2] < probes[3] <= found[0].n_cells
    for one, least in zip(found, wanted, strict=True):
        assert one.recall >= least
        assert abs(true_recall(X, *gathered(one), 8) - one.recall) < 0.03
    assert found[0].recall < 0.6  # one cell would not have been enough


def test_same_seed_same_answer(rng, small_cells):
    X = rng.standard_normal((2000, 6))
    first, again, other = (
        distributed_neighbors(in_blocks(X, 3), 5, wanted_recall=0.9, seed=seed)
        for seed in (0, 0, 1)
    )
    assert_array_equal(gathered(first)[0], gathered(again)[0])
    assert first.recall == again.recall != other.recall


def test_many_copies_of_a_row_are_divided_and_few_are_kept(rng, small_cells):
    """No task has more rows than two cells, and the first copies are found."""
    X = np.vstack([np.zeros((1500, 5)), rng.standard_normal((1500, 5))])
    X = X[rng.permutation(3000)]
    copies = np.flatnonzero((X == 0).all(axis=1))
    came, stayed = [], []
    put_on_shelf = module._shelf

    def watched(pieces, k):
        rows, numbers = put_on_shelf(pieces, k)
        came.append(sum(len(piece[1]) for piece in pieces))
        stayed.append((rows == 0).all(axis=1).sum())
        return rows, numbers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_shelf", watched)
        found = distributed_neighbors(in_blocks(X, 4), 3)
        indices, distances = gathered(found)
    assert sum(came) == 3000
    assert max(came) <= 2 * 200 + 4  # blocks take turns each from the first shelf on
    assert max(stayed) == 4
    assert (distances[copies] == 0).all()
    assert_array_equal(indices[copies[3:]], np.tile(copies[:3], (1497, 1)))


def test_few_rows_in_a_cell_are_made_up_by_other_cells(rng, monkeypatch):
    """Even a row that is alone in its cell has k neighbours."""
    monkeypatch.setattr(module, "CELL_ROWS", 10)
    X = np.vstack([rng.standard_normal((200, 3)), 100 * rng.standard_normal((5, 3))])
    found = distributed_neighbors(in_blocks(X, 3), 30, wanted_recall=0.0)
    indices, distances = gathered(found)
    assert (indices >= 0).all()
    assert np.isfinite(distances).all()


def test_few_rows_may_be_asked_by_many(rng, monkeypatch):
    monkeypatch.setattr(module, "MOST_ASKING", 100)
    X, Y = rng.standard_normal((1000, 4)), rng.standard_normal((30, 4))
    found = distributed_neighbors(in_blocks(X, 20), 3, among=tall(Y, [30]))
    expected, _ = nearest_rows(X, 3, among=Y)
    assert_allclose(gathered(found)[1], expected, rtol=1e-12)


def test_stages_are_reported(rng, small_cells):
    told = []
    with listening(told.append):
        distributed_neighbors(in_blocks(rng.standard_normal((900, 4)), 3), 4)
    names = {line.split(":")[0] for line in told}
    assert names == {"cells", "recall", "nearest rows"}


@pytest.mark.parametrize(
    "wrong", [{"metric": "minkowski"}, {"k": 0}, {"wanted_recall": 1.5}]
)
def test_arguments_are_checked_before_any_work(wrong):
    given = {"rows": Tall((), ()), "k": 3, **wrong}
    with pytest.raises(GraphfoldError, match=next(iter(wrong))):
        distributed_neighbors(given.pop("rows"), given.pop("k"), **given)


def test_a_cluster_finds_what_threads_find(rng, small_cells, workers):
    X = clustered(rng, 2000, 16)
    with dask.config.set(scheduler="threads"):
        alone = gathered(distributed_neighbors(in_blocks(X, 4), 6))
    assert current_client() is workers
    found = distributed_neighbors(in_blocks(X, 4), 6)
    assert found.n_cells > 5
    for part, expected in zip(gathered(found), alone, strict=True):
        assert_array_equal(part, expected)
