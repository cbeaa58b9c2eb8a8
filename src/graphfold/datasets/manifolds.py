"""Surfaces and curves whose shape is known, alone and two at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError


def trefoil(n_samples: int = 400, *, random_state: Any = None) -> tuple[Array, Array]:
    """The trefoil knot ((2 + cos 3t) cos 2t, (2 + cos 3t) sin 2t, sin 3t), and t.

    Examples
    --------
    >>> from graphfold import datasets
    >>> points, t = datasets.trefoil(100, random_state=0)
    >>> points.shape
    (100, 3)
    """
    t = check_random_state(random_state).uniform(0, 2 * np.pi, n_samples)
    ring = 2 + np.cos(3 * t)
    points = np.column_stack(
        [ring * np.cos(2 * t), ring * np.sin(2 * t), np.sin(3 * t)]
    )
    return points, t


def plane_with_hole(
    n_samples: int = 200,
    *,
    half_width: float = 4.0,
    hole: float = 3.2,
    random_state: Any = None,
) -> tuple[Array, Array]:
    """A square in the plane x = 0 without the disc around its centre; and (y, z).

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import datasets
    >>> points, _ = datasets.plane_with_hole(100, random_state=0)
    >>> bool((np.hypot(points[:, 1], points[:, 2]) >= 3.2).all())
    True
    """
    check.at_least("hole", hole, 0)
    check.at_least("half_width", half_width, hole, strict=True)
    rng = check_random_state(random_state)
    kept = np.empty((0, 2))
    while len(kept) < n_samples:
        drawn = rng.uniform(-half_width, half_width, (4 * n_samples, 2))
        kept = np.vstack([kept, drawn[np.hypot(*drawn.T) >= hole]])
    flat = kept[:n_samples]
    return np.column_stack([np.zeros(n_samples), flat]), flat


def punctured_sphere(
    n_samples: int = 200,
    *,
    radius: float = 4.0,
    reach: float = 3.0,
    random_state: Any = None,
) -> tuple[Array, Array]:
    """A sphere without a cap, lifted from a disc of the plane; and where it came from.

    The inverse stereographic projection of points of a disc of radius ``reach``: the
    larger it is, the smaller the cap that is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import datasets
    >>> points, _ = datasets.punctured_sphere(100, random_state=0)
    >>> bool(np.allclose(np.linalg.norm(points, axis=1), 4.0))
    True
    """
    check.at_least("radius", radius, 0, strict=True)
    rng = check_random_state(random_state)
    length = check.at_least("reach", reach, 0, strict=True)
    length = length * np.sqrt(rng.uniform(size=n_samples))
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    flat = np.column_stack([length * np.cos(angle), length * np.sin(angle)])
    square = (flat**2).sum(axis=1, keepdims=True)
    points = np.hstack([2 * flat, square - 1]) / (square + 1)
    return radius * points, flat


def swiss_roll(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: Any = None
) -> tuple[Array, Array]:
    """A rolled sheet; and each point's place on it, (length along the roll, height).

    Examples
    --------
    >>> from graphfold import datasets
    >>> points, place = datasets.swiss_roll(100, random_state=0)
    >>> points.shape, place.shape
    ((100, 3), (100, 2))
    """
    rng = check_random_state(random_state)
    t = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n_samples))
    height = 21 * rng.uniform(size=n_samples)
    points = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    points += noise * rng.standard_normal(points.shape)
    # arc length of the spiral r = t
    along = 0.5 * (t * np.hypot(1, t) + np.arcsinh(t))
    return points, np.column_stack([along, height])


def two_manifolds(
    surface: Literal["plane", "sphere"] = "plane",
    *,
    n_surface: int = 200,
    n_trefoil: int = 400,
    n_features: int = 100,
    noise: float = 0.1,
    offset: float = 0.0,
    shape: Mapping[str, float] | None = None,
    random_state: Any = None,
) -> tuple[Array, Array]:
    """A surface around a trefoil, turned into a space of many dimensions, with noise.

    The paper's clustering experiment: which of the two is each point from? It gives
    neither scales nor offsets; how ours were chosen is told in the documentation, under
    "The paper, reproduced".

    Parameters
    ----------
    surface : {"plane", "sphere"}
        ``plane_with_hole`` or ``punctured_sphere``.
    n_surface, n_trefoil : int
        Points of each.
    n_features : int
        Dimensions of the space.
    noise : float
        Standard deviation in each dimension.
    offset : float
        How far the surface's centre is from the trefoil's, along the first axis, to
        which the plane is at right angles.
    shape : dict, default=None
        Arguments of the surface, such as ``{"radius": 2.0}``.
    random_state : int, RandomState or None

    Returns
    -------
    X : array of shape (n_surface + n_trefoil, n_features)
    y : array, 0 for the surface and 1 for the trefoil

    Examples
    --------
    >>> from graphfold import datasets
    >>> X, y = datasets.two_manifolds("sphere", random_state=0)
    >>> X.shape, int(y.sum())
    ((600, 100), 400)
    """
    check.one_of("surface", surface, ("plane", "sphere"))
    check.integer_between("n_features", n_features, 3, 2**31)
    rng = check_random_state(random_state)
    make = plane_with_hole if surface == "plane" else punctured_sphere
    allowed = {"plane": {"half_width", "hole"}, "sphere": {"radius", "reach"}}[surface]
    if unknown := set(shape or {}) - allowed:
        raise GraphfoldError(
            f"shape of the {surface} must have {sorted(allowed)}; got {sorted(unknown)}"
        )
    sheet, _ = make(n_surface, random_state=rng, **(shape or {}))
    knot, _ = trefoil(n_trefoil, random_state=rng)
    sheet[:, 0] += check.between("offset", offset, -1e6, 1e6)
    points = np.vstack([sheet, knot])
    axes = np.linalg.qr(rng.standard_normal((n_features, 3)))[0]
    X = points @ axes.T
    X += check.at_least("noise", noise, 0) * rng.standard_normal(X.shape)
    return X, np.repeat([0, 1], [n_surface, n_trefoil])
