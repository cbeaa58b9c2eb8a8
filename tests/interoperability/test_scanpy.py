"""A scanpy workflow: neighbours, our embedding, clusters in it, a plot of it."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from graphfold import Graph, GraphKernelPCA, ad

sc = pytest.importorskip("scanpy")
pytest.importorskip("igraph")


@pytest.fixture(scope="module")
def adata():
    """Cells of scanpy's bundled data, clustered in the embedding."""
    adata = sc.datasets.pbmc68k_reduced()
    # the Gaussian weights need no compiler, the default ones take 20 s to be compiled
    sc.pp.neighbors(adata, n_neighbors=15, method="gauss")
    ad.graph_kernel_pca(adata, n_comps=20, kernel="linear")
    sc.pp.neighbors(adata, n_neighbors=15, use_rep="X_graphfold", method="gauss")
    sc.tl.leiden(adata, resolution=0.3, flavor="igraph", n_iterations=2, directed=False)
    return adata


def test_clusters_are_those_of_the_given_cell_types(adata):
    score = adjusted_rand_score(adata.obs["bulk_labels"], adata.obs["leiden"])
    assert score > 0.4
    assert 5 <= adata.obs["leiden"].nunique() <= 15


def test_the_plot_is_written(adata, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    with plt.rc_context({"backend": "agg"}):
        figure = sc.pl.embedding(
            adata,
            basis="X_graphfold",
            color=["bulk_labels", "leiden"],
            show=False,
            return_fig=True,
        )
        figure.savefig(tmp_path / "cells.png")
    assert (tmp_path / "cells.png").read_bytes().startswith(b"\x89PNG")
    assert {axes.get_title() for axes in figure.axes} >= {"bulk_labels", "leiden"}
    plt.close(figure)


def test_estimators_take_what_adata_holds():
    """Without the verbs: tables and graphs straight from the object."""
    adata = sc.datasets.pbmc68k_reduced()
    graph = Graph.from_anndata(adata, "connectivities")
    model = GraphKernelPCA(5, kernel="linear", graph=graph)
    Z = model.fit_transform(adata.to_df())  # labels are obs_names
    copy = ad.graph_kernel_pca(adata, n_comps=5, kernel="linear", copy=True)
    ours = copy.obsm["X_graphfold"]
    overlap = np.linalg.svd(np.linalg.qr(Z)[0].T @ np.linalg.qr(ours)[0])[1]
    assert overlap.min() > 1 - 1e-6
