"""Every estimator by the paper's letter, beside the paper's formulas in plain NumPy."""

from functools import cache, partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphfold import (
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    SemiSupervisedGraphKernelPCA,
    responses,
)
from tests.reference import paper

N, D, d, GAMMA = 40, 12, 3, 0.7
SIGMA2, A_WALK = 1.3, 30.0
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D)) + np.repeat([[-0.6], [0.6]], N // 2, axis=0)
Y = X.T
#: parameters of every estimator that make it the paper's own problem
LETTER = {
    "normalize": False,
    "laplacian": "combinatorial",
    "scaling": "orthonormal",
    "tol": 1e-12,
}
PLAIN = LETTER | {"center": False}


def random_graph(seed, p=0.15):
    A = np.triu(np.random.default_rng(seed).random((N, N)) < p, 1).astype(float)
    A += np.diag(np.ones(N - 1), 1)  # connected
    return np.minimum(A + A.T, 1.0)


GRAPHS = [random_graph(seed) for seed in (1, 2, 3)]
LAPLACIANS = [paper.laplacian(A) for A in GRAPHS]

#: Table I: the kernel in the library's words, and the paper's matrix
KERNELS = {
    "linear": ({"kernel": "linear"}, paper.linear(Y)),
    "gaussian": (
        {"kernel": "rbf", "gamma": 1 / (2 * 2.5**2)},
        paper.gaussian(Y, 2.5),
    ),
    "polynomial": (
        {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0},
        paper.polynomial(Y, 2, 1.0),
    ),
    "cubic": (
        {"kernel": "poly", "gamma": 1.0, "degree": 3, "coef0": -0.5},
        paper.polynomial(Y, 3, -0.5),
    ),
}

#: Table II: the response in the library's words, and the paper's function
RESPONSES = {
    "diffusion": (
        responses.Diffusion(0.3),
        partial(paper.diffusion, sigma2=0.3),
    ),
    "walk 1": (
        responses.RandomWalk(A_WALK, 1),
        partial(paper.random_walk, a=A_WALK, p=1),
    ),
    "walk 3": (
        responses.RandomWalk(A_WALK, 3),
        partial(paper.random_walk, a=A_WALK, p=3),
    ),
    "walk 0": (
        responses.RandomWalk(A_WALK, 0),
        partial(paper.random_walk, a=A_WALK, p=0),
    ),
    "walk 1.5": (
        responses.RandomWalk(A_WALK, 1.5),
        partial(paper.random_walk, a=A_WALK, p=1.5),
    ),
    "regularized": (
        responses.RegularizedLaplacian(SIGMA2),
        partial(paper.regularized_laplacian, sigma2=SIGMA2),
    ),
    "band": (
        responses.Bandlimited(6, 3.0),
        partial(paper.bandlimited, beta=3.0, B=6),
    ),
    "band below 1": (
        responses.Bandlimited(6, 0.4),
        partial(paper.bandlimited, beta=0.4, B=6),
    ),
}
FORMS = ("kernel", "penalty")


def assert_same(model, eigenvalues, Psi, *, atol=1e-8):
    """Eigenvalues, and the projector onto the eigenvectors, relative to their size."""
    size = np.abs(eigenvalues).max()
    assert_allclose(model.eigenvalues_, eigenvalues, atol=atol * size, rtol=0)
    V = model.embedding_
    assert_allclose(V @ V.T, Psi.T @ Psi, atol=atol)
    assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-9)


def graph_term(L, r, form):
    return paper.graph_kernel(L, r) if form == "kernel" else -paper.function_of(L, r)


# -- Algorithm 1 ----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_algorithm_1_with_the_laplacian(kernel):
    settings, K = KERNELS[kernel]
    how = settings | PLAIN | {"graph_strength": GAMMA}
    model = GraphKernelPCA(d, graph=GRAPHS[0], **how).fit(X)
    assert_same(model, *paper.gkpca(K, LAPLACIANS[0], GAMMA, d))
    assert_same(
        GraphKernelPCA(d, **settings, **PLAIN).fit(X), *paper.leading(K, d)
    )  # without a graph it is kernel PCA


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_algorithm_1_with_every_response(kernel, response, form):
    settings, K = KERNELS[kernel]
    given, r = RESPONSES[response]
    how = settings | PLAIN | {"graph_strength": GAMMA}
    how |= {"response": given.with_params(form=form)}
    model = GraphKernelPCA(d, graph=GRAPHS[0], **how).fit(X)
    make = paper.gkpca_of_graph_kernel if form == "kernel" else paper.gkpca
    assert_same(model, *make(K, LAPLACIANS[0], GAMMA, d, r))


# -- several graphs, several kernels: Algorithm 2 -------------------------------------


