"""Small facts about arrays that every layer needs: blocks, signs, bases."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from graphfold.threads import are_ours, blocks, do_blocks, n_threads, threads_for

Array = npt.NDArray[Any]


def row_blocks(n: int, size: int) -> Iterator[slice]:
    """Slices that cover ``range(n)`` in pieces of ``size`` rows."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def floating(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """float32 stays float32; everything else is float64."""
    is_single = np.dtype(dtype) == np.float32
    return np.dtype(np.float32) if is_single else np.dtype(np.float64)


def aligned(X: Any) -> Any:
    """X with numbers where the processor expects them, a copy only if they are not.

    Tables that came over a network or out of a file may begin at any byte; compiled
    code of scikit-learn 1.6 ends Python on them.
    """
    parts = [getattr(X, name, None) for name in ("data", "indices", "indptr")]
    held = parts if sp.issparse(X) else [X]
    odd = any(isinstance(one, np.ndarray) and not one.flags.aligned for one in held)
    return X.copy() if odd else X


def small_indices(matrix: Any) -> Any:
    """A CSR array whose indices take four bytes where they can: products are faster.

    Some of scikit-learn, and of older SciPy, takes no other.
    """
    if max(matrix.nnz, *matrix.shape) < 2**31 and matrix.indices.dtype != np.int32:
        indices, starts = (
            matrix.indices.astype(np.int32),
            matrix.indptr.astype(np.int32),
        )
        return sp.csr_array((matrix.data, indices, starts), shape=matrix.shape)
    return matrix


def column_lengths(V: Array) -> Array:
    """|v| for each column v, also where the squares of its entries are out of range."""
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(V, axis=0)
    comfortable = float(np.finfo(V.dtype).max) ** 0.45
    if ((lengths > 1 / comfortable) & (lengths < comfortable)).all():
        return np.asarray(lengths)
    size = np.abs(V).max(axis=0, initial=0.0)
    size[size == 0] = 1.0
    return np.asarray(size * np.linalg.norm(V / size, axis=0))


def power_of_two(size: float) -> float:
    """The next one from a size on, 1 for none: to measure in it changes no digit."""
    if size <= 0:
        return 1.0
    # within numbers whose inverse is one, too
    return float(2.0 ** np.clip(np.ceil(np.log2(size)), -1022, 1022))


def orthonormal(V: Array, *, against: Array | None = None) -> Array:
    """Orthonormal basis of the columns of V, orthogonal to the columns of ``against``.

    Columns are scaled before each QR, so that a tiny residual keeps its direction,
    and the projection is done twice: once is not enough in floating point. A column
    that vanishes is replaced by some other unit vector of the complement.
    """
    for _ in range(2):
        if against is not None and against.shape[1]:
            V = V - against @ (against.T @ V)
        lengths = column_lengths(V)
        lengths[lengths == 0] = 1.0
        V = np.linalg.qr(V / lengths)[0]
    if against is not None and against.shape[1]:
        leak = np.abs(against.T @ V).max()
        if leak > 1e3 * np.finfo(V.dtype).eps:
            # only a rank-deficient block gets here: QR filled it with directions
            # that need not be orthogonal to `against`
            V = V - against @ (against.T @ V)
            V = np.linalg.qr(V)[0]
    return np.asarray(V)


def new_directions(V: Array, *, against: Array, projected: bool = False) -> Array:
    """Orthonormal directions of V beyond the columns of ``against``; perhaps fewer.

    By the eigenvectors of V'V, which costs two products of V instead of a QR. A short
    direction is magnified, and its rounding errors with it, so this is repeated until
    a pass magnifies nothing: as a rule twice. What is rounding noise next to the rest
    is dropped: a unit vector that loses half its length when it is projected again was
    never a direction of its own.

    ``projected`` says that ``against`` has been projected out of V once. One pass is
    then enough where the columns of V are far from dependent.
    """
    noise = max(1e2 * np.finfo(np.float64).eps, (10 * np.finfo(V.dtype).eps) ** 2)
    shortest = 0.0
    for _ in range(MOST_PASSES):
        V = V - against @ (against.T @ V)
        lengths = column_lengths(V)
        V = V[:, lengths > shortest] / lengths[lengths > shortest]
        if V.shape[1] == 0:
            return V
        wide = V.astype(np.float64, copy=False)
        values, rotation = small_eigenbasis(wide.T @ wide)
        kept = values > noise * values[-1]
        V = V @ (rotation[:, kept] / np.sqrt(values[kept])).astype(V.dtype)
        if shortest and lengths.min() > ORTHOGONAL and values[0] > ORTHOGONAL:
            break
        if projected and values[0] > INDEPENDENT:
            break
        shortest = 0.5
    return np.asarray(V)


#: passes of ``new_directions``; two are enough unless rounding errors were magnified
MOST_PASSES = 4
#: what is left of a unit vector that was orthogonal to the others before a pass
ORTHOGONAL = 0.999
#: smallest eigenvalue of V'V, of unit columns, that magnifies rounding tenfold at most
INDEPENDENT = 1e-2
#: numbers of a strip that stays in the cache
STRIP = 2**15
#: up to this size LAPACK's threads wait for each other more than they work
SMALL_MATRIX = 300
#: and up to this size it starts none
TINY = 32


def small_eigenbasis(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues, rising, and eigenvectors of a matrix of a few rows.

    On one thread: with two a Krylov solve took half as long again. By NumPy: SciPy has
    a BLAS of its own, and the threads of both wait for each other. Always in double
    precision and by divide and conquer: where eigenvalues are close together, LAPACK's
    default driver gives vectors that are orthogonal to 1e-4 only in single precision,
    and every basis that they rotate is spoilt. It is not slower.
    """
    limit = SMALL_MATRIX if len(matrix) > TINY else 0
    with threads_for(len(matrix), limit):
        values, vectors = np.linalg.eigh(matrix.astype(np.float64, copy=False))
    return np.asarray(values), np.asarray(vectors)


