"""Partial labels and pairs: read before a fit, looked after when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from graphfold import io
from graphfold.arrays import Array, is_missing_value
from graphfold.errors import ConstraintError, MissingLabelsWarning, warn
from graphfold.graphs.links import (
    UNKNOWN,
    Links,
    class_links,
    link_laplacian,
    positions_of_pairs,
    similarity_links,
)
from graphfold.hints import Label, Range
from graphfold.model.problem import Problem
from graphfold.model.terms import Term
from graphfold.operators import SymmetricOperator

#: rows that distances between pairs are sampled from
N_SAMPLED = 1000


def read_target(y: Any, n: int) -> tuple[Array, Array | None]:
    """Classes as codes, -1 where unknown; and continuous labels, NaN where unknown.

    Whole numbers, strings and booleans are classes, for which -1, NaN and None are
    unknown. Other numbers are continuous, for which NaN is.
    """
    nothing = np.full(n, UNKNOWN)
    if y is None:
        return nothing, None
    check_consistent_length(np.empty((n, 0)), y)
    if isinstance(y, list | tuple):
        y = _objects(y)  # NumPy alone would make a class "nan" of a missing label
    y = np.asarray(column_or_1d(y, warn=True))
    if y.dtype.kind not in "fiub":
        known = np.array([not _is_unknown(label) for label in y.tolist()], dtype=bool)
        listed = y[known].tolist()
        if not all(isinstance(x, float | int) for x in listed):
            nothing[known] = np.unique([str(x) for x in listed], return_inverse=True)[1]
            return nothing, None
        y = np.where(known, y, np.nan).astype(np.float64)
    if np.isinf(y).any():
        raise ConstraintError("y must not contain infinity; use NaN for unknown")
    known = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(n, dtype=bool)
    if y.dtype.kind == "f" and (y[known] % 1 != 0).any():
        if (y == UNKNOWN).any():
            warn(
                "y is continuous, so -1 is a label like any other in it: use NaN for "
                "rows whose label is unknown",
                MissingLabelsWarning,
            )
        return nothing, y.astype(np.float64)
    known &= (y != UNKNOWN) if y.dtype.kind in "fi" else True
    nothing[known] = np.unique(y[known], return_inverse=True)[1]
    return nothing, None


def _objects(listed: Any) -> Array:
    labels = np.empty(len(listed), dtype=object)
    labels[:] = listed
    return labels


def _is_unknown(label: Any) -> bool:
    return is_missing_value(label) or (not isinstance(label, str) and label == UNKNOWN)


def read_links(
    y: Any,
    must: Any,
    cannot: Any,
    labels: Array | None,
    n: int,
    *,
    closure: bool = True,
) -> Links:
    """Everything that y and the pairs ask for, without contradictions."""
    codes, values = read_target(y, n)
    must_pairs, lost = positions_of_pairs("must_link", must, labels, n)
    cannot_pairs, also_lost = positions_of_pairs("cannot_link", cannot, labels, n)
    names = np.arange(n) if labels is None else labels
    links = class_links(codes, must_pairs, cannot_pairs, names, closure=closure)
    if values is not None:
        alike, unlike = similarity_links(values)
        links = replace(
            links,
            together=links.together + alike,
            apart=links.apart + unlike,
            n_labelled=int(np.isfinite(values).sum()),
        )
    links = replace(links, n_unknown_pairs=lost + also_lost)
    warn_of_links(links)
    return links


@dataclass(frozen=True)
class LinksInMemory:
    """Links of rows in memory: what they add to a problem, and how they were kept."""

    links: Links

    def add_to(self, problem: Problem, **how: Any) -> Problem:
        """The problem with what must be together pulled, what must not pushed."""
        return with_links(problem, self.links, **how)

    def report(
        self, V: Array, labels: Array | None, rng: np.random.Generator
    ) -> ConstraintReport:
        """How well an embedding of unit variance keeps them."""
        return constraint_report(V, self.links, labels, rng)


def warn_of_links(links: Links) -> None:
    """Say what is odd about the links that were asked for."""
    asked = len(links.must_pairs) + len(links.cannot_pairs)
    if links.n_unknown_pairs and not asked:
        message = (
            f"none of the {links.n_unknown_pairs} pairs of must_link and cannot_link "
            "is among the rows of X, so they are passed over: check the labels"
        )
    elif not links.together and not links.apart:
        message = (
            "no label is known and no pair is given, so the answer is that of "
            "GraphKernelPCA: pass y with some labels, must_link or cannot_link"
        )
    elif links.n_classes == 1 and not links.apart:
        message = (
            "the known labels name one class only, so nothing is kept apart: label "
            "some rows of another class, or pass cannot_link"
        )
    else:
        return
    warn(message, MissingLabelsWarning)


def with_links(
    problem: Problem,
    links: Links,
    *,
    kind: str,
    strengths: dict[str, float],
    top: float | None,
) -> Problem:
    """M - g1 L_S + g2 L_D: what must be together pulled, what must not pushed.

    Strengths are measured like those of graphs, g = strength * top / c(L), ``top`` the
    size of the data, times the square root of the share of rows that have links: where
    few have, an axis that tells these few apart and nothing else would cost as little
    as one that tells all rows apart. ``top=None`` is the paper's letter, g = strength.
    """
    sides = {"must-link": links.together, "cannot-link": links.apart}
    found = {}
    for name, parts in sides.items():
        if parts and strengths[name]:
            L, size = link_laplacian(parts, kind, problem.dtype)
            linked = np.any([part.degrees > 0 for part in parts], axis=0)
            found[name] = (L, size, float(linked.mean()))
    return with_link_terms(problem, found, strengths=strengths, top=top)


def with_link_terms(
    problem: Problem,
    laplacians: Mapping[str, tuple[SymmetricOperator, float, float]],
    *,
    strengths: Mapping[str, float],
    top: float | None,
) -> Problem:
    """The same from each side's L, its size, and the share of rows that have links."""
    terms, weights = [], []
    for name, (L, size, share) in laplacians.items():
        terms.append(Term(name, L, size))
        sign = -1.0 if name == "must-link" else 1.0
        scale = 1.0 if top is None else top / size * np.sqrt(share)
        weights.append(sign * strengths[name] * float(scale))
    return replace(problem, fixed=tuple(terms), fixed_weights=tuple(weights))