@pytest.mark.parametrize("form", [None, *FORMS])
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("kernel", ["linear", "gaussian", "polynomial"])
def test_several_graphs_with_an_equal_say(kernel, response, form):
    settings, K = KERNELS[kernel]
    given, r = RESPONSES[response]
    terms = [-L for L in LAPLACIANS]
    how = settings | PLAIN | {"graph_strength": GAMMA, "weights": "equal"}
    if form is not None:
        how |= {"response": given.with_params(form=form)}
        terms = [graph_term(L, r, form) for L in LAPLACIANS]
    model = GraphKernelPCA(d, graph=GRAPHS, **how).fit(X)
    assert_allclose(model.graph_weights_, 1.0)
    assert_same(model, *paper.leading(K + GAMMA * sum(terms), d))


def assert_same_alternation(model, found, atol=1e-6):
    theta, beta, eigenvalues, Psi, objectives = found
    if len(theta) > 1:
        assert_allclose(model.kernel_weights_, theta, atol=atol)
    if len(beta) > 1:
        assert_allclose(model.graph_weights_, beta, atol=atol)
    assert_same(model, eigenvalues, Psi, atol=atol)
    assert model.objective_trace_[-1] == pytest.approx(objectives[-1], rel=1e-9)
    assert (np.diff(objectives) >= -1e-9 * abs(objectives[-1])).all()


@pytest.mark.parametrize("response", [None, "diffusion", "regularized", "band"])
@pytest.mark.parametrize("n_graphs", [0, 1, 3])
def test_algorithm_2_learns_the_weights_of_the_kernels(n_graphs, response):
    names = ["linear", "gaussian", "polynomial"]
    matrices = [KERNELS[name][1] for name in names]
    terms, how = [-L for L in LAPLACIANS[:n_graphs]], {}
    if response is not None:
        given, r = RESPONSES[response]
        terms = [paper.graph_kernel(L, r) for L in LAPLACIANS[:n_graphs]]
        how = {"response": given}
    graph = GRAPHS[:n_graphs] if n_graphs else None
    model = GraphKernelPCA(
        d, kernel="precomputed", graph=graph, graph_strength=40.0, **how, **PLAIN
    ).fit(matrices)
    learn_beta = n_graphs > 1
    found = paper.gmkpca(matrices, terms, 40.0, d, learn_beta=learn_beta)
    assert_same_alternation(model, found)


@pytest.mark.parametrize("response", [None, "diffusion", "walk 3", "regularized"])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_weights_of_graphs_are_learned_beside_one_kernel(kernel, response):
    settings, K = KERNELS[kernel]
    terms, how = [-L for L in LAPLACIANS], {}
    if response is not None:
        given, r = RESPONSES[response]
        terms, how = [paper.graph_kernel(L, r) for L in LAPLACIANS], {"response": given}
    how |= settings | PLAIN | {"graph_strength": GAMMA}
    model = GraphKernelPCA(d, graph=GRAPHS, **how).fit(X)
    assert_same_alternation(model, paper.gmkpca([K], terms, GAMMA, d, learn_beta=True))


# -- modes ----------------------------------------------------------------------------

MODES = {
    "real": X[:, :4],
    "binary": (X[:, 4:] > RNG.standard_normal((N, D - 4))),
    "other": X[:, 6:9] ** 3,
}


@pytest.mark.parametrize("weights", ["equal", "learn"])
@pytest.mark.parametrize("response", RESPONSES)
def test_modes_are_a_sum_of_graph_kernels(response, weights):
    given, r = RESPONSES[response]
    model = MultiModalGraphEmbedding(
        d, n_neighbors=6, response=given, weights=weights, **PLAIN
    ).fit(MODES)
    found = [paper.laplacian(g.to_scipy().toarray()) for g in model.graph_.values()]
    if response in ("walk 0", "band below 1"):
        # the top eigenvalue is that of a space of more than d dimensions
        expected = paper.multimodal(found, d, r)[0]
        expected *= 1.0 if weights == "equal" else 3**-0.5
        assert_allclose(model.eigenvalues_, expected)
        return
    if weights == "equal":
        assert_same(model, *paper.multimodal(found, d, r))
        return
    terms = [paper.graph_kernel(L, r) for L in found]
    result = paper.gmkpca([], terms, 1.0, d, learn_beta=True)
    assert_same_alternation(model, result, atol=1e-5)


@pytest.mark.parametrize("response", ["diffusion", "regularized", "band"])
def test_graphs_without_a_kernel_are_modes(response):
    given, r = RESPONSES[response]
    how = PLAIN | {"response": given, "weights": "equal"}
    model = GraphKernelPCA(d, kernel=None, graph=GRAPHS, **how).fit(X)
    assert_same(model, *paper.multimodal(LAPLACIANS, d, r))


