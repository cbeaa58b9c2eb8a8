"""partial_fit: a stream is what has come, in whatever order."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import graphfold
from graphfold import Graph, GraphKernelPCA, NeighborGraph, SemiSupervisedGraphKernelPCA
from graphfold.errors import DriftWarning, GraphError, GraphfoldError, LabelError
from tests.helpers import largest_angle

N, BATCHES, M = 600, 50, 80


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((6, 5)) * 2
    X = centres[np.arange(N) % 6] + rng.standard_normal((N, 5))
    A = sp.triu(NeighborGraph(5).build(X).to_scipy(), k=1).tocoo()
    return X, A, np.array([f"row {i}" for i in range(N)])


def streamed(data, order, model, *, edges=True):
    """Feed the batches in an order; each edge with the batch of its last end."""
    X, A, ids = data
    batch = np.random.default_rng(1).integers(0, BATCHES, N)
    seen, done = np.zeros(N, bool), np.zeros(A.nnz, bool)
    for number in order:
        rows = np.flatnonzero(batch == number)
        seen[rows] = True
        new = np.flatnonzero(seen[A.row] & seen[A.col] & ~done)
        done[new] = True
        pairs = [(ids[A.row[e]], ids[A.col[e]], A.data[e]) for e in new]
        model.partial_fit(X[rows], node_ids=ids[rows], edges=pairs if edges else None)
    return model


def by_label(model, data):
    X, _, ids = data
    return model.transform(X, node_ids=ids)


def gap(Z, W):
    """Largest difference relative to the size, signs of columns aside."""
    signs = np.sign(np.sum(Z * W, axis=0))
    return np.abs(Z * signs - W).max() / np.abs(W).max()


def chain(ids):
    return list(pairwise(ids))


def whole_graph(data):
    _, A, ids = data
    return Graph(A + A.T, nodes=ids)


@pytest.mark.parametrize("kernel", ["rbf", "linear", ["rbf", "linear"]])
@pytest.mark.parametrize("laplacian", ["normalized", "combinatorial"])
def test_fifty_batches_equal_one_fit_edges_across_batches_included(
    data, kernel, laplacian
):
    X, _, ids = data
    settings = {"kernel": kernel, "laplacian": laplacian, "landmarks": M}
    model = streamed(data, range(BATCHES), GraphKernelPCA(3, **settings))
    once = GraphKernelPCA(3, graph=whole_graph(data), refine=False, **settings)
    once.fit(X, node_ids=ids)
    assert model.n_batches_ == BATCHES and model.n_seen_ == N
    assert gap(by_label(model, data), once.embedding_) < 1e-6
    np.testing.assert_allclose(model.eigenvalues_, once.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(model.kernel_weights_, once.kernel_weights_, atol=1e-6)


@pytest.mark.parametrize("given", [False, True])
def test_no_order_of_the_batches_changes_the_answer(data, given):
    landmarks = data[0][::10] if given else M
    rng = np.random.default_rng(2)
    answers = [
        by_label(
            streamed(
                data,
                order,
                GraphKernelPCA(3, landmarks=landmarks),
            ),
            data,
        )
        for order in (range(BATCHES), rng.permutation(BATCHES))
    ]
    assert gap(*answers) < 1e-6


def test_the_constructors_graph_is_met_by_label(data):
    by_edges = streamed(data, range(BATCHES), GraphKernelPCA(3, landmarks=M))
    by_graph = streamed(
        data,
        range(BATCHES),
        GraphKernelPCA(3, landmarks=M, graph=whole_graph(data)),
        edges=False,
    )
    assert gap(by_label(by_graph, data), by_label(by_edges, data)) < 1e-9


def test_without_edges_it_is_kernel_pca(data):
    X, _, _ = data
    model = GraphKernelPCA(3, landmarks=X, kernel="rbf", gamma=0.1)
    for rows in np.array_split(np.arange(N), 7):
        model.partial_fit(X[rows])
    exact = GraphKernelPCA(3, kernel="rbf", gamma=0.1).fit(X)
    assert largest_angle(model.embedding_, exact.embedding_) < 1e-3
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-5


def test_forgetting_equals_rows_that_count_less(data):
    """Weights 1 and 1/4 are four copies and one of the same rows."""
    X, _, _ = data
    old, new = X[:100], X[100:200]
    model = GraphKernelPCA(2, kernel="linear", landmarks=X[:40], forgetting=0.25)
    model.partial_fit(old).partial_fit(new)
    copies = np.vstack([old, np.repeat(new, 4, axis=0)])
    exact = GraphKernelPCA(2, kernel="linear").fit(copies)
    Z = exact.transform(np.vstack([old, new]))
    # KernelPCA's scale grows with the number of rows: four times the weight
    assert gap(2 * model.embedding_, 2 * Z) < 1e-4


def test_what_is_forgotten_is_dropped(data):
    X, _, _ = data
    model = streamed(
        data, range(BATCHES), GraphKernelPCA(2, landmarks=M, forgetting=0.5)
    )
    assert model.n_seen_ == N
    assert len(model.embedding_) < N / 2
    assert np.isfinite(model.embedding_).all()
    # an edge to a row that has been forgotten is passed over, not refused
    model.partial_fit(
        X[:1], node_ids=["late"], edges=[("late", model._stream.forgotten[0])]
    )
    assert np.isfinite(model.embedding_).all()


def test_landmarks_grow_with_the_stream(data):
    X, _, _ = data
    model = GraphKernelPCA(2, landmarks=M)
    sizes = [
        len(model.partial_fit(X[i : i + 30]).landmarks_) for i in range(0, 150, 30)
    ]
    assert sizes == [30, 60, 80, 80, 80]
    model.set_params(landmarks=120).partial_fit(X[150:180])
    assert len(model.landmarks_) == 120


def test_the_answer_is_refreshed_when_it_is_asked_for(data):
    X, _, _ = data
    model = GraphKernelPCA(2, landmarks=20).partial_fit(X[:50])
    first = model.embedding_
    assert model.refresh().embedding_ is first
    model.partial_fit(X[50:80])
    assert "embedding_" not in vars(model)
    assert model.embedding_.shape == (80, 2)
    assert model.partial_fit(X[80:90]).score(X) > 0
    assert model.partial_fit(X[90:95]).transform(X).shape == (N, 2)
    assert model.n_seen_ == 95
    fresh = model.fit(X)
    assert fresh.embedding_.shape == (N, 2) and not hasattr(fresh, "n_seen_")


def test_new_rows_count_their_edges(data):
    X, _, ids = data
    model = streamed(data, range(BATCHES), GraphKernelPCA(3, landmarks=M))
    alone = model.transform(X[:1] + 3, node_ids=["new"])
    linked = model.transform(
        X[:1] + 3, node_ids=["new"], edges=[("new", ids[7]), ("new", ids[13])]
    )
    assert np.abs(alone - linked).max() > 1e-3
    target = by_label(model, data)[[7, 13]].mean(axis=0)
    assert np.linalg.norm(linked - target) < np.linalg.norm(alone - target)


def test_drift_is_reported_and_news_warned_of(data):
    X, _, _ = data
    model = GraphKernelPCA(2, landmarks=X[:40])
    for i in range(3):
        model.partial_fit(X[i * 100 : (i + 1) * 100])
    calm = model.drift_
    assert calm.lost.shape == calm.shift.shape == (3,)
    assert calm.shift.max() < 0.2
    model.partial_fit(X[300:400] + 30.0)
    with pytest.warns(DriftWarning, match="newest batch"):
        model.refresh()
    assert model.drift_.shift[-1] > 3 * calm.shift.max()
    assert model.drift_.lost[-1] > calm.lost.max() + 0.3
    assert "batch" in str(model.drift_)


def test_rows_beyond_the_budget_lie_on_disk(data):
    X, _, _ = data
    model = GraphKernelPCA(2, landmarks=20, max_memory="16MB")
    held = GraphKernelPCA(2, landmarks=20)
    wide = np.hstack([X] * 100)
    for rows in np.array_split(np.arange(N), 6):
        block = np.vstack([wide[rows]] * 4) + np.arange(4 * len(rows))[:, None] * 1e-3
        model.partial_fit(block)
        held.partial_fit(block)
    assert model._stream.nbytes < 4 * 2**20 < held._stream.nbytes
    assert gap(model.embedding_, held.embedding_) < 1e-9


def test_labels_of_classes_come_with_batches(data):
    X, _, _ = data
    y = np.where(np.arange(N) % 4 == 0, np.arange(N) % 6, -1)
    model = SemiSupervisedGraphKernelPCA(3, landmarks=M)
    once = SemiSupervisedGraphKernelPCA(3, landmarks=M, refine=False).fit(X, y)
    for rows in np.array_split(np.arange(N), 9):
        model.partial_fit(X[rows], y[rows])
    assert gap(model.embedding_, once.embedding_) < 1e-6
    assert model.constraint_report_.n_labelled == (y >= 0).sum()


def test_a_stream_goes_on_after_it_was_saved(data, tmp_path):
    X, _, ids = data
    model = GraphKernelPCA(2, landmarks=20)
    model.partial_fit(X[:60], node_ids=ids[:60], edges=chain(ids[:60]))
    model.save(tmp_path / "stream.npz")
    for copy in (
        graphfold.load(tmp_path / "stream.npz"),
        pickle.loads(pickle.dumps(model)),
    ):
        copy.partial_fit(X[60:70], node_ids=ids[60:70], edges=[(ids[3], ids[65])])
        assert copy.embedding_.shape == (70, 2)
    assert model.n_seen_ == 60


def test_sparse_batches(data):
    X, _, _ = data
    dense = GraphKernelPCA(2, landmarks=30).partial_fit(X[:50]).partial_fit(X[50:90])
    model = GraphKernelPCA(2, landmarks=30)
    model.partial_fit(sp.csr_array(X[:50])).partial_fit(sp.csr_array(X[50:90]))
    assert gap(model.embedding_, dense.embedding_) < 1e-6


REFUSED = {
    "columns": (lambda X: {"X": X[:3, :2]}, ValueError, "features"),
    "unseen end": (
        lambda X: {"X": X[:1], "node_ids": ["new"], "edges": [("new", "nobody")]},
        GraphError,
        "nobody has not",
    ),
    "seen label": (
        lambda X: {"X": X[:1], "node_ids": ["row 3"]},
        LabelError,
        "'row 3' has been seen",
    ),
    "no labels": (lambda X: {"X": X[:1]}, LabelError, "every batch or with none"),
    "labels twice": (
        lambda X: {"X": X[:2], "node_ids": ["a", "a"]},
        LabelError,
        "new in every batch",
    ),
    "other kind": (lambda X: {"X": X[:1], "node_ids": [7]}, LabelError, "same kind"),
    "too few": (
        lambda X: {"X": X[:2], "node_ids": ["a"]},
        LabelError,
        "one label for each",
    ),
    "NaN": (
        lambda X: {"X": X[:1] * np.nan, "node_ids": ["a"]},
        GraphfoldError,
        "finite",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_batch_that_is_refused_leaves_no_trace(data, name):
    X, _, ids = data
    model = GraphKernelPCA(2, landmarks=20)
    model.partial_fit(X[:60], node_ids=ids[:60], edges=chain(ids[:60]))
    before = model.embedding_.copy()
    make, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        model.partial_fit(**make(X))
    assert model.n_seen_ == 60
    np.testing.assert_array_equal(model.embedding_, before)
    model.partial_fit(X[60:70], node_ids=ids[60:70])
    assert model.embedding_.shape == (70, 2)


def test_what_a_stream_needs():
    X = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(AttributeError, match="landmarks must be a number or rows"):
        GraphKernelPCA(2).partial_fit(X)
    for factor in (0, 1.5, "x"):
        with pytest.raises(GraphfoldError, match="forgetting must be"):
            GraphKernelPCA(2, landmarks=5, forgetting=factor).partial_fit(X)
    model = GraphKernelPCA(2, landmarks=5, graph=Graph([("a", "b")]))
    with pytest.raises(GraphError, match="edges must be None where the constructor"):
        model.partial_fit(X[:2], node_ids=["a", "b"], edges=[("a", "b")])
    with pytest.raises(GraphfoldError, match="refresh needs a stream"):
        GraphKernelPCA(2, landmarks=5).refresh()
    with pytest.raises(GraphfoldError, match="at least 2 rows"):
        GraphKernelPCA(1, landmarks=5).partial_fit(X[:1]).refresh()
