"""Kernel matrices at once and tile by tile, against scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel

from graphfold import kernels
from graphfold.kernels import grams
from graphfold.kernels.products import gaussian_grams
from graphfold.threads import n_threads, one_blas_thread

#: one tile, tiles that fit and tiles that do not, all at once
SIZES = (1, 2, 40, 64, 129, 200)


@pytest.fixture(params=["at once", "tiles"])
def by_tiles(request, monkeypatch):
    if request.param == "tiles":
        monkeypatch.setattr(grams, "FEW_ROWS", 0)
        monkeypatch.setattr(grams, "SIDE", 64)


def rows(n, dtype=np.float64):
    return np.random.default_rng(n).standard_normal((n, 5)).astype(dtype)


@pytest.mark.parametrize("n", SIZES)
def test_a_gaussian_is_that_of_scikit_learn(n, by_tiles):
    K = kernels.Gaussian(0.3).gram(rows(n))
    assert_allclose(K, rbf_kernel(rows(n), gamma=0.3), atol=1e-14)
    assert_array_equal(K, K.T)


@pytest.mark.parametrize("n", SIZES)
def test_other_kernels_of_products_are_those_of_scikit_learn(n, by_tiles):
    X = rows(n)
    polynomial = kernels.Polynomial(degree=3, coef0=1, gamma=0.2).gram(X)
    sigmoid = kernels.Sigmoid(gamma=0.2, coef0=0.5).gram(X)
    assert_allclose(
        polynomial, polynomial_kernel(X, degree=3, coef0=1, gamma=0.2), rtol=1e-12
    )
    assert_allclose(sigmoid, sigmoid_kernel(X, gamma=0.2, coef0=0.5), rtol=1e-12)
    assert_array_equal(polynomial, polynomial.T)
    assert_array_equal(sigmoid, sigmoid.T)


def test_single_precision_stays_single_and_close(by_tiles):
    X = rows(200, np.float32)
    K = kernels.Gaussian(0.3).gram(X)
    assert K.dtype == np.float32
    assert_allclose(K, rbf_kernel(X.astype(np.float64), gamma=0.3), atol=1e-6)


def test_several_gaussians_are_each_what_it_is_alone(by_tiles):
    several = [kernels.Gaussian(gamma) for gamma in (0.1, 0.5, 2.0)]
    X = rows(200)
    for kernel, K in zip(several, gaussian_grams(several, X), strict=True):
        assert_array_equal(K, kernel.gram(X))


@pytest.mark.parametrize("n", [1, 64, 130])
def test_tiles_cover_the_lower_triangle_once(n, monkeypatch):
    monkeypatch.setattr(grams, "FEW_ROWS", 0)
    monkeypatch.setattr(grams, "SIDE", 64)
    seen = np.zeros((n, n), dtype=int)

    def act(some, others, products, _):
        assert_allclose(products, X[some] @ X[others].T)
        seen[some, others] += 1

    X = rows(n)
    grams.each_tile(X, act)
    assert (seen[np.tril_indices(n)] == 1).all()


@pytest.mark.parametrize("n", [200, 1200])
def test_rows_in_another_order_of_memory_are_the_same(n):
    X, kernel = rows(n), kernels.Gaussian(0.3)
    for same in (np.asfortranarray(X), np.hstack([X, X])[:, :5]):
        assert_allclose(kernel.gram(same), kernel.gram(X), atol=1e-13)


def test_threads_change_no_bit():
    X = rows(1500)
    expected = kernels.Gaussian(0.3).gram(X)
    with one_blas_thread():
        assert n_threads() == 1
        assert_array_equal(kernels.Gaussian(0.3).gram(X), expected)
