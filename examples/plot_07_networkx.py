"""
A graph whose nodes have names
==============================

Your graph comes from networkx and its nodes have names. Perhaps there are features of
the nodes, perhaps there is nothing but the graph. How is it embedded, and how is it
drawn?
"""

# %%
# Nothing but a graph
# -------------------
#
# Marriages between families of Florence around 1430. ``Graph`` takes the networkx graph
# as it is, names included.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from graphfold import Graph, GraphKernelPCA, LaplacianEigenmaps, plot, quality

marriages = Graph(nx.florentine_families_graph())
print(marriages)

# %%
# :class:`~graphfold.LaplacianEigenmaps` needs the graph only. The table says who the
# rows are, by its index; what is in it does not matter here. The first and the third
# component are drawn, since in the second the Medici and the Acciaiuoli coincide.

families = pd.DataFrame({"marriages": marriages.degrees}, index=marriages.nodes)
eigenmaps = LaplacianEigenmaps(3, graph=marriages).fit(families)

fig, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
plot.graph(
    eigenmaps,
    labels=families.index,
    components=(0, 2),
    colours=[plot.COLOURS[0]] * len(families),
    ax=ax,
    title="Families of Florence, linked by marriage",
)
ax.margins(0.1)
plt.show()

# %%
# A graph and features
# --------------------
#
# A karate club that split into two: who was friends with whom is known, and so is who
# went with whom. The features are made up: twenty answers of each member, which depend
# a little on the side that the member took.

network = nx.karate_club_graph()
network = nx.relabel_nodes(network, {i: f"member {i + 1}" for i in network})
friends = Graph(network)
side = pd.Series(nx.get_node_attributes(network, "club"))

rng = np.random.default_rng(0)
lean = rng.choice([-0.7, 0.7], 20)
answers = np.outer(side == "Officer", lean) + rng.standard_normal((len(side), 20))
members = pd.DataFrame(answers, index=side.index)

models = {
    "Answers alone": GraphKernelPCA(2, kernel="linear"),
    "Answers and friends": GraphKernelPCA(2, kernel="linear", graph=friends),
}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, (title, model) in zip(axes, models.items(), strict=True):
    plot.graph(model.fit(members), friends, side, ax=ax, title=title)
plt.show()

# %%
# What was learned
# ----------------
#
# A classifier that is to tell the side of a member from two numbers, five folds:

told = {
    title: cross_val_score(LogisticRegression(), model.embedding_, side).mean()
    for title, model in models.items()
}
print(
    f"{told['Answers alone']:.0%} of the members are told by their answers, "
    f"{told['Answers and friends']:.0%} by answers and friends."
)
print(quality.graph_gain(members, friends, random_state=0))
