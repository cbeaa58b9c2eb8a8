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


@pytest.mark.parametrize("p", [0, 0.5, 1, 2.5])
def test_a_walk_has_any_number_of_steps(p):
    t = LAMBDA
    assert_allclose(responses.RandomWalk(2.5, p).r(t), (2.5 - t) ** -float(p))
    assert_allclose(responses.RandomWalk(2.5, p).r_dagger(t), (2.5 - t) ** float(p))


def test_a_fraction_of_a_step_is_zero_where_rounding_is_beyond_a():
    walk = responses.RandomWalk(2.0, 0.5)
    assert_allclose(walk.r_dagger(np.array([2.0, 2.0 + 1e-12])), [0.0, 0.0])


def test_no_step_is_constant_whatever_the_spectrum():
    for form in ("kernel", "penalty"):
        walk = responses.RandomWalk(2.0, 0, form=form)
        walk.check(50.0)
        assert_allclose(walk.r(np.array([0.0, 2.0, 50.0])), 1.0)
        assert_allclose(walk.r_dagger(np.array([0.0, 2.0, 50.0])), 1.0)


def test_a_band_below_one_favours_the_rest():
    band = responses.Bandlimited(2, 0.25)
    band.check(2.0)
    t = np.array([0.0, 0.5, 1.0])
    assert_allclose(band.r(t), [4.0, 4.0, 0.25])
    assert_allclose(band.r_dagger(t), [0.25, 0.25, 4.0])
    assert band.low_rank() == (2, 4.0)
    # strength is measured in the largest value, which is not the one at 0
    assert band.size(1.0) == band.with_params(form="penalty").size(1.0) == 4.0


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
        (responses.RandomWalk(p=-1), "p must be a number between 0 and 1000; got -1"),
        (responses.RandomWalk(p="2"), "p must be a number between 0 and 1000"),
        (responses.Bandlimited(b=0), "b must be above 0; got 0"),
        (responses.Bandlimited(b=-2.0), "b must be above 0; got -2"),
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


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (responses.Diffusion, {"scale": 1.0}),
        (responses.RandomWalk, {"a": 2.0, "p": 1}),
        (responses.RegularizedLaplacian, {"scale": 1.0}),
        (responses.Bandlimited, {"n_low": 10, "b": 10.0}),
        (lambda: responses.Custom(np.exp), {"function": np.exp}),
    ],
)
def test_defaults_are_those_documented(make, settings):
    response = make()
    assert response.get_params() == {**settings, "form": "kernel"}
    response.check(1.5)


def test_a_low_pass_is_a_kernel_that_jumps():
    response = responses.LowPass()
    assert (response.cutoff, response.form, response.smooth) == (0.5, "kernel", False)
    t = np.array([0.0, 0.5, 0.5 + 1e-12, 0.5 + 1e-9, 2.0])
    assert_allclose(response.r_dagger(t), [1, 1, 1, 0, 0])
    assert_allclose(response.r(t), [1, 1, 1, np.inf, np.inf])


def test_sizes_are_values_at_zero_or_at_the_scale():
    assert responses.Diffusion(3.0).size(7.0) == 1.0
    assert responses.RandomWalk(3.0, 2).size(7.0) == 9.0
    penalty = responses.RegularizedLaplacian(2.0, form="penalty")
    assert penalty.size(7.0) == 15.0
    assert responses.Diffusion(2.0, form="penalty").size(3.0) == pytest.approx(np.e**3)


def test_a_rule_asks_for_the_eigenvalue_it_needs():
    auto = responses.Diffusion("auto")
    auto.check(2.0)
    assert auto.needed_eigenvalue(4) == 4
    assert auto.bind(0.5).scale == 4.0
    for response in ALL:
        assert response.needed_eigenvalue(4) is None
    walk = responses.RandomWalk()
    assert walk.bind(0.5) is walk


def test_only_a_band_has_low_rank():
    assert responses.Bandlimited(3, 4.0).low_rank() == (3, 0.25)
    assert responses.Bandlimited(3, 4.0, form="penalty").low_rank() == (3, -4.0)
    assert responses.Diffusion().low_rank() is None


@pytest.mark.parametrize(
    ("response", "largest"),
    [
        (responses.Bandlimited(2**31 - 1), 2.0),
        (responses.RandomWalk(p=1000), 2.0),
        (responses.RandomWalk(2.0), 2.0 + 1e-9),
        (responses.RandomWalk(500.0), 500.0 + 4e-7),  # rounding grows with the size
        (responses.RandomWalk(2.1, form="penalty"), 2.0),
        (responses.RandomWalk(2.0, form="penalty"), 0.5),
    ],
)
def test_what_is_just_allowed_is_allowed(response, largest):
    assert response.check(largest) is None


@pytest.mark.parametrize(
    ("response", "largest", "text"),
    [
        (responses.RandomWalk(2.0), 2.0 + 3e-9, "at least the largest"),
        (responses.RandomWalk(2.0, form="penalty"), 2.0 - 1e-9, "above the largest"),
        (responses.RandomWalk(p=1001), 2.0, "p must be a number between 0 and 1000"),
        (responses.RandomWalk(2.0, form="x"), 2.0, "form must be one of .*'penalty'"),
        (responses.Bandlimited(2**31 + 1), 2.0, "n_low must be between 1 and 2147483"),
        (responses.Custom(3), 2.0, "response must be callable; got 3"),
    ],
)
def test_what_is_just_beyond_is_not(response, largest, text):
    with pytest.raises(GraphfoldError, match=text):
        response.check(largest)


def test_functions_of_ones_own_may_round_below_zero():
    t = np.array([0.0, 1.0, 2.0])
    tiny = responses.Custom(lambda x: np.where(x == 0, -1e-11, x))
    assert_allclose(tiny.r_dagger(t), [0.0, 1.0, 0.5])
    with pytest.raises(ResponseError, match=r"got -1e-09 at 0"):
        responses.Custom(lambda x: np.where(x == 0, -1e-9, x)).r(t)
    with pytest.raises(ResponseError, match="not NaN"):
        responses.Custom(lambda x: x * np.nan).r(t)
    assert responses.Custom(lambda x: [1, 2, 3]).r(t).dtype == np.float64
    assert responses.response_from(None) is None
    assert responses.response_from(tiny) is tiny
    assert responses.response_from(np.exp).function is np.exp


def test_zero_is_a_share_of_the_largest_eigenvalue():
    inverse = responses.inverse_where_positive
    values = np.array([0.5e-9, 2e-9, 4.0])
    assert_allclose(inverse(values, np.array([0.0, 1.0, 10.0])), [0, 5e8, 0.25])
    assert_allclose(inverse(np.array([0.0, 1.0]), np.zeros(2)), [0, 1])


@pytest.mark.parametrize("scale", [0.0, 0.25])
def test_weak_responses_are_allowed(scale):
    response = responses.RegularizedLaplacian(scale)
    response.check(2.0)
    assert_allclose(response.r(LAMBDA), 1 + scale * LAMBDA)
