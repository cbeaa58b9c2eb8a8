"""What landmarks say of new rows; where all rows are landmarks, the kernel itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphfold import kernels
from graphfold.kernels.landmarks import landmark_features
from graphfold.model import landmark_share as module
from graphfold.model.extend import data_share
from graphfold.model.landmark_share import (
    landmark_share,
    loadings_in_span,
    loadings_of,
)
from graphfold.model.problem import Problem
from graphfold.model.span import features_of, span_of
from graphfold.model.terms import Term, kernel_term
from graphfold.operators import LowRank

D = 3
KERNELS = (kernels.Gaussian(0.3), kernels.Linear(), kernels.Polynomial(2, 0.5, 1.0))


@pytest.fixture
def rows(rng):
    return rng.standard_normal((25, 4)) + 0.3


@pytest.fixture
def new(rng, rows):
    return rng.standard_normal((6, 4)) + 0.3


def by_landmarks(used, theta, X, landmarks, center, roots=None):
    features = [landmark_features(k, X[landmarks], center=center) for k in used]
    parts = [feature.of(X, precise=True) for feature in features]
    terms = tuple(
        Term(str(i), LowRank(part), factor=0.5 if i else 1.0)
        for i, part in enumerate(parts)
    )
    return Problem(terms, theta, center=center, roots=roots), features


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
def test_where_all_rows_are_landmarks_it_is_the_kernel_itself(
    kernel, center, rows, new
):
    problem, features = by_landmarks([kernel], (1.0,), rows, np.arange(25), center)
    exact = Problem((kernel_term(kernel, rows),), (1.0,), center=center)
    V = exact.solve(D, solver="lapack").vectors
    loadings = loadings_of(problem, features_of(problem), V)
    found = landmark_share(problem, features, loadings, 25.0, np.float64)
    expected = data_share(exact, kernel, rows, V, by_factor=False)
    size = np.abs(expected.gram).max()
    for one, other in zip(found.of(new), expected.of(new), strict=True):
        assert_allclose(one, other, atol=2e-5 * size)
    means = expected.of(new)[1]
    assert_allclose(
        found.squared_norms(new, found.of(new)[1]),
        expected.squared_norms(new, means),
        atol=2e-5 * size,
    )
    assert_allclose(found.gram, expected.gram, atol=1e-5 * size)
    assert found.trace == pytest.approx(expected.trace, rel=1e-5)


def test_means_of_several_kernels_add_up(rows, new):
    used, theta = KERNELS[:2], (0.7, 2.0)
    problem, features = by_landmarks(used, theta, rows, np.arange(25), True)
    both = kernels.Combination(used, (0.7, 1.0))  # theta * factor
    exact = Problem((kernel_term(both, rows),), (1.0,))
    V = exact.solve(D, solver="lapack").vectors
    loadings = loadings_of(problem, features_of(problem), V)
    found = landmark_share(problem, features, loadings, 25.0, np.float64)
    expected = data_share(exact, both, rows, V, by_factor=False)
    size = np.abs(expected.gram).max()
    for one, other in zip(found.of(new), expected.of(new), strict=True):
        assert_allclose(one, other, atol=2e-5 * size)
    assert found.grand_mean == pytest.approx(expected.grand_mean, abs=2e-5 * size)


@pytest.mark.parametrize("center", [True, False])
def test_some_landmarks_are_products_of_features(center, rows, new):
    used, theta = KERNELS, (0.7, 2.0, 0.0)
    places = np.arange(0, 25, 3)
    problem, features = by_landmarks(used, theta, rows, places, center)
    V = problem.solve(D, solver="lapack").vectors
    parts = features_of(problem)
    loadings = loadings_of(problem, parts, V)
    share = landmark_share(problem, features, loadings, 25.0, np.float64)
    assert [part.weight for part in share.expansions] == [0.7, 1.0]  # theta * factor
    V = V - V.mean(axis=0) if center else V
    products, gram, trace = np.zeros((6, D)), np.zeros((D, D)), 0.0
    for weight, feature, part in zip((0.7, 1.0), features, parts, strict=False):
        Phi = part.astype(np.float64)
        phi = feature.of(new, precise=True).astype(np.float64)
        mean = Phi.mean(axis=0) if center else np.zeros(Phi.shape[1])
        products += weight * (phi - mean) @ (Phi.T @ V)
        gram += weight * (V.T @ Phi) @ (Phi.T @ V)
        trace += weight * np.square(Phi - mean).sum()
    size = np.abs(gram).max()
    assert_allclose(share.of(new)[0], products, atol=1e-5 * size)
    assert_allclose(share.gram, gram, atol=1e-5 * size)
    assert share.trace == pytest.approx(trace, rel=1e-5)
    single = landmark_share(problem, features, loadings, 25.0, np.float32)
    assert single.offset.dtype == single.expansions[0].W.dtype == np.float32


@pytest.mark.parametrize("center", [True, False])
def test_in_the_span_no_row_is_needed(center, rows):
    problem, _ = by_landmarks(KERNELS[:2], (0.7, 2.0), rows, np.arange(8), center)
    span = span_of(problem, {}, wide=False)
    small = span.project(problem).solve(D, solver="lapack").vectors
    found = loadings_in_span(span, small, 2)
    expected = loadings_of(problem, features_of(problem), span.vectors(small))
    for (one, squares), (other, others) in zip(found, expected, strict=True):
        assert_allclose(one, other, atol=1e-4 * np.abs(other).max())
        assert squares == pytest.approx(others, rel=1e-5)
    assert len(loadings_in_span(span, small, 1)) == 1


def test_rows_that_count_unalike_have_a_mean_of_their_own(rng, rows):
    roots = np.sqrt(rng.integers(1, 5, 25).astype(float))
    problem, _ = by_landmarks(
        [KERNELS[0]], (1.0,), rows, np.arange(25), True, roots=roots
    )
    V = rng.standard_normal((25, 2))
    (part,) = features_of(problem)
    ((found, squares),) = loadings_of(problem, [part], V)
    q = roots / np.linalg.norm(roots)
    about = V - np.outer(q, q @ V)
    expected = part.T @ np.column_stack([about, roots / (roots @ roots)])
    assert_allclose(found, expected, atol=1e-5)
    assert squares == pytest.approx(np.square(part, dtype=np.float64).sum())


def test_sums_over_blocks_are_those_over_all_rows(rng, monkeypatch):
    part = rng.standard_normal((23, 3)).astype(np.float32)
    W = rng.standard_normal((23, 2)).astype(np.float32)
    monkeypatch.setattr(module, "BLOCK", 5)
    total, squares = module._loadings(part, W)
    assert_allclose(total, part.T.astype(float) @ W, atol=1e-5)
    assert squares == pytest.approx(np.square(part, dtype=float).sum())
    assert total.dtype == np.float64