# -- links ----------------------------------------------------------------------------

LABELS = np.full(N, -1)
LABELS[[0, 3, 5]], LABELS[[20, 25]], LABELS[30] = 0, 1, 2
#: pairs that share rows, a triangle but for one side, and pairs given twice
LINKS = {
    "must": ([(1, 2), (2, 3)], []),
    "cannot": ([], [(1, 25), (1, 26), (25, 2)]),
    "both": ([(1, 2), (2, 4), (7, 8), (8, 7)], [(1, 25), (25, 30), (4, 1)]),
    "labels": ([], []),
    "labels and pairs": ([(0, 1), (0, 3), (20, 21)], [(1, 5), (21, 22), (0, 30)]),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("links", LINKS)
def test_links_are_exactly_the_given_pairs(kernel, links):
    settings, K = KERNELS[kernel]
    must, cannot = LINKS[links]
    y = LABELS if "labels" in links else None
    model = SemiSupervisedGraphKernelPCA(
        d,
        must_link=must,
        cannot_link=cannot,
        must_link_strength=0.8,
        cannot_link_strength=0.3,
        closure=False,
        **settings,
        **PLAIN,
    ).fit(X, y)
    if y is not None:
        same, different = paper.pairs_of_labels(LABELS)
        must, cannot = must + same, cannot + different
    assert_same(model, *paper.semi_supervised(K, must, cannot, 0.8, 0.3, d))


# -- LLE and Algorithm 3 --------------------------------------------------------------

K_NEAR = 4


@cache
def local_kernel(order):
    weights = partial(paper.lne_weights, P=order) if order else paper.lle_weights
    return paper.local_kernel(weights(Y, K_NEAR))


def lne(order, **settings):
    """LNE of the printed penalty, |Y - Y~W~|^2 + |W~|_1, coefficients summed."""
    return LocalNonlinearEmbedding(
        d,
        n_neighbors=K_NEAR,
        order=order,
        constrained=False,
        penalty="l1",
        alpha=1.0,
        relative=False,
        **LETTER | settings,
    )


@pytest.mark.parametrize("order", [1, 2, 3])
def test_algorithm_3(order):
    assert_same(lne(order).fit(X), *paper.leading(local_kernel(order), d), atol=1e-7)


@pytest.mark.parametrize("response", [None, *RESPONSES])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_algorithm_3_with_a_graph(order, response):
    K, how = local_kernel(order), {"graph": GRAPHS[0], "graph_strength": GAMMA}
    expected = paper.gkpca(K, LAPLACIANS[0], GAMMA, d)
    if response is not None:
        given, r = RESPONSES[response]
        how["response"] = given
        expected = paper.gkpca_of_graph_kernel(K, LAPLACIANS[0], GAMMA, d, r)
    assert_same(lne(order, **how).fit(X), *expected, atol=1e-7)


@pytest.mark.parametrize("weights", ["equal", "learn"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_algorithm_3_with_several_graphs(order, weights):
    K, how = local_kernel(order), {"graph": GRAPHS, "graph_strength": GAMMA}
    model = lne(order, weights=weights, **how).fit(X)
    terms = [-L for L in LAPLACIANS]
    if weights == "equal":
        assert_same(model, *paper.leading(K + GAMMA * sum(terms), d), atol=1e-7)
        return
    assert_same_alternation(model, paper.gmkpca([K], terms, GAMMA, d, learn_beta=True))


def test_locally_linear_embedding():
    model = LocalNonlinearEmbedding(
        d, n_neighbors=K_NEAR, order=1, reg=0.0, **LETTER
    ).fit(X)
    assert_same(model, *paper.leading(local_kernel(0), d), atol=1e-7)


# -- methods that the paper calls special cases ---------------------------------------


def test_laplacian_eigenmaps():
    model = LaplacianEigenmaps(d, graph=GRAPHS[0], laplacian="combinatorial").fit(X)
    values, V = np.linalg.eigh(LAPLACIANS[0])
    assert_allclose(model.eigenvalues_, values[1 : d + 1], atol=1e-8)
    V = V[:, 1 : d + 1]  # the constant vector says nothing
    assert_allclose(model.eigenvectors_ @ model.eigenvectors_.T, V @ V.T, atol=1e-8)


def test_graph_laplacian_pca():
    beta, K, L = 0.4, paper.linear(Y), LAPLACIANS[0]
    model = GraphLaplacianPCA(d, beta=beta, graph=GRAPHS[0], center=False, tol=1e-12)
    tops = np.linalg.eigvalsh(K)[-1], np.linalg.eigvalsh(L)[-1]
    weight = beta / (1 - beta) * tops[0] / tops[1]
    assert_same(model.fit(X), *paper.gkpca(K, L, weight, d), atol=1e-5)
