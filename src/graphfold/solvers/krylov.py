"""Block Krylov with restarts: a few products with wide blocks, no factorisation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphfold.arrays import Array, new_directions, orthonormal, small_eigenbasis
from graphfold.operators import Dense, SymmetricOperator
from graphfold.solvers.filtering import chebyshev_filter, lowest_eigenvalue_bound
from graphfold.solvers.lanczos import LANES, block_lanczos, block_width
from graphfold.solvers.result import (
    Eigenpairs,
    Request,
    judged_by_wanted_end,
    relative_residuals,
    value_after,
)
from graphfold.solvers.vector_lanczos import vector_lanczos

OVERSAMPLE = 4
#: operations per row and column that a round costs beyond its products
ROUND_OVERHEAD = 2000
LARGEST_DEGREE = 64
#: rows up to which M is added up before it is solved: calls cost more than numbers
FEW = 400
#: rows beyond which a stored matrix is far larger than the cache
LARGE = 4000
#: random directions, and how far they are filtered, that an answer has to stand
PROBES, PROBE_DEGREE = 4, 256
#: a space filled and restarted should shrink the residual by at least this
SLOW = 0.5
#: below this many rounding errors a residual that stands still may be drift
DRIFT = 1e4


def block_krylov(request: Request) -> Eigenpairs:
    """Top-d eigenpairs from a Krylov space, by few products or by cheap ones.

    From one vector where there is a kernel, and products are cheap or those with one
    column are, until it shows that this will not do. Else, and where an eigenvalue has
    several eigenvectors, from a block: by block Lanczos where a product costs more than
    the bookkeeping of a round (a tiled kernel), by the filtered space where it costs
    less (a sparse graph, a thin factor), or once Lanczos has stalled.
    """
    M = request.M
    is_cheap = M.work() < M.n * min(ROUND_OVERHEAD, M.n)
    by_columns = M.columns_are_cheap() and not _wide_and_single(request)
    if (is_cheap or by_columns) and M.sparse() is None:
        if M.n <= FEW and by_columns:
            M = Dense(M.to_dense(), bounds=M.bounds())
        found = vector_lanczos(replace(request, M=M))
        if found is not None:
            return found
    if is_cheap:
        return filtered_krylov(request)
    pairs = block_lanczos(request)
    if not pairs.stalled:
        return pairs
    left = request.max_iter - pairs.n_iterations
    found = filtered_krylov(replace(request, start=pairs.start, max_iter=left))
    return replace(
        found,
        n_iterations=pairs.n_iterations + found.n_iterations,
        n_products=pairs.n_products + found.n_products,
    )


def _wide_and_single(request: Request) -> bool:
    """Many components of a large matrix in single precision, where blocks are faster:
    a column reads half as many bytes, but a block takes half the time as well."""
    M, is_wide = request.M, block_width(request.d, request.M.n) > LANES
    return is_wide and M.n > LARGE and M.dtype.itemsize == 4


def filtered_krylov(request: Request) -> Eigenpairs:
    """Top-d eigenpairs from a block Krylov space that is restarted when it is full.

    The space starts from d + 4 random directions, so eigenvalues of multiplicity up to
    d are found whole, and grows by the residuals of the wanted Ritz pairs that have not
    converged, which is what the next Krylov block spans. Where a product costs less
    than the bookkeeping of a round, the Ritz vectors pass through a Chebyshev filter of
    some degree instead: many products, few rounds. The same is done, with doubling
    degree, once restarts hardly help any more.

    Where products are that cheap, an answer that has converged is not believed at once:
    random directions are filtered with all of it projected out and join the space. An
    eigenvector that was missed comes up there, and the search goes on.

    A Krylov space does not change when M is shifted, so Rayleigh-Ritz picks the
    algebraically largest values of an indefinite M as it is. M V is kept for the whole
    space, so residuals, restarts and the answer need no further product.
    """
    M, d = request.M, request.d
    room = M.n - request.avoid.shape[1]
    width = min(d + OVERSAMPLE, room)
    degree = filter_degree(M)
    # cheap products leave time for a large space, which tells near eigenvalues apart
    cheap = degree > 1
    capacity = min(max((10 if cheap else 5) * width, 60), room)
    kept, reach = (4 * width, 3 * width) if cheap else (2 * width, width)
    bottom = np.nan  # found when a filter first needs it

    space = Space(request.avoid, capacity)
    space.add(request.random_block(width), M)
    n_products, worst_at_restart, size = width, np.inf, 0.0
    doubted = not cheap
    for iteration in range(1, request.max_iter + 1):
        values, S = rayleigh_ritz(space.Q, space.MQ)
        V, MV = space.Q @ S[:, :width], space.MQ @ S[:, :width]
        # a restart drops the lower end again, but M is as large as it ever was
        size = max(size, float(np.abs(values).max()))
        residual_block, residuals = relative_residuals(MV, V, values[:width], size)
        worst = float(residuals[: request.needed].max())
        tol = judged_by_wanted_end(request.tol, values[: d + 1], size, M.dtype)
        solved = worst <= tol
        stop = request.observe(iteration, worst) or (solved and doubted)
        if stop or iteration == request.max_iter or space.width == room:
            break
        if space.width + width > capacity:
            space.restart(S[:, : min(kept, space.width)])
            if worst > SLOW * worst_at_restart:
                degree = min(2 * degree, LARGEST_DEGREE)
                if worst < DRIFT * float(np.finfo(M.dtype).eps):
                    # each rotation of Q and MQ rounds: by now that may be what is left
                    space.renew(M)
                    n_products += space.width
            worst_at_restart = worst
        if degree > 1 and np.isnan(bottom):
            bottom = lowest_eigenvalue_bound(M, request.rng)
        if solved:
            doubted = True
            ends = (min(bottom, values[-1]), values[d - 1], values[0])
            grown = probed(request, V[:, :d], ends)
            n_products += PROBES * PROBE_DEGREE
            fresh = new_directions(grown, against=space.basis)[:, : room - space.width]
            if fresh.shape[1] == 0:
                break
            space.add(fresh, M)
            continue
        # a wanted pair that has converged needs no more products of its own
        active = np.flatnonzero(residuals[:d] > 0.3 * tol)
        grown = residual_block[:, active]
        if degree > 1:
            cut = values[min(reach, len(values)) - 1]
            ends = (min(bottom, values[-1]), cut, values[active[0]])
            done = np.hstack([request.avoid, np.delete(V[:, :d], active, axis=1)])
            grown = chebyshev_filter(
                M, V[:, active], MV[:, active], ends, degree, done=done
            )
        fresh = new_directions(grown, against=space.basis)
        if fresh.shape[1] == 0 and degree > 1:
            # the filter gives nothing above its own noise: plain residuals still may
            degree = 1
            fresh = new_directions(residual_block[:, active], against=space.basis)
        fresh = fresh[:, : room - space.width]
        if fresh.shape[1] == 0:
            break
        space.add(fresh, M)
        n_products += fresh.shape[1] + (degree - 1) * len(active)

    return Eigenpairs(
        values=values[:d].astype(M.dtype),
        vectors=V[:, :d],
        residuals=residuals[:d],
        converged=worst <= tol,
        n_iterations=iteration,
        n_products=n_products,
        size=size,
        next_value=value_after(values, residuals, d, size),
        spare=V[:, d:width],
    )


class Space:
    """An orthonormal basis Q, its product M Q, and what Q is orthogonal to.

    All in room reserved once: growing by copies would cost as much as a product.
    """

    def __init__(self, avoid: Array, capacity: int):
        n, self._n_avoided = avoid.shape
        self._basis = np.zeros((n, self._n_avoided + capacity), dtype=avoid.dtype)
        self._basis[:, : self._n_avoided] = avoid
        self._MQ = np.zeros((n, capacity), dtype=avoid.dtype)
        self.width = 0

    @property
    def basis(self) -> Array:
        """The avoided vectors and Q, side by side."""
        return self._basis[:, : self._n_avoided + self.width]

    @property
    def Q(self) -> Array:
        return self.basis[:, self._n_avoided :]

    @property
    def MQ(self) -> Array:
        return self._MQ[:, : self.width]

    def add(self, fresh: Array, M: SymmetricOperator) -> None:
        """More orthonormal columns, at the price of their product."""
        start, self.width = self.width, self.width + fresh.shape[1]
        self.Q[:, start:] = fresh
        self.MQ[:, start:] = M.apply(fresh)

    def restart(self, rotation: Array) -> None:
        """Keep the combinations of the columns that ``rotation`` gives."""
        Q, MQ = self.Q @ rotation, self.MQ @ rotation
        self.width = rotation.shape[1]
        self.Q[:], self.MQ[:] = Q, MQ

    def renew(self, M: SymmetricOperator) -> None:
        """Orthonormalise again, and compute the product again."""
        avoided = self._basis[:, : self._n_avoided]
        self.Q[:] = orthonormal(self.Q, against=avoided)
        self.MQ[:] = M.apply(self.Q)


def probed(request: Request, V: Array, ends: tuple[float, float, float]) -> Array:
    """Random directions, filtered for what lies above the last wanted value.

    V, which has been found, and what is to be avoided are projected out at every step:
    what comes up is new.
    """
    M, n = request.M, request.M.n
    block = request.rng.standard_normal((n, PROBES)).astype(M.dtype)
    done = np.hstack([request.avoid, V])
    block = orthonormal(block, against=done)
    return chebyshev_filter(M, block, M.apply(block), ends, PROBE_DEGREE, done=done)


def filter_degree(M: SymmetricOperator) -> int:
    """How many products a round may use before they cost more than the round itself."""
    return int(np.clip(ROUND_OVERHEAD * M.n / max(M.work(), 1.0), 1, LARGEST_DEGREE))


def rayleigh_ritz(Q: Array, MQ: Array) -> tuple[Array, Array]:
    """Ritz values in falling order and the rotation that gives the Ritz vectors."""
    T = Q.T @ MQ
    values, S = small_eigenbasis((T + T.T) / 2)
    # contiguous: with a negative stride NumPy would not call BLAS
    return values[::-1], np.ascontiguousarray(S[:, ::-1], dtype=Q.dtype)
