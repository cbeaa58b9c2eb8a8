"""The problem restricted to a span: V = Psi B, so that only Psi'M Psi has to be known.

Psi are the features Phi of the landmarks, or [Phi, S S Phi] with S the normalised
adjacency. With K = Phi Phi' everything is in a few small matrices, sums over blocks of
rows and of edges in float64,

    G = Psi'Psi,  Q = Psi'R Psi  for every graph term R,

and the weights of kernels and graphs are learned on them without a look at the data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, inverse_root, row_blocks, signs_of_columns
from graphfold.graphs.laplacian import Laplacian, inverse_sqrt
from graphfold.model.problem import Problem
from graphfold.model.terms import Term
from graphfold.operators import Dense, LowRank, SymmetricOperator
from graphfold.progress import counted
from graphfold.threads import blocks, do_blocks

#: directions of the span below this share of its largest are rounding of float32
SPAN_CUT = 1e-7
#: steps to the neighbours that widen a span: to those of neighbours. Measured on MNIST
#: (benchmarks/widening.py): one step leaves three times the angle, three gain little
STEPS = 2
#: rows of a sum in single precision
BLOCK = 4096
#: rows whose neighbours are gathered in double precision
PRECISE_BLOCK = 512
#: columns that a graph term is applied to at once
CHUNK = 64


class Features(ABC):
    """Columns of Psi, wherever its rows lie: what a span has to know of them.

    ``widths`` are the columns of each part, the kernels' own first; ``count`` is the
    number of rows, or what they count together.
    """

    n: int
    widths: Sequence[int]
    count: float
    #: whether all n-vectors can be had, and not those of the span alone
    whole: bool

    @abstractmethod
    def moments(self) -> tuple[Array, Array]:
        """Sum of the rows of Psi (as much as they count), and Psi'Psi."""

    @abstractmethod
    def of_term(self, R: SymmetricOperator) -> tuple[Array, Array, float]:
        """Psi'R Psi, Psi'R1 and 1'R1, 1 being the constant of the problem."""

    @abstractmethod
    def combined(self, B: Array, mean: Array) -> Any:
        """Psi B less the constant times ``mean``: n-vectors."""

    @abstractmethod
    def signs(self, V: Any) -> Array:
        """+1 or -1 for each column of n-vectors: their entry of largest size."""

    def columns(self) -> list[slice]:
        """Where each part is among the columns of Psi."""
        return [slice(a, b) for a, b in pairwise(np.cumsum([0, *self.widths]))]


@final
class InMemory(Features):
    """Features that are there: ``parts`` are blocks of columns of Psi.

    ``roots`` as in :class:`Problem`. ``precise`` sums in double precision throughout:
    twice the time, and no order of the rows can be told from the answer.
    """

    whole = True

    def __init__(
        self, parts: Sequence[Array], roots: Array | None = None, precise: bool = False
    ):
        self.parts, self.roots, self.precise = parts, roots, precise
        self.n, self.widths = len(parts[0]), [part.shape[1] for part in parts]
        self._ones = np.ones(self.n) if roots is None else roots
        self.count = float(self._ones @ self._ones)

    def moments(self) -> tuple[Array, Array]:
        return moments_of_rows(self.parts, self.roots, self.precise)

    def of_term(self, R: SymmetricOperator) -> tuple[Array, Array, float]:
        Q = moments_of_term(R, self.parts, self.precise)
        R1 = R.apply(self._ones[:, None].astype(R.dtype)).astype(np.float64)[:, 0]
        pull = sum_of_rows(self.parts, R1, self.precise)
        return Q, pull, float(self._ones @ R1)

    def combined(self, B: Array, mean: Array) -> Array:
        dtype = np.float64 if self.precise else np.float32
        B, mean = B.astype(dtype), mean.astype(dtype)
        V = np.empty((self.n, B.shape[1]), dtype=dtype)

        def fill(rows: slice) -> None:
            V[rows] = side_by_side(self.parts, rows).astype(dtype, copy=False) @ B
            V[rows] -= mean if self.roots is None else np.outer(self.roots[rows], mean)

        do_blocks("vectors of the span", fill, row_blocks(self.n, BLOCK))
        return V

    def signs(self, V: Array) -> Array:
        return signs_of_columns(V)


