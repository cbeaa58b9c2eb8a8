"""Names stay apart, whatever the size of the figure."""

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


def test_long_names_are_wrapped_and_cut():
    long = "a name that goes on and on and never comes to an end"
    ax = plot.embedding(np.eye(3), [long, "x" * 60, "short"])
    shown = [text.get_text() for text in ax.texts]
    assert shown[1] == "short"
    assert shown[0].startswith("a name that goes on") and "\n" in shown[0]
    assert all(len(text) <= 42 for text in shown)
    assert shown[0].endswith("...") and shown[2].endswith("...")
