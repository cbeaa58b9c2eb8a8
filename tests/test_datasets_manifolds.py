"""Two manifolds: where they are, how large, and what is said of a wrong shape."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from graphfold import datasets
from graphfold.errors import GraphfoldError


def sheet(surface, **settings):
    X, y = datasets.two_manifolds(surface, noise=0, random_state=0, **settings)
    return X[y == 0], X[y == 1]


def test_a_surface_has_the_size_asked_for():
    points, _ = sheet("sphere", shape={"radius": 2.5})
    assert_allclose(np.linalg.norm(points, axis=1), 2.5)
    points, _ = sheet("plane", shape={"half_width": 2.0, "hole": 1.0})
    lengths = np.linalg.norm(points, axis=1)
    assert lengths.min() >= 1.0
    assert lengths.max() <= 2.0 * np.sqrt(2)


@pytest.mark.parametrize("surface", ["plane", "sphere"])
def test_an_offset_moves_the_surface_and_leaves_the_trefoil(surface):
    here, knot = sheet(surface)
    there, same_knot = sheet(surface, offset=3.0)
    assert_allclose(same_knot, knot)
    assert_allclose(pdist(there), pdist(here), atol=1e-9)
    moved = there - here
    assert_allclose(np.linalg.norm(moved, axis=1), 3.0)
    assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)
    if surface == "plane":  # it moves along its normal
        assert_allclose(here @ moved[0], 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"surface": "plane", "shape": {"radius": 1.0}}, "half_width.*got.*radius"),
        ({"surface": "sphere", "shape": {"hole": 1.0}}, "radius.*got.*hole"),
        ({"surface": "plane", "offset": np.nan}, "offset"),
    ],
)
def test_what_is_wrong_is_said(settings, said):
    with pytest.raises(GraphfoldError, match=said):
        datasets.two_manifolds(random_state=0, **settings)
