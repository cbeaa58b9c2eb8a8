"""New cells by the model of a reference: the estimator's own transform."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

anndata = pytest.importorskip("anndata")

from graphfold import NeighborGraph, ad  # noqa: E402
from graphfold.errors import GraphfoldError, LabelError  # noqa: E402


@pytest.fixture
def cells(adata):
    """Reference and new cells, and the edges from the new ones."""
    old, new = adata[:180].copy(), adata[180:].copy()
    return old, new, sp.csr_array(adata.obsp["connectivities"])[180:][:, :180]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"use_rep": "X_pca"},
        {"landmarks": 50},
        {"mask_var": "highly_variable", "kernel": "linear"},
        {"graph": NeighborGraph(5), "use_rep": "X_pca"},
    ],
    ids=["default", "representation", "landmarks", "some genes", "recipe"],
)
@pytest.mark.parametrize("linked", [False, True], ids=["features", "edges"])
def test_it_is_the_estimators_transform(cells, settings, linked):
    old, new, edges = cells
    ad.graph_kernel_pca(old, 3, keep_model=True, **settings)
    given = edges if linked else None
    assert ad.transform(new, old, edges=given) is None
    X = new.obsm["X_pca"] if "use_rep" in settings else new.X
    if "mask_var" in settings:
        X = X[:, np.asarray(new.var["highly_variable"])]
    fitted = ad.model(old)
    expected = fitted.transform(X, node_ids=new.obs_names, edges=given)
    assert_array_equal(new.obsm["X_graphfold"], expected)
    params = new.uns["graphfold"]["params"]
    assert (params["placed_by"], params["n_comps"]) == ("graphfold", 3)


def test_cells_of_the_reference_keep_their_place(cells, tmp_path):
    old, new, _ = cells
    ad.graph_kernel_pca(old, 3, key_added="mine", keep_model=True)
    old.write_h5ad(tmp_path / "reference.h5ad")
    reference = anndata.read_h5ad(tmp_path / "reference.h5ad", backed="r")
    again = ad.transform(old, reference, key="mine", key_added="again", copy=True)
    assert_array_equal(again.obsm["again"], old.obsm["mine"])
    assert "again" not in old.obsm
    ad.transform(new, reference, key="mine")
    new.write_h5ad(tmp_path / "new.h5ad")
    assert "mine" in anndata.read_h5ad(tmp_path / "new.h5ad").obsm
    reference.file.close()


def test_a_reference_may_come_from_zarr(cells, tmp_path):
    pytest.importorskip("zarr")
    old, new, _ = cells
    ad.graph_kernel_pca(old, 3, keep_model=True)
    ad.transform(new, old)
    old.write_zarr(tmp_path / "reference.zarr")
    ad.transform(new, anndata.read_zarr(tmp_path / "reference.zarr"), key_added="read")
    assert_array_equal(new.obsm["read"], new.obsm["X_graphfold"])


def test_a_reference_does_not_lose_its_model(cells):
    old, _, _ = cells
    ad.graph_kernel_pca(old, 3, keep_model=True)
    with pytest.raises(GraphfoldError, match="its model would be lost"):
        ad.transform(old, old)
    ad.transform(old, old, key_added="again")
    again = ad.transform(old, old, copy=True)
    for Z in (old.obsm["again"], again.obsm["X_graphfold"]):
        assert_array_equal(Z, ad.model(old).embedding_)


def test_genes_are_met_by_name(cells):
    old, new, _ = cells
    ad.graph_kernel_pca(old, 3, keep_model=True)
    ad.transform(new, old)
    order = np.random.default_rng(0).permutation(new.n_vars)
    shuffled = new[:, order].copy()
    ad.transform(shuffled, old, key_added="shuffled")
    assert_allclose(shuffled.obsm["shuffled"], new.obsm["X_graphfold"], atol=1e-6)
    with pytest.raises(GraphfoldError, match="765 variables of the fit; 5 are missing"):
        ad.transform(new[:, 5:].copy(), old)


@pytest.mark.parametrize("kind", ["matrix", "list", "dict"])
def test_cells_of_a_file_are_placed_by_blocks(cells, tmp_path, monkeypatch, kind):
    old, new, edges = cells
    ad.graph_kernel_pca(old, 3, keep_model=True)
    if kind == "list":
        found = sp.coo_array(edges)
        ends = new.obs_names[found.row], old.obs_names[found.col]
        edges = list(zip(*ends, found.data.tolist(), strict=True))
    elif kind == "dict":
        edges = {"connectivities": edges}
    ad.transform(new, old, edges=edges)
    new.write_h5ad(tmp_path / "new.h5ad")
    backed = anndata.read_h5ad(tmp_path / "new.h5ad", backed="r")
    monkeypatch.setattr("graphfold.stores.NUMBERS", 765 * 25)
    monkeypatch.setattr("graphfold.stores.CHUNK", 765 * 5)
    ad.transform(backed, old, edges=edges, key_added="blocks")
    assert_allclose(
        backed.obsm["blocks"], new.obsm["X_graphfold"], rtol=1e-4, atol=1e-5
    )
    backed.file.close()


def test_failures_leave_no_trace(cells):
    old, new, _ = cells
    ad.graph_kernel_pca(old, 3)
    with pytest.raises(GraphfoldError, match="keep_model=True"):
        ad.transform(new, old)
    with pytest.raises(GraphfoldError, match=r"key must name .* graphfold"):
        ad.transform(new, old, key="none")
    ad.graph_kernel_pca(old, 3, keep_model=True)
    new.obs_names = old.obs_names[: new.n_obs]  # barcodes of another section
    with pytest.raises(LabelError, match="give new rows new labels"):
        ad.transform(new, old)
    new.obs_names = [f"new-{i}" for i in range(new.n_obs)]
    with pytest.raises(GraphfoldError, match="key_added must be a name"):
        ad.transform(new, old, key_added=3)
    assert "X_graphfold" not in new.obsm and "graphfold" not in new.uns
