"""
Papers that cite each other
===========================

Each paper is a bag of words, and papers cite each other. Do citations help to tell what
a paper is about, and can a new paper be placed by its words and the papers it cites?

The Cora data are not bundled: this page runs where ``GRAPHFOLD_DATA`` names the folder
that holds ``cora.npz``.
"""

# %%
# Words and citations
# -------------------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import TSNE
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

from graphfold import GraphKernelPCA, datasets, plot, quality

cora = datasets.load_cora()
subjects = np.array(
    ["theory", "rewards", "genetic", "neural", "bayes", "cases", "rules"]
)
y = subjects[cora.target]
X = pd.DataFrame(normalize(cora.data), index=cora.labels)
print(X.shape, cora.graph)

# %%
# Do linked papers use the same words, more than by chance?

print(quality.graph_gain(X, cora.graph, random_state=0))

# %%
# Twenty components
# -----------------
#
# PCA of the words, and the same with citations.

settings = {"kernel": "linear", "scaling": "unit"}
words = GraphKernelPCA(20, **settings).fit(X)
both = GraphKernelPCA(20, graph=cora.graph, **settings).fit(X)

# %%
# Two of twenty components show little of seven subjects; t-SNE draws all twenty, for
# five hundred of the papers.

some = np.random.default_rng(0).choice(len(X), 500, replace=False)
fig, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
for ax, model, title in (
    (axes[0], words, "Words"),
    (axes[1], both, "Words and citations"),
):
    layout = TSNE(max_iter=300, random_state=0).fit_transform(model.embedding_[some])
    plot.embedding(layout, y[some], ax=ax, title=title)
    ax.set(xlabel="", ylabel="")
plt.show()

# %%
# New papers
# ----------
#
# A tenth of the papers is kept back. The model is fitted to the others, with the
# citations among these; a new paper is then placed by its words alone, or by its words
# and the papers of the fit that it cites or that cite it.

old, new, y_old, y_new = train_test_split(
    X, y, test_size=0.1, random_state=0, stratify=y
)
words = GraphKernelPCA(20, **settings).fit(old)
both = GraphKernelPCA(20, graph=cora.graph, **settings).fit(old)


def told(model, **how):
    classifier = LogisticRegression(max_iter=2000).fit(model.embedding_, y_old)
    return classifier.score(model.transform(new, **how), y_new)


accuracy = {
    "words alone": told(words),
    "words and citations, but the new paper's are unknown": told(both, edges=[]),
    "words and citations": told(both),
}

# %%
# What was learned
# ----------------

print(f"Subject of {len(new)} new papers told from 20 numbers:")
for name, value in accuracy.items():
    print(f"{value:.2f}  {name}")
gained = accuracy["words and citations"] - accuracy["words alone"]
print(f"\nWith citations {100 * gained:.0f} more in a hundred are told.")

# sphinx_gallery_thumbnail_path = '../examples/thumbnails/citations.png'
