"""The first trust test: equal to scikit-learn without a graph, to LAPACK with one."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, KernelPCA
from sklearn.metrics.pairwise import rbf_kernel

from graphfold import GraphKernelPCA, NeighborGraph, responses
from tests.helpers import assert_same_up_to_sign, dense_laplacian, largest_angle


def overlap(x, y):
    """A histogram intersection: a kernel that scikit-learn has no name for."""
    return np.minimum(x, y).sum()


CASES = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.02},
    "rbf default width": {"kernel": "rbf", "gamma": None},
    "poly": {"kernel": "poly", "gamma": None, "degree": 2, "coef0": 0.5},
    "cosine": {"kernel": "cosine"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 1e-3, "coef0": 0.1},
    "callable": {"kernel": overlap},
}


def digits(n):
    return load_digits().data[:n] / 16


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_without_a_graph_it_is_kernel_pca(case):
    X, new = digits(150)[:120], digits(150)[120:]
    theirs = KernelPCA(5, **case).fit(X)
    ours = GraphKernelPCA(5, **case).fit(X)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    reference = theirs.fit_transform(X)
    size = np.abs(reference).max()
    # with the same sign rule: no sign is forgiven here
    assert_allclose(ours.embedding_, reference, atol=1e-10 * size, rtol=0)
    assert_allclose(
        ours.transform(new), theirs.transform(new), atol=1e-10 * size, rtol=0
    )
    assert_allclose(ours.transform(X), ours.embedding_, atol=1e-10 * size, rtol=0)


@pytest.mark.parametrize("n", [1200])
@pytest.mark.parametrize("case", ["linear", "rbf", "poly", "cosine"])
def test_the_iterative_solver_gives_the_same(case, n):
    X = digits(n)
    theirs = KernelPCA(4, eigen_solver="dense", **CASES[case]).fit(X)
    ours = GraphKernelPCA(4, **CASES[case]).fit(X)
    assert ours.solver_ == "krylov"
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    size = np.abs(ours.embedding_).max()
    assert_allclose(ours.embedding_, theirs.transform(X), atol=1e-7 * size, rtol=0)


@pytest.mark.parametrize(
    "case", ["linear", "rbf", "rbf default width", "poly", "cosine"]
)
def test_inverse_transform_is_kernel_pcas(case):
    X, new = digits(150)[:120], digits(150)[120:]
    settings = {"fit_inverse_transform": True, "alpha": 0.3, **CASES[case]}
    theirs = KernelPCA(4, **settings).fit(X)
    ours = GraphKernelPCA(4, **settings).fit(X)
    Z = theirs.transform(new)
    assert_allclose(ours.inverse_transform(Z), theirs.inverse_transform(Z), atol=1e-9)


def test_inverse_transform_of_sparse_rows_stays_sparse_inside():
    X = digits(100)
    X[X < 0.5] = 0.0
    dense = GraphKernelPCA(4, gamma=0.05, fit_inverse_transform=True).fit(X)
    sparse = GraphKernelPCA(4, gamma=0.05, fit_inverse_transform=True)
    sparse.fit(sp.csr_array(X))
    Z = dense.embedding_[:9]
    assert_allclose(sparse.inverse_transform(Z), dense.inverse_transform(Z), atol=1e-9)
    assert sp.issparse(sparse._preimage.X)


def test_inverse_transform_with_the_median_rule_reconstructs():
    X = digits(200)
    model = GraphKernelPCA(30, fit_inverse_transform=True, alpha=1e-3).fit(X)
    error = np.square(model.inverse_transform(model.embedding_) - X).sum()
    assert error < 0.2 * np.square(X - X.mean(axis=0)).sum()


def test_precomputed_is_kernel_pcas():
    X, new = digits(150)[:120], digits(150)[120:]
    K, K_new = rbf_kernel(X, gamma=0.02), rbf_kernel(new, X, gamma=0.02)
    theirs = KernelPCA(4, kernel="precomputed").fit(K)
    for container in (np.asarray, sp.csr_array):
        ours = GraphKernelPCA(4, kernel="precomputed").fit(container(K))
        assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
        assert_allclose(
            ours.transform(container(K_new)), theirs.transform(K_new), atol=1e-10
        )


def test_linear_kernel_is_pca():
    X = digits(300)
    pca = PCA(6).fit(X)
    ours = GraphKernelPCA(6, kernel="linear").fit(X)
    assert_same_up_to_sign(ours.embedding_, pca.transform(X), rtol=1e-9)
    assert_same_up_to_sign(ours.components_.T, pca.components_.T, rtol=1e-9)
    assert_allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_)
    assert_allclose((X - X.mean(0)) @ ours.components_.T, ours.embedding_, atol=1e-9)


def test_strength_zero_ignores_the_graph():
    X = digits(100)
    with_graph = GraphKernelPCA(3, graph=NeighborGraph(5), graph_strength=0).fit(X)
    without = GraphKernelPCA(3).fit(X)
    assert_allclose(with_graph.embedding_, without.embedding_, atol=1e-12)


RESPONSES = {
    "minus L": None,
    "diffusion": responses.Diffusion(2.0),
    "walk": responses.RandomWalk(2.0, 2),
    "regularised": responses.RegularizedLaplacian(3.0),
    "bandlimited": responses.Bandlimited(9, 4.0),
    "low pass": responses.LowPass(0.4),
    "callable": lambda t: 1 + t**2,
    "diffusion penalty": responses.Diffusion(2.0, form="penalty"),
    "walk penalty": responses.RandomWalk(2.5, 2, form="penalty"),
    "regularised penalty": responses.RegularizedLaplacian(3.0, form="penalty"),
    "bandlimited penalty": responses.Bandlimited(9, 4.0, form="penalty"),
}


def term_by_definition(response, values):
    """r_dagger or -r by the paper's table, independent of the library's classes."""
    s2, a, p, b = 2.0, 2.0, 2, 4.0
    low = np.arange(len(values)) < 9
    return {
        "minus L": -values,
        "diffusion": np.exp(-s2 * values / 2),
        "walk": (a - values) ** p,
        "regularised": 1 / (1 + 3 * values),
        "bandlimited": np.where(low, b, 1 / b),
        "low pass": (values <= 0.4).astype(float),
        "callable": 1 / (1 + values**2),
        "diffusion penalty": -np.exp(s2 * values / 2),
        "walk penalty": -((2.5 - values) ** -2),
        "regularised penalty": -(1 + 3 * values),
        "bandlimited penalty": -np.where(low, 1 / b, b),
    }[response]


# a p-step walk needs eigenvalues of at most 2: test_terms shows it with a larger a
LETTERS = [(name, "normalized") for name in RESPONSES] + [
    (name, "combinatorial") for name in RESPONSES if "walk" not in name
]


@pytest.mark.parametrize(("name", "laplacian"), LETTERS)
def test_the_papers_letter_equals_lapack(name, laplacian):
    X, gamma, d = digits(140), 0.7, 5
    graph = NeighborGraph(6).build(X)
    L = dense_laplacian(graph.to_scipy().toarray(), laplacian)
    values, vectors = np.linalg.eigh(L)
    R = (vectors * term_by_definition(name, values)) @ vectors.T
    M = rbf_kernel(X, gamma=0.1) + gamma * R
    reference_values, reference = np.linalg.eigh(M)

    model = GraphKernelPCA(
        d,
        gamma=0.1,
        graph=graph,
        response=RESPONSES[name],
        laplacian=laplacian,
        graph_strength=gamma,
        normalize=False,
        center=False,
        scaling="orthonormal",
    ).fit(X)

    size = np.abs(reference_values).max()
    assert_allclose(
        model.eigenvalues_, reference_values[::-1][:d], atol=1e-8 * size, rtol=0
    )
    assert largest_angle(model.embedding_, reference[:, -d:]) < 1e-8
    assert_allclose(model.embedding_.T @ model.embedding_, np.eye(d), atol=1e-8)


@pytest.mark.parametrize("solver", ["lapack", "krylov", "chebyshev", "lobpcg"])
def test_solvers_agree_through_the_estimator(solver):
    X = digits(200)
    settings = {"graph": NeighborGraph(6), "graph_strength": 2.0}
    reference = GraphKernelPCA(4, solver="lapack", **settings).fit(X)
    found = GraphKernelPCA(4, solver=solver, **settings).fit(X)
    assert found.solver_ == solver
    assert found.converged_
    assert_allclose(found.embedding_, reference.embedding_, atol=1e-6)


def test_tiled_and_stored_kernels_agree():
    X = digits(1100)
    settings = {"graph": NeighborGraph(6), "solver": "krylov"}
    stored = GraphKernelPCA(3, **settings).fit(X)
    budget = 1_100 * 1_100 * 8  # less than the kernel matrix and its basis
    tiled = GraphKernelPCA(3, max_memory=budget, **settings)
    assert tiled.plan(X).storage == "tiled"
    tiled.fit(X)
    assert_allclose(tiled.embedding_, stored.embedding_, atol=1e-6)
