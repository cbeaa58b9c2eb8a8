"""Two dimensions out of many: UMAP, t-SNE, and points that are one."""

import numpy as np
import pytest

from graphfold import view
from graphfold.errors import GraphfoldError
from graphfold.progress import listening
from tests.views.reading import Reading


@pytest.mark.parametrize(
    # UMAP is compiled when it is first used
    "layout",
    ["tsne", pytest.param("umap", marks=pytest.mark.slow)],
)
def test_layouts(fitted, layout):
    if layout == "umap":
        pytest.importorskip("umap")
    heard = []
    with listening(heard.append):
        page = Reading(view(fitted, layout=layout).html)
    assert "layout" in heard
    (found,) = page["views"][0]["layouts"]
    assert len(page.block(found["x"])) == 120
    assert found["name"].endswith("of 4 components")


def test_without_umap_the_remedy_is_named(fitted, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(GraphfoldError, match="pip install umap-learn"):
        view(fitted, layout="umap")


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e200])
def test_a_layout_of_points_that_are_one_or_odd(rng, scale):
    page = Reading(view(rng.random((30, 3)) * scale, layout="tsne").html)
    seen = page.block(page["views"][0]["layouts"][0]["x"])
    assert np.isfinite(seen).all() and bool(seen.any()) == (scale > 0)
