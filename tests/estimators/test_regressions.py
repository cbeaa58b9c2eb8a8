"""Bugs that were there once, each by what it did."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import KernelPCA

import graphfold
from graphfold import (
    CorrelationGraph,
    Graph,
    GraphKernelPCA,
    NeighborGraph,
    responses,
)
from graphfold.errors import (
    GraphError,
    GraphfoldError,
    KernelError,
    LabelError,
    ModelFileError,
    UnknownRowsWarning,
    UnlabelledRowsWarning,
)
from graphfold.files import read_graph, read_table, write_table
from graphfold.graphs import laplacian
from graphfold.model.terms import low_eigenvalue
from tests.helpers import largest_angle


@pytest.fixture
def X(rng):
    return rng.random((30, 4)) + 3


@pytest.mark.parametrize("graph", [None, NeighborGraph(4)])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
def test_sparse_and_dense_rows_may_follow_each_other(X, kernel, graph):
    new = X[:5] + 0.1
    dense = GraphKernelPCA(2, kernel=kernel, graph=graph).fit(X)
    sparse = GraphKernelPCA(2, kernel=kernel, graph=graph).fit(sp.csr_array(X))
    reference = dense.transform(new)
    assert_allclose(dense.transform(sp.csr_array(new)), reference, atol=1e-9)
    assert_allclose(sparse.transform(new), reference, atol=1e-9)
    assert_allclose(sparse.transform(X), dense.embedding_, atol=1e-9)


def test_labels_in_edge_files_are_not_cut_short(tmp_path):
    (tmp_path / "edges.csv").write_text("n10,n20\nn1,n30\nn2,n3\n")
    labels = np.array(["n1", "n2", "n3"])
    with pytest.warns(UnknownRowsWarning, match="2 edges of .* such as n10, n20, n30"):
        graph = read_graph(tmp_path / "edges.csv", labels, 3)
    assert graph.subgraph(labels).n_edges == 1
    assert graph.n_nodes == 6


@pytest.mark.filterwarnings("ignore::graphfold.errors.WeakSpectrumWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_all_n_components_end_in_a_zero_column(X, kernel):
    x = X[:6]
    model = GraphKernelPCA(6, kernel=kernel, gamma=0.3).fit(x)
    reference = KernelPCA(6, kernel=kernel, gamma=0.3).fit_transform(x)
    assert_allclose(model.embedding_, reference, atol=1e-6)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0)
    assert_allclose(model.transform(x), model.embedding_, atol=1e-6)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_empty_rows_are_nobodys_neighbour(container, rng):
    Z = np.vstack([np.zeros(4), np.eye(4)[[0, 0, 1, 1]] + 0.1 * rng.random((4, 4))])
    Z[1:, 2:] += 0.3
    recipe = NeighborGraph(1, metric="cosine", weight="similarity")
    assert recipe.build(container(Z)).degrees[0] == 0


def test_mixed_labels_find_their_nodes():
    graph = Graph(np.ones((30, 30)), nodes=range(30))
    assert_array_equal(graph.find([25, "new", 26]), [25, -1, 26])
    assert Graph([(1, "a"), (2, "b")]).n_edges == 2


def test_labels_of_another_kind_are_an_error_at_transform(X):
    names = [f"r{i}" for i in range(30)]
    graph = Graph(NeighborGraph(4).build(X), nodes=names)
    model = GraphKernelPCA(2, graph=graph).fit(X, node_ids=names)
    with pytest.raises(LabelError, match="none can match"):
        model.transform(pd.DataFrame(X, index=np.arange(30)[::-1]))


def test_responses_with_a_pole_work_in_single_precision(rng):
    Y = rng.standard_normal((80, 3))
    model = GraphKernelPCA(
        3, graph=NeighborGraph(4), response=lambda t: t, scaling="orthonormal"
    )
    double = model.fit_transform(Y)
    single = model.fit_transform(Y.astype(np.float32))
    assert single.dtype == np.float32
    assert largest_angle(double, single.astype(float)) < 1e-2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_auto_scale_takes_the_first_positive_eigenvalue(dtype, rng):
    parts = [
        NeighborGraph(3).build(rng.standard_normal((12, 2))).to_scipy()
        for _ in range(5)
    ]
    graph = Graph(sp.block_diag(parts))
    values = np.linalg.eigvalsh(laplacian(graph).operator.to_dense())
    expected = values[values > 1e-9][0]
    assert low_eigenvalue(laplacian(graph), 2, rng) == pytest.approx(expected)
    Y = rng.standard_normal((60, 3)).astype(dtype)
    auto = GraphKernelPCA(2, graph=graph, response=responses.Diffusion("auto"))
    fixed = GraphKernelPCA(2, graph=graph, response=responses.Diffusion(2 / expected))
    assert_allclose(auto.fit_transform(Y), fixed.fit_transform(Y), atol=1e-4)


def test_a_kernel_that_is_not_finite_is_refused(rng):
    Y = rng.standard_normal((30, 4))
    for solver in ("lapack", "krylov"):
        model = GraphKernelPCA(kernel="poly", degree=2.5, gamma=1.0, solver=solver)
        with pytest.raises(KernelError, match=r"NaN or infinity.*integer degree"):
            model.fit(Y)
    with pytest.raises(KernelError, match="scale X"):
        GraphKernelPCA(kernel="poly", degree=3).fit(1e110 * Y)


@pytest.mark.filterwarnings("ignore::graphfold.errors.SignedGraphWarning")
@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_extension_is_exact_on_signed_graphs(kind, rng):
    Y = rng.standard_normal((30, 4))
    recipe = CorrelationGraph(None, negative="keep")
    model = GraphKernelPCA(2, graph=recipe, graph_strength=0.3, laplacian=kind).fit(Y)
    rule = model._extension
    assert_allclose(
        rule.place(Y, {"graph": model.graph_.to_scipy()}), rule.V, atol=1e-10
    )


def test_a_crafted_model_file_is_refused(X, tmp_path):
    path = tmp_path / "model.npz"
    graph = NeighborGraph(4).build(X)
    GraphKernelPCA(2, graph=graph).fit(X).save(path)
    with np.load(path) as content:
        arrays = dict(content)
    for key, value in arrays.items():
        if value.dtype.kind == "i" and len(value) == 2 * graph.n_edges:
            arrays[key] = value + 200_000_000
    np.savez(path, **arrays)
    with pytest.raises(ModelFileError, match="not a graphfold model"):
        graphfold.load(path)


def test_models_of_every_set_up_can_be_saved(X, tmp_path):
    path = tmp_path / "model.npz"
    drawn = nx.cycle_graph(30)
    model = GraphKernelPCA(2, graph=drawn).set_output(transform="pandas")
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(node_ids=True)
        model.fit(X).save(path)
    loaded = graphfold.load(path)
    with pytest.warns(UnlabelledRowsWarning):
        placed = loaded.transform(X + 1)
    assert isinstance(placed, pd.DataFrame)
    with pytest.warns(UnlabelledRowsWarning):
        assert_array_equal(placed, model.transform(X + 1))
    assert loaded.graph.n_edges == 30


def test_arrays_of_edges_keep_whole_numbers(X):
    weighted = np.array([[i, (i + 1) % 30, 0.5] for i in range(30)])
    assert GraphKernelPCA(2, graph=Graph(weighted)).fit(X).graph_.n_edges == 30


def test_a_small_array_that_could_be_two_things_is_refused():
    with pytest.raises(GraphError, match="could be a matrix or 2 edges"):
        Graph(np.array([[0, 1], [1, 2]]))


def test_tables_survive_commas_and_empty_cells(tmp_path):
    path = tmp_path / "out.csv"
    write_table(path, np.ones((2, 2)), np.array(["Smith, J", "b"]), ["x", "y"])
    assert read_table(path).labels.tolist() == ["Smith, J", "b"]
    path.write_text("1.0,,3\n4,5,6\n")
    with pytest.raises(GraphfoldError, match="must hold numbers"):
        read_table(path)


def test_the_model_does_not_follow_changes_of_its_data(X):
    Y = X.copy()
    for kernel in ("rbf", "linear"):
        model = GraphKernelPCA(2, kernel=kernel, gamma=1.0).fit(Y)
        before = model.transform(X + 1)
        Y *= 0
        assert_array_equal(model.transform(X + 1), before)
        Y += X


def test_inverse_transform_wants_all_columns(X):
    model = GraphKernelPCA(3, fit_inverse_transform=True).fit(X)
    with pytest.raises(GraphfoldError, match="the 3 columns of the embedding"):
        model.inverse_transform(np.ones((2, 1)))


def test_a_budget_too_small_for_lapack_uses_the_iterative_solver(rng):
    Y = rng.standard_normal((150, 5))
    most = GraphKernelPCA(2).plan(Y).peak_bytes - 1
    lean = GraphKernelPCA(2, max_memory=most)
    plan = lean.plan(Y)
    assert plan.solver == "krylov"
    assert plan.peak_bytes <= most
    assert_allclose(
        lean.fit(Y).embedding_, GraphKernelPCA(2).fit_transform(Y), atol=1e-6
    )
    assert lean.solver_ == "krylov"
    assert "max_memory" in lean.solver_reason_


def test_an_edge_listed_twice_at_transform_counts_once(X):
    model = GraphKernelPCA(2, graph=NeighborGraph(4).build(X)).fit(X)
    once = model.transform(X[:1] + 1, edges=[(0, 1), (0, 3)])
    twice = model.transform(X[:1] + 1, edges=[(0, 1), (0, 3), (0, 3)])
    assert_array_equal(once, twice)


def test_components_belong_to_the_last_fit(X):
    model = GraphKernelPCA(2, kernel="linear").fit(X)
    assert hasattr(model, "components_")
    assert not hasattr(model.set_params(kernel="rbf").fit(X), "components_")


def test_plan_takes_every_sparse_format(X):
    assert GraphKernelPCA(kernel="linear").plan(sp.coo_matrix(X)).n == 30


def test_a_recipe_needs_rows_not_a_kernel(X):
    with pytest.raises(GraphfoldError, match="must not be a recipe"):
        GraphKernelPCA(kernel="precomputed", graph=NeighborGraph(3)).fit(X @ X.T)
