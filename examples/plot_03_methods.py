"""
Which method when
=================

PCA, kernel PCA, Isomap, eigenmaps, local embedding, graph kernel PCA: which one for
your data? They answer different questions. Two data sets whose truth is known show
which: a sheet to unroll, and two surfaces to tell apart.
"""

# %%
# A rolled sheet with a hole
# --------------------------
#
# Each point has a place on the sheet, and the colour shows how far along the roll it
# is. Besides its coordinates in space we know which points were near each other on the
# sheet; the graph of these goes to graph kernel PCA.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, KernelPCA
from sklearn.linear_model import LinearRegression
from sklearn.manifold import Isomap

from graphfold import (
    Graph,
    GraphKernelPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    NeighborGraph,
    datasets,
    kernels,
    plot,
    quality,
)

X, place = datasets.swiss_roll(1200, noise=0.3, random_state=0)
unit = (place - place.min(axis=0)) / np.ptp(place, axis=0)
outside = (np.abs(unit - 0.5) > [0.12, 0.2]).any(axis=1)
X, place, unit = X[outside], place[outside], unit[outside]

methods = {
    "PCA": PCA(2),
    "KernelPCA": KernelPCA(2, kernel="rbf", gamma=0.01),
    "Isomap": Isomap(n_neighbors=10),
    "LaplacianEigenmaps": LaplacianEigenmaps(2),
    "LocalNonlinearEmbedding": LocalNonlinearEmbedding(2, order=1, n_neighbors=12),
    "GraphKernelPCA": GraphKernelPCA(2, graph=NeighborGraph(5).build(place)),
}
sheets = {name: method.fit_transform(X) for name, method in methods.items()}

fig, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
for ax, (name, Z) in zip(axes.flat, sheets.items(), strict=True):
    ax.scatter(*Z.T, c=unit[:, 0], s=5, cmap="viridis", linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title(name, fontsize=11, loc="left")
plt.show()

# %%
# How much of a point's place can be read from two coordinates by a linear model, and
# how far can neighbours be trusted (1 is best)?

unrolled = {
    name: LinearRegression().fit(Z, unit).score(Z, unit) for name, Z in sheets.items()
}
trust = {name: quality.trustworthiness(unit, Z).mean() for name, Z in sheets.items()}
for name in methods:
    print(f"{name:24} place {unrolled[name]:.2f}   trust {trust[name]:.2f}")

# %%
# Isomap unrolls the sheet, hole and all; it is ``kernels.Geodesic()`` in graph kernel
# PCA, too. Local embedding of order 1 (LLE) opens it, bent out of shape. The others
# keep what is large, which is the roll: a graph has a say in which directions are
# kept, it does not unroll.

geodesic = GraphKernelPCA(2, kernel=kernels.Geodesic()).fit_transform(X)
same = LinearRegression().fit(geodesic, unit).score(geodesic, unit)
print(f"GraphKernelPCA with the geodesic kernel: place {same:.2f}")

# %%
# Two surfaces to tell apart
# --------------------------
#
# A plane with a hole (blue) around a knot (orange), in 100 dimensions with noise. For
# each point we have been told two others of the same surface; one in five times these
# are any two. Only graph kernel PCA listens to them here.

X, surface = datasets.two_manifolds("plane", random_state=0)
rng = np.random.default_rng(0)
pairs = []
for i in range(len(X)):
    same = np.flatnonzero(surface == surface[i])
    others = rng.choice(same if rng.random() < 0.8 else len(X), 2, replace=False)
    pairs += [(i, j) for j in others]
told = Graph(pairs, nodes=np.arange(len(X)))
print(told)

methods = {
    "PCA": PCA(2),
    "KernelPCA": KernelPCA(2, kernel="rbf", gamma=0.01),
    "Isomap": Isomap(n_neighbors=10),
    "LaplacianEigenmaps": LaplacianEigenmaps(2),
    "LocalNonlinearEmbedding": LocalNonlinearEmbedding(2),
    "GraphKernelPCA": GraphKernelPCA(2, graph=told, graph_strength=3),
}
surfaces = {name: method.fit_transform(X) for name, method in methods.items()}

fig, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
for ax, (name, Z) in zip(axes.flat, surfaces.items(), strict=True):
    for value, colour in ((0, plot.COLOURS[0]), (1, plot.COLOURS[1])):
        ax.scatter(*Z[surface == value].T, s=7, color=colour, linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title(name, fontsize=11, loc="left")
plt.show()

# %%
# Two clusters by k-means; the error is the share of points in the wrong one.


def wrong(Z):
    clusters = KMeans(2, n_init=10, random_state=0).fit_predict(Z)
    return quality.clustering_error(surface, clusters)


errors = {name: wrong(Z) for name, Z in surfaces.items()}
best_without = min(error for name, error in errors.items() if name != "GraphKernelPCA")
both = LocalNonlinearEmbedding(2, graph=told).fit_transform(X)
errors["LocalNonlinearEmbedding + graph"] = wrong(both)
for name, error in errors.items():
    print(f"{name:31} {error:.2f}")

# %%
# What was learned
# ----------------
#
# .. list-table::
#    :header-rows: 1
#    :widths: 55 45
#
#    * - you want
#      - use
#    * - the largest directions of the data
#      - ``PCA``; ``GraphKernelPCA`` without a graph is kernel PCA
#    * - those that linked rows agree on
#      - ``GraphKernelPCA`` with the graph
#    * - to unroll a curved sheet
#      - Isomap, or ``GraphKernelPCA(kernel=kernels.Geodesic())``
#    * - the graph's own shape, whatever the features
#      - ``LaplacianEigenmaps``
#    * - to tell surfaces apart
#      - ``LocalNonlinearEmbedding``, with links if there are any

print(
    f"To unroll, Isomap is best (place {unrolled['Isomap']:.2f}, graph kernel PCA "
    f"{unrolled['GraphKernelPCA']:.2f}); to tell the surfaces apart, what the links "
    f"say counts most (error {errors['GraphKernelPCA']:.2f} with them, at best "
    f"{best_without:.2f} without)."
)
