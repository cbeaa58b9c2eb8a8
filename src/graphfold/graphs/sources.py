"""Edges and matrices become one symmetric adjacency matrix, by one set of rules.

Every source ends as a symmetric CSR array without diagonal, plus labels or None.
Edges are undirected. An edge that is listed several times, in one direction or in
both, counts once with the largest of its weights: two entries of a matrix, two rows of
a table and two edges of a directed graph mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.check import integer_between, no_tensor, some_of
from graphfold.errors import (
    DroppedEdgesWarning,
    DuplicateEdgesWarning,
    GraphError,
    LabelError,
    warn,
)
from graphfold.graphs.labels import LabelIndex, as_labels, comparable, missing_labels

#: weights that differ by less, relatively, are equal but for rounding in float32
_SAME_WEIGHT = 1e-5


class Adjacency(NamedTuple):
    """A weighted adjacency matrix and the labels of its nodes, if it has any."""

    matrix: Any
    nodes: Array | None


class Rules(NamedTuple):
    """What to do with repeated edges, negative weights and missing ends."""

    duplicates: str = "once"
    negative: str = "refuse"
    dropna: bool = False


RULES = Rules()


# -- matrices -------------------------------------------------------------------------


def from_matrix(matrix: Any, nodes: Array | None = None, rules: Rules = RULES) -> Any:
    """The larger of A and A', entry by entry: A itself where it is symmetric.

    ``duplicates="sum"`` makes A + A' of an asymmetric matrix. Repeated entries of a COO
    matrix mean their sum, as everywhere in SciPy. ``nodes`` are named in the warning.
    """
    if matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"graph must be a square matrix; got shape {matrix.shape}")
    matrix = without_loops(as_weights(matrix))
    matrix.eliminate_zeros()
    symmetric = _equal(matrix, sp.csr_array(matrix.T))
    matrix.data = _usable(matrix.data, rules.negative, 2 if symmetric else 1)
    if symmetric:
        return matrix
    turned = sp.csr_array(matrix.T)
    if rules.duplicates == "sum":
        return sp.csr_array(matrix + turned)
    larger = sp.csr_array(matrix.maximum(turned))
    if not _all_equal(matrix.data):
        _warn_of_directions(larger, sp.csr_array(matrix.minimum(turned)), nodes)
    return larger


def without_loops(matrix: Any) -> Any:
    """A new CSR array of what is off the diagonal, be that on it infinite or NaN."""
    matrix = sp.csr_array(matrix, copy=True)
    matrix.sum_duplicates()
    if not matrix.diagonal().any():
        return matrix
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    matrix.data[rows == matrix.indices] = 0.0
    return matrix


def _equal(one: Any, other: Any) -> bool:
    """Whether two CSR arrays with sorted indices are the same."""
    return one.nnz == other.nnz and all(
        np.array_equal(getattr(one, part), getattr(other, part))
        for part in ("indptr", "indices", "data")
    )


def _all_equal(values: Array) -> bool:
    return len(values) == 0 or values.min() == values.max()


def _warn_of_directions(larger: Any, smaller: Any, nodes: Array | None) -> None:
    """Warn where both directions are there and have different weights."""
    smaller.eliminate_zeros()
    both = (smaller != 0).astype(float)
    high, low = sp.triu(larger * both, format="csr"), sp.triu(smaller, format="csr")
    _warn_of_differing(sp.csr_array(high), sp.csr_array(low), nodes)


def _warn_of_differing(largest: Any, smallest: Any, nodes: Array | None) -> None:
    """Warn where two CSR arrays with entries in the same places differ."""
    found = _differing(largest.data, smallest.data)
    if len(found) == 0:
        return
    first = found[0]
    row = int(np.searchsorted(largest.indptr, first, side="right")) - 1
    ends = row, int(largest.indices[first])
    one, other = ends if nodes is None else (nodes[end] for end in ends)
    warn_of_duplicates(
        len(found),
        f", such as {one} - {other} with {smallest.data[first]:.6g} and "
        f"{largest.data[first]:.6g}",
    )


def warn_of_duplicates(count: int, example: str = "") -> None:
    """Say that edges are listed with different weights, if there are some."""
    if count:
        warn(
            f"{count} edge{' is' if count == 1 else 's are'} listed several times, or "
            f"in both directions, with different weights{example}: the largest weight "
            'counts, duplicates="sum" (--duplicates sum at the command line) adds them',
            DuplicateEdgesWarning,
        )


# -- edges ----------------------------------------------------------------------------


def from_edges(
    tails: Any, heads: Any, weights: Any, nodes: Array | None, rules: Rules = RULES
) -> Adjacency:
    """Adjacency of edges given by the labels of their ends.

    An edge listed once, twice or in both directions counts once, with the largest
    weight listed (``duplicates="sum"`` adds them up).
    """
    tails, heads, values = _complete(tails, heads, weights, rules.dropna)
    if nodes is None:
        nodes = as_labels(_distinct(tails, heads))
    index = LabelIndex(nodes)
    rows, columns = index.find(tails), index.find(heads)
    unknown = tails[rows < 0].tolist() + heads[columns < 0].tolist()
    if len(unknown):
        raise LabelError(
            f"every edge must join two of the nodes given; {some_of(unknown)} "
            "is in an edge and not in nodes"
        )
    joined = rows != columns  # loops are dropped, whatever their weight
    low = np.minimum(rows, columns)[joined]
    high = np.maximum(rows, columns)[joined]
    values = _usable(values[joined], rules.negative)
    n = len(nodes)
    half = merge_edges(low, high, values, (n, n), rules.duplicates)
    if rules.duplicates == "once" and half.nnz < len(values) and not _all_equal(values):
        smallest = _smallest_of_each(low, high, values, half.shape)
        _warn_of_differing(half, smallest, nodes)
    return Adjacency(sp.csr_array(half + half.T), nodes)


def _complete(
    tails: Any, heads: Any, weights: Any, dropna: bool
) -> tuple[Array, Array, Array]:
    """Ends and weights of the edges that have both ends."""
    tails, heads = as_labels(tails), as_labels(heads)
    values = np.ones(len(tails)) if weights is None else numbers(weights)
    if not len(tails) == len(heads) == len(values):
        raise GraphError(
            "edges must have one source, one target and one weight each; got "
            f"{len(tails)}, {len(heads)} and {len(values)}"
        )
    missing = missing_labels(tails) | missing_labels(heads)
    part = "an end" if missing.any() else "the weight"
    if dropna:
        missing |= np.isnan(values)
    elif part == "the weight":
        missing = missing_weights(tails, heads, values)
    if not missing.any():
        return tails, heads, values
    if not dropna:
        rows = np.flatnonzero(missing)
        raise GraphError(
            f"every edge must have two ends and a weight; {part} is missing in "
            f"{len(rows)} of {len(missing)} edges, in rows {some_of(rows.tolist())} "
            "counted from 0: fill them in, or drop these edges with dropna=True"
        )
    warn(
        f"{int(missing.sum())} of {len(missing)} edges were dropped: an end or the "
        "weight is missing",
        DroppedEdgesWarning,
    )
    return (
        without_missing(tails[~missing]),
        without_missing(heads[~missing]),
        values[~missing],
    )


def missing_weights(tails: Array, heads: Array, values: Array) -> Array:
    """Which edges have no weight; loops are dropped and need none."""
    missing = np.isnan(values)
    if missing.any():
        missing[missing] = np.asarray(tails[missing] != heads[missing], dtype=bool)
    return missing


def is_edge(edge: Any) -> bool:
    """Whether an entry of a list can be (node, node) or (node, node, weight)."""
    odd = isinstance(edge, str | bytes | Mapping | Set)
    return not odd and hasattr(edge, "__len__") and len(edge) in (2, 3)


def without_missing(ends: Array) -> Array:
    """Labels of which missing ones were dropped, as the integers they may have been."""
    return whole_numbers(as_labels(ends))


def merge_edges(
    rows: Array, columns: Array, values: Array, shape: tuple[int, int], duplicates: str
) -> Any:
    """One entry for each pair: the largest of the values listed, or their sum."""
    if duplicates == "sum" or len(rows) == 0:
        return sp.coo_array((values, (rows, columns)), shape=shape).tocsr()
    pair = rows.astype(np.int64) * shape[1] + columns
    order = np.lexsort((values, pair))
    last = np.append(pair[order][1:] != pair[order][:-1], True)
    keep = order[last]
    return sp.csr_array((values[keep], (rows[keep], columns[keep])), shape=shape)


def _smallest_of_each(rows: Array, columns: Array, values: Array, shape: Any) -> Any:
    """As ``merge_edges``, the smallest of the values; in the same order of entries."""
    merged = merge_edges(rows, columns, -values, shape, "once")
    merged.data = -merged.data
    return merged


def _differing(largest: Array, smallest: Array) -> Array:
    """Positions where the weights listed for an edge are not the same."""
    return np.flatnonzero(largest - smallest > _SAME_WEIGHT * largest)


def count_of_differing(rows: Array, columns: Array, values: Array, merged: Any) -> int:
    """How many entries of what ``merge_edges`` made are listed with other values."""
    smallest = _smallest_of_each(rows, columns, values, merged.shape)
    return len(_differing(merged.data, smallest.data))


def from_edge_index(
    edge_index: Any, weights: Any, nodes: Any, num_nodes: int | None
) -> Adjacency:
    """Adjacency of a 2 x E array of positions, as graph neural networks hold edges.

    Both directions are listed there as a rule, so an edge listed once or twice counts
    once, with the largest of its weights.
    """
    ends = np.asarray(no_tensor("edge_index", edge_index))
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        raise GraphError(
            "edge_index must be a 2 x E array of integers, a column for each edge; got "
            f"shape {ends.shape} of {ends.dtype}"
        )
    weights = None if weights is None else numbers(weights)
    if weights is not None and weights.shape != (ends.shape[1],):
        raise GraphError(
            f"edge_weight must hold one number for each of the {ends.shape[1]} edges; "
            f"got shape {weights.shape}"
        )
    labels = None if nodes is None else as_labels(nodes)
    if labels is not None and num_nodes is None:
        num_nodes = len(labels)
    largest = int(ends.max()) if ends.size else -1  # unsigned ones have no -1
    least = max(largest + 1, 1)
    if num_nodes is None:
        num_nodes = least
    integer_between("num_nodes", num_nodes, least, 2**62, f"edge_index has {largest}")
    if ends.size and ends.min() < 0:
        raise GraphError(
            f"edge_index must hold positions from 0 on; got {int(ends.min())}"
        )
    matrix, _ = from_edges(ends[0], ends[1], weights, np.arange(num_nodes))
    return Adjacency(matrix, labels)


# -- weights and ends -----------------------------------------------------------------


def whole_numbers(ends: Array) -> Array:
    """Integers that came as floats, because their weights are, or some are missing."""
    whole = ends.dtype.kind == "f" and bool((ends == np.floor(ends)).all())
    return ends.astype(np.int64) if whole else ends


def numbers(weights: Any) -> Array:
    """Weights of edges as an array of floats, NaN where they are missing."""
    weights = no_tensor("edge weights", weights)
    kind = getattr(getattr(weights, "dtype", None), "kind", "f")
    try:
        if kind in "mM":
            raise TypeError("a date is not a weight")
        return _as_floats(weights)
    except (TypeError, ValueError):
        raise GraphError(
            f"edge weights must be numbers; got {some_of(list(weights), 3)}"
        ) from None


def _as_floats(weights: Any) -> Array:
    """NumPy's reading, and NaN for the NA of pandas and for empty texts."""
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(weights, dtype=object)
        if values.ndim == 1:
            values[missing_labels(values)] = np.nan
        return values.astype(np.float64)


