"""Landmark models meet rows: old ones, new ones, their edges, files, and the way back.

All rows are landmarks where a landmark model is held against the exact one.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import graphfold
from graphfold import (
    Graph,
    GraphKernelPCA,
    MultiModalGraphEmbedding,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    responses,
)
from graphfold.errors import LabelError, UnlabelledRowsWarning
from graphfold.estimators.row_keys import RowKeys
from tests.helpers import assert_same_up_to_sign

N, NEW = 150, 30
NAMES = np.array([f"p{i:03d}" for i in range(N + NEW)])


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).standard_normal((N + NEW, 4)) * [3, 2, 1, 0.5]
    return X + 1.0


@pytest.fixture(scope="module")
def graph(rows):
    """A graph of all rows, those of the fit and the new ones."""
    return Graph(NeighborGraph(6).build(rows).to_scipy(), nodes=NAMES)


@pytest.fixture(scope="module")
def classes(rows):
    known = np.random.default_rng(1).random(N) < 0.3
    return np.where(known, rows[:N, 0] > 1, -1).astype(int)


def pair(cls=GraphKernelPCA, d=2, landmarks=N, **settings):
    settings = {"tol": 1e-6, **settings}
    exact = cls(d, **{**settings, "tol": 1e-10})
    return cls(d, landmarks=landmarks, **settings), exact


# -- rows of the fit come back ---------------------------------------------------------


@pytest.mark.parametrize("scaling", ["eigenvalue", "unit"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", ["rbf", "linear"]])
@pytest.mark.parametrize("center", [True, False])
def test_without_a_graph_transform_gives_the_fit_back(rows, kernel, center, scaling):
    model = GraphKernelPCA(
        2, kernel=kernel, center=center, scaling=scaling, landmarks=40
    )
    Z = model.fit_transform(rows[:N])
    assert_allclose(model.transform(rows[:N]), Z, atol=1e-4 * np.abs(Z).max())


@pytest.mark.parametrize("refine", [True, False])
def test_labelled_rows_come_back(rows, graph, refine):
    model = GraphKernelPCA(2, graph=graph, landmarks=40, refine=refine)
    Z = model.fit_transform(rows[:N], node_ids=NAMES[:N])
    order = np.random.default_rng(0).permutation(N)
    back = model.transform(rows[:N][order], node_ids=NAMES[:N][order])
    assert_array_equal(back, Z[order])
    table = pd.DataFrame(rows[:N], index=NAMES[:N])
    assert_array_equal(model.transform(table), Z)


def test_rows_of_a_recipe_come_back(rows):
    model = GraphKernelPCA(2, graph=NeighborGraph(5), landmarks=40)
    Z = model.fit_transform(rows[:N])
    assert_array_equal(model.transform(rows[:N][::-1]), Z[::-1])


def test_rows_of_labels_come_back(rows, classes):
    model = SemiSupervisedGraphKernelPCA(2, landmarks=40)
    Z = model.fit_transform(rows[:N], classes)
    assert_array_equal(model.transform(rows[:N][::-1]), Z[::-1])
    assert_array_equal(model.transform(rows[7:8]), Z[7:8])


def test_modes_come_back(rows):
    X = {"a": rows[:N], "b": rows[:N, :2] > 1}
    model = MultiModalGraphEmbedding(2, kernel="rbf", landmarks=40)
    Z = model.fit_transform(X)
    assert_array_equal(model.transform(X), Z)


def test_the_fixed_point_itself_gives_refined_rows_back(rows, graph):
    """Not looked up: placed by features and edges, as a new row would be."""
    for kind in ("normalized", "combinatorial"):
        model = GraphKernelPCA(
            2, graph=graph, landmarks=40, laplacian=kind, tol=1e-6, scaling="unit"
        )
        model.fit(rows[:N], node_ids=NAMES[:N])
        edges = graph.subgraph(NAMES[:N]).to_scipy()
        placed = model._extension.place(rows[:N], {"graph": edges}) * np.sqrt(N)
        linked = np.diff(edges.indptr) > 0
        assert np.abs(placed - model.embedding_)[linked].max() < 2e-2


# -- new rows --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kernel": "linear"},
        {"laplacian": "combinatorial"},
        {"center": False},
        {"response": responses.Diffusion(3.0)},
        {"graph_strength": 5.0, "scaling": "unit"},
        {"kernel": ["rbf", "linear"], "weights": "equal"},
    ],
    ids=str,
)
def test_new_rows_with_edges_are_placed_as_by_the_exact_model(rows, graph, settings):
    fast, exact = pair(graph=graph, gamma=0.1, **settings)
    for model in (fast, exact):
        model.fit(rows[:N], node_ids=NAMES[:N])
    one, other = (m.transform(rows[N:], node_ids=NAMES[N:]) for m in (fast, exact))
    assert_same_up_to_sign(one, other, rtol=1e-2)


@pytest.mark.parametrize("settings", [{}, {"kernel": "linear"}, {"center": False}])
def test_new_rows_without_edges_too(rows, graph, settings):
    for own in ({}, {"graph": graph}):
        fast, exact = pair(gamma=0.1, **settings, **own)
        found = []
        for model in (fast, exact):
            model.fit(rows[:N], node_ids=NAMES[:N])
            stranger = [f"x{i}" for i in range(NEW)]
            found.append(model.transform(rows[N:], node_ids=stranger))
        assert_same_up_to_sign(*found, rtol=1e-2)


def test_new_samples_of_modes_too(rows):
    tables = {"a": rows, "b": rows[:, :2] + 0.1}
    known, new = (
        {k: T[part] for k, T in tables.items()}
        for part in (slice(0, N), slice(N, None))
    )
    fast, exact = pair(MultiModalGraphEmbedding, kernel="rbf", gamma=0.1)
    one, other = (model.fit(known).transform(new) for model in (fast, exact))
    assert_same_up_to_sign(one, other, rtol=1e-2)
    assert_allclose(fast.contributions(new), exact.contributions(new), atol=1e-2)


def test_new_rows_of_labels_too(rows, classes):
    fast, exact = pair(SemiSupervisedGraphKernelPCA, gamma=0.1)
    one, other = (m.fit(rows[:N], classes).transform(rows[N:]) for m in (fast, exact))
    assert_same_up_to_sign(one, other, rtol=1e-2)


def test_edges_count(rows, graph):
    model = GraphKernelPCA(2, graph=graph, graph_strength=3.0, landmarks=40)
    model.fit(rows[:N], node_ids=NAMES[:N])
    linked = graph.edges_between(NAMES[N:], NAMES[:N])
    by_graph = model.transform(rows[N:], node_ids=NAMES[N:])
    by_hand = model.transform(rows[N:], edges=linked)
    assert_allclose(by_hand, by_graph, atol=1e-12)
    listed = [
        (int(i), NAMES[j], float(linked[i, j]))
        for i, j in zip(*linked.nonzero(), strict=True)
    ]
    assert_allclose(model.transform(rows[N:], edges=listed), by_graph, atol=1e-12)
    with pytest.warns(UnlabelledRowsWarning):
        alone = model.transform(rows[N:])
    assert np.abs(alone - by_graph).max() > 1e-3
    # the more edges to one row, the nearer to it
    far = int(np.argmax(np.linalg.norm(model.embedding_, axis=1)))
    pulled = model.transform(rows[N : N + 1], edges=[(0, NAMES[far], 1.0)])
    target = model.embedding_[far]
    assert np.linalg.norm(pulled - target) < np.linalg.norm(alone[:1] - target)


def test_a_row_is_placed_by_itself(rows, graph):
    model = GraphKernelPCA(2, graph=graph, landmarks=40)
    model.fit(rows[:N], node_ids=NAMES[:N])
    together = model.transform(rows[N:], node_ids=NAMES[N:])
    for i in (0, 5):
        alone = model.transform(rows[N + i : N + i + 1], node_ids=[NAMES[N + i]])
        assert_allclose(alone[0], together[i], atol=1e-10)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_a_known_label_with_other_features_is_refused(rows, graph, make, size):
    model = GraphKernelPCA(2, graph=graph, landmarks=40, gamma=0.1)
    model.fit(make(rows[:N]), node_ids=NAMES[:N])
    changed = rows[:5].copy()
    changed[2, 3] += size
    with pytest.raises(LabelError, match="other features: p002"):
        model.transform(make(changed), node_ids=NAMES[:5])
    # rounding to single precision is no other row
    rounded = rows[:5].astype(np.float32).astype(float)
    back = model.transform(make(rounded), node_ids=NAMES[:5])
    assert_array_equal(back, model.embedding_[:5])
    # and only new labels are no error
    assert model.transform(make(rows[N:]), node_ids=NAMES[N:]).shape == (NEW, 2)


def test_the_rows_themselves_are_not_kept(rows, graph):
    model = GraphKernelPCA(2, graph=graph, landmarks=40)
    model.fit(rows[:N], node_ids=NAMES[:N])
    assert model._X_fit is None
    assert len(model._row_keys) == N
    size = len(pickle.dumps(clone(model).fit(rows[:N], node_ids=NAMES[:N])))
    assert size < 200_000


# -- keys of rows ----------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_keys_find_equal_rows_and_no_others(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    keys = RowKeys.of(make(X))
    order = rng.permutation(300)
    found, repeated = keys.matching(make(X[order]))
    assert_array_equal(found, order)
    assert not repeated.any()
    assert (keys.matching(make(rng.standard_normal((100, 5))))[0] == -1).all()
    near = X[:100] + 1e-4 * rng.standard_normal((100, 5))
    assert (keys.matching(make(near))[0] == -1).all()


def test_keys_of_copies_find_one_of_them():
    rng = np.random.default_rng(0)
    distinct = rng.standard_normal((20, 3))
    which = rng.integers(0, 20, 400)
    found, repeated = RowKeys.of(distinct[which]).matching(distinct)
    assert_array_equal(which[found], np.arange(20))
    assert repeated.any()


def test_keys_of_rows_of_few_values():
    """Zeros and ones: many rows differ in one column alone."""
    X = np.array([[i >> j & 1 for j in range(8)] for i in range(256)], dtype=float)
    keys = RowKeys.of(X)
    assert_array_equal(keys.matching(X)[0], np.arange(256))
    shifted = X.copy()
    shifted[:, 0] = 2.0
    assert (keys.matching(shifted)[0] == -1).all()


# -- what a model tells and keeps ------------------------------------------------------


@pytest.mark.parametrize("with_graph", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_score_components_and_importances(rows, graph, with_graph, center):
    own = {"graph": graph} if with_graph else {}
    for kernel in ("linear", "rbf", "poly"):
        fast, exact = pair(kernel=kernel, gamma=0.1, center=center, **own)
        for model in (fast, exact):
            model.fit(rows[:N], node_ids=NAMES[:N])
        for X in (rows[:N], rows[N:]):
            assert fast.score(X) == pytest.approx(exact.score(X), abs=2e-3)
        for i in range(2):
            one, other = (np.asarray(m.feature_importances(i)) for m in (fast, exact))
            assert one.sum() == pytest.approx(1)
            assert_allclose(one, other, atol=1e-2)
        if kernel == "linear":
            assert_same_up_to_sign(fast.components_.T, exact.components_.T, rtol=1e-2)


def test_importances_with_several_kernels_and_few_landmarks(rows):
    """The first column carries most of the variance, whichever rows are asked."""
    model = GraphKernelPCA(1, kernel=["rbf", "linear"], landmarks=40).fit(rows)
    assert model.feature_importances(0).top(1)[0][0] == "x0"


def test_components_are_directions_of_the_rows(rows):
    """Of the linear kernel: Z = (X - mean) components', also with few landmarks."""
    model = GraphKernelPCA(2, kernel="linear", landmarks=12).fit(rows)
    Z = (rows - rows.mean(axis=0)) @ model.components_.T
    assert_allclose(Z, model.embedding_, atol=1e-4 * np.abs(Z).max())
    lengths = np.linalg.norm(model.components_, axis=1)
    assert_allclose(lengths, 1, atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear", ["rbf", "linear"]])
def test_inverse_transform(rows, graph, kernel):
    """Also of the linear kernel, which landmarks take about their own mean."""
    for own in ({}, {"graph": graph}):
        fast, exact = pair(
            d=3, kernel=kernel, gamma=0.1, fit_inverse_transform=True, alpha=0.1, **own
        )
        found = []
        for model in (fast, exact):
            Z = model.fit_transform(rows[:N], node_ids=NAMES[:N])
            found.append(model.inverse_transform(Z[:20]))
        assert_allclose(found[0], found[1], atol=2e-2 * np.abs(rows).max())


@pytest.mark.parametrize("landmarks", [40, "labels", "rows"])
def test_saved_loaded_and_pickled(rows, graph, tmp_path, landmarks):
    given = {"labels": NAMES[:N:4].tolist(), "rows": rows[:N:4]}
    model = GraphKernelPCA(
        2,
        graph=graph,
        landmarks=given.get(landmarks, landmarks),
        kernel=["rbf", "poly"],
    )
    model.fit(rows[:N], node_ids=NAMES[:N])
    model.save(tmp_path / "model")
    for other in (
        graphfold.load(tmp_path / "model"),
        pickle.loads(pickle.dumps(model)),
    ):
        assert_array_equal(other.embedding_, model.embedding_)
        assert_array_equal(other.landmarks_, model.landmarks_)
        assert other.landmark_error_ == model.landmark_error_
        for part in (slice(0, N), slice(N, None)):
            expected = model.transform(rows[part], node_ids=NAMES[part])
            found = other.transform(rows[part], node_ids=NAMES[part])
            assert_allclose(found, expected, atol=1e-12)
        with pytest.raises(LabelError, match="other features"):
            other.transform(rows[:1] + 1, node_ids=NAMES[:1])
        assert other.score(rows) == pytest.approx(model.score(rows))


def test_saved_and_loaded_semi_supervised_and_modes(rows, classes, tmp_path):
    one = SemiSupervisedGraphKernelPCA(2, landmarks=40).fit(rows[:N], classes)
    two = MultiModalGraphEmbedding(2, kernel="rbf", landmarks=40).fit(rows[:N])
    sparse = GraphKernelPCA(2, kernel="linear", landmarks=40)
    sparse.fit(sp.csr_array(rows[:N]))
    for i, model in enumerate((one, two, sparse)):
        model.save(tmp_path / str(i))
        again = graphfold.load(tmp_path / str(i))
        assert_allclose(again.transform(rows), model.transform(rows), atol=1e-12)


def test_refitted_without_landmarks_nothing_of_them_is_left(rows):
    model = GraphKernelPCA(2, landmarks=40).fit(rows)
    exact = model.set_params(landmarks=None).fit(rows)
    assert not hasattr(exact, "landmarks_")
    assert not hasattr(exact, "landmark_error_")
    reference = GraphKernelPCA(2).fit(rows)
    assert_array_equal(exact.embedding_, reference.embedding_)
    assert_array_equal(exact.transform(rows[:5]), reference.transform(rows[:5]))


def test_axes_can_be_aligned(rows, graph):
    reference = GraphKernelPCA(2, graph=graph, landmarks=40)
    reference.fit(rows[:N], node_ids=NAMES[:N])
    turned = clone(reference).set_params(align_to=-reference.embedding_[:, ::-1])
    turned.fit(rows[:N], node_ids=NAMES[:N])
    assert_allclose(turned.embedding_, -reference.embedding_[:, ::-1], atol=1e-6)
    new = [
        model.transform(rows[N:], node_ids=NAMES[N:]) for model in (turned, reference)
    ]
    assert_allclose(new[0], -new[1][:, ::-1], atol=1e-6)


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
def test_strength_by_itself(rows):
    model = GraphKernelPCA(
        2, graph=NeighborGraph(5), landmarks=40, graph_strength="auto"
    )
    model.fit(rows)
    assert model.graph_strength_ in model.strength_path_.strengths
    assert np.isfinite(model.embedding_).all()
