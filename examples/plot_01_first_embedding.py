"""
A first embedding
=================

You have rows of numbers and know which of them are linked. What does an embedding gain
if it listens to the links? Here PCA, kernel PCA and graph kernel PCA draw the same
1,797 handwritten digits.
"""

# %%
# The data come with the library: images of 8 x 8 pixels and a graph that links each of
# them to its ten nearest. The graph has been made from pixels, so it knows no class.

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA, KernelPCA
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from graphfold import GraphKernelPCA, datasets, plot

digits = datasets.load_digits()
print(digits.data.shape)
print(digits.graph)

# %%
# Three embeddings
# ----------------
#
# Nodes of the graph have names, here ``"image0"``, ``"image1"``, ..., and ``node_ids``
# says which row is which node. (For a DataFrame its index says so.)
#
# ``graph_strength=10`` lets the graph weigh ten times what the best direction of the
# data is worth. It suits a picture of two components; the next page of the gallery lets
# the data choose.

ours = GraphKernelPCA(2, graph=digits.graph, graph_strength=10)
ours.fit(digits.data, node_ids=digits.labels)

# scikit-learn's kernel PCA with the same kernel width
width = ours.kernel_.get_params()["gamma"]

embeddings = {
    "PCA": PCA(2).fit_transform(digits.data),
    "KernelPCA": KernelPCA(2, kernel="rbf", gamma=width).fit_transform(digits.data),
    "GraphKernelPCA": ours.embedding_,
}

fig, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, (name, Z) in zip(axes, embeddings.items(), strict=True):
    plot.embedding(Z, digits.target, ax=ax, title=name)
plt.show()

# %%
# How many components?
# --------------------
#
# Two components make a picture. For what comes after, a classifier say, more are
# better, and the scree plot helps to choose. Here the graph has its default strength.
# Shaded components lie so close together that they may be mixed with each other.

wide = GraphKernelPCA(12, graph=digits.graph)
wide.fit(digits.data, node_ids=digits.labels)
ax = plot.scree(wide, title="Twelve components")
plt.show()

# %%
# What was learned
# ----------------
#
# Can a digit be told from its five nearest neighbours in the picture?

classifier = KNeighborsClassifier(5)
accuracy = {
    name: cross_val_score(classifier, Z, digits.target).mean()
    for name, Z in embeddings.items()
}
more = cross_val_score(classifier, wide.embedding_, digits.target).mean()
for name, value in accuracy.items():
    print(f"{name:15} {value:.2f}")
print(
    f"\nTwo components tell {accuracy['GraphKernelPCA']:.0%} of the digits if they "
    f"listen to the graph, and {accuracy['PCA']:.0%} if they are PCA's; twelve that "
    f"listen tell {more:.0%}."
)
