"""Laplacians of a graph, with a certified upper bound of the spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphError
from graphfold.graphs.graph import Graph
from graphfold.operators import Sparse

KINDS = ("normalized", "combinatorial")
#: from here on the square of 1 / sqrt(degree) may be out of range
_LARGEST_ROOT = 1e150


@dataclass(frozen=True)
class Laplacian:
    """A Laplacian and what is known of it without solving.

    ``scale`` is c(L), the size that ``graph_strength`` is measured in: 1 for the
    normalised Laplacian, the largest degree for the combinatorial one.
    """

    operator: Sparse
    kind: str
    degrees: Array
    scale: float

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.operator.n

    @property
    def bound(self) -> float:
        """Certified upper bound of the largest eigenvalue."""
        return self.operator.bounds()[1]


def laplacian(
    graph: Graph, kind: str = "normalized", dtype: Any = np.float64
) -> Laplacian:
    """L = D - A, or I - D^-1/2 A D^-1/2.

    Isolated nodes have an empty row in both. For a signed graph the normalisation uses
    the sum of absolute weights, and L has negative eigenvalues.

    Examples
    --------
    >>> from graphfold import Graph
    >>> from graphfold.graphs import laplacian
    >>> laplacian(Graph([("a", "b")])).operator.to_dense()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    check.one_of("laplacian", kind, KINDS)
    A = graph.to_scipy()
    A = A if A.has_sorted_indices else A.sorted_indices()
    with np.errstate(over="ignore"):  # refused in the next sentence
        degrees = graph.degrees
        sizes = np.asarray(abs(A).sum(axis=1)).ravel() if graph.is_signed else degrees
    largest = float(sizes.max(initial=0.0)) or 1.0
    if not np.isfinite(largest):
        raise GraphError(
            "graph weights must add up to a finite number at every node; the largest "
            f"weight is {np.abs(A.data).max():.3g}: divide the weights by a number"
        )
    if kind == "combinatorial":
        # Gershgorin: the row of node i has the centre d_i and the radius |d|_i
        bounds = (-2 * largest if graph.is_signed else 0.0, 2 * largest)
        matrix, scale = _difference(degrees, A.data, A, dtype), largest
    else:
        matrix = _difference(*_normalized(A, degrees, sizes), A, dtype)
        bounds = (-2.0 if graph.is_signed else 0.0, 2.0)
        scale = 1.0
    operator = Sparse(matrix, bounds=bounds, name="L")
    return Laplacian(operator, kind, sizes, scale)


def _normalized(A: Any, degrees: Array, sizes: Array) -> tuple[Array, Array]:
    """The diagonal D |D|^-1, and the values of |D|^-1/2 A |D|^-1/2."""
    root = inverse_sqrt(sizes)
    scaled = np.repeat(root, np.diff(A.indptr))
    if root.max(initial=0.0) < _LARGEST_ROOT:
        scaled *= root[A.indices]
        scaled *= A.data
        return degrees * root**2, scaled
    # roots multiplied with each other would be infinite: each takes half of the weight
    half = np.sqrt(np.abs(A.data))
    scaled *= half
    scaled *= np.sign(A.data) * half * root[A.indices]
    return degrees * root * root, scaled


def refuse_out_of_range(L: Laplacian, dtype: Any) -> None:
    """Raise if entries of L, as they are in a combinatorial one, are lost in a type."""
    largest = L.scale
    number = np.finfo(dtype)
    low, high = float(number.tiny / number.eps), float(number.max) / 4
    if number.dtype == np.float32 and not low <= largest <= high:
        raise GraphError(
            "graph weights must give a largest degree between "
            f"{low:.2g} and {high:.2g} in single precision, which landmarks and rows "
            f'of float32 use with laplacian="combinatorial"; got {largest:.3g}: '
            'multiply the weights by a number, or use laplacian="normalized"'
        )


def _difference(diagonal: Array, values: Array, A: Any, dtype: Any) -> Any:
    """diag(diagonal) less the matrix with these values in the places of A's.

    A has no diagonal, and its columns are in order. Zeros are not stored.
    """
    with np.errstate(over="ignore"):  # ``refuse_out_of_range`` is the caller's
        values, diagonal = values.astype(dtype), diagonal.astype(dtype)
    stored = diagonal != 0
    rows = np.repeat(np.arange(len(diagonal), dtype=A.indices.dtype), np.diff(A.indptr))
    # in the type of the indices, which SciPy would widen together
    counts = np.zeros(A.nnz + 1, dtype=A.indptr.dtype)
    before = np.zeros(len(stored) + 1, dtype=A.indptr.dtype)
    np.cumsum(A.indices < rows, out=counts[1:])
    np.cumsum(stored, out=before[1:])
    # entries of A before the diagonal, and entries of the diagonal in earlier rows
    places = A.indptr[:-1] + np.diff(counts[A.indptr]) + before[:-1]
    places = places[stored]
    off_diagonal = np.ones(len(values) + len(places), dtype=bool)
    off_diagonal[places] = False
    data = np.empty(len(off_diagonal), dtype=dtype)
    data[off_diagonal], data[places] = -values, diagonal[stored]
    indices = np.empty(len(off_diagonal), dtype=A.indices.dtype)
    indices[off_diagonal], indices[places] = A.indices, np.flatnonzero(stored)
    return sp.csr_array((data, indices, A.indptr + before), shape=A.shape)


def inverse_sqrt(degrees: Array) -> Array:
    """1 / sqrt(degree), and 0 where the degree is 0."""
    positive = degrees > 0
    return np.where(positive, 1 / np.sqrt(np.where(positive, degrees, 1.0)), 0.0)
