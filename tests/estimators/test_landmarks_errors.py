"""Landmarks that cannot be: one clear sentence, and the model stays what it was."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graphfold import (
    Graph,
    GraphKernelPCA,
    MultiModalGraphEmbedding,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    kernels,
)
from graphfold.errors import GraphfoldError, LabelError

N = 40
X = np.random.default_rng(0).standard_normal((N, 3))
NAMES = [f"p{i}" for i in range(N)]
TWICE = np.vstack([X[:5], X[2:3]])
HOLE = np.where(np.arange(15).reshape(5, 3) == 7, np.nan, X[:5])

#: what is asked for, and words that the sentence has to hold
BAD = {
    "more than rows": ({"landmarks": N + 1}, ["landmarks", "between 2 and 40", "41"]),
    "fewer than d": ({"landmarks": 1}, ["landmarks", "between 2", "n_components=2"]),
    "none": ({"landmarks": 0}, ["landmarks", "between 2", "got 0"]),
    "negative": ({"landmarks": -3}, ["landmarks", "between 2", "got -3"]),
    "a fraction": ({"landmarks": 5.5}, ["landmarks", "integer", "5.5"]),
    "a whole float": ({"landmarks": 5.0}, ["landmarks", "integer", "5.0"]),
    "a flag": ({"landmarks": True}, ["landmarks", "integer", "True"]),
    "a word": ({"landmarks": "many"}, ["landmarks", "integer", "many"]),
    "not a number": ({"landmarks": float("nan")}, ["landmarks", "integer", "nan"]),
    "a position twice": ({"landmarks": [3, 4, 3]}, ["distinct", "3", "twice"]),
    "a position beyond": ({"landmarks": [3, 99]}, ["positions of rows", "99"]),
    "a position before": ({"landmarks": [3, -1]}, ["positions of rows", "-1"]),
    "labels without labels": ({"landmarks": ["a", "b"]}, ["positions of rows", "a"]),
    "a row twice": ({"landmarks": TWICE}, ["distinct", "row 5 equals row 2"]),
    "sparse rows twice": (
        {"landmarks": sp.csr_array(TWICE)},
        ["distinct", "row 5 equals row 2"],
    ),
    "other columns": ({"landmarks": X[:5, :2]}, ["landmarks", "3 columns", "got 2"]),
    "NaN": ({"landmarks": HOLE}, ["landmarks", "NaN"]),
    "infinity": (
        {"landmarks": X[:5] + np.array([0, 0, np.inf])},
        ["landmarks", "infinity"],
    ),
    "a choice": (
        {"landmarks": 5, "landmark_choice": "x"},
        ["landmark_choice", "uniform", "k-means++", "leverage", "'x'"],
    ),
    "a choice without landmarks": ({"landmark_choice": 3}, ["landmark_choice", "3"]),
    "refine": (
        {"landmarks": 5, "refine": "yes"},
        ["refine", "auto", "True or False", "'yes'"],
    ),
    "refine as a number": ({"landmarks": 5, "refine": 1}, ["refine", "got 1"]),
    "refine as None": ({"landmarks": 5, "refine": None}, ["refine", "None"]),
    "refine as an array": ({"landmarks": 5, "refine": np.ones(3)}, ["refine"]),
    "no kernel": (
        {"landmarks": 5, "kernel": None, "graph": NeighborGraph(3)},
        ["landmarks must be None", "kernel=None"],
    ),
    "no kernel, no graph": ({"landmarks": 5, "kernel": None}, ["kernel", "None"]),
    "a kernel of neighbourhoods": (
        {"landmarks": 5, "kernel": kernels.LocallyLinear(3)},
        ["landmarks must be None", "LocallyLinear"],
    ),
    "another": (
        {"landmarks": 5, "kernel": kernels.Geodesic(3)},
        ["landmarks must be None", "Geodesic"],
    ),
    "one of several": (
        {"landmarks": 5, "kernel": ["rbf", kernels.LocallyLinear(3)]},
        ["landmarks must be None", "LocallyLinear"],
    ),
}


@pytest.mark.parametrize("cls", [GraphKernelPCA, SemiSupervisedGraphKernelPCA])
@pytest.mark.parametrize("case", BAD)
def test_one_sentence_and_the_earlier_fit_still_works(cls, case):
    settings, words = BAD[case]
    y = np.where(np.arange(N) % 3 == 0, X[:, 0] > 0, -1).astype(int)
    model = cls(2, landmarks=10).fit(X, y)
    state = dict(vars(model))
    place = model.transform(X[:5] + 0.1)
    asked = model.get_params()
    model.set_params(**settings)
    with pytest.raises(ValueError) as caught:
        model.fit(X, y)
    message = str(caught.value)
    for word in words:
        assert word in message
    assert "\n\n" not in message
    model.set_params(**{name: asked[name] for name in settings})
    assert dict(vars(model)).keys() == state.keys()
    for name, value in state.items():
        assert vars(model)[name] is value
    assert_array_equal(model.transform(X[:5] + 0.1), place)


@pytest.mark.parametrize("case", BAD)
def test_never_fitted_stays_never_fitted(case):
    settings, _ = BAD[case]
    model = GraphKernelPCA(2, **settings)
    before = set(vars(model))
    with pytest.raises(ValueError):
        model.fit(X)
    assert set(vars(model)) == before


def test_labels_are_asked_for_where_rows_have_them():
    graph = Graph(NeighborGraph(4).build(X).to_scipy(), nodes=NAMES)
    model = GraphKernelPCA(2, landmarks=["p1", "p2", "zz"], graph=graph)
    with pytest.raises(LabelError, match="labels of rows of X; zz is not"):
        model.fit(X, node_ids=NAMES)
    with pytest.raises(LabelError, match="labels of rows of X; zz is not"):
        model.fit(pd.DataFrame(X, index=NAMES))
    model.set_params(landmarks=["p1", "p2", "p1"])
    with pytest.raises(LabelError, match="distinct; 'p1' occurs twice"):
        model.fit(X, node_ids=NAMES)
    # an index counts as labels even where no graph asks for it
    model.set_params(landmarks=["p1", "p2", "p3"], graph=None)
    found = model.fit(pd.DataFrame(X, index=NAMES)).landmarks_
    assert_array_equal(found, X[1:4])


def test_multi_modal_refuses_what_cannot_be():
    model = MultiModalGraphEmbedding(2, kernel="rbf", landmarks=10).fit(X)
    place = model.transform(X[:3] + 0.1)
    for settings, words in [
        ({"landmarks": N + 1}, "between 2 and 40"),
        ({"landmarks": 1}, "between 2"),
        ({"landmarks": [0, 0, 1]}, "distinct"),
        ({"landmarks": [0, 1, 77]}, "77 is not"),
        ({"landmark_choice": "x"}, "landmark_choice must be one of"),
        ({"refine": "yes"}, "refine must be"),
        ({"kernel": None}, "landmarks must be None"),
    ]:
        asked = {name: model.get_params()[name] for name in settings}
        with pytest.raises(GraphfoldError, match=words):
            model.set_params(**settings).fit(X)
        model.set_params(**asked)
        assert_array_equal(model.transform(X[:3] + 0.1), place)


@pytest.mark.parametrize("count", [np.int64(10), np.int32(10), np.uint8(10)])
def test_any_whole_number_will_do(count):
    found = GraphKernelPCA(2, landmarks=count).fit(X)
    assert_array_equal(
        found.embedding_, GraphKernelPCA(2, landmarks=10).fit_transform(X)
    )


def test_rows_that_are_all_copies_are_fewer_landmarks_and_no_error():
    few = X[np.arange(N) % 6]
    model = GraphKernelPCA(2, landmarks=20).fit(few)
    assert len(model.landmarks_) == 6
    assert np.isfinite(model.embedding_).all()
    assert len(np.unique(model.embedding_.round(6), axis=0)) == 6


def test_constant_rows_give_zeros_and_not_nan():
    model = GraphKernelPCA(1, kernel="linear", landmarks=5)
    with pytest.warns(UserWarning):
        Z = model.fit_transform(np.ones((20, 3)))
    assert_array_equal(Z, np.zeros((20, 1)))


def test_nothing_of_landmarks_is_looked_at_without_them():
    model = GraphKernelPCA(2, landmark_choice="leverage", refine=False)
    reference = GraphKernelPCA(2).fit_transform(X)
    assert_array_equal(model.fit_transform(X), reference)
    assert not hasattr(model, "landmark_error_")
