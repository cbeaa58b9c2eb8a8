"""The path of "auto": as from fits of each strength alone, and all trials are told."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphfold import GraphKernelPCA, NeighborGraph, SemiSupervisedGraphKernelPCA
from graphfold.estimators import strength_path
from graphfold.estimators.fitting import Fit
from graphfold.estimators.strength_path import in_single_precision
from graphfold.model import path
from graphfold.progress import listening
from tests.estimators.test_auto_strength import planted


def one_by_one(fit, strengths):
    """Each strength by a solver of its own, in double precision, to many digits."""
    fit.how |= {"tol": 1e-8}
    for place, strength in enumerate(strengths):
        yield place, fit.at(strength).pairs.vectors


def labelled(estimator, X, group):
    """A fit; with one label in five where labels have a say."""
    if not isinstance(estimator, SemiSupervisedGraphKernelPCA):
        return estimator.fit(X)
    return estimator.fit(X, np.where(np.arange(len(group)) % 5 == 0, group, -1))


SETTINGS = {
    "rbf": {},
    "linear": {"kernel": "linear"},
    "neighbours": {"graph": NeighborGraph(8)},
    "combinatorial": {"laplacian": "combinatorial"},
    "not centred": {"center": False},
    "two kernels": {"kernel": ["rbf", "linear"]},
    "two graphs": {"graph": "two"},
    "landmarks": {"landmarks": 60},
    "span": {"landmarks": 60, "refine": False},
    "edges": {"graph_strength": "auto-edges"},
    "links": {"estimator": SemiSupervisedGraphKernelPCA},
}


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
@pytest.mark.parametrize("name", SETTINGS)
def test_scores_are_those_of_fits_of_their_own(name, monkeypatch):
    rng = np.random.default_rng(3)
    X, group, graph = planted(rng)
    how = {"graph": graph, "graph_strength": "auto", **SETTINGS[name]}
    if how["graph"] == "two":
        how["graph"] = {"one": graph, "other": NeighborGraph(8).build(X)}
    estimator = how.pop("estimator", GraphKernelPCA)
    quick = labelled(estimator(3, **how), X, group).strength_path_
    monkeypatch.setattr(Fit, "along", one_by_one)
    monkeypatch.setattr(strength_path, "in_single_precision", lambda X: X)
    exact = labelled(estimator(3, **how), X, group).strength_path_
    errors = exact.standard_errors.max()
    assert_allclose(quick.mean_scores, exact.mean_scores, atol=0.35 * errors)
    if quick.chosen != exact.chosen:
        # two that are as good as each other
        places = [exact.strengths.tolist().index(p.chosen) for p in (quick, exact)]
        assert abs(np.diff(exact.mean_scores[places])[0]) < 0.35 * errors
        assert (quick.chosen > 0) == (exact.chosen > 0)


@pytest.mark.parametrize("convert", [np.float32, sp.csr_array], ids=["single", "csr"])
def test_precision_and_container_of_the_rows_do_not_matter(convert):
    X, _, graph = planted(np.random.default_rng(1))
    X = np.round(2 * X)  # exact in single precision
    how = {"graph": graph, "kernel": "linear", "graph_strength": "auto"}
    dense = GraphKernelPCA(3, **how).fit(X).strength_path_
    other = GraphKernelPCA(3, **how).fit(convert(X)).strength_path_
    assert_allclose(dense.mean_scores, other.mean_scores, atol=2e-3)
    assert dense.chosen == other.chosen


def test_single_precision_is_taken_where_it_loses_nothing(rng):
    X = rng.standard_normal((50, 4))
    assert in_single_precision(X).dtype == np.float32
    assert in_single_precision(sp.csr_array(X)).dtype == np.float32
    assert in_single_precision(np.column_stack([X, np.ones(50)])).dtype == np.float32
    for far in (X + 1e6, X * 1e20, X * 1e-20, X * [1, 1, 1, 1e-15]):
        assert in_single_precision(far).dtype == np.float64


def test_rows_far_from_zero_keep_their_digits():
    X, _, graph = planted(np.random.default_rng(0))
    near = GraphKernelPCA(3, graph=graph, graph_strength="auto").fit(X)
    far = GraphKernelPCA(3, graph=graph, graph_strength="auto").fit(X + 1e7)
    found = far.strength_path_.mean_scores
    assert_allclose(found, near.strength_path_.mean_scores, atol=5e-3)


@pytest.mark.parametrize("how, folds", [("auto", 4), ("auto-edges", 10)])
def test_every_trial_is_counted(rng, how, folds):
    X, _, graph = planted(rng)
    told = []
    with listening(told.append):
        GraphKernelPCA(3, graph=graph, graph_strength=how).fit(X)
    told = [str(text) for text in told if "strength path" in str(text)]
    last = folds * len(path.STRENGTHS)
    assert f"{last}" in told[-1]
    assert any(f"fold {folds}, strength 10" in text for text in told)
