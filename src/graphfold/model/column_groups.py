"""Columns of a table that determine each other, which a held-out score hides together.

A column that others determine is predicted whatever the embedding: the levels of a
one-hot code add up to one, a total is the sum of its parts, a copy is its original.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphfold.arrays import Array

#: beyond this many columns only one-hot codes and copies are looked for
MOST_COLUMNS = 2000
#: rows that dependences are looked for in, for each column and at least
ROWS_PER_COLUMN, LEAST_ROWS = 2, 2000
#: the spread of a constant column, in its size: what rounding leaves of it
CONSTANT = 1e-6
#: what is left of the variance of a column that others determine
DEPENDENT = 1e-10
#: coefficients below this share of the largest are rounding
ROUNDING = 1e-5
#: a one-hot code may lack a level, or values; it still has this share of the rows
COVERED = 0.5
#: one dependence among so many columns of a fold says little of each of them
MANY = 40


def column_groups(X: Any) -> Array:
    """The group of each column, from 0; a column that stands alone is a group.

    Three kinds of dependence are found: one-hot codes in adjacent columns, copies up
    to scale and shift, and, where there are more rows than columns, exact linear
    dependence of any kind (the connected components of the columns' linear matroid,
    from a Cholesky factor with pivots). A group of more than half of the columns with
    few dependences, such as shares that add up to one, is split again: hiding it would
    hide the table.

    The cost is O(n D) and, up to ``MOST_COLUMNS``, that of the Gram matrix of
    min(n, 2 D) rows, O(D^3).

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.model.column_groups import column_groups
    >>> colour = np.eye(3)[[0, 1, 2, 1, 0, 2, 2, 1]]
    >>> size = np.array([[1.0], [3.0], [2.0], [5.0], [4.0], [9.0], [7.0], [1.0]])
    >>> column_groups(np.hstack([size, colour]))
    array([0, 1, 1, 1])
    """
    ties = _one_hot_codes(X) + _dependences(X)
    groups = _joined(ties, X.shape[1])
    return _with_large_one_split(groups, ties)


def groups_to_hide(X: Any) -> Array:
    """The groups of columns that a held-out score hides in turn, from 0.

    A column at -1 is never shown and never predicted. Where all columns that vary
    determine each other, such as shares that add up to one, one column of each
    dependence is left out, and the others are independent. The levels of a one-hot
    code cannot be separated in this way: if nothing else is left, all are -1.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.model.column_groups import groups_to_hide
    >>> parts = np.random.default_rng(0).random((50, 2))
    >>> with_total = np.column_stack([parts, parts.sum(axis=1)])
    >>> (groups_to_hide(with_total) >= 0).sum()
    np.int64(2)
    >>> groups_to_hide(np.eye(3)[np.arange(50) % 3])
    array([-1, -1, -1])
    """
    groups = column_groups(X)
    varies = np.flatnonzero(_vary(X))
    if len(np.unique(groups[varies])) > 1 or not len(varies):
        return groups
    kept = varies[_without_dependences(X[:, varies])]
    found = np.full(X.shape[1], -1)
    rest = column_groups(X[:, kept])
    if rest.max() > 0:
        found[kept] = rest
    return found


def _without_dependences(X: Any) -> Array:
    """Columns that are left if one of each dependence goes, but for one-hot codes.

    A column outside of all codes goes first. If a dependence has none, its smallest
    code goes as a whole: a level that is gone is known from the others.
    """
    codes = _one_hot_codes(X)
    code_of = np.full(X.shape[1], -1)
    for i, code in enumerate(codes):
        code_of[code] = i
    kept = np.ones(X.shape[1], dtype=bool)
    while True:
        columns = np.flatnonzero(kept)
        for part in _dependences(X[:, columns]):
            tie = columns[part]
            inside = code_of[tie]
            free = tie[inside < 0]
            if inside[0] < 0:
                kept[tie[0]] = False  # the column that is in no other dependence
            elif kept[tie].all() and len(free):
                kept[free[0]] = False
            elif kept[tie].all() and len(np.unique(inside)) > 1:
                smallest = min(np.unique(inside), key=lambda i: len(codes[i]))
                kept[codes[smallest]] = False
        if kept.sum() == len(columns):
            return columns


def _dependences(X: Any) -> list[Array]:
    """Sets of dependent columns; the first column of each is first in no other."""
    rows = _some_rows(X)
    if not _is_small(rows):
        return _copies(X)
    gram, varies = _correlations(rows)
    return [varies[circuit] for circuit in _circuits(gram)]


def _vary(X: Any) -> Array:
    """Which columns have more than one value."""
    if sp.issparse(X):
        return np.asarray((X.max(axis=0) - X.min(axis=0)).toarray()).ravel() > 0
    return np.asarray(X.max(axis=0) > X.min(axis=0))


def _is_small(X: Any) -> bool:
    """Whether linear dependence can be told: more rows than columns, and few enough."""
    n, n_columns = X.shape
    return bool(n > n_columns + 1 and n_columns <= MOST_COLUMNS)


def _some_rows(X: Any) -> Any:
    """All rows, or as many as tell a dependence; always the same ones."""
    n, n_columns = X.shape
    enough = max(ROWS_PER_COLUMN * n_columns, LEAST_ROWS)
    if n <= enough:
        return X
    chosen = np.random.default_rng(0).choice(n, enough, replace=False)
    return X[np.sort(chosen)]


def _joined(ties: list[Array], n_columns: int) -> Array:
    """Groups of columns that are tied, directly or through others."""
    none = [np.empty(0, dtype=np.int64)]
    tails = np.concatenate(none + [np.repeat(tie[:1], len(tie) - 1) for tie in ties])
    heads = np.concatenate(none + [tie[1:] for tie in ties])
    shape = (n_columns, n_columns)
    tied = sp.coo_array((np.ones(len(heads)), (tails, heads)), shape=shape)
    return np.asarray(connected_components(tied, directed=False)[1], dtype=np.int64)


def _with_large_one_split(groups: Array, ties: list[Array]) -> Array:
    """Groups anew, where one has most columns and few dependences among them."""
    sizes = np.bincount(groups)
    largest = int(np.argmax(sizes))
    inside = sum(groups[tie[0]] == largest for tie in ties)
    if sizes[largest] <= len(groups) / 2 or sizes[largest] <= MANY * inside:
        return groups
    alone = groups == largest
    found = np.where(alone, len(sizes) + np.arange(len(groups)), groups)
    return np.asarray(np.unique(found, return_inverse=True)[1])


# -- linear dependence ----------------------------------------------------------------


def _correlations(X: Any) -> tuple[Array, Array]:
    """Correlations of the columns that vary, and which these are."""
    n = X.shape[0]
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=np.float64)
        mean = np.asarray(X.mean(axis=0)).ravel()
        gram = (X.T @ X).toarray() / n - np.outer(mean, mean)
    else:
        centred = X - X.mean(axis=0, dtype=np.float64)
        gram = centred.T @ centred / n
    size = _sizes(X)
    spread = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    varies = np.flatnonzero(spread > CONSTANT * size)
    scale = 1 / spread[varies]
    return gram[np.ix_(varies, varies)] * scale[:, None] * scale, varies


def _sizes(X: Any) -> Array:
    """The largest entry of each column, without its sign."""
    largest = abs(X).max(axis=0)
    return np.asarray(largest.toarray() if sp.issparse(largest) else largest).ravel()


def _circuits(gram: Array) -> list[Array]:
    """Smallest sets of dependent columns, one for each column that others determine.

    Of a pivoted Cholesky factor: each column beyond the rank is a combination of the
    pivots, and it forms a circuit with those that have a part in it.
    """
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(gram, tol=DEPENDENT, lower=1)
    order = pivots - 1
    if rank == len(gram):
        return []
    lower = np.tril(factor)[:, :rank]
    parts = scipy.linalg.solve_triangular(lower[:rank].T, lower[rank:].T, lower=False)
    found = []
    for column, part in zip(order[rank:], parts.T, strict=True):
        used = np.abs(part) > ROUNDING * np.abs(part).max(initial=0.0)
        found.append(np.append(column, order[:rank][used]))
    return found


# -- one-hot codes and copies ---------------------------------------------------------


def _one_hot_codes(X: Any) -> list[Array]:
    """Runs of columns of two values, of which no row has the upper one twice.

    A run is a code if nearly every row has it once: the rest may miss the value, or
    have the level that was dropped.
    """
    n, n_columns = X.shape
    uppers = _uppers(X)
    found, start = [], 0
    while start < n_columns:
        taken, count, stop = np.zeros(n, dtype=bool), 0, start
        while stop < n_columns and count < n:
            upper = uppers[stop]
            if upper is None or taken[upper].any():
                break
            taken[upper] = True
            count += len(upper)
            stop += 1
        is_code = stop - start > 1 and count >= COVERED * n
        if is_code:
            found.append(np.arange(start, stop))
        start = stop if is_code else start + 1
    return found


def _uppers(X: Any) -> list[Array | None]:
    """Rows that have the upper one of two values; None for a column of others."""
    n, n_columns = X.shape
    if sp.issparse(X):
        X = sp.csc_array(X)
        X.eliminate_zeros()
        parts = [slice(X.indptr[j], X.indptr[j + 1]) for j in range(n_columns)]
        return [
            X.indices[part]
            if 0 < part.stop - part.start < n
            and X.data[part][0] > 0
            and (X.data[part] == X.data[part][0]).all()
            else None
            for part in parts
        ]
    found: list[Array | None] = []
    for column in X.T:
        low, high = column.min(), column.max()
        upper = column == high
        two = low < high and bool((upper | (column == low)).all())
        found.append(np.flatnonzero(upper) if two else None)
    return found


def _copies(X: Any) -> list[Array]:
    """Pairs of columns that are equal up to scale and shift.

    By products of the standardised columns with two fixed random vectors.
    """
    n = X.shape[0]
    probes = np.random.default_rng(0).standard_normal((n, 2))
    probes -= probes.mean(axis=0)
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        squares = np.asarray(X.power(2).mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
    else:
        spread = X.std(axis=0, dtype=np.float64)
    products = np.asarray(X.T @ probes, dtype=np.float64)
    varies = np.flatnonzero(spread > CONSTANT * _sizes(X))
    marks = products[varies] / spread[varies, None]
    marks *= np.sign(marks[:, :1])
    order = np.argsort(marks[:, 0], kind="stable")
    gaps = np.abs(np.diff(marks[order], axis=0)).max(axis=1, initial=0.0)
    equal = np.flatnonzero(gaps < 1e-6)
    return [varies[order[[i + 1, i]]] for i in equal]
