"""Progress: scikit-learn's callbacks where they exist, ``verbose`` everywhere."""

import numpy as np
import pytest

from graphfold import GraphKernelPCA


def test_verbose_speaks_on_the_error_stream(points, capsys):
    GraphKernelPCA(2, verbose=2).fit(points)
    output = capsys.readouterr()
    assert output.out == ""
    assert (
        "[GraphKernelPCA] plan: stored kernel of 60 rows, solver lapack" in output.err
    )
    assert "M = P (1 K[rbf]) P" in output.err
    GraphKernelPCA(2, solver="krylov", verbose=2).fit(points)
    assert "round 1: residual" in capsys.readouterr().err


def test_silent_by_default(points, capsys):
    GraphKernelPCA(2).fit(points)
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "")


class Recorder:
    """A FitCallback that writes down what it is told, and may ask to stop."""

    def __init__(self, stop_after=None):
        self.events, self.stop_after = [], stop_after

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context, **data):
        self.events.append(("begin", context.task_name))

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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_callback_may_stop_the_solver(rng):
    pytest.importorskip("sklearn.callback", reason="callbacks came with 1.9")
    X = rng.standard_normal((300, 4))
    recorder = Recorder(stop_after=2)
    model = GraphKernelPCA(3, solver="krylov").set_callbacks(recorder).fit(X)
    assert model.n_iter_ == 2
    assert not model.converged_
    assert np.isfinite(model.embedding_).all()


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
