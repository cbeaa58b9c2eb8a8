"""GraphKernelPCA as its users know it: attributes, scalings, tables, precision."""

import copy
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from graphfold import CorrelationGraph, Graph, GraphKernelPCA, NeighborGraph, responses
from graphfold.errors import (
    DegenerateKernelWarning,
    DisconnectedGraphWarning,
    SignedGraphWarning,
    WeakSpectrumWarning,
)

LABELS = [f"row{i}" for i in range(60)]


@pytest.fixture
def graph(points):
    return Graph(NeighborGraph(5).build(points), nodes=LABELS)


@pytest.fixture
def table(points):
    return pd.DataFrame(points, index=LABELS, columns=list("abcde"))


def test_learned_attributes(table, graph):
    model = GraphKernelPCA(3, graph=graph).fit(table)
    assert model.embedding_.shape == (60, 3)
    assert model.eigenvalues_.shape == model.residuals_.shape == (3,)
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert model.residuals_.max() < 1e-9
    assert model.converged_
    assert (model.n_iter_, model.solver_) == (1, "lapack")
    assert "n = 60" in model.solver_reason_
    assert_array_equal(model.kernel_weights_, [1.0])
    assert_array_equal(model.graph_weights_, [1.0])
    assert model.graph_strength_ == 1.0
    assert model.n_graph_components_ == graph.n_parts
    assert 0 < model.explained_variance_ratio_.sum() < 1
    assert list(model.feature_names_in_) == list("abcde")
    assert "K[rbf]" in model.formula_
    assert not hasattr(model, "components_")


def test_scalings(table, graph):
    def fit(scaling):
        return GraphKernelPCA(3, graph=graph, scaling=scaling).fit(table)

    V = fit("orthonormal").embedding_
    assert_allclose(V.T @ V, np.eye(3), atol=1e-10)
    assert_allclose(fit("unit").embedding_.std(axis=0), 1.0)
    scaled = fit("eigenvalue")
    energies = scaled.explained_variance_ratio_ * scaled._extension.data.trace
    assert_allclose(scaled.embedding_, V * np.sqrt(energies), atol=1e-12)


def test_stronger_graphs_give_smoother_embeddings(table, graph):
    energies = []
    for strength in (0, 0.1, 1, 10, 100):
        model = GraphKernelPCA(
            3, graph=graph, graph_strength=strength, scaling="orthonormal"
        )
        Z = model.fit_transform(table)
        A = graph.to_scipy().toarray()
        root = 1 / np.sqrt(A.sum(axis=1))
        L = np.eye(60) - root[:, None] * A * root
        energies.append(np.trace(Z.T @ L @ Z))
    assert (np.diff(energies) < 1e-9).all()
    assert energies[-1] < 0.7 * energies[0]


def test_strength_does_not_depend_on_units(table, graph):
    base = GraphKernelPCA(3, kernel="linear", graph=graph, scaling="unit")
    big = base.fit_transform(1000 * table)
    assert_allclose(base.fit_transform(table), big, atol=1e-6)
    heavy = Graph(7.0 * graph.to_scipy(), nodes=LABELS)
    for laplacian in ("normalized", "combinatorial"):
        base.set_params(laplacian=laplacian, graph=graph)
        light = base.fit_transform(table)
        assert_allclose(
            light, base.set_params(graph=heavy).fit_transform(table), atol=1e-6
        )


def test_rows_meet_nodes_by_label_not_by_position(table, graph, rng):
    reference = GraphKernelPCA(3, graph=graph).set_output(transform="pandas")
    reference = reference.fit_transform(table)
    order = rng.permutation(60)
    shuffled = GraphKernelPCA(3, graph=graph).set_output(transform="pandas")
    shuffled = shuffled.fit_transform(table.iloc[order])
    assert_allclose(shuffled.loc[LABELS], reference, atol=1e-8)


