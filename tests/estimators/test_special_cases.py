"""GraphLaplacianPCA and LaplacianEigenmaps: the formulas, written out densely."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import graphfold
from graphfold import (
    CorrelationGraph,
    Graph,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    NeighborGraph,
)
from graphfold.errors import GraphError, GraphfoldError
from tests.helpers import assert_same_up_to_sign, dense_laplacian, largest_angle

N = 70
KINDS = ["combinatorial", "normalized"]


@pytest.fixture
def rows(rng):
    return rng.standard_normal((N, 6)) * [4, 3, 2, 1, 1, 1] + 1.0


@pytest.fixture
def graph(rng):
    """Not that of the rows, so that both sides have a say."""
    return NeighborGraph(5, weight="heat").build(rng.standard_normal((N, 2)))


def laplacian_of(graph, kind):
    return dense_laplacian(graph.to_scipy().toarray(), kind)


# -- graph-Laplacian PCA --------------------------------------------------------------


def jiang(X, L, beta, d, *, center=True):
    """The bottom of (1 - b)(I - K / max K) + b L / max L."""
    X = X - X.mean(axis=0) if center else X
    K = X @ X.T
    n = len(K)
    G = (1 - beta) * (np.eye(n) - K / np.linalg.eigvalsh(K)[-1])
    G += beta * L / np.linalg.eigvalsh(L)[-1]
    if center:
        H = np.eye(n) - 1 / n
        G = H @ G @ H + 1e3 * np.ones((n, n)) / n
    values, vectors = np.linalg.eigh(G)
    return values[:d], vectors[:, :d]


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("center", [True, False])
def test_graph_laplacian_pca_is_its_formula(rows, graph, beta, kind, center):
    model = GraphLaplacianPCA(
        3, beta=beta, graph=graph, laplacian=kind, center=center
    ).fit(rows)
    _, V = jiang(rows, laplacian_of(graph, kind), beta, 3, center=center)
    assert largest_angle(model.embedding_, V) < 1e-5
    assert_allclose(model.embedding_.T @ model.embedding_, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("beta", [0.2, 0.7])
def test_eigenvalues_are_those_of_the_formula(rows, graph, beta):
    model = GraphLaplacianPCA(3, beta=beta, graph=graph).fit(rows)
    values, _ = jiang(rows, laplacian_of(graph, "combinatorial"), beta, 3)
    centred = rows - rows.mean(axis=0)
    top = np.linalg.eigvalsh(centred @ centred.T)[-1]
    # M = K - b/(1-b) max K / max L * L, so its values are max K (1 - value / (1 - b))
    assert_allclose(model.eigenvalues_, top * (1 - values / (1 - beta)), rtol=1e-6)


def test_beta_zero_is_pca(rows, graph):
    model = GraphLaplacianPCA(3, beta=0.0, graph=graph, scaling="eigenvalue").fit(rows)
    pca = PCA(3).fit(rows)
    assert_same_up_to_sign(model.embedding_, pca.transform(rows), rtol=1e-8)
    assert_same_up_to_sign(model.components_.T, pca.components_.T, rtol=1e-8)
    new = rows[:9] + 0.3
    assert_same_up_to_sign(model.transform(new), pca.transform(new), rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_beta_one_is_the_graph_alone(rows, graph, kind):
    model = GraphLaplacianPCA(3, beta=1.0, graph=graph, laplacian=kind).fit(rows)
    alone = GraphKernelPCA(
        3, kernel=None, graph=graph, laplacian=kind, scaling="orthonormal"
    ).fit(rows)
    assert largest_angle(model.embedding_, alone.embedding_) < 1e-6
    if kind == "combinatorial":
        maps = LaplacianEigenmaps(3, graph=graph, laplacian=kind).fit(rows)
        assert largest_angle(model.embedding_, maps.embedding_) < 1e-6


def test_it_is_graph_kernel_pca_at_a_strength(rows, graph):
    """beta / (1 - beta), in largest eigenvalues on both sides."""
    L = laplacian_of(graph, "combinatorial")
    degrees = np.diag(L).max()
    strength = 0.3 / 0.7 * degrees / np.linalg.eigvalsh(L)[-1]
    ours = GraphLaplacianPCA(2, beta=0.3, graph=graph).fit(rows)
    general = GraphKernelPCA(
        2,
        kernel="linear",
        graph=graph,
        laplacian="combinatorial",
        graph_strength=strength,
        scaling="orthonormal",
    ).fit(rows)
    assert_same_up_to_sign(ours.embedding_, general.embedding_, rtol=1e-5)
    new = rows[:5] + 0.1
    edges = sp.csr_array(np.eye(N)[:5])
    assert_same_up_to_sign(
        ours.transform(new, edges=edges), general.transform(new, edges=edges), rtol=1e-5
    )


def test_a_large_problem_by_products_is_the_small_one():
    X = load_digits().data[:1050]
    graph = NeighborGraph(10).build(X)
    model = GraphLaplacianPCA(3, beta=0.4, graph=graph).fit(X)
    assert model.solver_ != "lapack"
    A = graph.to_scipy().toarray()
    _, V = jiang(X, np.diag(A.sum(axis=1)) - A, 0.4, 3)
    assert largest_angle(model.embedding_, V) < 1e-4


def test_a_graph_of_the_rows_is_made_where_none_is_given(rows):
    made = GraphLaplacianPCA(2, n_neighbors=4).fit(rows)
    given = GraphLaplacianPCA(2, graph=NeighborGraph(4)).fit(rows)
    assert_same_up_to_sign(made.embedding_, given.embedding_, rtol=1e-10)
    assert (made.transform(rows[:5]) == made.embedding_[:5]).all()


@pytest.mark.parametrize("beta", [-0.1, 1.1, float("nan"), "auto"])
def test_beta_is_between_zero_and_one(rows, graph, beta):
    with pytest.raises(GraphfoldError, match="beta"):
        GraphLaplacianPCA(2, beta=beta, graph=graph).fit(rows)


def test_one_graph_only(rows, graph):
    for kind in (GraphLaplacianPCA, LaplacianEigenmaps):
        with pytest.raises(GraphError, match="one graph; got 2"):
            kind(2, graph=[graph, graph]).fit(rows)


def test_the_way_back_to_the_rows(rows, graph):
    model = GraphLaplacianPCA(
        5, beta=0.05, graph=graph, fit_inverse_transform=True, alpha=1e-3
    ).fit(rows)
    back = model.inverse_transform(model.embedding_)
    assert back.shape == rows.shape
    assert np.corrcoef(back.ravel(), rows.ravel())[0, 1] > 0.9


# -- Laplacian eigenmaps --------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_edges", [3, 8])
def test_eigenmaps_solve_their_equation(rows, kind, n_edges):
    model = LaplacianEigenmaps(4, n_neighbors=n_edges, laplacian=kind).fit(rows)
    A = model.graph_.to_scipy().toarray()
    D = np.diag(A.sum(axis=1)) if kind == "normalized" else np.eye(N)
    L = np.diag(A.sum(axis=1)) - A
    Y = model.embedding_
    assert_allclose(L @ Y, D @ Y * model.eigenvalues_, atol=1e-9)
    assert_allclose(Y.T @ D @ Y, np.eye(4), atol=1e-9)
    # orthogonal to the constant vector, and nothing below was passed over
    assert np.abs(np.ones(N) @ D @ Y).max() < 1e-8
    scale = np.diag(1 / np.sqrt(np.diag(D)))
    values = np.linalg.eigvalsh(scale @ L @ scale)
    assert_allclose(model.eigenvalues_, values[1:5], atol=1e-10)
    assert (np.diff(model.eigenvalues_) >= -1e-12).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_graph_by_products_is_the_small_one(kind):
    X = load_digits().data[:1100]
    model = LaplacianEigenmaps(5, laplacian=kind).fit(X)
    assert model.converged_
    A = model.graph_.to_scipy().toarray()
    degrees = A.sum(axis=1)
    L = np.diag(degrees) - A
    if kind == "normalized":
        L = L / np.sqrt(np.outer(degrees, degrees))
    values, vectors = np.linalg.eigh(L)
    assert_allclose(model.eigenvalues_, values[1:6], atol=1e-9)
    if kind == "normalized":
        vectors = vectors / np.sqrt(degrees)[:, None]
    assert largest_angle(model.embedding_, vectors[:, 1:6]) < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_row_is_placed_by_its_edges(rows, kind):
    """(L y)(x) = lambda y(x), read for the new row."""
    recipe = NeighborGraph(5, joined=True)
    model = LaplacianEigenmaps(3, graph=recipe, laplacian=kind).fit(rows)
    new = rows[:12] + 0.2
    a = recipe.edges_to(new, rows).toarray()
    degree = a.sum(axis=1)[:, None]
    if kind == "combinatorial":
        expected = a @ model.embedding_ / (degree - model.eigenvalues_)
    else:
        # a'y / deg(x) over (1 - lambda): D-weighted mean of the neighbours
        expected = a @ model.embedding_ / degree / (1 - model.eigenvalues_)
    assert_allclose(model.transform(new), expected, atol=1e-9)
    assert_allclose(model.transform(new[3:4]), expected[3:4], atol=1e-9)
    assert (model.transform(rows[:7]) == model.embedding_[:7]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_gives_every_row_of_the_fit_back(rows, kind):
    graph = NeighborGraph(5, joined=True).build(rows)
    model = LaplacianEigenmaps(3, graph=graph, laplacian=kind).fit(rows)
    placed = model.transform(rows, edges=graph.to_scipy())
    assert_allclose(placed, model.embedding_, atol=1e-9)


def test_rows_without_edges_are_refused(rows, graph):
    model = LaplacianEigenmaps(2, graph=graph).fit(rows)
    with pytest.raises(GraphfoldError, match=r"must have edges.*: 0, 1"):
        model.transform(rows[:2] + 0.1)
    edges = sp.csr_array(np.eye(N)[:2] * [[1.0], [0.0]])
    with pytest.raises(GraphfoldError, match="edges"):
        model.transform(rows[:2] + 0.1, edges=edges)


def test_a_graph_that_falls_into_parts_is_taken_as_it_is(rows):
    """Given by the caller: zeros for all parts but one, finite, no NaN."""
    pair = np.kron(np.eye(2), np.ones((N // 2, N // 2))) - np.eye(N)
    model = LaplacianEigenmaps(3, graph=Graph(pair)).fit(rows)
    assert model.n_graph_components_ == 2
    assert np.isfinite(model.embedding_).all()
    assert model.eigenvalues_[0] == pytest.approx(0.0, abs=1e-10)
    assert model.eigenvalues_[1] > 0.1


def test_nodes_without_edges_stay_finite(rows):
    A = np.zeros((N, N))
    ring = np.arange(50)
    A[ring, (ring + 1) % 50] = 1.0
    for kind in KINDS:
        model = LaplacianEigenmaps(2, graph=Graph(A + A.T), laplacian=kind).fit(rows)
        assert np.isfinite(model.embedding_).all()


def test_any_recipe_will_do(rows):
    for recipe in (CorrelationGraph(8), NeighborGraph(8, metric="manhattan")):
        model = LaplacianEigenmaps(2, graph=recipe).fit(rows)
        assert np.isfinite(model.transform(rows[:4] + 0.1)).all()


@pytest.mark.parametrize(
    "model",
    [
        LaplacianEigenmaps(2),
        LaplacianEigenmaps(2, laplacian="combinatorial"),
        GraphLaplacianPCA(2),
        GraphLaplacianPCA(2, beta=1.0),
    ],
    ids=repr,
)
def test_saved_repeated_and_single(model, rows, tmp_path):
    model = clone(model).fit(rows)
    assert (clone(model).fit(rows).embedding_ == model.embedding_).all()
    model.save(tmp_path / "m.npz")
    again = graphfold.load(tmp_path / "m.npz")
    new = rows[:5] + 0.1
    assert (again.transform(new) == model.transform(new)).all()
    single = clone(model).fit(rows.astype(np.float32))
    assert single.embedding_.dtype == np.float32
    assert single.transform(new.astype(np.float32)).dtype == np.float32
    assert largest_angle(single.embedding_.astype(float), model.embedding_) < 1e-2


def test_rows_meet_nodes_by_label(rows, rng):
    names = np.array([f"n{i}" for i in range(N)])
    matrix = NeighborGraph(6, joined=True).build(rows).to_scipy()
    graph = Graph(matrix, nodes=names)
    table = pd.DataFrame(rows, index=names)
    order = rng.permutation(N)
    for kind in (LaplacianEigenmaps, GraphLaplacianPCA):
        one = kind(2, graph=graph).fit(table)
        two = kind(2, graph=graph).fit(table.iloc[order])
        assert_same_up_to_sign(two.embedding_, one.embedding_[order], rtol=1e-6)


def test_a_failed_fit_leaves_the_model_as_it_was(rows):
    for model in (LaplacianEigenmaps(2), GraphLaplacianPCA(2)):
        model.fit(rows)
        before = dict(vars(model))
        bad = rows.copy()
        bad[3] = np.nan
        with pytest.raises(GraphfoldError, match="finite"):
            model.fit(bad)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[key] is before[key] for key in before)
