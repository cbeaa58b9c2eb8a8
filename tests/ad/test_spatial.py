"""Cells near each other in their section, and nowhere else."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import kneighbors_graph

anndata = pytest.importorskip("anndata")

from graphfold import ad  # noqa: E402
from graphfold.errors import GraphfoldError  # noqa: E402


def test_neighbours_are_the_nearest_cells(adata):
    assert ad.spatial_neighbors(adata, n_neighbors=4) is None
    found = adata.obsp["spatial_connectivities"]
    chosen = kneighbors_graph(adata.obsm["spatial"], 4).toarray() > 0
    assert_array_equal(found.toarray(), (chosen | chosen.T).astype(float))
    distances = sp.coo_array(adata.obsp["spatial_distances"])
    places = adata.obsm["spatial"]
    expected = np.linalg.norm(places[distances.row] - places[distances.col], axis=1)
    assert_allclose(distances.data, expected)
    assert (distances.toarray() > 0).sum() == found.nnz


def test_sections_may_lie_on_top_of_each_other(adata):
    ad.spatial_neighbors(adata, batch_key="section", n_neighbors=3)
    section = np.asarray(adata.obs["section"])
    edges = sp.coo_array(adata.obsp["spatial_connectivities"])
    assert (section[edges.row] == section[edges.col]).all()
    assert (np.diff(adata.obsp["spatial_connectivities"].indptr) >= 3).all()
    left = adata[section == "left"].copy()
    whole = left.obsp["spatial_connectivities"]
    ad.spatial_neighbors(left, n_neighbors=3)
    assert_array_equal(whole.toarray(), left.obsp["spatial_connectivities"].toarray())


def test_cells_in_one_place_and_cells_alone():
    adata = anndata.AnnData(np.zeros((4, 1)))
    adata.obsm["spatial"] = np.array([[0, 0], [0, 0], [3, 0], [9, 9]])
    adata.obs["section"] = ["a", "a", "a", "b"]
    ad.spatial_neighbors(adata, batch_key="section", n_neighbors=1)
    linked = adata.obsp["spatial_connectivities"].toarray()
    assert linked[0, 1] == linked[1, 0] == 1
    assert linked[3].sum() == 0
    adata.obs["section"] = list("abcd")
    with pytest.raises(GraphfoldError, match="two cells in some section"):
        ad.spatial_neighbors(adata, batch_key="section")


def test_keys_are_scanpys(adata, tmp_path):
    copy = ad.spatial_neighbors(adata, key_added="near", batch_key="section", copy=True)
    assert "near_neighbors" not in adata.uns
    noted = copy.uns["near_neighbors"]
    assert noted["connectivities_key"] == "near_connectivities"
    assert noted["distances_key"] == "near_distances"
    assert noted["params"]["batch_key"] == "section"
    copy.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert read.uns["near_neighbors"]["params"]["n_neighbors"] == 6
    scanpy = pytest.importorskip("scanpy")
    neighbors = scanpy.Neighbors(read, neighbors_key="near_neighbors")
    assert neighbors.connectivities.nnz == copy.obsp["near_connectivities"].nnz


def test_failures_say_what_is_there(adata):
    with pytest.raises(GraphfoldError, match=r"spatial_key must name .* X_pca"):
        ad.spatial_neighbors(adata, spatial_key="places")
    with pytest.raises(GraphfoldError, match="n_neighbors must be between 1"):
        ad.spatial_neighbors(adata, n_neighbors=0)
    with pytest.raises(GraphfoldError, match="key_added must be a name"):
        ad.spatial_neighbors(adata, key_added="")
    adata.obsm["spatial"][3, 1] = np.nan
    with pytest.raises(GraphfoldError, match=f"1 cells, {adata.obs_names[3]}"):
        ad.spatial_neighbors(adata)
    assert "spatial_connectivities" not in adata.obsp