def test_set_output_and_feature_names(table, graph):
    model = GraphKernelPCA(2, graph=graph).set_output(transform="pandas").fit(table)
    Z = model.transform(table)
    assert list(Z.columns) == ["graphkernelpca0", "graphkernelpca1"]
    assert list(Z.index) == LABELS
    assert_array_equal(Z, model.embedding_)
    assert list(model.get_feature_names_out()) == list(Z.columns)


def test_polars_tables(points):
    model = GraphKernelPCA(2, graph=NeighborGraph(4)).set_output(transform="polars")
    Z = model.fit_transform(pl.DataFrame(points, schema=list("abcde")))
    assert isinstance(Z, pl.DataFrame)
    assert_allclose(
        Z.to_numpy(), GraphKernelPCA(2, graph=NeighborGraph(4)).fit_transform(points)
    )


@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_rows_give_the_same_answer(kernel, container, rng):
    X = rng.random((80, 10)) * (rng.random((80, 10)) < 0.5)
    settings = {"kernel": kernel, "gamma": 0.5, "graph": NeighborGraph(4)}
    dense = GraphKernelPCA(3, **settings).fit(X)
    sparse = GraphKernelPCA(3, **settings).fit(container(X))
    assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-8)
    assert_allclose(
        sparse.transform(container(X[:9] + 0.1)),
        dense.transform(X[:9] + 0.1),
        atol=1e-7,
    )
    assert sp.issparse(sparse._X_fit)


