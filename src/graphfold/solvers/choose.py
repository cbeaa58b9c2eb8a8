"""The only door to eigenvectors, and the rule behind ``solver="auto"``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from graphfold import check
from graphfold.arrays import Array, power_of_two
from graphfold.errors import ConvergenceError, GraphfoldError
from graphfold.operators import InDoublePrecision, SymmetricOperator
from graphfold.progress import Stage, stage
from graphfold.solvers.borrowed import lobpcg
from graphfold.solvers.chebyshev import chebyshev_filtered
from graphfold.solvers.dense import lapack
from graphfold.solvers.factorized import shift_invert
from graphfold.solvers.filled import factors_pay, threads_for
from graphfold.solvers.krylov import block_krylov
from graphfold.solvers.lanczos import block_width
from graphfold.solvers.polynomial_lanczos import is_worth_a_try, polynomial_lanczos
from graphfold.solvers.result import Eigenpairs, Iteration, Observer, Request
from graphfold.solvers.rooted import root_of

_SOLVERS: dict[str, Callable[[Request], Eigenpairs]] = {
    "lapack": lapack,
    "krylov": block_krylov,
    "chebyshev": chebyshev_filtered,
    "lobpcg": lobpcg,
    "shift-invert": shift_invert,
}
SOLVERS = tuple(_SOLVERS)

#: rows up to which LAPACK is the fastest, and more of them for each column of a Krylov
#: block: for a kernel; for a kernel and a graph, whose spectrum goes far below zero, so
#: that Krylov takes twice the products; for a sparse matrix, whose wanted eigenvalues
#: lie close together. Measured: ``python -m benchmarks.solver_grid``
LAPACK_ROWS = {"kernel": (170, 0), "indefinite": (120, 4), "sparse": (300, 4)}
#: and rows of a sparse matrix up to which LAPACK is faster than blocks are, where one
#: vector does not see all of the wanted end
LAPACK_ROWS_FOR_BLOCKS = 1000
#: up to this many rows LAPACK takes less than a millisecond
TINY = 100
#: above this share of n an iterative block is no longer narrow
WIDE = 0.2
#: sizes of M, by the bytes of a number, that solvers take as they are
BEARABLE = {4: (1e-10, 1e10), 8: (1e-100, 1e100)}
#: up to this many rows LAPACK may be tried where nothing else converges: half a minute
LARGEST_DENSE = 5000
#: a relative residual above this is an error
UNSOUND = 1e-2
#: by the bytes of a number: how far V'V may be from I
ORTHONORMAL = {4: 1e-4, 8: 1e-8}


class Choice(NamedTuple):
    """A solver and why it was chosen."""

    solver: str
    reason: str


def choose_solver(
    n: int, d: int, solver: str = "auto", *, kind: str = "kernel"
) -> Choice:
    """Which solver would be used for d eigenpairs of an n x n operator, and why.

    ``kind`` says how the spectrum decays: "kernel" for a kernel, "indefinite" for one
    with a graph, "sparse" for a graph or local weights alone.

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
    if d > WIDE * n:
        return Choice("lapack", f"d = {d} is more than {WIDE:.0%} of n = {n}")
    rows, more = LAPACK_ROWS[kind]
    limit = rows + more * block_width(d, n)
    if n <= limit:
        return Choice("lapack", f"n = {n} is at most {limit} at d = {d}")
    return Choice("krylov", f"n = {n} is more than {limit} at d = {d}")


