"""Lanczos from one vector: the fewest products, for matrices that are stored.

BLAS multiplies a stored symmetric matrix by one column in a twentieth of the time that
it takes for sixteen, and a Krylov space of one vector that is never restarted needs a
fourth of the columns that a block needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.linalg import eigh_tridiagonal, get_blas_funcs
from scipy.linalg.lapack import dsterf

from graphfold.arrays import Array, column_lengths
from graphfold.solvers.lanczos import ROUNDING, Looks, block_width, capacity, refined
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    judged_by_wanted_end,
    value_after,
)
from graphfold.threads import one_blas_thread, threads_for

#: steps before the first look at the Ritz values at a tolerance of 1e-10, and how many
#: more for each eigenpair: of a kernel, and of one with a graph, which takes longer
FIRST_LOOK, LOOK_PER_PAIR, LOOK_PER_PAIR_OF_GRAPH = 18, 2.0, 3.5
#: vectors that there is room for, in both chains, and how many more for each eigenpair
CAPACITY, CAPACITY_PER_PAIR = 150, 20
#: room that the second chain needs, at least
ROOM_TO_CHECK = 20
#: steps between two looks, at most, as a share of those so far: where looks are dear,
#: and what is added to this many times what a look costs
LONGEST_WAIT, WAIT, WAIT_FOR_COST = 0.3, 0.08, 4.0
#: a look takes as long as k^2 / (a + b n^2) steps: a is what Python takes for a step
STEP_BY_PYTHON, STEP_BY_ENTRIES = 150.0, 1.3e-3
#: by the bytes of a number: what is converged less leaves much to be overlooked
LOOSEST = {4: 1e-5, 8: 1e-6}
#: probability of overlooking an eigenvector, at most
OVERLOOKED = 1e-5
#: steps of the second chain between two looks
CHECK_STEPS = 4
#: what a product leaves outside of the space, relative to M, where the space ends
NOTHING = {4: 1e-5, 8: 1e-12}
#: and what is so short that it is projected a second time
SHORT = 1e-2
#: up to this many rows two threads are slower than one
ONE_THREAD = 1500


@dataclass(frozen=True)
class Steps:
    """How a chain differs from that of a kernel, where M stands for another matrix.

    ``first_look`` is the step of the first look at the Ritz values, ``most`` how many
    vectors there is room for. ``allowed`` says which residual, relative to the largest
    Ritz value in size, is small enough for these Ritz values. Pairs are always doubted
    then, and whoever asks computes the residuals that count.
    """

    first_look: int
    most: int
    allowed: Callable[[Array], float]


def vector_lanczos(request: Request, steps: Steps | None = None) -> Eigenpairs | None:
    """Top-d eigenpairs from the Krylov space of one vector, or None.

    Of an eigenvalue with several eigenvectors such a space holds only one. So when the
    pairs have converged, a second random vector is multiplied by M within the
    complement of the space. If an eigenvalue there were at least the last wanted one,
    the largest Ritz value of the second chain would be near it: how near, and with
    which probability, is known [1]_. (The complement is that of Schur: the Ritz vectors
    that have not converged are no invariant space.) The pairs are returned where the
    probability of having overlooked one is below ``OVERLOOKED``.

    A round is as many products as a block of ``block_lanczos`` has columns. None is
    returned where another eigenvector may be left, and where the space is full
    or ends before the pairs have converged.

    References
    ----------
    .. [1] J. Kuczynski, H. Wozniakowski, Estimating the largest eigenvalue by the power
       and Lanczos algorithms with a random start, SIAM J. Matrix Anal. Appl. 13 (1992).
    """
    with threads_for(request.M.n, ONE_THREAD):
        return _pairs(request, steps)


def ritz_after(request: Request, steps: int) -> tuple[Array, Array, float]:
    """Ritz values after some steps, in falling order, the first d of their vectors, and
    the residual of the lowest value. Fewer values where the space ends before."""
    chain = _Chain(request, steps)
    chain.start(_first_vector(request))
    while not chain.step() and chain.length < steps:
        pass
    if not np.isfinite(chain.remainder):
        return np.empty(0), chain.vectors(np.empty((0, 0))), np.nan
    values, S = chain.ritz()
    remainder = float(chain.remainder * abs(S[-1, -1]))
    return values, chain.vectors(S[:, : request.d]), remainder


def _pairs(request: Request, steps: Steps | None) -> Eigenpairs | None:
    M, d = request.M, request.d
    room = M.n - request.avoid.shape[1]
    width = block_width(d, room)
    most = CAPACITY + CAPACITY_PER_PAIR * d if steps is None else steps.most
    most = min(most, capacity(d, room))
    limit = most - ROOM_TO_CHECK
    chain = _Chain(request, most)
    needed = request.needed
    asked = _asked(request, needed > 1)
    is_indefinite = M.bounds()[0] < 0
    first_look = _first_look(needed, asked, is_indefinite)
    looks = Looks(first_look if steps is None else steps.first_look)
    chain.start(_first_vector(request))
    while True:
        has_ended = chain.step()
        k = chain.length
        n_rounds = -(-k // width)
        stop = k % width == 0 and request.observe(n_rounds, looks.worst)
        is_last = stop or k == width * request.max_iter
        is_full = has_ended or k == limit
        if k < needed and (is_last or is_full):
            return None
        if not (is_last or is_full or looks.are_due(k)):
            continue
        values, S = chain.ritz()
        size = float(np.abs(values).max())
        residuals = chain.remainder * np.abs(S[-1]) / (size or 1.0)
        # of one pair that is the largest in size, which is the first to converge, a
        # loose answer is one, and needs no second chain
        is_doubted = needed > 1 or -values[-1] > values[0] or steps is not None
        asked = _asked(request, is_doubted)
        tol = judged_by_wanted_end(asked, values[: d + 1], size, M.dtype)
        if steps is not None:
            tol = steps.allowed(values)
        worst = float(residuals[:needed].max())
        looks.note(k, worst, tol, waits=_waits(k, M.n))
        if worst <= tol or is_last:
            break
        # half full, and at its pace it would need more than twice the room that is left
        if is_full or (2 * k > limit and looks.ahead > 2 * (limit - k)):
            return None
    if k % width:
        is_last = request.observe(n_rounds, worst) or is_last
    V = chain.vectors(S[:, : 2 * d])
    converged = worst <= tol
    if converged and is_doubted:
        ends = float(values[needed - 1]), float(values[-1])
        lift = _lift(chain.remainder * S[-1], values, needed, size)
        converged = chain.is_complete(*ends, lift)
        if not (converged or is_last):
            return None
    n_products, after = chain.n_products, value_after(values, residuals, d, size)
    if steps is None and asked <= ROUNDING[M.dtype.itemsize]:
        # one by one: a block would be multiplied by NumPy's threads
        image = np.column_stack([M.apply(v) for v in V[:, :d].T])
        with one_blas_thread():
            values, wanted, _, residuals = refined(V[:, :d], image, size)
        V, n_products = np.hstack([wanted, V[:, d:]]), n_products + d
        worst = float(residuals[:needed].max())
        converged = converged and worst <= tol
        if not (converged or is_last):
            return None
    return Eigenpairs(
        values=values[:d].astype(M.dtype),
        vectors=V[:, :d],
        residuals=residuals[:d],
        converged=converged,
        n_iterations=n_rounds,
        n_products=n_products,
        size=size,
        next_value=after,
        spare=V[:, d:],
    )


def _asked(request: Request, is_doubted: bool) -> float:
    """The tolerance: one that leaves too much to tell what is missing is tightened."""
    loosest = LOOSEST[request.M.dtype.itemsize]
    return min(request.tol, loosest) if is_doubted else request.tol


def _first_look(needed: int, tol: float, is_indefinite: bool) -> int:
    digits = min(-np.log10(max(tol, 1e-16)), 15.0)
    more = LOOK_PER_PAIR_OF_GRAPH if is_indefinite else LOOK_PER_PAIR
    return max(needed, int(np.ceil((FIRST_LOOK + more * needed) * digits / 10)))


def _waits(k: int, n: int) -> tuple[int, int]:
    """Steps between a look after k steps and the next one: at least, and at most.

    A look that comes too late costs steps, one that comes too early costs itself.
    """
    cost = k**2 / (STEP_BY_PYTHON + STEP_BY_ENTRIES * n**2)
    most = max(2, int(min(LONGEST_WAIT * k, WAIT * k + WAIT_FOR_COST * cost)))
    return min(max(1, int(cost / 2)), most), most


def _lift(couplings: Array, values: Array, needed: int, size: float) -> float:
    """What the Ritz vectors that are not needed add to M outside of the space.

    In the Ritz vectors, and outside of the space, M is [[values, c e'], [e c', B]],
    where e is the vector after the last one. Less the needed rows, which are coupled by
    no more than the tolerance, its eigenvalues are below the last needed value where
    those of the Schur complement B + sum(c^2 / (last - values)) e e' are.
    """
    gaps = values[needed - 1] - values[needed:]
    gaps = np.maximum(gaps, np.finfo(np.float64).eps * size)
    return float((couplings[needed:] ** 2 / gaps).sum())


def _first_vector(request: Request) -> Array:
    """A random vector, and the sum of the given ones beside it."""
    vector = request.rng.standard_normal(request.M.n)
    if request.start is not None:
        given = request.start[:, : request.d].astype(np.float64)
        lengths = column_lengths(given)
        lengths[lengths == 0] = 1.0
        vector += np.sqrt(request.M.n) * (given / lengths).sum(axis=1)
    return vector


class _Chain:
    """An orthonormal basis of a Krylov space, as rows, and the tridiagonal M in it.

    Every new vector is orthogonalised against all others, so that what has converged
    does not come up again. All products are by SciPy's BLAS, as is that of a stored
    matrix with one column: NumPy has another one, whose threads would run beside.
    """

    def __init__(self, request: Request, most: int):
        self._M, self._rng, avoid = request.M, request.rng, request.avoid
        self._dtype = request.M.dtype
        n, self._n_avoided = avoid.shape
        # both chains, and the vector after the last one; untouched rows take no memory
        self._rows = np.empty((self._n_avoided + most + 1, n), self._dtype)
        self._rows[: self._n_avoided] = avoid.T
        names = ("axpy", "dot", "gemv", "gemm")
        calls = get_blas_funcs(names, (self._rows,))
        self._axpy, self._dot, self._gemv, self._gemm = calls
        self.n_products, self._first = 0, self._n_avoided
        self._size = 0.0  # of M, as far as it has been seen
        self._lifted, self._lift = np.empty(0), 0.0

    def start(self, vector: Array) -> None:
        """Begin a chain from the part of a vector outside of all rows so far."""
        self._alphas: list[float] = []
        self._betas: list[float] = []
        rest = self._outside(self._outside(vector.astype(self._dtype)))
        self._rows[self._first] = rest / np.sqrt(self._dot(rest, rest))

    @property
    def length(self) -> int:
        return len(self._alphas)

    @property
    def remainder(self) -> float:
        """The length of what the last product leaves outside of the space."""
        return self._betas[-1]

    def step(self) -> bool:
        """One product; True if it leaves nothing outside of the space."""
        last = self._first + self.length
        vector = self._rows[last]
        rest = self._M.apply(vector)
        if self._lift:
            along = self._lift * self._dot(self._lifted, vector)
            rest = self._axpy(self._lifted, rest, a=along)
        alpha = self._dot(vector, rest)
        rest = self._axpy(vector, rest, a=-alpha)
        if self._betas:
            rest = self._axpy(self._rows[last - 1], rest, a=-self._betas[-1])
        self._alphas.append(alpha)
        rest = self._outside(rest)
        beta = sqrt(self._dot(rest, rest))
        self._size = max(self._size, abs(alpha), beta)
        if beta < SHORT * self._size:
            # what rounding has left of the other vectors is no longer small beside it
            rest = self._outside(rest)
            beta = sqrt(self._dot(rest, rest))
        self._betas.append(beta)
        self.n_products += 1
        if not beta > NOTHING[self._dtype.itemsize] * self._size:
            self._rows[last + 1] = 0
            return True
        np.divide(rest, beta, out=self._rows[last + 1])
        return False

    def _outside(self, vector: Array) -> Array:
        """A vector less its part along all rows so far."""
        count = self._first + self.length
        if count == 0:
            return vector
        basis = self._rows[:count].T
        along = self._gemv(1.0, basis, vector, trans=1)
        return np.asarray(
            self._gemv(-1.0, basis, along, beta=1.0, y=vector, overwrite_y=True)
        )

    def ritz(self) -> tuple[Array, Array]:
        """Ritz values in falling order, and the rotation that gives the vectors."""
        values, S = eigh_tridiagonal(self._alphas, self._betas[:-1])
        return values[::-1], S[:, ::-1]

    def ends(self) -> tuple[float, float]:
        """The lowest and the largest Ritz value."""
        if self.length == 1:
            return self._alphas[0], self._alphas[0]
        values, info = dsterf(self._alphas, self._betas[:-1])
        return (float(values[0]), float(values[-1])) if info == 0 else (0.0, np.inf)

    def vectors(self, S: Array) -> Array:
        """Ritz vectors of the first chain."""
        basis = self._rows[self._n_avoided : self._n_avoided + len(S)]
        return np.asarray(self._gemm(1.0, basis.T, S.astype(self._dtype, order="F")))

    def is_complete(self, least: float, lowest: float, lift: float) -> bool:
        """Whether no eigenvalue of at least ``least`` is left outside of the space.

        ``lowest`` is the other end of the spectrum, ``lift`` as in ``_lift``. A second
        chain replaces the first.
        """
        self._first += self.length
        if self.remainder > 0:
            self._lifted, self._lift = self._rows[self._first].copy(), lift
        most = len(self._rows) - 1 - self._first
        self.start(self._rng.standard_normal(self._M.n))
        for k in range(1, most + 1):
            has_ended = self.step()
            if k % CHECK_STEPS and not has_ended:
                continue
            smallest, largest = self.ends()
            if has_ended or largest >= least:
                return largest < least
            gap = (least - largest) / (least - min(lowest, smallest))
            chance = np.exp(-np.sqrt(gap) * (2 * k - 1))
            if 1.648 * np.sqrt(self._M.n) * chance < OVERLOOKED:
                return True
        return False
