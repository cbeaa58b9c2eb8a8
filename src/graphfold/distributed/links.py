"""Labels and pairs where rows lie on workers: groups of rows, known by their sums.

What is linked is said between groups (:mod:`graphfold.graphs.links`). The client knows
the groups, how many rows each has, and the rows that pairs name; which group a row
belongs to is known where the row is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.distributed.blocks import Tall
from graphfold.distributed.features import cross, scaled_rows
from graphfold.distributed.running import values
from graphfold.distributed.tasks import task
from graphfold.distributed.terms import OnWorkers, ones_where
from graphfold.graphs.laplacian import inverse_sqrt
from graphfold.graphs.links import UNKNOWN
from graphfold.operators import SymmetricOperator
from graphfold.operators.base import Bounds


@dataclass(frozen=True)
class Groups:
    """The group of each row, -1 for none, in blocks; and the rows of each group."""

    of_rows: Tall
    sizes: Array

    def sums(self, table: Tall, weights: Tall) -> Array:
        """P' diag(w) T: the sum of the rows of each group."""
        n = len(self.sizes)
        return np.asarray(table.total("groups", _sums, self.of_rows, weights, n))

    def look_up(self, numbers: Array) -> Tall:
        """For each row the number of its group; 0 without one."""
        return self.of_rows.map(_looked_up, numbers)


@dataclass(frozen=True)
class LinkedGroups:
    """Every row of one group linked to every row of another, as ``between`` says."""

    groups: Groups
    between: SymmetricOperator

    def degrees(self) -> Array:
        """Sum of the weights of the links of a row of each group."""
        sizes = self.groups.sizes.astype(np.float64)
        return np.asarray(self.between.apply(sizes) - self.between.diagonal())


@final
class LinkLaplacian(OnWorkers):
    """L of the sum of some link graphs: D - A with A = sum P C P' - own weights.

    ``size`` is c(L), ``share`` that of the rows that have links.
    """

    def __init__(self, parts: Sequence[LinkedGroups], kind: str, n: int) -> None:
        self.parts, self.n = list(parts), n
        of_parts = [part.degrees() for part in parts]
        degrees = parts[0].groups.look_up(of_parts[0])
        for part, own in zip(parts[1:], of_parts[1:], strict=True):
            degrees = degrees.map(np.add, part.groups.look_up(own))
        largest = max(values("links", degrees.tasks(_largest)))
        degrees = degrees.map(_without_rounding, 1e-12 * largest).held("links")
        self.share = float(degrees.total("links", _n_linked)) / n
        if kind == "normalized":
            self.roots, self.size = degrees.map(inverse_sqrt).held("links"), 1.0
            rest = degrees.map(ones_where)
        else:
            self.roots, self.size = degrees.map(np.ones_like), largest or 1.0
            rest = degrees
        for part in parts:
            own_weights = part.groups.look_up(np.asarray(part.between.diagonal()))
            rest = rest.map(_plus_own, self.roots, own_weights)
        self.rest = rest.held("links")

    def of_table(self, table: Tall, width: int) -> Array:
        found = table.map(scaled_rows, self.rest).total("links", cross, table)
        for part in self.parts:
            sums = part.groups.sums(table, self.roots)
            found = found - sums.T @ part.between.apply(sums)
        return np.asarray(found)

    def times(self, V: Tall, width: int) -> Tall:
        product = V.map(scaled_rows, self.rest)
        for part in self.parts:
            pulled = part.between.apply(part.groups.sums(V, self.roots))
            product = product.map(_less, part.groups.of_rows, self.roots, pulled)
        return product

    def bounds(self) -> Bounds:
        return 0.0, 2.0 * self.size

    def describe(self) -> str:
        return "L"


def groups_of_classes(
    codes: Tall, n_classes: int, stand_ins: Array, named: Array, groups: Array
) -> Groups:
    """The group of each row: that of its class, or its own where a pair names it.

    ``groups`` are those of the rows that pairs name, then those of some rows that
    stand for classes, ``stand_ins``.
    """
    group_of_class = np.full(max(n_classes, 1), UNKNOWN)
    group_of_class[stand_ins] = groups[len(named) :]
    groups_of_named, n = groups[: len(named)], int(groups.max(initial=-1)) + 1
    starts = [int(start) for start in codes.starts[:-1]]
    tasks = [
        task(_group_of_rows, block, start, group_of_class, named, groups_of_named)
        for block, start in zip(codes.blocks, starts, strict=True)
    ]
    return _counted(Tall(tuple(tasks), codes.sizes), n)


def groups_of_values(column: Tall, thresholds: Array) -> Groups:
    """Numbers in bins: the group of a value is the last whose threshold it reaches."""
    return _counted(column.map(_bin_of, thresholds), len(thresholds))


def _counted(groups: Tall, n: int) -> Groups:
    groups = groups.held("groups of the rows")
    sizes = groups.total("groups of the rows", _sizes, n)
    return Groups(groups, np.asarray(sizes))


# -- what workers do ------------------------------------------------------------------


def _group_of_rows(
    codes: Array, start: int, group_of_class: Array, named: Array, groups: Array
) -> Array:
    found = np.full(len(codes), UNKNOWN)
    labelled = codes >= 0
    found[labelled] = group_of_class[codes[labelled]]
    here = (named >= start) & (named < start + len(codes))
    found[named[here] - start] = groups[here]
    return found


def _bin_of(column: Array, thresholds: Array) -> Array:
    known = np.isfinite(column)
    found = np.full(len(column), UNKNOWN)
    found[known] = np.searchsorted(thresholds, column[known], side="right") - 1
    return found


def _sizes(groups: Array, n: int) -> Array:
    return np.bincount(groups[groups >= 0], minlength=n)


def _sums(table: Array, groups: Array, weights: Array, n: int) -> Array:
    rows = np.flatnonzero(groups >= 0)
    P = sp.csr_array((weights[rows], (groups[rows], rows)), shape=(n, len(groups)))
    return np.asarray(P @ table.astype(np.float64))


def _looked_up(groups: Array, numbers: Array) -> Array:
    found = np.zeros(len(groups))
    found[groups >= 0] = numbers[groups[groups >= 0]]
    return found


def _largest(degrees: Array) -> float:
    return float(degrees.max(initial=0.0))


def _without_rounding(degrees: Array, least: float) -> Array:
    return np.where(degrees < least, 0.0, degrees)


def _n_linked(degrees: Array) -> int:
    return int((degrees > 0).sum())


def _plus_own(rest: Array, roots: Array, weights: Array) -> Array:
    return np.asarray(rest + roots**2 * weights)


def _less(product: Array, groups: Array, roots: Array, pulled: Array) -> Array:
    found = product.copy()
    there = groups >= 0
    found[there] -= roots[there, None] * pulled[groups[there]]
    return found
