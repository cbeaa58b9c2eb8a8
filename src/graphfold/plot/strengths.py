"""The path along which ``graph_strength="auto"`` chooses."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from graphfold.errors import GraphfoldError
from graphfold.plot import style
from graphfold.plot.reading import fitted, is_estimator


class StrengthPathDisplay:
    """How much better than strength 0 each strength foretells, with standard errors.

    Parameters
    ----------
    path : StrengthPath
        The ``strength_path_`` of an estimator.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    errorbar_ : ErrorbarContainer
    lines_ : list of Line2D
        The line at 0, the gains, and the dot of the strength chosen.
    text_ : Annotation

    Examples
    --------
    >>> import warnings
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA, NeighborGraph
    >>> from graphfold.plot import StrengthPathDisplay
    >>> X = np.random.default_rng(0).random((40, 6))
    >>> model = GraphKernelPCA(2, graph=NeighborGraph(5), graph_strength="auto")
    >>> with warnings.catch_warnings():  # a random graph is of no use, which is said
    ...     warnings.simplefilter("ignore")
    ...     model = model.fit(X)
    >>> display = StrengthPathDisplay.from_estimator(model)
    >>> display.path.chosen == model.graph_strength_
    True
    """

    def __init__(self, path: Any):
        self.path = path

    def plot(self, ax: Any = None, *, title: str = "", **kwargs: Any) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        title : str
        **kwargs : passed to ``ax.errorbar``

        Returns
        -------
        self
        """
        from graphfold.plot.placing import names_that_fit

        path = self.path
        if not hasattr(path, "standard_errors"):
            raise GraphfoldError(
                "model must be fitted with a graph and "
                'graph_strength="auto"; it has no strength_path_'
            )
        ax = style.axes(ax, (5, 3.2))
        gains, errors = path.gains, path.standard_errors
        places = np.arange(len(path.strengths))
        zero = ax.axhline(0, color=style.shade(ax, 0.4), linewidth=0.8)
        look = {
            "color": style.colour_on(ax, 0),
            "marker": "o",
            "markersize": 4,
            "capsize": 2,
            "linewidth": 1.2,
            **kwargs,
        }
        self.errorbar_ = ax.errorbar(places, gains, yerr=errors, **look)
        chosen = int(np.argmax(path.strengths == path.chosen))
        red = style.colour_on(ax, 4)
        (dot,) = ax.plot(
            places[chosen], gains[chosen], "o", color=red, markersize=9, zorder=3
        )
        inner = 0 < chosen < len(places) - 1
        self.text_ = ax.annotate(
            f"chosen: {path.chosen:g}",
            (places[chosen], gains[chosen] + errors[chosen]),
            xytext=(0, 8),
            textcoords="offset points",
            ha="center" if inner else ("left", "right")[chosen > 0],
            fontsize=style.SMALL,
            color=red,
        )
        self.lines_ = [zero, self.errorbar_.lines[0], dot]
        ax.tick_params(labelsize=8)
        names_that_fit(ax, [f"{s:g}" for s in path.strengths])
        style.name_axes(ax, "graph_strength", f"{path.scored_by} foretold, gain over 0")
        ax.margins(y=0.18)
        style.plain(ax, title)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, title: str = "", **kwargs: Any
    ) -> Self:
        """Draw the path of a fitted estimator.

        Parameters
        ----------
        estimator : estimator fitted with ``graph_strength="auto"`` or ``"auto-edges"``
            Or a Pipeline that ends in one, or a search over them.
        ax : matplotlib Axes, default=None
        title : str
        **kwargs : passed to ``ax.errorbar``

        Returns
        -------
        StrengthPathDisplay
        """
        path = getattr(fitted(estimator), "strength_path_", None)
        return cls(path).plot(ax, title=title, **kwargs)


def strength_path(model: Any, *, ax: Any = None, title: str = "", **kwargs: Any) -> Any:
    """How much better than strength 0 each strength foretells, with standard errors.

    Parameters
    ----------
    model : estimator fitted with ``graph_strength="auto"``, or its ``strength_path_``
    ax : matplotlib Axes, default=None
        None makes a figure.
    title : str
    **kwargs : passed to ``ax.errorbar``

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    StrengthPathDisplay : the same with the artists at hand.

    Examples
    --------
    >>> import warnings
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA, NeighborGraph, plot
    >>> X = np.random.default_rng(0).random((40, 6))
    >>> model = GraphKernelPCA(2, graph=NeighborGraph(5), graph_strength="auto")
    >>> with warnings.catch_warnings():  # a random graph is of no use, which is said
    ...     warnings.simplefilter("ignore")
    ...     model = model.fit(X)
    >>> ax = plot.strength_path(model)
    """
    if is_estimator(model):
        made = StrengthPathDisplay.from_estimator(model, ax=ax, title=title, **kwargs)
    else:
        made = StrengthPathDisplay(model).plot(ax, title=title, **kwargs)
    return made.ax_
