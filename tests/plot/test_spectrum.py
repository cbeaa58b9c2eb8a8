"""The spectrum: values, gap, shares, axes that may be mixed up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA, KernelPCA

from graphfold import (
    FastRobustGraphPCA,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    plot,
)
from graphfold.errors import GraphfoldError

ALL = [
    GraphKernelPCA(3),
    GraphLaplacianPCA(3),
    LaplacianEigenmaps(3),
    LocalNonlinearEmbedding(3, n_neighbors=4, order=1),
    MultiModalGraphEmbedding(3),
    SemiSupervisedGraphKernelPCA(3),
    FastRobustGraphPCA(3),
    KernelPCA(3, kernel="rbf"),
    PCA(3),
]


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_bars_are_the_values_of_every_estimator(estimator, points):
    estimator.fit(points, np.arange(60) % 2)
    made = plot.ScreeDisplay.from_estimator(estimator)
    name = "eigenvalue" if hasattr(estimator, "eigenvalues_") else "singular value"
    values = getattr(estimator, f"{name.replace(' ', '_')}s_")
    assert_allclose([bar.get_height() for bar in made.bars_], values)
    assert made.ax_.get_ylabel() == name
    if hasattr(estimator, "explained_variance_ratio_"):
        shares = 100 * np.cumsum(estimator.explained_variance_ratio_)
        assert_allclose(made.lines_[-1].get_ydata(), shares)
        low, high = made.ax_ratio_.get_ylim()
        assert low <= shares.min() and shares.max() <= high
    else:
        assert made.ax_ratio_ is None


def test_negative_values_of_an_indefinite_problem_are_below_the_line(points):
    model = GraphKernelPCA(8, graph=NeighborGraph(5), graph_strength=30.0).fit(points)
    assert model.eigenvalues_.min() < 0
    made = plot.ScreeDisplay.from_estimator(model, shape="dots")
    assert_allclose(made.lines_[0].get_ydata(), model.eigenvalues_)
    assert made.bars_ is None
    assert made.ax_.get_ylim()[0] < model.eigenvalues_.min()


@pytest.mark.parametrize(
    ("values", "x", "top"),
    [([9, 8, 2, 1], 3, 8), ([1, 2, 8, 9], 2, 8), ([2, 1, -6], 3, 1)],
)
def test_the_largest_gap_is_marked_above_the_shorter_bar(values, x, top):
    made = plot.ScreeDisplay(values).plot()
    assert made.gap_.xy == (x, top)


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0, 2.0], [1.0, 3.0, 2.0]])
def test_no_gap_is_marked_where_none_stands_out(values):
    assert plot.ScreeDisplay(values).plot().gap_ is None


def test_interchangeable_axes_are_shaded_and_one_not_kept_is_told():
    made = plot.ScreeDisplay([5, 4.9, 3, 1], interchangeable=[[0, 1], [3, 4]]).plot()
    to_data = made.ax_.transData.inverted()
    edges = [to_data.transform(span.get_window_extent()) for span in made.spans_]
    assert_allclose([edge[:, 0] for edge in edges], [[0.55, 2.45], [3.55, 5.45]])
    assert "shaded: interchangeable" in made.ax_.get_xlabel()
    assert "not\nkept" in [text.get_text() for text in made.ax_.texts]
    assert plot.ScreeDisplay([5, 3]).plot().ax_.get_xlabel() == "component"


def test_the_report_of_the_model_is_what_is_shaded(points):
    X = np.linalg.qr(points - points.mean(axis=0))[0]  # all directions are alike
    model = GraphKernelPCA(4, kernel="linear").fit(X)
    made = plot.ScreeDisplay.from_estimator(model)
    assert made.interchangeable == model.axis_report_.interchangeable
    assert len(made.spans_) == len(model.axis_report_.interchangeable) > 0
    turned = GraphKernelPCA(4, kernel="linear", align_to=model.embedding_).fit(X)
    assert plot.ScreeDisplay.from_estimator(turned).spans_ == []


def test_mistakes_are_named():
    with pytest.raises(GraphfoldError, match="shape must be one of 'bars', 'dots'; go"):
        plot.ScreeDisplay([1.0]).plot(shape="lines")
    with pytest.raises(GraphfoldError, match=r"one or more eigenvalues; got shape \(0"):
        plot.ScreeDisplay([]).plot()


@pytest.mark.parametrize("shape", ["bars", "dots"])
@pytest.mark.parametrize(
    "values",
    [
        [*np.linspace(9, 6, 30), *np.linspace(2, 1, 10)],
        [*np.linspace(9, 6, 39), 1],
        [*np.linspace(1, 2, 10), *np.linspace(6, 9, 30)],
        [9, 1],
    ],
    ids=["falling", "at the end", "rising", "two"],
)
def test_the_words_at_the_gap_cover_no_value(values, shape):
    made = plot.ScreeDisplay(values).plot(shape=shape)
    made.figure_.canvas.draw()
    words = made.gap_.get_window_extent()
    inside = made.ax_.get_window_extent()
    assert inside.x0 <= words.x0 and words.x1 <= inside.x1
    places = np.column_stack([np.arange(1, len(values) + 1), values])
    across, tops = made.ax_.transData.transform(places).T
    under = (words.x0 <= across) & (across <= words.x1)
    assert (tops[under] < words.y0).all()
