"""The median rule against all distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from graphfold.kernels import bandwidth, grams
from graphfold.kernels.bandwidth import (
    exact_median,
    median_absolute_distance,
    median_squared_distance,
)


def rows(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 4))


@pytest.mark.parametrize("n", [2, 3, 50, 700, 1300])
def test_the_median_is_that_of_all_pairs(n):
    X, rng = rows(n) + 100.0, np.random.default_rng(0)
    assert median_squared_distance(X, rng) == pytest.approx(
        np.median(pdist(X, "sqeuclidean")), rel=1e-10
    )
    assert median_absolute_distance(X, rng) == pytest.approx(
        np.median(pdist(X, "cityblock")), rel=1e-12
    )


def test_tiles_give_the_same_distances(monkeypatch):
    X = rows(150)
    monkeypatch.setattr(grams, "FEW_ROWS", 0)
    monkeypatch.setattr(grams, "SIDE", 64)
    found = bandwidth._squared_distances(X)
    np.testing.assert_allclose(np.sort(found), np.sort(pdist(X, "sqeuclidean")))


def test_sparse_rows_have_the_median_of_dense_ones():
    X = rows(120) * (np.random.default_rng(1).random((120, 4)) < 0.5)
    rng = np.random.default_rng(0)
    assert median_squared_distance(sp.csr_array(X), rng) == pytest.approx(
        median_squared_distance(X, rng)
    )


def test_where_most_rows_coincide_the_others_tell():
    X = np.zeros((10, 2))
    X[0] = 3.0, 4.0
    rng = np.random.default_rng(0)
    assert median_squared_distance(X, rng) == pytest.approx(25.0)
    assert median_squared_distance(np.ones((5, 2)), rng) == 1.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 101, 150_000, 150_001])
def test_the_median_of_many_numbers_is_exact(n, dtype):
    numbers = np.random.default_rng(n).standard_normal(n).astype(dtype)
    assert exact_median(numbers.copy()) == float(np.median(numbers))


def test_the_median_is_exact_where_a_sample_misleads():
    # every 30th number is far away, and the sample may see nothing else
    numbers = np.arange(150_000.0)
    numbers[:: 150_000 // bandwidth.SAMPLE] = -1e6
    assert exact_median(numbers) == float(np.median(numbers))
    assert exact_median(np.ones(150_000)) == 1.0