@dataclass
class Span:
    """The span of some features, with what the terms of a problem say of it."""

    features: Features
    center: bool = True
    total: Array = field(init=False, repr=False)
    mean: Array = field(init=False, repr=False)
    gram: Array = field(init=False, repr=False)
    basis: Array = field(init=False, repr=False)
    _kernels: dict[int, Array] = field(init=False, repr=False, default_factory=dict)
    _seen: dict[int, tuple[SymmetricOperator, Array]] = field(
        init=False, repr=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        self.total, self.gram = self.features.moments()
        self.mean = self.total / self.features.count
        if self.center:
            self.gram = self.gram - np.outer(self.total, self.mean)
        self.basis = inverse_root(self.gram, SPAN_CUT)

    @property
    def dimension(self) -> int:
        """Dimension of the span."""
        return self.basis.shape[1]

    def project(self, problem: Problem) -> Problem:
        """The same problem in an orthonormal basis of the span."""
        return replace(
            problem,
            kernels=tuple(
                replace(term, base=self._of_kernel(i), start=None)
                for i, term in enumerate(problem.kernels)
            ),
            graphs=tuple(self._of_graph(term) for term in problem.graphs),
            fixed=tuple(self._of_graph(term) for term in problem.fixed),
            center=False,
            trivial=None,
            _memo=type(problem._memo)(),
        )

    def vectors(self, small: Array) -> Any:
        """The n-vectors of coordinates in the span."""
        B = self.basis @ small
        mean = self.mean @ B if self.center else np.zeros(B.shape[1])
        return self.features.combined(B, mean)

    def _of_kernel(self, i: int) -> Dense:
        """Phi_i Phi_i' in the basis."""
        if i not in self._kernels:
            factor = self.basis.T @ self.gram[:, self.features.columns()[i]]
            self._kernels[i] = factor @ factor.T
        return Dense(self._kernels[i], bounds=(0.0, np.inf), name="K")

    def _of_graph(self, term: Term) -> Term:
        known = self._seen.get(id(term.base))
        if known is None or known[0] is not term.base:
            Q = self.basis.T @ self._moments_of(term.base) @ self.basis
            known = (term.base, Q)
            self._seen[id(term.base)] = known
        small = Dense(known[1], bounds=term.base.bounds(), name=term.base.describe())
        return replace(term, base=small)

    def _moments_of(self, R: SymmetricOperator) -> Array:
        Q, pull, within = self.features.of_term(R)
        if not self.center:
            return Q
        both = np.outer(self.mean, pull)
        return np.asarray(Q - both - both.T + within * np.outer(self.mean, self.mean))


def moments_of_rows(
    parts: Sequence[Array], roots: Array | None = None, precise: bool = False
) -> tuple[Array, Array]:
    """Sum of the rows of Psi, and Psi'Psi: products in float32, sums in float64."""
    ones = np.ones(len(parts[0])) if roots is None else roots
    width = sum(part.shape[1] for part in parts)
    gram = np.zeros((width, width))

    def squares(rows: slice) -> Array:
        block = _block(parts, rows, precise)
        return np.asarray(block.T @ block)

    rows = row_blocks(len(parts[0]), BLOCK)
    with blocks("moments of the features", squares, rows) as found:
        for part in found:
            gram += part
    return sum_of_rows(parts, ones, precise), gram


def sum_of_rows(parts: Sequence[Array], weights: Array, precise: bool = False) -> Array:
    """Psi'w: as the moments, in the precision of the features within a block."""
    total = np.zeros(sum(part.shape[1] for part in parts))

    def weighted(rows: slice) -> Array:
        block = _block(parts, rows, precise)
        return np.asarray(weights[rows].astype(block.dtype) @ block)

    rows = row_blocks(len(parts[0]), BLOCK)
    with blocks("sum of the features", weighted, rows) as found:
        for part in found:
            total += part
    return total


def _block(parts: Sequence[Array], rows: slice, precise: bool) -> Array:
    block = side_by_side(parts, rows)
    return block.astype(np.float64) if precise else block


def moments_of_term(
    R: SymmetricOperator, parts: Sequence[Array], precise: bool = False
) -> Array:
    """Psi'R Psi: over the edges where R is sparse, else by products with R."""
    matrix = R.sparse()
    if matrix is None:
        product = _by_products(R, parts, precise)
    else:
        product = _by_edges(matrix, parts, precise)
    return (product + product.T) / 2


def _by_edges(matrix: Any, parts: Sequence[Array], precise: bool) -> Array:
    """Every edge once: U with R = U + U', then Psi'U Psi twice its symmetric part."""
    upper = upper_half(matrix, np.float64 if precise else parts[0].dtype)
    width = sum(part.shape[1] for part in parts)
    total = np.zeros((width, width))

    def moments(rows: slice) -> Array:
        near = upper[rows]
        pulled = [_double_product(near, p) if precise else near @ p for p in parts]
        pulled_block = pulled[0] if len(pulled) == 1 else np.hstack(pulled)
        return np.asarray(side_by_side(parts, rows).T @ pulled_block)

    size = PRECISE_BLOCK if precise else BLOCK
    rows = row_blocks(len(parts[0]), size)
    with blocks("moments of the graph", moments, rows) as found:
        for part in found:
            total += part
    return 2 * total


def upper_half(matrix: Any, dtype: Any) -> Any:
    """U with R = U + U': what is above the diagonal, and half of what is on it."""
    matrix = sp.csr_array(matrix)
    lengths = np.diff(matrix.indptr)
    rows = np.repeat(np.arange(len(lengths), dtype=matrix.indices.dtype), lengths)
    kept = matrix.indices >= rows
    data = matrix.data[kept].astype(dtype)
    data[matrix.indices[kept] == rows[kept]] /= 2
    starts = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    starts = starts.astype(matrix.indptr.dtype)
    return sp.csr_array((data, matrix.indices[kept], starts), shape=matrix.shape)


def _double_product(near: Any, part: Array) -> Array:
    """A sparse block times the features in double precision, of its neighbours only."""
    columns, places = np.unique(near.indices, return_inverse=True)
    shape = (near.shape[0], len(columns))
    local = sp.csr_array((near.data, places.ravel(), near.indptr), shape=shape)
    return np.asarray(local @ part[columns].astype(np.float64))


def _by_products(R: SymmetricOperator, parts: Sequence[Array], precise: bool) -> Array:
    """Psi'(R Psi) by blocks of columns, for a function of a Laplacian."""
    widths = [part.shape[1] for part in parts]
    total = np.zeros((sum(widths), sum(widths)))
    dtype = np.float64 if precise else parts[0].dtype
    place = 0
    for part in parts:
        chunks = row_blocks(part.shape[1], CHUNK)
        for columns in counted("moments of the graph", chunks):
            pulled = R.apply(part[:, columns].astype(R.dtype)).astype(dtype)
            here = slice(place + columns.start, place + columns.stop)
            for rows in row_blocks(len(pulled), BLOCK):
                block = _block(parts, rows, precise)
                total[:, here] += block.T @ pulled[rows]
        place += part.shape[1]
    return total


def side_by_side(parts: Sequence[Array], rows: slice) -> Array:
    """Some rows of Psi."""
    if len(parts) == 1:
        return parts[0][rows]
    return np.hstack([part[rows] for part in parts])


def span_of(
    problem: Problem, laplacians: Mapping[str, Laplacian], *, wide: bool
) -> Span:
    """The span of a problem's features; widened by its graphs where it is the answer.

    Several graphs widen it together, by the mean of their normalised adjacencies.
    """
    parts = features_of(problem)
    known = [L for L in laplacians.values() if L.n == problem.n]
    if wide and known:
        S = sum(normalized_adjacency(L) for L in known) / len(known)
        parts = widened(parts, S)
    features = InMemory(parts, problem.roots, precise=wide)
    return Span(features, problem.center)


def normalized_adjacency(laplacian: Laplacian) -> Any:
    """S = D^-1/2 A D^-1/2, read off either Laplacian."""
    matrix = laplacian.operator.matrix
    A = sp.csr_array(sp.diags_array(matrix.diagonal()) - matrix)
    if laplacian.kind == "normalized":
        return A
    root = sp.diags_array(inverse_sqrt(laplacian.degrees))
    return sp.csr_array(root @ A @ root)


def features_of(problem: Problem) -> list[Array]:
    """The features of each kernel of a problem whose kernels are known by them."""
    found = []
    for term in problem.kernels:
        assert isinstance(term.base, LowRank)
        found.append(term.base.Z)
    return found


def widened(parts: Sequence[Array], adjacency: Any) -> list[Array]:
    """[Phi, S S Phi]: what a row's neighbours, and theirs, are adds to what it is."""
    S = sp.csr_array(adjacency, dtype=np.float64)
    pulled = list(parts)
    for _ in range(STEPS):
        pulled = _pulled(S, pulled)
    return [*parts, *pulled]


def _pulled(S: Any, parts: Sequence[Array]) -> list[Array]:
    pulled = [np.empty_like(part) for part in parts]

    def fill(rows: slice) -> None:
        near = S[rows]
        for part, room in zip(parts, pulled, strict=True):
            room[rows] = _double_product(near, part)

    rows = row_blocks(S.shape[0], PRECISE_BLOCK)
    do_blocks("features of neighbours", fill, rows)
    return pulled
