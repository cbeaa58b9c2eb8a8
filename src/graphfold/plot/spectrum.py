"""Eigenvalues of the components that were kept, and how sure their axes are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from graphfold.check import one_of
from graphfold.errors import GraphfoldError
from graphfold.plot import style
from graphfold.plot.reading import fitted

SHAPES = ("bars", "dots")
_ALL_TICKS = 15
_GAP_WIDTH = 50  # points that the words "largest gap" take
_LEAST_GAP = 1e-12  # relative: below it all values are equal, and no gap stands out


class ScreeDisplay:
    """Eigenvalues in their order, the share of variance, and axes that may mix.

    Parameters
    ----------
    values : array of shape (d,)
    ratios : array of shape (d,), default=None
        Explained variance of each component, as a share of all.
    interchangeable : list of lists of int, default=()
        Axes of which only the common space is sure, counted from 0; d is one that was
        not kept. As in ``axis_report_``.
    quantity : str, default="eigenvalue"

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : BarContainer, or None with dots
    lines_ : list of Line2D
        The dots if there are any, then the cumulated share if it is known.
    spans_ : list of Patch
        One behind each group of interchangeable axes.
    gap_ : Annotation or None
        The largest step from one value to the next.
    ax_ratio_ : matplotlib Axes or None
        The scale on the right, of the cumulated share.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from graphfold.plot import ScreeDisplay
    >>> display = ScreeDisplay([5.0, 4.0, 1.0], [0.5, 0.4, 0.1]).plot()
    >>> display.gap_.get_text()
    'largest gap'
    """

    def __init__(
        self,
        values: Any,
        ratios: Any = None,
        *,
        interchangeable: Any = (),
        quantity: str = "eigenvalue",
    ):
        self.values = values
        self.ratios = ratios
        self.interchangeable = interchangeable
        self.quantity = quantity

    def plot(
        self, ax: Any = None, *, shape: str = "bars", title: str = "", **kwargs: Any
    ) -> Self:
        """Draw the eigenvalues.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        shape : {"bars", "dots"}, default="bars"
        title : str
        **kwargs : passed to ``ax.bar`` or, with dots, to ``ax.plot``

        Returns
        -------
        self
        """
        one_of("shape", shape, SHAPES)
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim != 1 or not len(values):
            raise GraphfoldError(
                f"values must be one or more eigenvalues; got shape {values.shape}"
            )
        ax = style.axes(ax, (5, 3.2))
        places = np.arange(1, len(values) + 1)
        self.bars_, self.lines_ = None, []
        if shape == "bars":
            look = {"color": style.colour_on(ax, 0), "width": 0.7, **kwargs}
            self.bars_ = ax.bar(places, values, **look)
        else:
            look = {"color": style.colour_on(ax, 0), "marker": "o", "linestyle": "none"}
            self.lines_ += ax.plot(places, values, **{**look, **kwargs})
        if (values < 0).any():
            ax.axhline(0, color=style.shade(ax, 0.5), linewidth=0.8)
        ax.margins(y=0.12)
        self._draw_groups(ax, len(values))
        self._draw_gap(ax, values)
        if len(values) <= _ALL_TICKS:
            ax.set_xticks(places)
        else:
            ax.locator_params(axis="x", integer=True, steps=[1, 2, 5, 10])
        ax.tick_params(labelsize=8)
        shaded = "   (shaded: interchangeable)" if self.spans_ else ""
        style.name_axes(ax, f"component{shaded}", self.quantity)
        style.plain(ax, title)
        self._draw_ratios(ax, places)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        shape: str = "bars",
        ax: Any = None,
        title: str = "",
        **kwargs: Any,
    ) -> Self:
        """Draw the eigenvalues of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``eigenvalues_`` or ``singular_values_``
            Ours or scikit-learn's, a Pipeline that ends in one, or a search over them.
        shape, ax, title, **kwargs : as for :func:`graphfold.plot.scree`

        Returns
        -------
        ScreeDisplay
        """
        model = fitted(estimator)
        for name in ("eigenvalues_", "singular_values_"):
            values = getattr(model, name, None)
            if values is not None:
                break
        else:
            raise GraphfoldError(
                "model must have eigenvalues_ or singular_values_; this "
                f"{type(model).__name__} has neither"
            )
        # axes turned towards a reference are mixtures: the report is of those before
        turned = getattr(model, "align_to", None) is not None
        report = None if turned else getattr(model, "axis_report_", None)
        made = cls(
            values,
            getattr(model, "explained_variance_ratio_", None),
            interchangeable=() if report is None else report.interchangeable,
            quantity=name.rstrip("_").replace("_", " ").removesuffix("s"),
        )
        return made.plot(ax, shape=shape, title=title, **kwargs)

    def _draw_groups(self, ax: Any, d: int) -> None:
        self.spans_ = [
            ax.axvspan(
                group[0] + 0.55,
                group[-1] + 1.45,
                color=style.colour_on(ax, 1),
                alpha=0.22,
                linewidth=0,
                zorder=0,
            )
            for group in self.interchangeable
        ]
        beyond = any(group[-1] >= d for group in self.interchangeable)
        ax.set_xlim(0.4, d + (1.6 if beyond else 0.6))
        if beyond and d <= _ALL_TICKS:
            ax.annotate(
                "not\nkept",
                (d + 1, 0.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=7,
                color=style.shade(ax, 2 / 3),
            )

    def _draw_gap(self, ax: Any, values: Any) -> None:
        self.gap_ = None
        steps = np.diff(values)
        if not len(steps) or ((steps > 0).any() and (steps < 0).any()):
            return  # one value alone; or turned axes, whose values have no order
        k = int(np.argmax(np.abs(steps)))
        if abs(steps[k]) <= _LEAST_GAP * np.abs(values).max():
            return
        # above the shorter of the two bars there is room
        falls = steps[k] < 0
        x = k + 2 if falls else k + 1
        ink = style.shade(ax, 0.8)
        ax.annotate(
            "",
            (x, values[k]),
            xytext=(x, values[k + 1]),
            arrowprops={"arrowstyle": "<->", "color": ink, "shrinkA": 0, "shrinkB": 0},
        )
        rightwards, top = _room_for_words(ax, values, x, falls)
        self.gap_ = ax.annotate(
            "largest gap",
            (x, top),
            xytext=(0, 2),
            textcoords="offset points",
            ha="left" if rightwards else "right",
            va="bottom",
            fontsize=8,
            color=ink,
            bbox={
                "facecolor": style.background(ax),
                "alpha": 0.75,
                "linewidth": 0,
                "pad": 0.5,
            },
        )

    def _draw_ratios(self, ax: Any, places: Any) -> None:
        self.ax_ratio_ = None
        if self.ratios is None:
            return
        colour = style.colour_on(ax, 4)
        twin = self.ax_ratio_ = ax.twinx()
        shares = 100 * np.cumsum(np.asarray(self.ratios, dtype=np.float64))
        self.lines_ += twin.plot(
            places, shares, color=colour, marker=".", linewidth=1.2
        )
        twin.set_ylim(min(0.0, 1.1 * shares.min()), max(100.0, 1.05 * shares.max()))
        twin.set_ylabel("variance, cumulated (%)", fontsize=style.SMALL, color=colour)
        twin.tick_params(labelsize=8, colors=colour)
        twin.spines["top"].set_visible(False)
        twin.spines["right"].set_color(colour)


def scree(
    model: Any, *, shape: str = "bars", ax: Any = None, title: str = "", **kwargs: Any
) -> Any:
    """Eigenvalues of a fitted estimator, their gap, and axes that may be mixed up.

    A step down after a component says that the space up to it stands out. Shaded
    axes are interchangeable: a change of 1 % may turn them into each other, so only
    the space they span should be read. The line is the share of variance that the
    components explain together, where the estimator knows it.

    Parameters
    ----------
    model : fitted estimator with ``eigenvalues_`` or ``singular_values_``
    shape : {"bars", "dots"}, default="bars"
    ax : matplotlib Axes, default=None
        None makes a figure.
    title : str
    **kwargs : passed to ``ax.bar`` or, with dots, to ``ax.plot``

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    ScreeDisplay : the same with the artists at hand.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA, plot
    >>> X = np.random.default_rng(0).random((30, 3))
    >>> ax = plot.scree(GraphKernelPCA(4).fit(X))
    >>> len(ax.patches) >= 4
    True
    """
    return ScreeDisplay.from_estimator(
        model, shape=shape, ax=ax, title=title, **kwargs
    ).ax_


def _room_for_words(ax: Any, values: Any, x: int, falls: bool) -> tuple[bool, float]:
    """Whether "largest gap" goes on to the right of x, and how high it has to be.

    The values beyond the gap are lower, so it goes their way unless the axes end.
    """
    low, high = ax.get_xlim()
    wide = _GAP_WIDTH * (high - low) / style.size_in_points(ax)[0]
    rightwards = bool(x + wide < high if falls else x - wide < low)
    start = x if rightwards else x - wide
    places = np.arange(1, len(values) + 1)
    under = (places > start - 0.5) & (places < start + wide + 0.5)
    beside = x - 1 if falls else x + 1  # the higher side of the gap
    return rightwards, float(max(values[beside - 1], values[under].max()))
