"""An operator on rows in another order, in which neighbours lie near each other."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from graphfold.arrays import Array
from graphfold.operators.base import Bounds, SymmetricOperator
from graphfold.operators.stored import Sparse


@final
class Reordered(SymmetricOperator):
    """P'MP for an operator on ordered rows: ``order[i]`` is the row that is its i-th.

    A sparse product jumps about in a block of vectors. Once that is larger than the
    cache, half of the time is spent waiting for memory, unless neighbours lie near each
    other.
    """

    def __init__(self, operator: SymmetricOperator, order: Array):
        self.operator, self.order, self.place = operator, order, inverse(order)
        self.n, self.dtype = operator.n, operator.dtype

    def apply(self, V: Array) -> Array:
        # take, three times faster than an index
        ordered = self.operator.apply(V.take(self.order, axis=0))
        return ordered.take(self.place, axis=0)

    def diagonal(self) -> Array:
        return self.operator.diagonal().take(self.place)

    def entries(self) -> Array:
        return self.operator.entries()[np.ix_(self.place, self.place)]

    def bounds(self) -> Bounds:
        return self.operator.bounds()

    def work(self) -> float:
        return self.operator.work() + 2.0 * self.n

    def describe(self) -> str:
        return self.operator.describe()


def with_neighbours_near(operator: Sparse) -> tuple[Sparse, Array]:
    """The same operator on rows in the order of Cuthill and McKee, and that order."""
    matrix = operator.matrix
    # csr_matrix: some SciPy takes no array here
    order = reverse_cuthill_mckee(sp.csr_matrix(matrix), symmetric_mode=True)
    rows = matrix[order]
    parts: Any = (rows.data, inverse(order).take(rows.indices), rows.indptr)
    ordered = sp.csr_array(parts, shape=matrix.shape)
    return Sparse(ordered, bounds=operator.bounds(), name=operator.name), order


def inverse(order: Array) -> Array:
    """Where each row is in an order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return place
