"""What all Displays share: scikit-learn's convention, and doors that stay shut."""

import builtins
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphfold import GraphKernelPCA, NeighborGraph, plot
from graphfold.errors import GraphfoldError
from graphfold.plot.style import luminance

FACES = {
    plot.EmbeddingDisplay: plot.embedding,
    plot.GraphDisplay: plot.graph,
    plot.ScreeDisplay: plot.scree,
    plot.StrengthPathDisplay: plot.strength_path,
    plot.WeightsDisplay: plot.weights,
}
displays = pytest.mark.parametrize("display", FACES, ids=lambda d: d.__name__)


@displays
def test_a_display_is_drawn_where_it_is_told_and_again_elsewhere(display, model):
    _, (one, other) = plt.subplots(1, 2)
    made = display.from_estimator(model, ax=one, title="first")
    assert isinstance(made, display)
    assert made.ax_ is one
    assert made.figure_ is one.figure
    assert one.get_title(loc="left") == "first"
    assert made.plot(other) is made
    assert made.ax_ is other
    assert [line.get_xydata().tolist() for line in one.lines] == [
        line.get_xydata().tolist() for line in other.lines
    ]


@displays
def test_a_function_is_the_short_way_to_its_display(display, model):
    _, ax = plt.subplots()
    assert FACES[display](model, ax=ax, title="short") is ax
    made = display.from_estimator(model, title="short")
    assert made.ax_.figure is not ax.figure
    assert made.ax_.get_title(loc="left") == ax.get_title(loc="left") == "short"
    assert len(made.ax_.get_children()) == len(ax.get_children())


@displays
def test_a_figure_is_pickled_as_others_are(display, model):
    figure = display.from_estimator(model).figure_
    figure.canvas.draw()
    again = pickle.loads(pickle.dumps(figure))
    again.canvas.draw()
    assert len(again.axes) == len(figure.axes)


@displays
def test_without_fit_there_is_nothing_to_draw(display):
    for face in (display.from_estimator, FACES[display]):
        with pytest.raises(NotFittedError, match=r"this GraphKernelPCA is not: call"):
            face(GraphKernelPCA())
    assert plt.get_fignums() == []


@displays
def test_only_an_estimator_is_an_estimator(display):
    with pytest.raises(GraphfoldError, match="fitted estimator; got ndarray"):
        display.from_estimator(np.eye(3))


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnusedGraphWarning")
@displays
def test_the_last_step_of_a_pipeline_is_drawn(display, rng):
    X = rng.standard_normal((30, 5))
    last = GraphKernelPCA(2, graph=NeighborGraph(4), graph_strength="auto")
    pipeline = make_pipeline(StandardScaler(), last).fit(X)
    made = display.from_estimator(pipeline)
    assert len(made.ax_.get_children()) > 10


@displays
def test_on_a_dark_style_all_text_is_light(display, model):
    with plt.style.context("dark_background"):
        _, ax = plt.subplots()
    made = display.from_estimator(model, ax=ax)  # the style has ended
    texts = [made.ax_.xaxis.label, made.ax_.yaxis.label, *made.ax_.texts]
    unframed = [t for t in texts if t.get_text() and t.get_bbox_patch() is None]
    assert unframed
    assert min(luminance(text.get_color()) for text in unframed) > 0.18


@displays
def test_an_array_of_axes_is_refused(display, model):
    axes = plt.subplots(1, 2)[1]
    with pytest.raises(GraphfoldError, match="ax must be one matplotlib Axes; got nd"):
        display.from_estimator(model, ax=axes)


def test_an_estimator_without_what_is_drawn_is_refused(rng):
    other = PCA(2).fit(rng.standard_normal((9, 3)))
    with pytest.raises(GraphfoldError, match="this PCA has none: pass what its trans"):
        plot.embedding(other)
    with pytest.raises(GraphfoldError, match="weights of kernels or graphs; this PCA"):
        plot.weights(other)
    with pytest.raises(GraphfoldError, match=r'graph_strength="auto"; it has no'):
        plot.strength_path(other)
    with pytest.raises(GraphfoldError, match="this StandardScaler has neither"):
        plot.scree(StandardScaler().fit(np.eye(3)))


def test_without_matplotlib_we_say_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"pip install 'graphfold\[plot\]'"):
        plot.embedding(np.eye(3), ["a", "b", "a"])


def test_the_first_ten_colours_are_those_of_the_package():
    assert [to_rgb(c) for c in plot.style.palette(10)] == [
        to_rgb(c) for c in plot.COLOURS
    ]
    assert len(set(plot.style.palette(30))) == 30
