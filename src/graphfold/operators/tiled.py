"""A kernel matrix that is computed tile by tile at every product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from graphfold.arrays import Array, row_blocks
from graphfold.operators.base import UNBOUNDED, Bounds, SymmetricOperator
from graphfold.progress import counted, stage
from graphfold.threads import in_shares, n_threads

BlockFunction = Callable[[Any, Any], Array]
#: values of the rows of two slices, written into the room that is given where it helps
TileFunction = Callable[[slice, slice, Array], Array]

#: sides of a tile: large enough for a product at full speed, small enough for the cache
LARGEST_TILE, SMALLEST_TILE = 1024, 64


@final
class TiledKernel(SymmetricOperator):
    """k(X, X), never stored: holds one tile of ``strip`` x ``strip`` for each thread.

    Each product evaluates the n^2 / 2 kernel entries on and above the diagonal and
    uses each of them twice, so give it wide blocks and few iterations. As many threads
    work on tiles as BLAS would use, each with a BLAS of one: what a kernel does beside
    products is then shared, too. Who computes which tile is fixed, so that a product
    comes out the same every time.

    Parameters
    ----------
    block : callable
        k of two sets of rows.
    X : array or sparse array of shape (n, n_features)
    diagonal : array of shape (n,)
    strip : int, default=512
    tiles : callable, default=None
        k of the rows of two slices, if that is cheaper than ``block``.
    """

    def __init__(
        self,
        block: BlockFunction,
        X: Any,
        diagonal: Array,
        *,
        strip: int = 512,
        tiles: TileFunction | None = None,
        bounds: Bounds = UNBOUNDED,
        name: str = "K",
    ):
        self.block, self.X, self.strip, self.name = block, X, strip, name
        self.n, self.dtype = X.shape[0], diagonal.dtype
        self._diagonal, self._bounds = diagonal, bounds
        self._tile = tiles or (lambda rows, columns, _: block(X[rows], X[columns]))

    def apply(self, V: Array) -> Array:
        blocks = list(row_blocks(self.n, self.strip))
        pairs = [(i, j) for i in range(len(blocks)) for j in range(i, len(blocks))]
        workers = min(n_threads(), len(pairs))
        shares = [pairs[k::workers] for k in range(workers)]
        with stage("kernel product", len(pairs), "tile") as step:
            if workers < 2:
                return self._share(V, blocks, pairs, lambda: step() and False)
            parts = in_shares(
                lambda pairs, tally: self._share(V, blocks, pairs, tally.add),
                shares,
                step,
            )
        for part in parts[1:]:
            parts[0] += part
        return parts[0]

    def _share(
        self,
        V: Array,
        blocks: Sequence[slice],
        pairs: Sequence[tuple[int, int]],
        tile_done: Callable[[], bool],
    ) -> Array:
        """What the tiles of some pairs of blocks add to the product.

        ``tile_done`` is called after each of them; True ends it.
        """
        product = np.zeros(V.shape, dtype=np.result_type(V, self.dtype))
        room = np.empty(self.strip * self.strip, dtype=self.dtype)
        for i, j in pairs:
            rows, columns = blocks[i], blocks[j]
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            tile = self._tile(rows, columns, room[: shape[0] * shape[1]].reshape(shape))
            product[rows] += tile @ V[columns]
            if i != j:
                product[columns] += tile.T @ V[rows]
            if tile_done():
                break
        return product

    def diagonal(self) -> Array:
        return self._diagonal.copy()

    def entries(self) -> Array:
        entries = np.empty((self.n, self.n), dtype=self.dtype)
        for rows in counted("kernel", row_blocks(self.n, self.strip)):
            entries[rows] = self.block(self.X[rows], self.X)
        return entries

    def bounds(self) -> Bounds:
        return self._bounds

    def work(self) -> float:
        # an entry costs as much as an inner product of two rows, shared by the block
        return (2.0 + self.X.shape[1] / 8) * self.n**2

    def describe(self) -> str:
        return self.name