def kind_of(M: SymmetricOperator) -> str:
    """How the spectrum of M decays, as far as it tells the fastest solver."""
    if M.n <= LAPACK_ROWS_FOR_BLOCKS and M.sparse() is not None:
        return "sparse"
    return "indefinite" if M.bounds()[0] < 0 else "kernel"


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
    bottom: float | None = None,
    name: str = "",
    stoppable: bool = False,
) -> Eigenpairs:
    """The d algebraically largest eigenpairs of M.

    Parameters
    ----------
    M : SymmetricOperator
    d : int
    solver : {"auto", "lapack", "krylov", "chebyshev", "lobpcg", "shift-invert"}
        "auto" is what ``choose_solver`` says; of a sparse M whose wanted eigenvalues
        are close to each other, shift-invert where its factors will be sparse.
    tol : float, default=None
        Largest ``|M v - value v|`` relative to the size of M. By default 1e-10 in
        float64 and 1e-5 in float32.
    max_iter : int, default=None
        Rounds; by default 300. Where it is not given and a solver does not converge,
        "auto" tries others, and a residual above 1e-2 is an error.
    rng : numpy.random.Generator, default=None
        For the starting block; seeded by default, so that answers repeat.
    avoid : array of shape (n, k), default=None
        Orthonormal vectors that answers are kept orthogonal to.
    start : array of shape (n, k), default=None
        A first guess of the eigenvectors.
    needed : int, default=None
        How many of the d pairs have to converge; by default all. Where it is less
        than d, fewer than d may be returned.
    observer : callable, default=None
        Called with an ``Iteration`` after each round; returning True stops.
    bottom : float, default=None
        A bound of the spectrum from below, where more is known than M tells.
    name : str, default=""
        What the rounds are reported as; nothing is reported without it.
    stoppable : bool, default=False
        Whether who hears the reports may stop the solver.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold.operators import Diagonal
    >>> from graphfold.solvers import top_eigenpairs
    >>> top_eigenpairs(Diagonal(np.array([1.0, -5.0, 3.0])), 2).values
    array([3., 1.])

    Raises
    ------
    ConvergenceError
        If no solver comes below a relative residual of 1e-2.
    """
    choice = choose_solver(M.n, d, solver, kind=kind_of(M))
    unit = _unit(M)
    request = Request(
        M=M if unit == 1.0 else (1.0 / unit) * M,
        d=d,
        tol=default_tolerance(M.dtype) if tol is None else float(tol),
        max_iter=300 if max_iter is None else max_iter,
        rng=np.random.default_rng(0) if rng is None else rng,
        avoid=np.empty((M.n, 0), M.dtype) if avoid is None else avoid.astype(M.dtype),
        start=start,
        needed=d if needed is None else needed,
        observer=observer,
        bottom=None if bottom is None else bottom / unit,
    )
    with stage(name, unit="round") as step:
        reported = _Reported(observer, step, stoppable)
        request = replace(request, observer=reported)
        with _numbers_expected(), threads_for(M):
            if solver == "auto":
                pairs, choice = _solved(request, choice, reported)
            else:
                pairs = _SOLVERS[choice.solver](request)
            _refuse_no_numbers(pairs)
            pairs = _doubting_near_copies(pairs)
        # rounds that were limited, or stopped, by who asked end as they were asked to
        if not (pairs.converged or reported.stopped) and max_iter is None:
            if solver == "auto":
                pairs, choice = _another_way(request, pairs, choice)
            _refuse_unsound(pairs, choice, request)
    return replace(
        pairs,
        values=pairs.values * pairs.values.dtype.type(unit),
        next_value=pairs.next_value * unit,
        size=pairs.size * unit,
        solver=choice.solver,
        reason=choice.reason,
    )


def _unit(M: SymmetricOperator) -> float:
    """1, or a power of two to measure M in, where squares of its products overflow.

    Nor must squares of residuals vanish: they would pass for convergence.
    """
    size = max(abs(end) for end in M.bounds())
    low, high = BEARABLE[np.dtype(M.dtype).itemsize]
    if not 0 < size < np.inf or low < size < high:
        return 1.0
    return power_of_two(size)


def _solved(
    request: Request, choice: Choice, reported: _Reported
) -> tuple[Eigenpairs, Choice]:
    """The answer of the solver that was chosen by size, or of one for a sparse M.

    Of a sparse M, one vector and a polynomial take the least time where eigenvalues
    are apart. Where they are not, M is factorised if that will pay.
    """
    M, d, root = request.M, request.d, root_of(request.M)
    is_narrow = M.n > TINY and d <= WIDE * M.n
    if root is None and choice.solver == "krylov" and M.sparse() is not None:
        pairs = polynomial_lanczos(request) if is_worth_a_try(M, d) else None
        if pairs is not None and (reported.stopped or not pairs.stalled):
            return pairs, choice
        if M.n <= LAPACK_ROWS_FOR_BLOCKS:
            why = f"n = {M.n} is at most {LAPACK_ROWS_FOR_BLOCKS}, and M is sparse"
            choice = Choice("lapack", why)
    is_open = is_narrow and (choice.solver == "krylov" or root is not None)
    if is_open and factors_pay(M):
        choice = Choice("shift-invert", "M is sparse, and so will its factors be")
    return _SOLVERS[choice.solver](request), choice


