"""Features of rows on workers, widened by the graph, and the sums that a span needs.

Psi = [Phi, S S Phi] has a block of rows for each block of X. Its second half is made of
rows that are moved to where they are neighbours, in two steps; while a block is made,
its share of Psi'Psi and of Psi'S Psi is summed, so that maps over the blocks and trees
of additions give all that the problem in the span has to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import getitem
from typing import Any, final
from uuid import uuid4

import numpy as np

from graphfold.arrays import Array, row_blocks
from graphfold.distributed.blocks import Tall, add, tree
from graphfold.distributed.grid import STRIP_ROWS, BlockGraph, Gathered, Strip
from graphfold.distributed.memory import reusing_memory
from graphfold.distributed.rows import DistributedRows, resized
from graphfold.distributed.running import held, values
from graphfold.distributed.tasks import from_delayed, graph_of, literal, task
from graphfold.kernels.landmarks import LandmarkFeatures
from graphfold.model.span import Features
from graphfold.operators import SymmetricOperator


@final
class DistributedFeatures(Features):
    """Psi of rows on workers: features of landmarks and, with a graph, of neighbours.

    ``graphs`` widen the span together, by the mean of their normalised adjacencies.
    """

    whole = False

    def __init__(
        self,
        rows: DistributedRows,
        landmarks: Sequence[LandmarkFeatures],
        graphs: Sequence[BlockGraph] = (),
    ):
        self.n, self.count = rows.shape[0], float(rows.shape[0])
        self.given_sizes = tuple(size for size in rows.given_sizes if size)
        self.graphs = tuple(graphs)
        own = [part.rank for part in landmarks]
        self.width = sum(own)
        self.widths = [*own, *own] if graphs else own
        phi = rows.blocks.map(_features, literal(list(landmarks)))
        if graphs:
            self.parts: tuple[Tall, ...] = self._widened(phi)
        else:
            phi = phi.held("features of landmarks")
            self.parts = (phi,)
            self._moments = phi.total("moments of the features", _own_moments)

    def _widened(self, phi: Tall) -> tuple[Tall, Tall]:
        """Both halves of Psi, and the sums of their blocks.

        All is asked for at once: a worker goes on with the next step while another
        ends the one before, and what a block adds is dropped when it is added.
        """
        near, of_phi = self._pulled(_first_step, phi, phi)
        P, moments = self._pulled(_second_step, near, phi)
        tasks = [*phi.blocks, *P.blocks, of_phi, moments]
        *blocks, of_phi, moments = held("features of neighbours", tasks)
        self._of_phi, self._moments = values("", [of_phi, moments])
        n = len(phi.blocks)
        return Tall(tuple(blocks[:n]), phi.sizes), Tall(tuple(blocks[n:]), phi.sizes)

    def _pulled(self, function: Any, table: Tall, phi: Tall) -> tuple[Tall, Any]:
        """S times a table, rounded, and a sum over the blocks made on the way."""
        pairs = self._neighbours(function, table, phi)
        blocks = [task(getitem, pair, 0, place=pair.place) for pair in pairs]
        parts = [task(getitem, pair, 1, place=pair.place) for pair in pairs]
        return Tall(tuple(blocks), table.sizes), tree(add, parts)

    def _neighbours(self, function: Any, table: Tall, *others: Tall) -> list[Any]:
        """``function(strips and rows by graph, *blocks)`` for each block."""
        return [
            task(
                function,
                [
                    (graph.normalized.strips[i], graph.normalized.gathered(i, table))
                    for graph in self.graphs
                ],
                *(other.blocks[i] for other in others),
                place=block.place,
            )
            for i, block in enumerate(table.blocks)
        ]

    @property
    def psi(self) -> Tall:
        """Psi in one piece, for products that need it so: made where it is used."""
        phi, *others = self.parts
        return phi.map(_side_by_side, *others) if others else phi

    def moments(self) -> tuple[Array, Array]:
        return self._moments[0], self._moments[1]

    def of_term(self, R: SymmetricOperator) -> tuple[Array, Array, float]:
        Q, pull, within = R.moments(self)  # type: ignore[attr-defined]
        return (Q + Q.T) / 2, pull, float(within)

    def combined(self, B: Array, mean: Array) -> Any:
        phi, *others = self.parts
        V = phi.map(_combined, literal(B), mean, *others)
        V = resized(V, self.given_sizes).held("vectors of the span")
        return as_array(V, (B.shape[1],), np.dtype(np.float64))

    def signs(self, V: Any) -> Array:
        parts = [task(_extremes, block) for block in blocks_of(V).blocks]
        (largest,) = values("signs", [tree(_larger, parts)])
        return np.where(largest < 0, -1.0, 1.0)

    @cached_property
    def of_adjacency(self) -> tuple[Array, Array]:
        """Psi'S1 and Psi'S Psi, S the normalised adjacency that widens the span."""
        M, (phi, P) = self.width, self.parts
        tasks = self._neighbours(_last_step, P, phi, P)
        (last,) = values("moments of the graph", [tree(add, tasks)], tasks)
        (phi_s1, phi_s_phi), (p_s1, psi_s_p) = self._of_phi, last
        phi_s_p = psi_s_p[:M]
        gram = np.block([[phi_s_phi, phi_s_p], [phi_s_p.T, psi_s_p[M:]]])
        return np.concatenate([phi_s1, p_s1]), gram

    def of_some_rows(self, mask: Tall) -> tuple[Array, Array]:
        """Psi'1 and Psi'Psi of the rows where a mask is true."""
        total, gram = self.psi.total("some rows", _moments_where, mask)
        return total, gram


# -- what workers do ------------------------------------------------------------------


@reusing_memory
def _features(X: Any, landmarks: Sequence[LandmarkFeatures]) -> Array:
    """Features of some rows, rounded to single precision at the end only."""
    parts = [part.of(X, precise=True) for part in landmarks]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


@reusing_memory
def _own_moments(phi: Array) -> tuple[Array, Array]:
    M = phi.shape[1]
    total, gram, doubled = np.zeros(M), Sums(M, M), Doubled(M)
    for rows in row_blocks(len(phi), STRIP_ROWS):
        block = doubled(phi[rows])
        total += block.sum(axis=0)
        gram.add(block, block)
    return total, gram.total


Near = list[tuple[Strip, Gathered]]


@reusing_memory
def _first_step(near: Near, phi: Array) -> tuple[Array, tuple[Array, Array]]:
    """A block of S Phi, rounded, and its share of Phi'S1 and Phi'S Phi, not so."""
    M = phi.shape[1]
    pulled, total = np.empty_like(phi), np.zeros(M)
    sums, doubled = Sums(M, M), Doubled(M)
    for rows, exact in _means_of_neighbours(near, phi):
        pulled[rows] = exact
        total += exact.sum(axis=0)
        sums.add(doubled(phi[rows]), exact)
    return pulled, (total, sums.total)


@reusing_memory
def _second_step(near: Near, phi: Array) -> tuple[Array, tuple[Array, Array]]:
    """A block of P = S S Phi, rounded, and its share of the sums of Psi = [Phi, P]."""
    M = phi.shape[1]
    P, total = np.empty_like(phi), np.zeros(2 * M)
    own_own, own_p, p_p = Sums(M, M), Sums(M, M), Sums(M, M)
    own_doubled, p_doubled = Doubled(M), Doubled(M)
    for rows, exact in _means_of_neighbours(near, phi):
        P[rows] = exact
        own, p = own_doubled(phi[rows]), p_doubled(P[rows])
        total[:M] += own.sum(axis=0)
        total[M:] += p.sum(axis=0)
        own_own.add(own, own)
        own_p.add(own, p)
        p_p.add(p, p)
    gram = [[own_own.total, own_p.total], [own_p.total.T, p_p.total]]
    return P, (total, np.block(gram))


@reusing_memory
def _last_step(near: Near, phi: Array, P: Array) -> tuple[Array, Array]:
    """A block's share of P'S1 and Psi'S P."""
    M = phi.shape[1]
    total, of_phi, of_p, doubled = np.zeros(M), Sums(M, M), Sums(M, M), Doubled(M)
    for rows, exact in _means_of_neighbours(near, P):
        total += exact.sum(axis=0)
        of_phi.add(doubled(phi[rows]), exact)
        of_p.add(doubled(P[rows]), exact)
    return total, np.vstack([of_phi.total, of_p.total])


