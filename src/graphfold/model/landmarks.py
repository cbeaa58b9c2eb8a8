"""Which rows are landmarks: uniform, spread out, by leverage, or given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfold.arrays import Array, inverse_root, row_projections
from graphfold.kernels import Kernel
from graphfold.kernels.landmarks import landmark_features

CHOICES = ("uniform", "k-means++", "leverage")
#: rows looked at for each landmark, where not all can be
CANDIDATES = 20


def uniform_rows(projections: Array, count: int, seed: int) -> Array:
    """Indices of ``count`` distinct rows, a choice that no order of the rows changes.

    Rows are ranked by a hash of their content, so the choice among all rows of a
    stream does not depend on the order in which they came, nor does the order of the
    chosen, which is that of the ranks. Copies count once.
    """
    ranks = hash_ranks(projections[:, 0], seed)
    order = np.argsort(ranks, kind="stable")
    ranked = ranks[order]
    distinct = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    return np.asarray(order[distinct][:count])


def hash_ranks(numbers: Array, seed: int) -> Array:
    """A 64-bit hash of each number, rounded to seven digits: it may carry rounding."""
    with np.errstate(divide="ignore"):
        exponent = np.where(numbers == 0, 0, np.floor(np.log10(np.abs(numbers))))
    rounded = np.round(numbers * 10.0 ** (7 - exponent)) + 0.0
    bits = np.ascontiguousarray(rounded).view(np.uint64) + np.uint64(
        (0x9E3779B97F4A7C15 * (seed + 1)) % 2**64
    )
    # the finalizer of a well-known generator: every bit depends on every other
    for shift, multiplier in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(multiplier)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def choose_landmarks(
    X: Any,
    count: int,
    how: str,
    kernels: Sequence[Kernel],
    rng: np.random.Generator,
    projections: Array | None = None,
) -> Array:
    """Indices of the landmarks among the rows of X.

    "uniform" takes any; "k-means++" rows far from each other; "leverage" rows that
    others cannot stand for. The last two look at twenty rows for each landmark.
    """
    seed = int(rng.integers(2**31))
    projections = row_projections(X) if projections is None else projections
    if how == "uniform":
        return uniform_rows(projections, count, seed)
    candidates = uniform_rows(projections, CANDIDATES * count, seed)
    if len(candidates) <= count:
        return candidates
    rows = X[candidates]
    if how == "k-means++":
        # imported here: it would double the import time of the package
        from sklearn.cluster import kmeans_plusplus

        _, chosen = kmeans_plusplus(rows, count, random_state=seed)
    else:
        scores = leverage_scores(kernels[0], rows, rows[: 2 * count])
        chosen = rng.choice(
            len(candidates), count, replace=False, p=scores / scores.sum()
        )
    return np.asarray(candidates[np.unique(chosen)])


def leverage_scores(kernel: Kernel, rows: Any, pilots: Any) -> Array:
    """How much of each row the others cannot stand for, as some pilots see it.

    The diagonal of K (K + mu I)^-1 with K through the pilots' features and mu their
    mean eigenvalue: rows in a crowd have small scores.
    """
    features = landmark_features(kernel, pilots, center=False).of(rows)
    wide = features.astype(np.float64)
    gram = wide.T @ wide
    gram[np.diag_indices_from(gram)] += np.trace(gram) / len(gram)
    reduced = wide @ inverse_root(gram, 1e-12)
    return np.asarray(np.square(reduced).sum(axis=1) + 1e-12)
