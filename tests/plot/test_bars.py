"""Bars of weights: of kernels, graphs and modes."""

import matplotlib.pyplot as plt
import pytest

from graphfold import GraphKernelPCA, MultiModalGraphEmbedding, plot
from graphfold.errors import GraphfoldError


def ticks(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def test_kernels_and_graphs_are_told_apart(model):
    made = plot.WeightsDisplay.from_estimator(model)
    widths = [[bar.get_width() for bar in bars] for bars in made.bars_]
    assert widths[0] == pytest.approx(model.kernel_weights_.tolist())
    assert widths[1] == pytest.approx(model.graph_weights_.tolist())
    assert ticks(made.ax_) == [
        "kernel: rbf",
        "kernel: linear",
        "graph: near",
        "graph: far",
    ]
    said = [float(text.get_text()) for text in made.texts_]
    assert said == pytest.approx(widths[0] + widths[1], abs=0.006)
    colours = {bars[0].get_facecolor() for bars in made.bars_}
    assert len(colours) == 2


def test_one_kind_needs_no_name(points):
    ax = plot.weights(GraphKernelPCA(2, kernel=["rbf", "linear"]).fit(points))
    assert ticks(ax) == ["rbf", "linear"]
    assert ax.yaxis_inverted()  # the first is above


def test_modes_are_shown_by_their_names(points):
    modes = {"left": [0, 1], "right": [2, 3, 4]}
    model = MultiModalGraphEmbedding(2, modes=modes).fit(points)
    made = plot.WeightsDisplay.from_estimator(model)
    assert [tick.removeprefix("mode: ") for tick in ticks(made.ax_)][-2:] == [*modes]
    widths = [bar.get_width() for bar in made.bars_[-1]]
    assert widths == pytest.approx(model.mode_weights_.tolist())


def test_no_weights_are_no_picture():
    with pytest.raises(GraphfoldError, match="weights of kernels or graphs; it has no"):
        plot.WeightsDisplay({"graph": {}}).plot()


def test_common_names_are_whole_on_narrow_axes(model):
    _, axes = plt.subplots(1, 5, figsize=(8, 2))
    assert "kernel: linear" in ticks(plot.weights(model, ax=axes[0]))
