"""Bugs of streams and landmarks, each as a review found it."""

import numpy as np
import pandas as pd
import pytest

from graphfold import Graph, GraphKernelPCA, NeighborGraph, SemiSupervisedGraphKernelPCA
from graphfold.errors import GraphError, GraphfoldError, KernelError, LabelError

X = np.random.default_rng(0).standard_normal((200, 5))


def chain(first, last):
    return [(i, i - 1) for i in range(max(first, 1), last)]


def five_batches(**settings):
    model = GraphKernelPCA(2, **settings)
    for i in range(5):
        rows = slice(40 * i, 40 * (i + 1))
        model.partial_fit(X[rows], edges=chain(rows.start, rows.stop))
    return model


def test_kernels_that_are_not_positive_have_no_features():
    with pytest.raises(KernelError, match="not positive"):
        GraphKernelPCA(3, kernel="sigmoid", gamma=0.05, landmarks=150).fit(X)


@pytest.mark.parametrize("laplacian", ["normalized", "combinatorial"])
@pytest.mark.parametrize("forgetting", [1.0, 0.5])
def test_edges_of_new_rows_fade_like_the_rows_they_end_at(laplacian, forgetting):
    model = five_batches(landmarks=X, laplacian=laplacian, forgetting=forgetting)
    size = np.abs(model.embedding_).max()
    for row in (165, 180, 194):
        again = model.transform(X[[row]], edges=[(0, row - 1), (0, row + 1)])
        assert np.abs(again - model.embedding_[row]).max() < 1e-6 * size


def test_rows_without_labels_are_known_by_their_arrival_when_some_are_gone():
    model = five_batches(landmarks=30, forgetting=0.01)
    assert len(model.embedding_) == 120
    assert model.transform(X[:1], edges=[(0, 190)]).shape == (1, 2)
    with pytest.raises(LabelError, match=r"\(0, 5\) does not"):
        model.transform(X[:1], edges=[(0, 5)])


@pytest.mark.parametrize("matrix", [False, True])
def test_edges_without_names_are_refused(matrix):
    graph = NeighborGraph(5).build(X[:50])
    edges = graph.to_scipy() if matrix else graph
    with pytest.raises(GraphError, match="must name the rows"):
        GraphKernelPCA(2, landmarks=20).partial_fit(X[:50], edges=edges)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, lambda pairs: pairs])
def test_edges_come_in_many_ways(make):
    edges = make(chain(0, 50))
    if hasattr(edges, "columns"):
        edges.columns = ["source", "target"]
    model = GraphKernelPCA(2, landmarks=20).partial_fit(X[:50], edges=edges)
    assert model.graph_.n_edges == 49
    model = GraphKernelPCA(2, landmarks=20)
    model.partial_fit(X[:50], edges={"a": edges, "b": []})
    assert model.graph_names_ == ["a"]


@pytest.mark.parametrize(
    "classes",
    [["a", "b"], [True, False], np.array([0, 1], np.uint8), [0, 1], [0.5, 1.5]],
    ids=["text", "flags", "bytes", "integers", "numbers"],
)
def test_a_batch_without_classes_has_none(classes):
    model = SemiSupervisedGraphKernelPCA(2, landmarks=20)
    model.partial_fit(X[:50], np.tile(classes, 25)).partial_fit(X[50:100])
    assert model.constraint_report_.n_labelled == 50


def test_two_directions_of_two_columns_with_forgetting():
    """Against the weighted covariance, whose eigenvalues they are."""
    model = GraphKernelPCA(2, kernel="linear", landmarks=20, forgetting=0.5)
    model.partial_fit(X[:50, :2]).partial_fit(X[50:90, :2])
    weights = np.repeat([0.5, 1.0], [50, 40])
    centred = X[:90, :2] - np.average(X[:90, :2], axis=0, weights=weights)
    expected = np.linalg.eigvalsh((centred * weights[:, None]).T @ centred)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, expected, rtol=1e-5)
    too_many = GraphKernelPCA(3, kernel="linear", landmarks=20, forgetting=0.5)
    too_many.partial_fit(X[:50, :2]).partial_fit(X[50:90, :2])
    with pytest.raises(GraphfoldError, match="n_components must be at most 2"):
        too_many.refresh()


def test_leverage_does_not_depend_on_the_order_of_rows():
    order = np.random.default_rng(1).permutation(200)
    settings = {"landmarks": 20, "landmark_choice": "leverage"}
    one = GraphKernelPCA(2, **settings).fit(X).landmarks_
    other = GraphKernelPCA(2, **settings).fit(X[order]).landmarks_
    np.testing.assert_array_equal(one, other)


