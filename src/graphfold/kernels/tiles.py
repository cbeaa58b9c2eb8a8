"""Kernel values of any two slices of the rows, with what can be prepared prepared.

A product with a kernel that is not stored asks for thousands of tiles of the same
rows: their origin and norms are found once, and a tile is computed in the room given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.kernels.base import Kernel
from graphfold.kernels.combined import Combination, OnColumns
from graphfold.kernels.products import ProductKernel

Tiles = Callable[[slice, slice, Array], Array]


def tiles_of(kernel: Kernel, X: Any) -> Tiles:
    """A function that gives k of the rows of two slices of X.

    Its third argument is a room of the right shape that may be written into.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.kernels import Gaussian
    >>> from graphfold.kernels.tiles import tiles_of
    >>> tile = tiles_of(Gaussian(gamma=0.5), np.array([[0.0], [2.0], [4.0]]))
    >>> tile(slice(0, 1), slice(1, 3), np.empty((1, 2))).round(4)
    array([[0.1353, 0.0003]])
    """
    if isinstance(kernel, OnColumns):
        return tiles_of(kernel.kernel, kernel.view(X))
    if isinstance(kernel, Combination):
        return _of_combination(kernel, X)
    if isinstance(kernel, ProductKernel) and kernel.of_products:
        return _of_products(kernel, X)
    return lambda rows, columns, _: kernel.block(X[rows], X[columns])


def _of_products(kernel: ProductKernel, X: Any) -> Tiles:
    """f(x'y, |x|^2, |y|^2): norms are known, products go into the room."""
    origin = kernel.origin(X)
    norms = kernel.squared_norms(X, origin)
    # what is bounded is finite where norms are: no need to look at every tile
    sound = kernel.bounded and bool(np.isfinite(norms).all())

    def tile(rows: slice, columns: slice, room: Array) -> Array:
        left, right = (kernel.moved(X[part], origin) for part in (rows, columns))
        if sp.issparse(left):
            products = (left @ right.T).toarray()
        else:
            products = np.matmul(left, right.T, out=room)
        values = kernel.finish(products, norms[rows, None], norms[None, columns])
        return values if sound else kernel.finite(values, values)

    return tile


def _of_combination(kernel: Combination, X: Any) -> Tiles:
    parts = [(weight, tiles_of(part, X)) for weight, part in kernel.parts()]

    def tile(rows: slice, columns: slice, room: Array) -> Array:
        total = np.zeros_like(room)
        for weight, part in parts:
            total += weight * part(rows, columns, room)
        return total

    return tile
