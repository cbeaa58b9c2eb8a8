"""Partial labels and pairs of rows on workers: read before a fit, looked after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from graphfold.arrays import Array, is_missing_value
from graphfold.distributed.blocks import Tall
from graphfold.distributed.features import blocks_of
from graphfold.distributed.links import (
    Groups,
    LinkedGroups,
    LinkLaplacian,
    groups_of_classes,
    groups_of_values,
)
from graphfold.distributed.rows import DistributedRows, column_of, resized
from graphfold.distributed.running import values
from graphfold.distributed.tasks import task
from graphfold.errors import ConstraintError, MissingLabelsWarning, warn
from graphfold.estimators.constraints import (
    N_SAMPLED,
    ConstraintReport,
    beyond,
    read_target,
    warn_of_links,
    with_link_terms,
)
from graphfold.graphs.labels import LabelIndex, as_labels
from graphfold.graphs.links import (
    UNKNOWN,
    Links,
    class_links,
    positions_of_pairs,
    similarity_links,
)
from graphfold.model.problem import Problem

#: numbers that may be known of y: they are sorted here
MOST_VALUES = 2**20
#: misplaced rows that are listed at most
MOST_LISTED = 1000


class Target(NamedTuple):
    """Classes as codes in blocks, -1 unknown, how many rows each has; or numbers."""

    codes: Tall
    counts: Array
    values: Tall | None = None
    known_values: Array | None = None


@dataclass(frozen=True)
class LinksOnWorkers:
    """What must be together and what apart; ``links`` of a few rows that stand for all.

    ``must`` and ``cannot`` are pairs of numbers of rows.
    """

    links: Links
    groups: Groups
    together: list[LinkedGroups]
    apart: list[LinkedGroups]
    must: Array
    cannot: Array
    n: int

    def add_to(
        self,
        problem: Problem,
        *,
        kind: str,
        strengths: Mapping[str, float],
        top: float | None,
    ) -> Problem:
        """M - g1 L_S + g2 L_D, as ``constraints.with_links`` has it in memory."""
        sides = {"must-link": self.together, "cannot-link": self.apart}
        found = {}
        for name, parts in sides.items():
            if parts and strengths[name]:
                L = LinkLaplacian(parts, kind, self.n)
                found[name] = (L, L.size, L.share)
        return with_link_terms(problem, found, strengths=strengths, top=top)

    def report(
        self, V: Any, labels: Tall | None, rng: np.random.Generator
    ) -> ConstraintReport:
        """Look at the links in the embedding V, whose columns have unit variance."""
        table = blocks_of(V)
        sample = rng.integers(0, self.n, (2, N_SAMPLED))
        both = table.take("typical distances", sample.ravel()).reshape(
            2, -1, V.shape[1]
        )
        typical = np.linalg.norm(both[0] - both[1], axis=1)[sample[0] != sample[1]]
        far, near = np.quantile(typical, [0.5, 0.1]) if len(typical) else (np.inf, 0.0)
        sizes, links = self.groups.sizes, self.links
        return ConstraintReport(
            n_labelled=links.n_labelled,
            n_groups=int((sizes > 1).sum()),
            n_must_pairs=len(self.must),
            n_cannot_pairs=len(self.cannot),
            n_unknown_pairs=links.n_unknown_pairs,
            violated_must=_violated(table, self.must, far, labels, farther=True),
            violated_cannot=_violated(table, self.cannot, near, labels, farther=False),
            misplaced=_named(_misplaced(table, self.groups), labels).tolist(),
        )


def read_links_on_workers(
    y: Any,
    must: Any,
    cannot: Any,
    labels: Tall | None,
    X: DistributedRows,
    *,
    closure: bool = True,
) -> LinksOnWorkers:
    """Everything that y and the pairs ask for, without contradictions."""
    n = X.shape[0]
    target = read_target_on_workers(y, X)
    must_pairs, cannot_pairs, n_lost = _pairs(must, cannot, labels, n)
    named = np.unique(np.concatenate([must_pairs.ravel(), cannot_pairs.ravel()]))
    own = _codes_of(target.codes, named)
    counts = target.counts - np.bincount(own[own >= 0], minlength=len(target.counts))
    # up to two rows of each class stand for those that no pair names: two, so that a
    # class of several rows is one of several here
    stand_ins = np.repeat(np.arange(len(counts)), np.minimum(counts, 2))
    codes = np.concatenate([own, stand_ins]).astype(np.int64)
    compact = LabelIndex(named)
    links = class_links(
        codes,
        compact.find(must_pairs.ravel()).reshape(-1, 2),
        compact.find(cannot_pairs.ravel()).reshape(-1, 2),
        _names(named, labels, len(codes)),
        closure=closure,
    )
    # parts of closed links share their groups
    several = [links.groups, *(part.groups for part in links.together + links.apart)]
    of_all = {
        id(few): groups_of_classes(target.codes, len(counts), stand_ins, named, few)
        for few in {id(few): few for few in several}.values()
    }
    groups = of_all[id(links.groups)]
    together = [LinkedGroups(of_all[id(p.groups)], p.between) for p in links.together]
    apart = [LinkedGroups(of_all[id(p.groups)], p.between) for p in links.apart]
    n_labelled = int(target.counts.sum())
    if target.values is not None and target.known_values is not None:
        alike, unlike = _of_numbers(target.values, target.known_values)
        together, apart = together + alike, apart + unlike
        n_labelled = len(target.known_values)
    links = replace(
        links,
        together=together,  # type: ignore[arg-type]
        apart=apart,  # type: ignore[arg-type]
        must_pairs=must_pairs,
        cannot_pairs=cannot_pairs,
        n_labelled=n_labelled,
        n_unknown_pairs=n_lost,
    )
    warn_of_links(links)
    return LinksOnWorkers(links, groups, together, apart, must_pairs, cannot_pairs, n)


def _codes_of(codes: Tall, rows: Array) -> Array:
    if len(rows) == 0:
        return np.empty(0, dtype=np.int64)
    return codes.take("rows of the pairs", rows)


def _names(named: Array, labels: Tall | None, n: int) -> Array:
    """What the rows of pairs are called in a message, and something for the others."""
    names = np.empty(n, dtype=object)
    names[:] = "a labelled row"
    names[: len(named)] = _named(named, labels)
    return names


def _named(rows: Array, labels: Tall | None) -> Array:
    if labels is None or len(rows) == 0:
        return rows
    return labels.take("labels", rows)


def _of_numbers(
    column: Tall, known: Array
) -> tuple[list[LinkedGroups], list[LinkedGroups]]:
    """Links of numbers by how near they are: bins of all, from those that are known."""
    alike, unlike = similarity_links(known)
    if not alike:
        return [], []
    bins = alike[0].groups
    thresholds = np.array([known[bins == i].min() for i in range(bins.max() + 1)])
    groups = groups_of_values(column, thresholds)
    return (
        [LinkedGroups(groups, part.between) for part in alike],
        [LinkedGroups(groups, part.between) for part in unlike],
    )


# -- y --------------------------------------------------------------------------------


class Facts(NamedTuple):
    """What a block of y is: text, numbers, numbers with a fraction; its values."""

    is_text: bool
    has_fraction: bool
    has_unknown_code: bool
    values: Array
    n_known: int


def read_target_on_workers(y: Any, X: DistributedRows) -> Target:
    """y in blocks, read as ``constraints.read_target`` reads it in memory."""
    if y is None:
        codes = X.blocks.map(_no_codes)
        return Target(codes, np.zeros(0, dtype=np.int64))
    column = column_of(y, X, "y")
    facts = values("looking at y", column.tasks(_facts_of_target))
    if any(fact.has_fraction for fact in facts) and not any(f.is_text for f in facts):
        return _numbers(column, facts, X)
    is_text = any(fact.is_text for fact in facts)
    listed = [fact.values.astype(str if is_text else np.float64) for fact in facts]
    classes = np.unique(np.concatenate(listed))
    codes = column.map(_codes_of_target, classes, is_text).held("classes")
    counts = codes.total("classes", _counts, len(classes))
    return Target(codes, np.asarray(counts))


def _numbers(column: Tall, facts: list[Facts], X: DistributedRows) -> Target:
    if any(fact.has_unknown_code for fact in facts):
        warn(
            "y is continuous, so -1 is a label like any other in it: use NaN for "
            "rows whose label is unknown",
            MissingLabelsWarning,
        )
    count = sum(fact.n_known for fact in facts)
    if count > MOST_VALUES:
        raise ConstraintError(
            f"y must have at most {MOST_VALUES:,} known numbers where X is of Dask's; "
            f"got {count:,}: bin them into classes"
        )
    known = values("looking at y", column.tasks(_known_numbers))
    codes = X.blocks.map(_no_codes)
    numbers = column.map(_as_numbers)
    return Target(codes, np.zeros(0, np.int64), numbers, np.concatenate(known))


def _no_codes(block: Any) -> Array:
    return np.full(block.shape[0], UNKNOWN)


def _facts_of_target(block: Array) -> Facts:
    block = np.asarray(block)
    codes, numbers = read_target(block, len(block))
    if numbers is not None:
        known = np.isfinite(numbers)
        has_code = bool((numbers == UNKNOWN).any())
        return Facts(False, True, has_code, numbers[:0], int(known.sum()))
    known = codes >= 0
    listed = block[known]
    is_text = block.dtype.kind not in "fiub" and any(
        isinstance(value, str) for value in listed.tolist()
    )
    found = np.unique(listed.astype(str) if is_text else listed.astype(np.float64))
    has_code = not is_text and bool((_as_numbers(block) == UNKNOWN).any())
    return Facts(is_text, False, has_code, found, int(known.sum()))


def _as_numbers(block: Array) -> Array:
    if block.dtype.kind in "fiub":
        return block.astype(np.float64)
    missing = [is_missing_value(value) for value in block.tolist()]
    return np.where(missing, np.nan, block).astype(np.float64)


def _known_numbers(block: Array) -> Array:
    numbers = _as_numbers(np.asarray(block))
    return numbers[np.isfinite(numbers)]


def _codes_of_target(block: Array, classes: Array, is_text: bool) -> Array:
    block = np.asarray(block)
    own, _ = read_target(block, len(block))
    known = own >= 0
    found = np.full(len(block), UNKNOWN)
    names = block[known].astype(str) if is_text else block[known].astype(np.float64)
    found[known] = np.searchsorted(classes, names)
    return found


def _counts(codes: Array, n: int) -> Array:
    return np.bincount(codes[codes >= 0], minlength=n)


# -- pairs ----------------------------------------------------------------------------


def _pairs(
    must: Any, cannot: Any, labels: Tall | None, n: int
) -> tuple[Array, Array, int]:
    """Pairs as numbers of rows, and how many name a row that is not there."""
    if labels is None:
        found = [
            positions_of_pairs(name, pairs, None, n)[0]
            for name, pairs in (("must_link", must), ("cannot_link", cannot))
        ]
        return found[0], found[1], 0
    given = [pair for pairs in (must, cannot) if pairs is not None for pair in pairs]
    ends = [end for pair in given for end in pair]
    asked = as_labels(ends) if ends else np.empty(0, dtype=np.int64)
    known, numbers = _rows_called(asked, labels)
    lost, answer = 0, []
    for name, pairs in (("must_link", must), ("cannot_link", cannot)):
        places, missing = positions_of_pairs(name, pairs, known, n)
        answer.append(numbers[places].reshape(-1, 2))
        lost += missing
    return answer[0], answer[1], lost


def _rows_called(asked: Array, labels: Tall) -> tuple[Array, Array]:
    """Which of some labels rows have, and the numbers of these rows."""
    if len(asked) == 0:
        return asked, np.empty(0, dtype=np.int64)
    asked = np.unique(asked) if asked.dtype != object else asked
    starts = [int(start) for start in labels.starts[:-1]]
    found = values(
        "rows of the pairs",
        [
            task(_found_labels, block, start, asked)
            for block, start in zip(labels.blocks, starts, strict=True)
        ],
    )
    names = np.concatenate([part[0] for part in found])
    numbers = np.concatenate([part[1] for part in found])
    return names, numbers.astype(np.int64)


def _found_labels(block: Any, start: int, asked: Array) -> tuple[Array, Array]:
    labels = as_labels(block)
    there = np.flatnonzero(LabelIndex(asked).find(labels) >= 0)
    return labels[there], there + start


# -- after the fit --------------------------------------------------------------------


def _violated(
    V: Tall, pairs: Array, limit: float, labels: Tall | None, *, farther: bool
) -> list[tuple[Any, Any, float]]:
    if len(pairs) == 0:
        return []
    rows, places = np.unique(pairs, return_inverse=True)
    table = V.take("rows of the pairs", rows)
    names = np.asarray(_named(rows, labels))
    return beyond(table, places.reshape(-1, 2), limit, names, farther=farther)


def _misplaced(V: Tall, groups: Groups) -> Array:
    """Rows of large groups nearer to another large group's centre than to their own."""
    large = np.flatnonzero(groups.sizes > 1)
    if len(large) < 2:
        return np.empty(0, dtype=np.int64)
    ones = groups.of_rows.map(_ones)
    table = resized(V, groups.of_rows.sizes)
    centres = groups.sums(table, ones)[large] / groups.sizes[large][:, None]
    starts = [int(start) for start in groups.of_rows.starts[:-1]]
    found = values(
        "misplaced rows",
        [
            task(_nearer_to_others, block, own, start, large, centres)
            for block, own, start in zip(
                table.blocks, groups.of_rows.blocks, starts, strict=True
            )
        ],
    )
    return np.concatenate(found)[:MOST_LISTED]


def _ones(groups: Array) -> Array:
    return np.ones(len(groups))


def _nearer_to_others(
    V: Array, groups: Array, start: int, large: Array, centres: Array
) -> Array:
    place = np.searchsorted(large, groups)
    place = np.minimum(place, len(large) - 1)
    rows = np.flatnonzero((groups >= 0) & (large[place] == groups))
    # |v - c|^2 for all centres by one product
    gaps = np.sum(centres**2, axis=1) - 2 * V[rows] @ centres.T
    own = gaps[np.arange(len(rows)), place[rows]]
    return (rows[gaps.min(axis=1) < own - 1e-12] + start)[:MOST_LISTED]
