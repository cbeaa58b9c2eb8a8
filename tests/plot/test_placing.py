"""Names stay apart, whatever the size of the figure."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graphfold import plot
from graphfold.plot.placing import apart


def overlapping(boxes):
    return [
        (i, j)
        for i, one in enumerate(boxes)
        for j, other in enumerate(boxes[:i])
        if one.x0 < other.x1
        and other.x0 < one.x1
        and one.y0 < other.y1
        and other.y0 < one.y1
    ]


@pytest.mark.parametrize("size", [(5, 4.5), (3, 3)])
def test_twenty_names_on_one_spot_do_not_cover_each_other(rng, size):
    Z = 0.01 * rng.standard_normal((200, 2))
    Z[0] = [1, 1]  # so that all medians are close together
    names = np.array([f"the class {i}" for i in range(20)])[np.arange(200) % 20]
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    made = plot.EmbeddingDisplay.from_embedding(Z, names, ax=ax)
    for scale in (1, 1.4):
        figure.set_size_inches(size[0] * scale, size[1] * scale)
        figure.canvas.draw()
        frames = [text.get_bbox_patch().get_window_extent() for text in made.texts_]
        assert overlapping(frames) == []
        inside = ax.get_window_extent()
        assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in frames)
        assert all(inside.y0 <= box.y0 and box.y1 <= inside.y1 for box in frames)


@pytest.mark.parametrize("left", [0, 1])
def test_names_may_be_removed_or_hidden(rng, left):
    """The others are drawn as if it had not been there."""
    names = np.array(["a", "b", "c"])[np.arange(30) % 3]
    made = plot.EmbeddingDisplay.from_embedding(rng.random((30, 2)), names)
    made.texts_[0].remove()
    made.texts_[1].set_visible(False)
    if not left:
        made.texts_[2].remove()
    made.figure_.canvas.draw()
    assert len(made.ax_.texts) == left + 1


def test_names_with_room_stay_where_they_are():
    middles = np.array([[20.0, 20.0], [80.0, 80.0]])
    sizes, limits = np.full((2, 2), 10.0), np.array([[0.0, 0.0], [100.0, 100.0]])
    assert_array_equal(apart(middles, sizes, limits), middles)


def test_two_names_part_by_the_shorter_way_and_half_each():
    middles = np.array([[50.0, 50.0], [50.0, 54.0]])
    sizes, limits = np.array([[40.0, 10.0]] * 2), np.array([[0.0, 0.0], [100.0, 100.0]])
    found = apart(middles, sizes, limits)
    assert_array_equal(found[:, 0], [50, 50])
    assert found[1, 1] - found[0, 1] >= 10
    assert found[:, 1].mean() == pytest.approx(52)


def test_long_names_are_wrapped_and_keep_both_ends():
    long = "a name that goes on and on and never comes to an end"
    ax = plot.embedding(np.eye(3), [long, "x" * 60, "short"])
    shown = [text.get_text() for text in ax.texts]
    assert shown[1] == "short"
    assert shown[0].startswith("a name that goes on") and shown[0].endswith("an end")
    assert "..." in shown[0] and "..." in shown[2]
    assert "\n" in shown[0] and "\n" not in shown[2]  # no word is broken
    assert all(len(text) <= 42 for text in shown)


def test_long_names_leave_the_axes_most_of_the_room(rng):
    names = [
        f"a name that goes on and on and ends as number {i % 30}" for i in range(90)
    ]
    figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
    made = plot.EmbeddingDisplay.from_embedding(rng.random((90, 2)), names, ax=ax)
    listed = [text.get_text() for text in made.legend_.get_texts()]
    assert len(set(listed)) == 30  # still told apart
    figure.canvas.draw()
    assert made.legend_.get_window_extent().x1 <= figure.bbox.x1
    assert ax.get_window_extent().width > 0.4 * figure.bbox.width
    weights = {f"{'a name that goes on and on ' * 5} {i}": 1.0 for i in range(4)}
    bars = plot.WeightsDisplay({"graph": weights}).plot()
    bars.figure_.canvas.draw()
    assert bars.ax_.get_window_extent().width > 0.4 * bars.figure_.bbox.width


@pytest.mark.parametrize("width", [1.5, 2.5, 5])
def test_names_of_ticks_do_not_touch(model, width):
    figure, ax = plt.subplots(figsize=(width, 3), layout="constrained")
    plot.strength_path(model, ax=ax)
    figure.canvas.draw()
    names = ax.get_xticklabels()
    every = [f"{strength:g}" for strength in model.strength_path_.strengths]
    step = -(-len(every) // len(names))
    assert [name.get_text() for name in names] == every[::step]
    boxes = [name.get_window_extent() for name in names]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    assert step == 1 or width < 5
