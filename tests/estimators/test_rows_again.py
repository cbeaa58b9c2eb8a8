"""Rows of a fit are recognised by one rule, whatever the estimator.

Where no labels of a graph say otherwise, a row that equals a row of the fit is that
row; a new row after a graph without labels is placed by its features, with a warning.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import graphfold
from graphfold import (
    FastRobustGraphPCA,
    Graph,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    NeighborGraph,
    RobustGraphPCA,
    SemiSupervisedGraphKernelPCA,
    kernels,
    responses,
)
from graphfold.errors import GraphfoldError, UnlabelledRowsWarning

N = 60
LABELS = np.array([f"row{i}" for i in range(N)])

#: every estimator that takes a graph, in settings that place rows in different ways
ESTIMATORS = {
    "kernel pca": lambda g: GraphKernelPCA(3, graph=g),
    "linear kernel": lambda g: GraphKernelPCA(3, kernel="linear", graph=g),
    "combinatorial": lambda g: GraphKernelPCA(3, graph=g, laplacian="combinatorial"),
    "diffusion": lambda g: GraphKernelPCA(3, graph=g, response=responses.Diffusion(3)),
    "two graphs": lambda g: GraphKernelPCA(3, graph=[g, g]),
    "graph and recipe": lambda g: GraphKernelPCA(3, graph=[g, NeighborGraph(4)]),
    "manifold kernel": lambda g: GraphKernelPCA(3, graph=g, kernel=kernels.Geodesic(8)),
    "landmarks": lambda g: GraphKernelPCA(3, graph=g, landmarks=20),
    "semi-supervised": lambda g: SemiSupervisedGraphKernelPCA(3, graph=g),
    "local nonlinear": lambda g: LocalNonlinearEmbedding(3, n_neighbors=4, graph=g),
    "local form": lambda g: LocalNonlinearEmbedding(
        3, n_neighbors=4, form="local", graph=g
    ),
    "laplacian pca": lambda g: GraphLaplacianPCA(3, graph=g),
    "robust": lambda g: RobustGraphPCA(3, graph=g, graph_strength=0.1),
    "fast robust": lambda g: FastRobustGraphPCA(3, graph=g),
}
#: those without a kernel refuse a new row that has no edges
GRAPH_ALONE = {
    "eigenmaps": lambda g: LaplacianEigenmaps(3, graph=g),
    "combinatorial eigenmaps": lambda g: LaplacianEigenmaps(
        3, graph=g, laplacian="combinatorial"
    ),
    "no kernel": lambda g: GraphKernelPCA(3, kernel=None, graph=g),
}
every = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
without_kernel = pytest.mark.parametrize("make", GRAPH_ALONE.values(), ids=GRAPH_ALONE)
EVERY = ESTIMATORS | GRAPH_ALONE
really_every = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)


@pytest.fixture
def X(points):
    return np.asarray(points)


@pytest.fixture
def matrix(rng):
    """A graph that is not made from X, without labels."""
    ring = sp.diags_array([np.ones(N - 1), [1.0]], offsets=[1, N - 1], shape=(N, N))
    chords = sp.csr_array(rng.random((N, N)) < 0.03)
    return sp.csr_array(((ring + chords + (ring + chords).T) > 0).astype(float))


def fitted(make, graph, X):
    model = make(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, np.arange(N) % 3)


def test_every_estimator_is_here():
    public = {type(make(None)) for make in EVERY.values()} | {MultiModalGraphEmbedding}
    named = [getattr(graphfold, name) for name in graphfold.__all__]
    assert public == {one for one in named if hasattr(one, "fit_transform")}


@really_every
def test_rows_of_a_fit_without_labels_come_back(make, X, matrix):
    model = fitted(make, matrix, X)
    assert_array_equal(model.transform(X), model.embedding_)
    order = [7, 3, 3, 59]
    assert_array_equal(model.transform(X[order]), model.embedding_[order])


@every
def test_new_rows_after_a_graph_without_labels_warn(make, X, matrix):
    model = fitted(make, matrix, X)
    mixed = np.vstack([X[5], X[5] + 0.01, X[9]])
    text = r"1 of 3 rows are not rows of the fit \(rows 1\)"
    with pytest.warns(UnlabelledRowsWarning, match=text) as caught:
        found = model.transform(mixed)
    assert caught[0].filename == __file__
    assert "\n" not in str(caught[0].message)
    assert_array_equal(found[[0, 2]], model.embedding_[[5, 9]])
    assert np.isfinite(found).all()


@without_kernel
def test_without_a_kernel_new_rows_without_edges_are_refused(make, X, matrix):
    model = fitted(make, matrix, X)
    with pytest.raises(GraphfoldError, match=r"these have no edge.*: 1"):
        model.transform(np.vstack([X[5], X[5] + 0.01]))


@really_every
def test_where_a_graph_has_labels_rows_without_are_not_guessed(make, X, matrix):
    frame = pd.DataFrame(X, index=LABELS).rename(columns=str)
    model = fitted(make, Graph(matrix, nodes=LABELS), frame)
    assert_array_equal(model.transform(frame), model.embedding_)
    bare = frame.reset_index(drop=True)
    if make in GRAPH_ALONE.values():
        with pytest.raises(GraphfoldError, match="these have no edge"):
            model.transform(bare)
        return
    with pytest.warns(UnlabelledRowsWarning, match="no labels although the fit had"):
        alone = model.transform(bare)
    assert np.abs(alone - model.embedding_).max() > 1e-6


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_samples_of_modes_come_back(X, container):
    model = MultiModalGraphEmbedding(3, modes=2).fit(container(X))
    assert_array_equal(model.transform(container(X)), model.embedding_)


def test_without_a_graph_features_give_each_row_its_own_place(X):
    makers = [GraphKernelPCA, SemiSupervisedGraphKernelPCA, LocalNonlinearEmbedding]
    for maker in makers:
        model = fitted(lambda _, maker=maker: maker(3), None, X)
        assert_allclose(model.transform(X), model.embedding_, atol=1e-7)


@pytest.mark.parametrize("landmarks", [None, 20], ids=["rows", "keys"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_rows_kept_and_rows_known_by_keys_follow_one_rule(
    X, matrix, container, landmarks, tmp_path
):
    X = container(X)
    model = GraphKernelPCA(3, graph=matrix, landmarks=landmarks).fit(X)
    assert (model._X_fit is None) == (landmarks is not None)
    assert_array_equal(model.transform(X), model.embedding_)
    model.save(tmp_path / "model.npz")
    again = graphfold.load(tmp_path / "model.npz")
    assert_array_equal(again.transform(X[10:20]), model.embedding_[10:20])


def test_a_silent_graph_is_no_reason_to_warn(X, matrix):
    model = GraphKernelPCA(3, graph=matrix, graph_strength=0).fit(X)
    assert_allclose(
        model.transform(X + 0.1), GraphKernelPCA(3).fit(X).transform(X + 0.1)
    )


def test_edges_that_are_given_are_used(X, matrix):
    """A row may have the features of a row of the fit and be another node."""
    model = GraphKernelPCA(3, graph=matrix, graph_strength=3.0).fit(X)
    edges = Graph(matrix).to_scipy()
    assert_allclose(model.transform(X, edges=edges), model.embedding_, atol=1e-7)
    other = model.transform(X[:2], edges=[(0, 30)])
    assert np.abs(other[0] - model.embedding_[0]).max() > 1e-3
    assert_array_equal(other[1], model.embedding_[1])


def test_new_labelled_rows_beside_a_graph_without_labels_warn(X, matrix):
    graphs = {"named": Graph(matrix, nodes=LABELS), "bare": matrix}
    model = GraphKernelPCA(3, graph=graphs).fit(X, node_ids=LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(X[:3], node_ids=LABELS[:3])
    with pytest.warns(UnlabelledRowsWarning, match="in graph bare, so they"):
        model.transform(X[:2] + 0.1, node_ids=["x", "y"])


# -- rows that equal each other ------------------------------------------------------


@really_every
def test_the_rows_of_the_fit_in_their_order_are_themselves(make, X, matrix):
    """Copies are different nodes; in the table of the fit their position tells."""
    X[20:25] = X[10]
    model = fitted(make, matrix, X)
    assert_array_equal(model.transform(X), model.embedding_)
    assert_array_equal(model.transform(X[:22]), model.embedding_[:22])


@really_every
def test_a_row_that_equals_several_is_the_first_with_a_warning(make, X, matrix):
    X[20:25] = X[10]
    model = fitted(make, matrix, X)
    text = r"1 of 3 rows equal more than one row of the fit \(rows 1\)"
    with pytest.warns(UnlabelledRowsWarning, match=text):
        found = model.transform(X[[3, 22, 4]])
    assert_array_equal(found, model.embedding_[[3, 10, 4]])


def test_with_a_recipe_copies_are_no_reason_to_warn(X):
    X[20:25] = X[10]
    model = GraphKernelPCA(3, graph=NeighborGraph(4)).fit(X)
    assert_array_equal(model.transform(X), model.embedding_)
    assert_array_equal(model.transform(X[[3, 22]]), model.embedding_[[3, 10]])


# -- streams -------------------------------------------------------------------------


@pytest.mark.parametrize("forgetting", [1.0, 0.05], ids=["all kept", "forgetting"])
def test_rows_of_a_stream_without_labels_come_back(X, forgetting):
    """Numbers of arrival are no labels, whether or not rows have been forgotten."""
    model = GraphKernelPCA(2, landmarks=10, forgetting=forgetting)
    for first in range(0, N, 10):
        chain = [(i, i - 1) for i in range(first + 1, first + 10)]
        model.partial_fit(X[first : first + 10], edges=chain)
    kept = X[N - len(model.embedding_) :]
    assert len(kept) == (N if forgetting == 1 else 40)
    assert_array_equal(model.transform(kept), model.embedding_)
    with pytest.warns(UnlabelledRowsWarning, match="1 of 2 rows are not rows of the f"):
        model.transform(np.vstack([kept[1], kept[1] + 0.1]))