class Doubled:
    """Strips of rows in double precision, one after the other in the same place.

    Dask lets its workers give all memory back at once, so that new memory is new
    indeed: to get it takes longer than to fill it.
    """

    def __init__(self, width: int) -> None:
        self._room = np.empty((STRIP_ROWS, width))

    def __call__(self, *parts: Array) -> Array:
        """These rows, side by side; those that were here before are gone."""
        view = self._room[: len(parts[0])]
        np.concatenate(parts, axis=1, out=view)
        return view


class Sums:
    """A'B of many strips of rows, added up in place."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self.total = np.zeros((n_rows, n_columns))
        self._room = np.empty((n_rows, n_columns))

    def add(self, A: Array, B: Array) -> None:
        """One more strip; of A'A NumPy computes one half."""
        np.matmul(A.T, B, out=self._room)
        self.total += self._room


def _means_of_neighbours(near: Near, like: Array) -> Iterator[tuple[slice, Array]]:
    """The mean of the products of several graphs, strip by strip."""
    size, width = STRIP_ROWS, like.shape[1]
    products = [strip.products(rows, size) for strip, rows in near if rows]
    for rows in row_blocks(len(like), size):
        parts = [next(product)[1] for product in products]
        total = parts[0] if parts else np.zeros((rows.stop - rows.start, width))
        for part in parts[1:]:
            total += part
        yield rows, total / len(near) if len(near) > 1 else total


