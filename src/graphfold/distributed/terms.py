"""Terms of a problem whose rows lie on workers: known by their sums and products.

They stand where operators stand, so that a problem is stated, printed and weighed in
the same words; what they can do is what a span asks: T'R T for a table T, and R V.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NoReturn, final

import numpy as np
from numpy.polynomial import chebyshev

from graphfold.arrays import Array
from graphfold.distributed.blocks import Tall, add, tree
from graphfold.distributed.features import DistributedFeatures, cross, scaled_rows
from graphfold.distributed.grid import BlockGraph
from graphfold.distributed.running import held, values
from graphfold.operators import SymmetricOperator
from graphfold.operators.base import Bounds

Moments = tuple[Array, Array, float]
GRAPH = "moments of the graph"


class OnWorkers(SymmetricOperator):
    """A symmetric matrix over rows on workers; no n-vector can be had here."""

    dtype: np.dtype[Any] = np.dtype(np.float64)

    @abstractmethod
    def of_table(self, table: Tall, width: int) -> Array:
        """T'R T (or a matrix with that symmetric part) for so many columns."""

    @abstractmethod
    def times(self, V: Tall, width: int) -> Tall:
        """R V for a table of so many columns."""

    def moments(self, features: DistributedFeatures) -> Moments:
        """Psi'R Psi, Psi'R1 and 1'R1."""
        width = sum(features.widths)
        found = self.of_table(features.psi.map(_with_ones), width + 1)
        found = (found + found.T) / 2
        return found[:-1, :-1], found[:-1, -1], float(found[-1, -1])

    def apply(self, V: Array) -> NoReturn:
        raise TypeError("rows lie on workers: no product can be made here")

    def diagonal(self) -> NoReturn:
        raise TypeError("rows lie on workers: there is no diagonal here")

    def entries(self) -> NoReturn:
        raise TypeError("rows lie on workers: there are no entries here")

    def work(self) -> float:
        return np.inf


@final
class KernelOnWorkers(OnWorkers):
    """Phi Phi': known by the moments of its features, and by nothing else."""

    dtype = np.dtype(np.float32)

    def __init__(self, n: int):
        self.n = n

    def of_table(self, table: Tall, width: int) -> NoReturn:
        raise TypeError("a kernel is known by the moments of its features")

    def times(self, V: Tall, width: int) -> NoReturn:
        raise TypeError("a kernel is known by the moments of its features")

    def bounds(self) -> Bounds:
        return 0.0, np.inf

    def describe(self) -> str:
        return "K"


@final
class MinusLaplacian(OnWorkers):
    """-L: A - D, or S less a one where a row has an edge."""

    def __init__(self, graph: BlockGraph, kind: str):
        self.graph, self.kind, self.n = graph, kind, graph.n
        normalized = kind == "normalized"
        self.grid = graph.normalized if normalized else graph.adjacency
        self.own = graph.degrees.map(ones_where) if normalized else graph.degrees

    def moments(self, features: DistributedFeatures) -> Moments:
        widens = len(features.graphs) == 1 and features.graphs[0] is self.graph
        if self.kind != "normalized" or not widens:
            return super().moments(features)
        # most of Psi'S Psi is known already: one more product is all that is left
        of_ones, of_psi = features.of_adjacency
        total, gram = features.moments()
        if self.graph.n_isolated:
            alone = features.of_some_rows(self.graph.degrees.map(_is_zero))
            total, gram = total - alone[0], gram - alone[1]
        within = self.grid.row_sums().total("sums of the graph", np.sum)
        n_linked = self.n - self.graph.n_isolated
        return of_psi - gram, of_ones - total, float(within) - n_linked

    def of_table(self, table: Tall, width: int) -> Array:
        return np.asarray(self.times(table, width).total(GRAPH, cross, table))

    def times(self, V: Tall, width: int) -> Tall:
        return self.grid.apply(V, width).map(_less_own, V, self.own)

    def bounds(self) -> Bounds:
        top = 2.0 if self.kind == "normalized" else 2.0 * self.graph.largest
        return -top, 0.0

    def describe(self) -> str:
        return "-1 * L"