def test_a_graph_that_has_faded_away_is_none():
    model = GraphKernelPCA(2, landmarks=20, forgetting=0.1)
    for i in range(8):
        edges = chain(0, 20) if i == 0 else None
        model.partial_fit(X[20 * i : 20 * (i + 1)], edges=edges)
    assert model.graph_ is None
    assert len(model.embedding_) == 100


BAD = {
    "choice": ({"landmark_choice": "nope"}, {}, "landmark_choice"),
    "kernel": ({"kernel": "precomputed"}, {}, "function of two rows"),
    "y": ({}, {"y": [0, 1]}, "one entry for each"),
    "node": ({"graph": Graph([("a", "b"), ("b", "c")])}, {"node_ids": "abz"}, "z"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_would_fail_later_is_refused_with_its_batch(name):
    settings, extra, words = BAD[name]
    if "node_ids" in extra:
        extra = {"node_ids": list(extra["node_ids"])}
    model = GraphKernelPCA(2, landmarks=3, **settings)
    with pytest.raises(GraphfoldError, match=words):
        model.partial_fit(X[:3], **extra)
    assert not hasattr(model, "n_seen_")


def test_only_what_a_refresh_finds_is_a_reason_for_one():
    model = GraphKernelPCA(1, landmarks=5).partial_fit(X[:1])
    assert not hasattr(model, "unknown_")
    model.partial_fit(X[1:30])
    assert list(model.get_feature_names_out()) == ["graphkernelpca0"]


def test_parameters_that_change_change_the_answer():
    model = GraphKernelPCA(2, landmarks=20).partial_fit(X).refresh()
    assert len(model.set_params(landmarks=40).landmarks_) == 40
    assert model.set_params(n_components=3).embedding_.shape == (200, 3)
    model.set_params(landmarks=None)
    with pytest.raises(GraphfoldError, match="landmarks must be a number or rows"):
        model.refresh()


@pytest.mark.parametrize("kind", ["memmap", "hdf5"])
def test_tables_on_disk_where_rows_are_needed(tmp_path, kind):
    if kind == "memmap":
        table = np.memmap(tmp_path / "x", dtype="f8", mode="w+", shape=X.shape)
        table[:] = X
    else:
        h5py = pytest.importorskip("h5py", reason="not among the lowest versions")
        file = h5py.File(tmp_path / "x", "w")
        table = file.create_dataset("x", data=X)
    graph = NeighborGraph(5).build(X)
    held = GraphKernelPCA(2, landmarks=30, graph=graph, graph_strength="auto")
    assert held.fit(table).graph_strength_ == held.fit(X).graph_strength_
    model = GraphKernelPCA(2, landmarks=30, graph=NeighborGraph(5)).fit(table)
    np.testing.assert_allclose(model.transform(X), model.embedding_)
    back = GraphKernelPCA(2, landmarks=30, fit_inverse_transform=True).fit(table)
    back.save(tmp_path / "model.npz")
    assert back.inverse_transform(back.embedding_[:3]).shape == (3, 5)
    stream = GraphKernelPCA(2, landmarks=30).partial_fit(table)
    if kind == "memmap":
        table[:] = 0
    np.testing.assert_array_equal(
        stream.embedding_,
        GraphKernelPCA(2, landmarks=30).partial_fit(X).embedding_,
    )


def test_a_solver_says_why_it_was_chosen():
    model = GraphKernelPCA(2, landmarks=50).fit(X)
    assert "in the span" in model.solver_reason_
    assert "span" in model.plan(X).reason


@pytest.mark.parametrize("n_landmarks", [100, 200])
def test_the_batch_of_the_landmarks_is_no_measure_of_the_next(n_landmarks):
    """Landmarks saw all of themselves, so that a second batch like it seemed new."""
    X = np.random.default_rng(0).standard_normal((1000, 30))
    model = GraphKernelPCA(2, landmarks=X[:n_landmarks])
    model.partial_fit(X[:200]).partial_fit(X[200:400]).partial_fit(X[400:])
    model.refresh()  # a DriftWarning would be an error
    lost = model.drift_.lost
    assert np.isnan(lost[0]) == (n_landmarks == 200)
    assert np.nanmax(lost) - np.nanmin(lost) < 0.05
    model = GraphKernelPCA(2, landmarks=X[:n_landmarks])
    model.partial_fit(X[:200]).partial_fit(X[200:400]).refresh()


def test_chunks_of_a_table_that_count_on_have_no_labels():
    frame = pd.DataFrame(X)
    model = GraphKernelPCA(2, landmarks=30)
    for i in range(5):
        rows = slice(40 * i, 40 * (i + 1))
        model.partial_fit(frame.iloc[rows], edges=chain(rows.start, rows.stop))
    np.testing.assert_allclose(
        model.embedding_, five_batches(landmarks=30).embedding_, atol=1e-8
    )
