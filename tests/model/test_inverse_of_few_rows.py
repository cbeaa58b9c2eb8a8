"""K = (T'T)^+ of few rows by the ways of many, against the pseudo-inverse of NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from graphfold import kernels
from graphfold.errors import NullDirectionsWarning
from graphfold.model import inverse
from graphfold.model.inverse import constants_are_null, kernel_of
from graphfold.operators import (
    ChebyshevFunction,
    Factorized,
    PseudoInverse,
    SpectralFunction,
)
from tests.helpers import largest_angle

N, D = 60, 2


@pytest.fixture
def rows(rng):
    return rng.standard_normal((N, 3))


def local(rows, sums_to_one):
    if sums_to_one:
        return kernels.LocallyLinear(6).inverse_factor(rows)
    T = kernels.LocallyLinear(6).inverse_factor(rows)
    return sp.csr_array(T + 0.01 * sp.eye_array(N))


@pytest.mark.parametrize("sums_to_one", [True, False])
@pytest.mark.parametrize("way", ["basis", "factors", "polynomial"])
def test_every_way_is_the_pseudo_inverse(way, sums_to_one, rows, monkeypatch):
    if way != "basis":
        monkeypatch.setattr(inverse, "SMALL_BASIS", 10)
        monkeypatch.setattr(inverse, "DEFLATED", 12)
    if way == "polynomial":
        monkeypatch.setattr(inverse, "factors_stay_sparse", lambda matrix: False)
    T = local(rows, sums_to_one)
    assert constants_are_null(T) == sums_to_one
    operator, start = kernel_of(T, D, np.random.default_rng(0))
    A = (T.T @ T).toarray()
    K = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
    assert_allclose(operator.to_dense(), K, atol=1e-6 * np.abs(K).max())
    top = np.linalg.eigh(K)[1][:, ::-1]
    assert largest_angle(start[:, :D], top[:, :D]) < 1e-5
    assert np.all(np.diff(np.einsum("ij,ij->j", start, A @ start)) >= -1e-9)
    if way == "basis":
        assert isinstance(operator, SpectralFunction)
        assert start.shape[1] == N - sums_to_one
        return
    assert isinstance(operator, PseudoInverse)
    assert start.shape[1] == 12
    rest = Factorized if way == "factors" else ChebyshevFunction
    assert isinstance(operator.rest, rest) or way == "polynomial"


def test_twice_the_components_are_deflated_where_that_is_more(rows, monkeypatch):
    monkeypatch.setattr(inverse, "SMALL_BASIS", 10)
    monkeypatch.setattr(inverse, "DEFLATED", 5)
    T = local(rows, True)
    for d, expected in ((1, 5), (3, 6), (100, N - 1)):
        assert kernel_of(T, d, np.random.default_rng(0))[1].shape[1] == expected


def test_directions_that_cost_nothing_are_all_dropped(rng, monkeypatch):
    # four parts: T takes the indicator of each to 0
    monkeypatch.setattr(inverse, "SMALL_BASIS", 10)
    monkeypatch.setattr(inverse, "DEFLATED", 2)
    parts = [rng.standard_normal((15, 2)) + 1e3 * i for i in range(4)]
    blocks = [kernels.LocallyLinear(5).inverse_factor(part) for part in parts]
    T = sp.csr_array(sp.block_diag(blocks))
    with pytest.warns(NullDirectionsWarning, match="reconstruct 3 directions"):
        operator, start = kernel_of(T, 1, np.random.default_rng(0))
    indicators = np.repeat(np.eye(4), 15, axis=0)
    K = np.linalg.pinv((T.T @ T).toarray(), rcond=1e-12, hermitian=True)
    assert_allclose(operator.to_dense(), K, atol=1e-6 * np.abs(K).max())
    assert start.shape[1] >= 1
    assert np.abs(indicators.T @ start).max() < 1e-6


@pytest.mark.parametrize(
    ("T", "null"),
    [
        (np.array([[1.0, -1.0], [-1.0, 1.0]]), True),
        (np.array([[1.0, -1.0], [-1.0, 1.0 + 5e-10]]), True),
        (np.array([[1.0, -1.0], [-1.0, 1.0 + 5e-9]]), False),
        (np.array([[50.0, -50.0], [-50.0, 50.0 + 4e-8]]), True),  # a share of T
        (np.array([[1e-3, 0.0], [0.0, 1e-3]]), False),
        (np.array([[1e-10, 0.0], [0.0, 1e-10]]), True),
    ],
)
def test_constants_are_null_up_to_rounding(T, null):
    assert constants_are_null(sp.csr_array(T)) is null


def test_an_answer_that_has_not_settled_is_told(rows, monkeypatch):
    from dataclasses import replace

    monkeypatch.setattr(inverse, "SMALL_BASIS", 10)
    solve = inverse.top_eigenpairs

    def loose(*arguments, **how):
        pairs = solve(*arguments, **how)
        return replace(pairs, converged=False, residuals=pairs.residuals + 2e-3)

    monkeypatch.setattr(inverse, "top_eigenpairs", loose)
    with pytest.warns(ConvergenceWarning, match=r"residual of 2\.0e-03 only"):
        kernel_of(local(rows, True), D, np.random.default_rng(0))
