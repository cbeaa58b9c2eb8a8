"""The file itself: whole, small, safe, and built from its sources."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfold import view
from graphfold.views.page import template
from tests.views.reading import Reading

ROOT = Path(__file__).parents[2]


def test_the_same_map_is_the_same_file(fitted, blobs):
    pages = [view(fitted, labels=blobs[1], X=blobs[0]).html for _ in range(2)]
    assert pages[0] == pages[1]


def test_it_is_written_whole_or_not_at_all(Z, tmp_path):
    page = view(Z, tmp_path / "map.html")
    assert (tmp_path / "map.html").read_text(encoding="utf-8") == page.html
    assert (
        repr(page)
        == f"Map('graphfold map', 30 points, {len(page.html) / 1e6:.1f} MB of html)"
    )
    with pytest.raises(OSError):
        page.save(tmp_path / "nowhere" / "map.html")
    assert [path.name for path in tmp_path.iterdir()] == ["map.html"]


def test_the_overhead_is_below_a_megabyte(Z):
    assert len(view(Z).html.encode()) < 1e6


def test_a_notebook_shows_a_frame_of_its_own(Z):
    shown = view(Z, title='"quoted"')._repr_html_()
    assert shown.startswith("<iframe") and 'sandbox="allow-scripts' in shown
    assert shown.count("<") == 2  # the page is an attribute: its signs are escaped


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(), max_size=30))
def test_no_text_ends_an_element(text):
    hostile = "</script><!--" + text
    html = view(np.eye(3), title=hostile, labels={hostile: ["x", hostile, "y"]}).html
    page = Reading(html)
    own = template().count("</script") + 1 + len(page["blocks"])
    assert html.count("</script") == own
    assert page["title"] == hostile


def test_the_built_page_is_made_of_its_sources():
    web = ROOT / "web"
    if not web.is_dir():
        pytest.skip("the sources of the page are in the repository only")
    names = ["index.html", "package.json", "package-lock.json", "vite.config.js"]
    names += sorted(f"src/{path.name}" for path in (web / "src").iterdir())
    digest = hashlib.sha256(b"".join((web / name).read_bytes() for name in names))
    built = re.search(r'<meta name="sources" content="(\w+)">', template()).group(1)
    assert built == digest.hexdigest(), "web/ has changed: run make web"


def test_sources_name_no_registry():
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    assert not any("resolved" in part for part in lock["packages"].values())


def test_the_page_brings_its_licences():
    for name in ("regl-scatterplot", "earcut", "gl-matrix"):
        assert name in template().split("<head>")[0]
