"""Long jobs of the model say what they do, in blocks or rounds that are counted."""

import numpy as np
import pytest

from graphfold import CorrelationGraph, Graph, kernels
from graphfold.graphs import laplacian
from graphfold.model import extend, landmark_share, preimage, span
from graphfold.model.alternate import alternate
from graphfold.model.problem import Problem
from graphfold.model.robust import RobustProblem, solve_robust
from graphfold.model.robust_fast import FastProblem, solve_fast
from graphfold.model.separation import Observed
from graphfold.model.span import InMemory, widened
from graphfold.model.terms import Term
from graphfold.neighbors import search
from graphfold.operators import Dense, SpectralFunction
from graphfold.progress import Watcher, watching

X = np.random.default_rng(0).standard_normal((12, 4))
RBF = kernels.Gaussian(0.5)
RING = laplacian(Graph([(i, (i + 1) % 12) for i in range(12)]))
SINGLE = X.astype(np.float32)
FEATURES = InMemory([SINGLE])
TERMS = tuple(Term(str(i), Dense(X[:, i:] @ X[:, i:].T)) for i in range(2))


class Heard(Watcher):
    def __init__(self):
        self.stages, self.details = [], []

    def began(self, stage):
        self.stages.append((stage.name, stage.total, stage.unit))

    def stepped(self, stage):
        self.details.append(stage.detail)


JOBS = {
    "placing rows": lambda: extend.Expansion(RBF, 1.0, X, X).of(X),
    "original rows": lambda: preimage.preimage(RBF, X, X, 1.0).of(X),
    "comparing rows": lambda: CorrelationGraph(2).build(X),
    "vectors of the span": lambda: FEATURES.combined(np.eye(4), np.zeros(4)),
    "moments of the features": lambda: FEATURES.moments(),
    "sum of the features": lambda: FEATURES.moments(),
    "moments of the graph": lambda: FEATURES.of_term(RING.operator),
    "features of neighbours": lambda: widened(FEATURES.parts, RING.operator.matrix),
    "loadings": lambda: landmark_share._loadings(SINGLE, SINGLE),
}


@pytest.fixture(autouse=True)
def five_rows_at_a_time(monkeypatch):
    """One block is no stage: twelve rows are three."""
    monkeypatch.setattr(span, "BLOCK", 5)
    monkeypatch.setattr(span, "PRECISE_BLOCK", 5)
    monkeypatch.setattr(span, "CHUNK", 2)
    monkeypatch.setattr(landmark_share, "BLOCK", 5)
    for module in (extend, preimage):
        monkeypatch.setattr(module, "_BLOCK_NUMBERS", 5 * 12)
    monkeypatch.setattr(search, "_STRIP_BYTES", 5 * 12 * 8)


@pytest.mark.parametrize("name", JOBS)
def test_blocks_are_counted_by_a_name(name):
    heard = Heard()
    with watching(heard):
        JOBS[name]()
    assert (name, 3, "block") in heard.stages


def test_products_with_a_graph_are_counted_by_columns():
    heard = Heard()
    with watching(heard):
        FEATURES.of_term(SpectralFunction(np.eye(12), np.ones(12)))
    assert ("moments of the graph", 2, "block") in heard.stages


@pytest.mark.parametrize(
    "run",
    [
        lambda: solve_robust(RobustProblem(Observed(X), RING, 0.3), max_iter=2),
        lambda: solve_fast(FastProblem(Observed(X), RING, None), max_iter=2),
    ],
)
def test_rounds_of_a_separation_tell_their_residual(run):
    heard = Heard()
    with watching(heard):
        found = run()
    assert heard.stages[0] == ("separating", None, "round")
    assert f"residual {found.residual:.2e}" in heard.details


def test_updates_of_weights_tell_their_objective():
    heard = Heard()
    with watching(heard):
        found = alternate(Problem(TERMS, (0.7, 0.7)), 2, solver="lapack", max_rounds=2)
    assert ("weights", None, "update") in heard.stages
    for objective in found.objective_trace:
        assert f"objective {objective:.8g}" in heard.details


class Stop(Watcher):
    def stepped(self, stage):
        return stage.name in ("separating", "weights")


@pytest.mark.parametrize(
    "run",
    [
        lambda: solve_robust(RobustProblem(Observed(X), RING, 0.3), tol=0),
        lambda: solve_fast(FastProblem(Observed(X), RING, None), tol=0),
        lambda: alternate(Problem(TERMS, (0.7, 0.7)), 2, solver="lapack"),
    ],
)
def test_who_watches_may_stop_after_a_round(run):
    with watching(Stop()):
        found = run()
    assert len(getattr(found, "trace", getattr(found, "objective_trace", []))) == 1
    assert not found.converged
