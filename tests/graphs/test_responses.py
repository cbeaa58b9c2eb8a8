"""Responses as scalar functions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphfold import responses
from graphfold.errors import GraphfoldError, ResponseError

LAMBDA = np.linspace(0, 1.9, 12)
ALL = [
    responses.Diffusion(3.0),
    responses.RandomWalk(2.5, 3),
    responses.RegularizedLaplacian(4.0),
    responses.Bandlimited(4, 5.0),
    responses.Custom(lambda t: 1 + t**2),
]


@pytest.mark.parametrize("response", ALL, ids=lambda r: type(r).__name__)
def test_r_is_non_decreasing_and_r_dagger_its_inverse(response):
    r = response.r(LAMBDA)
    assert (np.diff(r) >= 0).all()
    assert_allclose(response.r_dagger(LAMBDA), 1 / r)
    assert_allclose(response.term(LAMBDA), 1 / r)
    assert_allclose(response.with_params(form="penalty").term(LAMBDA), -r)


def test_formulas_of_the_paper():
    t = LAMBDA
    assert_allclose(responses.Diffusion(3.0).r(t), np.exp(3 * t / 2))
    assert_allclose(responses.RandomWalk(2.5, 3).r(t), (2.5 - t) ** -3.0)
    assert_allclose(responses.RegularizedLaplacian(4.0).r(t), 1 + 4 * t)
    expected = np.where(np.arange(12) < 4, 1 / 5, 5.0)
    assert_allclose(responses.Bandlimited(4, 5.0).r(t), expected)


def test_zero_of_r_gives_zero():
    custom = responses.Custom(lambda t: t)
    assert_allclose(custom.r_dagger(np.array([0.0, 1e-14, 2.0])), [0, 0, 0.5])


def test_a_walk_needs_a_above_the_spectrum():
    walk = responses.RandomWalk(a=2.0)
    walk.check(2.0)
    with pytest.raises(ResponseError, match=r"largest eigenvalue .* 5.*got a=2"):
        walk.check(5.0)
    with pytest.raises(ResponseError, match="above the largest"):
        responses.RandomWalk(a=2.0, form="penalty").check(2.0)


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (responses.Diffusion(-1), "scale must be at least 0; got -1"),
        (responses.RandomWalk(1.5), "a must be at least 2; got 1.5"),
        (responses.RandomWalk(p=0), "p must be between 1"),
        (responses.Bandlimited(b=0.5), "b must be at least 1"),
        (responses.Bandlimited(n_low=0), "n_low must be between 1"),
        (responses.LowPass(-1), "cutoff must be at least 0"),
        (responses.Diffusion(form="both"), "form must be one of"),
    ],
)
def test_parameters_out_of_range(response, text):
    with pytest.raises(GraphfoldError, match=text):
        response.check(2.0)


def test_bad_callables():
    with pytest.raises(ResponseError, match="one number"):
        responses.Custom(lambda t: 1.0).r(LAMBDA)
    with pytest.raises(ResponseError, match="at least 0"):
        responses.Custom(lambda t: t - 1).r(LAMBDA)
    with pytest.raises(ResponseError, match="got 'heat'"):
        responses.response_from("heat")
