"""Warnings: they point to the caller's line, and a fit remembers them."""

import inspect
import json
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import graphfold
from graphfold import (
    CorrelationGraph,
    FastRobustGraphPCA,
    Graph,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    RobustGraphPCA,
    SemiSupervisedGraphKernelPCA,
    errors,
)


def few_edges(n=60):
    return Graph([(0, 1), (1, 2)], nodes=range(n))


def modes(X):
    return {"left": X[:, :2], "right": X[:, 2:]}


#: each estimator made to warn, what it is fitted to, and the category
WARNING_FITS = {
    "kernel": (
        lambda: GraphKernelPCA(2, graph=few_edges()),
        "DisconnectedGraphWarning",
    ),
    "solver": (
        lambda: GraphKernelPCA(2, solver="krylov", max_iter=1, tol=1e-14),
        "ConvergenceWarning",
    ),
    "signed": (
        lambda: GraphKernelPCA(2, graph=CorrelationGraph(None, negative="keep")),
        "SignedGraphWarning",
    ),
    "degenerate": (
        lambda: GraphKernelPCA(2, kernel="rbf", gamma=1e9),
        "DegenerateKernelWarning",
    ),
    "semi-supervised": (SemiSupervisedGraphKernelPCA, "MissingLabelsWarning"),
    "eigenmaps": (
        lambda: LaplacianEigenmaps(2, graph=few_edges()),
        "DisconnectedGraphWarning",
    ),
    "graph-laplacian": (
        lambda: GraphLaplacianPCA(2, graph=few_edges()),
        "DisconnectedGraphWarning",
    ),
    "local": (
        lambda: LocalNonlinearEmbedding(2, n_neighbors=8),
        "UnderdeterminedWarning",
    ),
    "robust": (
        lambda: RobustGraphPCA(2, graph=few_edges(), max_iter=2),
        "ConvergenceWarning",
    ),
    "fast-robust": (
        lambda: FastRobustGraphPCA(2, graph=few_edges(), max_iter=2),
        "ConvergenceWarning",
    ),
    "modes": (
        lambda: MultiModalGraphEmbedding(2, solver="krylov", max_iter=1, tol=1e-14),
        "ConvergenceWarning",
    ),
}


def fitted(make, X):
    """The estimator, its warnings, and the line of the call of fit."""
    model = make()
    X = modes(X) if isinstance(model, MultiModalGraphEmbedding) else X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        model.fit(X)
    return model, caught, line


@pytest.mark.parametrize("case", WARNING_FITS)
def test_a_warning_points_to_the_line_that_called_fit(case, points):
    make, category = WARNING_FITS[case]
    _, caught, line = fitted(make, points)
    assert category in {one.category.__name__ for one in caught}
    for one in caught:
        assert (one.filename, one.lineno) == (__file__, line), one


@pytest.mark.parametrize("case", WARNING_FITS)
def test_a_fit_remembers_its_warnings(case, points):
    make, category = WARNING_FITS[case]
    model, caught, _ = fitted(make, points)
    expected = [(one.category.__name__, str(one.message)) for one in caught]
    assert model.warnings_ == tuple(dict.fromkeys(expected))
    assert category in dict(model.warnings_)


@pytest.mark.parametrize("case", ["kernel", "semi-supervised", "robust", "modes"])
def test_warnings_are_saved_with_the_model(case, points, tmp_path):
    model, *_ = fitted(WARNING_FITS[case][0], points)
    assert model.warnings_
    model.save(tmp_path / "model.npz")
    assert graphfold.load(tmp_path / "model.npz").warnings_ == model.warnings_
    assert pickle.loads(pickle.dumps(model)).warnings_ == model.warnings_
    assert not hasattr(clone(model), "warnings_")


def test_a_file_without_warnings_loads(points, tmp_path):
    """As written before fits remembered them."""
    model = GraphKernelPCA(2).fit(points)
    model.save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as stored:
        arrays = dict(stored)
    header = json.loads(bytes(arrays["header"]).decode())
    del header["state"]["dict"]["warnings_"]
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(tmp_path / "old.npz", **arrays)
    again = graphfold.load(tmp_path / "old.npz")
    assert not hasattr(again, "warnings_")
    assert (again.transform(points) == model.transform(points)).all()


def test_a_fit_without_trouble_has_no_warnings(points):
    model, *_ = fitted(WARNING_FITS["kernel"][0], points)
    assert model.set_params(graph=None).fit(points).warnings_ == ()


def test_filters_hide_a_warning_but_the_fit_knows(points):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GraphKernelPCA(2, graph=few_edges()).fit(points)
    assert [name for name, _ in model.warnings_] == ["DisconnectedGraphWarning"]


def test_a_warning_turned_into_an_error_leaves_the_estimator_as_it_was(points):
    model = GraphKernelPCA(2, graph=few_edges())
    with pytest.raises(errors.DisconnectedGraphWarning):
        model.fit(points)
    assert not hasattr(model, "warnings_")


def test_through_a_pipeline_a_warning_points_to_its_caller(points):
    pipeline = make_pipeline(GraphKernelPCA(2, graph=few_edges()))
    with pytest.warns(errors.DisconnectedGraphWarning) as caught:
        pipeline.fit_transform(points)
    assert caught[0].filename == __file__


def test_new_rows_warn_at_the_line_of_the_caller_and_are_not_of_the_fit(points):
    labels = [f"row {i}" for i in range(60)]
    ring = Graph([(labels[i], labels[i - 1]) for i in range(60)])
    model = GraphKernelPCA(2, graph=ring).fit(points, node_ids=labels)
    with pytest.warns(errors.UnlabelledRowsWarning) as caught:
        model.transform(points)
    assert caught[0].filename == __file__
    assert model.warnings_ == ()


def test_each_thread_remembers_its_own(points):
    def fit(number):
        graph = few_edges() if number % 2 else None
        return GraphKernelPCA(2, graph=graph).fit(points).warnings_

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(fit, range(24)))
    assert [len(one) for one in found] == [0, 1] * 12


def test_a_stream_remembers_the_warnings_of_its_last_answer(points):
    model = GraphKernelPCA(2, landmarks=10, solver="krylov", max_iter=1, tol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(points[:30])
        assert "warnings_" not in vars(model)
        first = model.warnings_  # asking is a reason for an answer
        model.partial_fit(points[30:], edges=[(0, 1)])
        second = model.warnings_
        assert model.refresh().warnings_ == second
    assert "DisconnectedGraphWarning" not in dict(first)
    assert "DisconnectedGraphWarning" in dict(second)


def test_nothing_is_kept_outside_of_a_fit():
    with errors.noticed() as outer:
        with errors.noticed() as inner, pytest.warns(ConvergenceWarning):
            errors.warn("a text", ConvergenceWarning)
        assert (inner, outer) == ([("ConvergenceWarning", "a text")], [])
    with pytest.warns(ConvergenceWarning, match="more") as caught:
        errors.warn("more", ConvergenceWarning)
    assert caught[0].filename == __file__
    assert len(inner) == 1
