"""
Rows that come in batches
=========================

Rows keep coming, each batch with edges to what came before, and the model is to be used
at any time. ``partial_fit`` takes them in, and ``drift_`` says whether the newest ones
are still like the others.
"""

# %%
# A stream that changes
# ---------------------
#
# Six batches of digits. The first four show 0, 1, 2 and 3 only; in the last two other
# digits appear.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from graphfold import GraphKernelPCA, datasets, plot

digits = datasets.load_digits()
usual = np.flatnonzero(digits.target <= 3)
others = np.flatnonzero(np.isin(digits.target, [4, 6, 7]))
batches = [*np.split(usual[:600], 4), *np.split(others[:300], 2)]

# %%
# An edge comes with the batch that brings its last end: edges between a new row and a
# row that has come before, or another new one.

graph = digits.graph.to_scipy()


def edges_of(batch, seen):
    """Pairs of names, from the rows of a batch to all rows so far."""
    known = np.concatenate([seen, batch])
    found = graph[batch][:, known].tocoo()
    ends = digits.labels[batch[found.row]], digits.labels[known[found.col]]
    return list(zip(*ends, strict=True))


# %%
# Take in, and ask
# ----------------
#
# ``partial_fit`` needs ``landmarks``: rows through which the kernel is seen. Here they
# are 100 rows that are at hand when the stream begins, none of which is in it.
# ``partial_fit`` returns at once; the answer is worked out when something is asked of
# the model, here its embedding. If the newest batch is news to the landmarks, a
# ``DriftWarning`` says so. The loop collects these warnings.

model = GraphKernelPCA(2, landmarks=digits.data[usual[600:700]], graph_strength=10)
seen = np.array([], dtype=int)
pictures, messages = {}, []
for number, batch in enumerate(batches):
    model.partial_fit(
        digits.data[batch],
        node_ids=digits.labels[batch],
        edges=edges_of(batch, seen),
    )
    seen = np.concatenate([seen, batch])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pictures[number] = model.embedding_, digits.target[seen]
    messages += [f"batch {number}: {warning.message}" for warning in caught]

fig, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, number in zip(axes, (0, 3, 5), strict=True):
    Z, classes = pictures[number]
    title = f"After batch {number}: {len(Z)} rows"
    plot.embedding(Z, classes, ax=ax, title=title)
plt.show()

# %%
# Has the stream changed?
# -----------------------

print("\n".join(messages))

# %%
# ``lost`` is the share of a batch that the landmarks do not see, ``shift`` how far its
# mean lies from that of all rows.

drift = model.drift_
fig, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for name, colour in (("lost", plot.COLOURS[4]), ("shift", plot.COLOURS[0])):
    values = getattr(drift, name)
    ax.plot(drift.batches, values, "o-", color=colour)
    ax.annotate(
        name,
        (drift.batches[-1], values[-1]),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        color=colour,
    )
ax.set(xlabel="batch", ylabel="lost, shift", ylim=0)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# What was learned
# ----------------
#
# The remedy is to have as many landmarks chosen anew, among all rows that have come.

model.set_params(landmarks=100)
print(
    f"Of the first batches {drift.lost[:4].mean():.0%} were lost, of the last two "
    f"{drift.lost[4:].mean():.0%}; with landmarks chosen anew "
    f"{model.drift_.lost[:4].mean():.0%} and {model.drift_.lost[4:].mean():.0%}."
)

# sphinx_gallery_thumbnail_number = 2