def inverse_root(matrix: Array, cut: float) -> Array:
    """W with W'AW = I for a positive semi-definite A; see ``triangular_root``."""
    triangle, pivots = triangular_root(matrix, cut)
    W = np.zeros((len(matrix), len(triangle)))
    W[pivots[: len(triangle)]] = triangle
    return W


def triangular_root(matrix: Array, cut: float) -> tuple[Array, Array]:
    """An upper triangle T and an order p of the rows with T'A[p, p]T = I.

    By Cholesky with pivots. It stops where what is left of the diagonal is below
    ``cut`` times its largest entry, so T is smaller than A, and A[p, p] its leading
    block, where rows of A (nearly) repeat each other.
    """
    scale = float(np.diagonal(matrix).max(initial=0.0))
    if not scale > 0:
        return np.zeros((0, 0)), np.arange(len(matrix))
    with threads_for(len(matrix), SMALL_MATRIX):
        factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(
            matrix, tol=cut * scale, lower=1
        )
        triangle, _ = scipy.linalg.lapack.dtrtri(factor[:rank, :rank], lower=1)
    return np.tril(triangle).T, pivots - 1


def tall_gram(V: Array, Z: Array) -> Array:
    """V'Z of two arrays of many rows.

    With V the narrow one: a third faster than Z'V, since BLAS reads Z in its order.
    """
    if not are_ours():
        return np.asarray(V.T @ Z)
    with blocks("", lambda rows: V[rows].T @ Z[rows], _shares(len(Z))) as parts:
        return np.asarray(sum(parts))


def tall_product(Z: Array, C: Array) -> Array:
    """Z C with many rows in Z and few in C."""
    if not are_ours():
        return np.asarray(Z @ C)
    product = np.empty((len(Z), C.shape[1]), dtype=np.result_type(Z, C))
    fill = partial(_fill_product, Z, np.ascontiguousarray(C), product)
    do_blocks("", fill, _shares(len(Z)))
    return product


def _fill_product(Z: Array, C: Array, product: Array, rows: slice) -> None:
    np.matmul(Z[rows], C, out=product[rows])


def _shares(n: int) -> Iterator[slice]:
    """As many blocks of rows as there are threads."""
    return row_blocks(n, -(-n // n_threads()))


def add_multiple(Y: Array, factor: float, X: Array) -> None:
    """Y += factor X in place, by strips whose multiple stays in the cache.

    Not by SciPy's axpy: SciPy and NumPy have each a BLAS of their own, whose threads
    go on waiting for work for a while. In turns they take the cores from each other,
    which made the products of NumPy between them three times slower.
    """
    strip = max(1, STRIP // max(1, X[:1].size))
    for rows in row_blocks(len(Y), strip):
        Y[rows] += float(factor) * X[rows]


def signs_of_columns(V: Array) -> Array:
    """+1 or -1 for each column: the entry of largest size becomes positive."""
    largest = np.argmax(np.abs(V), axis=0)
    signs = np.sign(V[largest, np.arange(V.shape[1])])
    signs[signs == 0] = 1.0
    return np.asarray(signs)


def is_missing_value(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or what tables use for it."""
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN alone is not equal to itself
    except (TypeError, ValueError):
        return True  # pandas.NA refuses to be compared


def are_missing(values: Array) -> Array:
    """Where an array of objects has no value.

    Not by NumPy's own loop, which warns of the NaN that it is to find.
    """
    listed = values.ravel().tolist()
    missing = np.fromiter(map(is_missing_value, listed), dtype=bool, count=len(listed))
    return missing.reshape(values.shape)
