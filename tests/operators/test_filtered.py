"""Functions of an operator: the stated error bound holds, bad functions are refused."""

import numpy as np
import pytest

from graphfold.operators import ChebyshevFunction, Dense, Diagonal

FUNCTIONS = {
    "diffusion": lambda t: np.exp(-5 * t),
    "regularised": lambda t: 1 / (1 + 20 * t),
    "walk": lambda t: (2 - t) ** 7,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-12])
def test_error_stays_below_the_certified_bound(function, tol):
    eigenvalues = np.linspace(0, 2, 1001)
    operator = Diagonal(eigenvalues)
    polynomial = ChebyshevFunction(operator, function, tol=tol)
    found = polynomial.apply(np.ones((1001, 1)))[:, 0]
    error = np.abs(found - function(eigenvalues)).max()
    rounding = 1e-13 * np.abs(function(eigenvalues)).max()
    assert error <= polynomial.error_bound + rounding
    assert polynomial.error_bound <= 10 * tol * np.abs(function(eigenvalues)).max()


def test_a_polynomial_is_reproduced_with_its_own_degree():
    polynomial = ChebyshevFunction(
        Diagonal(np.array([0.0, 2.0])), lambda t: (2 - t) ** 5
    )
    assert polynomial.degree == 5


@pytest.mark.parametrize(
    "function",
    [lambda t: (t > 0.7).astype(float), lambda t: 1 / np.abs(t - 0.3)],
    ids=["jump", "pole"],
)
def test_a_jump_or_a_pole_is_refused(function):
    with pytest.raises(ValueError, match="degree"):
        ChebyshevFunction(Diagonal(np.linspace(0, 2, 9)), function)


def test_an_unbounded_operator_is_refused():
    with pytest.raises(ValueError, match="certified"):
        ChebyshevFunction(Dense(np.eye(3), bounds=(0.0, np.inf)), np.exp)
