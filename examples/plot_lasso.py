"""
Saying what you know with the lasso
===================================

In a map two groups lie on top of each other, and you know some of the points. The map
that :func:`graphfold.view` writes has a lasso: draw around points, say that they belong
together or apart, save the pairs. How do they get back into the model, and what do a
few of them change?
"""

# %%
# Before
# ------
#
# Threes, fives and eights by their pixels alone.

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from graphfold import GraphKernelPCA, SemiSupervisedGraphKernelPCA, datasets, plot, view

digits = datasets.load_digits()
some = np.isin(digits.target, [3, 5, 8])
X, y, names = digits.data[some], digits.target[some], digits.labels[some]

before = GraphKernelPCA(2).fit(X, node_ids=names)
ax = plot.embedding(before, y, title="Pixels alone")

# %%
# The map
# -------
#
# ``view`` writes one file to open in a browser. There one draws around points (*Lasso*,
# or Shift and drag), presses *Belong together* or *Belong apart*, and *Save pairs*.

folder = Path(tempfile.mkdtemp())
view(
    before,
    folder / "map.html",
    labels={"digit": y},
    images=digits.images[some],
    title="Threes, fives and eights",
)
print(f"map.html: {(folder / 'map.html').stat().st_size / 1e6:.1f} MB")

# %%
# What the lasso saves
# --------------------
#
# A page cannot draw a lasso, so we write the file as the map would have: someone has
# looked at twelve images of each digit. Those that belong together are saved as a
# chain, since must-links are transitive; two groups are kept apart by pairs between
# them.

rng = np.random.default_rng(0)
looked_at = {
    digit: rng.choice(names[y == digit], 12, replace=False).tolist()
    for digit in (3, 5, 8)
}
must_link = [
    [a, b]
    for group in looked_at.values()
    for a, b in zip(group[:-1], group[1:], strict=True)
]
cannot_link = [
    [a, b]
    for one, other in ((3, 5), (3, 8), (5, 8))
    for a in looked_at[one]
    for b in looked_at[other]
]
pairs = {"must_link": must_link, "cannot_link": cannot_link}
(folder / "pairs.json").write_text(json.dumps(pairs))

# %%
# After
# -----
#
# The file has the names of the parameters, so it can be read straight into the model.

links = json.loads((folder / "pairs.json").read_text())
after = SemiSupervisedGraphKernelPCA(2, **links).fit(X, node_ids=names)
print(after.constraint_report_)

# %%
# Large points are those that were looked at. All others move by what they have in
# common with them.

chosen = np.isin(names, sum(looked_at.values(), []))
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, model, title in (
    (axes[0], before, "Pixels alone"),
    (axes[1], after, f"With {chosen.sum()} rows linked"),
):
    plot.embedding(model, y, ax=ax, title=title)
    for colour, digit in zip(plot.COLOURS, (3, 5, 8), strict=False):
        points = model.embedding_[chosen & (y == digit)]
        ax.scatter(*points.T, s=40, color=colour, edgecolors="black", linewidths=0.8)

# %%
# What was learned
# ----------------
#
# The rows that nobody has looked at, told by their five nearest neighbours:

told = [
    cross_val_score(
        KNeighborsClassifier(5), model.embedding_[~chosen], y[~chosen]
    ).mean()
    for model in (before, after)
]
print(
    f"{told[0]:.2f} are told without and {told[1]:.2f} with the pairs, which are about "
    f"{chosen.mean():.0%} of the rows."
)
