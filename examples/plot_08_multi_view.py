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
from sklearn.neighbors import KNeighborsClassifier

from graphfold import MultiModalGraphEmbedding, datasets, plot

digits = datasets.load_digits()
names = pd.Index(digits.labels)
y = pd.Series(digits.target, index=names)
waves = np.abs(np.fft.rfft2(digits.images)).reshape(len(names), -1)
views = {
    "upper half": pd.DataFrame(digits.data[:, :32], index=names),
    "lower half": pd.DataFrame(digits.data[:, 32:], index=names),
    "Fourier": pd.DataFrame(waves, index=names),
}

old, new = names[:1500], names[1500:]
rng = np.random.default_rng(0)
without = pd.Index(rng.choice(old, 500, replace=False))
known = {name: table.loc[old] for name, table in views.items()}
known["upper half"] = known["upper half"].drop(without)
print({name: table.shape for name, table in known.items()})

# %%
# One embedding
# -------------

model = MultiModalGraphEmbedding(20).fit(known)
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
plt.show()

# %%
# How much each view counts
# -------------------------
#
# ``mode_weights_`` are the weights of the views in the whole; ``mode_contributions_``
# say the same of each sample.

ax = plot.weights(model, title="Learned weights")
plt.show()

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
# Each new digit is told by its five nearest neighbours among the known samples. For
# comparison, the same with a model of one view only.


def told(fitted, Z):
    known_digits = y[fitted.sample_labels_]
    classifier = KNeighborsClassifier(5).fit(fitted.embedding_, known_digits)
    return classifier.score(Z, y[new])


accuracy = {name: told(model, Z) for name, Z in placed.items()}
alone = {}
for name, table in known.items():
    fitted = MultiModalGraphEmbedding(20).fit({name: table})
    alone[name] = told(fitted, fitted.transform({name: views[name].loc[new]}))
table = pd.DataFrame({"placed by": accuracy, "model of one view": alone})
print(table.round(2).to_string(na_rep=""))

# %%

best = accuracy.pop("all three")
one = f"{min(accuracy.values()):.0%} to {max(accuracy.values()):.0%}"
only = f"{min(alone.values()):.0%} to {max(alone.values()):.0%}"
print(
    f"Placed by all three views, {best:.0%} of the new digits are told; by one view "
    f"{one}, about as many as by a model of that view only ({only})."
)
