"""One problem at many strengths, solved together in a space that all of them share.

M = A + gamma B at ten values of gamma are ten problems whose answers lie close to each
other. An orthonormal basis Q serves them all: T Q is kept for every term T, so that in
the space each strength, and each step of learned weights, costs a small matrix and a
look at the residual. Where that is too large the space grows, for all that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from graphfold.arrays import Array, column_lengths, new_directions, small_eigenbasis
from graphfold.errors import ConvergenceError
from graphfold.model.alternate import Alternation
from graphfold.model.problem import Problem
from graphfold.model.terms import Term
from graphfold.operators import Dense, Diagonal
from graphfold.solvers.choose import NO_NUMBERS
from graphfold.solvers.conjugate import solve_shifted

#: columns of the first block beyond d
OVERSAMPLE = 4
#: widths of the first block that the space has room for, and columns at least
BLOCKS, LEAST = 8, 160
#: what a residual may be of the wanted eigenvalues, their median or so much of the
#: largest: a score needs no more
TOLERANCE, LEAST_SIZE = 6e-2, 0.1
#: a graph smooths what the space grows by where its products cost so little of the
#: data's, in at most so many rounds and to this accuracy
CHEAP, SMOOTHING, SMOOTHED = 0.25, 16, 0.1
#: the least that is added to a graph's eigenvalues, of the largest, to divide by them
LEAST_SHIFT = 1e-3
#: gammas that the space grows by before any is answered
ANCHORS = 4
#: rounds in which a space may grow for one strength
MOST_ROUNDS = 30

#: a problem in a space and d to its learned weights and its solution
Learn = Callable[..., Alternation]
#: residuals, and the last wanted value, to what a space grows by
Grow = Callable[[Array, float], Array]


class JointSpace:
    """An orthonormal basis Q, and T Q and Q'T Q for each term T of a problem.

    Columns are contiguous. The trivial vector of the problem stays outside.
    """

    def __init__(self, problem: Problem, capacity: int):
        trivial = problem.trivial_vector()
        self._n_avoided = 0 if trivial is None else trivial.shape[1]
        kinds = (problem.kernels, problem.graphs, problem.fixed)
        self.operators = [term.operator for kind in kinds for term in kind]
        self.capacity, self.width = min(capacity, problem.room), 0
        shape = (problem.n, self.capacity)
        self._basis = np.zeros(
            (problem.n, self._n_avoided + self.capacity), problem.dtype, order="F"
        )
        if trivial is not None:
            self._basis[:, : self._n_avoided] = trivial
        self._images = [np.zeros(shape, problem.dtype, "F") for _ in self.operators]
        self._small = [np.zeros((self.capacity,) * 2) for _ in self.operators]

    @property
    def Q(self) -> Array:
        """The basis."""
        return self._basis[:, self._n_avoided : self._n_avoided + self.width]

    @property
    def is_full(self) -> bool:
        """Whether there is no room for a further column."""
        return self.width == self.capacity

    def add(self, block: Array) -> bool:
        """Grow by the directions of a block that are new; whether there were any."""
        known = self._basis[:, : self._n_avoided + self.width]
        fresh = new_directions(block.astype(known.dtype, copy=False), against=known)
        fresh = np.asfortranarray(fresh[:, : self.capacity - self.width])
        if fresh.shape[1] == 0:
            return False
        start, self.width = self.width, self.width + fresh.shape[1]
        new = slice(start, self.width)
        self.Q[:, new] = fresh
        avoid = self._basis[:, : self._n_avoided]
        for T, images, small in zip(
            self.operators, self._images, self._small, strict=True
        ):
            image = T.apply(fresh)
            images[:, new] = image - avoid @ (avoid.T @ image)
            columns = self.Q.T @ images[:, new]
            if not np.isfinite(columns).all():
                raise ConvergenceError(NO_NUMBERS)
            small[: self.width, new] = columns
            small[new, : self.width] = columns.T
        return True

    def solve(self, weights: Array) -> tuple[Array, Array]:
        """Ritz values of M, its terms weighed so, and coordinates of the vectors."""
        w = self.width
        matrix = np.zeros((w, w))
        for weight, small in zip(weights, self._small, strict=True):
            matrix += weight * small[:w, :w]
        values, S = small_eigenbasis((matrix + matrix.T) / 2)
        return values[::-1], S[:, ::-1]

    def rest(self, weights: Array, values: Array, S: Array) -> Array:
        """M Q S - Q S diag(values)."""
        S = S.astype(self._basis.dtype)
        total = self.Q @ (S * -values.astype(S.dtype))
        for weight, images in zip(weights, self._images, strict=True):
            if weight:
                total += images[:, : self.width] @ (float(weight) * S)
        return np.asarray(total)

    def vectors(self, S: Array) -> Array:
        """The n-vectors of coordinates in the space."""
        return np.asarray(self.Q @ S.astype(self._basis.dtype))

    def project(self, problem: Problem) -> Problem:
        """The same problem in the space: its terms are small matrices."""
        matrices = iter(self._small)

        def seen(terms: Sequence[Term]) -> tuple[Term, ...]:
            return tuple(
                _small_term(term, next(matrices), self.width) for term in terms
            )

        return replace(
            problem,
            kernels=seen(problem.kernels),
            graphs=seen(problem.graphs),
            fixed=seen(problem.fixed),
            center=False,
            trivial=None,
            _memo=type(problem._memo)(),
        )


def _small_term(term: Term, matrix: Array, width: int) -> Term:
    base = Dense(matrix[:width, :width], bounds=term.operator.bounds(), name=term.name)
    return replace(term, base=base, factor=1.0, shift=0.0, start=None)


def can_be_joint(problem: Problem, d: int) -> bool:
    """Whether a joint space serves: it is smaller than all, and vectors are plain."""
    plain = problem.roots is None and not any(term.null for term in problem.kernels)
    return plain and d + OVERSAMPLE < problem.room


def solutions(
    problem: Problem,
    gammas: Sequence[float],
    d: int,
    *,
    rng: np.random.Generator,
    start: Array | None = None,
    learn: Learn | None = None,
) -> Iterator[tuple[int, Array]]:
    """The top d eigenvectors at each gamma, to what a score needs: place and vectors.

    The space grows by what some gammas need, the ends of the path first. Then all are
    solved in it: what it lacks, it lacks for all of them alike.
    """
    width = d + OVERSAMPLE
    space = JointSpace(problem, max(BLOCKS * width, LEAST))
    block = rng.standard_normal((problem.n, width)).astype(problem.dtype)
    if start is not None:
        block[:, : start.shape[1]] = start[:, :width]
    space.add(block)
    anchors, known = _ends_first(len(gammas), ANCHORS), {}
    for i, place in enumerate(anchors):
        # a share for each: the ends of the path could take all the room there is
        limit = width + (space.capacity - width) * (i + 1) // len(anchors)
        S = _solved(space, problem.with_gamma(gammas[place]), d, learn, limit)
        known[place] = space.width, S
    for place, gamma in enumerate(gammas):
        seen, S = known.get(place, (0, block))
        if seen < space.width:
            S = _solved(space, problem.with_gamma(gamma), d, learn, space.capacity)
        yield place, space.vectors(S)


def _solved(
    space: JointSpace, problem: Problem, d: int, learn: Learn | None, limit: int
) -> Array:
    """Coordinates of the answer, in a space that has grown until it is good enough.

    It does not grow beyond ``limit`` columns, but by the last block.
    Learned weights stay while the space grows, and are learned again when it has.
    """
    is_learned, width = learn is None, space.width
    grow: Grow | None = None
    for _ in range(MOST_ROUNDS):
        if not is_learned and learn is not None:
            found = learn(space.project(problem), d, solver="lapack").problem
            problem = problem.with_weights(found.theta, found.beta)
            is_learned, width, grow = True, space.width, None
        weights = _weights_of(problem)
        values, S = space.solve(weights)
        rest = space.rest(weights, values[:d], S[:, :d])
        active = column_lengths(rest) > TOLERANCE * _size(values[:d] - problem.shift)
        if active.any() and space.width < limit:
            grow = _grow_by(problem) if grow is None else grow
            if space.add(grow(rest[:, active], float(values[d - 1]))):
                continue
        if learn is None or space.width == width:
            break
        is_learned = False
    return S[:, :d]


def _size(values: Array) -> float:
    """What wanted eigenvalues are like: the median, so that no single one decides."""
    sizes = np.abs(values)
    return max(float(np.median(sizes)), LEAST_SIZE * float(sizes.max()))


def _weights_of(problem: Problem) -> Array:
    """What each term of M is multiplied by, in the order of a joint space."""
    graphs = problem.gamma * np.array(problem.beta, dtype=float)
    return np.concatenate([problem.theta, graphs, problem.fixed_weights])


def _grow_by(problem: Problem) -> Grow:
    """Residuals over what the graphs alone make of M less an eigenvalue.

    Kernels are known by few directions, which the space has: what is left of M is its
    graphs, and (gamma (top - R) + shift)^-1 of a residual is nearly the error itself.
    """
    R, work = problem.graph_operator(), sum(t.base.work() for t in problem.kernels)
    if R is None or problem.gamma == 0:
        return lambda rest, value: rest
    low, top = R.bounds()
    if R.work() > CHEAP * work or not np.isfinite([low, top]).all():
        return lambda rest, value: rest
    lowered = Diagonal(np.full(R.n, top, dtype=R.dtype)) - R if top else -R

    def grow(rest: Array, value: float) -> Array:
        least = LEAST_SHIFT * problem.gamma * (top - low)
        shift = max(value - problem.gamma * top, least)
        return solve_shifted(
            lowered,
            problem.gamma,
            shift,
            rest,
            start=np.zeros_like(rest),
            tol=SMOOTHED,
            max_iter=SMOOTHING,
        )

    return grow


def _ends_first(count: int, wanted: int) -> list[int]:
    """Some of so many places: 0, the last, the middle, the middles of what is left."""
    seen = [0, count - 1] if count > 1 else [0]
    while len(seen) < min(count, wanted):
        gaps = [(b - a, a, b) for a, b in pairwise(sorted(seen))]
        _, low, high = max(gaps)
        seen.append((low + high) // 2)
    return seen
