"""Centres of k-means: landmarks that lie amid the rows they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, power_of_two, row_blocks
from graphfold.kernels.inner import squared_norms
from graphfold.progress import counted
from graphfold.threads import blocks

#: how often the centres are moved: more rounds bring little
ROUNDS = 2
#: rows that are compared with all centres at once, and numbers of these, but for few
BLOCK, NUMBERS, FEWEST = 1024, 2**18, 64


def k_means_centres(rows: Any, count: int) -> Any:
    """The means of ``count`` groups of rows, each the rows nearest to its centre.

    Two of Lloyd's rounds, from the first ``count`` rows; the rows are to be distinct,
    in an order of chance. A group that loses all its rows keeps its centre. A round
    compares all rows with all centres: 2 n count p operations.

    Not by scikit-learn: with several threads its ``KMeans`` adds up in the order in
    which they end, and the same fit gives other digits each time.
    """
    comparable = _comparable(rows)
    centres = rows[:count].astype(np.float64)
    for _ in counted("centres of landmarks", range(ROUNDS), "round"):
        labels = _nearest(rows, centres, comparable)
        centres = _means(rows, labels, centres)
    return centres.astype(rows.dtype)


def rows_at_once(n_columns: int, *, is_sparse: bool) -> int:
    """Rows of a block: of wide rows fewer, unless they are sparse."""
    if is_sparse:
        return BLOCK
    return int(np.clip(NUMBERS // max(n_columns, 1), FEWEST, BLOCK))


def _blocks(rows: Any) -> Iterator[slice]:
    size = rows_at_once(rows.shape[1], is_sparse=sp.issparse(rows))
    return row_blocks(rows.shape[0], size)


def _comparable(rows: Any) -> Callable[[Any], Any]:
    """What makes rows of moderate size, in single precision, dense ones about a mean.

    Digits that all rows share would be lost in products of single precision.
    """
    size = power_of_two(float(np.maximum(rows.max(), -rows.min())))
    if sp.issparse(rows):
        return lambda block: sp.csr_array(block / size).astype(np.float32)
    origin = (rows[:BLOCK].astype(np.float64) / size).mean(axis=0)
    origin = origin.astype(rows.dtype)
    return lambda block: (block / size - origin).astype(np.float32, copy=False)


def _nearest(rows: Any, centres: Any, comparable: Callable[[Any], Any]) -> Array:
    """The centre nearest to each row, of several the first."""
    centres = comparable(centres)
    half, across = squared_norms(centres) / 2, centres.T

    def nearest(part: slice) -> Array:
        products = comparable(rows[part]) @ across
        products = products.toarray() if sp.issparse(products) else products
        products -= half
        return np.asarray(products.argmax(axis=1))

    # one thread of BLAS each: their number is not seen in the digits
    with blocks("nearest landmarks", nearest, _blocks(rows)) as found:
        return np.concatenate(list(found))


def _means(rows: Any, labels: Array, centres: Any) -> Any:
    """The mean of the rows of each label, in double precision.

    Of the rows as they are: where these have no number below 0, it has none.
    """
    n, count = len(labels), centres.shape[0]
    sizes = np.bincount(labels, minlength=count)
    # indices of sparse means are as wide as these, and scikit-learn wants narrow ones
    labels, starts = labels.astype(np.int32), np.arange(n + 1, dtype=np.int32)
    shares = sp.csr_array((1 / sizes[labels], labels, starts), shape=(n, count))
    is_lost = (sizes == 0).astype(np.float64)
    means = sp.csr_array(sp.diags_array(is_lost)) @ centres
    for part in _blocks(rows):
        means = means + sp.csr_array(shares[part].T) @ rows[part]
    return means
