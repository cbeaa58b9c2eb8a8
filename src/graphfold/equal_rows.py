"""Rows that are equal: found by fingerprints, and compared.

Fingerprints say which rows may be equal, in eight bytes a row; projections tell whether
a row is what it was up to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, row_blocks
from graphfold.progress import counted
from graphfold.threads import do_blocks

#: when rows are looked for among others, so many columns are compared first: those of
#: the widest range among so many rows
FEW_COLUMNS, FEW_ROWS = 16, 256


def row_fingerprints(X: Any) -> Array:
    """One 64-bit integer per row; equal rows have equal fingerprints.

    Exact integer arithmetic modulo 2**64, so the answer for a row does not depend on
    the rows around it, as a floating-point product would.
    """
    n_columns = X.shape[1]
    rng = np.random.default_rng(20180128)
    multipliers = rng.integers(1, 2**63, size=n_columns, dtype=np.uint64) * 2 + 1
    X = sp.csr_array(X) if sp.issparse(X) else X
    fingerprints = np.zeros(X.shape[0], dtype=np.uint64)

    def fill(rows: slice) -> None:
        block = X[rows]
        if sp.issparse(block):
            fingerprints[rows] = _sparse_fingerprints(block, multipliers)
            return
        block = np.asarray(block, dtype=np.float64)
        for strip in row_blocks(len(block), max(1, 2**17 // max(n_columns, 1))):
            bits = _bits(block[strip])
            # not by @, which is slow for integers
            fingerprints[rows][strip] = np.einsum("ij,j->i", bits, multipliers)

    # blocks of four megabytes, few enough for threads to pay; strips stay in the cache.
    # Sparse ones take more room beside them
    numbers = 2**17 if sp.issparse(X[:1]) else 2**19
    size = max(1, numbers // _row_size(X))
    do_blocks("fingerprints of rows", fill, row_blocks(X.shape[0], size))
    return fingerprints


def _row_size(X: Any) -> int:
    """Numbers of a row; of a sparse one, those that are stored."""
    n, n_columns = X.shape
    return max(1, int(getattr(X, "nnz", n * n_columns)) // max(n, 1))


def _sparse_fingerprints(X: Any, multipliers: Array) -> Array:
    """A zero adds nothing, stored or not, so they are those of the same dense rows."""
    X = sp.csr_array(X, dtype=np.float64)
    terms = _bits(X.data) * multipliers[X.indices]
    sums = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
    return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])


def row_projections(X: Any) -> Array:
    """Two numbers for each row, its products with two fixed random vectors.

    They tell whether a row is, up to rounding, what it was, at a fraction of its own
    memory. A row's numbers do not depend on the rows around it, up to rounding.
    """
    rng = np.random.default_rng(20180129)
    directions = rng.standard_normal((X.shape[1], 2))
    found = np.empty((X.shape[0], 2))
    size = max(1, 2**19 // _row_size(X))
    for rows in counted("projections of rows", row_blocks(X.shape[0], size)):
        block = X[rows]
        wide = block if sp.issparse(block) else np.asarray(block, dtype=np.float64)
        found[rows] = wide @ directions
    return found


def _bits(values: Array) -> Array:
    # adding 0.0 turns -0.0 into 0.0: the two are equal numbers
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    bits ^= bits >> np.uint64(29)
    return bits


def matching_rows(X: Any, reference: Any) -> tuple[Array, Array]:
    """Row of ``reference`` equal to each row of X, or -1; and which equal several.

    Ties are broken as in :func:`matching_fingerprints`.
    """
    asked, known = _fingerprints_of_both(X, reference)
    found, repeated = matching_fingerprints(asked, known)
    rows = np.flatnonzero(found >= 0)
    # two rows may share a fingerprint
    differ = rows[~rows_equal(X[rows], reference, found[rows])]
    found[differ], repeated[differ] = -1, False
    return found, repeated


def _fingerprints_of_both(X: Any, reference: Any) -> tuple[Array, Array]:
    """Fingerprints of two tables, of a few columns where these show that rows differ.

    Most rows of a transform are new, and the few columns are read much sooner.
    """
    if sp.issparse(X) or sp.issparse(reference) or X.shape[1] <= 2 * FEW_COLUMNS:
        return row_fingerprints(X), row_fingerprints(reference)
    telling = np.argsort(np.ptp(reference[:FEW_ROWS], axis=0))[-FEW_COLUMNS:]
    asked = row_fingerprints(X[:, telling])
    known = row_fingerprints(reference[:, telling])
    shared, sharing = np.isin(asked, known), np.isin(known, asked)
    asked[shared] = row_fingerprints(X[shared])
    known[sharing] = row_fingerprints(reference[sharing])
    return asked, known


def matching_fingerprints(asked: Array, known: Array) -> tuple[Array, Array]:
    """Position in ``known`` of each fingerprint, or -1; and which occur repeatedly.

    The first of several equal ones is taken, but for a leading part that repeats
    ``known`` in its order: there the position itself says which one is meant.
    """
    order = np.argsort(known, kind="stable")
    place = np.searchsorted(known[order], asked)
    after = np.searchsorted(known[order], asked, side="right")
    found = np.where(after > place, order[np.minimum(place, len(order) - 1)], -1)
    repeated = after - place > 1
    shared = min(len(asked), len(known))
    differs = asked[:shared] != known[:shared]
    leading = int(np.argmax(differs)) if differs.any() else shared
    found[:leading] = np.arange(leading)
    repeated[:leading] = False
    return found, repeated


def first_equal_rows(X: Any) -> Array:
    """Index of the first row of X equal to each row: its own, but for copies."""
    _, first, group = np.unique(
        row_fingerprints(X), return_index=True, return_inverse=True
    )
    candidate = first[group]
    others = np.flatnonzero(candidate != np.arange(len(candidate)))
    equal = rows_equal(X[others], X, candidate[others])
    candidate[others[~equal]] = others[~equal]  # two rows may share a fingerprint
    return np.asarray(candidate)


def rows_equal(X: Any, reference: Any, rows: Array, rtol: float = 0.0) -> Array:
    """Whether row i of X equals row ``rows[i]`` of reference, within ``rtol``.

    ``rtol`` is relative to the largest entry of the reference row.
    """
    other = reference[rows]
    if sp.issparse(X) or sp.issparse(other):
        gap = abs(sp.csr_array(X) - sp.csr_array(other)).max(axis=1).toarray().ravel()
        size = abs(sp.csr_array(other)).max(axis=1).toarray().ravel()
    elif rtol == 0:
        return np.asarray((other == X).all(axis=1))
    else:
        gap = np.abs(X - other).max(axis=1, initial=0.0)
        size = np.abs(other).max(axis=1, initial=0.0)
    return np.asarray(gap <= rtol * size)
