"""The verbs for one AnnData: the estimator's numbers, where scanpy's users look."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

from graphfold import (  # noqa: E402
    Graph,
    GraphKernelPCA,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    ad,
    kernels,
    responses,
)
from graphfold.ad.reading import plain  # noqa: E402
from graphfold.errors import GraphfoldError, LabelError  # noqa: E402


def state_of(adata):
    """All that a verb might touch, as text and sums."""
    parts = [sorted(getattr(adata, part).keys()) for part in ("obsm", "varm", "obsp")]
    return parts, sorted(adata.uns), list(adata.obs.columns), adata.X.sum()


def connected(adata, key="connectivities"):
    return {key: Graph.from_anndata(adata, key)}


# -- the same numbers -----------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kernel": "linear", "graph_strength": 2.0},
        {"kernel": "cosine", "response": responses.Diffusion(2.0)},
        {"landmarks": 60},
    ],
    ids=["default", "linear", "response", "landmarks"],
)
def test_the_numbers_are_those_of_the_estimator(adata, settings):
    ad.graph_kernel_pca(adata, 5, **settings)
    model = GraphKernelPCA(5, graph=connected(adata), random_state=0, **settings)
    expected = model.fit_transform(adata.X, node_ids=adata.obs_names)
    assert_array_equal(adata.obsm["X_graphfold"], expected)
    found = adata.uns["graphfold"]
    assert_array_equal(found["eigenvalues"], model.eigenvalues_)
    assert_array_equal(
        found["explained_variance_ratio"], model.explained_variance_ratio_
    )
    assert list(found["graph_names"]) == ["connectivities"]
    assert ("graphfold" in adata.varm) == (settings.get("kernel") == "linear")


def test_a_representation_a_layer_and_a_mask(adata):
    adata.layers["twice"] = 2 * adata.X
    mask = np.asarray(adata.var["dispersions"]) > 1
    adata.var["picked"] = mask
    graph = connected(adata)
    pca = adata.obsm["X_pca"]
    adata.obsm["frame"] = pd.DataFrame(pca, index=adata.obs_names)
    ad.graph_kernel_pca(adata, 3, use_rep="frame", key_added="rep")
    ad.graph_kernel_pca(adata, 3, layer="twice", key_added="layer")
    ad.graph_kernel_pca(
        adata, 3, layer="twice", mask_var="picked", kernel="linear", key_added="mask"
    )
    ad.graph_kernel_pca(
        adata, 3, layer="twice", mask_var=mask, kernel="linear", key_added="array"
    )
    twice = adata.layers["twice"]
    for key, X, kernel in (
        ("rep", pca, "rbf"),
        ("layer", twice, "rbf"),
        ("mask", twice[:, mask], "linear"),
    ):
        model = GraphKernelPCA(3, kernel=kernel, graph=graph, random_state=0)
        expected = model.fit_transform(X, node_ids=adata.obs_names)
        assert_array_equal(adata.obsm[key], expected)
    assert_array_equal(adata.obsm["array"], adata.obsm["mask"])
    assert_array_equal(adata.varm["mask"][mask], model.components_.T)
    assert not adata.varm["mask"][~mask].any()
    assert "rep" not in adata.varm
    assert adata.uns["mask"]["params"]["mask_var"] == "picked"


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_a_sparse_table_is_never_made_dense(adata, make, monkeypatch):
    dense = np.maximum(adata.X, 0)
    model = GraphKernelPCA(3, kernel="linear", graph=connected(adata), random_state=0)
    expected = model.fit_transform(sp.csr_array(dense), node_ids=adata.obs_names)
    adata.X = make(dense)
    wide = []
    original = sp.csr_array.toarray

    def watched(self, *arguments, **named):
        wide.append(self.shape)
        return original(self, *arguments, **named)

    monkeypatch.setattr(sp.csr_array, "toarray", watched)
    ad.graph_kernel_pca(adata, 3, kernel="linear", mask_var=np.ones(765, dtype=bool))
    assert adata.X.shape not in wide
    assert_array_equal(adata.obsm["X_graphfold"], expected)
    assert isinstance(adata.X, make)


def test_a_table_that_is_computed_on_demand_is_computed_once():
    class Lazy:
        """As an array of Dask: numpy cannot read one whose blocks are sparse."""

        asked = 0

        def compute(self):
            self.asked += 1
            return sp.csr_matrix(np.eye(3))

    lazy = Lazy()
    assert_array_equal(plain(lazy).toarray(), np.eye(3))
    assert lazy.asked == 1


def test_several_graphs_get_learned_weights(adata):
    ad.spatial_neighbors(adata)
    graphs = {
        "place": Graph.from_anndata(adata, "spatial_connectivities"),
        "likeness": Graph.from_anndata(adata),
    }
    keys = {"place": "spatial_neighbors", "likeness": "connectivities"}
    ad.graph_kernel_pca(adata, 3, graph_keys=keys)
    model = GraphKernelPCA(3, graph=graphs, random_state=0)
    expected = model.fit_transform(adata.X, node_ids=adata.obs_names)
    assert_array_equal(adata.obsm["X_graphfold"], expected)
    found = adata.uns["graphfold"]
    assert list(found["graph_names"]) == ["place", "likeness"]
    assert_array_equal(found["graph_weights"], model.graph_weights_)
    ad.graph_kernel_pca(adata, 3, graph_keys=list(keys.values()), key_added="list")
    assert_array_equal(adata.obsm["list"], expected)


def test_which_graph_is_meant_where_none_is_named(adata):
    ad.graph_kernel_pca(adata, 2)
    assert list(adata.uns["graphfold"]["graph_names"]) == ["connectivities"]
    ad.spatial_neighbors(adata)
    ad.graph_kernel_pca(adata, 2)
    assert list(adata.uns["graphfold"]["graph_names"]) == ["spatial_connectivities"]
    ad.graph_kernel_pca(adata, 2, graph_keys=[])
    expected = GraphKernelPCA(2, random_state=0).fit_transform(adata.X)
    assert_array_equal(adata.obsm["X_graphfold"], expected)
    assert "graph_names" not in adata.uns["graphfold"]


def test_a_recipe_takes_the_place_of_keys(adata):
    ad.graph_kernel_pca(adata, 2, graph=NeighborGraph(5), use_rep="X_pca")
    model = GraphKernelPCA(2, graph=NeighborGraph(5), random_state=0)
    expected = model.fit_transform(adata.obsm["X_pca"])
    assert_array_equal(adata.obsm["X_graphfold"], expected)
    with pytest.raises(GraphfoldError, match="batch_key must be None"):
        ad.graph_kernel_pca(adata, 2, graph=NeighborGraph(5), batch_key="section")


def test_no_edge_crosses_sections(adata):
    ad.graph_kernel_pca(adata, 3, batch_key="section", keep_model=True)
    matrix = sp.coo_array(adata.obsp["connectivities"])
    section = np.asarray(adata.obs["section"])
    crossing = section[matrix.row] != section[matrix.col]
    assert crossing.any()
    assert adata.uns["graphfold"]["n_edges_across"] == {
        "connectivities": crossing.sum() // 2
    }
    edges = sp.coo_array(ad.model(adata).graph_.to_scipy())
    assert edges.nnz > 0
    assert (section[edges.row] == section[edges.col]).all()
    matrix.data[crossing] = 0
    graph = {"connectivities": Graph(matrix, nodes=adata.obs_names)}
    model = GraphKernelPCA(3, graph=graph, random_state=0)
    expected = model.fit_transform(adata.X, node_ids=adata.obs_names)
    assert_array_equal(adata.obsm["X_graphfold"], expected)


def test_zeros_that_are_stored_are_no_edges_across(adata):
    section = np.asarray(adata.obs["section"])
    matrix = sp.coo_array(adata.obsp["connectivities"])
    matrix.data[section[matrix.row] != section[matrix.col]] = 0
    adata.obsp["stored"] = matrix.tocsr()
    assert (adata.obsp["stored"].data == 0).any()
    ad.graph_kernel_pca(adata, 2, graph_keys="stored", batch_key="section")
    assert adata.uns["graphfold"]["n_edges_across"] == {"stored": 0}


def test_labels_of_some_cells(adata):
    types = adata.obs["bulk_labels"].astype(object).to_numpy().copy()
    types[::2] = None
    adata.obs["known"] = types
    adata.obs["known"] = adata.obs["known"].astype("category")
    ad.semi_supervised_graph_kernel_pca(adata, "known", 3, kernel="linear")
    model = SemiSupervisedGraphKernelPCA(
        3, kernel="linear", graph=connected(adata), random_state=0
    )
    model.fit(adata.X, types, node_ids=adata.obs_names)
    assert_array_equal(adata.obsm["X_graphfold"], model.embedding_)
    assert adata.uns["graphfold"]["constraints"]["n_labelled"] == len(types) // 2
    assert adata.uns["graphfold"]["params"]["labels_key"] == "known"
    pairs = [tuple(adata.obs_names[:2])]
    ad.semi_supervised_graph_kernel_pca(adata, None, 3, must_link=pairs)
    assert adata.uns["graphfold"]["constraints"]["n_labelled"] == 0


# -- where results are ----------------------------------------------------------------


def test_parameters_survive_a_file(adata, tmp_path):
    ad.graph_kernel_pca(
        adata,
        3,
        kernel=[kernels.Gaussian(), "linear"],
        response=responses.Diffusion("auto"),
        gamma=None,
        graph_keys=["connectivities"],
        keep_model=True,
    )
    before = adata.uns["graphfold"]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    after = read.uns["graphfold"]
    assert after.keys() == before.keys()
    params = after["params"]
    assert params.keys() == before["params"].keys()
    assert params["estimator"] == "GraphKernelPCA"
    assert params["response"] == repr(responses.Diffusion("auto"))
    assert params["gamma"] == "None"
    assert (params["n_comps"], params["random_state"]) == (3, 0)
    assert list(params["graph_keys"]) == ["connectivities"]
    assert list(params["kernel"]) == [repr(kernels.Gaussian()), "linear"]
    assert "layer" not in params
    assert_array_equal(after["eigenvalues"], before["eigenvalues"])
    assert_array_equal(ad.model(read).embedding_, adata.obsm["X_graphfold"])


def test_a_mask_is_noted_as_it_was_meant_and_can_be_given_again(adata, tmp_path):
    mask = adata.var["dispersions"] > 1
    ad.graph_kernel_pca(adata, 2, mask_var=mask, graph_keys=["connectivities"])
    assert_array_equal(adata.uns["graphfold"]["params"]["mask_var"], mask)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    params = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["graphfold"]["params"]
    again = {name: params[name] for name in ("mask_var", "graph_keys")}
    ad.graph_kernel_pca(adata, 2, key_added="again", **again)
    assert_array_equal(adata.obsm["again"], adata.obsm["X_graphfold"])


def test_scanpy_finds_the_results(adata, tmp_path):
    scanpy = pytest.importorskip("scanpy")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ad.graph_kernel_pca(adata, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = scanpy.pl.embedding(
            adata, basis="graphfold", color="bulk_labels", return_fig=True, show=False
        )
        # "gauss": the default method compiles itself for half a minute
        scanpy.pp.neighbors(
            adata, use_rep="X_graphfold", key_added="on_graphfold", method="gauss"
        )
    drawn = figure.axes[0].collections[0].get_offsets()
    assert_array_equal(np.sort(drawn[:, 0]), np.sort(adata.obsm["X_graphfold"][:, 0]))
    assert adata.obsp["on_graphfold_connectivities"].nnz > 0
    ad.graph_kernel_pca(adata, 2, graph_keys="on_graphfold", key_added="again")
    assert list(adata.uns["again"]["graph_names"]) == ["on_graphfold"]


def test_landmarks_of_ones_own_are_noted_by_their_shape(adata, tmp_path):
    pairs = [tuple(adata.obs_names[:2]), tuple(adata.obs_names[5:7])]
    ad.semi_supervised_graph_kernel_pca(
        adata, None, 2, landmarks=adata.X[:30].copy(), must_link=pairs
    )
    params = adata.uns["graphfold"]["params"]
    assert params["landmarks"] == "<30 x 765 table>"
    assert adata.obs_names[6] in str(params["must_link"])
    adata.write_h5ad(tmp_path / "cells.h5ad")


def test_key_added_names_all_three(adata):
    ad.graph_kernel_pca(adata, 2, kernel="linear", key_added="mine")
    assert "mine" in adata.obsm and "mine" in adata.varm and "mine" in adata.uns
    assert "X_graphfold" not in adata.obsm


def test_loadings_of_an_earlier_run_do_not_stay(adata):
    ad.graph_kernel_pca(adata, 2, kernel="linear")
    assert "graphfold" in adata.varm
    ad.graph_kernel_pca(adata, 2)
    assert "graphfold" not in adata.varm


# -- copies, views, failures ----------------------------------------------------------


def test_a_copy_is_returned_and_the_original_stays(adata):
    before = state_of(adata)
    found = ad.graph_kernel_pca(adata, 2, copy=True)
    assert state_of(adata) == before
    assert found.obsm["X_graphfold"].shape == (adata.n_obs, 2)
    assert ad.graph_kernel_pca(adata, 2) is None
    assert_array_equal(adata.obsm["X_graphfold"], found.obsm["X_graphfold"])


def test_a_view_becomes_actual_and_its_parent_stays(adata):
    before = state_of(adata)
    view = adata[::2]
    assert ad.graph_kernel_pca(view, 2, copy=True).n_obs == view.n_obs
    assert view.is_view
    with pytest.warns(anndata.ImplicitModificationWarning):
        ad.graph_kernel_pca(view, 2)
    assert not view.is_view
    assert state_of(adata) == before
    graph = {"connectivities": Graph.from_anndata(adata).subgraph(view.obs_names)}
    model = GraphKernelPCA(2, graph=graph, random_state=0)
    expected = model.fit_transform(adata.X[::2], node_ids=view.obs_names)
    assert_array_equal(view.obsm["X_graphfold"], expected)


FAILURES = [
    ({"use_rep": "X_none"}, "use_rep must name .* 'X_none', and there are X_pca"),
    ({"layer": "none"}, "layer must name an entry of adata.layers; .* there are none"),
    ({"mask_var": "none"}, "mask_var must name .* dispersions"),
    ({"mask_var": "means"}, "mask_var must be a column .* True or False"),
    ({"mask_var": np.zeros(765, dtype=bool)}, "mask_var must keep at least one"),
    ({"use_rep": "X_pca", "layer": "x"}, "layer must be None together with use_rep"),
    ({"graph_keys": "none"}, "graph_keys must name .* connectivities, distances"),
    ({"graph_keys": "distances"}, "which are distances"),
    ({"graph_keys": 5}, "graph_keys must be a key of obsp, a list .* got int"),
    ({"graph_keys": sp.eye_array(240)}, "graph_keys must be a key of obsp, a list"),
    ({"graph_keys": np.eye(240)}, "graph_keys must be a key of obsp, a list"),
    ({"batch_key": "none"}, "batch_key must name .* adata.obs; .* bulk_labels"),
    ({"batch_key": "gaps"}, "batch_key must give every cell a section; .* 1 cells"),
    ({"batch_key": "own"}, "all .* edges of 'connectivities' cross"),
    ({"batch_key": "own", "graph_keys": "looped"}, "all .* edges of 'looped' cross"),
    ({"n_comps": 0}, "n_comps must be between 1 and 240"),
    ({"n_components": 3}, "no n_components: use n_comps"),
    ({"nothing": 3}, "no nothing: it has kernel"),
    ({"copy": 1}, "copy must be True or False"),
    ({"keep_model": 1}, "keep_model must be True or False"),
    ({"key_added": 3}, "key_added must be a name"),
    ({"kernel": "nothing"}, "kernel"),
    ({"kernel": lambda x, y: x @ y, "keep_model": True}, "pickle"),
]


@pytest.mark.parametrize(
    ("settings", "message"), FAILURES, ids=[message[:30] for _, message in FAILURES]
)
def test_a_failure_is_one_sentence_and_leaves_no_trace(adata, settings, message):
    adata.obs["gaps"] = ["a"] * 239 + [None]
    adata.obs["own"] = adata.obs_names
    adata.obsp["looped"] = adata.obsp["connectivities"] + sp.eye_array(240)
    before = state_of(adata)
    with pytest.raises(GraphfoldError, match=message):
        ad.graph_kernel_pca(adata, **{"n_comps": 2, **settings})
    assert state_of(adata) == before


def test_what_is_no_anndata_is_refused(adata):
    with pytest.raises(GraphfoldError, match="adata must be an AnnData; got ndarray"):
        ad.graph_kernel_pca(adata.X)
    with pytest.raises(GraphfoldError, match="adata must have X"):
        ad.graph_kernel_pca(anndata.AnnData(obs=adata.obs), graph_keys=[])
    del adata.obsp["connectivities"]
    with pytest.raises(GraphfoldError, match=r"sc\.pp\.neighbors or ad\.spatial"):
        ad.graph_kernel_pca(adata)
    with pytest.raises(GraphfoldError, match="labels_key must name"):
        ad.semi_supervised_graph_kernel_pca(adata, "none", graph_keys=[])


def test_names_that_occur_twice_are_refused(adata):
    names = list(adata.obs_names)
    adata.obs_names = [names[1], *names[1:]]
    with pytest.raises(LabelError, match="obs_names_make_unique"):
        ad.graph_kernel_pca(adata)
