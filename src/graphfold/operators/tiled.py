"""A kernel matrix that is computed strip by strip at every product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from graphfold.arrays import Array, row_blocks
from graphfold.operators.base import UNBOUNDED, Bounds, SymmetricOperator

BlockFunction = Callable[[Any, Any], Array]


@final
class TiledKernel(SymmetricOperator):
    """k(X, X), never stored: holds ``strip * n`` numbers at a time.

    Each product evaluates the n^2 / 2 kernel entries on and above the diagonal and
    uses each of them twice, so give it wide blocks and few iterations.
    """

    def __init__(
        self,
        block: BlockFunction,
        X: Any,
        diagonal: Array,
        *,
        strip: int = 512,
        bounds: Bounds = UNBOUNDED,
        name: str = "K",
    ):
        self.block, self.X, self.strip, self.name = block, X, strip, name
        self.n, self.dtype = X.shape[0], diagonal.dtype
        self._diagonal, self._bounds = diagonal, bounds

    def apply(self, V: Array) -> Array:
        product = np.zeros(V.shape, dtype=np.result_type(V, self.dtype))
        for rows in row_blocks(self.n, self.strip):
            tile = self.block(self.X[rows], self.X[rows.start :])
            product[rows] += tile @ V[rows.start :]
            product[rows.stop :] += tile[:, rows.stop - rows.start :].T @ V[rows]
        return product

    def diagonal(self) -> Array:
        return self._diagonal.copy()

    def entries(self) -> Array:
        entries = np.empty((self.n, self.n), dtype=self.dtype)
        for rows in row_blocks(self.n, self.strip):
            entries[rows] = self.block(self.X[rows], self.X)
        return entries

    def bounds(self) -> Bounds:
        return self._bounds

    def work(self) -> float:
        # an entry costs as much as an inner product of two rows, shared by the block
        return (2.0 + self.X.shape[1] / 8) * self.n**2

    def describe(self) -> str:
        return self.name
