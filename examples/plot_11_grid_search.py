"""
Cross-validation with a graph
=============================

In cross-validation rows are cut into folds, and a graph of all rows has to be cut with
them: links to test rows must not be there when the model is fitted. A graph with
labelled nodes does that by itself, so ``GridSearchCV`` can choose ``graph_strength``
together with everything else.
"""

# %%
# Rows that carry their names
# ---------------------------
#
# The rows are noisy digits in a DataFrame, whose index has the names of the nodes. The
# graph has been made from the clean images and so knows what the noise hides.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline

from graphfold import GraphKernelPCA, datasets, plot

digits = datasets.load_digits()
rng = np.random.default_rng(0)
some = rng.choice(len(digits.data), 600, replace=False)
names = digits.labels[some]
noisy = digits.data[some] + 8 * rng.standard_normal((len(some), 64))
X = pd.DataFrame(noisy, index=names)
y = digits.target[some]
graph = digits.graph.subgraph(names)
print(graph)

# %%
# A pipeline and a grid
# ---------------------
#
# Each fold gets the graph of its own training rows. Test rows are placed by their
# features and by their edges to training rows, never by edges among themselves.

pipeline = Pipeline(
    [
        ("embed", GraphKernelPCA(graph=graph, scaling="unit")),
        ("tell", LogisticRegression(max_iter=1000)),
    ]
)
grid = {
    "embed__n_components": [5, 10, 20],
    "embed__graph_strength": [0, 0.1, 0.3, 1, 3, 10],
}
train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
search = GridSearchCV(pipeline, grid, cv=folds).fit(train, y_train)
print(search.best_params_)

# %%
# What the grid says
# ------------------

table = pd.DataFrame(search.cv_results_)
fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
places = np.arange(len(grid["embed__graph_strength"]))
for colour, (d, part) in zip(
    plot.COLOURS, table.groupby("param_embed__n_components"), strict=False
):
    part = part.sort_values("param_embed__graph_strength")
    mean = part.mean_test_score.to_numpy()
    error = part.std_test_score.to_numpy() / np.sqrt(folds.n_splits)
    ax.plot(places, mean, "o-", color=colour, label=f"{d} components")
    ax.fill_between(places, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
ax.set_xticks(places, [f"{value:g}" for value in grid["embed__graph_strength"]])
ax.set(xlabel="graph_strength", ylabel="accuracy over 5 folds")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower center")
plt.show()

# %%
# What was learned
# ----------------

without = clone(search.best_estimator_).set_params(embed__graph_strength=0)
without = without.fit(train, y_train).score(test, y_test)
best = search.score(test, y_test)
print(
    f"On {len(test)} rows that the search has not seen, accuracy is {best:.2f} with "
    f"strength {search.best_params_['embed__graph_strength']:g} and {without:.2f} "
    "without the graph."
)
