"""
New rows, with and without their edges
======================================

A model has been fitted and new rows arrive. They may come with edges to rows that the
model knows (a new paper cites old ones), or with features alone. How near does
``transform`` place them to where a fit of everything would have put them?
"""

# %%
# Twelve hundred digits are fitted, the others come later. The graph names all of them;
# the fit uses the part of it that joins its own rows.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier

from graphfold import GraphKernelPCA, datasets, plot

digits = datasets.load_digits()
X = pd.DataFrame(digits.data, index=digits.labels)
y = digits.target
shuffled = np.random.default_rng(0).permutation(len(X))
old, new = shuffled[:1200], shuffled[1200:]

model = GraphKernelPCA(8, graph=digits.graph).fit(X.iloc[old])

# %%
# Three ways to get coordinates
# -----------------------------
#
# * The index of the DataFrame says which nodes the new rows are, so the graph's edges
#   between them and the rows of the fit are used.
# * ``edges=[]`` says that nothing is known but the features. (A list of ``(row, node)``
#   would give edges that no graph has seen.)
# * The yardstick is a fit of all rows, its axes turned to those of the model by
#   ``align_to``.

with_edges = model.transform(X.iloc[new])
without_edges = model.transform(X.iloc[new], edges=[])
full = GraphKernelPCA(8, graph=digits.graph, align_to=model).fit(X).embedding_

# %%
# The same new rows, drawn three times; grey are the rows of the fit.

fig, axes = plt.subplots(
    1, 3, figsize=(10, 3.6), layout="constrained", sharex=True, sharey=True
)
panels = {
    "Placed with edges": with_edges,
    "Placed by features": without_edges,
    "In a fit of all rows": full[new],
}
for ax, (title, Z) in zip(axes, panels.items(), strict=True):
    ax.scatter(*model.embedding_[:, :2].T, s=4, color="0.85", linewidths=0)
    plot.embedding(Z, y[new], ax=ax, title=title)
plt.show()

# %%
# How far off?
# ------------
#
# The distance of each new row from its place in the fit of all rows, as a share of the
# typical distance of a row from the middle.

size = np.sqrt((full**2).sum(axis=1).mean())
errors = {
    "with edges": np.linalg.norm(with_edges - full[new], axis=1) / size,
    "features alone": np.linalg.norm(without_edges - full[new], axis=1) / size,
}

fig, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for (name, error), colour in zip(errors.items(), plot.COLOURS, strict=False):
    share = np.arange(1, len(error) + 1) / len(error)
    ax.plot(np.sort(error), share, color=colour, linewidth=2, label=name)
ax.set(xlabel="error", ylabel="share of new rows below it", xlim=0, ylim=(0, 1.01))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# What was learned
# ----------------
#
# A classifier that was trained on the rows of the fit reads the new ones.

classifier = KNeighborsClassifier(5).fit(model.embedding_, y[old])
print(
    f"With their edges new rows are off by {np.median(errors['with edges']):.0%}, and "
    f"{classifier.score(with_edges, y[new]):.1%} of the digits are told; by features "
    f"alone they are off by {np.median(errors['features alone']):.0%}, and "
    f"{classifier.score(without_edges, y[new]):.1%} are told."
)

# sphinx_gallery_thumbnail_number = 2
