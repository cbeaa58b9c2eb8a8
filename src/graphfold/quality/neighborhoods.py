"""Does an embedding keep who is near whom? Row by row, never all pairs at once."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array, row_blocks
from graphfold.errors import GraphfoldError
from graphfold.neighbors import find_neighbors
from graphfold.neighbors.approximate import APPROXIMATE_METRICS
from graphfold.neighbors.search import standard_rows, with_marked_zeros
from graphfold.progress import shown
from graphfold.quality.distances import read_rows, squared_distances, squared_lengths
from graphfold.quality.rewiring import random_generator
from graphfold.threads import blocks

_NUMBERS = 2**21  # of a block of distances; each thread holds one
_ROWS = 2**14  # whose neighbours are compared at a time


class KeptNeighbors(NamedTuple):
    """The nearest rows of each row, and whether an embedding kept them.

    Attributes
    ----------
    indices : array of int32 of shape (n, k)
        The nearest rows of X, the nearest first.
    kept : array of bool of shape (n, k)
        Whether that row is also among the k nearest in the embedding.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.quality import neighbors_kept
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]])
    >>> neighbors_kept(X, X[:, :1], n_neighbors=1).kept.ravel().tolist()
    [True, True, True]
    """

    indices: Array
    kept: Array


def neighbors_kept(
    X: Any,
    Z: Any,
    n_neighbors: int = 10,
    *,
    metric: str = "euclidean",
    verbose: int = 0,
) -> KeptNeighbors:
    """The nearest rows of each row of X, and which of them are still near in Z.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, p)
        The rows that were embedded.
    Z : array or DataFrame of shape (n, d)
        Their embedding, in the same order.
    n_neighbors : int, default=10
        How many nearest rows count, in X and in Z.
    metric : {"euclidean", "cosine", "correlation"}, default="euclidean"
        What near means in X; in Z distances are Euclidean.
    verbose : int, default=0
        1 shows on a terminal how far it is, 2 writes lines to the error stream.

    Returns
    -------
    KeptNeighbors
        ``indices`` and ``kept``, both of shape (n, n_neighbors).

    Notes
    -----
    Neighbours are exact where comparing all pairs takes up to some ten seconds, and
    nearly so beyond (99 % of them are found): see
    :func:`graphfold.neighbors.find_neighbors`. Of rows at equal distance the search
    takes any.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.quality import neighbors_kept
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.5]])
    >>> found = neighbors_kept(X, X[:, 1:], n_neighbors=1)
    >>> found.indices.ravel().tolist(), found.kept.ravel().tolist()
    ([1, 0, 3, 2], [False, False, False, False])
    """
    X, Z, k = _read(X, Z, n_neighbors, metric)
    with shown(verbose, "neighbors_kept"):
        indices, near = nearest_others(X, k), nearest_others(Z, k)
    kept = np.empty(indices.shape, dtype=bool)
    for rows in row_blocks(len(indices), _ROWS):
        pairs = indices[rows, :, None] == near[rows, None, :]
        kept[rows] = pairs.any(axis=2)
    return KeptNeighbors(indices, kept)


def neighbor_overlap(
    X: Any,
    Z: Any,
    n_neighbors: int = 10,
    *,
    metric: str = "euclidean",
    verbose: int = 0,
) -> Array:
    """Share of the nearest rows in X that are among the nearest in Z, row by row.

    1 where an embedding keeps the whole neighbourhood of a row; about n_neighbors / n
    where it is random. See :func:`neighbors_kept` for the arguments.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.quality import neighbor_overlap
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> float(neighbor_overlap(X, 2 * X).mean())
    1.0
    >>> bool(neighbor_overlap(X, X[:, :2]).mean() < 0.7)
    True
    """
    how: dict[str, Any] = {"metric": metric, "verbose": verbose}
    kept = neighbors_kept(X, Z, n_neighbors, **how).kept
    return np.asarray(kept.mean(axis=1))


def trustworthiness(
    X: Any,
    Z: Any,
    n_neighbors: int = 10,
    *,
    metric: str = "euclidean",
    sample: int | None = 2000,
    random_state: Any = None,
    verbose: int = 0,
) -> Array:
    """How far each row can trust its neighbours in an embedding.

    A row that is among the k nearest of row i in Z, but not in X, is an intruder. With
    its rank r in X (1 is the nearest) it costs r - k, and row i has the trust

        1 - 2 / (k (2n - 3k - 1)) * sum over the intruders of (r - k),

    which is 1 without intruders and 0 at worst. The mean over all rows is the
    trustworthiness that scikit-learn knows.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, p)
        The rows that were embedded.
    Z : array or DataFrame of shape (n, d)
        Their embedding, in the same order.
    n_neighbors : int, default=10
        k, below n / 2.
    metric : {"euclidean", "cosine", "correlation"}, default="euclidean"
        What near means in X; in Z distances are Euclidean.
    sample : int or None, default=2000
        Where there are more rows than this, ranks are counted among so many rows
        drawn at random, and None counts them among all rows. Who is an intruder is
        not estimated, only its rank, and that without bias: a mean over rows is right
        on average, a single row may even fall slightly below 0.
    random_state : int, RandomState or Generator, default=None
        Of the sample; None is one fixed number.
    verbose : int, default=0
        1 shows on a terminal how far it is, 2 writes lines to the error stream.

    Returns
    -------
    array of shape (n,)

    Notes
    -----
    The rank of a row counts rows that are strictly nearer, so that rows at equal
    distance all have the best rank among them. Costs n * sample distances, in blocks.

    References
    ----------
    Venna and Kaski (2001), "Neighborhood preservation in nonlinear projection methods:
    an experimental study".

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.quality import trustworthiness
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> bool(np.isclose(trustworthiness(X, 2 * X).min(), 1.0))
    True
    >>> trust = trustworthiness(X, X[:, :1])
    >>> trust.shape, bool(trust.mean() < 0.9)
    ((200,), True)
    """
    X, Z, k = _read(X, Z, n_neighbors, metric)
    n = X.shape[0]
    if 2 * k >= n:
        raise GraphfoldError(
            f"n_neighbors must be below half of the {n} rows; got {n_neighbors}"
        )
    if sample is not None:
        sample = check.integer_between("sample", sample, 2 * k + 2, 2**62)
    rng = random_generator(random_state)
    with shown(verbose, "trustworthiness"):
        near = nearest_others(Z, k)
        if sample is None or n <= sample:
            count = partial(_cost_among_all, X, squared_lengths(X), near, k)
            cost = _costs(count, n, n)
        else:
            chosen = np.sort(rng.choice(n, sample, replace=False))
            count = partial(_cost_among_sample, X, chosen, near, nearest_others(X, k))
            cost = _costs(count, n, sample)
    return np.asarray(1 - cost * 2 / (k * (2 * n - 3 * k - 1)))


# -- rows and the nearest of them ----------------------------------------------


def _read(X: Any, Z: Any, n_neighbors: Any, metric: Any) -> tuple[Any, Any, int]:
    """Both tables, X such that its distances are Euclidean, and how many are near."""
    check.one_of("metric", metric, APPROXIMATE_METRICS)
    X, Z = read_rows("X", X), read_rows("Z", Z)
    n = X.shape[0]
    if Z.shape[0] != n:
        raise GraphfoldError(
            f"Z must have a row for each of the {n} rows of X; got {Z.shape[0]}"
        )
    k = check.integer_between("n_neighbors", n_neighbors, 1, n - 1, f"X has {n} rows")
    if metric != "euclidean":
        X = with_marked_zeros(standard_rows(X, metric))
    elif not sp.issparse(X):
        X = X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)  # keeps digits
    return X, Z, k


def nearest_others(X: Any, k: int, rows: Array | None = None) -> Array:
    """Indices of the k nearest other rows of X, for all rows or for these."""
    if rows is None or len(rows) == X.shape[0]:
        return np.asarray(find_neighbors(X, k).indices, dtype=np.int32)
    found = find_neighbors(X[rows], k + 1, among=X).indices
    own = found == rows[:, None]
    own[:, -1] |= ~own.any(axis=1)  # behind k others at distance 0
    return np.asarray(found[~own].reshape(len(rows), k), dtype=np.int32)


# -- ranks ---------------------------------------------------------------------


def _costs(cost_of: Any, n: int, n_columns: int) -> Array:
    """What the intruders of all rows cost, found block by block."""
    cost = np.empty(n)
    pieces = list(row_blocks(n, max(1, _NUMBERS // n_columns)))
    with blocks("ranks of neighbours", cost_of, pieces) as parts:
        for rows, part in zip(pieces, parts, strict=True):
            cost[rows] = part
    return cost


def _cost_among_all(X: Any, lengths: Array, near: Array, k: int, rows: slice) -> Array:
    distances = _distances(X[rows], lengths[rows], X, lengths)
    own = np.arange(rows.start, rows.stop)
    distances[np.arange(len(own)), own] = np.inf
    limits = np.take_along_axis(distances, near[rows].astype(np.int64), axis=1)
    return np.asarray(np.maximum(_n_nearer(distances, limits) + 1 - k, 0).sum(axis=1))


def _cost_among_sample(
    X: Any, chosen: Array, near: Array, true: Array, rows: slice
) -> Array:
    """As among all, where the rank of an intruder is known to be above k.

    Beyond the k nearest it is the share of the others that are nearer, of those that
    were drawn: n - 1 - k of them in all.
    """
    n, k = X.shape[0], true.shape[1]
    own = np.arange(rows.start, rows.stop)
    limits = _gaps(X, own, near[rows])
    within = _gaps(X, own, true[rows]).max(axis=1, keepdims=True)
    S = X[chosen]
    distances = _distances(X[rows], squared_lengths(X[rows]), S, squared_lengths(S))
    at, is_drawn = _places(near[rows], chosen)
    # as the limits have it: by rounding alone a row may be nearer than itself
    _put(distances, at, is_drawn, limits)
    at, is_drawn = _places(np.column_stack([true[rows], own]), chosen)
    _put(distances, at, is_drawn, np.full(at.shape, np.inf))  # not beyond the k nearest
    share = _n_nearer(distances, limits) / (len(chosen) - is_drawn.sum(axis=1))[:, None]
    return np.asarray(np.where(limits > within, 1 + share * (n - 1 - k), 0).sum(axis=1))


def _places(rows: Array, chosen: Array) -> tuple[Array, Array]:
    """Where rows are among those chosen, which are in order, and whether they are."""
    place = np.minimum(np.searchsorted(chosen, rows), len(chosen) - 1)
    return place, chosen[place] == rows


def _put(table: Array, columns: Array, where: Array, values: Array) -> None:
    """Write values into the given columns of each row, where it is said so."""
    table[np.nonzero(where)[0], columns[where]] = values[where]


def _gaps(X: Any, own: Array, others: Array) -> Array:
    """Squared distances of each row to each of its others."""
    pairs = np.repeat(own, others.shape[1]), others.ravel()
    return squared_distances(X, *pairs).reshape(others.shape)


def _distances(X: Any, lengths: Array, Y: Any, others: Array) -> Array:
    """Squared distances of all rows of X and Y."""
    product = X @ Y.T
    product = product.toarray() if sp.issparse(product) else product
    distances = product.astype(np.float64, copy=False)
    distances *= -2
    distances += lengths[:, None]
    distances += others
    return np.asarray(distances)


def _n_nearer(distances: Array, limits: Array) -> Array:
    """How many distances of a row are below each of its limits."""
    counts = [
        np.count_nonzero(distances < limit[:, None], axis=1) for limit in limits.T
    ]
    return np.stack(counts, axis=1)
