"""Links that labels and pairs ask for: groups of rows, never lists of pairs.

A class of c rows asks for c^2 links. They are kept as groups instead: rows that must be
together are one group, and what must be kept apart is said between groups. Laplacians
of such graphs cost O(n). Pairs are closed under transitivity (a group is what pairs and
classes join), or taken as they are (a row of a pair is a group by itself).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import ConstraintError
from graphfold.graphs.labels import (
    LabelIndex,
    as_labels,
    comparable,
    first_duplicate,
)
from graphfold.graphs.laplacian import inverse_sqrt
from graphfold.operators import (
    Dense,
    Diagonal,
    Lifted,
    LowRank,
    Sparse,
    Sum,
    SymmetricOperator,
)

UNKNOWN = -1
#: continuous labels are told apart by this many quantiles
N_BINS = 32


@dataclass(frozen=True)
class LinkGraph:
    """Every row of one group linked to every row of another, as ``between`` says.

    ``groups`` is the group of each row, -1 for none; ``between`` is g x g. The weight
    of a link inside a group is its diagonal.
    """

    groups: Array
    between: SymmetricOperator

    @property
    def membership(self) -> Any:
        """P, n x g: a one where a row belongs to a group."""
        rows = np.flatnonzero(self.groups >= 0)
        shape = (len(self.groups), self.between.n)
        return sp.csr_array((np.ones(len(rows)), (rows, self.groups[rows])), shape)

    @property
    def own_weights(self) -> Array:
        """What ``between`` says of a row and itself, which is no link."""
        return np.asarray(self.membership @ self.between.diagonal())

    @property
    def degrees(self) -> Array:
        """Sum of the weights of the links of each row."""
        P = self.membership
        sizes = np.asarray(P.sum(axis=0)).ravel()
        return np.asarray(P @ self.between.apply(sizes)) - self.own_weights


def link_laplacian(
    parts: Sequence[LinkGraph], kind: str, dtype: Any = np.float64
) -> tuple[SymmetricOperator, float]:
    """L of the sum of some link graphs, and its size c(L), without any pair of rows.

    A row without links has an empty row. L = D - A with A = sum P C P' - own weights.
    """
    degrees = np.sum([part.degrees for part in parts], axis=0)
    degrees[degrees < 1e-12 * degrees.max(initial=0.0)] = 0.0
    if kind == "normalized":
        root, own = inverse_sqrt(degrees), (degrees > 0).astype(float)
        size = 1.0
    else:
        root, own = np.ones(len(degrees)), degrees
        size = float(degrees.max(initial=0.0)) or 1.0
    rest = own + sum(root**2 * part.own_weights for part in parts)
    pulls = [
        -Lifted(sp.diags_array(root) @ part.membership, part.between, dtype)
        for part in parts
    ]
    return Sum([Diagonal(rest.astype(dtype), name="D"), *pulls]), size


@dataclass(frozen=True)
class Links:
    """What must be together and what must be kept apart.

    ``groups`` are the rows that must be together, closed under transitivity, or by
    their classes alone where pairs are taken as they are; ``pairs`` are positions of
    the pairs that were asked for by name.
    """

    together: list[LinkGraph]
    apart: list[LinkGraph]
    groups: Array
    must_pairs: Array
    cannot_pairs: Array
    n_classes: int
    n_labelled: int
    n_unknown_pairs: int = 0


def class_links(
    codes: Array, must: Array, cannot: Array, names: Array, *, closure: bool = True
) -> Links:
    """Links of classes (-1 unknown) and of pairs of positions, without contradictions.

    With ``closure`` must-links are transitive, and what is apart from a row is apart
    from its group. Without it there are the pairs within classes, the pairs between
    classes, and the given pairs, each once. All contradictions are listed in one error.
    """
    if not closure:
        return _links_as_given(codes, must, cannot, names)
    involved = codes >= 0
    involved[np.concatenate([must.ravel(), cannot.ravel()])] = True
    groups, n_groups = _together(codes, must, involved)
    class_of_group = _classes_of_groups(codes, groups, n_groups)
    _refuse(_contradictions(codes, groups, class_of_group, cannot, names))
    n_classes = len(np.unique(codes[codes >= 0]))
    together = [LinkGraph(groups, Diagonal(np.ones(n_groups)))] if n_groups else []
    between: list[SymmetricOperator] = []
    if n_classes > 1:
        labelled = (class_of_group >= 0).astype(float)
        between += [LowRank(labelled[:, None]), Diagonal(-labelled)]
    if len(cannot):
        ends = groups[cannot]
        between.append(Sparse(_pair_matrix(ends, n_groups, class_of_group)))
    apart = [LinkGraph(groups, Sum(between))] if between else []
    sizes = np.bincount(groups[groups >= 0], minlength=1)
    return Links(
        together=together if sizes.max(initial=0) > 1 else [],
        apart=apart,
        groups=groups,
        must_pairs=must,
        cannot_pairs=cannot,
        n_classes=n_classes,
        n_labelled=int((codes >= 0).sum()),
    )


def _links_as_given(codes: Array, must: Array, cannot: Array, names: Array) -> Links:
    """Links of classes, and of exactly the given pairs: 0 or 1 between any two rows."""
    _refuse(_contradicting_pairs(codes, must, cannot, names))
    labelled = codes >= 0
    classes, of_labelled = np.unique(codes[labelled], return_inverse=True)
    groups = np.full(len(codes), UNKNOWN)
    groups[labelled] = of_labelled
    together, apart = [], []
    if np.bincount(of_labelled, minlength=1).max() > 1:
        together.append(LinkGraph(groups, Diagonal(np.ones(len(classes)))))
    if len(classes) > 1:
        ones = np.ones(len(classes))
        others = Sum([LowRank(ones[:, None]), Diagonal(-ones)])
        apart.append(LinkGraph(groups, others))
    for parts, pairs in ((together, must), (apart, cannot)):
        # what classes say of a pair is not said again
        told = (codes[pairs] >= 0).all(axis=1)
        new = pairs[~told & (pairs[:, 0] != pairs[:, 1])]
        if len(new):
            parts.append(_pair_graph(new, len(codes)))
    return Links(
        together=together,
        apart=apart,
        groups=groups,
        must_pairs=must,
        cannot_pairs=cannot,
        n_classes=len(classes),
        n_labelled=int(labelled.sum()),
    )


def _pair_graph(pairs: Array, n: int) -> LinkGraph:
    """A link for each pair, given once or more; each row of a pair is a group."""
    rows, ends = np.unique(pairs, return_inverse=True)
    groups = np.full(n, UNKNOWN)
    groups[rows] = np.arange(len(rows))
    return LinkGraph(groups, Sparse(_symmetric(ends.reshape(-1, 2), len(rows))))


def _symmetric(ends: Array, n: int) -> Any:
    """The adjacency matrix of pairs, a one for each."""
    left, right = np.unique(np.sort(ends, axis=1), axis=0).T
    half = sp.csr_array((np.ones(len(left)), (left, right)), (n, n))
    return half + half.T


def _refuse(contradictions: list[str]) -> None:
    if contradictions:
        raise ConstraintError(
            f"links must not contradict each other; {len(contradictions)} do: "
            f"{'; '.join(contradictions[:5])}"
            f"{'; ...' if len(contradictions) > 5 else ''}"
        )


def _together(codes: Array, must: Array, involved: Array) -> tuple[Array, int]:
    """The group of each row that has links; classes are chains, not cliques."""
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] >= 0]
    chain = codes[order[1:]] == codes[order[:-1]]
    left = np.concatenate([order[:-1][chain], must[:, 0]])
    right = np.concatenate([order[1:][chain], must[:, 1]])
    shape = (len(codes), len(codes))
    links = sp.csr_array((np.ones(len(left)), (left, right)), shape)
    _, parts = connected_components(links, directed=False)
    names, groups = np.unique(parts[involved], return_inverse=True)
    of_rows = np.full(len(codes), UNKNOWN)
    of_rows[involved] = groups
    return of_rows, len(names)


def _classes_of_groups(codes: Array, groups: Array, n_groups: int) -> Array:
    """The class of each group, -1 where no row of it has a label."""
    classes = np.full(n_groups, UNKNOWN)
    labelled = np.flatnonzero(codes >= 0)
    classes[groups[labelled]] = codes[labelled]
    return classes


def _contradictions(
    codes: Array, groups: Array, classes: Array, cannot: Array, names: Array
) -> list[str]:
    labelled = np.flatnonzero(codes >= 0)
    torn = labelled[classes[groups[labelled]] != codes[labelled]]
    found = []
    for group in np.unique(groups[torn]):
        one = torn[groups[torn] == group][0]
        same_class = labelled[codes[labelled] == classes[group]]
        other = same_class[groups[same_class] == group][0]
        found.append(
            f"must-links join {names[one]!s} and {names[other]!s} of different classes"
        )
    if len(cannot):
        joined = cannot[groups[cannot[:, 0]] == groups[cannot[:, 1]]]
        found += [
            f"{names[a]!s} and {names[b]!s} must be together and apart"
            for a, b in joined
        ]
    return found


def _contradicting_pairs(
    codes: Array, must: Array, cannot: Array, names: Array
) -> list[str]:
    """Pairs that are asked to be together and apart, by pairs or by classes."""
    known_must = must[(codes[must] >= 0).all(axis=1)]
    torn = known_must[codes[known_must[:, 0]] != codes[known_must[:, 1]]]
    found = [
        f"must-links join {names[a]!s} and {names[b]!s} of different classes"
        for a, b in torn
    ]
    both = set(map(tuple, np.sort(must, axis=1).tolist()))
    left, right = codes[cannot[:, 0]], codes[cannot[:, 1]]
    same = (left >= 0) & (left == right)
    same |= cannot[:, 0] == cannot[:, 1]
    same |= np.array([tuple(p) in both for p in np.sort(cannot, axis=1).tolist()], bool)
    return found + [
        f"{names[a]!s} and {names[b]!s} must be together and apart"
        for a, b in cannot[same]
    ]


def _pair_matrix(ends: Array, n_groups: int, classes: Array) -> Any:
    """Groups kept apart by pairs, a link each, less what classes say already."""
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    told = (classes[ends] >= 0).all(axis=1)
    told &= classes[ends[:, 0]] != classes[ends[:, 1]]
    return _symmetric(ends[~told], n_groups)


def similarity_links(values: Array) -> tuple[list[LinkGraph], list[LinkGraph]]:
    """Links of continuous labels (NaN unknown): alike by nearness, apart by distance.

    Labels fall into quantiles, and these are linked by exp(-gap^2 / 2 s^2), s half the
    spread of the labels; one less that keeps them apart.
    """
    known = np.flatnonzero(np.isfinite(values))
    spread = float(values[known].std())
    if len(known) < 2 or spread == 0:
        return [], []
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, N_BINS + 1)[1:-1]))
    groups = np.full(len(values), UNKNOWN)
    groups[known] = np.searchsorted(edges, values[known], side="right")
    _, groups[known] = np.unique(groups[known], return_inverse=True)
    sizes = np.bincount(groups[known])
    means = np.bincount(groups[known], weights=values[known]) / sizes
    gaps = (means[:, None] - means[None]) / (0.5 * spread)
    alike = np.exp(-0.5 * gaps**2)
    return [LinkGraph(groups, Dense(alike))], [LinkGraph(groups, Dense(1.0 - alike))]


def positions_of_pairs(
    name: str, pairs: Any, labels: Array | None, n: int
) -> tuple[Array, int]:
    """Pairs as positions of rows, and how many name a row that is not there.

    Labels of rows outside the fit are passed over: a fold of a cross-validation has
    some of the rows only.
    """
    if pairs is None or len(pairs) == 0:
        return np.empty((0, 2), dtype=np.int64), 0
    listed = [
        p.tolist() if isinstance(p, np.ndarray | np.generic) else p for p in pairs
    ]
    wrong = [p for p in listed if not isinstance(p, list | tuple) or len(p) != 2]
    if wrong:
        raise ConstraintError(
            f"{name} must be pairs of labels or of positions; got {wrong[0]!r}"
        )
    ends = as_labels([end for pair in listed for end in pair])
    if labels is None:
        if ends.dtype.kind not in "iu" or ends.min() < 0 or ends.max() >= n:
            raise ConstraintError(
                f"{name} must hold positions from 0 to {n - 1}, since the rows of X "
                f"have no labels; got {check.some_of(ends)}: pass a DataFrame with "
                "labels as its index, or node_ids="
            )
        return ends.reshape(-1, 2).astype(np.int64), 0
    repeated = first_duplicate(labels)
    if repeated is not None:
        raise ConstraintError(
            f"{name} needs distinct labels of the rows; {repeated!r} occurs twice"
        )
    if not comparable(ends, labels):
        raise ConstraintError(
            f"{name} must name rows of X; none of {check.some_of(ends)} can be a label "
            f"such as {check.some_of(labels, 3)}"
        )
    found = LabelIndex(labels).find(ends).reshape(-1, 2)
    here = (found >= 0).all(axis=1)
    return found[here], int((~here).sum())