def _side_by_side(*parts: Array) -> Array:
    return np.hstack(parts)


@reusing_memory
def _combined(phi: Array, B: Array, mean: Array, *others: Array) -> Array:
    """Psi B less a constant for a block, Psi in one part or two."""
    V = np.empty((len(phi), B.shape[1]))
    doubled = Doubled(B.shape[0])
    for rows in row_blocks(len(phi), STRIP_ROWS):
        psi = doubled(*(part[rows] for part in (phi, *others)))
        np.matmul(psi, B, out=V[rows])
        V[rows] -= mean
    return V


def _moments_where(psi: Array, mask: Array) -> tuple[Array, Array]:
    return _own_moments(psi[mask])


@reusing_memory
def cross(psi: Array, table: Array) -> Array:
    """Psi'T of a block, summed in double precision."""
    found = np.zeros((psi.shape[1], table.shape[1]))
    for rows in row_blocks(len(psi), STRIP_ROWS):
        found += psi[rows].astype(np.float64).T @ table[rows].astype(np.float64)
    return found


def scaled_rows(table: Array, scale: Array) -> Array:
    """Rows times a number each, in double precision."""
    return np.asarray(table * scale[:, None])


def _extremes(V: Array) -> Array:
    """The entry of largest size in each column."""
    return np.asarray(V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])])


def _larger(parts: list[Array]) -> Array:
    """Of several extremes that of the largest size, the first of equal ones."""
    table = np.array(parts)
    return _extremes(table)


# -- arrays of Dask's -----------------------------------------------------------------


def as_array(table: Tall, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """A table as a ``dask.array``; ``shape`` is that of a row."""
    import dask.array as da

    graph, _ = graph_of(table.blocks)
    name = f"rows-{uuid4().hex}"
    columns = (0,) * len(shape)
    graph |= {(name, i, *columns): block.key for i, block in enumerate(table.blocks)}
    chunks = (table.sizes, *((width,) for width in shape))
    return da.Array(graph, name, chunks, dtype=dtype)


def blocks_of(array: Any) -> Tall:
    """A ``dask.array`` whose columns are in one chunk, as a table."""
    blocks = tuple(from_delayed(block) for block in array.to_delayed().ravel())
    return Tall(blocks, tuple(int(size) for size in array.chunks[0]))