def _usable(values: Array, negative: str, listed: int = 1) -> Array:
    """Finite weights of at least 0, by the rule asked for, before edges are merged.

    ``listed``: how many of the values belong to one edge.
    """
    if not np.isfinite(values).all():
        raise GraphError("graph weights must be finite; got NaN or infinity")
    below = values < 0
    if not below.any():
        return values
    if negative == "refuse":
        raise GraphError(
            f"graph weights must be at least 0; got {values.min():g} and "
            f"{below.sum() // listed} negative edges: Graph(..., "
            'negative="clip") drops them, negative="abs" takes their size, or keep '
            "those above a threshold"
        )
    return np.abs(values) if negative == "abs" else np.maximum(values, 0)


def as_weights(matrix: Any) -> Any:
    """A matrix of floats, if it is one of real numbers."""
    if matrix.dtype.kind not in "fiub":
        raise GraphError(f"graph weights must be real numbers; got {matrix.dtype}")
    return matrix.astype(np.float64, copy=False)


def _distinct(tails: Array, heads: Array) -> Any:
    mixed = tails.dtype == object or heads.dtype == object
    if mixed or not comparable(tails, heads):
        return list(dict.fromkeys(tails.tolist() + heads.tolist()))
    return np.unique(np.concatenate([tails, heads]))
