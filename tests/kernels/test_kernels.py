"""Kernel values against scikit-learn and brute force; half the work, same numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import pairwise_kernels

from graphfold import kernels
from graphfold.errors import GraphfoldError, KernelError
from graphfold.kernels.bandwidth import median_squared_distance
from graphfold.kernels.degenerate import degeneracy
from graphfold.kernels.names import NAMES, kernel_from

NAMED = [name for name in NAMES if name != "precomputed"]


def positive(rng, n=45, m=6):
    return rng.random((n, m)) + 0.1


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("gamma", [None, 0.3])
def test_every_name_equals_scikit_learn(name, gamma, rng):
    X, Y = positive(rng), positive(rng, 7)
    kernel = kernel_from(name, gamma=gamma, degree=2, coef0=0.5, n_features=6)
    kernel = kernel.bind(X, rng)
    width = 1 / 6 if gamma is None else gamma
    reference = pairwise_kernels(
        Y, X, metric=name, filter_params=True, gamma=width, degree=2, coef0=0.5
    )
    assert_allclose(kernel.block(Y, X), reference, rtol=1e-10, atol=1e-12)
    own = pairwise_kernels(
        X, metric=name, filter_params=True, gamma=width, degree=2, coef0=0.5
    )
    assert_allclose(kernel.gram(X), own, rtol=1e-10, atol=1e-12)
    assert_allclose(kernel.diagonal(X), np.diag(own), rtol=1e-10, atol=1e-12)


PRODUCT_KERNELS = [
    kernels.Linear(),
    kernels.Cosine(),
    kernels.Gaussian(0.2),
    kernels.Polynomial(3, 1.0, 0.5),
    kernels.Polynomial(2.5, 9.0, 0.1),
    kernels.Sigmoid(0.1, 0.0),
]


@pytest.mark.parametrize("kernel", PRODUCT_KERNELS, ids=repr)
@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 600])
def test_half_the_work_gives_the_whole_matrix(kernel, n, rng):
    X = rng.standard_normal((n, 5))
    K = kernel.gram(X)
    assert (K == K.T).all()
    assert_allclose(K, kernel.block(X, X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", PRODUCT_KERNELS, ids=repr)
def test_single_precision_and_sparse_rows(kernel, rng):
    X = rng.random((80, 6)) * (rng.random((80, 6)) < 0.4)
    reference = kernel.gram(X)
    single = kernel.gram(X.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, reference, rtol=2e-5, atol=1e-5)
    for container in (sp.csr_array, sp.csr_matrix):
        assert_allclose(kernel.gram(container(X)), reference, atol=1e-12)
        assert_allclose(kernel.block(container(X)[:9], container(X)), reference[:9])
        assert_allclose(kernel.diagonal(container(X)), np.diag(reference), atol=1e-12)


def test_input_is_not_written_to(rng):
    for order in ("C", "F"):
        X = np.asarray(rng.standard_normal((30, 4)), order=order)
        X.flags.writeable = False
        for kernel in PRODUCT_KERNELS:
            kernel.gram(X)
            kernel.block(X[:3], X)


def test_gaussian_far_from_the_origin_keeps_its_digits(rng):
    X = rng.standard_normal((40, 3))
    near, far = kernels.Gaussian(0.5).gram(X), kernels.Gaussian(0.5).gram(X + 1e7)
    assert_allclose(far, near, atol=1e-7)
    block = kernels.Gaussian(0.5).block(X[:5] + 1e7, X + 1e7)
    assert_allclose(block, near[:5], atol=1e-7)


@pytest.mark.parametrize("offset", [0.0, 0.5, 0.99, 1.01, 3.0, 1e3])
def test_gaussian_of_rows_at_any_distance_from_the_origin(rng, offset):
    """Rows as far from the origin as from their mean are taken as they are."""
    X = rng.standard_normal((40, 5))
    X += offset - X.mean(axis=0)
    exact = X.astype(np.longdouble)
    distances = ((exact[:, None] - exact[None]) ** 2).sum(axis=2)
    kernel = kernels.Gaussian(0.5)
    assert_allclose(kernel.gram(X), np.exp(-0.5 * distances), atol=1e-14)
    assert (kernel.prepare(X, X) is X) == (offset <= 0.9)


def test_gaussian_of_integers_and_of_no_rows():
    X = np.array([[-1, 0], [1, 2]])
    kernel = kernels.Gaussian(0.5)
    exact = [[1, np.exp(-4)], [np.exp(-4), 1]]
    assert_allclose(kernel.gram(X), exact)
    assert_allclose(kernel.block(X, X), exact)


def test_zero_rows_have_zero_cosine():
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert_allclose(kernels.Cosine().gram(X), [[0, 0], [0, 1]])


def test_factor_gives_the_kernel(rng):
    X = rng.standard_normal((20, 3))
    for kernel in (kernels.Linear(), kernels.Cosine()):
        Z = kernel.factor(X)
        assert_allclose(Z @ Z.T, kernel.gram(X), atol=1e-12)


def test_median_is_over_distinct_pairs(rng):
    X = rng.standard_normal((30, 3))
    pairs = [((X[i] - X[j]) ** 2).sum() for i in range(30) for j in range(i)]
    assert median_squared_distance(X, rng) == pytest.approx(np.median(pairs))
    bound = kernels.Gaussian("median").bind(X, rng)
    assert bound.gamma == pytest.approx(0.5 / np.median(pairs))
    assert median_squared_distance(sp.csr_array(X), rng) == pytest.approx(
        np.median(pairs)
    )


def test_median_survives_duplicates(rng):
    X = np.zeros((20, 2))
    assert median_squared_distance(X, rng) == 1.0
    X[0] = 3.0
    assert median_squared_distance(X, rng) == pytest.approx(18.0)


def test_median_looks_at_two_thousand_rows_only(rng):
    X = rng.standard_normal((3000, 2))
    one = kernels.Gaussian("median").bind(X, np.random.default_rng(1))
    two = kernels.Gaussian("median").bind(X, np.random.default_rng(1))
    assert one == two
    assert one.gamma == pytest.approx(0.5 / 2.77, rel=0.1)


def test_laplacian_kernel_has_a_median_rule(rng):
    X = rng.standard_normal((25, 3))
    kernel = kernel_from("laplacian", n_features=3).bind(X, rng)
    pairs = [np.abs(X[i] - X[j]).sum() for i in range(25) for j in range(i)]
    assert kernel.params["gamma"] == pytest.approx(1 / np.median(pairs))


def test_callables_are_asked_for_pairs_of_rows(rng):
    X = rng.standard_normal((12, 3))

    def kernel(x, y, power=1):
        return float(x @ y) ** power

    made = kernel_from(kernel, kernel_params={"power": 2}, n_features=3).bind(X, rng)
    assert_allclose(made.gram(X), (X @ X.T) ** 2, rtol=1e-12)
    assert_allclose(made.diagonal(X), np.diag(X @ X.T) ** 2, rtol=1e-12)


def test_bad_callables_are_refused(rng):
    X = rng.standard_normal((6, 2))
    nan = kernels.Pairwise(lambda x, y: float("nan"))
    with pytest.raises(KernelError, match="NaN or infinity"):
        nan.gram(X)
    lopsided = kernels.Pairwise(lambda x, y: float(x[0] - y[0]))
    with pytest.raises(KernelError, match="symmetric"):
        lopsided.gram(X)


def test_precomputed_must_be_square_and_symmetric(rng):
    with pytest.raises(KernelError, match="square"):
        kernels.Precomputed().bind(np.ones((3, 4)), rng)
    with pytest.raises(KernelError, match="symmetric"):
        kernels.Precomputed().bind(np.triu(np.ones((3, 3))), rng)


def test_degenerate_kernels_are_recognised(rng):
    X = rng.standard_normal((300, 4))
    assert degeneracy(kernels.Gaussian(1e6), X, rng) == "the identity"
    assert degeneracy(kernels.Gaussian(1e-12), X, rng) == "a constant"
    assert degeneracy(kernels.Gaussian(0.1), X, rng) is None
    assert degeneracy(kernels.Precomputed(), np.eye(50), rng) == "the identity"
    assert degeneracy(kernels.Linear(), sp.csr_array(np.eye(50)), rng) == "the identity"


def test_near_neighbours_save_a_kernel_from_the_verdict(rng):
    """Pairs of near copies in a sea of strangers: a sample of pairs would miss them."""
    X = np.repeat(rng.standard_normal((500, 40)), 2, axis=0)
    X += 0.01 * rng.standard_normal(X.shape)
    assert degeneracy(kernels.Gaussian(0.5), X, rng) is None


def test_words_that_are_not_kernels_are_refused():
    with pytest.raises(GraphfoldError, match=r"kernel must be one of .*'rbff'"):
        kernel_from("rbff", n_features=3)
    with pytest.raises(GraphfoldError, match="gamma must be"):
        kernel_from("rbf", gamma="mean", n_features=3)
    with pytest.raises(GraphfoldError, match="gamma must be at least 0; got -1"):
        kernels.Gaussian(-1).bind(np.ones((2, 2)), np.random.default_rng())


def test_parameters_follow_scikit_learns_convention():
    kernel = kernels.Polynomial(degree=2)
    assert kernel.get_params() == {"degree": 2, "coef0": 1, "gamma": 1.0}
    assert kernel.set_params(coef0=3) is kernel
    assert repr(kernel) == "Polynomial(degree=2, coef0=3, gamma=1.0)"
    with pytest.raises(ValueError, match="no parameter 'sigma'"):
        kernel.set_params(sigma=1)