@pytest.mark.filterwarnings("ignore::graphfold.errors.DegenerateKernelWarning")
def test_sparse_rows_are_never_made_dense():
    """A million columns: one dense copy would be 1.6 GB."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 1_000_000, (200, 100)).ravel()
    X = sp.csr_array(
        (rng.random(20_000), (np.repeat(np.arange(200), 100), columns)),
        shape=(200, 1_000_000),
    )
    for kernel in ("linear", "rbf", "cosine"):
        model = GraphKernelPCA(2, kernel=kernel, gamma=1.0, graph=NeighborGraph(4))
        tracemalloc.start()
        model.fit(X)
        model.transform(X[:5])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200 * 2**20


@pytest.mark.parametrize("solver", ["lapack", "krylov", "chebyshev", "lobpcg"])
@pytest.mark.parametrize("response", [None, responses.Diffusion(2.0)])
def test_single_precision_stays_single(points, solver, response):
    model = GraphKernelPCA(
        2, graph=NeighborGraph(5), solver=solver, response=response, scaling="unit"
    )
    double = model.fit_transform(points)
    single = model.fit_transform(points.astype(np.float32))
    assert single.dtype == model.eigenvectors_.dtype == np.float32
    assert model.transform(points.astype(np.float32) + 1).dtype == np.float32
    assert_allclose(single, double, atol=2e-3)


def test_inputs_are_never_modified(points, graph):
    X = points.copy()
    X.flags.writeable = False
    before = graph.to_scipy().copy()
    model = GraphKernelPCA(2, graph=graph, fit_inverse_transform=True)
    model.fit(X, node_ids=LABELS)
    model.transform(X, node_ids=LABELS)
    assert_array_equal(X, points)
    assert (graph.to_scipy() != before).nnz == 0


def test_fits_repeat_bit_for_bit(rng):
    X = rng.standard_normal((1100, 5))
    one, two = (GraphKernelPCA(3, graph=NeighborGraph(5)).fit(X) for _ in range(2))
    assert_array_equal(one.embedding_, two.embedding_)
    seeded = [GraphKernelPCA(3, random_state=7).fit(X).embedding_ for _ in range(2)]
    assert_array_equal(*seeded)


def test_transform_is_per_sample(points):
    model = GraphKernelPCA(3, graph=NeighborGraph(5)).fit(points)
    new = points[:8] + 0.3
    whole = model.transform(new)
    for i in range(8):
        assert_allclose(model.transform(new[[i]])[0], whole[i], atol=1e-12)


def test_score_is_held_out_variance(points, rng):
    train, test = points[:40], points[40:]
    scores = [GraphKernelPCA(d).fit(train).score(test) for d in (1, 3, 10, 39)]
    assert (np.diff(scores) > 0).all()
    assert scores[-1] < 1
    model = GraphKernelPCA(4, kernel="linear").fit(train)
    rest = test - train.mean(0)
    rest = rest - rest @ model.components_.T @ model.components_
    expected = 1 - np.square(rest).sum() / np.square(test - train.mean(0)).sum()
    assert model.score(test) == pytest.approx(expected, rel=1e-9)


def test_score_with_a_graph_projects_on_what_the_graph_chose(points):
    model = GraphKernelPCA(3, kernel="linear", graph=NeighborGraph(5)).fit(points)
    centred = points - points.mean(0)
    U = np.linalg.qr(centred.T @ model.eigenvectors_)[0]
    left = np.square(centred - centred @ U @ U.T).sum()
    expected = 1 - left / np.square(centred).sum()
    assert model.score(points) == pytest.approx(expected, rel=1e-9)


def test_pickle_clone_and_deepcopy(table, graph):
    model = GraphKernelPCA(2, graph=graph).fit(table)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_array_equal(other.transform(table), model.transform(table))
    fresh = clone(model)
    assert fresh.graph is graph
    with pytest.raises(NotFittedError):
        fresh.transform(table)


def test_disconnected_graphs_lose_nothing(points):
    """Two cliques and an isolated row: finite, and every distinct row distinct."""
    A = np.zeros((60, 60))
    A[:30, :30] = A[30:59, 30:59] = 1.0
    model = GraphKernelPCA(4, graph=A, graph_strength=5.0).fit(points)
    assert model.n_graph_components_ == 3
    assert np.isfinite(model.embedding_).all()
    assert len(np.unique(model.embedding_.round(10), axis=0)) == 60


def test_warnings_have_names_and_remedies(points, rng):
    with pytest.warns(DegenerateKernelWarning, match=r"identity.*gamma"):
        GraphKernelPCA(gamma=1e9).fit(points)
    with pytest.warns(DegenerateKernelWarning, match="constant"):
        GraphKernelPCA(gamma=1e-14).fit(points)
    few = sp.coo_array(([1.0], ([0], [1])), shape=(60, 60))
    with pytest.warns(DisconnectedGraphWarning, match="58 of 60 rows have no edge"):
        GraphKernelPCA(graph=few).fit(points)
    with pytest.warns(SignedGraphWarning, match="negative weights"):
        GraphKernelPCA(graph=CorrelationGraph(None, negative="keep")).fit(points)
    flat = np.outer(rng.standard_normal(30), np.ones(3))
    with pytest.warns(WeakSpectrumWarning, match="1 of 2 components"):
        GraphKernelPCA(kernel="linear").fit(flat)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        GraphKernelPCA(3, gamma=3, solver="krylov", max_iter=1).fit(points)


def test_an_interrupted_fit_leaves_the_model_as_it_was(points, monkeypatch):
    model = GraphKernelPCA(2).fit(points)
    before = model.embedding_.copy()
    monkeypatch.setattr(
        "graphfold.model.problem.Problem.solve",
        lambda *a, **k: (_ for _ in ()).throw(KeyboardInterrupt),
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(2 * points)
    assert_array_equal(model.embedding_, before)


def test_plan_says_what_a_fit_would_do(points):
    plan = GraphKernelPCA(10, max_memory="1GB").plan(np.zeros((20_000, 50)))
    assert plan.storage == "tiled"
    assert plan.solver == "krylov"
    assert plan.peak_bytes < 2**30
    assert plan.seconds > 0
    assert "tiled kernel of 20,000 rows" in str(plan)
    assert GraphKernelPCA().plan(points).solver == "lapack"
    linear = GraphKernelPCA(kernel="linear").plan(np.zeros((20_000, 50)))
    assert linear.storage == "low-rank"
