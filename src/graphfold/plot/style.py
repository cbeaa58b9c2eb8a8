"""How all figures look: colours that suit the background, plain axes, small print."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold.errors import GraphfoldError

# six hues of Okabe and Ito and four that differ from them in lightness, too: any two
# stay apart for colour-blind readers
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#D55E00",
    "#56B4E9",
    "#8C6D31",
    "#4B1D7A",
    "#1F4D2B",
    "#555555",
)
_LIGHTER, _DARKER = 0.5, 0.4  # towards white, towards black: hues used again
_ON_DARK = 0.25  # towards white: blue and violet have to show on black
_READABLE = 4.5  # contrast that text of our size needs (WCAG 2)
SMALL = 9


def pyplot() -> Any:
    """matplotlib's pyplot, or how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "plots need matplotlib: pip install 'graphfold[plot]'"
        ) from None
    return plt


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, or those of a new figure of this size in inches."""
    plt = pyplot()
    if ax is None:
        return plt.subplots(figsize=size, layout="constrained")[1]
    if not hasattr(ax, "add_collection"):
        raise GraphfoldError(
            f"ax must be one matplotlib Axes; got {type(ax).__name__}: make one by "
            "plt.subplots()[1], or take one of an array of them"
        )
    return ax


def size_in_points(ax: Any) -> tuple[float, float]:
    """Width and height of the axes, before a layout has moved them."""
    box = ax.get_window_extent()
    scale = 72 / ax.get_figure().dpi
    return box.width * scale, box.height * scale


def plain(ax: Any, title: str) -> Any:
    """The title on the left, no frame above and to the right."""
    ax.set_title(title, fontsize=11, loc="left")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def name_axes(ax: Any, xlabel: str, ylabel: str) -> None:
    """Names of both axes, quieter than what is drawn."""
    quiet = shade(ax, 2 / 3)
    ax.set_xlabel(xlabel, fontsize=SMALL, color=quiet)
    ax.set_ylabel(ylabel, fontsize=SMALL, color=quiet)


def note(ax: Any, text: str) -> Any:
    """Small print in the lower left corner, above what is drawn."""
    return ax.text(
        0.01,
        0.01,
        text,
        transform=ax.transAxes,
        fontsize=7,
        color=shade(ax, 2 / 3),
        bbox={"facecolor": background(ax), "alpha": 0.75, "linewidth": 0, "pad": 1},
        zorder=6,
    )


# -- colours -------------------------------------------------------------------


def background(ax: Any) -> tuple[float, float, float]:
    """Colour behind the points: that of the axes, or of the figure if they have none.

    Asked of the axes and not of rcParams, for a style may have ended since.
    """
    from matplotlib.colors import to_rgba

    for face in (ax.get_facecolor(), ax.get_figure().get_facecolor()):
        red, green, blue, alpha = to_rgba(face)
        if alpha > 0:
            return red, green, blue
    return 1.0, 1.0, 1.0


def is_dark(ax: Any) -> bool:
    """Whether white shows better than black on these axes."""
    return luminance(background(ax)) < 0.18


def shade(ax: Any, share: float) -> str:
    """Between the background (0) and black or white, whichever shows best (1)."""
    ink = "white" if is_dark(ax) else "black"
    return mixed(background(ax), ink, share)


def palette(n: int, *, dark: bool = False) -> list[str]:
    """n colours: the ten, then their lighter and darker kin, then again."""
    base = list(COLOURS)
    if dark:
        base = [
            mixed(colour, "white", _ON_DARK) for colour in [*COLOURS[:-1], "#BBBBBB"]
        ]
    lighter = [mixed(colour, "white", _LIGHTER) for colour in base]
    darker = [mixed(colour, "black", _DARKER) for colour in base]
    wheel = [*base, *lighter, *darker]
    return [wheel[i % len(wheel)] for i in range(n)]


def colour_on(ax: Any, number: int) -> str:
    """The colour of this number, as it shows on these axes."""
    return palette(number + 1, dark=is_dark(ax))[number]


def text_on(colour: Any) -> str:
    """White, or black on colours that are too light for it."""
    contrast = 1.05 / (luminance(colour) + 0.05)
    return "white" if contrast >= _READABLE else "black"


def mixed(one: Any, other: Any, share: float) -> str:
    """One colour with a share of another."""
    from matplotlib.colors import to_hex, to_rgb

    return str(to_hex((1 - share) * np.array(to_rgb(one)) + share * _rgb(other)))


def luminance(colour: Any) -> float:
    """Relative luminance of WCAG 2: 0 is black, 1 white."""
    values = _rgb(colour)
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055))
    linear = np.where(values <= 0.04045, linear, linear**2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _rgb(colour: Any) -> Any:
    from matplotlib.colors import to_rgb

    return np.array(to_rgb(colour))
