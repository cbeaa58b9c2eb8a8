"""
Many rows
=========

Your table has tens of thousands of rows or more, and the matrix of all their
similarities does not fit into memory. ``plan`` says before a fit how it would go about
that and what it would cost, ``landmarks`` makes the cost proportional to the number of
rows, and ``max_memory`` holds a fit to a budget.
"""

# %%
# Sixty thousand rows
# -------------------
#
# Points of a ring, in 30 dimensions and with so much noise that the ring is not seen.
# The graph links each row to a few others from its stretch of the ring.

import time

import matplotlib.pyplot as plt
import numpy as np

from graphfold import Graph, GraphKernelPCA

rng = np.random.default_rng(0)
n = 60_000
angle = np.sort(rng.uniform(0, 2 * np.pi, n))
X = rng.standard_normal((n, 30)).astype(np.float32)
X[:, :2] += 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])

source = np.repeat(np.arange(n), 5)
target = (source + rng.integers(1, n // 20, len(source))) % n
graph = Graph.from_edges(source, target, nodes=np.arange(n))
print(graph)
print(f"a kernel matrix would take {4 * n**2 / 1e9:.0f} GB")

# %%
# Ask before you fit
# ------------------
#
# Nothing is computed here but a probe of the machine's speed. Within 1 GB the exact way
# has to compute the kernel anew, tile by tile, at every product: that needs little
# memory, but time.

exact = GraphKernelPCA(2, graph=graph, graph_strength=3, max_memory="1GB")
print("1 GB:     ", exact.plan(X))

landmarks = GraphKernelPCA(2, graph=graph, graph_strength=3, landmarks=300)
print("landmarks:", landmarks.plan(X))

# %%
# A smaller budget comes to landmarks by itself, to as many as fit.

small = GraphKernelPCA(2, graph=graph, graph_strength=3, max_memory="60MB")
print("60 MB:    ", small.plan(X))

# %%
# Three hundred landmarks
# -----------------------
#
# The kernel is seen through 300 of the rows; the graph stays whole.

start = time.perf_counter()
landmarks.fit(X)
seconds = time.perf_counter() - start
alone = GraphKernelPCA(2, landmarks=300).fit(X)

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
some = rng.choice(n, 6000, replace=False)
for ax, model, title in (
    (axes[0], alone, "Features alone"),
    (axes[1], landmarks, "Features and graph"),
):
    points = ax.scatter(
        *model.embedding_[some].T,
        c=np.degrees(angle[some]),
        s=4,
        linewidths=0,
        cmap="twilight",
        vmin=0,
        vmax=360,
    )
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_title(title, fontsize=11, loc="left")
fig.colorbar(points, ax=axes, label="place on the ring, degrees", ticks=[0, 180, 360])
plt.show()

# %%
# What was learned
# ----------------
#
# How far off is the angle that the picture shows?


def angle_error(Z):
    """Median error in degrees, the picture turned and mirrored as suits it best."""
    seen = np.arctan2(Z[:, 1], Z[:, 0])
    errors = []
    for turned in (seen, -seen):
        gap = np.exp(1j * (turned - angle))
        errors.append(np.median(np.abs(np.angle(gap / gap.mean()))))
    return np.degrees(min(errors))


print(
    f"{n:,} rows were embedded in {seconds:.0f} s; the angle is off by "
    f"{angle_error(landmarks.embedding_):.0f} degrees with the graph and by "
    f"{angle_error(alone.embedding_):.0f} without. The landmarks do not see "
    f"{landmarks.landmark_error_:.0%} of the kernel's variance."
)
