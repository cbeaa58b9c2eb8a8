"""Several kernels and several graphs in one estimator, against dense matrices."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import graphfold
from graphfold import Graph, GraphKernelPCA, NeighborGraph, kernels, responses
from graphfold.errors import (
    GraphError,
    GraphfoldError,
    IndefiniteKernelWarning,
    KernelError,
    LabelError,
)
from tests.helpers import dense_laplacian, largest_angle
from tests.model.test_alternate import brute_force


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def top(M, d):
    """Top eigenpairs of a centred matrix, the constant vector left out."""
    n = len(M)
    values, vectors = np.linalg.eigh(M - 1e4 * np.ones((n, n)) / n)
    return values[::-1][:d], vectors[:, ::-1][:, :d]


KERNELS = {
    "near": kernels.Gaussian(0.5),
    "far": kernels.Gaussian(0.05),
    "lin": "linear",
}


def grams(X):
    bound = [kernels.Gaussian(0.5), kernels.Gaussian(0.05), kernels.Linear()]
    return [kernel.gram(X) for kernel in bound]


class Dressed:
    """A problem in the words of the brute force, from dense matrices."""

    def __init__(self, K, R, gamma, *, center):
        self.n, self.gamma, self.center = len(K[0]), gamma, center
        self.kernels, self.graphs = map(self._terms, (K, R))

    @staticmethod
    def _terms(matrices):
        return [
            type("T", (), {"operator": type("O", (), {"to_dense": lambda s, A=A: A})()})
            for A in matrices
        ]


@pytest.mark.parametrize("normalize", [True, False])
def test_learned_weights_are_those_of_brute_force(points, normalize):
    graph = NeighborGraph(5)
    model = GraphKernelPCA(
        3, kernel=KERNELS, graph=graph, normalize=normalize, graph_strength=2, tol=1e-12
    ).fit(points)
    K = grams(points)
    if normalize:
        K = [A * 60 / np.trace(centred(A)) for A in K]
    L = dense_laplacian(graph.build(points).to_scipy().toarray(), "normalized")
    gamma = 2.0
    if normalize:
        gamma *= np.linalg.eigvalsh(centred(sum(K)) / np.sqrt(3))[-1]
    theta, _, V, objective = brute_force(Dressed(K, [-L], gamma, center=True), 3)
    assert model.kernel_names_ == ["near", "far", "lin"]
    assert_allclose(model.kernel_weights_, theta, atol=1e-6)
    assert largest_angle(model.eigenvectors_, V) < 1e-5
    assert model.objective_trace_[-1] == pytest.approx(objective, rel=1e-7)
    assert (np.diff(model.objective_trace_) >= -1e-9 * objective).all()


def test_equal_weights_are_the_mean_of_unit_traces(points):
    model = GraphKernelPCA(2, kernel=KERNELS, weights="equal").fit(points)
    K = sum(centred(A) * 60 / np.trace(centred(A)) for A in grams(points)) / np.sqrt(3)
    values, V = top(K, 2)
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert largest_angle(model.eigenvectors_, V) < 1e-6
    assert_allclose(model.kernel_weights_, 3**-0.5)


def test_one_kernel_in_a_list_is_that_kernel(points):
    one = GraphKernelPCA(2, kernel=["rbf"]).fit(points)
    other = GraphKernelPCA(2, kernel="rbf").fit(points)
    assert_allclose(one.embedding_, other.embedding_)


@pytest.mark.parametrize("kernel", [KERNELS, ["linear", "cosine"]])
def test_transform_gives_the_fit_back(points, kernel):
    model = GraphKernelPCA(2, kernel=kernel).fit(points)
    assert_allclose(model.transform(points), model.embedding_, atol=1e-8)
    one_by_one = np.vstack([model.transform(x[None] + 0.1) for x in points[:5]])
    assert_allclose(model.transform(points[:5] + 0.1), one_by_one, atol=1e-10)
    assert 0 < model.score(points) <= 1


def test_tiles_give_the_same_answer(rng):
    X = rng.standard_normal((1100, 4))
    stored = GraphKernelPCA(2, kernel=["rbf", "laplacian"], tol=1e-8).fit(X)
    # three matrices of 1,100 rows would need 29 MB
    lean = clone(stored).set_params(max_memory="20MB")
    assert lean.plan(X).storage == "tiled"
    lean.fit(X)
    assert_allclose(lean.kernel_weights_, stored.kernel_weights_, atol=1e-6)
    assert largest_angle(lean.eigenvectors_, stored.eigenvectors_) < 1e-5


def test_the_way_back_works_with_several_kernels(points):
    model = GraphKernelPCA(
        4, kernel=["rbf", "linear"], fit_inverse_transform=True, alpha=1e-3
    ).fit(points)
    back = model.inverse_transform(model.embedding_)
    assert np.mean((back - points) ** 2) < 0.5 * points.var()


# -- kernel matrices -----------------------------------------------------------------


def test_several_matrices_equal_several_kernels(points):
    K = grams(points)
    by_name = GraphKernelPCA(2, kernel=KERNELS, graph=None).fit(points)
    for X in ([*K], dict(zip(KERNELS, K, strict=True)), np.array(K)):
        model = GraphKernelPCA(2, kernel="precomputed").fit(X)
        assert_allclose(model.kernel_weights_, by_name.kernel_weights_, atol=1e-7)
        assert_allclose(model.embedding_, by_name.embedding_, atol=1e-6)
    assert GraphKernelPCA(2, kernel="precomputed").fit(K).kernel_names_[0] == "kernel1"
    new = points[:4] + 0.3
    bound = [kernels.Gaussian(0.5), kernels.Gaussian(0.05), kernels.Linear()]
    blocks = [kernel.block(new, points) for kernel in bound]
    model = GraphKernelPCA(2, kernel="precomputed").fit(K)
    assert_allclose(model.transform(blocks), by_name.transform(new), atol=1e-6)


def test_matrices_of_different_sizes_are_refused(points):
    model = GraphKernelPCA(2, kernel="precomputed")
    with pytest.raises(KernelError, match=r"one shape.*a \(5, 5\), b \(4, 4\)"):
        model.fit({"a": np.eye(5), "b": np.eye(4)})
    with pytest.raises(KernelError, match="square"):
        model.fit([np.ones((5, 4)), np.ones((5, 4))])
    fitted = model.fit([np.eye(5) + 1, np.diag([5.0, 4, 3, 2, 1])])
    with pytest.raises(KernelError, match="kernel1, kernel2; got one table"):
        fitted.transform(np.ones((2, 5)))


def test_an_indefinite_kernel_is_named_and_left_out(points):
    K = kernels.Gaussian(0.3).gram(points)
    with pytest.warns(IndefiniteKernelWarning, match="'bad' is indefinite"):
        model = GraphKernelPCA(2, kernel="precomputed").fit({"good": K, "bad": -K})
    assert_allclose(model.kernel_weights_, [1.0, 0.0])
    alone = GraphKernelPCA(2, kernel="precomputed").fit(K)
    assert largest_angle(model.eigenvectors_, alone.eigenvectors_) < 1e-6
    with pytest.warns(IndefiniteKernelWarning, match="positive part"):
        GraphKernelPCA(2, kernel="precomputed").fit(K - 0.5 * np.eye(60))


@pytest.mark.parametrize("seed", range(5))
def test_a_kernel_that_is_a_little_indefinite_is_named(seed):
    """Its lowest eigenvalue is a ten thousandth of the largest."""
    rng = np.random.default_rng(seed)
    X, v = rng.normal(size=(600, 3)), rng.normal(size=600)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = np.exp(-0.05 * distances) - 0.05 * np.outer(v, v) / (v @ v)
    with pytest.warns(IndefiniteKernelWarning):
        GraphKernelPCA(2, kernel="precomputed").fit(K)


# -- several graphs ------------------------------------------------------------------


def adjacency(seed, n=60, p=0.15):
    A = np.triu(np.random.default_rng(seed).random((n, n)) < p, 1).astype(float)
    return A + A.T


@pytest.mark.parametrize("form", ["penalty", "kernel"])
def test_learned_graphs_are_those_of_brute_force(points, form):
    A, B = adjacency(1), adjacency(2)
    response = responses.Diffusion(3.0) if form == "kernel" else None
    model = GraphKernelPCA(
        3, graph={"a": A, "b": B}, response=response, gamma=0.2, tol=1e-12
    ).fit(points)
    K = kernels.Gaussian(0.2).gram(points)
    R = []
    for matrix in (A, B):
        L = dense_laplacian(matrix, "normalized")
        values, vectors = np.linalg.eigh(L)
        heat = (vectors * np.exp(-1.5 * values)) @ vectors.T
        R.append(heat if form == "kernel" else 2 * np.eye(60) - L)
    size = np.sqrt(2)  # the sum of the first weights, of terms of size one
    gamma = np.linalg.eigvalsh(centred(K))[-1] / size
    _, beta, V, objective = brute_force(Dressed([K], R, gamma, center=True), 3)
    assert model.graph_names_ == ["a", "b"]
    assert_allclose(model.graph_weights_, beta, atol=1e-6)
    assert np.linalg.norm(model.graph_weights_) == pytest.approx(1)
    assert model.objective_trace_[-1] == pytest.approx(objective, rel=1e-7)
    assert largest_angle(model.eigenvectors_, V) < 1e-4
    assert "R[a:" in model.formula_ and "R[b:" in model.formula_


def test_the_same_graph_twice_is_that_graph(points):
    A = adjacency(1)
    once = GraphKernelPCA(3, graph=A).fit(points)
    twice = GraphKernelPCA(3, graph=[A, A]).fit(points)
    assert largest_angle(once.eigenvectors_, twice.eigenvectors_) < 1e-6


def test_the_papers_letter_sums_graphs_as_they_are(points):
    A, B = adjacency(1), adjacency(2)
    model = GraphKernelPCA(
        3,
        gamma=0.2,
        graph=[A, B],
        weights="equal",
        normalize=False,
        laplacian="combinatorial",
        graph_strength=0.3,
    ).fit(points)
    L = sum(dense_laplacian(M, "combinatorial") for M in (A, B))
    _, V = top(centred(kernels.Gaussian(0.2).gram(points) - 0.3 * L), 3)
    assert largest_angle(model.eigenvectors_, V) < 1e-6


def test_weights_of_edges_do_not_decide_who_speaks(points):
    A, B = adjacency(1), adjacency(2)
    how = {"laplacian": "combinatorial"}
    one = GraphKernelPCA(2, graph=[A, B], **how).fit(points)
    other = GraphKernelPCA(2, graph=[1000 * A, B], **how).fit(points)
    assert_allclose(one.graph_weights_, other.graph_weights_, atol=1e-6)


def test_a_sharper_norm_makes_a_sharper_choice(points):
    near = NeighborGraph(6).build(points).to_scipy()
    graph = {"near": near, "random": adjacency(3)}
    first = []
    for norm in (4.0, 2.0, 1.25, 1.0):
        model = GraphKernelPCA(3, graph=graph, weight_norm=norm).fit(points)
        assert np.linalg.norm(model.graph_weights_, norm) == pytest.approx(1)
        first.append(model.graph_weights_[0] / model.graph_weights_.sum())
    assert first == sorted(first)
    assert first[-1] == 1.0


def test_each_graph_has_its_own_response(points):
    graph = {"a": adjacency(1), "b": adjacency(2)}
    response = {"a": responses.Diffusion(5.0)}
    model = GraphKernelPCA(2, graph=graph, response=response).fit(points)
    assert "a: r(L)" in model.formula_
    assert "b: -1 * L" in model.formula_


# -- new rows with several graphs ------------------------------------------------------

NAMES = np.array([f"row{i}" for i in range(60)])


def labelled(matrix, rows=slice(None)):
    return Graph(matrix[rows][:, rows], nodes=NAMES[rows])


@pytest.mark.parametrize("response", [None, {"a": responses.Diffusion(2.0)}])
def test_new_rows_use_the_edges_of_every_graph(points, response):
    table = pd.DataFrame(points, index=NAMES)
    graph = {"a": labelled(adjacency(1)), "b": labelled(adjacency(2))}
    model = GraphKernelPCA(2, graph=graph, response=response).fit(table[:50])
    whole = model.transform(table[50:])
    assert_allclose(model.transform(table[:50]), model.embedding_)
    without = model.transform(table[50:], edges={"b": np.zeros((10, 50))})
    assert np.abs(whole - without).max() > 1e-3  # the other graph was heard


def test_the_fixed_point_is_exact_with_several_penalties(points):
    A, B = adjacency(1), adjacency(2)
    for kind in ("normalized", "combinatorial"):
        model = GraphKernelPCA(2, graph=[A, B], laplacian=kind).fit(points)
        placed = model._extension.place(points, {"graph1": A, "graph2": B})
        assert_allclose(placed, model._extension.V, atol=1e-8)


def test_a_graph_need_not_know_every_row(points):
    table = pd.DataFrame(points, index=NAMES)
    graph = {
        "a": labelled(adjacency(1)),
        "b": labelled(adjacency(2), slice(0, 40)),
    }
    model = GraphKernelPCA(2, graph=graph).fit(table)
    assert np.isfinite(model.embedding_).all()
    L = dense_laplacian(adjacency(2)[:40, :40], "normalized")
    scale = np.where(np.arange(60) < 40, 1.0, np.sqrt(2))
    R = np.zeros((60, 60))
    R[:40, :40] = 2 * np.eye(40) - L
    term = model._extension.graphs[1]
    V = model._extension.V
    assert_allclose(term.RV, scale[:, None] * (R @ (scale[:, None] * V)), atol=1e-10)
    with pytest.raises(LabelError, match="graph 'a': the graph has labels"):
        GraphKernelPCA(2, graph=graph).fit(points)


def test_errors_name_the_graph(points):
    model = GraphKernelPCA(2, graph={"a": adjacency(1), "b": adjacency(2)}).fit(points)
    with pytest.raises(GraphError, match="dict with a matrix or list for each graph"):
        model.transform(points, edges=np.zeros((60, 60)))
    with pytest.raises(GraphError, match="among a, b; got c"):
        model.transform(points, edges={"c": np.zeros((60, 60))})
    with pytest.raises(GraphError, match=r"'b'.*59 nodes"):
        GraphKernelPCA(2, graph={"a": adjacency(1), "b": adjacency(2, n=59)}).fit(
            points
        )


def test_many_terms_survive_saving_and_searching(points, tmp_path):
    table = pd.DataFrame(points, index=NAMES)
    graph = {"a": labelled(adjacency(1)), "b": labelled(adjacency(2))}
    model = GraphKernelPCA(2, kernel=["rbf", "linear"], graph=graph).fit(table[:50])
    model.save(tmp_path / "m.npz")
    again = graphfold.load(tmp_path / "m.npz")
    assert_allclose(again.transform(table[50:]), model.transform(table[50:]))
    assert_allclose(again.axis_report_.eigengaps, model.axis_report_.eigengaps)
    assert again.graph_names_ == ["a", "b"]
    search = GridSearchCV(
        make_pipeline(GraphKernelPCA(2, graph=graph), StandardScaler()),
        {"graphkernelpca__kernel": ["rbf", ["rbf", "linear"]]},
        scoring=lambda m, X, y=None: -np.abs(m.transform(X)).mean(),
    )
    assert np.isfinite(search.fit(table).best_score_)


def test_many_terms_may_be_printed(points):
    model = GraphKernelPCA(2, kernel=KERNELS, graph=NeighborGraph(4)).fit(points)
    for name in KERNELS:
        assert f"K[{name}]" in model.formula_
    assert str(model.axis_report_).startswith("axis")


def test_a_matrix_does_not_stand_in_a_list(points):
    with pytest.raises(KernelError, match="list of matrices as X"):
        GraphKernelPCA(2, kernel=["precomputed", "rbf"]).fit(points @ points.T)


# -- graphs alone ----------------------------------------------------------------------


def test_without_a_kernel_it_is_laplacian_eigenmaps(points):
    model = GraphKernelPCA(2, kernel=None, graph=adjacency(1)).fit(points)
    L = dense_laplacian(adjacency(1), "normalized")
    _, V = top(centred(-L), 2)
    assert largest_angle(model.eigenvectors_, V) < 1e-6
    assert_allclose(model.embedding_.T @ model.embedding_, np.eye(2), atol=1e-9)
    assert not hasattr(model, "score")


def test_without_a_kernel_a_row_needs_an_edge(points):
    table = pd.DataFrame(points, index=NAMES)
    model = GraphKernelPCA(2, kernel=None, graph=labelled(adjacency(1))).fit(table[:50])
    assert np.isfinite(model.transform(table[50:])).all()
    with pytest.raises(GraphfoldError, match="no edge to the rows of the fit: 1"):
        model.transform(table[50:53], edges=np.eye(50)[[0, 1, 2]] * [[1], [0], [1]])
    with pytest.raises(GraphfoldError, match="kernel must not be None"):
        GraphKernelPCA(2, kernel=None).fit(points)
