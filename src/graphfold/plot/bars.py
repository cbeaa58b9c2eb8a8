"""Weights that a model has learned: kernels, graphs and modes by name."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.plot import style
from graphfold.plot.naming import letters_beside, shortened
from graphfold.plot.reading import fitted

COLOUR_OF = {"kernel": 0, "graph": 4, "mode": 4}
_NAMES = 0.8  # of the width of the axes may be taken by names of the bars


class Group(NamedTuple):
    """Weights of one kind, by name."""

    kind: str
    names: list[str]
    values: Array


class WeightsDisplay:
    """Bars of weights, one group of them for each kind of term.

    Parameters
    ----------
    groups : dict of kind ("kernel", "graph" or "mode") to dict of name to weight

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : list of BarContainer
        One for each group.
    texts_ : list of Annotation
        The weights in figures.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from graphfold.plot import WeightsDisplay
    >>> display = WeightsDisplay({"graph": {"road": 0.8, "rail": 0.6}}).plot()
    >>> [text.get_text().strip() for text in display.texts_]
    ['0.80', '0.60']
    """

    def __init__(self, groups: dict[str, dict[str, float]]):
        self.groups = groups

    def plot(self, ax: Any = None, *, title: str = "", **kwargs: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        title : str
        **kwargs : passed to ``ax.barh``

        Returns
        -------
        self
        """
        shown = [
            Group(kind, [str(name) for name in group], np.array([*group.values()]))
            for kind, group in self.groups.items()
            if len(group)
        ]
        n_bars = sum(len(group.names) for group in shown)
        if not n_bars:
            raise GraphfoldError(
                "model must have weights of kernels or graphs; it has none"
            )
        ax = style.axes(ax, (5, 0.8 + 0.32 * n_bars))
        self.bars_: list[Any] = []
        self.texts_: list[Any] = []
        place, ticks = 0, []
        for kind, names, values in shown:
            places = range(place, place + len(names))
            colour = style.colour_on(ax, COLOUR_OF.get(kind, 2))
            look = {"color": colour, "height": 0.7, "label": kind, **kwargs}
            self.bars_.append(ax.barh(places, values, **look))
            ticks += [f"{kind}: {name}" if len(shown) > 1 else name for name in names]
            self.texts_ += [
                ax.annotate(
                    f" {value:.2f} " if abs(value) >= 0.005 else f" {value:.1g} ",
                    (value, y),
                    va="center",
                    ha="right" if value < 0 else "left",
                    fontsize=8,
                    color=style.shade(ax, 1),
                )
                for y, value in zip(places, values, strict=True)
            ]
            place += len(names)
        longest = letters_beside(ax, style.SMALL, _NAMES)
        ticks = [shortened(name, longest) for name in ticks]
        ax.set_yticks(range(n_bars), ticks, fontsize=style.SMALL, parse_math=False)
        if not ax.yaxis_inverted():
            ax.invert_yaxis()
        ax.margins(x=0.12)
        style.name_axes(ax, "weight", "")
        ax.tick_params(axis="x", labelsize=8)
        style.plain(ax, title)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, title: str = "", **kwargs: Any
    ) -> Self:
        """Draw the weights of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with weights of kernels, graphs or modes
            Or a Pipeline that ends in one, or a search over them.
        ax : matplotlib Axes, default=None
        title : str
        **kwargs : passed to ``ax.barh``

        Returns
        -------
        WeightsDisplay
        """
        return cls(_groups(fitted(estimator))).plot(ax, title=title, **kwargs)


def weights(model: Any, *, ax: Any = None, title: str = "", **kwargs: Any) -> Any:
    """Bars of the weights that a model has learned: kernels, graphs, modes by name.

    Parameters
    ----------
    model : fitted estimator
    ax : matplotlib Axes, default=None
        None makes a figure.
    title : str
    **kwargs : passed to ``ax.barh``

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    WeightsDisplay : the same with the artists at hand.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA, plot
    >>> X = np.random.default_rng(0).random((30, 3))
    >>> ax = plot.weights(GraphKernelPCA(2, kernel=["rbf", "linear"]).fit(X))
    """
    return WeightsDisplay.from_estimator(model, ax=ax, title=title, **kwargs).ax_


def _groups(model: Any) -> dict[str, dict[str, float]]:
    found = {}
    for kind in ("kernel", "mode", "graph"):
        names = getattr(model, f"{kind}_names_", None)
        values = getattr(model, f"{kind}_weights_", None)
        if names is not None and values is not None:
            found[kind] = dict(zip(names, np.asarray(values).tolist(), strict=False))
    if "mode" in found:  # the graph of a mode is that mode
        found.pop("graph", None)
    if not any(found.values()):
        raise GraphfoldError(
            f"model must have weights of kernels or graphs; this {type(model).__name__}"
            " has none"
        )
    return found
