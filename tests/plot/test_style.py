"""Colours that everybody tells apart, and text that can be read on them."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from graphfold.plot.style import luminance, palette, text_on

# what is left of linear red, green and blue (Machado, Oliveira and Fernandes 2009)
SIGHT = {
    "all three": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def as_seen(colour, sight):
    """CIELAB, in which a distance of 2 is just seen side by side."""
    values = np.array(to_rgb(colour))
    linear = np.where(
        values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    )
    left = np.clip(np.array(SIGHT[sight]) @ linear, 0, 1)
    to_xyz = [
        [0.4339, 0.3762, 0.1899],
        [0.2126, 0.7152, 0.0722],
        [0.0178, 0.1095, 0.8727],
    ]  # over the white of D65
    xyz = np.array(to_xyz) @ left
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_ten_colours_stay_apart_for_colour_blind_readers(sight, dark):
    seen = {colour: as_seen(colour, sight) for colour in palette(10, dark=dark)}
    close = [
        pair
        for pair in combinations(seen, 2)
        if np.linalg.norm(seen[pair[0]] - seen[pair[1]]) < (11 if dark else 15)
    ]
    assert close == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_on_every_colour_has_the_contrast_of_small_print(dark):
    for colour in palette(30, dark=dark):
        lights = luminance(colour), luminance(text_on(colour))
        assert (max(lights) + 0.05) / (min(lights) + 0.05) >= 4.5
