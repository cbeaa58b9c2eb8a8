"""Tables on disk: rows as they are in memory, and memory that does not grow by them."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import (
    GraphKernelPCA,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    stores,
)
from graphfold.equal_rows import row_fingerprints
from graphfold.errors import BudgetError, GraphfoldError
from graphfold.estimators.reading import read_rows
from graphfold.kernels import Cosine, Gaussian, Linear, Pairwise, Polynomial
from graphfold.kernels.degenerate import degeneracy
from graphfold.model.plan import make_plan
from graphfold.stores import (
    CompressedRows,
    RowStore,
    SelectedColumns,
    is_on_disk,
    is_sparse,
    row_store,
)
from tests.peak import OF_A_THREAD, added, measure, on_disk, ring
from tests.peak import rows as rows_of

KINDS = ["memmap", "zarr", "hdf5"]


class ByLandmarks(GraphKernelPCA):
    """An estimator whose plan is the landmark way."""

    def _plan(self, kernels, X, *, timed=False):
        found = list(kernels.values())
        return make_plan(
            found, X, 2, solver="auto", max_memory=None, landmarks=20, timed=timed
        )


@pytest.fixture(params=KINDS)
def kind(request):
    if request.param == "zarr":
        pytest.importorskip("zarr")
    if request.param == "hdf5":
        pytest.importorskip("h5py")
    return request.param


@pytest.fixture
def X(rng):
    return rng.standard_normal((1234, 7)).astype(np.float32)


@pytest.fixture
def table(X, kind, tmp_path):
    return on_disk(X, kind, str(tmp_path))


# -- rows -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        slice(None),
        slice(10, 700),
        slice(None, None, 3),
        slice(900, 100, -7),
        slice(-5, None),
        slice(5, 5),
        np.array([0, 5, 1233]),
        np.array([1233, 0, 5, 5, 999, 1000]),
        np.array([-1, 3]),
        [4, 2],
        np.array([], dtype=int),
    ],
    ids=str,
)
def test_a_selection_is_an_array_in_memory(X, table, rows):
    found = RowStore(table)[rows]
    assert type(found) is np.ndarray
    assert found.dtype == np.float32
    assert_array_equal(found, X[rows])


def test_a_mask_selects_rows(X, table):
    mask = X[:, 0] > 0
    assert_array_equal(RowStore(table)[mask], X[mask])


def test_rows_beyond_the_table_are_refused(table):
    with pytest.raises(IndexError, match="rows must be below 1234"):
        RowStore(table)[np.array([0, 1234])]


def test_a_selection_does_not_write_to_the_file(X, table):
    store = RowStore(table)
    store[:5][:] = 99
    assert_array_equal(store[:5], X[:5])


def test_a_store_knows_its_size(table):
    store = row_store(table)
    assert isinstance(store, RowStore)
    assert (store.shape, store.ndim, len(store)) == ((1234, 7), 2, 1234)
    assert (store.dtype, store.nbytes) == (np.float32, 1234 * 7 * 4)
    assert store.copy() is store
    assert row_store(store) is store
    assert "1234 x 7" in repr(store)


def test_whole_numbers_become_floats(tmp_path, kind, rng):
    X = rng.integers(0, 255, (50, 3)).astype(np.uint8)
    store = row_store(on_disk(X, kind, str(tmp_path)))
    assert store.dtype == store[:3].dtype == np.float64
    assert_array_equal(store.read(), X)


def test_arrays_in_memory_are_no_stores(X, tmp_path):
    assert row_store(X) is X
    table = on_disk(X, "memmap", str(tmp_path))
    assert is_on_disk(table[3:9])
    assert not is_on_disk(table.copy())  # a memmap by its type alone
    assert not is_on_disk(np.asarray([1.0]))
    assert not is_on_disk([[1.0]])


def test_private_pages_keep_what_was_written(X, tmp_path):
    on_disk(X, "memmap", str(tmp_path))
    table = np.memmap(tmp_path / "X", dtype=X.dtype, mode="c", shape=X.shape)
    table[0] = 7
    store = RowStore(table)
    store[:10]
    assert_array_equal(store[:1], np.full((1, 7), 7))


def test_pages_of_a_file_are_let_go(tmp_path):
    if sys.platform != "linux":
        pytest.skip("reads /proc/self")
    X = np.zeros((200_000, 50))
    store = RowStore(on_disk(X, "memmap", str(tmp_path)))
    del X

    def look():
        for _, block in store.blocks():
            block.sum()

    look()
    assert added(look)[0] < 0.6 * store.nbytes


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self")
def test_an_exact_fit_reads_the_table_once(kind, tmp_path):
    found = measure(
        {
            "estimator": "GraphKernelPCA",
            "n": 6000,
            "columns": 1500,
            "settings": {"kernel": "linear", "max_iter": 5},
            "disk": kind,
            "folder": str(tmp_path),
        }
    )
    table = 6000 * 1500 * 8
    assert table < found["planned"] < 1.5 * table
    assert found["measured"] < 1.15 * found["planned"] + OF_A_THREAD < 2 * table


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self")
def test_a_fit_by_landmarks_leaves_the_table_where_it_is(kind, tmp_path):
    X = np.ones((100_000, 100))
    table = on_disk(X, kind, str(tmp_path))
    del X
    read_rows(ByLandmarks(2), table, reset=True)
    size = 100_000 * 100 * 8
    assert added(lambda: read_rows(ByLandmarks(2), table, reset=True))[0] < size / 2


# -- fits -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kernel": "linear"},
        {"kernel": "laplacian"},
        {"graph": NeighborGraph(5)},
        {"max_memory": "8MB", "tol": 1e-4},
    ],
    ids=["gaussian", "linear", "laplacian", "graph", "tiled"],
)
def test_a_fit_is_the_same_as_in_memory(X, table, settings):
    model = GraphKernelPCA(2, **settings)
    expected = model.fit_transform(X)
    assert_allclose(model.fit_transform(table), expected, atol=1e-6)
    assert model.n_features_in_ == 7
    assert_allclose(model.transform(table), model.transform(X), atol=1e-6)
    assert model.plan(table).storage == model.plan(X).storage


def test_the_model_outlives_the_file(X, table, tmp_path):
    model = GraphKernelPCA(2).fit(table)
    assert type(model._X_fit) is np.ndarray
    new = X[:3] + 0.1
    assert_allclose(model.transform(new), GraphKernelPCA(2).fit(X).transform(new))


def test_labels_find_their_rows_on_disk(X, table):
    y = np.where(np.abs(X[:, 0]) > 0.5, X[:, 0] > 0, -1)
    model = SemiSupervisedGraphKernelPCA(2)
    assert_allclose(model.fit(table, y).embedding_, model.fit(X, y).embedding_)


def test_rows_that_are_not_finite_are_named(X, kind, tmp_path):
    X[1100, 3] = np.nan
    with pytest.raises(GraphfoldError, match="rows 1100"):
        GraphKernelPCA(2).fit(on_disk(X, kind, str(tmp_path)))


def test_too_few_rows_are_refused(kind, tmp_path):
    with pytest.raises(GraphfoldError, match="at least 2 rows"):
        GraphKernelPCA(1).fit(on_disk(np.ones((1, 3)), kind, str(tmp_path)))


def test_new_rows_must_have_the_columns_of_the_fit(X, kind, tmp_path):
    model = GraphKernelPCA(2).fit(X)
    with pytest.raises(ValueError, match="features"):
        model.transform(on_disk(X[:, :3], kind, str(tmp_path)))


def test_a_budget_without_room_for_the_rows_is_refused_before_they_are_read(table):
    with pytest.raises(BudgetError, match="max_memory must be at least"):
        GraphKernelPCA(2, max_memory="60KB").fit(table)


def test_where_landmarks_are_planned_the_table_stays_on_disk(table):
    found = read_rows(ByLandmarks(2), table, reset=True)
    assert isinstance(found, RowStore)
    assert found.copy() is found


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(),
        Linear(),
        Cosine(),
        Polynomial(2),
        Pairwise("laplacian", {"gamma": "median"}),
    ],
    ids=repr,
)
def test_kernels_are_bound_and_judged_on_disk(X, table, kernel):
    store = RowStore(table)
    bound = kernel.bind(store, np.random.default_rng(0))
    assert repr(bound) == repr(kernel.bind(X, np.random.default_rng(0)))
    rng = np.random.default_rng(0)
    assert degeneracy(bound, store, rng) is None
    assert_allclose(bound.block(store[:9], X[:5]), bound.block(X[:9], X[:5]))


# -- sparse rows, and some columns ----------------------------------------------------


@pytest.fixture
def S():
    return rows_of(1234, 50, density=0.1)


@pytest.fixture
def compressed(S):
    return CompressedRows(S.data, S.indices, S.indptr, 50)


@pytest.mark.parametrize(
    "rows",
    [
        slice(None),
        slice(10, 700),
        slice(None, None, 3),
        slice(900, 100, -7),
        slice(5, 5),
        np.array([1233, 0, 5, 5, 999, 1000]),
        np.array([-1, 3]),
        np.array([], dtype=int),
    ],
    ids=str,
)
@pytest.mark.parametrize("columns", [None, [7, 3, 40]], ids=["all", "some"])
def test_a_selection_of_sparse_rows_is_sparse(S, compressed, rows, columns):
    source = compressed if columns is None else SelectedColumns(compressed, columns)
    expected = S if columns is None else S[:, columns]
    found = RowStore(source)[rows]
    assert isinstance(found, sp.csr_array)
    assert_array_equal(found.toarray(), expected[rows].toarray())


@pytest.mark.parametrize("columns", [None, [7, 3, 40]], ids=["all", "some"])
def test_sparse_rows_are_read_whole(S, compressed, columns, monkeypatch):
    monkeypatch.setattr(stores, "NUMBERS", 200)  # some fifty blocks and strips
    monkeypatch.setattr(stores, "CHUNK", 20)
    source = compressed if columns is None else SelectedColumns(compressed, columns)
    expected = S if columns is None else S[:, columns]
    store = RowStore(source)
    assert is_sparse(store)
    assert store.nnz == expected.nnz
    assert len(list(store.blocks())) > 2
    found = store.read()
    assert_array_equal(found.toarray(), expected.toarray())
    assert found.has_canonical_format or columns is not None
    nbytes = found.data.nbytes + found.indices.nbytes + found.indptr.nbytes
    assert store.nbytes == pytest.approx(nbytes, rel=0.01)
    assert_array_equal(row_fingerprints(store), row_fingerprints(expected))


def test_some_columns_of_a_dense_table(X, table, monkeypatch):
    monkeypatch.setattr(stores, "NUMBERS", 700)
    store = RowStore(SelectedColumns(table, np.array([5, 0])))
    assert_array_equal(store.read(), X[:, [5, 0]])
    rows = np.array([1200, 3, 77])
    assert_array_equal(store[rows], X[rows][:, [5, 0]])
    assert store[5:5].shape == (0, 2)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kernel": "linear"},
        {"landmarks": 40, "graph": ring(1234)},
        {"kernel": "linear", "landmarks": 40},
    ],
    ids=["gaussian", "linear", "landmarks", "linear landmarks"],
)
def test_a_fit_of_sparse_rows_is_the_same_as_in_memory(S, compressed, settings):
    model = GraphKernelPCA(2, **settings)
    expected = model.fit_transform(S)
    store = RowStore(compressed)
    assert model.plan(store).storage == model.plan(S).storage
    assert_array_equal(model.fit_transform(store), expected)
    assert_allclose(model.transform(store), model.transform(S), atol=1e-12)
