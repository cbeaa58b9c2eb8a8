"""The only door to eigenvectors, and the rule behind ``solver="auto"``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.operators import SymmetricOperator
from graphfold.solvers.borrowed import lobpcg
from graphfold.solvers.chebyshev import chebyshev_filtered
from graphfold.solvers.dense import lapack
from graphfold.solvers.krylov import block_krylov
from graphfold.solvers.result import Eigenpairs, Observer, Request

_SOLVERS: dict[str, Callable[[Request], Eigenpairs]] = {
    "lapack": lapack,
    "krylov": block_krylov,
    "chebyshev": chebyshev_filtered,
    "lobpcg": lobpcg,
}
SOLVERS = tuple(_SOLVERS)

#: below this many rows LAPACK answers in a fraction of a second
SMALL = 1000
#: above this share of n an iterative block is no longer narrow
WIDE = 0.2


class Choice(NamedTuple):
    """A solver and why it was chosen."""

    solver: str
    reason: str


def choose_solver(n: int, d: int, solver: str = "auto") -> Choice:
    """Which solver would be used for d eigenpairs of an n x n operator, and why.

    Examples
    --------
    >>> from graphfold.solvers import choose_solver
    >>> choose_solver(10_000, 10).solver
    'krylov'
    """
    check.one_of("solver", solver, ("auto", *SOLVERS))
    if solver == "lobpcg" and d + 2 > WIDE * n:
        raise GraphfoldError(
            f'solver="lobpcg" needs n_components + 2 to be at most {WIDE:.0%} of n; '
            f'got {d} of {n}: use "auto" or "lapack"'
        )
    if solver != "auto":
        return Choice(solver, "asked for")
    if n <= SMALL:
        return Choice("lapack", f"n = {n} is at most {SMALL}")
    if d > WIDE * n:
        return Choice("lapack", f"d = {d} is more than {WIDE:.0%} of n = {n}")
    return Choice("krylov", f"n = {n} is more than {SMALL} and d = {d} is small")


def default_tolerance(dtype: np.dtype[Any]) -> float:
    """Relative residual asked for when nobody says: what the precision gives."""
    return 1e-5 if dtype == np.float32 else 1e-10


def top_eigenpairs(
    M: SymmetricOperator,
    d: int,
    *,
    solver: str = "auto",
    tol: float | None = None,
    max_iter: int | None = None,
    rng: np.random.Generator | None = None,
    avoid: Array | None = None,
    start: Array | None = None,
    needed: int | None = None,
    observer: Observer | None = None,
) -> Eigenpairs:
    """The d algebraically largest eigenpairs of M.

    Parameters
    ----------
    M : SymmetricOperator
    d : int
    solver : {"auto", "lapack", "krylov", "chebyshev", "lobpcg"}, default="auto"
    tol : float, default=None
        Largest ``|M v - value v|`` relative to the size of M. By default 1e-10 in
        float64 and 1e-5 in float32.
    max_iter : int, default=None
        Rounds; by default 300.
    rng : numpy.random.Generator, default=None
        For the starting block; seeded by default, so that answers repeat.
    avoid : array of shape (n, k), default=None
        Orthonormal vectors that answers are kept orthogonal to.
    start : array of shape (n, k), default=None
        A first guess of the eigenvectors.
    needed : int, default=None
        How many of the d pairs have to converge; by default all.
    observer : callable, default=None
        Called with an ``Iteration`` after each round; returning True stops.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.operators import Diagonal
    >>> from graphfold.solvers import top_eigenpairs
    >>> top_eigenpairs(Diagonal(np.array([1.0, -5.0, 3.0])), 2).values
    array([3., 1.])
    """
    choice = choose_solver(M.n, d, solver)
    request = Request(
        M=M,
        d=d,
        tol=default_tolerance(M.dtype) if tol is None else float(tol),
        max_iter=300 if max_iter is None else max_iter,
        rng=np.random.default_rng(0) if rng is None else rng,
        avoid=np.empty((M.n, 0), M.dtype) if avoid is None else avoid.astype(M.dtype),
        start=start,
        needed=d if needed is None else needed,
        observer=observer,
    )
    pairs = _SOLVERS[choice.solver](request)
    return replace(pairs, solver=choice.solver, reason=choice.reason)
