"""
Layers of a tissue, from an AnnData
===================================

Spots on a tissue section are near each other or far apart, and neighbours are mostly of
the same kind. PCA of the counts does not know that. With ``graphfold.ad`` the same
step of a scanpy workflow listens to the places of the spots; do the layers of the
tissue come out better?
"""

# %%
# Two sections
# ------------
#
# Simulated: two sections of five curved layers, spots on a hexagonal grid, 300 genes.
# Each layer has a few genes of its own, and few counts are seen of any.

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scanpy as sc
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from graphfold import ad, plot

rng = np.random.default_rng(0)
n_layers, n_genes = 5, 300


def hexagonal(side):
    row, column = np.divmod(np.arange(side * side), side)
    return np.column_stack([column + 0.5 * (row % 2), row * np.sqrt(0.75)])


def section(name, bend):
    places = hexagonal(26)
    x, y = (places / places.max(axis=0)).T
    depth = y + bend * np.sin(np.pi * x)
    depth = (depth - depth.min()) / np.ptp(depth)
    layer = np.minimum((depth * n_layers).astype(int), n_layers - 1)
    mean = base * np.exp(own[layer]) * rng.gamma(4, 1 / 4, (len(places), 1))
    spots = anndata.AnnData(sp.csr_matrix(rng.poisson(mean).astype(np.float32)))
    spots.obs_names = [f"{name}-{i}" for i in range(len(places))]
    spots.obs["layer"] = pd.Categorical([f"layer {i + 1}" for i in layer])
    spots.obsm["spatial"] = places
    return spots


base = rng.gamma(1, 0.3, n_genes)
own = np.zeros((n_layers, n_genes))
for i in range(n_layers):
    own[i, rng.choice(n_genes, 12, replace=False)] = 1.2

adata = anndata.concat(
    {"section A": section("A", 0.3), "section B": section("B", -0.2)}, label="section"
)
print(adata)

# %%
# The usual steps, and one more
# -----------------------------
#
# ``spatial_neighbors`` links each spot to those around it, section by section: with
# ``batch_key`` no edge goes from one to the other, though their coordinates overlap.

sc.pp.normalize_total(adata)
sc.pp.log1p(adata)
sc.pp.pca(adata, n_comps=10)

ad.spatial_neighbors(adata, n_neighbors=6, batch_key="section")
ad.graph_kernel_pca(adata, n_comps=10, kernel="linear")
print(adata.uns["graphfold"]["formula"])

# %%
# Results are where scanpy looks for them: ``obsm["X_graphfold"]``, loadings of the
# genes in ``varm["graphfold"]``, parameters in ``uns["graphfold"]``.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
colours = dict(zip(adata.obs["layer"].cat.categories, plot.COLOURS, strict=False))
for ax, basis, title in (
    (axes[0], "X_pca", "PCA"),
    (axes[1], "X_graphfold", "graph kernel PCA"),
):
    sc.pl.embedding(
        adata,
        basis=basis,
        color="layer",
        palette=colours,
        ax=ax,
        title=title,
        size=25,
        legend_loc="none" if basis == "X_pca" else "right margin",
        frameon=False,
        show=False,
    )
plt.show()

# %%
# Clusters on the tissue
# ----------------------
#
# Leiden's clusters, from either representation by the same steps; the resolution is
# raised until there are as many clusters as layers. Each cluster has the colour of the
# layer that most of its spots are from.

for name in ("pca", "graphfold"):
    sc.pp.neighbors(adata, use_rep=f"X_{name}", key_added=f"near_{name}")
    for resolution in np.arange(0.1, 2, 0.05):
        sc.tl.leiden(
            adata,
            resolution=resolution,
            neighbors_key=f"near_{name}",
            key_added=name,
            flavor="igraph",
            n_iterations=2,
            directed=False,
        )
        if adata.obs[name].nunique() >= n_layers:
            break

fig, axes = plt.subplots(2, 3, figsize=(9, 5.6), layout="constrained")
titles = {"layer": "Truth", "pca": "PCA", "graphfold": "graph kernel PCA"}
for row, (name, spots) in zip(
    axes, adata.obs.groupby("section", observed=True).groups.items(), strict=True
):
    places = adata[spots].obsm["spatial"]
    for ax, (column, title) in zip(row, titles.items(), strict=True):
        counts = pd.crosstab(adata.obs[column], adata.obs["layer"])
        mostly = counts.idxmax(axis=1).to_dict()
        shown = [colours[mostly[spot]] for spot in adata.obs.loc[spots, column]]
        ax.scatter(*places.T, c=shown, s=24, linewidths=0)
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.set_title(title if name == "section A" else "", fontsize=11, loc="left")
    row[0].set_ylabel(name)
plt.show()

# %%
# What was learned
# ----------------
#
# The adjusted Rand index of clusters and layers; 1 is perfect, 0 chance.

index = {
    name: adjusted_rand_score(adata.obs["layer"], adata.obs[name])
    for name in ("pca", "graphfold")
}
print(
    f"{adata.obs['pca'].nunique()} clusters from PCA have an index of "
    f"{index['pca']:.2f}, {adata.obs['graphfold'].nunique()} from graph kernel PCA one "
    f"of {index['graphfold']:.2f}."
)

# sphinx_gallery_thumbnail_number = 2
