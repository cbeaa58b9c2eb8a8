"""Names beside the points they speak of, kept apart from each other.

Where a name may stand is known only when the figure is drawn: layouts move axes, and
windows are resized. So an artist that shows nothing is drawn before the names, and
moves them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist

from graphfold.arrays import Array

_ROUNDS = 300
_GAP = 2.0  # pixels between two names


class NamesApart(Artist):
    """Moves annotations, at each drawing, so that none covers another."""

    def __init__(self, names: list[Any]):
        super().__init__()
        self.names = names
        self.set_in_layout(False)
        self.set_zorder(min((name.get_zorder() for name in names), default=0) - 0.5)

    def draw(self, renderer: Any) -> None:
        """Give each name its place; the names draw themselves."""
        shown = [name for name in self.names if name.get_visible()]
        if not shown or self.axes is None:
            return
        for name in shown:
            name.set_position((0, 0))
        boxes = [_box(name, renderer) for name in shown]
        sizes = np.array([[box.width, box.height] for box in boxes])
        middles = np.array([[box.x0 + box.x1, box.y0 + box.y1] for box in boxes]) / 2
        inside = self.axes.get_window_extent(renderer)
        limits = np.array([[inside.x0, inside.y0], [inside.x1, inside.y1]])
        moves = (apart(middles, sizes, limits) - middles) / renderer.points_to_pixels(1)
        for name, move in zip(shown, moves, strict=True):
            name.set_position(tuple(move))


def apart(middles: Array, sizes: Array, limits: Array) -> Array:
    """Middles of boxes moved, as little as it takes, until they do not overlap.

    Each overlapping pair is pushed apart along the shorter way out, half each; boxes
    stay within the limits where they fit.
    """
    places = middles.astype(np.float64).copy()
    low = limits[0] + sizes / 2
    high = np.maximum(limits[1] - sizes / 2, low)
    room = (sizes[:, None] + sizes[None]) / 2 + _GAP
    order = np.arange(len(places))
    for _ in range(_ROUNDS):
        places = np.clip(places, low, high)
        ways = places[:, None] - places[None]
        overlap = room - np.abs(ways)
        touching = (overlap > 1e-6).all(axis=2) & ~np.eye(len(places), dtype=bool)
        if not touching.any():
            break
        # where two middles agree, the later one goes up
        signs = np.where(ways == 0, np.sign(order[:, None] - order)[..., None], ways)
        sideways = overlap[..., 0] < overlap[..., 1]
        push = np.where(touching, np.where(sideways, *np.moveaxis(overlap, 2, 0)), 0)
        step = 0.55 * push[..., None] * np.sign(signs)
        step[..., 0] *= sideways
        step[..., 1] *= ~sideways
        places = (
            places + step.sum(axis=1) / np.maximum(touching.sum(axis=1), 1)[:, None]
        )
    return np.clip(places, low, high)


def _box(name: Any, renderer: Any) -> Any:
    """Where the text with its frame stands, without the line that leads to it."""
    name.update_positions(renderer)
    patch = name.get_bbox_patch()
    name.update_bbox_position_size(renderer)
    return patch.get_window_extent(renderer)
