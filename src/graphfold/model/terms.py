"""From a kernel or a graph to a term of M: an operator and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.errors import ResponseError, SplitMultipletWarning, warn
from graphfold.graphs.laplacian import Laplacian
from graphfold.graphs.responses import Response
from graphfold.kernels import Gaussian, Kernel, OnColumns, Precomputed
from graphfold.kernels.products import gaussian_grams
from graphfold.kernels.tiles import tiles_of
from graphfold.model import inverse
from graphfold.operators import (
    Centered,
    ChebyshevFunction,
    Dense,
    Diagonal,
    Lifted,
    LowRank,
    Reordered,
    Sparse,
    SpectralFunction,
    SymmetricOperator,
    TiledKernel,
    with_neighbours_near,
)
from graphfold.solvers import top_eigenpairs
from graphfold.stores import is_sparse

#: up to this many nodes the whole eigenbasis of a graph is cheap
SMALL_BASIS = 1000
#: up to this many nodes it is computed where nothing else will do
LARGEST_BASIS = 10_000
#: nodes from which a block of vectors is larger than the cache
LARGER_THAN_CACHE = 30_000
#: a negative eigenvalue beyond this share of the largest is no rounding
INDEFINITE = 1e-6


@dataclass(frozen=True)
class Term:
    """One summand of M: ``weight * operator``, operator = factor (shift I + base).

    ``size`` is c(R) for a graph term: strength is measured in it. ``is_laplacian``
    marks base = -L, whose extension to new points is exact in their edges. ``start``
    are its top directions, where they are known. ``null`` is set where base = -A stands
    for the pseudo-inverse of A: energies up to it are those of null vectors of A.
    """

    name: str
    base: SymmetricOperator
    size: float = 1.0
    is_laplacian: bool = False
    factor: float = 1.0
    shift: float = 0.0
    start: Array | None = None
    null: float = 0.0

    @property
    def operator(self) -> SymmetricOperator:
        """What is weighed and summed."""
        shifted = self.base
        if self.shift:
            numbers = np.full(self.base.n, self.shift, dtype=self.base.dtype)
            shifted = Diagonal(numbers, name=f"{self.shift:.4g} I") + self.base
        return shifted if self.factor == 1 else self.factor * shifted

    def formula(self) -> str:
        """The term as the formula has it, without the shift that learning needs."""
        return replace(self, shift=0.0).operator.describe()

    def of_size_one(self) -> Self:
        """The same term measured in its own size, so that all terms speak alike."""
        return self.times(1.0 / self.size)

    def times(self, factor: float) -> Self:
        """The term times a number."""
        factor = float(factor)
        return replace(self, factor=self.factor * factor, size=self.size * factor)

    def lifted_above_zero(self) -> Self:
        """b I - L in the place of -L: no trace is negative, so a weight can be learned.

        b is the certified bound of the spectrum. For given weights the eigenvectors
        are those of -L. :class:`Problem` subtracts the shift from its eigenvalues.
        """
        lowest = self.base.bounds()[0]
        return replace(self, shift=max(0.0, -lowest) if np.isfinite(lowest) else 0.0)


def kernel_term(
    kernel: Kernel,
    X: Any,
    *,
    tiled: bool = False,
    strip: int = 512,
    name: str = "",
    n_components: int = 2,
    rng: np.random.Generator | None = None,
) -> Term:
    """K as an operator: by its inverse, low-rank where X is a factor, stored, tiled."""
    if isinstance(kernel, OnColumns):
        X, kernel = kernel.view(X), kernel.kernel
    name = name or type(kernel).__name__
    bounds = (0.0, np.inf) if kernel.positive else None
    if isinstance(kernel, Precomputed):
        if sp.issparse(X):
            return Term(name, Sparse(X, name="K"))
        return Term(name, Dense(kernel.gram(X), name="K"))
    if kernel.by_inverse:
        return inverse_term(name, kernel.inverse_factor(X), n_components, rng)
    if has_cheap_factor(kernel, X):
        return Term(name, LowRank(kernel.factor(X), name="K"))
    if tiled and kernel.pointwise:
        operator = TiledKernel(
            kernel.block,
            X,
            kernel.diagonal(X),
            strip=strip,
            tiles=tiles_of(kernel, X),
            bounds=bounds or (-np.inf, np.inf),
        )
        return Term(name, operator)
    return Term(name, Dense(kernel.gram(X), bounds=bounds, name="K"))


def inverse_term(
    name: str, T: Any, n_components: int, rng: np.random.Generator | None
) -> Term:
    """K = (T'T)^+ as a term, its top directions found on the way."""
    rng = np.random.default_rng(0) if rng is None else rng
    operator, start = inverse.kernel_of(T, n_components, rng)
    return Term(name, operator, start=start if start.shape[1] else None)


def kernel_terms(
    kernels: Mapping[str, Kernel],
    X: Any,
    *,
    tiled: bool = False,
    strip: int = 512,
    n_components: int = 2,
    rng: np.random.Generator | None = None,
) -> tuple[Term, ...]:
    """One term for each kernel; several stored Gaussians share their products."""
    gaussians = {k: v for k, v in kernels.items() if isinstance(v, Gaussian)}
    shared: dict[str, Term] = {}
    if len(gaussians) > 1 and not tiled:
        grams = gaussian_grams(list(gaussians.values()), X)
        for name, K in zip(gaussians, grams, strict=True):
            shared[name] = Term(name, Dense(K, bounds=(0.0, np.inf), name="K"))
    how: dict[str, Any] = {"tiled": tiled, "strip": strip}
    how |= {"n_components": n_components, "rng": rng}
    return tuple(
        shared[name] if name in shared else kernel_term(kernel, X, name=name, **how)
        for name, kernel in kernels.items()
    )


def negative_part(
    term: Term, *, center: bool, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Lowest and highest eigenvalue of a kernel that has negative ones, roughly.

    None where all are positive but for rounding, or known to be.
    """
    operator = Centered(term.base) if center else term.base
    if operator.bounds()[0] >= 0 or not isinstance(term.base, Dense | Sparse):
        return None
    how: dict[str, Any] = {"solver": "krylov", "tol": 1e-6, "rng": rng}
    how["name"] = "sign of the kernel"
    lowest = -float(top_eigenpairs(-operator, 1, **how).values[0])
    size = float(np.abs(operator.diagonal()).max())
    if lowest >= -INDEFINITE * size:
        return None
    return lowest, float(top_eigenpairs(operator, 1, **how).values[0])


def has_cheap_factor(kernel: Kernel, X: Any) -> bool:
    """Whether products through Z Z' cost less than products with K itself."""
    if kernel.factor(X[:1]) is None:
        return False
    n, n_columns = X.shape
    numbers = X.nnz if is_sparse(X) else n * n_columns
    return bool(2 * numbers < n * n)


def graph_term(
    laplacian: Laplacian,
    response: Response | None,
    *,
    n_components: int,
    rng: np.random.Generator,
    dtype: Any = np.float64,
    name: str = "graph",
) -> Term:
    """R as an operator: -L, or a response of L in the basis or by polynomials.

    Eigenvalues of L are found in double precision whatever ``dtype`` is: what is zero
    in it is not in single precision, and a response may have a pole there.
    """
    if response is None:
        L = in_precision(laplacian, dtype)
        return Term(name, -L, laplacian.scale, is_laplacian=True)
    response.check(largest_eigenvalue(laplacian, response, rng))
    rank = response.needed_eigenvalue(n_components)
    if rank is not None:
        response = response.bind(low_eigenvalue(laplacian, rank, rng))
    operator, peak = function_of_laplacian(laplacian, response, rng, dtype)
    size = response.size(laplacian.scale)
    # r(0) = 0 makes r_dagger(0) = 0 say nothing: take the largest value instead
    return Term(name, operator, size if size > 0 else peak)


def spread(term: Term, present: Array, scales: Array) -> Term:
    """A term of some of the rows as a term of all of them: S P R P' S.

    Of the others it says nothing. ``scales`` are the diagonal of S: they make up for
    what other terms do not say of a row.
    """
    rows = np.flatnonzero(present)
    columns = np.arange(len(rows))
    P = sp.csr_array((scales[rows], (rows, columns)), shape=(len(present), len(rows)))
    lifted = Lifted(P, term.operator)
    return replace(term, base=lifted, factor=1.0, shift=0.0, is_laplacian=False)


def function_of_laplacian(
    laplacian: Laplacian, response: Response, rng: np.random.Generator, dtype: Any
) -> tuple[SymmetricOperator, float]:
    """The term that a response makes of L, and its largest size.

    The whole basis on small graphs; beyond, polynomials for smooth responses and the
    lowest eigenvectors for a bandlimited one.
    """
    low_rank = response.low_rank()
    if laplacian.n > SMALL_BASIS:
        if low_rank is not None and low_rank[0] <= laplacian.n // 10:
            return _from_lowest(laplacian, response, *low_rank, rng=rng, dtype=dtype)
        if response.smooth:
            try:
                polynomial = _polynomial(laplacian, response, dtype)
                return polynomial, max(map(abs, polynomial.bounds()))
            except ValueError:
                if laplacian.n > LARGEST_BASIS:
                    raise _needs_basis(laplacian, response) from None
        elif laplacian.n > LARGEST_BASIS:
            raise _needs_basis(laplacian, response)
    return _from_basis(laplacian, response, dtype)


def _polynomial(
    laplacian: Laplacian, response: Response, dtype: Any
) -> SymmetricOperator:
    how: dict[str, Any] = {"tol": 1e-6 if dtype == np.float32 else 1e-12}
    L = in_precision(laplacian, dtype)
    if L.n < LARGER_THAN_CACHE:
        return ChebyshevFunction(L, response.term, name="r(L)", **how)
    ordered, order = with_neighbours_near(L)
    polynomial = ChebyshevFunction(ordered, response.term, name="r(L)", **how)
    return Reordered(polynomial, order)


def in_precision(laplacian: Laplacian, dtype: Any) -> Sparse:
    """The Laplacian's operator with numbers of another precision."""
    L = laplacian.operator
    return Sparse(L.matrix.astype(dtype, copy=False), bounds=L.bounds(), name="L")


def _needs_basis(laplacian: Laplacian, response: Response) -> ResponseError:
    return ResponseError(
        f"response {response!r} has a jump, a pole or a root, so it needs the whole "
        f"eigenbasis, which is computed up to {LARGEST_BASIS} nodes; the graph "
        f"has {laplacian.n}: "
        "use a smooth response, or Bandlimited"
    )


def _from_basis(
    laplacian: Laplacian, response: Response, dtype: Any
) -> tuple[SymmetricOperator, float]:
    values, vectors = lowest_eigenpairs(laplacian, laplacian.n, solver="lapack")
    low_rank = response.low_rank()
    if low_rank is not None:
        response = _whole_multiplet(response, low_rank[0], values)
    term = response.finite_term(values, dtype)
    operator = SpectralFunction(vectors.astype(dtype), term, name="r(L)")
    return operator, float(np.abs(term).max())


def _from_lowest(
    laplacian: Laplacian,
    response: Response,
    n_low: int,
    rest: float,
    *,
    rng: np.random.Generator,
    dtype: Any,
) -> tuple[SymmetricOperator, float]:
    wanted = n_low + 1
    while True:
        values, vectors = lowest_eigenpairs(laplacian, wanted, rng=rng)
        whole = multiplet_end(values, n_low)
        if whole < wanted or wanted == laplacian.n:
            break
        wanted = min(2 * wanted, laplacian.n)
    response = _whole_multiplet(response, n_low, values)
    operator = SpectralFunction(
        vectors[:, :whole].astype(dtype),
        response.term(values[:whole]),
        rest=rest,
        name="r(L)",
    )
    return operator, max(map(abs, operator.bounds()))


def multiplet_end(values: Any, n_low: int) -> int:
    """Where the group of equal eigenvalues ends that a cut after n_low would split."""
    n_low = min(n_low, len(values))
    slack = 1e-8 * max(float(np.abs(values).max()), 1.0)
    return int(np.searchsorted(values, values[n_low - 1] + slack, side="right"))


def _whole_multiplet(response: Response, n_low: int, values: Any) -> Response:
    whole = multiplet_end(values, n_low)
    if whole <= n_low:
        return response
    warn(
        f"n_low={n_low} cuts a group of equal eigenvalues of the graph; "
        f"the group is taken whole, n_low={whole}",
        SplitMultipletWarning,
    )
    return response.with_params(n_low=whole)


def lowest_eigenpairs(
    laplacian: Laplacian,
    count: int,
    *,
    solver: str = "auto",
    rng: np.random.Generator | None = None,
) -> tuple[Any, Any]:
    """The smallest eigenvalues of L, ascending, and their eigenvectors.

    They are the largest of bound * I - L, reached by products alone.
    """
    L = laplacian.operator
    top = Diagonal(np.full(L.n, laplacian.bound, dtype=L.dtype), name="b I")
    name = "eigenvectors of the graph"
    pairs = top_eigenpairs(top - L, count, solver=solver, rng=rng, name=name)
    values = laplacian.bound - pairs.values.astype(np.float64)
    # what is zero up to rounding is zero: r may have a pole there
    values[np.abs(values) < 1e-12 * laplacian.bound] = 0.0
    return values, pairs.vectors


def low_eigenvalues(
    laplacian: Laplacian, count: int, rng: np.random.Generator
) -> Array:
    """The smallest positive eigenvalues of L, at most ``count`` of them."""
    wanted = min(count + 1, laplacian.n)
    while True:
        values, _ = lowest_eigenpairs(laplacian, wanted, rng=rng)
        positive = values[values > 1e-9 * laplacian.bound]
        if len(positive) >= count or wanted == laplacian.n:
            return np.asarray(positive[:count])
        wanted = min(2 * wanted, laplacian.n)


def low_eigenvalue(laplacian: Laplacian, rank: int, rng: np.random.Generator) -> float:
    """The rank-th smallest eigenvalue of L, or the first positive one after it."""
    rank = wanted = min(rank, laplacian.n)
    while True:
        values, _ = lowest_eigenpairs(laplacian, wanted, rng=rng)
        positive = values[rank - 1 :][values[rank - 1 :] > 1e-9 * laplacian.bound]
        if len(positive):
            return float(positive[0])
        if wanted == laplacian.n:
            return laplacian.bound
        wanted = min(2 * wanted, laplacian.n)


def largest_eigenvalue(
    laplacian: Laplacian, response: Response, rng: np.random.Generator
) -> float:
    """Largest eigenvalue where a response needs it, else its certified bound."""
    try:
        response.check(laplacian.bound)
        return laplacian.bound
    except ResponseError:
        name = "largest eigenvalue of the graph"
        pairs = top_eigenpairs(laplacian.operator, 1, rng=rng, name=name)
        return float(pairs.values[0])
