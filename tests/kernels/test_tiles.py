"""Tiles of a kernel are its blocks, whatever was prepared once."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from graphfold import kernels
from graphfold.errors import KernelError
from graphfold.kernels.borrowed import largest_gap, symmetric_in_place
from graphfold.kernels.tiles import tiles_of
from graphfold.operators import TiledKernel
from graphfold.threads import n_threads

PARTS = (slice(0, 7), slice(7, 30))
KERNELS = {
    "gaussian": kernels.Gaussian(gamma=0.1),
    "linear": kernels.Linear(),
    "cosine": kernels.Cosine(),
    "polynomial": kernels.Polynomial(3),
    "sigmoid": kernels.Sigmoid(gamma=0.1),
    "scaling": kernels.ClassicalScaling(),
    "scaling, cosine": kernels.ClassicalScaling("cosine"),
    "laplacian": kernels.Pairwise("laplacian", {"gamma": 0.1}),
    "columns": kernels.OnColumns(kernels.Gaussian(gamma=0.1), 1, 4),
    "sum": kernels.Combination(
        [kernels.Gaussian(gamma=0.1), kernels.Linear(), kernels.Polynomial(2)],
        [0.5, 2.0, 0.0],
    ),
}


@pytest.fixture
def X(rng):
    return rng.standard_normal((30, 6)) + 3.0


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_tile_is_a_block(kernel, form, X):
    tile = tiles_of(kernel, form(X))
    rows, columns = PARTS
    found = tile(rows, columns, np.empty((7, 23)))
    assert_allclose(found, kernel.block(X[rows], X[columns]), atol=1e-10)
    again = tile(columns, columns, np.empty((23, 23)))
    assert_allclose(again, kernel.block(X[columns], X[columns]), atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_blocks_of_sparse_rows_against_few_are_those_of_dense_rows(kernel, X):
    S = sp.csr_array(X)
    found = kernel.block(S[:20], S[[3, 8, 25]])
    assert isinstance(found, np.ndarray)
    assert_allclose(found, kernel.block(X[:20], X[[3, 8, 25]]), atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_product_by_several_threads_is_the_product(kernel, threads, X, rng):
    V = rng.standard_normal((30, 4))
    K = TiledKernel(
        kernel.block, X, kernel.diagonal(X), strip=8, tiles=tiles_of(kernel, X)
    )
    with threadpool_limits(threads, user_api="blas"):
        found = K.apply(V)
        assert_array_equal(K.apply(V), found)  # the same to the bit, every time
        assert_allclose(K.apply(V[:, 0]), found[:, 0], rtol=1e-9, atol=1e-9)
    assert_allclose(found, kernel.gram(X) @ V, rtol=1e-9, atol=1e-9)


def test_threads_are_those_of_blas():
    with threadpool_limits(1, user_api="blas"):
        assert n_threads() == 1
        assert TiledKernel(np.inner, np.eye(3), np.ones(3), strip=1).apply(
            np.ones((3, 1))
        ).shape == (3, 1)
        assert n_threads() == 1


def test_single_precision_stays_single(X):
    X = X.astype(np.float32)
    kernel = kernels.Gaussian(gamma=0.1)
    K = TiledKernel(kernel.block, X, kernel.diagonal(X), tiles=tiles_of(kernel, X))
    assert K.apply(np.ones((30, 2), np.float32)).dtype == np.float32


def test_what_is_not_finite_is_refused():
    X = np.full((4, 2), 1e200)
    X[0] = -1e200
    with np.errstate(over="ignore", invalid="ignore"):
        tile = tiles_of(kernels.Gaussian(gamma=1.0), X)
        with pytest.raises(KernelError, match="gives NaN or infinity"):
            tile(slice(0, 2), slice(2, 4), np.empty((2, 2)))


def test_the_gram_matrix_of_sparse_rows_is_that_of_dense_rows(rng):
    X = rng.standard_normal((300, 5)) * (rng.random((300, 5)) < 0.5)
    for kernel in (kernels.Gaussian(gamma=0.3), kernels.Polynomial(2)):
        assert_allclose(kernel.gram(sp.csr_array(X)), kernel.gram(X), atol=1e-10)


def test_matrices_are_made_symmetric_in_place(rng):
    K = rng.standard_normal((600, 600))
    expected = (K + K.T) / 2
    assert largest_gap(K) == np.abs(K - K.T).max()
    assert symmetric_in_place(K) is K
    assert_allclose(K, expected, atol=1e-15)
    assert_array_equal(K, K.T)
