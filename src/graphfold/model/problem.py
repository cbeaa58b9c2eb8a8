"""The one problem: top eigenvectors of M = sum theta_q K_q + gamma sum beta_l R_l."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from graphfold.arrays import Array, signs_of_columns
from graphfold.errors import ConvergenceError
from graphfold.model.inverse import warn_of_null_directions
from graphfold.model.terms import Term
from graphfold.operators import Centered, Dense, Sum, SymmetricOperator, fused
from graphfold.operators.algebra import without_mean
from graphfold.solvers import Eigenpairs, top_eigenpairs
from graphfold.solvers.choose import UNSOUND

#: by the bytes of a number: error of an answer, as a share of the size of M, that
#: solvers cannot go below
ROUNDING = {4: 1e-7, 8: 1e-13}


class Memo:
    """The sum of a problem's stored kernels at the weights it was last asked for.

    It is shared by problems that differ in weights and strength only, and kept in one
    place: memory that has been touched is several times as fast as new memory.
    """

    def __init__(self) -> None:
        self._weights: Sequence[float] | None = None
        self._sum: SymmetricOperator | None = None
        self._room: Array | None = None

    def sum_of(
        self, operators: Sequence[SymmetricOperator], weights: Sequence[float]
    ) -> SymmetricOperator:
        """The sum of the operators, whose weights tell whether it is known already."""
        if self._sum is None or self._weights != weights:
            self._sum = fused(Sum(operators), self._room)
            self._weights = weights
            first = getattr(self._sum, "terms", [self._sum])[0]
            self._room = first.matrix if isinstance(first, Dense) else None
        return self._sum


@dataclass(frozen=True)
class Problem:
    """A sum of terms that can be printed and inspected before it is solved.

    ``gamma`` multiplies every graph term. ``fixed`` terms have a weight of their own,
    which is never learned (links that labels ask for). With ``center`` the problem is
    P M P, P = I - qq', q = 1/sqrt(n): the kernel is centred as in kernel PCA, and the
    constant vector, which climbs into the top as gamma grows, is kept out of the
    answer. ``trivial`` is an eigenvector of unit length to be kept out in its place.
    Where rows do not count alike, ``roots`` are the square roots of what they count:
    terms have been scaled by them on both sides, and they take the constant's place.
    """

    kernels: tuple[Term, ...]
    theta: tuple[float, ...]
    graphs: tuple[Term, ...] = ()
    beta: tuple[float, ...] = ()
    gamma: float = 0.0
    center: bool = True
    fixed: tuple[Term, ...] = ()
    fixed_weights: tuple[float, ...] = ()
    trivial: Array | None = field(default=None, repr=False, compare=False)
    roots: Array | None = field(default=None, repr=False, compare=False)
    _memo: Memo = field(default_factory=lambda: Memo(), repr=False, compare=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._terms()[0].base.n

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the operator."""
        return np.result_type(*(term.base.dtype for term in self._terms()))

    def _terms(self) -> tuple[Term, ...]:
        return self.kernels + self.graphs + self.fixed

    def data_operator(self) -> SymmetricOperator | None:
        """sum theta K, centred if the problem is; None where there is no kernel."""
        return self._centered(self.raw_data_operator())

    def raw_data_operator(self) -> SymmetricOperator | None:
        """sum theta K as it is, not centred: good until other weights are asked for."""
        weighted = _weighted(self.kernels, self.theta)
        if len(weighted) < 2:
            return weighted[0] if weighted else None
        return self._memo.sum_of(weighted, self.theta)

    def stored_kernels(self) -> dict[str, Array]:
        """Kernel matrices that are in memory, as they were computed, by name."""
        bases = {term.name: term.base for term in self.kernels}
        return {k: base.matrix for k, base in bases.items() if isinstance(base, Dense)}

    def graph_operator(self) -> SymmetricOperator | None:
        """sum beta R, neither centred nor scaled by gamma; None without a graph."""
        weighted = _weighted(self.graphs, self.beta)
        return Sum(weighted) if weighted else None

    def operator(self) -> SymmetricOperator:
        """M (or P M P)."""
        data = self.raw_data_operator()
        parts = [] if data is None else [data]
        parts += _weighted(self.graphs, [self.gamma * weight for weight in self.beta])
        parts += _weighted(self.fixed, self.fixed_weights)
        if not parts:
            raise ValueError("a problem needs at least one term")
        operator = self._centered(Sum(parts) if len(parts) > 1 else parts[0])
        assert operator is not None
        return operator

    def _centered(self, operator: SymmetricOperator | None) -> SymmetricOperator | None:
        return Centered(operator) if self.center and operator is not None else operator

    @property
    def shift(self) -> float:
        """What the shifts of the graph terms add to every eigenvalue of the formula.

        gamma sum beta b of terms b I - L in the place of -L, which learning needs.
        """
        weighted = zip(self.beta, self.graphs, strict=True)
        shifts = (beta * term.factor * term.shift for beta, term in weighted)
        return float(self.gamma * sum(shifts))

    def with_gamma(self, gamma: float) -> Self:
        """The same problem with another strength of the graph."""
        return replace(self, gamma=float(gamma))

    def with_weights(self, theta: Iterable[float], beta: Iterable[float]) -> Self:
        """The same problem with other weights of its terms."""
        return replace(
            self, theta=tuple(map(float, theta)), beta=tuple(map(float, beta))
        )

    def shares(self, V: Array) -> tuple[Array, Array]:
        """tr(V'K_qV) of every kernel and tr(V'R_lV) of every graph."""
        V = self.centred(V)
        return (
            np.array([t.operator.energies(V).sum() for t in self.kernels]),
            np.array([t.operator.energies(V).sum() for t in self.graphs]),
        )

    def centred(self, V: Array) -> Array:
        """V without its part along the constant, if the problem is centred."""
        if not self.center:
            return V
        if self.roots is None:
            return without_mean(V)
        return np.asarray(V - self.roots[:, None].astype(V.dtype) * self.mean_of(V))

    def mean_of(self, V: Array) -> Array:
        """Mean of the rows of V, or of what they are in if they count unalike."""
        if self.roots is None:
            return np.asarray(V.mean(axis=0))
        mean = self.roots @ V / float(self.roots @ self.roots)
        return np.asarray(mean, dtype=V.dtype)

    def trivial_vector(self) -> Array | None:
        """q = 1/sqrt(n), or another, to be avoided; None where nothing is."""
        if self.trivial is not None:
            return self.trivial.reshape(-1, 1).astype(self.dtype)
        if not self.center:
            return None
        return np.full((self.n, 1), self.n**-0.5, dtype=self.dtype)

    @property
    def room(self) -> int:
        """How many eigenvectors there are beside the one that is avoided."""
        return self.n - int(self.trivial is not None or self.center)

    def start(self, given: Array | None = None) -> Array | None:
        """Where a solver may start: what is given, or what the one kernel knows."""
        if given is None and len(self.kernels) == 1:
            return self.kernels[0].start
        return given

    def solve(self, d: int, **how: Any) -> Eigenpairs:
        """Top-d eigenpairs with signs fixed: the entry of largest size is positive.

        Eigenvalues are those of the formula: the shift that learning needs is
        subtracted from what the solver has found.
        """
        trivial = self.trivial_vector()
        room = self.room
        how = {**how, "start": self.start(how.get("start"))}
        how |= {"name": "solving", "stoppable": True}
        pairs = top_eigenpairs(self.operator(), min(d, room), avoid=trivial, **how)
        self._refuse_lost_in_rounding(pairs)
        if any(term.null for term in self.kernels):
            pairs = self._null_last(pairs, min(d, room), avoid=trivial, **how)
        if self.shift:
            pairs = replace(
                pairs,
                values=pairs.values - pairs.values.dtype.type(self.shift),
                next_value=pairs.next_value - self.shift,
            )
        if d > room and trivial is not None:
            # all n are asked for: the last is the constant vector itself
            pairs = replace(
                pairs,
                values=np.append(pairs.values, pairs.values.dtype.type(0)),
                vectors=np.hstack([pairs.vectors, trivial]),
                residuals=np.append(pairs.residuals, 0.0),
            )
        signs = signs_of_columns(pairs.vectors).astype(pairs.vectors.dtype)
        return replace(pairs, vectors=pairs.vectors * signs)

    def _refuse_lost_in_rounding(self, pairs: Eigenpairs) -> None:
        """Refuse a wanted end, and kernels, smaller than the rounding of the other end.

        Terms of M are summed as numbers of one precision: beside a penalty of 1e43 on
        a hub nothing is left of a kernel.
        """
        rounding = ROUNDING[self.dtype.itemsize] * pairs.size
        wanted = float(np.abs(pairs.values).max(initial=0.0))
        if not self.kernels or rounding <= UNSOUND * wanted:
            return
        # a sum of kernel and penalty may well be 0; its parts are not rounding then
        kernels = 0.0
        for weight, term in zip(self.theta, self.kernels, strict=True):
            largest = float(np.abs(term.operator.diagonal()).max(initial=0.0))
            kernels = max(kernels, abs(weight) * largest)
        wanted = max(wanted, kernels)
        if kernels > 0 and rounding > UNSOUND * wanted:
            raise ConvergenceError(
                f"the kernel and the wanted eigenvalues of M, at most "
                f"{wanted:.1e} in size, are lost in the rounding of its largest "
                f"eigenvalue, {pairs.size:.1e}: use a response "
                'that grows less (a smaller scale, form="kernel"), '
                'laplacian="normalized", or a smaller graph_strength'
            )

    def _null_last(self, pairs: Eigenpairs, d: int, **how: Any) -> Eigenpairs:
        """The first d pairs of one kernel -A in the order of its pseudo-inverse.

        Null vectors of A are last: more pairs are found in their place.
        """
        operator, level = self.operator(), self.kernels[0].null
        while True:
            null = -operator.energies(pairs.vectors) <= level
            n_null, found = int(null.sum()), len(null)
            wanted = min(self.room, 2 * found if null.all() else d + n_null)
            if n_null == 0 or wanted <= found:
                break
            how["start"] = pairs.start
            pairs = top_eigenpairs(operator, wanted, **how)
        if n_null == 0:
            return pairs
        warn_of_null_directions(n_null)
        order = np.argsort(null, kind="stable")
        next_value = pairs.values[order[d]] if d < found else np.nan
        return replace(
            pairs,
            values=pairs.values[order[:d]],
            vectors=pairs.vectors[:, order[:d]],
            residuals=pairs.residuals[order[:d]],
            next_value=float(next_value),
        )

    def objective(self, V: Array) -> float:
        """tr(V' M V), the shifts of the graph terms included."""
        return float(self.operator().energies(V).sum())

    def __str__(self) -> str:
        parts = [
            f"{weight:.4g} K[{term.name}]"
            for weight, term in zip(self.theta, self.kernels, strict=True)
        ]
        parts += [
            f"{self.gamma * weight:.4g} R[{term.name}: {term.formula()}]"
            for weight, term in zip(self.beta, self.graphs, strict=True)
        ]
        parts += [
            f"{weight:.4g} R[{term.name}]"
            for weight, term in zip(self.fixed_weights, self.fixed, strict=True)
        ]
        M = " + ".join(parts)
        formula = f"P ({M}) P, P = I - 11'/n" if self.center else M
        return f"M = {formula}; n = {self.n}, {self.dtype.name}"


def _weighted(
    terms: Sequence[Term], weights: Sequence[float]
) -> list[SymmetricOperator]:
    """Terms times their weights; a term of weight 0 is left out."""
    return [
        term.operator if weight == 1 else float(weight) * term.operator
        for term, weight in zip(terms, weights, strict=True)
        if weight != 0
    ]
