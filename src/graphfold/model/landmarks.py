"""Which rows are landmarks: uniform, means of others, spread out, by leverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphfold.arrays import Array, inverse_root
from graphfold.equal_rows import row_fingerprints
from graphfold.kernels import Kernel
from graphfold.model.centres import k_means_centres

#: how rows of X are chosen; "k-means" makes rows of their own
CHOICES_OF_ROWS = ("uniform", "k-means++", "leverage")
CHOICES = ("auto", "uniform", "k-means", "k-means++", "leverage")
#: rows looked at for each landmark, where not all can be
CANDIDATES = 20
#: rows that a kernel's width is read from, where all are not
BINDING = 2000


class Chosen(NamedTuple):
    """Landmarks, and the rows that the widths of kernels are read from.

    These are the landmarks themselves where they are rows of X. Means lie nearer to
    each other than rows do, so of them it is rows chosen uniformly, as many.
    """

    rows: Any
    typical: Any


def uniform_rows(fingerprints: Array, count: int, seed: int) -> Array:
    """Indices of ``count`` distinct rows, a choice that no order of the rows changes.

    Rows are ranked by a hash of their content, so the choice among all rows of a
    stream does not depend on the order in which they came, nor does the order of the
    chosen, which is that of the ranks. Copies count once.
    """
    ranks = hash_ranks(fingerprints, seed)
    order = np.argsort(ranks, kind="stable")
    ranked = ranks[order]
    distinct = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    return np.asarray(order[distinct][:count])


def hash_ranks(fingerprints: Array, seed: int) -> Array:
    """The fingerprints mixed with a seed: every bit depends on every other."""
    bits = fingerprints + np.uint64((0x9E3779B97F4A7C15 * (seed + 1)) % 2**64)
    for shift, multiplier in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(multiplier)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def choose_landmarks(
    X: Any,
    count: int,
    how: str,
    kernels: Sequence[Kernel],
    rng: np.random.Generator,
    fingerprints: Array | None = None,
) -> Chosen:
    """The landmarks for X: some of its rows, or centres of k-means."""
    if how == "k-means":
        seed = int(rng.integers(2**31))
        known = row_fingerprints(X) if fingerprints is None else fingerprints
        return centres_of(X[uniform_rows(known, CANDIDATES * count, seed)], count)
    rows = X[choose_rows(X, count, how, kernels, rng, fingerprints)]
    return Chosen(rows, rows)


def centres_of(candidates: Any, count: int) -> Chosen:
    """Centres of candidates that come in the order of their ranks, and are distinct."""
    if candidates.shape[0] <= count:
        return Chosen(candidates, candidates)
    return Chosen(k_means_centres(candidates, count), candidates[:count])


def choose_rows(
    X: Any,
    count: int,
    how: str,
    kernels: Sequence[Kernel],
    rng: np.random.Generator,
    fingerprints: Array | None = None,
) -> Array:
    """Indices of the landmarks among the rows of X.

    "uniform" takes any; "k-means++" rows far from each other; "leverage" rows that
    others cannot stand for. The last two look at twenty rows for each landmark.
    """
    seed = int(rng.integers(2**31))
    known = row_fingerprints(X) if fingerprints is None else fingerprints
    if how == "uniform":
        return uniform_rows(known, count, seed)
    candidates = uniform_rows(known, CANDIDATES * count, seed)
    if len(candidates) <= count:
        return candidates
    chosen = best_candidates(X[candidates], count, how, kernels, rng, seed)
    return np.asarray(candidates[np.unique(chosen)])


def best_candidates(
    rows: Any,
    count: int,
    how: str,
    kernels: Sequence[Kernel],
    rng: np.random.Generator,
    seed: int,
) -> Array:
    """Places of the landmarks among candidates that were chosen by their content."""
    if how == "k-means++":
        # imported here: it would double the import time of the package
        from sklearn.cluster import kmeans_plusplus

        return np.asarray(kmeans_plusplus(rows, count, random_state=seed)[1])
    # bound to rows chosen by their content: no order of the rows has a say
    kernel = kernels[0].bind(rows[:BINDING], rng)
    scores = leverage_scores(kernel, rows, rows[: 2 * count])
    return rng.choice(rows.shape[0], count, replace=False, p=scores / scores.sum())


def leverage_scores(kernel: Kernel, rows: Any, pilots: Any) -> Array:
    """How much of each row some pilots cannot stand for: its ridge leverage.

    (k(x, x) - k_xz (K_zz + mu I)^-1 k_zx) / mu with mu the mean of k(z, z): near 0 for
    a row in a crowd, above it for one that is like no other.
    """
    K = np.asarray(kernel.gram(pilots), dtype=np.float64)
    own = np.asarray(kernel.diagonal(rows), dtype=np.float64)
    mu = float(np.abs(np.diagonal(K)).mean()) or 1.0
    root = inverse_root(K + mu * np.eye(len(K)), 1e-14)
    seen = np.asarray(kernel.block(rows, pilots), dtype=np.float64) @ root
    left = own - np.square(seen).sum(axis=1)
    return np.maximum(left / mu, 1e-12)
