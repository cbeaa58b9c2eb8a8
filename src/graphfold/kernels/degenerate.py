"""Is this kernel matrix so close to the identity or to a constant as to be mute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.kernels.base import Kernel

N_ROWS = 100
TOLERANCE = 1e-3
CONSTANT_TOLERANCE = 1e-6


def degeneracy(kernel: Kernel, X: Any, rng: np.random.Generator) -> str | None:
    """What K degenerates to ("the identity", "a constant"), or None.

    Looks at whole rows of K, 100 of them: each row against every other, since near
    neighbours are few and a sample of pairs would miss them.
    """
    n = X.shape[0]
    if n < 3:
        return None
    rows = np.sort(rng.choice(n, min(N_ROWS, n), replace=False))
    return _judge(kernel.block(X[rows], X), rows)


def _judge(strip: Array, rows: Array) -> str | None:
    own = np.abs(strip[np.arange(len(rows)), rows])
    others = np.abs(strip)
    others[np.arange(len(rows)), rows] = 0.0
    if np.ptp(strip) <= CONSTANT_TOLERANCE * np.abs(strip).max():
        return "a constant"
    if np.median(others.max(axis=1)) <= TOLERANCE * np.median(own):
        return "the identity"
    return None