def _another_way(
    request: Request, pairs: Eigenpairs, choice: Choice
) -> tuple[Eigenpairs, Choice]:
    """The best of what other solvers find from where the first one has come to."""
    ways: list[tuple[str, Callable[[Request], Eigenpairs], str]] = []
    if request.M.dtype != np.float64:
        ways.append(("krylov", _in_double_precision, "in double precision, "))
    ways.append(("chebyshev", chebyshev_filtered, ""))
    if request.M.n <= LARGEST_DENSE:
        ways.append(("lapack", lapack, ""))
    best, n_iterations, n_products = pairs, pairs.n_iterations, pairs.n_products
    for solver, solve, how in ways:
        found = _doubting_near_copies(solve(replace(request, start=best.start)))
        n_iterations += found.n_iterations
        n_products += found.n_products
        needed = slice(request.needed)
        if found.residuals[needed].max() < best.residuals[needed].max():
            best = found
            choice = Choice(solver, f"{how}since {choice.solver} did not converge")
        if best.converged:
            break
    return replace(best, n_iterations=n_iterations, n_products=n_products), choice


def _in_double_precision(request: Request) -> Eigenpairs:
    """Krylov with blocks in double precision; M itself keeps the numbers it has."""
    dtype = request.M.dtype
    found = block_krylov(
        replace(
            request, M=InDoublePrecision(request.M), avoid=request.avoid.astype(float)
        )
    )
    return replace(
        found,
        values=found.values.astype(dtype),
        vectors=found.vectors.astype(dtype),
        spare=None if found.spare is None else found.spare.astype(dtype),
    )


#: what is said of M where its products are no numbers
NO_NUMBERS = (
    "the matrix M has entries that are not finite: a response or weights of the graph "
    "grow beyond what its precision holds; use float64, a smaller scale of the "
    'response, form="kernel" or laplacian="normalized"'
)


@contextmanager
def _numbers_expected() -> Iterator[None]:
    """Turn what LAPACK says of NaN into our own words."""
    try:
        # overflow is refused below, in one sentence
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except np.linalg.LinAlgError as error:
        raise ConvergenceError(f"{NO_NUMBERS} ({error})") from None


def _refuse_no_numbers(pairs: Eigenpairs) -> None:
    """NaN and infinity are no answer, however many rounds were allowed."""
    if not (np.isfinite(pairs.residuals).all() and np.isfinite(pairs.values).all()):
        raise ConvergenceError(NO_NUMBERS)


def _doubting_near_copies(pairs: Eigenpairs) -> Eigenpairs:
    """As they are, but vectors that are not orthonormal have not converged.

    What M leaves of a block may be rounding errors, as where it is a multiple of I.
    """
    V = pairs.vectors
    gaps = np.abs(V.T @ V - np.eye(V.shape[1], dtype=V.dtype)).max(axis=0, initial=0.0)
    if gaps.max(initial=0.0) <= ORTHONORMAL[V.dtype.itemsize]:
        return pairs
    residuals = np.maximum(pairs.residuals, gaps)
    return replace(pairs, residuals=residuals, converged=False)


def _refuse_unsound(pairs: Eigenpairs, choice: Choice, request: Request) -> None:
    """Vectors this far from being eigenvectors are no answer."""
    worst = float(pairs.residuals[: request.needed].max())
    if worst > max(UNSOUND, request.tol):
        raise ConvergenceError(
            f"the {choice.solver} solver ended with a relative residual of "
            f"{worst:.1e} after {pairs.n_iterations} rounds, so its vectors are no "
            f"eigenvectors (at most {UNSOUND:g} is accepted): use float64, fewer "
            "components, a smaller graph_strength or another solver; with max_iter= "
            "the vectors are returned as they are, with a warning"
        )


class _Reported:
    """Tells each round to whoever hears, and to the observer that was given."""

    def __init__(self, observer: Observer | None, step: Stage, stoppable: bool):
        self._observer, self._step, self._stoppable = observer, step, stoppable
        self.stopped = False

    def __call__(self, iteration: Iteration) -> bool:
        stop = self._step(f"residual {iteration.residual:.2e}") and self._stoppable
        stop = bool(self._observer and self._observer(iteration)) or stop
        self.stopped = self.stopped or stop
        return stop
