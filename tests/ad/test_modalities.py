"""MuData: the multi-modal estimator's numbers, and cells that miss a modality."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")

from graphfold import MultiModalGraphEmbedding, ad  # noqa: E402
from graphfold.errors import GraphfoldError  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:mudata"),
]
N = 120


def modality(rng, n_vars, prefix, group):
    X = np.maximum(rng.standard_normal((N, n_vars)) + 2 * group[:, None], 0)
    found = anndata.AnnData(X)
    found.obs_names = [f"cell{i}" for i in range(N)]
    found.var_names = [f"{prefix}{i}" for i in range(n_vars)]
    return found


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    return {
        "rna": modality(rng, 12, "g", group),
        "protein": modality(rng, 5, "p", group),
    }


def together(parts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mudata.MuData(dict(parts))


def test_the_numbers_are_those_of_the_estimator(parts):
    mdata = together(parts)
    assert ad.multi_modal_graph_embedding(mdata, 3) is None
    model = MultiModalGraphEmbedding(3, random_state=0)
    model.fit({name: part.X for name, part in parts.items()})
    assert_array_equal(mdata.obsm["X_graphfold"], model.embedding_)
    found = mdata.uns["graphfold"]
    assert list(found["mode_names"]) == ["rna", "protein"]
    assert_array_equal(found["mode_weights"], model.mode_weights_)
    assert_array_equal(mdata.obsm["graphfold_contributions"], model.mode_contributions_)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_cells_may_miss_a_modality(parts, make):
    for part in parts.values():
        part.X = make(part.X)
    order = np.random.default_rng(1).permutation(N)[:90]
    parts["protein"] = parts["protein"][order].copy()
    mdata = together(parts)
    ad.multi_modal_graph_embedding(mdata, 2)
    place = {name: i for i, name in enumerate(parts["protein"].obs_names)}
    rows = [place.get(name, -1) for name in mdata.obs_names]
    X = parts["protein"].X
    dense = X.toarray() if sp.issparse(X) else X
    protein = np.where(np.array(rows)[:, None] >= 0, dense[rows], np.nan)
    missing = np.isnan(protein).all(axis=1)
    assert missing.sum() == N - 90
    contributions = mdata.obsm["graphfold_contributions"]
    assert not contributions[missing, 1].any()
    assert (contributions[~missing, 1] > 0).all()
    if make is np.asarray:
        model = MultiModalGraphEmbedding(2, random_state=0)
        model.fit({"rna": parts["rna"][mdata.obs_names].X, "protein": protein})
        assert_array_equal(mdata.obsm["X_graphfold"], model.embedding_)


def test_a_sparse_modality_with_missing_cells_is_not_made_dense(parts, monkeypatch):
    for part in parts.values():
        part.X = sp.csr_matrix(part.X)
    parts["rna"] = parts["rna"][:100].copy()
    mdata = together(parts)
    shapes = []
    original = sp.csr_array.toarray

    def watched(self, *arguments, **named):
        shapes.append(self.shape)
        return original(self, *arguments, **named)

    monkeypatch.setattr(sp.csr_array, "toarray", watched)
    ad.multi_modal_graph_embedding(mdata, 2)
    wide = [columns for rows, columns in shapes if rows > 2]
    assert not {5, 12} & set(wide)


def test_representations_and_layers_by_modality(parts):
    parts["rna"].obsm["X_pca"] = parts["rna"].X[:, :3]
    parts["protein"].layers["raw"] = 2 * parts["protein"].X[:, ::-1]
    mdata = together(parts)
    ad.multi_modal_graph_embedding(
        mdata, 2, use_rep={"rna": "X_pca"}, layer={"protein": "raw"}
    )
    model = MultiModalGraphEmbedding(2, random_state=0).fit(
        {"rna": parts["rna"].X[:, :3], "protein": parts["protein"].layers["raw"]}
    )
    assert_array_equal(mdata.obsm["X_graphfold"], model.embedding_)
    params = mdata.uns["graphfold"]["params"]
    assert params["use_rep"] == {"rna": "X_pca"}


def chain(n):
    near = np.ones(n - 1)
    return sp.csr_matrix(sp.diags_array([near, near], offsets=[-1, 1]))


def test_graphs_of_modalities_and_of_all_cells(parts, tmp_path):
    parts["protein"] = parts["protein"][20:].copy()
    parts["protein"].obsp["connectivities"] = chain(100)
    mdata = together(parts)
    mdata.obsp["wnn"] = chain(N)
    keys = {"protein": "connectivities", "joint": "wnn"}
    ad.multi_modal_graph_embedding(mdata, 2, graph_keys=keys, keep_model=True)
    found = mdata.uns["graphfold"]
    assert list(found["mode_names"]) == ["rna", "protein", "joint"]
    fitted = ad.model(mdata)
    names = list(mdata.obs_names)
    rows = [names.index(name) for name in parts["protein"].obs_names]
    known = fitted.graph_["protein"].to_scipy()
    assert_array_equal(known[rows][:, rows].toarray(), chain(100).toarray())
    assert known.nnz == chain(100).nnz
    assert_array_equal(fitted.graph_["joint"].to_scipy().toarray(), chain(N).toarray())
    mdata.write_h5mu(tmp_path / "cells.h5mu")
    read = mudata.read_h5mu(tmp_path / "cells.h5mu")
    assert read.uns["graphfold"]["params"]["graph_keys"] == keys
    assert_array_equal(ad.model(read).embedding_, mdata.obsm["X_graphfold"])


def test_one_key_for_all(parts):
    for part in parts.values():
        part.obsp["connectivities"] = chain(N)
    mdata = together(parts)
    ad.multi_modal_graph_embedding(mdata, 2, graph_keys="connectivities")
    assert list(mdata.uns["graphfold"]["mode_names"]) == ["rna", "protein"]
    mdata.obsp["wnn"] = chain(N)
    ad.multi_modal_graph_embedding(mdata, 2, graph_keys=["wnn"])
    assert list(mdata.uns["graphfold"]["mode_names"]) == ["rna", "protein", "wnn"]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_new_cells_are_placed(parts, make):
    for part in parts.values():
        part.X = make(part.X)
        part.obsp["connectivities"] = chain(N)
    mdata = together(parts)
    mdata.obsp["wnn"] = chain(N)
    old, new = mdata[:100].copy(), mdata[100:].copy()
    keys = {"rna": "connectivities", "joint": "wnn"}
    ad.multi_modal_graph_embedding(old, 2, graph_keys=keys, keep_model=True)
    copy = ad.transform(new, old, copy=True)
    expected = ad.model(old).transform({k: p.X for k, p in new.mod.items()})
    assert_array_equal(copy.obsm["X_graphfold"], expected)
    assert "X_graphfold" not in new.obsm
    # without a modality, and with its variables in another order
    some = together({"rna": new["rna"][:, ::-1].copy()})
    ad.transform(some, old)
    alone = ad.model(old).transform({"rna": new["rna"].X})
    assert_allclose(some.obsm["X_graphfold"], alone)


def test_a_view_becomes_actual_and_its_parent_stays(parts):
    mdata = together(parts)
    view = mdata[:100]
    ad.multi_modal_graph_embedding(view, 2)
    assert not view.is_view and view.obsm["X_graphfold"].shape == (100, 2)
    assert "X_graphfold" not in mdata.obsm and "graphfold" not in mdata.uns


def test_copies_and_failures(parts):
    mdata = together(parts)
    copy = ad.multi_modal_graph_embedding(mdata, 2, copy=True, key_added="mine")
    assert {"mine", "mine_contributions"} <= set(copy.obsm.keys())
    for settings, message in [
        ({"use_rep": {"atac": "X"}}, "use_rep must name modalities among rna, protein"),
        ({"use_rep": "X_none"}, "use_rep must name an entry of obsm of modality 'rna'"),
        ({"graph_keys": "none"}, "graph_keys must name matrices in obsp"),
        ({"graph_keys": {"rna": "none"}}, "graph_keys must name matrices in obsp"),
        ({"n_components": 2}, "use n_comps"),
    ]:
        with pytest.raises(GraphfoldError, match=message):
            ad.multi_modal_graph_embedding(mdata, 2, **settings)
    assert "graphfold" not in mdata.uns and "X_graphfold" not in mdata.obsm
    with pytest.raises(GraphfoldError, match="mdata must be a MuData; got AnnData"):
        ad.multi_modal_graph_embedding(parts["rna"])
    with pytest.raises(GraphfoldError, match="got a MuData"):
        ad.graph_kernel_pca(mdata)
    nested = together({"both": mdata, "rna": parts["rna"]})
    with pytest.raises(GraphfoldError, match="must be AnnData; 'both' is a MuData"):
        ad.multi_modal_graph_embedding(nested)
    ad.multi_modal_graph_embedding(mdata, 2, keep_model=True)
    with pytest.raises(GraphfoldError, match="edges must be None for a MuData"):
        ad.transform(mdata, mdata, edges=np.eye(N), key_added="again")
