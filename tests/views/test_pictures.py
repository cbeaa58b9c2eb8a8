"""The documentation's screenshots are made by the tests' own browser."""

import struct
from pathlib import Path

from tests.views.pictures import take_all

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def size_of(path):
    with open(path, "rb") as stream:
        head = stream.read(24)
    assert head[:4] == b"\x89PNG"
    return struct.unpack(">II", head[16:24])


def test_pictures_are_made_and_kept(browser, tmp_path):
    made = take_all(browser, tmp_path)
    for picture in made:
        assert picture.stat().st_size > 20_000  # an empty page is smaller
        assert size_of(picture) == size_of(IMAGES / picture.name)
