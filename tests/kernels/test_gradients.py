"""Gradients of kernel expansions against central differences of the kernel's values."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphfold import kernels
from graphfold.errors import GraphfoldError, KernelError
from graphfold.kernels import gradients
from graphfold.kernels.gradients import gradient_of_expansion

KERNELS = [
    kernels.Linear(),
    kernels.Cosine(),
    kernels.Gaussian(0.2),
    kernels.Polynomial(0, 1.0, 0.5),
    kernels.Polynomial(1, 1.0, 0.5),
    kernels.Polynomial(3, 1.0, 0.5),
    kernels.Polynomial(2.5, 40.0, 0.3),
    kernels.Sigmoid(0.1, 0.2),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def by_differences(kernel, X, Y, W, step=1e-5):
    """One coordinate of one row at a time: independent of the closed forms."""
    gradient = np.zeros(X.shape)
    for j in range(X.shape[1]):
        up, down = X.copy(), X.copy()
        up[:, j] += step
        down[:, j] -= step
        rise = kernel.block(up, Y) @ W - kernel.block(down, Y) @ W
        gradient[:, j] = rise / (2 * step)
    return gradient


def assert_close(found, expected, tolerance):
    size = max(1.0, np.abs(expected).max(initial=0.0))
    assert_allclose(found, expected, rtol=0, atol=tolerance * size)


def problem(rng, m=9, n=30, n_columns=4):
    X, Y = rng.standard_normal((m, n_columns)), rng.standard_normal((n, n_columns))
    return X, Y, rng.standard_normal(n)


@every_kernel
def test_gradient_equals_central_differences(kernel, rng):
    X, Y, W = problem(rng)
    found = gradient_of_expansion(kernel, X, Y, W)
    assert found.dtype == np.float64
    assert_close(found, by_differences(kernel, X, Y, W), 1e-7)


@settings(deadline=None, max_examples=60)
@given(
    kernel=st.sampled_from(KERNELS),
    m=st.integers(0, 12),
    n=st.integers(1, 25),
    n_columns=st.integers(1, 7),
    seed=st.integers(0, 2**32 - 1),
)
def test_gradient_equals_central_differences_in_any_shape(
    kernel, m, n, n_columns, seed
):
    rng = np.random.default_rng(seed)
    X, Y, W = problem(rng, m, n, n_columns)
    # the third derivative of the cosine explodes at the origin, and with it the error
    # of a difference
    X = np.sign(X) * (np.abs(X) + 0.5)
    found = gradient_of_expansion(kernel, X, Y, W)
    assert found.shape == X.shape
    assert_close(found, by_differences(kernel, X, Y, W), 1e-6)


@every_kernel
def test_single_precision_stays_single(kernel, rng):
    X, Y, W = problem(rng)
    single = X.astype(np.float32), Y.astype(np.float32)
    found = gradient_of_expansion(kernel, *single, W)
    assert found.dtype == np.float32
    assert_close(found, by_differences(kernel, X, Y, W), 1e-4)


@every_kernel
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_rows_give_the_dense_gradient(kernel, container, rng):
    X, Y, W = problem(rng)
    X, Y = X * (rng.random(X.shape) < 0.5), Y * (rng.random(Y.shape) < 0.5)
    X[2] = 0.0
    expected = gradient_of_expansion(kernel, X, Y, W)
    for rows, reference in [
        (container(X), container(Y)),
        (container(X), Y),
        (X, container(Y)),
    ]:
        found = gradient_of_expansion(kernel, rows, reference, W)
        assert type(found) is np.ndarray
        assert_close(found, expected, 1e-12)


@every_kernel
def test_blocks_do_not_change_the_gradient(kernel, rng, monkeypatch):
    X, Y, W = problem(rng, m=70)
    whole = gradient_of_expansion(kernel, X, Y, W)
    monkeypatch.setattr(gradients, "BLOCK", 1)  # 16 rows at a time
    assert_close(gradient_of_expansion(kernel, X, Y, W), whole, 1e-13)


@every_kernel
def test_weights_may_be_a_column_and_input_is_not_written_to(kernel, rng):
    X, Y, W = problem(rng)
    for array in (X, Y, W):
        array.flags.writeable = False
    flat = gradient_of_expansion(kernel, X, Y, W)
    assert_allclose(gradient_of_expansion(kernel, X, Y, W[:, None]), flat)


@every_kernel
def test_integers_and_lists_are_numbers(kernel):
    found = gradient_of_expansion(kernel, [[1, 2], [3, 1]], [[2, 1]], [3])
    X, Y, W = np.array([[1.0, 2.0], [3.0, 1.0]]), np.array([[2.0, 1.0]]), np.array([3])
    assert_close(found, by_differences(kernel, X, Y, W), 1e-7)


def test_zero_rows_have_zero_cosine_gradient(rng):
    X, Y, W = problem(rng)
    X[3], Y[5] = 0.0, 0.0
    found = gradient_of_expansion(kernels.Cosine(), X, Y, W)
    assert (found[3] == 0).all()
    others = np.delete(np.arange(len(X)), 3)
    expected = by_differences(kernels.Cosine(), X[others], Y, W)
    assert_close(found[others], expected, 1e-7)


def test_cosine_gradient_of_tiny_rows_does_not_overflow(rng):
    X, Y, W = (array.astype(np.float32) for array in problem(rng))
    unit = gradient_of_expansion(kernels.Cosine(), X, Y, W)
    tiny = gradient_of_expansion(kernels.Cosine(), X * np.float32(1e-15), Y, W)
    assert_allclose(tiny * np.float32(1e-15), unit, rtol=0, atol=1e-4)


def test_gaussian_far_from_the_origin_keeps_its_digits(rng):
    X, Y, W = problem(rng)
    near = gradient_of_expansion(kernels.Gaussian(0.5), X, Y, W)
    far = gradient_of_expansion(kernels.Gaussian(0.5), X + 1e7, Y + 1e7, W)
    assert_close(far, near, 1e-6)


def test_an_infinite_slope_is_refused():
    root = kernels.Polynomial(0.5, 0.0, 1.0)
    with pytest.raises(KernelError, match="NaN or infinity"):
        gradient_of_expansion(root, [[0.0]], [[1.0]], [1.0])


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Pairwise("laplacian", {"gamma": 1.0}),
        kernels.Pairwise("chi2"),
        kernels.Pairwise(lambda x, y: float(x @ y)),
        kernels.Precomputed(),
    ],
    ids=["laplacian", "chi2", "callable", "precomputed"],
)
def test_kernels_without_a_closed_form_are_refused(kernel):
    message = "has no closed-form gradient: .*, use Linear, .* or Cosine$"
    with pytest.raises(KernelError, match=message):
        gradient_of_expansion(kernel, np.eye(2), np.eye(2), np.ones(2))


def test_shapes_that_do_not_fit_are_refused():
    X, Y = np.ones((2, 3)), np.ones((4, 3))
    for W in (np.ones(1), np.ones(3), np.ones((4, 2)), np.ones((1, 4))):
        with pytest.raises(GraphfoldError, match="W must hold one weight for each"):
            gradient_of_expansion(kernels.Gaussian(1.0), X, Y, W)
    with pytest.raises(GraphfoldError, match="same columns; got 2 and 3"):
        gradient_of_expansion(kernels.Gaussian(1.0), X[:, :2], Y, np.ones(4))
