"""Is this kernel matrix so close to the identity or to a constant as to be mute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold.arrays import Array, floating, row_blocks
from graphfold.kernels.base import Kernel
from graphfold.kernels.borrowed import Precomputed
from graphfold.kernels.combined import OnColumns
from graphfold.progress import counted

N_ROWS = 100
TOLERANCE = 1e-3
CONSTANT_TOLERANCE = 1e-6
_NUMBERS = 2**21


def degeneracy(
    kernel: Kernel, X: Any, rng: np.random.Generator, K: Array | None = None
) -> str | None:
    """What K degenerates to ("the identity", "a constant"), or None.

    Looks at whole rows of K, 100 of them: each row against every other, since near
    neighbours are few and a sample of pairs would miss them. They are taken from
    ``K`` where it has been computed.
    """
    n = X.shape[0]
    if n < 3:
        return None
    rows = np.sort(rng.choice(n, min(N_ROWS, n), replace=False))
    strip = _whole_rows(kernel, X, rows) if K is None else K[rows]
    return _judge(strip, rows)


def _whole_rows(kernel: Kernel, X: Any, rows: Array) -> Array:
    """k(x, .) for some rows, by blocks: kernels copy their rows, which may be on disk.

    A new array: a precomputed kernel hands out its own memory.
    """
    inner = kernel.kernel if isinstance(kernel, OnColumns) else kernel
    if isinstance(inner, Precomputed):
        return np.array(kernel.block(X[rows], X))
    n, n_columns = X.shape
    some, strip = X[rows], np.empty((len(rows), n), dtype=floating(X.dtype))
    blocks = row_blocks(n, max(1, _NUMBERS // max(n_columns, 1)))
    for columns in counted("looking at the kernel", blocks):
        strip[:, columns] = kernel.block(some, X[columns])
    return strip


def _judge(strip: Array, rows: Array) -> str | None:
    low, high = float(strip.min()), float(strip.max())
    if high - low <= CONSTANT_TOLERANCE * max(abs(low), abs(high)):
        return "a constant"
    if low < 0:
        np.abs(strip, out=strip)
    own = strip[np.arange(len(rows)), rows]
    strip[np.arange(len(rows)), rows] = 0.0
    if _median(strip.max(axis=1)) <= TOLERANCE * _median(own):
        return "the identity"
    return None


def _median(values: Array) -> float:
    """NumPy's takes longer than the rest of the look at a matrix of 200 rows."""
    middle = np.sort(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]
    return float(middle.mean())
