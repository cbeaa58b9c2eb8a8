"""Landmarks that are centres of k-means: fits, streams, budgets, files, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles

from graphfold import (
    GraphKernelPCA,
    MultiModalGraphEmbedding,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    io,
    kernels,
)
from graphfold.errors import BudgetError, GraphfoldError

RNG = np.random.default_rng(3)
X = 3 * RNG.standard_normal((12, 6))[RNG.integers(0, 12, 700)]
X = X + RNG.standard_normal(X.shape)
WORDS = sp.csr_array(np.where(RNG.random((400, 30)) < 0.2, RNG.random((400, 30)), 0))


def dot(x, y):
    return float(x @ y)


def centred(**settings):
    return GraphKernelPCA(3, landmark_choice="k-means", **{"landmarks": 40, **settings})


def rows_of(A):
    return set(map(tuple, np.asarray(A).tolist()))


@pytest.mark.parametrize("settings", [{}, {"graph": NeighborGraph(5)}], ids=str)
def test_they_see_more_of_the_kernel_than_rows_do(settings):
    exact = GraphKernelPCA(3, gamma=0.02, **settings).fit(X)
    found = {}
    for choice in ("uniform", "k-means"):
        how = {"landmarks": 20, "landmark_choice": choice, "gamma": 0.02, **settings}
        fits = [GraphKernelPCA(3, random_state=s, **how).fit(X) for s in range(5)]
        angles = [
            subspace_angles(f.eigenvectors_, exact.eigenvectors_).max() for f in fits
        ]
        found[choice] = np.median(angles), np.median([f.landmark_error_ for f in fits])
    assert found["k-means"][0] < 0.7 * found["uniform"][0]
    assert found["k-means"][1] < found["uniform"][1]


def test_they_are_what_auto_means():
    auto = GraphKernelPCA(3, landmarks=40).fit(X)
    assert_array_equal(auto.landmarks_, centred().fit(X).landmarks_)
    assert not rows_of(auto.landmarks_) & rows_of(X)
    uniform = GraphKernelPCA(3, landmarks=40, landmark_choice="uniform").fit(X)
    assert rows_of(uniform.landmarks_) <= rows_of(X)
    assert auto.kernel_.gamma == uniform.kernel_.gamma


def test_any_order_of_rows_has_the_same_answer_and_a_fit_repeats_bit_for_bit():
    order = RNG.permutation(len(X))
    one, again, other = (centred().fit(rows) for rows in (X, X, X[order]))
    assert_array_equal(again.embedding_, one.embedding_)
    assert_array_equal(other.landmarks_, one.landmarks_)
    assert_allclose(other.embedding_, one.embedding_[order], atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine", "laplacian"])
def test_of_sparse_rows_they_are_sparse_and_the_same(kernel):
    words = WORDS if kernel != "laplacian" else WORDS[:150]
    one = centred(kernel=kernel).fit(words)
    other = centred(kernel=kernel).fit(words.toarray())
    assert sp.issparse(one.landmarks_)
    assert_allclose(one.landmarks_.toarray(), other.landmarks_, atol=1e-12)
    angle = subspace_angles(one.eigenvectors_, other.eigenvectors_).max()
    assert angle < 1e-3


def test_single_precision_stays():
    rows = X.astype(np.float32)
    model, wide = centred().fit(rows), centred().fit(rows.astype(float))
    assert model.landmarks_.dtype == model.embedding_.dtype == np.float32
    assert subspace_angles(model.eigenvectors_, wide.eigenvectors_).max() < 1e-3


def test_rows_are_placed_where_they_were():
    model = centred(graph=NeighborGraph(5)).fit(X)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-6)


def test_a_stream_has_the_answer_of_a_fit():
    how = {"kernel": "rbf", "landmarks": 40}
    stream = centred(**how)
    for start in (0, 300, 450):
        stream.partial_fit(X[start : start + (300 if start == 0 else 150)])
    whole = centred(refine=False, **how).fit(X[:600])
    assert_array_equal(stream.landmarks_, whole.landmarks_)
    assert_allclose(stream.embedding_, whole.embedding_, atol=1e-6)


def test_a_stream_that_forgets_has_the_centres_of_what_is_left():
    stream = centred(forgetting=0.05)
    for start in range(0, 600, 100):
        stream.partial_fit(X[start : start + 100])
    assert len(stream.embedding_) < 600
    left = X[600 - len(stream.embedding_) : 600]
    reference = centred(refine=False).fit(left)
    assert_array_equal(stream.landmarks_, reference.landmarks_)


def test_a_stream_of_few_rows_takes_them_all():
    stream = centred().partial_fit(X[:20])
    assert rows_of(stream.landmarks_) == rows_of(X[:20])


def test_they_come_back_from_a_file(tmp_path):
    model = centred(graph=NeighborGraph(5)).fit(X)
    model.save(tmp_path / "model.graphfold")
    loaded = io.load(tmp_path / "model.graphfold")
    assert_array_equal(loaded.landmarks_, model.landmarks_)
    assert_array_equal(loaded.transform(X[:9] + 0.1), model.transform(X[:9] + 0.1))


def test_other_estimators_take_them_too():
    y = np.where(np.arange(len(X)) % 5 == 0, X[:, 0] > 0, -1).astype(int)
    how = {"landmarks": 30, "landmark_choice": "k-means"}
    for model in (
        SemiSupervisedGraphKernelPCA(2, **how).fit(X, y),
        MultiModalGraphEmbedding(2, kernel="rbf", **how).fit(X),
    ):
        assert len(model.landmarks_) == 30
        assert np.isfinite(model.transform(X[:4] + 0.1)).all()


# -- kernels to which a mean may say nothing ------------------------------------------

CALLABLES = {
    "a callable": dot,
    "one of several": ["rbf", dot],
    "on columns": kernels.OnColumns(kernels.Pairwise(dot), 0, 5),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_a_callable_is_given_rows_of_x(name):
    model = GraphKernelPCA(2, kernel=CALLABLES[name], landmarks=20)
    assert rows_of(model.fit(X[:80]).landmarks_) <= rows_of(X[:80])


@pytest.mark.parametrize("name", CALLABLES)
def test_means_for_a_callable_are_refused_by_name(name):
    model = centred(kernel=CALLABLES[name])
    for attempt in (model.fit, model.plan, model.partial_fit):
        with pytest.raises(GraphfoldError, match=r'must not be "k-means".*callable'):
            attempt(X[:80])
    given = centred(kernel=CALLABLES[name], landmarks=X[:15]).fit(X[:80])
    assert_array_equal(given.landmarks_, X[:15])


# -- budgets --------------------------------------------------------------------------


def test_a_plan_counts_the_rows_that_are_averaged():
    wide = np.zeros((4000, 2000), dtype=np.float32)
    wide[:, 0] = np.arange(4000)
    plans = {
        choice: GraphKernelPCA(3, landmarks=100, landmark_choice=choice).plan(wide)
        for choice in ("uniform", "k-means")
    }
    rows = 20 * 100 * 2000 * 4
    assert plans["k-means"].peak_bytes > rows
    assert plans["k-means"].peak_bytes > plans["uniform"].peak_bytes
    with pytest.raises(BudgetError, match="with 100 landmarks"):
        centred(landmarks=100, max_memory="12MB").fit(wide)
