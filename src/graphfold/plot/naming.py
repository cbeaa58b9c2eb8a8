"""Names of classes: in place where they are few, in a legend where they are many."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.plot import style
from graphfold.plot.colouring import Classes

_LONGEST = 40  # characters of a name
_COVERED = 0.15  # share of the axes that names may cover
_BESIDE = 0.6  # of the width of the axes may be taken by a legend beside them
_ROWS = 26  # of a legend, before it has another column
_LISTED = 7  # points of its font
_SHORTEST = 16  # letters that a name has room for, however narrow the axes


def names_in_place(
    ax: Any, Z: Array, classes: Classes, colours: list[Any], present: list[int]
) -> list[Any]:
    """Names of the classes that occur, each at the median of its points."""
    from graphfold.plot.placing import NamesApart

    width, height = style.size_in_points(ax)
    longest = int(np.clip(width / 8, 10, _LONGEST))
    texts = [wrapped(classes.names[i], longest) for i in present]
    size = font_size(texts, width * height)
    found: list[Any] = []
    for i, text in zip(present, texts, strict=True):
        found.append(
            ax.annotate(
                text,
                np.median(Z[classes.codes == i], axis=0),
                xytext=(0, 0),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=size,
                fontweight="bold",
                parse_math=False,  # a name may have a $ in it
                color=style.text_on(colours[i]),
                bbox={
                    "boxstyle": "round,pad=0.25",
                    "facecolor": colours[i],
                    "edgecolor": style.mixed(style.background(ax), "white", 0.5),
                    "linewidth": 0.8,
                },
            )
        )
    if present:
        ax.add_artist(NamesApart(found, [colours[i] for i in present]))
    return found


def legend_beside(ax: Any, handles: list[Any], title: str) -> Any:
    """A legend to the right of the axes, which make room for it."""
    n_columns = 1 + (len(handles) - 1) // _ROWS
    longest = letters_beside(ax, _LISTED, _BESIDE / n_columns)
    legend = ax.legend(
        handles=handles,
        title=title or None,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        ncols=n_columns,
        fontsize=_LISTED,
        title_fontsize=8,
        frameon=False,
        handletextpad=0.3,
        labelspacing=0.25,
        columnspacing=0.8,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
        text.set_text(shortened(text.get_text(), longest))
    for handle in legend.legend_handles:
        handle.set_alpha(1)
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([20])
    figure = ax.get_figure()
    if figure.get_layout_engine() is None:  # nobody else makes room
        share = legend.get_window_extent().width / figure.bbox.width
        box = ax.get_position()
        ax.set_position([box.x0, box.y0, max(box.width - share, 0.3), box.height])
    return legend


def listed_as(name: str) -> str:
    """A name that matplotlib lists: it leaves out those that start with a _."""
    return f" {name}" if name.startswith("_") else name


def letters_beside(ax: Any, size: float, share: float) -> int:
    """How long a name may be that takes a share of the axes' width beside them."""
    width, _ = style.size_in_points(ax)
    room = share * width - 2 * size  # a tick or a dot, and air
    return max(int(room / (0.6 * size)), _SHORTEST)


def shortened(name: str, longest: int) -> str:
    """A name without its middle where it is longer: the ends tell names apart."""
    if len(name) <= longest:
        return name
    tail = (longest - 3) // 3
    return f"{name[: longest - 3 - tail].rstrip()}...{name[-tail:].lstrip()}"


def wrapped(name: str, longest: int) -> str:
    """A name on two or three lines, broken between words, without its middle."""
    width = max(longest // 2 + 2, 10)
    lines = textwrap.wrap(shortened(name, longest), width, break_long_words=False)
    return "\n".join(lines) or name


def font_size(texts: list[str], area: float) -> float:
    """Points of a font in which bold texts cover little of an area, in square points.

    A letter is about 0.7 of the size wide and a line 1.3 high, in a frame of 0.5.
    """
    lines = [text.split("\n") for text in texts]
    covered = sum(
        (0.7 * max(map(len, part)) + 0.5) * (1.3 * len(part) + 0.5) for part in lines
    )
    largest = 10 if len(texts) <= 10 else 8
    return float(np.clip(np.sqrt(_COVERED * area / covered), 5, largest))
