"""Many small regressions in one batch, each against a reference solved by itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso
from sklearn.manifold._locally_linear import barycenter_weights

from graphfold.kernels import coefficients as module
from graphfold.kernels.coefficients import Rule, coefficients, lasso, ridge


def nearest(X, k):
    """Neighbours of each row by brute force."""
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1)[:, :k]


def regressors(X, members, order):
    """The columns of one row's regression, powers of a neighbour side by side."""
    return np.column_stack([X[j] ** p for j in members for p in range(1, order + 1)])


def objective(A, x, w, weight, penalty):
    size = np.abs(w).sum() if penalty == "l1" else w @ w
    return np.sum((x - A @ w) ** 2) + weight * size


def data(seed, n=25, D=30, shift=1.0):
    return np.random.default_rng(seed).standard_normal((n, D)) * 0.5 + shift


@pytest.mark.parametrize("D", [2, 5, 40])
@pytest.mark.parametrize("reg", [1e-3, 1e-8, 0.5])
def test_lle_weights_are_scikit_learns(D, reg):
    X = data(0, D=D)
    members = nearest(X, 6)
    w, _ = coefficients(X, X, members, Rule(weight=reg))
    reference = barycenter_weights(X, X, members, reg=reg)
    # at 1e-8 with D < k the Gram matrix is all but singular: its rounding shows
    assert_allclose(w[:, :, 0], reference, atol=1e-9 if reg > 1e-6 else 1e-5)
    assert_allclose(w.sum(axis=1), 1.0, atol=1e-12)


def test_lle_weights_by_a_loop_of_lagrangians():
    X = data(1, D=9)
    members = nearest(X, 5)
    w, _ = coefficients(X, X, members, Rule(weight=1e-3))
    for i in range(len(X)):
        C = X[members[i]] - X[i]
        G = C @ C.T
        G += 1e-3 * np.trace(G) * np.eye(5)
        bordered = np.block([[2 * G, np.ones((5, 1))], [np.ones((1, 5)), 0.0]])
        answer = np.linalg.solve(bordered, np.append(np.zeros(5), 1.0))[:5]
        assert_allclose(w[i, :, 0], answer, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-170, 1e-30, 1.0, 1e30, 1e150])
def test_lle_weights_have_no_unit(scale):
    X = data(2, D=8)
    members = nearest(X, 4)
    usual, _ = coefficients(X, X, members, Rule())
    scaled, _ = coefficients(X * scale, X * scale, members, Rule())
    assert_allclose(scaled, usual, atol=1e-9)


