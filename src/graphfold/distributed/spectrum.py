"""The low end of a graph's spectrum where its rows lie on workers.

Chebyshev-filtered iteration of a block of vectors in blocks of rows: products with the
graph and small sums are all it needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold.arrays import Array, inverse_root, small_eigenbasis
from graphfold.distributed.blocks import Tall
from graphfold.distributed.features import cross, scaled_rows
from graphfold.distributed.grid import BlockGraph
from graphfold.distributed.tasks import task
from graphfold.distributed.terms import (
    LowRankFunction,
    MinusLaplacian,
    OnWorkers,
    Polynomial,
)
from graphfold.errors import GraphfoldError, ResponseError
from graphfold.graphs.responses import Response
from graphfold.model.terms import Term, multiplet_end
from graphfold.operators.filtered import interpolate
from graphfold.progress import stage

#: products of a round, and rounds at most
DEGREE, MOST_ROUNDS = 32, 100
#: products that are handed to the scheduler at once
TOGETHER = 4
#: residuals asked for, relative to L; an eigenvalue is known to the square of its own
OF_VECTORS, OF_VALUES = 1e-7, 1e-5
#: error of a polynomial in the place of a response, relative to its size
ACCURACY = 1e-10


def graph_term_on_workers(
    graph: BlockGraph,
    kind: str,
    response: Response | None,
    *,
    n_components: int,
    seed: int,
    name: str,
) -> Term:
    """R of a graph on workers: -L, or a response of L, as ``model.terms`` has it."""
    minus = MinusLaplacian(graph, kind)
    scale = 1.0 if kind == "normalized" else graph.largest
    if response is None:
        return Term(name, minus, scale, is_laplacian=True)
    try:
        response.check(-minus.bounds()[0])
    except ResponseError:
        response.check(largest_eigenvalue(minus, seed))
    rank = response.needed_eigenvalue(n_components)
    if rank is not None:
        response = response.bind(low_eigenvalue(minus, rank, seed))
    operator = function_on_workers(minus, response, seed)
    size = response.size(scale)
    return Term(name, operator, size if size > 0 else max(map(abs, operator.bounds())))


def function_on_workers(
    minus: MinusLaplacian, response: Response, seed: int
) -> OnWorkers:
    """The term that a response makes of L: a polynomial, or its lowest eigenvectors."""
    low_rank = response.low_rank()
    if low_rank is not None:
        n_low, rest = low_rank
        values, vectors = whole_multiplet(minus, n_low, seed)
        response = response.with_params(n_low=len(values))
        return LowRankFunction(vectors, response.term(values), rest)
    interval = (0.0, -minus.bounds()[0])
    try:
        if not response.smooth:
            raise ValueError("it has a jump")
        coefficients, _ = interpolate(response.term, interval, ACCURACY, 1000)
    except ValueError:
        raise ResponseError(
            f"response {response!r} has a jump, a pole or a root, so it needs the "
            "whole eigenbasis of the graph, which rows on workers do not have: use a "
            "smooth response, or Bandlimited"
        ) from None
    return Polynomial(minus, coefficients)


def whole_multiplet(minus: MinusLaplacian, n_low: int, seed: int) -> tuple[Array, Tall]:
    """The lowest eigenpairs; a group of equal ones is not cut."""
    wanted = n_low + 1
    while True:
        values, vectors = lowest_on_workers(
            minus, min(wanted, minus.graph.n_present), seed, tol=OF_VECTORS
        )
        whole = multiplet_end(values, n_low)
        if whole < wanted or wanted >= minus.graph.n_present:
            return values[:whole], vectors.map(_leading, whole)
        wanted *= 2


def low_eigenvalue(minus: MinusLaplacian, rank: int, seed: int) -> float:
    """The rank-th smallest eigenvalue of L, or the first positive one after it."""
    rank = wanted = min(rank, minus.graph.n_present)
    bound = -minus.bounds()[0]
    while True:
        values, _ = lowest_on_workers(minus, wanted, seed)
        positive = values[rank - 1 :][values[rank - 1 :] > 1e-9 * bound]
        if len(positive):
            return float(positive[0])
        if wanted == minus.graph.n_present:
            return bound
        wanted = min(2 * wanted, minus.graph.n_present)


def largest_eigenvalue(minus: MinusLaplacian, seed: int) -> float:
    """The largest eigenvalue of L."""
    values, _ = lowest_on_workers(minus, 1, seed, sign=-1.0)
    return float(-values[0])


def lowest_on_workers(
    minus: MinusLaplacian,
    count: int,
    seed: int,
    *,
    sign: float = 1.0,
    tol: float = OF_VALUES,
) -> tuple[Array, Tall]:
    """The smallest eigenvalues of L (of -L for ``sign=-1``), rising, and vectors."""
    bound = -minus.bounds()[0]
    low, high = (0.0, bound) if sign > 0 else (-bound, 0.0)
    width = min(count + max(8, count // 2), minus.graph.n_present)
    sizes = minus.grid.row_sizes
    U = Tall(
        tuple(task(_random, seed, i, size, width) for i, size in enumerate(sizes)),
        sizes,
    )
    if minus.graph.present is not None:
        U = U.map(scaled_rows, minus.graph.present)  # L keeps zeros where they are
    U = U.held("")
    with stage("eigenvectors of the graph", unit="round") as step:
        for _ in range(MOST_ROUNDS):
            U, values, residuals = _ritz(minus, U, width, sign)
            width = len(values)
            worst = float(residuals[:count].max()) / bound
            step(f"residual {worst:.1e}")
            if worst <= tol or width == minus.graph.n_present:
                break
            U = _filtered(minus, U, width, sign, (float(values[-1]), high), low)
        else:
            raise GraphfoldError(
                f"the response needs {count} eigenvalues of the graph, which did not "
                f"settle in {MOST_ROUNDS} rounds: give its scale as a number"
            )
    values = np.where(np.abs(values) < 1e-12 * bound, 0.0, values)
    return values[:count], U.map(_leading, count)


def _ritz(
    minus: MinusLaplacian, U: Tall, width: int, sign: float
) -> tuple[Tall, Array, Array]:
    """Ritz vectors of a block, their values, rising, and the residuals."""
    LU = minus.times(U, width).map(_signed, -sign).held("")
    gram = U.total("", cross, U)
    T = U.total("", cross, LU)
    W = inverse_root(gram, 1e-13)
    values, S = small_eigenbasis(W.T @ ((T + T.T) / 2) @ W)
    S = W @ S
    U, LU = U.map(_rotated, S).held(""), LU.map(_rotated, S)
    squares = LU.total("", _squared_residuals, U, values)
    return U, values, np.sqrt(squares)


def _filtered(
    minus: MinusLaplacian,
    U: Tall,
    width: int,
    sign: float,
    damped: tuple[float, float],
    low: float,
) -> Tall:
    """A Chebyshev polynomial that is small on the damped part of the spectrum."""
    middle, radius = sum(damped) / 2, max((damped[1] - damped[0]) / 2, 1e-12)
    # scaled so that what lies at the low end keeps its size
    growth = radius / (low - middle)
    older, newer, rate = U, None, growth
    for k in range(DEGREE):
        base = U if newer is None else newer
        product = minus.times(base, width)
        if newer is None:
            newer = product.map(_begin, U, sign, middle, rate / radius)
            continue
        following = 1.0 / (2.0 / growth - rate)
        step = (sign, middle, 2 * following / radius, rate * following)
        older, newer = newer, product.map(_go_on, newer, older, step)
        rate = following
        if k % TOGETHER == 0:
            older, newer = older.held(""), newer.held("")
    assert newer is not None
    return newer.held("")


def _random(seed: int, i: int, size: int, width: int) -> Array:
    return np.random.default_rng([seed, i]).standard_normal((size, width))


def _signed(product: Array, sign: float) -> Array:
    return sign * product


def _rotated(U: Array, S: Array) -> Array:
    return np.asarray(U @ S)


def _leading(U: Array, count: int) -> Array:
    return U[:, :count]


def _squared_residuals(LU: Array, U: Array, values: Array) -> Array:
    return np.square(LU - U * values).sum(axis=0)


def _begin(minus: Array, U: Array, sign: float, middle: float, factor: float) -> Any:
    return factor * (-sign * minus - middle * U)


def _go_on(minus: Array, newer: Array, older: Array, step: tuple[float, ...]) -> Any:
    sign, middle, factor, back = step
    return factor * (-sign * minus - middle * newer) - back * older
