"""Does an embedding draw linked rows as near?"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.estimators.rows import graph_of_rows, labels_of_rows
from graphfold.progress import shown
from graphfold.quality.distances import read_rows
from graphfold.quality.neighborhoods import nearest_others
from graphfold.quality.rewiring import given_graph


def edge_overlap(
    graph: Any,
    Z: Any,
    n_neighbors: int = 10,
    *,
    node_ids: Any = None,
    verbose: int = 0,
) -> Array:
    """Share of the links of each row that an embedding draws as near.

    A row with m links has its max(m, n_neighbors) nearest rows in Z looked at: a row
    that is linked to all of a crowd need not have it within n_neighbors.

    Parameters
    ----------
    graph : Graph or anything Graph takes
        Rows meet nodes by label, as in the estimators; rows without labels meet a graph
        without labels by position. Negative weights do not say near: such links are
        left out.
    Z : array or DataFrame of shape (n, d)
        The embedding.
    n_neighbors : int, default=10
        How many nearest rows count, at least.
    node_ids : sequence, default=None
        Labels of the rows; None takes the index of a DataFrame.
    verbose : int, default=0
        1 shows on a terminal how far it is, 2 writes lines to the error stream.

    Returns
    -------
    array of shape (n,)
        NaN for rows without links.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import Graph
    >>> from graphfold.quality import edge_overlap
    >>> Z = np.arange(6.0)[:, None]
    >>> edge_overlap(Graph([(0, 1), (1, 2), (2, 5), (3, 4)]), Z, 2).tolist()
    [1.0, 1.0, 0.5, 1.0, 1.0, 0.0]
    """
    found = given_graph(graph)
    rows = read_rows("Z", Z)
    n = rows.shape[0]
    k = check.integer_between("n_neighbors", n_neighbors, 1, n - 1, f"{n} rows")
    labels = labels_of_rows(Z, node_ids, found, n)
    links = graph_of_rows(found, labels, n).to_scipy().tocoo()
    positive = links.data > 0
    first, second = links.row[positive], links.col[positive]
    degrees = np.bincount(first, minlength=n)
    kept = np.zeros(n, dtype=np.int64)
    for members, size in _by_degree(degrees, k):
        with shown(verbose, "edge_overlap"):
            near = nearest_others(rows, size, members)
        near[np.arange(size) >= np.maximum(degrees[members], k)[:, None]] = -1
        theirs = np.isin(first, members)
        kept += _found_among(first[theirs], second[theirs], members, near, n)
    with np.errstate(invalid="ignore"):
        return np.asarray(kept / np.where(degrees, degrees, np.nan))


def _by_degree(degrees: Array, k: int) -> Any:
    """Rows with links in groups, and how many nearest rows a group has looked at.

    Sizes double, so that no row has more than twice its links looked up.
    """
    most, n = int(degrees.max()), len(degrees)
    low, size = 0, k
    while low < most:
        members = np.flatnonzero((degrees > low) & (degrees <= size))
        if len(members):
            yield members, min(size, n - 1)
        low, size = size, 2 * size


def _found_among(
    first: Array, second: Array, members: Array, near: Array, n: int
) -> Array:
    """How many links of each row end at one of its nearest rows."""
    looked_at = members[:, None].astype(np.int64) * n + near
    hit = np.isin(first.astype(np.int64) * n + second, looked_at[near >= 0])
    return np.bincount(first[hit], minlength=n)
