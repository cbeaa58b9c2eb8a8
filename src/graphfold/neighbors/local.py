"""Each row's neighbourhood: distinct rows only, and all of them linked together.

Methods that glue neighbourhoods into one picture fail in two ways that the data cannot
be blamed for: a row with many copies has them for neighbours and learns nothing of the
others, and data that fall into parts have no place for the parts. So neighbours are
sought among distinct rows, a copy is linked to its original, and parts are joined by
their shortest links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphfold.arrays import Array, small_indices
from graphfold.equal_rows import first_equal_rows
from graphfold.neighbors.search import nearest_rows

#: up to this many parts each is searched by itself
FEW_PARTS = 20
#: a link of length zero would vanish from a sparse matrix
ZERO_LENGTH = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Neighborhoods:
    """The neighbours of each row, as a sparse pattern that need not be regular.

    Row i has ``indices[starts[i]:starts[i + 1]]``, at ``distances``. ``n_parts`` is
    the number of parts that the data fell into before they were joined.
    """

    starts: Array
    indices: Array
    distances: Array
    n_parts: int

    def groups(self) -> Iterator[tuple[Array, Array]]:
        """Rows with equally many neighbours, and their neighbours, as a table."""
        counts = np.diff(self.starts)
        for count in np.unique(counts[counts > 0]):
            rows = np.flatnonzero(counts == count)
            places = self.starts[rows][:, None] + np.arange(count)
            yield rows, self.indices[places]

    def lengths(self) -> Any:
        """Distances to the neighbours, a CSR array."""
        n = len(self.starts) - 1
        lengths = np.maximum(self.distances, ZERO_LENGTH)
        matrix = sp.csr_array((lengths, self.indices, self.starts), shape=(n, n))
        return small_indices(matrix)


def neighborhoods(
    X: Any, k: int, *, metric: str = "euclidean", n_jobs: Any = None
) -> Neighborhoods:
    """The k nearest distinct rows of each row (fewer where there are not so many).

    A copy has its original for its only neighbour. Where the neighbourhoods fall into
    parts, the shortest link of each part to another is added until there is one part.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.neighbors import neighborhoods
    >>> found = neighborhoods(np.array([[0.0], [0.0], [1.0], [9.0], [10.0]]), 1)
    >>> found.n_parts, found.lengths().toarray().round().astype(int).tolist()[2]
    (2, [1, 0, 0, 8, 0])
    """
    n = X.shape[0]
    original = first_equal_rows(X)
    distinct = np.flatnonzero(original == np.arange(n))
    rows = X if len(distinct) == n else X[distinct]
    links, n_parts = _joined(rows, min(k, len(distinct) - 1), metric, n_jobs)
    if len(distinct) < n:
        links = _with_copies(links, distinct, original)
    return Neighborhoods(links.indptr, links.indices, links.data, n_parts)


def nearest_distinct_rows(
    X: Any, k: int, among: Any, *, metric: str = "euclidean", n_jobs: Any = None
) -> tuple[Array, Array]:
    """Distances to, and indices of, the k nearest distinct rows of ``among``.

    Fewer where there are not so many. Of copies the first is meant.
    """
    original = first_equal_rows(among)
    distinct = np.flatnonzero(original == np.arange(len(original)))
    rows = among if len(distinct) == len(original) else among[distinct]
    k = min(k, len(distinct))
    distances, indices = nearest_rows(X, k, metric=metric, among=rows, n_jobs=n_jobs)
    return distances, distinct[indices]


def _joined(X: Any, k: int, metric: str, n_jobs: Any) -> tuple[Any, int]:
    """Distances to the k nearest rows, parts joined; and how many parts there were."""
    n = X.shape[0]
    if k < 1:
        return sp.csr_array((n, n)), n
    distances, indices = nearest_rows(X, k, metric=metric, n_jobs=n_jobs)
    distances = np.maximum(distances.astype(np.float64), ZERO_LENGTH)
    starts = np.arange(0, n * k + 1, k)
    links = sp.csr_array((distances.ravel(), indices.ravel(), starts), shape=(n, n))
    links = small_indices(links)
    n_parts, parts = connected_components(links, directed=False)
    found, width = n_parts, k
    while n_parts > 1:
        width = min(4 * width, n - 1)
        bridges = _bridges(X, parts, n_parts, width, metric, n_jobs)
        links = small_indices(sp.csr_array(links.maximum(bridges)))
        n_parts, parts = connected_components(links, directed=False)
    links = sp.csr_array(links)
    links.sort_indices()
    return links, int(found)


def _bridges(
    X: Any, parts: Array, n_parts: int, width: int, metric: str, n_jobs: Any
) -> Any:
    """The shortest link of each part to another, both ways; none from the largest.

    Of many parts, those that have another one among ``width`` neighbours.
    """
    n, how = X.shape[0], {"metric": metric, "n_jobs": n_jobs}
    if n_parts <= FEW_PARTS:
        one, other, length = _from_each_part(X, parts, n_parts, **how)
    else:
        one, other, length = _among_near_rows(X, parts, width, **how)
    length = np.maximum(length.astype(np.float64), ZERO_LENGTH)
    bridges = sp.csr_array((length, (one, other)), shape=(n, n))
    return bridges.maximum(bridges.T)


def _from_each_part(
    X: Any, parts: Array, n_parts: int, **how: Any
) -> tuple[Array, Array, Array]:
    """Ends and lengths of the shortest links, each part searched by itself."""
    ends = []
    for part in np.delete(np.arange(n_parts), np.bincount(parts).argmax()):
        inside, outside = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        distances, nearest = nearest_rows(X[inside], 1, among=X[outside], **how)
        best = int(distances[:, 0].argmin())
        ends.append((inside[best], outside[nearest[best, 0]], distances[best, 0]))
    one, other, length = zip(*ends, strict=True)
    return np.array(one), np.array(other), np.array(length)


def _among_near_rows(
    X: Any, parts: Array, width: int, **how: Any
) -> tuple[Array, Array, Array]:
    """Ends and lengths of the shortest links to be seen among ``width`` neighbours."""
    rows = np.flatnonzero(parts != np.bincount(parts).argmax())
    distances, nearest = nearest_rows(X[rows], width + 1, among=X, **how)
    own = parts[rows]
    distances = np.where(parts[nearest] != own[:, None], distances, np.inf)
    place = distances.argmin(axis=1)
    shortest = distances[np.arange(len(rows)), place]
    order = np.lexsort((shortest, own))  # by part, the shortest first
    first = order[np.unique(own[order], return_index=True)[1]]
    first = first[np.isfinite(shortest[first])]
    return rows[first], nearest[first, place[first]], shortest[first]


def _with_copies(links: Any, distinct: Array, original: Array) -> Any:
    """Links among distinct rows as links among all; a copy leads to its original."""
    n = len(original)
    edges = links.tocoo()
    copies = np.flatnonzero(original != np.arange(n))
    length = np.full(len(copies), ZERO_LENGTH)
    rows = np.concatenate([distinct[edges.row], copies])
    columns = np.concatenate([distinct[edges.col], original[copies]])
    weights = np.concatenate([edges.data, length])
    full = sp.csr_array((weights, (rows, columns)), shape=(n, n))
    full.sort_indices()
    return full
