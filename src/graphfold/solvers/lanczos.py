"""Block Lanczos: wide blocks and few products, for matrices that cost much to apply."""

from __future__ import annotations

import numpy as np

from graphfold.arrays import Array, column_lengths, new_directions, small_eigenbasis
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    judged_by_wanted_end,
    relative_residuals,
    value_after,
)

#: columns of a block beyond d, at least
OVERSAMPLE = 2
#: BLAS multiplies a stored matrix by 16 columns in the time of 2 to 8
LANES = 16
#: columns and blocks that the space has room for. A kernel takes 7 to 12 blocks at the
#: default tolerance, one with a graph 18 to 25
CAPACITY, BLOCKS = 384, 10
#: rounds for each digit of the tolerance, before the first look at the Ritz values
LOOK_PER_DIGIT = 0.7
FIRST_LOOK = 12
#: rounds between two looks, at most
LONGEST_WAIT = 8
#: by the bytes of a number: residuals above this are known without a product
ROUNDING = {4: np.inf, 8: 1e-12}
#: a space that is filled once more should shrink the residual by at least this
SLOW = 0.1


def block_width(d: int, room: int) -> int:
    """Columns of a block: d and a few more, filled up to what BLAS takes at a time."""
    return min(LANES * -(-(d + OVERSAMPLE) // LANES), room)


def capacity(d: int, room: int) -> int:
    """Columns that the space has room for."""
    return min(max(CAPACITY, BLOCKS * block_width(d, room)), room)


def first_look(tol: float) -> int:
    """The round before which a random block has hardly come near the tolerance."""
    return int(np.clip(-LOOK_PER_DIGIT * np.log10(max(tol, 1e-16)), 1, FIRST_LOOK))


def block_lanczos(request: Request) -> Eigenpairs:
    """Top-d eigenpairs from a block Lanczos space, restarted when it is full.

    Every round multiplies M by a block, and orthogonalises the product against all of
    the space. M itself is known in the space by T = Q'MQ, so a round needs neither
    Ritz vectors nor their products. Eigenvalues of multiplicity up to the width of a
    block are found whole.

    Ritz values are computed where the residual is expected to be small enough. In
    single precision the answer is then multiplied by M once more: the residuals that
    are returned, and the last Rayleigh-Ritz step, are those of the vectors themselves.
    Where rounding has left too much, the space starts again from them. If a whole space
    brings little, the answer is returned as it is, not converged.
    """
    M, d, needed = request.M, request.d, slice(request.needed)
    room = M.n - request.avoid.shape[1]
    width = block_width(d, room)
    space = _Space(request.avoid, capacity(d, room))
    looks = Looks(first_look(request.tol) if request.start is None else 2)
    is_exact = request.tol > ROUNDING[M.dtype.itemsize]
    fresh, n_products, before = request.directions(width), 0, np.inf
    for iteration in range(1, request.max_iter + 1):
        rest = space.add(fresh, M.apply(fresh))
        n_products += fresh.shape[1]
        fresh = new_directions(rest, against=space.basis, projected=True)
        fresh = fresh[:, : room - space.width]
        stop = request.observe(iteration, looks.worst)
        is_last = stop or iteration == request.max_iter or fresh.shape[1] == 0
        is_full = space.width + width > space.capacity
        if not (is_last or is_full or looks.are_due(iteration)):
            continue
        values, S = space.ritz()
        size = float(np.abs(values).max())
        residuals = space.residuals(rest, S[:, :width], size)
        tol = judged_by_wanted_end(request.tol, values[: d + 1], size, M.dtype)
        worst = float(residuals[needed].max())
        looks.note(iteration, worst, tol)
        is_slow = is_full and worst > SLOW * before
        if worst <= tol or is_last or is_slow:
            V = space.Q @ S[:, :width].astype(M.dtype)
            if not is_exact:
                values, V, rest, residuals = refined(V, M.apply(V), size)
                n_products += V.shape[1]
                worst = float(residuals[needed].max())
            if is_exact or worst <= tol or is_last or worst > SLOW * before:
                break
            space.restart(V, values)
            fresh = new_directions(rest, against=space.basis)[:, : room - space.width]
            looks, before = Looks(1, iteration), worst
        elif is_full:
            kept = min(max(2 * width, space.capacity // 3), space.width)
            space.restart(space.Q @ S[:, :kept].astype(M.dtype), values[:kept])
            before = worst
    return Eigenpairs(
        values=values[:d].astype(M.dtype),
        vectors=V[:, :d],
        residuals=residuals[:d],
        converged=worst <= tol,
        n_iterations=iteration,
        n_products=n_products,
        size=size,
        next_value=value_after(values, residuals, d, size),
        spare=V[:, d:],
        stalled=not (worst <= tol or is_last),
    )


def refined(V: Array, MV: Array, size: float) -> tuple[Array, Array, Array, Array]:
    """Ritz values and vectors in the span of V, M V - V values, and its residuals."""
    T = (V.T @ MV).astype(np.float64)
    values, S = small_eigenbasis((T + T.T) / 2)
    values, S = values[::-1], np.ascontiguousarray(S[:, ::-1], dtype=V.dtype)
    V, MV = V @ S, MV @ S
    rest, residuals = relative_residuals(MV, V, values, size)
    return values, V, rest, residuals


class _Space:
    """An orthonormal basis Q and T = Q'MQ. M maps all blocks but the last into Q.

    Columns are contiguous: BLAS multiplies a symmetric matrix faster from the left.
    """

    def __init__(self, avoid: Array, capacity: int):
        n, self._n_avoided = avoid.shape
        self._basis = np.zeros((n, self._n_avoided + capacity), avoid.dtype, order="F")
        self._basis[:, : self._n_avoided] = avoid
        self._T = np.zeros((capacity, capacity))
        self.capacity, self.width = capacity, 0

    @property
    def basis(self) -> Array:
        """The avoided vectors and Q, side by side."""
        return self._basis[:, : self._n_avoided + self.width]

    @property
    def Q(self) -> Array:
        return self.basis[:, self._n_avoided :]

    def add(self, fresh: Array, image: Array) -> Array:
        """One more orthonormal block; returns what M times it leaves outside of Q."""
        start, self.width = self.width, self.width + fresh.shape[1]
        self.Q[:, start:] = fresh
        columns = self.Q.T @ image
        self._T[: self.width, start : self.width] = columns
        self._T[start : self.width, :start] = columns[:start].T
        return np.asarray(image - self.Q @ columns)

    def ritz(self) -> tuple[Array, Array]:
        """Ritz values in falling order, and the rotation that gives the vectors."""
        T = self._T[: self.width, : self.width]
        values, S = small_eigenbasis((T + T.T) / 2)
        return values[::-1], S[:, ::-1]

    def residuals(self, rest: Array, S: Array, size: float) -> Array:
        """Relative residuals of Ritz vectors: M Q is Q T but for ``rest``."""
        last = S[-rest.shape[1] :].astype(rest.dtype)
        return column_lengths(rest @ last) / (size or 1.0)

    def restart(self, V: Array, values: Array) -> None:
        """The space of some Ritz vectors alone."""
        self.width = V.shape[1]
        self.Q[:] = V
        self._T[: self.width, : self.width] = np.diag(values)


class Looks:
    """When the Ritz values are worth computing: they cost a cube of the space."""

    def __init__(self, first: int, at: int = 0):
        self._due, self._at, self.worst = at + first, at, 1.0
        self.ahead = 0.0

    def are_due(self, iteration: int) -> bool:
        return iteration >= self._due

    def note(
        self,
        iteration: int,
        worst: float,
        tol: float,
        waits: tuple[int, int] = (1, LONGEST_WAIT),
    ) -> None:
        """The next look is where the residual will have come down, at the same pace."""
        pace = np.log(self.worst / max(worst, 1e-300)) / (iteration - self._at)
        left = np.log(max(worst / tol, 1.0))
        self.ahead = left / pace if pace > 0 else np.inf
        # convergence speeds up: a look comes early rather than late
        wait = int(np.clip(0.6 * self.ahead, *waits))
        self._due, self._at, self.worst = iteration + wait, iteration, worst