def test_neighbours_that_equal_the_row_get_equal_weights():
    X = np.ones((4, 3))
    w, _ = coefficients(X[:1], X, np.array([[1, 2, 3]]), Rule())
    assert_allclose(w[0, :, 0], 1 / 3)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("weight", [1e-6, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("D", [4, 40])
def test_ridge_is_dense_least_squares_row_by_row(order, weight, D):
    X = data(3, D=D)
    members = nearest(X, 5)
    rule = Rule(order, False, "ridge", weight)
    w, residual = coefficients(X, X, members, rule)
    assert residual < 1e-9
    for i in range(len(X)):
        A = regressors(X, members[i], order)
        stacked = np.vstack([A, np.sqrt(weight) * np.eye(A.shape[1])])
        right = np.append(X[i], np.zeros(A.shape[1]))
        answer = np.linalg.lstsq(stacked, right)[0]
        assert_allclose(w[i].ravel(), answer, atol=1e-6)


def test_ridge_without_a_penalty_is_the_shortest_solution():
    """D < k P: many coefficients fit, lstsq takes the shortest."""
    X = data(4, D=4)
    members = nearest(X, 5)
    w, _ = coefficients(X, X, members, Rule(2, False, "ridge", 0.0))
    for i in range(len(X)):
        A = regressors(X, members[i], 2)
        assert_allclose(w[i].ravel(), np.linalg.lstsq(A, X[i])[0], atol=1e-6)


def lasso_reference(A, x, weight):
    """scikit-learn's Lasso: |x - Aw|^2 / (2 D) + alpha |w|_1; alpha = weight/(2D)."""
    model = Lasso(
        alpha=weight / (2 * len(x)), fit_intercept=False, tol=1e-14, max_iter=200_000
    )
    return model.fit(A, x).coef_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("weight", [0.01, 0.5, 5.0])
def test_l1_is_scikit_learns_lasso_row_by_row(order, weight):
    X = data(5, n=15, D=40)
    members = nearest(X, 4)
    w, residual = coefficients(X, X, members, Rule(order, False, "l1", weight))
    assert residual < 1e-9
    for i in range(len(X)):
        A = regressors(X, members[i], order)
        reference = lasso_reference(A, X[i], weight)
        assert objective(A, X[i], w[i].ravel(), weight, "l1") <= (
            objective(A, X[i], reference, weight, "l1") + 1e-10
        )
        assert_allclose(w[i].ravel(), reference, atol=1e-6)


def kkt_gap(A, x, w, weight):
    """How far w is from optimal, by the subgradient written out."""
    gradient = 2 * A.T @ (A @ w - x)
    gaps = [
        max(abs(g) - weight, 0.0) if c == 0 else abs(g + weight * np.sign(c))
        for g, c in zip(gradient, w, strict=True)
    ]
    return max(gaps) / np.abs(2 * A.T @ x).max()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("weight", [1e-3, 0.1, 2.0])
def test_l1_with_fewer_equations_than_coefficients(order, weight):
    """Not unique, but as good as any: the conditions hold, no objective is lower."""
    X = data(6, n=15, D=3)
    members = nearest(X, 5)
    w, residual = coefficients(X, X, members, Rule(order, False, "l1", weight))
    assert residual < 1e-9
    for i in range(len(X)):
        A, own = regressors(X, members[i], order), w[i].ravel()
        assert kkt_gap(A, X[i], own, weight) < 1e-8
        reference = lasso_reference(A, X[i], weight)
        theirs = objective(A, X[i], reference, weight, "l1")
        assert objective(A, X[i], own, weight, "l1") <= theirs + 1e-9


@given(
    st.integers(0, 100_000),
    st.integers(1, 6),
    st.integers(1, 8),
    st.sampled_from([0.0, 1e-8, 1e-3, 0.3, 3.0]),
    st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_l1_is_optimal_for_any_regression(seed, D, k, weight, repeated):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((4, k, D)) * 10.0 ** rng.integers(-2, 3, (4, 1, 1))
    if repeated:
        A[:, -1] = A[:, 0]  # two neighbours that are copies of each other
    x = rng.standard_normal((4, D))
    G, c = A @ A.transpose(0, 2, 1), np.einsum("ikd,id->ik", A, x)
    w, residual = lasso(G, c, weight / 2)
    assert np.isfinite(w).all()
    assert residual < 1e-6
    for i in range(4):
        if np.abs(c[i]).max() > 0:
            assert kkt_gap(A[i].T, x[i], w[i], weight) < 2e-6


def test_a_penalty_above_every_product_leaves_nothing():
    X = data(7)
    members = nearest(X, 4)
    heavy = 4 * max(np.abs(X[m] @ x).max() for m, x in zip(members, X, strict=True))
    w, residual = coefficients(X, X, members, Rule(1, False, "l1", heavy))
    assert (w == 0).all()
    assert residual == 0


def test_one_neighbour_with_l1_is_a_soft_threshold():
    X = data(8, D=6)
    members = nearest(X, 1)
    w, _ = coefficients(X, X, members, Rule(1, False, "l1", 1.0))
    for i, (j,) in enumerate(members):
        product = X[j] @ X[i]
        expected = np.sign(product) * max(abs(product) - 0.5, 0) / (X[j] @ X[j])
        assert w[i, 0, 0] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("penalty", ["l1", "ridge"])
def test_the_residual_really_measures(penalty, monkeypatch):
    """An answer that is a little off has a residual that says how much."""
    X = data(9)
    members = nearest(X, 4)
    rule = Rule(2, False, penalty, 0.1)
    assert coefficients(X, X, members, rule)[1] < 1e-9
    solve = np.linalg.solve
    off = []
    for error in (1e-6, 1e-4, 1e-2):
        monkeypatch.setattr(
            module.np.linalg, "solve", lambda H, b, e=error: solve(H, b) * (1 + e)
        )
        monkeypatch.setattr(module, "MOST_STEPS", 1)
        off.append(coefficients(X, X, members, rule)[1])
    assert off[0] > 1e-8
    assert off[0] < off[1] < off[2]


def test_the_scale_divides_the_rows_first():
    X = data(10)
    members = nearest(X, 4)
    one, _ = coefficients(X, X, members, Rule(2, False, "l1", 0.3, scale=2.5))
    two, _ = coefficients(X / 2.5, X / 2.5, members, Rule(2, False, "l1", 0.3))
    assert_allclose(one, two, atol=1e-12)


RULES = {
    "lle": Rule(),
    "lle without reg": Rule(weight=0.0),
    "ridge": Rule(2, False, "ridge", 0.1),
    "ridge without weight": Rule(2, False, "ridge", 0.0),
    "l1": Rule(2, False, "l1", 0.1),
    "l1 without weight": Rule(2, False, "l1", 0.0),
    "l1 of order 3": Rule(3, False, "l1", 1e-3),
}
HARD = {
    "no variance at all": np.ones((8, 3)),
    "all zero": np.zeros((8, 3)),
    "constant features": np.column_stack([np.arange(8.0), np.ones(8), np.zeros(8)]),
    "one feature": np.arange(8.0)[:, None],
    "copies": np.repeat(np.random.default_rng(0).standard_normal((4, 3)), 2, axis=0),
    "tiny": 1e-70 * np.random.default_rng(1).standard_normal((8, 3)),
    "a line": np.outer(np.arange(8.0), [1.0, 2.0, -1.0]),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("X", HARD.values(), ids=HARD)
def test_degenerate_neighbourhoods_have_finite_weights(rule, X):
    members = np.array([[j for j in range(8) if j != i][:5] for i in range(8)])
    w, residual = coefficients(X, X, members, rule)
    assert np.isfinite(w).all()
    assert residual < 1e-6
    if rule.constrained:
        assert_allclose(w.sum(axis=1), 1.0)


def planted(n=40, D=12, seed=11):
    """Row 2i+1 is a x^2 + b x of row 2i, entry by entry, with its own a and b."""
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((n, D))
    a, b = rng.uniform(0.5, 2.0, n), rng.uniform(-1.0, 1.0, n)
    made = a[:, None] * base**2 + b[:, None] * base
    return np.vstack([base, made]), a, b


@pytest.mark.parametrize(
    "rule", [Rule(2, False, "ridge", 0.0), Rule(2, False, "l1", 1e-9)]
)
def test_a_planted_polynomial_is_recovered(rule):
    X, a, b = planted()
    rng = np.random.default_rng(12)
    # the right neighbour among three wrong ones; 8 coefficients, 12 equations
    members = np.array(
        [
            rng.permutation([i, (i + 1) % 40, (i + 2) % 40, (i + 3) % 40])
            for i in range(40)
        ]
    )
    w, _ = coefficients(X[40:], X, members, rule)
    for i in range(40):
        for place, j in enumerate(members[i]):
            expected = (b[i], a[i]) if j == i else (0.0, 0.0)
            assert_allclose(w[i, place], expected, atol=1e-6)


def test_order_one_cannot_see_a_planted_polynomial():
    X, _, _ = planted()
    members = np.array(
        [[i, (i + 1) % 40, (i + 2) % 40, (i + 3) % 40] for i in range(40)]
    )
    for order, penalty in ((1, "ridge"), (2, "ridge")):
        w, _ = coefficients(X[40:], X, members, Rule(order, False, penalty, 0.0))
        left_over = [
            np.linalg.norm(x - regressors(X, m, order) @ v.ravel()) / np.linalg.norm(x)
            for x, m, v in zip(X[40:], members, w, strict=True)
        ]
        if order == 1:
            assert np.median(left_over) > 0.3
        else:
            assert max(left_over) < 1e-8
    w, _ = coefficients(X[40:], X, members, Rule())  # LLE's own weights
    errors = [
        np.linalg.norm(x - v[:, 0] @ X[m]) / np.linalg.norm(x)
        for x, m, v in zip(X[40:], members, w, strict=True)
    ]
    assert np.median(errors) > 0.3


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_rows_are_solved_together(rule, monkeypatch):
    """As many calls for 600 rows as for 300: no loop over samples."""
    calls = []
    for name in ("solve", "pinv"):
        real = getattr(np.linalg, name)

        def counted(*args, real=real, **how):
            calls.append(args[0].shape)
            return real(*args, **how)

        monkeypatch.setattr(module.np.linalg, name, counted)
    X = data(13, n=600, D=20)
    members = nearest(X, 5)
    counts = []
    for n in (300, 600):
        calls.clear()
        # the same rows twice over: the l1 way takes as many steps as its longest row
        rows = np.arange(n) % 300
        coefficients(X[rows], X, members[rows], rule)
        counts.append(len(calls))
    assert counts[0] == counts[1] < 300


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_batches_do_not_change_a_bit_that_matters(rule, monkeypatch):
    X = data(14, n=50, D=20)
    members = nearest(X, 5)
    whole, worst = coefficients(X, X, members, rule)
    monkeypatch.setattr(module, "_BATCH_NUMBERS", 7 * 5 * rule.order * 20)
    pieces, worst_of_pieces = coefficients(X, X, members, rule)
    assert_allclose(pieces, whole, atol=1e-9)
    assert worst_of_pieces == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_sparse_and_single_precision_rows(rule):
    X = np.round(data(15, D=20), 2) * (data(16, D=20) > 1)
    members = nearest(X, 5)
    dense, _ = coefficients(X, X, members, rule)
    table = sp.csr_array(X)
    sparse, _ = coefficients(table, table, members, rule)
    assert_allclose(sparse, dense, atol=1e-10)
    single = X.astype(np.float32)
    narrow, residual = coefficients(single, single, members, rule)
    assert narrow.dtype == np.float64  # small systems are solved in double precision
    assert residual < 1e-6


def test_input_is_left_alone():
    X = data(17)
    members = nearest(X, 4)
    before = X.copy(), members.copy()
    for rule in RULES.values():
        coefficients(X, X, members, rule)
    assert (before[0] == X).all()
    assert (members == before[1]).all()
    G, c = np.eye(3)[None] * 2.0, np.ones((1, 3))
    ridge(G, c, 1.0)
    lasso(G, c, 0.1)
    assert (np.eye(3) * 2.0 == G).all()
    assert (c == 1).all()
