"""The path of strengths."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphfold import GraphKernelPCA, plot
from graphfold.errors import GraphfoldError


def test_gains_errors_and_the_choice_are_drawn(model):
    path = model.strength_path_
    made = plot.StrengthPathDisplay.from_estimator(model)
    zero, gains, dot = made.lines_
    assert set(zero.get_ydata()) == {0}
    assert_allclose(gains.get_ydata(), path.gains)
    (bars,) = made.errorbar_.lines[2]
    heights = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
    assert_allclose(heights, 2 * path.standard_errors, atol=1e-12)
    chosen = path.strengths.tolist().index(model.graph_strength_)
    assert dot.get_xydata().tolist() == [[chosen, path.gains[chosen]]]
    assert made.text_.get_text() == f"chosen: {model.graph_strength_:g}"
    assert "columns" in made.ax_.get_ylabel()


def test_a_path_alone_is_enough(model):
    ax = plot.strength_path(model.strength_path_, title="path")
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert ticks == [f"{s:g}" for s in model.strength_path_.strengths]


def test_without_a_path_we_say_how_to_get_one(points):
    with pytest.raises(GraphfoldError, match='"auto"'):
        plot.strength_path(GraphKernelPCA(2).fit(points))
