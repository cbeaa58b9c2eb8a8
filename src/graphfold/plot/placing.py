"""Names beside the points and ticks they speak of, kept apart from each other.

Where a name may stand is known only when the figure is drawn: layouts move axes, and
windows are resized. So an artist that shows nothing is drawn before the names of
points, and moves them; ticks are asked for at each drawing anyway.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, Locator

from graphfold.arrays import Array
from graphfold.plot.style import size_in_points

_ROUNDS = 100
_SEATS = 50  # places tried across, and up
_TOUCH = 1e-3  # pixels that nobody sees
_GAP = 2.0  # pixels between two names
_TICK = 21  # points from one tick to the next that a name such as 0.01 needs


class NamesApart(Artist):
    """Moves annotations, at each drawing, so that none covers another.

    A line leads from a name that was moved to where it belongs, beneath all names.
    """

    def __init__(self, names: list[Any], colours: list[Any]):
        super().__init__()
        self.names, self.colours = names, colours
        self.set_in_layout(False)
        self.set_zorder(min((name.get_zorder() for name in names), default=0) - 0.5)

    def draw(self, renderer: Any) -> None:
        """Give each name its place, and draw the lines; names draw themselves."""
        if not self.get_visible() or self.axes is None:
            return
        there = [
            (name, colour)
            for name, colour in zip(self.names, self.colours, strict=True)
            if name.axes is not None and name.get_visible()  # some may be removed since
        ]
        if not there:
            return
        shown, colours = zip(*there, strict=True)
        for name in shown:
            name.set_position((0, 0))
        boxes = [_box(name, renderer) for name in shown]
        sizes = np.array([[box.width, box.height] for box in boxes])
        middles = np.array([[box.x0 + box.x1, box.y0 + box.y1] for box in boxes]) / 2
        inside = self.axes.get_window_extent(renderer)
        limits = np.array([[inside.x0 + 1, inside.y0 + 1], [inside.x1, inside.y1]])
        places = apart(middles, sizes, limits)
        moves = (places - middles) / renderer.points_to_pixels(1)
        for name, move in zip(shown, moves.tolist(), strict=True):
            name.set_position(tuple(move))
        for colour, ends in zip(
            colours, np.stack([middles, places], axis=2), strict=True
        ):
            line = Line2D(*ends, color=colour, linewidth=1)
            line.set_figure(self.axes.figure)
            line.draw(renderer)


def names_that_fit(ax: Any, names: list[str]) -> None:
    """Names at 0, 1, 2, ... of the horizontal axis: all, or every second, third, ..."""
    ax.xaxis.set_major_locator(_TicksThatFit(ax, len(names)))
    ax.xaxis.set_major_formatter(FuncFormatter(partial(_name_at, names)))


class _TicksThatFit(Locator):
    def __init__(self, ax: Any, n: int):
        self.ax, self.n = ax, n

    def __call__(self) -> list[float]:
        width, _ = size_in_points(self.ax)
        step = int(np.ceil(_TICK * self.n / width))
        return list(range(0, self.n, step))


def _name_at(names: list[str], place: float, _: Any) -> str:
    """A function of the module, for figures with lambdas are not pickled."""
    return names[round(place)]


def apart(middles: Array, sizes: Array, limits: Array) -> Array:
    """Middles of boxes moved, as little as it takes, until they do not overlap.

    Boxes stay within the limits where they fit. Where pushing does not end, as in a
    crowd, each box in turn takes the nearest free place.
    """
    low = limits[0] + sizes / 2
    high = np.maximum(limits[1] - sizes / 2, low)
    room = (sizes[:, None] + sizes[None]) / 2 + _GAP
    places, done = _pushed(np.clip(middles, low, high), room, low, high)
    return places if done else _seated(places, room, low, high)


def _pushed(places: Array, room: Array, low: Array, high: Array) -> tuple[Array, bool]:
    """Overlapping pairs pushed apart along the shorter way out, half each."""
    order = np.arange(len(places))
    others = order[:, None] != order
    for _ in range(_ROUNDS):
        ways = places[:, None] - places[None]
        overlap = room - np.abs(ways)
        touching = (overlap > _TOUCH).all(axis=2) & others
        if not touching.any():
            return places, True
        # where two middles agree, the later one goes up
        signs = np.where(ways == 0, np.sign(order[:, None] - order)[..., None], ways)
        sideways = overlap[..., 0] < overlap[..., 1]
        push = np.where(sideways, overlap[..., 0], overlap[..., 1]) * touching
        step = 0.5 * push[..., None] * np.sign(signs)
        step[..., 0] *= sideways
        step[..., 1] *= ~sideways
        shared = np.maximum(touching.sum(axis=1), 1)[:, None]
        places = np.clip(places + step.sum(axis=1) / shared, low, high)
    return places, False


def _seated(places: Array, room: Array, low: Array, high: Array) -> Array:
    """Each box at the free place nearest to its own; it stays if there is none."""
    found = places.copy()
    for i, place in enumerate(places):
        across, up = (np.linspace(low[i, k], high[i, k], _SEATS) for k in (0, 1))
        seats = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        seats = np.vstack([place, seats])
        ways = np.abs(seats[:, None] - found[None, :i])
        free = (ways >= room[i, :i] - _TOUCH).any(axis=2).all(axis=1)
        if free.any():
            far = np.linalg.norm(seats - place, axis=1)
            found[i] = seats[np.argmin(np.where(free, far, np.inf))]
    return found


def _box(name: Any, renderer: Any) -> Any:
    """Where the text with its frame stands, without the line that leads to it."""
    name.update_positions(renderer)
    patch = name.get_bbox_patch()
    name.update_bbox_position_size(renderer)
    return patch.get_window_extent(renderer)
