"""Comparisons without regard to signs and the order of equal eigenvalues; stand-ins."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose


def largest_angle(A, B):
    """Largest principal angle between two column spaces, in radians."""
    return float(scipy.linalg.subspace_angles(A, B).max())


def assert_eigenpairs(values, vectors, matrix, *, atol):
    """Orthonormal, residual-free and the algebraically largest: checked with LAPACK."""
    reference = np.linalg.eigvalsh(matrix)[::-1][: len(values)]
    size = np.abs(np.linalg.eigvalsh(matrix)).max()
    assert_allclose(values, reference, atol=atol * size)
    gram = vectors.T @ vectors
    assert_allclose(gram, np.eye(len(values)), atol=max(atol, 1e-10))
    residual = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    assert residual.max() <= atol * size


def assert_same_up_to_sign(A, B, *, rtol):
    """Columns equal up to a sign each, relative to the largest entry."""
    signs = np.sign(np.einsum("ij,ij->j", A, B))
    assert_allclose(A * signs, B, atol=rtol * np.abs(B).max(), rtol=0)


def random_symmetric(rng, n, density=0.1):
    """A sparse symmetric matrix, its diagonal included."""
    A = np.where(rng.random((n, n)) < density, rng.random((n, n)), 0.0)
    return sp.csr_array(A + A.T)


def dense_laplacian(A, kind):
    """A Laplacian by the definition, entry by entry: independent of the library."""
    n = len(A)
    degrees = [sum(A[i][j] for j in range(n)) for i in range(n)]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            own = degrees[i] if i == j else 0.0
            L[i, j] = own - A[i][j]
            if kind == "normalized":
                scale = np.sqrt(degrees[i] * degrees[j])
                L[i, j] = L[i, j] / scale if scale > 0 else 0.0
    return L


def link_closure(codes, must=(), cannot=()):
    """Same and apart as n x n tables, closed by loops; nothing of the library."""
    n = len(codes)
    same = np.eye(n, dtype=bool)
    apart = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            if codes[i] >= 0 and codes[j] >= 0:
                same[i, j] |= codes[i] == codes[j]
                apart[i, j] |= codes[i] != codes[j]
    for i, j in must:
        same[i, j] = same[j, i] = True
    for i, j in cannot:
        apart[i, j] = apart[j, i] = True
    for k in range(n):  # Warshall
        for i in range(n):
            if same[i, k]:
                same[i] |= same[k]
    spread = np.zeros((n, n), dtype=bool)
    for a, b in zip(*np.nonzero(apart), strict=True):
        spread |= np.outer(same[a], same[b])
    return same, spread


def link_tables(codes, must=(), cannot=()):
    """Adjacency of what is together and of what is apart, closed by loops."""
    same, apart = link_closure(codes, must, cannot)
    return (same & ~np.eye(len(codes), dtype=bool)).astype(float), apart.astype(float)


class Tensor:
    """What a tensor of another library shows of itself: a shape, and its array."""

    def __init__(self, values):
        self._values = np.asarray(values)
        self.shape = self._values.shape
        self.dtype = f"tensor.{self._values.dtype}"  # no dtype of NumPy

    def __array__(self, dtype=None, copy=None):
        return self._values if dtype is None else self._values.astype(dtype)

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        raise AssertionError("its items are tensors again, which equal no label")
