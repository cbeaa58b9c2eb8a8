"""Parts that the figures of several experiments share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphfold.experiments.protocol import Measured
from graphfold.plot import COLOURS
from graphfold.replacing import write_atomically

try:
    from matplotlib import rc_context
    from matplotlib.figure import Figure
except ImportError:
    raise ImportError(
        "experiments draw with matplotlib: pip install 'graphfold[plot]'"
    ) from None

MARKERS = "osD^vP*Xph"
GREY = "#555555"


def write_figure(figure: Any, out: Path, name: str) -> None:
    """``name.png`` and ``name.svg``, the same bytes for the same figure."""
    formats: dict[str, dict[str, Any]] = {
        "png": {"dpi": 130},
        "svg": {"metadata": {"Date": None}, "dpi": 130},  # of what is rasterised
    }
    with rc_context({"svg.hashsalt": name}):
        for kind, more in formats.items():
            save = functools.partial(figure.savefig, format=kind, **more)
            write_atomically(str(out / f"{name}.{kind}"), save)


def panels(
    n_rows: int, n_columns: int, *, width: float = 4.4, height: float = 3.4
) -> tuple[Any, Any]:
    """A figure of equal panels, and an array of its axes (always two-dimensional)."""
    size = (width * n_columns, height * n_rows)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def curves(
    ax: Any,
    measured: Measured,
    *,
    x: str,
    by: str = "method",
    order: Sequence[Any] | None = None,
    dashed: Sequence[Any] = (),
    title: str = "",
    ylabel: str = "error",
    xlabel: str | None = None,
    **chosen: Any,
) -> Any:
    """One line for each level of ``by``: means over runs, bars of one standard error.

    ``order`` fixes which levels are drawn, and their colours: give the same to every
    panel of a figure. Cells are those that match ``chosen``.
    """
    names = list(order) if order is not None else measured.levels(by, **chosen)
    present = set(measured.levels(by, **chosen))
    for number, name in enumerate(names):
        if name not in present:
            continue
        here = {**chosen, by: name}
        places = measured.levels(x, **here)
        ax.errorbar(
            places,
            [measured.mean(**here, **{x: place}) for place in places],
            yerr=[measured.standard_error(**here, **{x: place}) for place in places],
            color=COLOURS[number % len(COLOURS)],
            linestyle="--" if name in dashed else "-",
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            capsize=2,
            linewidth=1.0 if name in dashed else 1.6,
            label=str(name),
        )
    ax.set_title(title, fontsize=11, loc="left")
    ax.set_xlabel(x if xlabel is None else xlabel, fontsize=9, color=GREY)
    ax.set_ylabel(ylabel, fontsize=9, color=GREY)
    ax.tick_params(labelsize=8)
    ax.grid(axis="y", color="#EEEEEE", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def legend_beside(figure: Any, ax: Any, *, title: str = "") -> None:
    """The names of the lines of ``ax`` to the right of all panels."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside right upper",
        fontsize=9,
        frameon=False,
        title=title or None,
    )
