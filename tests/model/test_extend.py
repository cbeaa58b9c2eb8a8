"""The extension to new rows, against its formula written out row by row."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import Graph, NeighborGraph, kernels, responses
from graphfold.graphs import laplacian
from graphfold.model import extend
from graphfold.model.extend import (
    DataShare,
    Expansion,
    Extension,
    data_share,
    graph_shares,
    inverse,
    shares_of_total,
)
from graphfold.model.problem import Problem
from graphfold.model.terms import graph_term, kernel_term, kernel_terms

RBF = kernels.Gaussian(0.2)
D = 3


@pytest.fixture
def rows(rng):
    return rng.standard_normal((30, 4)) + 0.5


@pytest.fixture
def new(rng, rows):
    return rng.standard_normal((7, 4)) + 0.5


def solved(X, kernel, *, center=True, graphs=(), beta=(), gamma=0.0):
    K = kernel_term(kernel, X)
    problem = Problem((K,), (1.0,), graphs, beta, gamma=gamma, center=center)
    return problem, problem.solve(D, solver="lapack")


def centred_by_loops(kernel, X, new, center):
    """k(x, x_j), the mean of k(x, .) and |phi(x)|^2 about the mean of the fit."""
    K, rows = kernel.block(X, X), kernel.block(new, X)
    own = np.array([kernel.block(x[None], x[None])[0, 0] for x in new])
    if not center:
        return K, rows, np.zeros(len(new)), own
    n, grand = len(X), K.mean()
    H = np.eye(n) - 1 / n
    values = np.array(
        [[rows[i, j] - rows[i].mean() - K[:, j].mean() + grand for j in range(n)]
         for i in range(len(new))]
    )  # fmt: skip
    norms = own - 2 * rows.mean(axis=1) + grand
    return H @ K @ H, values, rows.mean(axis=1) - grand, norms


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(
    ("kernel", "by_factor"),
    [(RBF, False), (kernels.Linear(), False), (kernels.Linear(), True)],
    ids=["gaussian", "linear", "factor"],
)
def test_what_the_data_say_is_the_centred_kernel(kernel, by_factor, center, rows, new):
    problem, pairs = solved(rows, kernel, center=center)
    share = data_share(problem, kernel, rows, pairs.vectors, by_factor=by_factor)
    K, values, means, norms = centred_by_loops(kernel, rows, new, center)
    products, found_means = share.of(new)
    assert_allclose(products, values @ pairs.vectors, atol=1e-10)
    assert_allclose(found_means, means, atol=1e-10)
    assert_allclose(share.squared_norms(new, found_means), norms, atol=1e-9)
    assert_allclose(share.gram, pairs.vectors.T @ K @ pairs.vectors, atol=1e-9)
    assert_allclose(share.energies, np.diagonal(share.gram))
    assert share.trace == pytest.approx(np.trace(K))
    (expansion,) = share.expansions
    assert (expansion.loadings is not None) == by_factor
    assert expansion.weight == 1


def test_rows_are_placed_in_blocks_that_do_not_show(rows, new, monkeypatch):
    problem, pairs = solved(rows, RBF)
    share = data_share(problem, RBF, rows, pairs.vectors, by_factor=False)
    whole = share.of(new)[0]
    for numbers in (1, 60, 100):  # a row, two and three rows at a time
        monkeypatch.setattr(extend, "_BLOCK_NUMBERS", numbers)
        assert_allclose(share.of(new)[0], whole, atol=1e-13)
    twice = Expansion(RBF, 2.0, rows, pairs.vectors).of(new)
    assert_allclose(twice, 2 * RBF.block(new, rows) @ pairs.vectors, atol=1e-12)


def test_nothing_is_said_where_there_is_no_kernel(rows):
    problem, pairs = solved(rows, RBF)
    assert data_share(problem, None, rows, pairs.vectors, by_factor=False) is None
    L = laplacian(NeighborGraph(3).build(rows))
    R = graph_term(L, None, n_components=D, rng=np.random.default_rng(0))
    alone = Problem((), (), (R,), (1.0,), gamma=1.0)
    V = alone.solve(D, solver="lapack").vectors
    assert data_share(alone, RBF, rows, V, by_factor=False) is None
    rule = Extension(V, np.ones(D), None)
    assert_array_equal(rule.place(rows), np.zeros((30, D)))
    assert_array_equal(rule.sound_energies(), np.zeros(D))
    assert_array_equal(rule.column_scales("eigenvalue"), np.ones(D))


def test_kernels_by_their_inverse_and_others_add_up(rows, new, rng):
    local = kernels.LocallyLinear(n_neighbors=6).bind(rows, rng)
    both = kernels.Combination([RBF, local, kernels.Linear()], [0.3, 2.0, 0.0])
    parts = dict(zip("abc", both.kernels, strict=True))
    terms = kernel_terms(parts, rows, n_components=D, rng=rng)
    problem = Problem(terms, tuple(both.weights), center=True)
    V = problem.solve(D, solver="lapack").vectors
    share = data_share(problem, both, rows, V, by_factor=False)
    assert [part.weight for part in share.expansions] == [0.3, 2.0]  # none of weight 0
    V = V - V.mean(axis=0)
    W = np.hstack([V, np.full((30, 1), 1 / 30)])
    K = 0.3 * RBF.gram(rows) + 2.0 * terms[1].base.to_dense()
    raw = 0.3 * RBF.block(new, rows) @ W
    raw += 2.0 * local.weights_over_fit(new) @ terms[1].base.to_dense() @ W
    expected = raw - (K @ W).mean(axis=0)
    products, means = share.of(new)
    assert_allclose(products, expected[:, :-1], atol=1e-9)
    assert_allclose(means, expected[:, -1], atol=1e-9)


A = np.array(
    [
        [0, 2, 0, 0, 1, 0],
        [2, 0, 1, 0, 0, 0],
        [0, 1, 0, 3, 0, 0],
        [0, 0, 3, 0, 1, 0],
        [1, 0, 0, 1, 0, 2],
        [0, 0, 0, 0, 2, 0],
    ],
    dtype=float,
)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("response", [None, responses.Diffusion(2.0)])
def test_a_new_row_is_placed_by_the_formula(kind, center, response, rng):
    X, new = rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    edges = np.array([[0, 1.5, 0, 0, 2, 0], [0] * 6, [1, 1, 1, 0, 0, 0], [0] * 6])
    edges[3, 5] = 0.5
    L = laplacian(Graph(A), kind)
    R = graph_term(L, response, n_components=2, rng=rng)
    gamma, beta = 0.7, 1.3
    problem, pairs = solved(
        X, RBF, center=center, graphs=(R,), beta=(beta,), gamma=gamma
    )
    V, rule = pairs.vectors, extension(problem, pairs, X, L)
    dense = R.operator.to_dense()
    _, values, _, _ = centred_by_loops(RBF, X, new, center)
    energies = rule.data.energies
    V0 = V - V.mean(axis=0) if center else V
    RV = dense @ V0
    trivial = RV.mean(axis=0) if center else 0.0
    weight = gamma * beta
    expected = np.empty((4, D))
    for i, a in enumerate(edges):
        above, below = values[i] @ V, energies.copy()
        degree = a.sum()
        if degree and response is not None:
            above = above + weight * (a @ RV / degree - trivial)
            below = below + weight * np.diagonal(V0.T @ RV)
        elif degree:
            scaled, own = a, degree
            if kind == "normalized":
                scaled, own = a / np.sqrt(degree * A.sum(axis=1)), 1.0
            above = above + weight * (scaled @ V - trivial)
            below = below + weight * (np.diagonal(V0.T @ RV) + own)
        expected[i] = above / below
    found = rule.place(new, {"graph": sp.csr_array(edges)})
    assert_allclose(found, expected, atol=1e-9)
    assert_allclose(rule.place(new)[1], found[1])  # a row without edges
    for nothing in (None, {}, {"graph": None}):
        assert_allclose(rule.place(new, nothing), rule.place(new))


def extension(problem, pairs, X, L, **more):
    data = data_share(problem, RBF, X, pairs.vectors, by_factor=False)
    shares = graph_shares(problem, {"graph": L}, pairs.vectors)
    return Extension(pairs.vectors, pairs.values, data, shares, **more)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_rows_of_the_fit_are_placed_where_they_are(kind, rng):
    X = rng.standard_normal((6, 3))
    L = laplacian(Graph(A), kind)
    R = graph_term(L, None, n_components=2, rng=rng)
    problem, pairs = solved(X, RBF, graphs=(R,), beta=(1.0,), gamma=0.4)
    rule = extension(problem, pairs, X, L)
    placed = rule.place(X, {"graph": sp.csr_array(A)})
    assert_allclose(placed, pairs.vectors, atol=1e-9)
    (share,) = rule.graphs
    assert (share.name, share.exact, share.weight) == ("graph", True, 0.4)
    assert share.normalized == (kind == "normalized")


def test_signed_edges_are_scaled_by_their_sizes(rng):
    V = rng.standard_normal((3, 2))
    share = extend.GraphShare(
        "g", 2.0, True, np.array([4.0, 1.0, 9.0]), V, np.zeros(2), True, np.zeros(2)
    )
    edges = np.array([[3.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    pull, own = share.of(sp.csr_array(edges), V)
    scaled = [3 / np.sqrt(4 * 4), -1 / np.sqrt(4 * 1), 0]
    assert_allclose(pull, [2 * (scaled @ V), [0, 0]], atol=1e-12)
    assert_allclose(own, [2 * (3 - 1) / 4, 0])


def test_graphs_of_no_weight_have_no_say(rows):
    L = laplacian(NeighborGraph(3).build(rows))
    R = graph_term(L, None, n_components=D, rng=np.random.default_rng(0))
    other = graph_term(
        L, None, n_components=D, rng=np.random.default_rng(0), name="other"
    )
    problem, pairs = solved(rows, RBF, graphs=(R, other), beta=(0.0, 2.0), gamma=3.0)
    shares = graph_shares(problem, {"graph": L, "other": L}, pairs.vectors)
    assert [share.name for share in shares] == ["other"]
    V = pairs.vectors - pairs.vectors.mean(axis=0)
    assert_allclose(shares[0].RV, R.operator.to_dense() @ V, atol=1e-10)
    assert_allclose(shares[0].energies, 6 * np.diagonal(V.T @ shares[0].RV))
    assert_allclose(shares[0].trivial, shares[0].RV.mean(axis=0))
    assert graph_shares(problem.with_gamma(0.0), {}, pairs.vectors) == []


def rule_of(energies, V=None, dtype=np.float64, graphs=(), n_fit=None):
    d = len(energies)
    V = np.ones((16, d)) if V is None else V
    data = DataShare([], np.zeros(d + 1), np.diag(energies), 0.0, 1.0)
    return Extension(V.astype(dtype), np.ones(d), data, graphs, n_fit)


def test_columns_are_scaled_as_asked():
    rule = rule_of(np.array([9.0, 4.0, -1.0]))
    assert_allclose(rule.column_scales("eigenvalue"), [3, 2, 0])
    assert_array_equal(rule.column_scales("orthonormal"), [1, 1, 1])
    assert_allclose(rule.column_scales("unit"), [4, 4, 4])  # sqrt of 16 rows
    assert rule_of(np.ones(2), dtype=np.float32).column_scales("unit").dtype == "f4"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_fit", [None, 10_000])
def test_energies_below_the_rounding_of_a_sum_are_none(dtype, n_fit):
    noise = 100 * np.finfo(dtype).eps * np.sqrt(n_fit or 16) * 50
    energies = np.array([50.0, 1.01 * noise, 0.99 * noise, -1.01 * noise, 0.0])
    rule = rule_of(energies, dtype=dtype, n_fit=n_fit)
    expected = [50.0, 1.01 * noise, 0.0, -1.01 * noise, 0.0]
    assert_array_equal(rule.sound_energies(), expected)


def test_loadings_of_the_linear_kernel_are_unit_directions(rows):
    problem, pairs = solved(rows, kernels.Linear())
    data = data_share(problem, kernels.Linear(), rows, pairs.vectors, by_factor=False)
    rule = Extension(pairs.vectors, pairs.values, data)
    X, W = rule.rows_of_expansion()
    assert X is rows
    assert_allclose(W, pairs.vectors - pairs.vectors.mean(axis=0), atol=1e-12)
    found = rule.loadings(X, W)
    right = np.linalg.svd(rows - rows.mean(axis=0))[2][:D]
    assert_allclose(np.abs(np.sum(found * right, axis=1)), np.ones(D), atol=1e-9)
    assert_allclose(np.linalg.norm(found, axis=1), np.ones(D), atol=1e-9)
    nothing = rule_of(np.array([1.0, 0.0])).loadings(np.ones((16, 3)), np.ones((16, 2)))
    assert_allclose(nothing, [[16, 16, 16], [0, 0, 0]])


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_the_score_is_the_share_of_the_variance_in_the_components(rows, new, unit):
    kernel, rows, new = kernels.Linear(), unit * rows, unit * new
    problem, pairs = solved(rows, kernel)
    data = data_share(problem, kernel, rows, pairs.vectors, by_factor=False)
    rule = Extension(pairs.vectors, pairs.values, data)
    about = new - rows.mean(axis=0)
    axes = np.linalg.svd(rows - rows.mean(axis=0))[2][:D]
    explained = np.square(about @ axes.T).sum() / np.square(about).sum()
    assert rule.reconstruction_score(new) == pytest.approx(explained)
    flat = SimpleNamespace(of=lambda X: (np.zeros((2, D)), np.zeros(2)), gram=np.eye(D))
    flat.squared_norms = lambda X, means: np.zeros(2)
    assert Extension(pairs.vectors, pairs.values, flat).reconstruction_score(new) == 0.0


def test_a_vanishing_denominator_leaves_a_row_to_its_features(rows, new):
    problem, pairs = solved(rows, RBF)
    data = data_share(problem, RBF, rows, pairs.vectors, by_factor=False)
    size = float(np.abs(pairs.values).max())
    energies = np.array([0.0, 1e-9 * size, 3e-8 * size]) - data.energies
    share = extend.GraphShare(
        "g", 1.0, False, np.ones(30), pairs.vectors, energies, False, np.zeros(D)
    )
    rule = Extension(pairs.vectors, pairs.values, data, [share])
    edges = sp.csr_array(np.ones((7, 30)))
    placed, features = rule.place(new, {"g": edges}), rule.place(new)
    assert_allclose(placed[:, :2], features[:, :2])
    assert np.abs(placed[:, 2]).min() > 1e4 * np.abs(features[:, 2]).max()


def test_shares_are_lengths_of_pulls_over_their_sum(rng):
    V = rng.standard_normal((4, 2))
    how = {"normalized": False, "degrees": np.ones(4), "energies": np.zeros(2)}
    graphs = [
        extend.GraphShare(name, weight, RV=weight * V, exact=True,
                          trivial=np.zeros(2), **how)
        for name, weight in (("a", 1.0), ("b", 3.0))
    ]  # fmt: skip
    rule = rule_of(np.ones(2), V, graphs=graphs)
    edges = {"a": np.eye(3, 4), "b": np.eye(3, 4)}
    edges["b"][1] = edges["a"][2] = edges["b"][2] = 0
    found = rule.shares_of_rows({k: sp.csr_array(v) for k, v in edges.items()})
    assert_allclose(found, [[0.25, 0.75], [1, 0], [0, 0]])
    # of the rows of the fit weight (RV): 1 * 1 and 3 * 3
    assert_allclose(rule.shares_of_fit(), [[0.1, 0.9]] * 4)


def test_sums_of_nothing_stay():
    lengths = np.array([[1.0, 3.0], [0.0, 0.0], [0.0, 2.0]])
    assert_allclose(shares_of_total(lengths), [[0.25, 0.75], [0, 0], [0, 1]])
    assert_allclose(inverse(np.array([0.0, 4.0, -2.0])), [0, 0.25, -0.5])


def test_a_trace_that_could_only_be_estimated_is_none(rows, rng):
    local = kernels.LocallyLinear(n_neighbors=6).bind(rows, rng)
    term = kernel_term(local, rows, n_components=2, rng=rng)
    assert extend.trace_of(term.base) == pytest.approx(np.trace(term.base.to_dense()))
    nothing = extend.PseudoInverse(np.ones((3, 1)), np.ones(1), term.base)
    assert np.isnan(extend.trace_of(nothing))


def test_all_components_hold_the_constant_which_the_data_ignore(rows, new):
    problem, _ = solved(rows, RBF)
    V = problem.solve(30, solver="lapack").vectors
    share = data_share(problem, RBF, rows, V, by_factor=False)
    K, values, _, _ = centred_by_loops(RBF, rows, new, True)
    assert_allclose(share.of(new)[0], values @ V, atol=1e-9)
    assert_allclose(share.gram, V.T @ K @ V, atol=1e-9)


def test_each_row_hears_the_graphs_that_know_it(rows, new):
    problem, pairs = solved(rows, RBF)
    data = data_share(problem, RBF, rows, pairs.vectors, by_factor=False)
    how = (False, np.ones(30), pairs.vectors, np.zeros(D), True, np.zeros(D))
    first, second = (extend.GraphShare(name, 2.0, *how) for name in "ab")
    edges = {name: np.zeros((7, 30)) for name in "ab"}
    edges["a"][0, 3] = edges["b"][1, 4] = 1.0
    both = Extension(pairs.vectors, pairs.values, data, [first, second])
    placed = both.place(new, {k: sp.csr_array(v) for k, v in edges.items()})
    for i, (name, graph) in enumerate((("a", first), ("b", second))):
        alone = Extension(pairs.vectors, pairs.values, data, [graph])
        expected = alone.place(new, {name: sp.csr_array(edges[name])})
        assert_allclose(placed[i], expected[i])
        assert np.abs(placed[i] - both.place(new)[i]).max() > 1e-3
    assert_allclose(placed[2:], both.place(new)[2:])


def test_single_precision_stays_single(rows, new):
    single, fresh = rows.astype(np.float32), new.astype(np.float32)
    kernel = kernels.Linear()
    problem, pairs = solved(single, kernel)
    assert pairs.vectors.dtype == np.float32
    for by_factor in (True, False):
        data = data_share(problem, kernel, single, pairs.vectors, by_factor=by_factor)
        assert data.gram.dtype == np.float64
        assert data.offset.dtype == np.float32
        assert data.expansions[0].of(fresh).dtype == np.float32
        graph = extend.GraphShare("g", 1.0, False, np.ones(30), pairs.vectors,
                                  np.ones(D), True, np.zeros(D))  # fmt: skip
        rule = Extension(pairs.vectors, pairs.values, data, [graph])
        edges = {"g": sp.csr_array(np.ones((7, 30)))}
        assert rule.place(fresh).dtype == np.float32
        assert rule.place(fresh, edges).dtype == np.float32
        assert rule.loadings(rows, pairs.vectors).dtype == np.float32


def test_norms_of_several_kernels_are_those_of_their_sum(rows, new):
    both = {"wide": kernels.Gaussian(0.05), "linear": kernels.Linear()}
    weights = (0.8, 0.6)
    problem = Problem(kernel_terms(both, rows), weights)
    V = problem.solve(D, solver="lapack").vectors
    total = kernels.Combination(list(both.values()), weights)
    data = data_share(problem, total, rows, V, by_factor=False)
    parts = [centred_by_loops(kernel, rows, new, True) for kernel in both.values()]
    expected = sum(w * norms for w, (*_, norms) in zip(weights, parts, strict=True))
    means = data.of(new)[1]
    assert_allclose(data.squared_norms(new, means), expected, rtol=1e-9)
