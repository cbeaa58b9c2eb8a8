"""K = (T'T)^+ as an operator: small and large, by factors and by a polynomial."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, make_swiss_roll

from graphfold import kernels
from graphfold.errors import NullDirectionsWarning
from graphfold.model.inverse import (
    DEFLATED,
    constants_are_null,
    kernel_of,
    normal_operator,
)
from graphfold.operators import (
    ChebyshevFunction,
    Factorized,
    PseudoInverse,
    SpectralFunction,
)
from tests.helpers import largest_angle

RNG = np.random.default_rng(0)


@cache
def lle(n):
    """T of LLE weights on digits: constants are its null space."""
    return kernels.LocallyLinear(12).inverse_factor(load_digits().data[:n])


@cache
def lne(n):
    """T of weights that do not sum to one: no null space."""
    X = load_digits().data[:n]
    return kernels.LocallyNonlinear(12).bind(X, RNG).inverse_factor(X)


@cache
def dense_inverse(make, n):
    T = make(n).toarray()
    A = T.T @ T
    values, vectors = np.linalg.eigh(A)
    kept = values > 1e-13 * values[-1]
    K = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return K, values, vectors


@cache
def found(make, n, kind):
    """kernel_of, asked once for each way; ``kind`` is set by the fixture."""
    return kernel_of(make(n), 3, np.random.default_rng(0))


def test_constants_are_null_where_rows_sum_to_one():
    assert constants_are_null(lle(300))
    assert not constants_are_null(lne(300))
    assert not constants_are_null(sp.csr_array(np.eye(3)))


def test_the_normal_operator_is_the_product():
    T = lle(300)
    A = normal_operator(T)
    assert_allclose(A.entries(), (T.T @ T).toarray(), atol=1e-12)
    assert_allclose(A.sparse().toarray(), (T.T @ T).toarray(), atol=1e-12)


@pytest.fixture(params=["basis", "factors", "polynomial"])
def way(request, monkeypatch):
    """Each way of holding K, and how many rows it is taken for."""
    if request.param == "polynomial":
        monkeypatch.setattr("graphfold.operators.inverse.FILLED", 10)
        monkeypatch.setattr("graphfold.operators.inverse.LONG", 10**6)
    kind = {
        "basis": SpectralFunction,
        "factors": Factorized,
        "polynomial": ChebyshevFunction,
    }
    return kind[request.param], 500 if request.param == "basis" else 1010


@pytest.mark.parametrize("make", [lle, lne])
def test_products_are_those_of_the_pseudo_inverse(make, way, rng):
    kind, n = way
    operator, start = found(make, n, kind)
    if kind is SpectralFunction:
        assert isinstance(operator, SpectralFunction)
    else:
        assert isinstance(operator, PseudoInverse)
        assert isinstance(operator.rest, kind)
    K, values, vectors = dense_inverse(make, n)
    size = np.linalg.norm(K, 2)
    V = rng.standard_normal((n, 3))
    assert_allclose(operator.apply(V), K @ V, atol=1e-7 * size)
    # also where K is small: beyond the lowest eigenvectors of A
    high = vectors[:, 200:204]
    expected = high / values[200:204]
    assert_allclose(operator.apply(high), expected, atol=1e-9 * size)
    if kind is not ChebyshevFunction:
        assert_allclose(operator.apply(high), expected, rtol=1e-5, atol=1e-7)
    null = int(constants_are_null(make(n)))
    first = vectors[:, null : null + 3]
    assert largest_angle(start[:, :3], first) < 1e-5
    assert_allclose(operator.energies(first), 1 / values[null : null + 3], rtol=1e-6)


@pytest.mark.parametrize("make", [lle, lne])
def test_constants_go_to_zero_where_they_are_null(make, way):
    kind, n = way
    operator, _ = found(make, n, kind)
    ones = np.ones((n, 1))
    size = operator.bounds()[1] if kind is SpectralFunction else max(operator.inverses)
    product = np.abs(operator.apply(ones)).max()
    if make is lle:
        assert product < 1e-9 * size
    else:
        assert product > 1e-6 * size


@pytest.mark.parametrize("make", [lle, lne])
def test_trace_is_close(make, way):
    kind, n = way
    operator, _ = found(make, n, kind)
    K, _, _ = dense_inverse(make, n)
    assert operator.trace() == pytest.approx(np.trace(K), rel=0.03)


def test_null_vectors_are_dropped_as_by_every_pseudo_inverse(way):
    """Two parts without a link: besides constants, their difference costs nothing."""
    _, n = way
    half = n // 2
    T = sp.csr_array(sp.block_diag([lle(half), lle(n - half)]))
    with pytest.warns(NullDirectionsWarning, match="reconstruct 1 directions"):
        operator, start = kernel_of(T, 2, np.random.default_rng(0))
    step = np.r_[np.full(half, 1.0 / half), np.full(n - half, -1.0 / (n - half))]
    step = (step / np.linalg.norm(step))[:, None]
    values, vectors = np.linalg.eigh((T.T @ T).toarray())
    assert largest_angle(start[:, :2], vectors[:, 2:4]) < 1e-5
    assert_allclose(operator.energies(vectors[:, 2:4]), 1 / values[2:4], rtol=1e-6)
    assert float(operator.energies(step)[0]) < 1e-9 / values[2]
    assert np.abs(operator.apply(np.ones((n, 1)))).max() < 1e-6 / values[2]


def test_more_is_deflated_where_many_directions_cost_nothing():
    """30 parts: 29 null vectors beside constants, more than are taken at first."""
    T = sp.csr_array(sp.block_diag([lle(40)] * 30))
    with pytest.warns(NullDirectionsWarning, match="reconstruct 29 directions"):
        operator, start = kernel_of(T, 2, np.random.default_rng(0))
    assert isinstance(operator, PseudoInverse)
    assert operator.vectors.shape[1] > DEFLATED + 1
    parts = np.repeat(np.eye(30), 40, axis=0)
    size = max(operator.inverses)
    assert np.abs(operator.apply(parts)).max() < 1e-6 * size
    assert np.abs(parts.T @ start).max() < 1e-5
    product = operator.apply(RNG.standard_normal((1200, 2)))
    assert np.isfinite(product).all()


def test_a_surface_whose_eigenvalues_are_tiny():
    """Swiss roll: A's lowest eigenvalue is 1e-9 of its size."""
    X, _ = make_swiss_roll(1100, random_state=0)
    T = kernels.LocallyLinear(10).inverse_factor(X)
    operator, start = kernel_of(T, 2, np.random.default_rng(0))
    values, vectors = np.linalg.eigh((T.T @ T).toarray())
    assert largest_angle(start[:, :3], vectors[:, 1:4]) < 1e-4
    energies = operator.energies(start[:, :3])
    assert_allclose(energies, 1 / values[1:4], rtol=1e-4)


def test_the_same_seed_gives_the_same_operator():
    one, _ = found(lle, 1010, Factorized)
    two, _ = kernel_of(lle(1010), 3, np.random.default_rng(0))
    V = np.ones((1010, 1)) * np.arange(1010)[:, None]
    assert (one.apply(V) == two.apply(V)).all()
