"""Which search: all pairs where that is affordable, cells where it is not."""

from __future__ import annotations

from typing import Any, Literal

import scipy.sparse as sp

from graphfold.errors import ExactSearchWarning, GraphfoldError, warn
from graphfold.neighbors.approximate import (
    APPROXIMATE_METRICS,
    Neighbors,
    approximate_neighbors,
    n_threads,
    random_seed,
)
from graphfold.neighbors.search import CHOOSING, METRICS, nearest_rows
from graphfold.progress import shown

SEARCHES = ("auto", "exact", "approximate")
#: numbers read to compare all pairs, above which "auto" does not: some ten seconds on
#: two cores (docs/neighbors.md)
AFFORDABLE = 2e11
#: up to so many columns a tree finds exact neighbours without comparing all pairs
TREE_COLUMNS = 8


def find_neighbors(
    X: Any,
    k: int,
    *,
    metric: str = "euclidean",
    among: Any = None,
    search: Literal["auto", "exact", "approximate"] = "auto",
    random_state: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Neighbors:
    """The k nearest rows of ``among`` for each row of X, exactly or nearly so.

    Without ``among`` the rows of X search each other, and none finds itself. "auto"
    compares all pairs unless that takes more than some ten seconds; then it is as
    ``approximate_neighbors``, which dense rows and the euclidean, cosine and
    correlation metrics have. Others are compared exactly, with an
    ``ExactSearchWarning``. ``verbose`` shows how far the search is, as in the
    estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.neighbors import find_neighbors
    >>> found = find_neighbors(np.array([[0.0], [1.0], [5.0]]), 1)
    >>> found.indices.ravel().tolist(), found.recall
    ([1, 0, 1], 1.0)
    """
    check_search(metric, search, random_state, n_jobs)
    how: dict[str, Any] = {"metric": metric, "among": among, "n_jobs": n_jobs}
    unserved = _not_served(X, metric) or _not_served(among, metric)
    if search == "approximate" and unserved:
        raise GraphfoldError(
            f'search must be "auto" or "exact" for {unserved}: the approximate search '
            f"takes dense rows and the metrics {', '.join(APPROXIMATE_METRICS)}"
        )
    costly = search == "auto" and cost(X, X if among is None else among) > AFFORDABLE
    if search == "approximate" or (costly and not unserved):
        with shown(verbose, "find_neighbors"):
            return approximate_neighbors(X, k, random_state=random_state, **how)
    if costly:
        n = X.shape[0] if among is None else among.shape[0]
        warn(
            f"all pairs with {n} rows are compared, which takes long: no approximate "
            f'search takes {unserved}; search="exact" says that this is meant',
            ExactSearchWarning,
        )
    with shown(verbose, "find_neighbors"):
        return Neighbors(*nearest_rows(X, k, **how))


def check_search(metric: Any, search: Any, random_state: Any, n_jobs: Any) -> None:
    """Settings of a search, before any work."""
    for name, value, allowed in (
        ("metric", metric, METRICS),
        ("search", search, SEARCHES),
    ):
        if not isinstance(value, str) or value not in allowed:
            words = ", ".join(repr(word) for word in allowed)
            raise GraphfoldError(f"{name} must be one of {words}; got {value!r}")
    random_seed(random_state)
    n_threads(n_jobs)


def cost(X: Any, among: Any) -> float:
    """Numbers that are read to compare all rows of X with all of ``among``."""
    pairs = float(X.shape[0]) * among.shape[0]
    if sp.issparse(among):
        columns = among.nnz / max(1, among.shape[0])
    else:
        columns = among.shape[1]
        if columns <= TREE_COLUMNS:
            return 0.0
    return pairs * (columns + CHOOSING)


def _not_served(X: Any, metric: str) -> str:
    """What the approximate search cannot deal with; nothing if it can."""
    if sp.issparse(X):
        return "sparse X"
    return "" if metric in APPROXIMATE_METRICS else f'metric="{metric}"'
