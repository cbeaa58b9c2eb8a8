"""The exact search in blocks: what one call of scikit-learn finds."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from graphfold.neighbors import search
from graphfold.neighbors.search import METRICS, nearest_rows


@pytest.fixture
def in_blocks(monkeypatch):
    """Blocks of 512 rows, for trees too."""
    monkeypatch.setattr(search, "_BLOCK_NUMBERS", 1)
    monkeypatch.setattr(search, "_ROWS_OF_TREE", 1)


@pytest.fixture
def X(rng):
    return rng.integers(0, 3, (1300, 20)).astype(float)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_columns", [3, 20])
@pytest.mark.parametrize("themselves", [True, False])
def test_blocks_find_what_one_call_finds(
    X, rng, metric, n_columns, themselves, in_blocks, monkeypatch
):
    """Many rows are equal where there are 3 columns, none where there are 20."""
    X = X[:, :n_columns]
    if n_columns == 20:
        X = X + rng.standard_normal(X.shape) / 10
    among = None if themselves else X[:700]
    found = nearest_rows(X, 5, metric=metric, among=among)
    monkeypatch.setattr(search, "_BLOCK_NUMBERS", 2**60)
    whole = nearest_rows(X, 5, metric=metric, among=among)
    assert_allclose(found[0], whole[0], atol=1e-7)
    assert found[0].dtype == whole[0].dtype
    if n_columns == 20 and metric not in ("hamming", "jaccard"):  # no ties
        assert_array_equal(found[1], whole[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_row_finds_itself_also_among_many_copies(rng, dtype, in_blocks):
    X = np.repeat(rng.standard_normal((5, 20)), 300, axis=0).astype(dtype)
    distances, indices = nearest_rows(X, 4)
    assert not (indices == np.arange(len(X))[:, None]).any()
    assert_allclose(distances, 0, atol=1e-3)


def test_sparse_rows_in_blocks(X, in_blocks):
    rows = sp.csr_array(X)
    expected = NearestNeighbors(n_neighbors=5).fit(rows).kneighbors()[0]
    assert_allclose(nearest_rows(rows, 5)[0], expected, atol=1e-9)


def at_odd_bytes(array):
    """The same numbers, held as in the middle of a message."""
    message = np.zeros(array.nbytes + 1, dtype=np.uint8)
    odd = message[1:].view(array.dtype).reshape(array.shape)
    odd[...] = array
    assert not odd.flags.aligned
    return odd


@pytest.mark.parametrize("n_columns", [3, 20])
@pytest.mark.parametrize("metric", METRICS)
def test_rows_may_begin_at_any_byte(X, n_columns, metric):
    """scikit-learn 1.6 ends Python by signal 11 on such tables."""
    X = X[:, :n_columns]
    odd = at_odd_bytes(X)
    for among, held in [(None, None), (X[:700], at_odd_bytes(X[:700]))]:
        expected = nearest_rows(X, 4, metric=metric, among=among)
        found = nearest_rows(odd, 4, metric=metric, among=held)
        assert_array_equal(found, expected)


def test_sparse_rows_may_begin_at_any_byte(X):
    rows = sp.csr_array(X)
    parts = tuple(map(at_odd_bytes, (rows.data, rows.indices, rows.indptr)))
    odd = sp.csr_array(rows.shape)
    odd.data, odd.indices, odd.indptr = parts
    assert_array_equal(nearest_rows(odd, 4), nearest_rows(rows, 4))


def nearest_by_loops(apart, k):
    np.fill_diagonal(apart, np.inf)
    indices = np.argsort(apart, axis=1)[:, :k]
    return np.take_along_axis(apart, indices, axis=1), indices


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_columns_far_from_zero_cost_no_digits(rng, offset):
    """By |x|^2 - 2 x'y + |y|^2 an offset of 1e8 gave every row wrong neighbours."""
    X = rng.standard_normal((200, 20)) + offset
    X[0] = 0.0  # missing, some would write: one row does not spoil the others
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    other = nearest_rows(X[:50], 4, among=X[50:])[0]
    assert_allclose(other, np.sort(apart[:50, 50:], axis=1)[:, :4], rtol=1e-11)
    distances, indices = nearest_rows(X, 4)
    expected = nearest_by_loops(apart, 4)
    assert_allclose(distances, expected[0], rtol=1e-11)
    assert_array_equal(indices, expected[1])


def test_cosines_near_one_are_told_apart(rng):
    """Of 1 - cos = 1e-12 the unit vectors themselves leave four digits."""
    X = rng.standard_normal((200, 20)) + 1e6
    units = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.longdouble)
    apart = ((units[:, None] - units) ** 2).sum(axis=2).astype(float) / 2
    distances, indices = nearest_rows(X, 4, metric="cosine")
    expected = nearest_by_loops(apart, 4)
    assert_allclose(distances, expected[0], rtol=1e-4)
    assert_array_equal(indices, expected[1])


def test_rows_near_zero_are_searched_as_they_are(X):
    """No copy of a table that needs none."""
    assert search._near_zero(X, None)[0] is X


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation"])
@pytest.mark.parametrize("size", [1e-200, 1e160, 1e300])
@pytest.mark.parametrize("n_columns", [3, 20])
def test_squares_may_leave_the_range_of_floats(rng, metric, size, n_columns):
    """Rows of 1e160 had fewer neighbours than asked for, rows of 1e-200 wrong ones."""
    X = rng.standard_normal((60, n_columns))
    distances, indices = nearest_rows(X * size, 4, metric=metric)
    expected = nearest_rows(X, 4, metric=metric)
    assert_array_equal(indices, expected[1])
    unit = size if metric == "euclidean" else 1.0
    assert_allclose(distances / unit, expected[0], rtol=1e-9)
    among = nearest_rows(X[:9] * size, 4, metric=metric, among=X[9:] * size)
    assert_array_equal(among[1], nearest_rows(X[:9], 4, metric=metric, among=X[9:])[1])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, bool])
def test_whole_numbers_far_from_zero_do_not_wrap_around(rng, dtype):
    high = 2 if dtype is bool else 127
    X = np.maximum(rng.integers(0, high, (60, 20)), rng.integers(0, high, (60, 20)))
    X = X.astype(dtype)
    expected = nearest_by_loops(cdist(X.astype(float), X.astype(float)), 3)[0]
    assert_allclose(nearest_rows(X, 3)[0], expected, rtol=1e-7, atol=1e-7)
    other = cdist(X[:9].astype(float), X[9:].astype(float))
    found = nearest_rows(X[:9], 3, among=X[9:])[0]
    assert_allclose(found, np.sort(other, axis=1)[:, :3], rtol=1e-7, atol=1e-7)
