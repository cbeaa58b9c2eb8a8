"""``weights`` as the start of learning: one start, several, by name or in order."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import graphfold
from graphfold import (
    GraphKernelPCA,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    SemiSupervisedGraphKernelPCA,
)
from graphfold.errors import GraphfoldError
from tests.estimators.test_many_terms import adjacency

# a direction that both kernels share hides a better one of the first kernel alone:
# |(6.5, 6.5)| = 9.19 from equal weights, 10 from the first kernel, 9.5 from the second
AXES = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0][:, :3]
HIDDEN = {
    "first": AXES @ np.diag([10.0, 0.0, 6.5]) @ AXES.T,
    "second": AXES @ np.diag([0.0, 9.5, 6.5]) @ AXES.T,
}
LETTER = {"normalize": False, "center": False, "scaling": "orthonormal"}
TABLES = {"a": adjacency(1), "b": adjacency(2)}


def learned(weights, **settings):
    model = GraphKernelPCA(1, kernel="precomputed", weights=weights, **LETTER)
    return model.set_params(**settings).fit(HIDDEN)


@pytest.mark.parametrize(
    ("weights", "objective", "theta"),
    [
        ("learn", 6.5 * np.sqrt(2), [0.5**0.5, 0.5**0.5]),
        (np.array([1.0, 0.0]), 10.0, [1, 0]),
        ([5.0, 0.01], 10.0, [1, 0]),
        ({"second": 3.0, "first": 0}, 9.5, [0, 1]),
        ({"second": 1e-200, "first": 1e-202}, 9.5, [0, 1]),
        (pd.Series([3.0, 0.0], index=["second", "first"]), 9.5, [0, 1]),
        ([pd.Series([3.0, 0.0], index=["second", "first"])], 9.5, [0, 1]),
        (pd.Series([3.0, 0.0]), 10.0, [1, 0]),
    ],
)
def test_learning_starts_where_it_is_told(weights, objective, theta):
    model = learned(weights)
    assert model.objective_trace_[-1] == pytest.approx(objective)
    assert_allclose(model.kernel_weights_, theta, atol=1e-6)
    assert (np.diff(model.objective_trace_) >= -1e-9).all()


@pytest.mark.parametrize(
    "weights",
    [
        ["learn", {"first": 0, "second": 1}, {"first": 1, "second": 0}],
        [[1, 0], [0, 1]],
        ((0.0, 1.0), (1.0, 0.0)),
        np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
        20,
    ],
    ids=["mixed", "lists", "tuples", "array", "number"],
)
def test_of_several_starts_the_best_is_kept(weights):
    model = learned(weights)
    assert model.objective_trace_[-1] == pytest.approx(10.0)
    assert_allclose(model.kernel_weights_, [1, 0], atol=1e-6)


def test_another_start_finds_better_optima_of_random_problems():
    gains = []
    for seed in (13, 14):
        rng = np.random.default_rng(seed)
        factors = [rng.standard_normal((30, 2)) * [3, 1] for _ in range(4)]
        K = [B @ B.T for B in factors]
        model = GraphKernelPCA(1, kernel="precomputed", **LETTER)
        plain = model.fit(K).objective_trace_[-1]
        best = clone(model).set_params(weights=10).fit(K).objective_trace_[-1]
        gains.append(best / plain - 1)
    assert min(gains) > 0.03


def test_a_number_of_starts_is_never_worse_and_repeats():
    one, two = learned(3, random_state=1), learned(3, random_state=1)
    assert_array_equal(one.embedding_, two.embedding_)
    assert learned(1).objective_trace_[-1] == learned("learn").objective_trace_[-1]


def test_kernels_and_graphs_are_told_apart_by_name(points):
    how = {"kernel": {"near": "rbf", "far": "linear"}, "graph": TABLES}
    order = GraphKernelPCA(2, weights=[1, 2, 3, 4], **how).fit(points)
    names = {"b": 4, "near": 1, "a": 3, "far": 2}
    named = GraphKernelPCA(2, weights=names, **how).fit(points)
    assert_array_equal(named.embedding_, order.embedding_)
    # a term that stands alone is not named
    one = GraphKernelPCA(2, graph=TABLES, weights={"a": 1, "b": 5}).fit(points)
    assert len(one.graph_weights_) == 2


def test_gamma_is_that_of_equal_weights_whatever_the_start(points):
    how = {"kernel": ["rbf", "linear"], "graph": TABLES["a"]}
    plain = GraphKernelPCA(2, **how).fit(points)
    other = GraphKernelPCA(2, weights=[1, 9], **how).fit(points)
    assert_allclose(other.kernel_weights_, plain.kernel_weights_, atol=1e-5)
    assert_allclose(other.eigenvalues_, plain.eigenvalues_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
@pytest.mark.parametrize("how", [{}, {"landmarks": 30}, {"graph_strength": "auto"}])
def test_every_way_of_fitting_takes_a_start(points, how):
    model = GraphKernelPCA(2, graph=TABLES, weights=[{"a": 1, "b": 0}, "learn"], **how)
    model.fit(points)
    if model.graph_strength_:
        assert np.linalg.norm(model.graph_weights_) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        SemiSupervisedGraphKernelPCA(
            2, graph=TABLES, weights=[1, 2], must_link=[(0, 1)]
        ),
        LocalNonlinearEmbedding(
            2, n_neighbors=6, order=1, graph=TABLES, weights={"a": 1, "b": 2}
        ),
        MultiModalGraphEmbedding(2, modes={"x": [0, 1], "y": [2, 3, 4]}, weights=4),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_estimators_take_a_start(points, model):
    model.fit(points)
    assert np.linalg.norm(model.graph_weights_) == pytest.approx(1)


@pytest.mark.parametrize(
    "weights",
    [
        np.array([1.0, 2.0]),
        {"first": 1.0, "second": 2.0},
        [{"first": 1.0, "second": 2.0}, np.array([1.0, 0.0]), "learn"],
        3,
    ],
    ids=["array", "dict", "list", "number"],
)
def test_a_start_is_cloned_and_saved(weights, tmp_path):
    model = learned(weights)
    again = clone(model).fit(HIDDEN)
    assert_array_equal(again.embedding_, model.embedding_)
    model.save(tmp_path / "model.npz")
    loaded = graphfold.load(tmp_path / "model.npz")
    assert repr(loaded.weights) == repr(model.weights)
    assert_array_equal(loaded.fit(HIDDEN).embedding_, model.embedding_)


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ("best", "weights must be one of"),
        (0, "weights must be between 1 and 1000; got 0"),
        (True, 'weights must be "learn", "equal", a number of starts'),
        (None, 'weights must be "learn", "equal", a number of starts'),
        (1.5, "weights must be .*; got 1.5"),
        ([1, 2, 3], r"first, second; got an array of shape \(3,\)"),
        ([[1, 2], [1, 2, 3]], r"got an array of shape \(3,\)"),
        ([1, -2], "finite and at least 0"),
        ([1, np.nan], "finite and at least 0"),
        ([0, 0], "must not all be 0; those of the kernels are"),
        ({"first": 1}, "first, second; got none for 'second'"),
        ({"first": 1, "secnod": 1, "second": 1}, "got 'secnod', which is none"),
        ([{"first": 1, "second": 1}, "equal"], "got 'equal' in a list"),
        (["x", "y"], "got 'x' in a list"),
        ([], r"got an array of shape \(0,\)"),
    ],
)
def test_a_start_that_is_none_is_refused(weights, text):
    with pytest.raises(GraphfoldError, match=text):
        learned(weights)


def test_names_that_a_kernel_and_a_graph_share(points):
    how = {"kernel": {"a": "rbf", "b": "linear"}, "graph": TABLES}
    with pytest.raises(GraphfoldError, match="both called 'a'"):
        GraphKernelPCA(2, weights={"a": 1, "b": 2}, **how).fit(points)
    GraphKernelPCA(2, weights=[1, 2, 3, 4], **how).fit(points)


def test_a_start_where_nothing_is_learned_is_refused(points):
    with pytest.raises(GraphfoldError, match="there is none, since no kernel"):
        GraphKernelPCA(2, weights={"rbf": 1.0}).fit(points)


def test_a_series_of_weights_has_distinct_names_of_the_terms():
    for names, text in ((["first", "x"], "'x', which is none"), ("aa", "of its own")):
        with pytest.raises(GraphfoldError, match=text):
            learned(pd.Series([1.0, 0.0], index=list(names)))
