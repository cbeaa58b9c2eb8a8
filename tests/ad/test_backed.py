"""Files that stay on disk: the same numbers, and memory that does not grow by them."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

anndata = pytest.importorskip("anndata")

from graphfold import GraphKernelPCA, ad  # noqa: E402
from graphfold.errors import BudgetError, GraphfoldError  # noqa: E402
from graphfold.stores import RowStore, row_store  # noqa: E402
from tests.peak import allowance, measure, ring  # noqa: E402

MB = 2**20


@pytest.fixture(params=["dense", "csr"])
def layout(request):
    return request.param


@pytest.fixture
def path(adata, layout, tmp_path):
    X = np.maximum(adata.X, 0)
    adata.X = sp.csr_matrix(X) if layout == "csr" else X
    adata.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


@pytest.fixture
def backed(path):
    found = anndata.read_h5ad(path, backed="r")
    yield found
    found.file.close()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kernel": "linear", "mask_var": "picked"},
        {"landmarks": 60, "batch_key": "section"},
        {"landmarks": 60, "mask_var": "picked", "kernel": "linear"},
    ],
    ids=["exact", "exact, some genes", "landmarks", "landmarks, some genes"],
)
def test_a_file_gives_the_numbers_of_memory(path, backed, settings):
    memory = anndata.read_h5ad(path)
    for cells in (memory, backed):
        cells.var["picked"] = np.asarray(cells.var["dispersions"]) > 1
        ad.graph_kernel_pca(cells, 3, **settings)
    assert backed.isbacked
    expected, found = memory.obsm["X_graphfold"], backed.obsm["X_graphfold"]
    assert found.dtype == expected.dtype
    # blocks of other sizes are summed in another order
    assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())
    assert ("graphfold" in backed.varm) == ("graphfold" in memory.varm)


def test_labels_and_neighbours_of_a_file(path, backed):
    memory = anndata.read_h5ad(path)
    for cells in (memory, backed):
        ad.spatial_neighbors(cells, batch_key="section")
        ad.semi_supervised_graph_kernel_pca(cells, "bulk_labels", 2, landmarks=60)
    expected = memory.obsm["X_graphfold"]
    assert_allclose(
        backed.obsm["X_graphfold"], expected, atol=2e-5 * np.abs(expected).max()
    )


def test_a_file_can_be_asked_for_its_plan(path, backed):
    memory = anndata.read_h5ad(path)
    for landmarks in (None, 60):
        model = GraphKernelPCA(3, landmarks=landmarks)
        expected, found = model.plan(memory.X), model.plan(backed.X)
        assert (found.way, found.storage) == (expected.way, expected.storage)


def test_a_budget_for_nothing_is_refused_and_leaves_no_trace(backed):
    with pytest.raises(BudgetError, match="max_memory must be at least"):
        ad.graph_kernel_pca(backed, 2, max_memory="10KB")
    assert "X_graphfold" not in backed.obsm


def test_results_and_the_file_are_written_together(backed, tmp_path):
    ad.graph_kernel_pca(backed, 2)
    backed.write_h5ad(tmp_path / "written.h5ad")
    read = anndata.read_h5ad(tmp_path / "written.h5ad")
    assert read.obsm["X_graphfold"].shape == (read.n_obs, 2)


def test_what_cannot_hold_results_is_refused(backed):
    with pytest.raises(GraphfoldError, match="copy must be False for a backed file"):
        ad.graph_kernel_pca(backed, 2, copy=True)
    with pytest.raises(GraphfoldError, match="view of a backed file"):
        ad.graph_kernel_pca(backed[:50], 2)


def test_columns_on_disk_are_refused(adata, tmp_path):
    adata.X = sp.csc_matrix(np.maximum(adata.X, 0))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(GraphfoldError, match=r"CSC.*X\.tocsr\(\)"):
        ad.graph_kernel_pca(backed, 2)
    backed.file.close()


def test_zarr_groups_are_read_as_well(tmp_path):
    zarr = pytest.importorskip("zarr")
    io = pytest.importorskip("anndata.io")
    X = sp.random(300, 20, 0.2, format="csr", random_state=0)
    group = zarr.open_group(str(tmp_path / "X.zarr"), mode="w")
    io.write_elem(group, "X", X)
    store = row_store(io.sparse_dataset(group["X"]))
    assert isinstance(store, RowStore)
    assert_array_equal(store[np.array([299, 0, 5])].toarray(), X[[299, 0, 5]].toarray())


# -- memory ---------------------------------------------------------------------------


def large(layout, n, n_columns=4000, filled=400):
    """Many cells, copies of a thousand; of sparse ones a tenth of the genes is seen."""
    rng = np.random.default_rng(0)
    some = 1000
    if layout == "dense":
        return np.tile(rng.random((some, n_columns), dtype=np.float32), (n // some, 1))
    first = rng.integers(10, size=(some, 1))
    columns = (first + 10 * np.arange(filled)).astype(np.int32)
    parts = (
        np.tile(rng.random(columns.size, dtype=np.float32), n // some),
        np.tile(columns.ravel(), n // some),
        np.arange(0, n * filled + 1, filled),
    )
    return sp.csr_matrix(parts, shape=(n, n_columns))


def file_of(layout, n, path):
    cells = anndata.AnnData(large(layout, n))
    cells.var["some"] = np.arange(cells.n_vars) % 3 > 0
    cells.obsp["connectivities"] = sp.csr_matrix(ring(n, 4))
    cells.write_h5ad(path)
    return str(path)


def peaks(layout, n, folder, backed, settings):
    """What a process that has not seen the table before takes for it."""
    return measure(
        {
            "h5ad": file_of(layout, n, folder / "cells.h5ad"),
            "warm": file_of(layout, 1000, folder / "warm.h5ad"),
            "backed": backed,
            "settings": settings,
        }
    )


#: cells, and bytes of each
SIZES = {"dense": (8_000, 16_000), "csr": (40_000, 3_200)}
BUDGET = 40 * MB

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self")


@on_linux
@pytest.mark.parametrize(
    ("layout", "settings"),
    [
        pytest.param("csr", {}, id="csr", marks=pytest.mark.slow),
        pytest.param("dense", {"mask_var": "some"}, id="dense, some genes"),
    ],
)
def test_a_budget_far_below_the_table_is_kept(layout, settings, tmp_path):
    n, row = SIZES[layout]
    found = peaks(layout, n, tmp_path, "r", {"max_memory": BUDGET, **settings})
    allowed = 1.15 * BUDGET + allowance()
    assert allowed < 0.95 * n * row
    assert found.get("measured", np.inf) < allowed, found
    assert "LandmarksChosenWarning" in found["warned"]
    # new cells of a file are placed by blocks, too
    assert found["placed"] < allowed


@on_linux
def test_the_same_fit_in_memory_is_found_out(tmp_path):
    """What the test above measures would fail it, were the table read."""
    n, row = SIZES["csr"]
    found = peaks("csr", n, tmp_path, None, {"landmarks": 30})
    assert found["measured"] > n * row
