"""The way back, against kernel ridge regression by a plain solve."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphfold import kernels
from graphfold.errors import KernelError
from graphfold.model import preimage as module
from graphfold.model.preimage import preimage

RBF = kernels.Gaussian(0.5)


@pytest.mark.parametrize("alpha", [0.01, 2.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_come_back_as_ridge_regression_says(alpha, sparse, rng, monkeypatch):
    Z, new = rng.standard_normal((12, 2)), rng.standard_normal((5, 2))
    X = rng.standard_normal((12, 4)) * (rng.random((12, 4)) < 0.5)
    back = preimage(RBF, Z, sp.coo_array(X) if sparse else X, alpha)
    K = np.exp(-0.5 * np.square(Z[:, None] - Z[None]).sum(axis=2))
    k = np.exp(-0.5 * np.square(new[:, None] - Z[None]).sum(axis=2))
    expected = k @ np.linalg.solve(K + alpha * np.eye(12), X)
    assert_allclose(back.of(new), expected, atol=1e-9)
    for numbers in (1, 24):  # one row, or two, at a time
        monkeypatch.setattr(module, "_BLOCK_NUMBERS", numbers)
        assert_allclose(back.of(new), expected, atol=1e-9)
    assert (back.coefficients is None) == (back.X is not None) == sparse
    assert (back.factor is None) == (not sparse)


def test_a_kernel_that_is_not_positive_has_no_way_back(rng):
    Z = rng.standard_normal((8, 2))
    with pytest.raises(KernelError, match=r"got alpha=0\.5: use a larger alpha"):
        preimage(kernels.Sigmoid(gamma=1.0, coef0=-3.0), Z, Z, 0.5)
