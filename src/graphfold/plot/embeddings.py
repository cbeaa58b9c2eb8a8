"""Where the rows are: a scatter of two components, by class or by number."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from graphfold.arrays import Array
from graphfold.plot import style
from graphfold.plot.colouring import Classes, Numbers, read_labels
from graphfold.plot.naming import legend_beside, listed_as, names_in_place
from graphfold.plot.reading import (
    Rows,
    coordinates,
    fitted,
    rows_of,
    rows_of_estimator,
    two_columns,
)

MOST_NAMED = 20  # more names in place would hide the points: a legend instead
MOST_LISTED = 60  # a longer legend is not read
_MANY = 5000  # points from which they are fainter, and pixels in a vector file
_ROOMY = 6 * 72**2  # square points from which points have their full size


class EmbeddingDisplay:
    """Scatter of two components, each class named in place or numbers on a scale.

    Make one by :meth:`from_estimator` or :meth:`from_embedding`; ``plot`` draws it
    again elsewhere.

    Parameters
    ----------
    Z : array of shape (n, 2)
    labels : sequence of n classes or numbers, default=None
        As for :func:`graphfold.plot.embedding`.
    xlabel, ylabel : str
    kind : {"auto", "classes", "numbers"}, default="auto"
    colours : dict or sequence of colours, default=None
    names : sequence of n labels of the rows, default=None
        A Series of labels meets them by its index.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    scatter_ : list of PathCollection
        One for each class that occurs, or one for all; points without a label first.
    texts_ : list of Annotation
        Names of the classes.
    legend_ : matplotlib Legend or None
    colorbar_ : matplotlib Colorbar or None

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA
    >>> from graphfold.plot import EmbeddingDisplay
    >>> X = np.random.default_rng(0).random((30, 3))
    >>> display = EmbeddingDisplay.from_estimator(GraphKernelPCA(2).fit(X))
    >>> len(display.scatter_)
    1
    """

    def __init__(
        self,
        Z: Any,
        labels: Any = None,
        *,
        xlabel: str = "component 1",
        ylabel: str = "component 2",
        kind: str = "auto",
        colours: Any = None,
        names: Any = None,
    ):
        self.Z = Z
        self.labels = labels
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.kind = kind
        self.colours = colours
        self.names = names

    def plot(self, ax: Any = None, *, title: str = "", **kwargs: Any) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        title : str
        **kwargs : passed to ``ax.scatter``

        Returns
        -------
        self
        """
        Z = coordinates(self.Z)
        coloured = read_labels(self.labels, self.kind, len(Z), self.names)
        if isinstance(coloured, Classes):
            coloured.check_colours(self.colours)
        ax = style.axes(ax, (5, 4.5))
        self.texts_: list[Any] = []
        self.legend_: Any = None
        self.colorbar_: Any = None
        look = {**_look(len(Z), ax), **kwargs}
        if isinstance(coloured, Classes):
            self._draw_classes(ax, Z, coloured, look)
        elif isinstance(coloured, Numbers):
            self._draw_numbers(ax, Z, coloured, look)
        else:
            colour = style.colour_on(ax, 0) if self.colours is None else self.colours
            own = {} if {"c", "color"} & set(look) else {"color": colour}
            self.scatter_ = [ax.scatter(*Z.T, **own, **look)]
        ax.set_xticks([])
        ax.set_yticks([])
        style.name_axes(ax, self.xlabel, self.ylabel)
        ax.margins(0.03)
        style.plain(ax, title)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        labels: Any = None,
        *,
        components: tuple[int, int] = (0, 1),
        kind: str = "auto",
        colours: Any = None,
        ax: Any = None,
        title: str = "",
        **kwargs: Any,
    ) -> Self:
        """Draw the embedding that a fitted estimator keeps.

        Parameters
        ----------
        estimator : fitted estimator with an ``embedding_``
            Or a Pipeline that ends in one, or a search over them.
        labels, components, kind, colours, ax, title, **kwargs
            As for :func:`graphfold.plot.embedding`.

        Returns
        -------
        EmbeddingDisplay
        """
        made = cls._of(
            rows_of_estimator(fitted(estimator)), labels, components, kind, colours
        )
        return made.plot(ax, title=title, **kwargs)

    @classmethod
    def from_embedding(
        cls,
        Z: Any,
        labels: Any = None,
        *,
        components: tuple[int, int] = (0, 1),
        kind: str = "auto",
        colours: Any = None,
        ax: Any = None,
        title: str = "",
        **kwargs: Any,
    ) -> Self:
        """Draw an array or table of coordinates, whatever made them.

        Parameters
        ----------
        Z : array or DataFrame of shape (n, 2 or more)
        labels, components, kind, colours, ax, title, **kwargs
            As for :func:`graphfold.plot.embedding`.

        Returns
        -------
        EmbeddingDisplay
        """
        made = cls._of(rows_of(Z), labels, components, kind, colours)
        return made.plot(ax, title=title, **kwargs)

    @classmethod
    def _of(
        cls, rows: Rows, labels: Any, components: Any, kind: str, colours: Any
    ) -> Self:
        Z, xlabel, ylabel = two_columns(rows, components)
        return cls(
            Z,
            labels,
            xlabel=xlabel,
            ylabel=ylabel,
            kind=kind,
            colours=colours,
            names=rows.names,
        )

    # -- classes ----------------------------------------------------------------

    def _draw_classes(self, ax: Any, Z: Array, classes: Classes, look: Any) -> None:
        colours = classes.colours(self.colours, dark=style.is_dark(ax))
        self.scatter_ = _without_label(ax, Z, classes.codes < 0, look)
        present = [i for i in range(len(colours)) if (classes.codes == i).any()]
        for i in present:
            points = Z[classes.codes == i]
            own = {"color": colours[i], "label": listed_as(classes.names[i])}
            self.scatter_.append(ax.scatter(*points.T, **{**own, **look}))
        if len(present) <= MOST_NAMED:
            self.texts_ = names_in_place(ax, Z, classes, colours, present)
        elif len(present) <= MOST_LISTED:
            self.legend_ = legend_beside(ax, self.scatter_, classes.title)
        else:
            style.note(ax, f"{len(present):,} classes")

    # -- numbers ----------------------------------------------------------------

    def _draw_numbers(self, ax: Any, Z: Array, numbers: Numbers, look: Any) -> None:
        known = np.isfinite(numbers.values)
        self.scatter_ = _without_label(ax, Z, ~known, look)
        own = {} if "cmap" in look else {"cmap": _scale(style.is_dark(ax))}
        drawn = ax.scatter(*Z[known].T, c=numbers.values[known], **own, **look)
        self.scatter_.append(drawn)
        ticks = _date_ticks() if numbers.dates else {}
        self.colorbar_ = ax.figure.colorbar(
            drawn, ax=ax, label=numbers.title, pad=0.02, **ticks
        )
        self.colorbar_.solids.set_alpha(1)
        self.colorbar_.outline.set_visible(False)
        self.colorbar_.ax.tick_params(labelsize=8)
        scale = self.colorbar_.ax.yaxis
        scale.label.set_fontsize(style.SMALL)
        scale.set_offset_position("left")  # a day or a power of ten: away from the axes
        scale.get_offset_text().set_fontsize(8)


