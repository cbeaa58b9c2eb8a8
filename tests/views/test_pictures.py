"""Thumbnails, read back from a page."""

import numpy as np

from graphfold import view
from tests.views.reading import Reading


def test_images_of_odd_shapes():
    flat = Reading(view(np.eye(3), images=np.ones((3, 1, 200), dtype=np.uint8)).html)
    assert (flat["images"]["height"], flat["images"]["width"]) == (1, 50)
    listed = Reading(view(np.eye(3), images=[np.eye(2)] * 3).html)
    assert listed.block(listed["images"]["block"]).tolist() == [255, 0, 0, 255] * 3


def test_large_images_are_averaged_down():
    images = np.zeros((3, 200, 128), dtype=np.uint8)
    images[:, :100] = 80
    page = Reading(view(np.eye(3), images=images).html)
    found = page["images"]
    assert (found["height"], found["width"], found["channels"]) == (50, 32, 1)
    pixels = page.block(found["block"]).reshape(3, 50, 32)
    assert (pixels[:, :25] == 80).all() and not pixels[:, 25:].any()
