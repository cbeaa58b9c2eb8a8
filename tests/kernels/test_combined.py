"""Kernels of kernels, the grid of Gaussians, names of lists."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphfold import kernels
from graphfold.errors import GraphfoldError
from graphfold.kernels.gradients import gradient_of_expansion
from graphfold.kernels.names import bind_all, kernels_from
from graphfold.kernels.products import gaussian_grams

PARTS = [kernels.Linear(), kernels.Gaussian(0.3), kernels.Polynomial(2)]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_combination_is_the_weighted_sum(points, make):
    X, Y = make(points), make(points[:7] + 1)
    both = kernels.Combination(PARTS, [0.5, 2.0, 0.0])
    expected = 0.5 * PARTS[0].block(X, Y) + 2.0 * PARTS[1].block(X, Y)
    assert_allclose(both.block(X, Y), expected)
    assert_allclose(both.gram(X), both.block(X, X), atol=1e-10)
    assert_allclose(both.diagonal(X), np.diag(both.gram(X)), atol=1e-10)
    assert both.factor(X) is None


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_combination_of_factors_has_a_factor(points, make):
    X = make(points)
    both = kernels.Combination([kernels.Linear(), kernels.Cosine()], [0.5, 2.0])
    Z = both.factor(X)
    assert_allclose(
        np.asarray((Z @ Z.T).todense() if sp.issparse(Z) else Z @ Z.T),
        both.gram(X),
        atol=1e-10,
    )


def test_a_kernel_of_some_columns(points):
    part = kernels.OnColumns(kernels.Gaussian("median"), 1, 4)
    bound = part.bind(points, np.random.default_rng(0))
    alone = kernels.Gaussian("median").bind(points[:, 1:4], np.random.default_rng(0))
    assert_allclose(bound.gram(points), alone.gram(points[:, 1:4]))
    assert_allclose(bound.block(points[:3], points), bound.gram(points)[:3], atol=1e-12)
    assert bound.positive


def test_gradients_go_through(points, rng):
    inner = kernels.OnColumns(kernels.Gaussian(0.2), 1, 4)
    both = kernels.Combination([kernels.Polynomial(2), inner], [0.5, 2.0])
    W = rng.standard_normal(60)
    found = gradient_of_expansion(both, points[:4], points, W)
    for m in range(5):
        step = np.zeros(5)
        step[m] = 1e-5
        ahead = both.block(points[:4] + step, points) @ W
        behind = both.block(points[:4] - step, points) @ W
        assert_allclose(found[:, m], (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gaussians_together_equal_gaussians_alone(points, dtype):
    X = points.astype(dtype)
    several = [kernels.Gaussian(g) for g in (0.01, 0.3, 2.0)]
    for kernel, K in zip(several, gaussian_grams(several, X), strict=True):
        assert K.dtype == dtype
        assert_allclose(K, kernel.gram(X), atol=1e-6 if dtype == np.float32 else 1e-14)


def test_the_grid_surrounds_the_median(points):
    grid = bind_all(kernels.gaussian_grid(5, 0.1, 10), points, np.random.default_rng(0))
    middle = kernels.Gaussian("median").bind(points, np.random.default_rng(0)).gamma
    sigmas = [middle / kernel.gamma for kernel in grid.values()]
    assert_allclose(sigmas, np.geomspace(0.1, 10, 5))
    assert len(kernels_from("gaussian-grid", n_features=5)) == 10


def test_names_of_kernels():
    listed = kernels_from(["rbf", "linear", "rbf"], n_features=3)
    assert list(listed) == ["rbf", "linear", "rbf 2"]
    named = kernels_from({"near": "rbf", "far": kernels.Linear()}, n_features=3)
    assert list(named) == ["near", "far"]
    assert kernels_from(None, n_features=3) == {}
    with pytest.raises(GraphfoldError, match="at least one kernel"):
        kernels_from([], n_features=3)
    with pytest.raises(GraphfoldError, match="gaussian-grid"):
        kernels_from("gauss", n_features=3)