def embedding(
    model_or_Z: Any,
    labels: Any = None,
    *,
    components: tuple[int, int] = (0, 1),
    kind: str = "auto",
    colours: Any = None,
    ax: Any = None,
    title: str = "",
    **kwargs: Any,
) -> Any:
    """Scatter of two components, each class named in place, or numbers on a scale.

    Parameters
    ----------
    model_or_Z : fitted estimator, or array or DataFrame of shape (n, 2 or more)
    labels : sequence of n classes or numbers, default=None
        Numbers get a colour bar; whole numbers with at most 40 values are classes.
        The categories of a pandas Categorical keep their order and colours, whether
        they occur or not. Up to 20 classes are named in place, up to 60 in a legend.
        What is missing (None, NaN, or -1 beside other whole numbers) is grey.
        The values of a Series whose index names the rows meet them by name.
    components : pair of int, default=(0, 1)
        Columns to draw, counted from 0.
    kind : {"auto", "classes", "numbers"}, default="auto"
        What ``labels`` are.
    colours : dict of class to colour, or sequence of colours, default=None
    ax : matplotlib Axes, default=None
        None makes a figure.
    title : str
    **kwargs : passed to ``ax.scatter``

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    EmbeddingDisplay : the same with the artists at hand.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from graphfold import plot
    >>> ax = plot.embedding(np.eye(3), ["a", "b", "a"])
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b']
    """
    made = EmbeddingDisplay._of(rows_of(model_or_Z), labels, components, kind, colours)
    return made.plot(ax, title=title, **kwargs).ax_


def _look(n: int, ax: Any) -> dict[str, Any]:
    """Size and faintness of n points; many of them are pixels in a vector file."""
    most = 0.9 if style.is_dark(ax) else 0.65
    room = float(np.clip(np.prod(style.size_in_points(ax)) / _ROOMY, 0.2, 1))
    return {
        "s": float(np.clip(8000 / n, 1, 25)) * room,
        "alpha": float(np.clip(most * (_MANY / n) ** 0.35, 0.15, most)),
        "linewidths": 0,
        "rasterized": n > _MANY,
    }


def _without_label(ax: Any, Z: Array, missing: Array, look: Any) -> list[Any]:
    if not missing.any():
        return []
    grey = style.shade(ax, 0.3)
    plain = {name: value for name, value in look.items() if name != "cmap"}
    own = {"color": grey, "label": "no label"}
    return [ax.scatter(*Z[missing].T, **{**own, **plain})]


def _date_ticks() -> dict[str, Any]:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()
    return {"ticks": locator, "format": ConciseDateFormatter(locator)}


def _scale(dark: bool) -> Any:
    """viridis, without its darkest part where the background is dark."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    whole = colormaps["viridis"]
    return ListedColormap(whole(np.linspace(0.35, 1, 256))) if dark else whole