@final
class Polynomial(OnWorkers):
    """p(L) by its Chebyshev coefficients on the certified interval of L.

    T'p(L)T needs products for half the degree only: 2 T_j T_k = T_{j+k} + T_{j-k}.
    """

    def __init__(self, minus: MinusLaplacian, coefficients: list[float]):
        self.minus, self.n = minus, minus.n
        self.coefficients = list(coefficients)
        self.radius = -minus.bounds()[0] / 2

    def _next(self, newer: Tall, older: Tall | None, width: int) -> Tall:
        """T_{j+1} of L moved to [-1, 1], from T_j and T_{j-1} (None for j = 0)."""
        product = self.minus.times(newer, width)
        if older is None:
            return product.map(_first_step, newer, self.radius)
        return product.map(_step, newer, older, self.radius)

    def of_table(self, table: Tall, width: int) -> Array:
        degree = len(self.coefficients) - 1
        newer, older = table, None
        (zeroth,) = values(GRAPH, [tree(add, table.tasks(cross, table))])
        first = np.zeros_like(zeroth)
        total = self.coefficients[0] * zeroth
        for j in range(degree // 2 + degree % 2):
            following = self._next(newer, older, width)
            sums = [
                tree(add, following.tasks(cross, other)) for other in (newer, following)
            ]
            *blocks, between, own = held(GRAPH, [*following.blocks, *sums])
            between, own = values("", [between, own])
            if j == 0:
                first = between
            odd, even = 2 * j + 1, 2 * j + 2
            total += self._coefficient(odd) * (
                between if j == 0 else 2 * between - first
            )
            total += self._coefficient(even) * (2 * own - zeroth)
            older, newer = newer, Tall(tuple(blocks), table.sizes)
        return np.asarray(total)

    def _coefficient(self, k: int) -> float:
        return self.coefficients[k] if k < len(self.coefficients) else 0.0

    def times(self, V: Tall, width: int) -> Tall:
        newer, older = V, None
        total = V.map(_times, self.coefficients[0])
        for coefficient in self.coefficients[1:]:
            older, newer = newer, self._next(newer, older, width).held("polynomial")
            total = total.map(_plus, newer, coefficient).held("")
        return total

    def bounds(self) -> Bounds:
        found = chebyshev.chebval(np.linspace(-1, 1, 2001), self.coefficients)
        return float(found.min()), float(found.max())

    def describe(self) -> str:
        return "r(L)"


@final
class LowRankFunction(OnWorkers):
    """U diag(f) U' + rest (I - U U') for a few eigenvectors U."""

    def __init__(self, vectors: Tall, f: Array, rest: float):
        self.vectors, self.f, self.rest, self.n = vectors, f, rest, vectors.n

    def of_table(self, table: Tall, width: int) -> Array:
        loadings = self.vectors.total(GRAPH, cross, table)
        gram = table.total(GRAPH, cross, table)
        return np.asarray(
            loadings.T @ ((self.f - self.rest)[:, None] * loadings) + self.rest * gram
        )

    def times(self, V: Tall, width: int) -> Tall:
        loadings = self.vectors.total(GRAPH, cross, V)
        weighted = (self.f - self.rest)[:, None] * loadings
        return V.map(_low_rank, self.vectors, weighted, self.rest)

    def bounds(self) -> Bounds:
        ends = np.append(self.f, self.rest)
        return float(ends.min()), float(ends.max())

    def describe(self) -> str:
        return "r(L)"


@final
class Spread(OnWorkers):
    """factor S (shift + R) S: a term of some rows as one of all.

    ``scales``, the diagonal of S, are 0 where a row is not known to the graph, and make
    up elsewhere for what other terms do not say.
    """

    def __init__(self, base: OnWorkers, scales: Tall, factor: float, shift: float):
        self.base, self.scales, self.n = base, scales, base.n
        self.factor, self.shift = factor, shift

    def of_table(self, table: Tall, width: int) -> Array:
        inner = table.map(scaled_rows, self.scales).held("")
        found = self.base.of_table(inner, width)
        if self.shift:
            found = found + self.shift * inner.total(GRAPH, cross, inner)
        return np.asarray(self.factor * found)

    def times(self, V: Tall, width: int) -> Tall:
        inner = V.map(scaled_rows, self.scales).held("")
        product = self.base.times(inner, width)
        return product.map(_spread, inner, self.scales, self.factor, self.shift)

    def bounds(self) -> Bounds:
        return -np.inf, np.inf

    def describe(self) -> str:
        return self.base.describe()


# -- what workers do ------------------------------------------------------------------


def _with_ones(psi: Array) -> Array:
    return np.hstack([psi, np.ones((len(psi), 1), dtype=psi.dtype)])


def ones_where(degrees: Array) -> Array:
    """One for each row that has an edge, else zero."""
    return (degrees > 0).astype(np.float64)


def _is_zero(degrees: Array) -> Array:
    return np.asarray(degrees == 0)


def _less_own(product: Array, V: Array, own: Array) -> Array:
    return np.asarray(product - own[:, None] * V)


def _first_step(minus: Array, newer: Array, radius: float) -> Array:
    # (L - r) / r of what -L has been applied to
    return -minus / radius - newer


def _step(minus: Array, newer: Array, older: Array, radius: float) -> Array:
    return 2 * (-minus / radius - newer) - older


def _times(V: Array, factor: float) -> Array:
    return factor * V.astype(np.float64)


def _plus(total: Array, V: Array, factor: float) -> Array:
    return total + factor * V


def _low_rank(V: Array, U: Array, weighted: Array, rest: float) -> Array:
    return np.asarray(U @ weighted + rest * V)


def _spread(
    product: Array, inner: Array, scales: Array, factor: float, shift: float
) -> Array:
    return np.asarray(factor * scales[:, None] * (product + shift * inner))
