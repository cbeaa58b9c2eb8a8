"""
Samples described in several ways
=================================

The same samples have been measured by several instruments, each with columns of its own
kind, and not every sample by all of them. ``MultiModalGraphEmbedding`` makes a graph of
each view, learns how much each of them counts, and embeds samples that miss a view
beside those that have all.
"""

# %%
# Three views of the digits
# -------------------------
#
# The upper half of each image, its lower half, and the sizes of its Fourier
# coefficients. The views are tables with the names of the samples as their index, and a
# sample that misses a view is not in its table: a third of them has no upper half.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from graphfold import MultiModalGraphEmbedding, datasets, plot
from graphfold.quality import clustering_error

digits = datasets.load_digits()
names = pd.Index(digits.labels)
y = pd.Series(digits.target, index=names)
waves = np.abs(np.fft.rfft2(digits.images)).reshape(len(names), -1)
views = {
    "upper half": pd.DataFrame(digits.data[:, :32], index=names),
    "lower half": pd.DataFrame(digits.data[:, 32:], index=names),
    "Fourier": pd.DataFrame(waves, index=names),
}

old, new = names[:1300], names[1300:1700]
rng = np.random.default_rng(0)
without = pd.Index(rng.choice(old, 430, replace=False))
known = {name: table.loc[old] for name, table in views.items()}
known["upper half"] = known["upper half"].drop(without)
print({name: table.shape for name, table in known.items()})

# %%
# One embedding
# -------------

model = MultiModalGraphEmbedding(10).fit(known)
samples = pd.Index(model.sample_labels_)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot.embedding(model.embedding_, y[samples], ax=left, title="All samples")
missing = samples.isin(without)
for part, name, colour in (
    (~missing, "all views", "0.75"),
    (missing, "no upper half", plot.COLOURS[4]),
):
    right.scatter(
        *model.embedding_[part, :2].T, s=6, color=colour, linewidths=0, label=name
    )
right.set(xticks=[], yticks=[])
right.set_xlabel(left.get_xlabel(), fontsize=9, color="#555555")
right.set_title("Who misses a view", loc="left", fontsize=11)
right.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False, markerscale=2)

# %%
# How much each view counts
# -------------------------
#
# ``mode_weights_`` are the weights of the views in the whole; ``mode_contributions_``
# say the same of each sample.

ax = plot.weights(model, title="Learned weights")

# %%

shares = pd.DataFrame(
    model.mode_contributions_, index=samples, columns=model.mode_names_
)
print(shares.groupby(np.where(missing, "no upper half", "all views")).mean().round(2))

# %%
# New samples with one view
# -------------------------
#
# ``transform`` takes whichever views there are.

placed = {
    name: model.transform({name: views[name].loc[new]}) for name in model.mode_names_
}
placed["all three"] = model.transform({name: views[name].loc[new] for name in views})

# %%
# What was learned
# ----------------
#
# K-means with ten clusters is asked to find the digits: in one view alone, in the
# embedding, and then for the new samples, which go to the nearest centre.


def clusters_of(Z):
    return KMeans(10, n_init=10, random_state=0).fit(Z)


alone = {}
for name, table in known.items():
    one = MultiModalGraphEmbedding(10).fit({name: table})
    labels = clusters_of(one.embedding_).labels_
    alone[name] = clustering_error(y[one.sample_labels_], labels)
    print(f"{name + ' alone':18} {alone[name]:.2f} of {len(table)} in wrong clusters")
found = clusters_of(model.embedding_)
together = clustering_error(y[samples], found.labels_)
print(f"{'views together':18} {together:.2f} of {len(samples)}")
for name, Z in placed.items():
    error = clustering_error(y[new], found.predict(Z))
    print(f"new, by {name:10} {error:.2f} of {len(new)}")
print(
    f"\nTogether the views leave {together:.0%} of the samples in wrong clusters, the "
    f"best of them alone {min(alone.values()):.0%}; and new samples can do with one."
)
