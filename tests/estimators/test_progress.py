"""Progress: scikit-learn's callbacks where they exist, ``verbose`` everywhere."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import graphfold
from graphfold import GraphKernelPCA, NeighborGraph, quality
from graphfold.estimators import progress
from graphfold.kernels.coefficients import Rule, coefficients
from graphfold.neighbors import find_neighbors
from graphfold.progress import listening

ESTIMATORS = {
    name: getattr(graphfold, name)(2)
    for name in (
        "FastRobustGraphPCA",
        "GraphKernelPCA",
        "GraphLaplacianPCA",
        "LaplacianEigenmaps",
        "LocalNonlinearEmbedding",
        "MultiModalGraphEmbedding",
        "RobustGraphPCA",
        "SemiSupervisedGraphKernelPCA",
    )
}
every = pytest.mark.parametrize("name", ESTIMATORS)


def classes_for(name, points):
    if name != "SemiSupervisedGraphKernelPCA":
        return None
    return np.where(np.arange(len(points)) < 10, np.arange(len(points)) % 2, -1)


@every
@pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")
def test_verbose_speaks_as_much_as_is_asked(name, points, capsys):
    y = classes_for(name, points)
    for verbose in (0, 1):  # off a terminal
        clone(ESTIMATORS[name]).set_params(verbose=verbose).fit(points, y)
        assert capsys.readouterr() == ("", "")
    clone(ESTIMATORS[name]).set_params(verbose=2).fit(points, y)
    output = capsys.readouterr()
    assert output.out == ""
    lines = output.err.splitlines()
    assert all(line.startswith(f"[{name}] ") for line in lines)
    assert any(", round 1: residual " in line for line in lines)


def test_the_plan_and_the_formula_are_said(points, capsys):
    GraphKernelPCA(2, verbose=2).fit(points)
    said = capsys.readouterr().err
    assert said.startswith(
        "[GraphKernelPCA] plan: stored kernel of 60 rows, solver lapack"
    )
    assert "M = P (1 K[rbf]) P" in said


@pytest.mark.parametrize("verbose", ["much", None])
def test_a_verbose_that_is_no_number_is_refused(points, verbose):
    with pytest.raises(graphfold.errors.GraphfoldError, match="verbose must be 0"):
        GraphKernelPCA(2, verbose=verbose).fit(points)


def names_heard(work):
    heard = []
    with listening(heard.append):
        work()
    return {report.stage for report in heard}


def test_loops_over_blocks_of_rows_are_heard(rng):
    X = rng.standard_normal((5000, 3)).astype(np.float32)
    graph = NeighborGraph(5)
    model = GraphKernelPCA(2, graph=graph, landmarks=20, fit_inverse_transform=True)
    assert names_heard(lambda: model.fit(X)) >= {
        "features of landmarks",
        "moments of the graph",
        "vectors of the span",
        "loadings",
        "solving",
    }
    model = GraphKernelPCA(2, landmarks=20)
    assert "drift" in names_heard(
        lambda: model.partial_fit(X[:2500]).partial_fit(X[2500:]).refresh()
    )


def test_loops_that_are_no_fit_are_heard(points, rng, capsys):
    ring = graphfold.Graph([(i, (i + 1) % 60) for i in range(60)])
    quality.graph_gain(points, ring, n_copies=3, verbose=1)
    find_neighbors(points, 3, verbose=1)
    quality.neighbors_kept(points, points, 3, verbose=1)
    assert capsys.readouterr() == ("", "")
    quality.graph_gain(points, ring, n_copies=3, verbose=2)
    quality.rewired(ring, n_swaps=60, verbose=2)
    many = rng.standard_normal((2500, 3))
    find_neighbors(many, 3, search="approximate", verbose=2)
    find_neighbors(rng.standard_normal((1100, 20)), 3, verbose=2)
    said = capsys.readouterr().err
    assert "[graph_gain] rewired copies: 0/3" in said
    assert "[rewired] swapping ends: 0/" in said
    assert "[find_neighbors] centres of cells: 0/8" in said
    assert "[find_neighbors] comparing rows: 0/" in said


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_searches_that_take_seconds_come_in_blocks(rng, metric):
    """By a tree, and by a metric that is no product of tables."""
    X = rng.standard_normal((5000, 8 if metric == "euclidean" else 20))
    search = {"search": "exact", "metric": metric}
    assert "comparing rows" in names_heard(lambda: find_neighbors(X, 5, **search))


def test_local_weights_come_in_blocks(rng):
    X, members = rng.standard_normal((3000, 40)), rng.integers(0, 3000, (3000, 20))
    heard = names_heard(lambda: coefficients(X, X, members, Rule()))
    assert "local weights" in heard


def test_silent_by_default(points, capsys):
    GraphKernelPCA(2).fit(points)
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "")


class Recorder:
    """A FitCallback that writes down what it is told, and may ask to stop."""

    def __init__(self, stop_after=None):
        self.events, self.tasks, self.stop_after = [], [], stop_after

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context, **data):
        self.events.append(("begin", context.task_name))
        self.tasks.append(context)

    def on_fit_task_end(self, estimator, context, **data):
        self.events.append(("end", context.task_name))
        n_rounds = self.events.count(("end", "round"))
        return self.stop_after is not None and n_rounds >= self.stop_after

    def teardown(self, estimator, context):
        self.events.append("teardown")


def test_callbacks_see_the_fit_as_rounds(rng):
    pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    X = rng.standard_normal((300, 4))
    recorder = Recorder()
    model = GraphKernelPCA(3, solver="krylov").set_callbacks(recorder).fit(X)
    assert recorder.events[:2] == ["setup", ("begin", "fit")]
    assert recorder.events[-2:] == [("end", "fit"), "teardown"]
    assert recorder.events.count(("end", "round")) == model.n_iter_ > 1


def test_tasks_are_stages_and_their_steps(rng, monkeypatch):
    pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    monkeypatch.setattr(progress, "MOST_TASKS", 3)
    X = rng.standard_normal((1400, 4))
    recorder = Recorder()
    model = GraphKernelPCA(3, kernel=["rbf", "linear"], graph=NeighborGraph(5))
    model.set_callbacks(recorder).fit(X)
    paths = {
        (task.parent.task_name, task.task_name, task.parent.max_subtasks)
        for task in recorder.tasks
        if task.parent is not None
    }
    assert paths == {
        ("fit", "kernel", None),
        ("kernel", "block", 3),
        ("fit", "size of the kernel", None),
        ("size of the kernel", "round", None),
        ("fit", "weights", None),
        ("weights", "round", None),
        ("weights", "update", None),
    }
    assert recorder.events.count(("begin", "block")) == 3
    n_updates = len(model.objective_trace_)
    assert recorder.events.count(("end", "update")) == n_updates


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_callback_may_stop_the_solver(rng):
    pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    X = rng.standard_normal((300, 4))
    recorder = Recorder(stop_after=1)
    model = GraphKernelPCA(3, gamma=3, solver="krylov").set_callbacks(recorder).fit(X)
    assert model.n_iter_ == 1
    assert not model.converged_
    assert np.isfinite(model.embedding_).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_callback_does_not_stop_what_has_no_half_answer(rng):
    pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    X = rng.standard_normal((1400, 4))
    plain = GraphKernelPCA(3, graph=NeighborGraph(5), landmarks=50).fit(X)
    recorder = Recorder()
    recorder.on_fit_task_end = lambda estimator, context: context.task_name != "round"
    model = GraphKernelPCA(3, graph=NeighborGraph(5), landmarks=50)
    model.set_callbacks(recorder).fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)


def test_an_interrupt_leaves_the_estimator_and_its_callbacks_in_order(rng):
    pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    X = rng.standard_normal((300, 4))
    model = GraphKernelPCA(3, solver="krylov").fit(X)
    recorder = Recorder()
    before = dict(vars(model.set_callbacks(recorder)))

    def interrupt(estimator, context):
        if context.task_name == "round":
            raise KeyboardInterrupt

    recorder.on_fit_task_end = interrupt
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:200])
    assert recorder.events[-1] == "teardown"
    assert vars(model) == before


def test_teardown_follows_a_failed_fit(points):
    pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    recorder = Recorder()

    def broken(x, y):
        raise RuntimeError("kernel broke")

    with pytest.raises(RuntimeError, match="kernel broke"):
        GraphKernelPCA(2, kernel=broken).set_callbacks(recorder).fit(points)
    assert recorder.events[-1] == "teardown"


def test_scikit_learns_progress_bar_runs(points, capsys):
    callback = pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    pytest.importorskip("rich", reason="scikit-learn's bar is drawn by rich")
    GraphKernelPCA(2).set_callbacks(callback.ProgressBar()).fit(points)
    assert "GraphKernelPCA" in capsys.readouterr().out


def test_meta_estimators_pass_the_bar_on_also_to_other_processes(points, capsys):
    callback = pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    pytest.importorskip("rich", reason="scikit-learn's bar is drawn by rich")
    model = GraphKernelPCA(2, solver="krylov")
    bars = callback.ProgressBar(max_propagation_depth=None)
    search = GridSearchCV(model, {"n_components": [1, 2]}, cv=2, n_jobs=2)
    search.set_callbacks(bars).fit(points)
    pipeline = make_pipeline(StandardScaler(), GraphKernelPCA(2, solver="krylov"))
    pipeline.set_callbacks(bars).fit(points)
    shown = capsys.readouterr().out
    for text in ("GridSearchCV - search", "Pipeline - fit", "GraphKernelPCA - solving"):
        assert text in shown