RowName = Annotated[Any, Label()]


@io.record
@dataclass(frozen=True)
class ConstraintReport:
    """How well an embedding keeps what labels and pairs ask for.

    Distances are measured with unit variance in every component.

    Attributes
    ----------
    n_labelled, n_groups : int
        Rows with a label; groups of two or more rows that must be together (with
        ``closure=False`` classes only: pairs make no groups).
    n_must_pairs, n_cannot_pairs, n_unknown_pairs : int
        Pairs asked for by name; pairs passed over because a row is not in the fit.
    violated_must : list of (label, label, distance)
        Must-linked pairs farther apart than half of all pairs of rows, worst first.
    violated_cannot : list of (label, label, distance)
        Cannot-linked pairs nearer than nine in ten of all pairs, worst first.
    misplaced : list of labels
        Rows of a group that lie nearer to the centre of another group than to their
        own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from graphfold import SemiSupervisedGraphKernelPCA
    >>> pairs = {"must_link": [(0, 1)], "cannot_link": [(0, 100)]}
    >>> model = SemiSupervisedGraphKernelPCA(2, **pairs).fit(load_iris().data)
    >>> model.constraint_report_.violated_must
    []
    """

    n_labelled: Annotated[int, Range(0)]
    n_groups: Annotated[int, Range(0)]
    n_must_pairs: Annotated[int, Range(0)]
    n_cannot_pairs: Annotated[int, Range(0)]
    n_unknown_pairs: Annotated[int, Range(0)]
    violated_must: list[tuple[RowName, RowName, float]]
    violated_cannot: list[tuple[RowName, RowName, float]]
    misplaced: list[RowName]

    @property
    def n_violations(self) -> int:
        """All of them: pairs and rows."""
        return len(self.violated_must) + len(self.violated_cannot) + len(self.misplaced)

    def __str__(self) -> str:
        return (
            f"{self.n_labelled} labelled rows, {self.n_groups} groups; "
            f"{len(self.violated_must)} of {self.n_must_pairs} must-links and "
            f"{len(self.violated_cannot)} of {self.n_cannot_pairs} cannot-links "
            f"violated, {len(self.misplaced)} rows nearer to another group, "
            f"{self.n_unknown_pairs} pairs passed over"
        )


def constraint_report(
    V: Array, links: Links, labels: Array | None, rng: np.random.Generator
) -> ConstraintReport:
    """Look at the links in the embedding V, whose columns have unit variance."""
    names = np.arange(len(V)) if labels is None else labels
    sample = rng.integers(0, len(V), (2, N_SAMPLED))
    typical = _distances(V, sample.T)[sample[0] != sample[1]]
    far, near = np.quantile(typical, [0.5, 0.1]) if len(typical) else (np.inf, 0.0)
    sizes = np.bincount(links.groups[links.groups >= 0], minlength=1)
    return ConstraintReport(
        n_labelled=links.n_labelled,
        n_groups=int((sizes > 1).sum()),
        n_must_pairs=len(links.must_pairs),
        n_cannot_pairs=len(links.cannot_pairs),
        n_unknown_pairs=links.n_unknown_pairs,
        violated_must=beyond(V, links.must_pairs, far, names, farther=True),
        violated_cannot=beyond(V, links.cannot_pairs, near, names, farther=False),
        misplaced=names[_misplaced(V, links.groups, sizes)].tolist(),
    )


def _distances(V: Array, pairs: Array) -> Array:
    return np.linalg.norm(V[pairs[:, 0]] - V[pairs[:, 1]], axis=1)


def beyond(
    V: Array, pairs: Array, limit: float, names: Array, *, farther: bool
) -> list[tuple[Any, Any, float]]:
    """Pairs beyond a limit by their names and distance, worst first."""
    distances = _distances(V, pairs)
    sign = 1.0 if farther else -1.0
    order = np.argsort(-sign * distances, kind="stable")
    order = order[sign * distances[order] > sign * limit]
    ends = names[pairs[order]].tolist()
    return [(a, b, float(d)) for (a, b), d in zip(ends, distances[order], strict=True)]


def _misplaced(V: Array, groups: Array, sizes: Array) -> Array:
    """Rows of large groups nearer to another large group's centre than to their own."""
    large = np.flatnonzero(sizes > 1)
    if len(large) < 2:
        return np.empty(0, dtype=np.int64)
    number = np.full(len(sizes), UNKNOWN)
    number[large] = np.arange(len(large))
    rows = np.flatnonzero((groups >= 0) & (number[groups] >= 0))
    own = number[groups[rows]]
    counts = sizes[large][:, None]
    centres = np.zeros((len(large), V.shape[1]))
    np.add.at(centres, own, V[rows])
    centres /= counts
    # |v - c|^2 for all centres by one product
    gaps = np.sum(centres**2, axis=1) - 2 * V[rows] @ centres.T
    own_gap = gaps[np.arange(len(rows)), own]
    return rows[gaps.min(axis=1) < own_gap - 1e-12]
