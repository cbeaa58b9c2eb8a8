"""Figures with matplotlib (the ``plot`` extra); they take and return an ``ax``."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold.errors import GraphfoldError

# ten hues that stay apart for colour-blind readers, after Okabe and Ito
_COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#D55E00",
    "#56B4E9",
    "#8C6D31",
    "#6A3D9A",
    "#B2B200",
    "#555555",
)


def embedding(Z: Any, labels: Any = None, *, ax: Any = None, title: str = "") -> Any:
    """Scatter of the first two columns, coloured by label, each class named in place.

    Parameters
    ----------
    Z : array of shape (n, 2 or more)
    labels : sequence of n classes, default=None
    ax : matplotlib Axes, default=None
    title : str

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from graphfold import plot
    >>> ax = plot.embedding(np.eye(3), ["a", "b", "a"])
    """
    plt = _pyplot()
    Z = np.asarray(Z)
    if Z.ndim != 2 or Z.shape[1] < 2:
        raise GraphfoldError(f"Z must have at least two columns; got shape {Z.shape}")
    ax = plt.subplots(figsize=(5, 4.5), layout="constrained")[1] if ax is None else ax
    size = float(np.clip(8000 / len(Z), 1, 25))
    if labels is None:
        ax.scatter(Z[:, 0], Z[:, 1], s=size, color=_COLOURS[0], linewidths=0, alpha=0.7)
    else:
        _scatter_by_class(ax, Z, np.asarray(labels), size)
    ax.set_title(title, fontsize=11, loc="left")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xlabel("component 1", fontsize=9, color="#555555")
    ax.set_ylabel("component 2", fontsize=9, color="#555555")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.margins(0.03)
    return ax


def _scatter_by_class(ax: Any, Z: Any, labels: Any, size: float) -> None:
    classes = np.unique(labels)
    for i, name in enumerate(classes):
        points = Z[labels == name]
        colour = _COLOURS[i % len(_COLOURS)]
        ax.scatter(
            points[:, 0],
            points[:, 1],
            s=size,
            color=colour,
            linewidths=0,
            alpha=0.65,
            label=str(name),
        )
    if len(classes) > 20:
        return  # names would hide the points
    for i, name in enumerate(classes):
        middle = np.median(Z[labels == name, :2], axis=0)
        ax.annotate(
            str(name),
            middle,
            ha="center",
            va="center",
            fontsize=10,
            fontweight="bold",
            color="white",
            bbox={
                "boxstyle": "round,pad=0.25",
                "facecolor": _COLOURS[i % len(_COLOURS)],
                "edgecolor": "white",
                "linewidth": 0.8,
            },
        )


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "plots need matplotlib: pip install 'graphfold[plot]'"
        ) from None
    return plt
