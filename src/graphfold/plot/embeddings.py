"""Where the rows are: a scatter of two components, by class or by number."""

from __future__ import annotations

import textwrap
from typing import Any, Self

import numpy as np

from graphfold.arrays import Array
from graphfold.plot import style
from graphfold.plot.colouring import Classes, Numbers, read_labels
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
_LONGEST = 40  # characters of a name


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
        look = {**_look(len(Z)), **kwargs}
        if isinstance(coloured, Classes):
            self._draw_classes(ax, Z, coloured, look)
        elif isinstance(coloured, Numbers):
            self._draw_numbers(ax, Z, coloured, look)
        else:
            colour = style.COLOURS[0] if self.colours is None else self.colours
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
            self.scatter_.append(
                ax.scatter(*points.T, color=colours[i], label=classes.names[i], **look)
            )
        if len(present) <= MOST_NAMED:
            self._name_in_place(ax, Z, classes, colours, present)
        elif len(present) <= MOST_LISTED:
            self.legend_ = legend_beside(ax, self.scatter_, classes.title)
        else:
            style.note(ax, f"{len(present):,} classes")

    def _name_in_place(
        self, ax: Any, Z: Array, classes: Classes, colours: Any, present: list[int]
    ) -> None:
        from graphfold.plot.placing import NamesApart

        width = ax.get_window_extent().width * 72 / ax.get_figure().dpi
        size = float(np.clip(width / 22, 5, 10 if len(present) <= 10 else 8))
        for i in present:
            text = textwrap.shorten(classes.names[i], _LONGEST, placeholder=" ...")
            self.texts_.append(
                ax.annotate(
                    "\n".join(textwrap.wrap(text, _LONGEST // 2)) or classes.names[i],
                    np.median(Z[classes.codes == i], axis=0),
                    xytext=(0, 0),
                    textcoords="offset points",
                    ha="center",
                    va="center",
                    fontsize=size,
                    fontweight="bold",
                    color=style.text_on(colours[i]),
                    bbox={
                        "boxstyle": "round,pad=0.25",
                        "facecolor": colours[i],
                        "edgecolor": style.mixed(style.background(ax), "white", 0.5),
                        "linewidth": 0.8,
                    },
                    arrowprops={
                        "arrowstyle": "-",
                        "color": colours[i],
                        "linewidth": 1,
                        "patchA": None,
                        "shrinkA": 0,
                        "shrinkB": 0,
                    },
                )
            )
        if len(present) > 1:
            ax.add_artist(NamesApart(self.texts_))

    # -- numbers ----------------------------------------------------------------

    def _draw_numbers(self, ax: Any, Z: Array, numbers: Numbers, look: Any) -> None:
        known = np.isfinite(numbers.values)
        self.scatter_ = _without_label(ax, Z, ~known, look)
        own = {} if "cmap" in look else {"cmap": _scale(style.is_dark(ax))}
        drawn = ax.scatter(*Z[known].T, c=numbers.values[known], **own, **look)
        self.scatter_.append(drawn)
        self.colorbar_ = ax.figure.colorbar(drawn, ax=ax, label=numbers.title, pad=0.02)
        self.colorbar_.solids.set_alpha(1)
        self.colorbar_.outline.set_visible(False)
        self.colorbar_.ax.tick_params(labelsize=8)
        self.colorbar_.ax.yaxis.label.set_fontsize(style.SMALL)
        if numbers.dates:
            self.colorbar_.ax.yaxis_date()


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


def legend_beside(ax: Any, handles: list[Any], title: str) -> Any:
    """A legend to the right of the axes, which make room for it."""
    n_columns = 1 + (len(handles) - 1) // 26
    legend = ax.legend(
        handles=handles,
        title=title or None,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        ncols=n_columns,
        fontsize=7,
        title_fontsize=8,
        frameon=False,
        handletextpad=0.3,
        labelspacing=0.25,
        columnspacing=0.8,
    )
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


def _look(n: int) -> dict[str, Any]:
    """Size and faintness of n points; many of them are pixels in a vector file."""
    return {
        "s": float(np.clip(8000 / n, 1, 25)),
        "alpha": float(np.clip(0.65 * (_MANY / n) ** 0.35, 0.15, 0.65)),
        "linewidths": 0,
        "rasterized": n > _MANY,
    }


def _without_label(ax: Any, Z: Array, missing: Array, look: Any) -> list[Any]:
    if not missing.any():
        return []
    grey = style.shade(ax, 0.3)
    plain = {name: value for name, value in look.items() if name != "cmap"}
    return [ax.scatter(*Z[missing].T, color=grey, label="no label", **plain)]


def _scale(dark: bool) -> Any:
    """viridis, without its darkest part where the background is dark."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    whole = colormaps["viridis"]
    return ListedColormap(whole(np.linspace(0.25, 1, 256))) if dark else whole
