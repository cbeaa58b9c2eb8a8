"""Figures with matplotlib (the ``plot`` extra); they take and return an ``ax``."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold.errors import GraphfoldError

# ten hues that stay apart for colour-blind readers, after Okabe and Ito
COLOURS = (
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
        ax.scatter(Z[:, 0], Z[:, 1], s=size, color=COLOURS[0], linewidths=0, alpha=0.7)
    else:
        _scatter_by_class(ax, Z, np.asarray(labels), size)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xlabel("component 1", fontsize=9, color="#555555")
    ax.set_ylabel("component 2", fontsize=9, color="#555555")
    ax.margins(0.03)
    return _plain(ax, title)


def weights(model: Any, *, ax: Any = None, title: str = "") -> Any:
    """Bars of the weights that a model has learned, kernels and graphs by name.

    Parameters
    ----------
    model : fitted estimator
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
    >>> from graphfold import GraphKernelPCA, plot
    >>> X = np.random.default_rng(0).random((30, 3))
    >>> ax = plot.weights(GraphKernelPCA(2, kernel=["rbf", "linear"]).fit(X))
    """
    plt = _pyplot()
    groups = [
        ("kernel", model.kernel_names_, model.kernel_weights_, COLOURS[0]),
        ("graph", model.graph_names_, model.graph_weights_, COLOURS[4]),
    ]
    shown = [group for group in groups if len(group[1])]
    n_bars = sum(len(names) for _, names, _, _ in shown)
    if ax is None:
        size = (5, 0.8 + 0.32 * n_bars)
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    place, ticks = 0, []
    for kind, names, values, colour in shown:
        places = range(place, place + len(names))
        ax.barh(places, values, color=colour, height=0.7, label=kind)
        ticks += [f"{kind}: {name}" if len(shown) > 1 else name for name in names]
        for y, value in zip(places, values, strict=True):
            ax.annotate(f" {value:.2f}", (value, y), va="center", fontsize=8)
        place += len(names)
    ax.set_yticks(range(n_bars), ticks, fontsize=9)
    ax.invert_yaxis()
    ax.set_xlabel("weight", fontsize=9, color="#555555")
    ax.margins(x=0.12)
    return _plain(ax, title)


def strength_path(model: Any, *, ax: Any = None, title: str = "") -> Any:
    """How much better than strength 0 each strength foretells, with standard errors.

    Parameters
    ----------
    model : estimator fitted with ``graph_strength="auto"``, or its ``strength_path_``
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
    >>> from graphfold import GraphKernelPCA, NeighborGraph, plot
    >>> X = np.random.default_rng(0).random((40, 6))
    >>> model = GraphKernelPCA(2, graph=NeighborGraph(5), graph_strength="auto").fit(X)
    >>> ax = plot.strength_path(model)
    """
    plt = _pyplot()
    path = getattr(model, "strength_path_", model)
    if not hasattr(path, "standard_errors"):
        raise GraphfoldError(
            "model must be fitted with a graph and "
            'graph_strength="auto"; it has no strength_path_'
        )
    if ax is None:
        ax = plt.subplots(figsize=(5, 3.2), layout="constrained")[1]
    places = np.arange(len(path.strengths))
    ax.axhline(0, color="#999999", linewidth=0.8)
    ax.errorbar(
        places,
        path.gains,
        yerr=path.standard_errors,
        color=COLOURS[0],
        marker="o",
        markersize=4,
        capsize=2,
        linewidth=1.2,
    )
    chosen = int(np.argmax(path.strengths == path.chosen))
    ax.plot(
        places[chosen],
        path.gains[chosen],
        "o",
        color=COLOURS[4],
        markersize=9,
        zorder=3,
    )
    ax.annotate(
        f"chosen: {path.chosen:g}",
        (places[chosen], path.gains[chosen] + path.standard_errors[chosen]),
        xytext=(0, 8),
        textcoords="offset points",
        ha="center" if 0 < chosen < len(places) - 1 else ("left", "right")[chosen > 0],
        fontsize=9,
        color=COLOURS[4],
    )
    ax.set_xticks(places, [f"{s:g}" for s in path.strengths], fontsize=8)
    ax.set_xlabel("graph_strength", fontsize=9, color="#555555")
    ax.set_ylabel(
        f"{path.scored_by} foretold, gain over 0", fontsize=9, color="#555555"
    )
    ax.tick_params(axis="y", labelsize=8)
    ax.margins(y=0.18)
    return _plain(ax, title)


def _plain(ax: Any, title: str) -> Any:
    ax.set_title(title, fontsize=11, loc="left")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _scatter_by_class(ax: Any, Z: Any, labels: Any, size: float) -> None:
    classes = np.unique(labels)
    for i, name in enumerate(classes):
        points = Z[labels == name]
        colour = COLOURS[i % len(COLOURS)]
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
                "facecolor": COLOURS[i % len(COLOURS)],
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
