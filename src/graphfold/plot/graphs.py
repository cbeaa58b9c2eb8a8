"""An embedding with the edges of a graph beneath its points."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from graphfold.arrays import Array
from graphfold.check import integer_between
from graphfold.plot import style
from graphfold.plot.edges import Drawn, drawn_edges, graphs_of
from graphfold.plot.embeddings import EmbeddingDisplay
from graphfold.plot.reading import fitted, is_estimator, rows_of, two_columns

MOST_EDGES = 20_000
_MANY = 2000  # edges from which they are pixels in a vector file
_INK = 0.15  # how often, times their opacity, edges may cover the axes
_OPACITIES = (0.01, 0.6)


class GraphDisplay:
    """Edges of one or several graphs, beneath the points of an embedding.

    Parameters
    ----------
    points : EmbeddingDisplay
        The points, as they are drawn without edges.
    graphs : dict of name to sparse matrix of shape (n, n)
        Weights between the rows, symmetric.
    max_edges : int, default=20000
        Of a graph with more, so many are drawn, each as likely as any other; the
        picture says so.
    random_state : int, default=0
        Which edges of such a graph.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of LineCollection
        One for each graph, in the order of ``graphs``.
    note_ : Text or None
        How many edges are left out.
    legend_ : Legend or None
        Of the graphs, if there are several.
    points_ : EmbeddingDisplay
        The points, drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA, NeighborGraph
    >>> from graphfold.plot import GraphDisplay
    >>> X = np.random.default_rng(0).random((30, 3))
    >>> model = GraphKernelPCA(2, graph=NeighborGraph(4)).fit(X)
    >>> display = GraphDisplay.from_estimator(model)
    >>> len(display.lines_[0].get_segments()) == model.graph_.n_edges
    True
    """

    def __init__(
        self,
        points: EmbeddingDisplay,
        graphs: dict[str, Any],
        *,
        max_edges: int = MOST_EDGES,
        random_state: int = 0,
    ):
        self.points = points
        self.graphs = graphs
        self.max_edges = max_edges
        self.random_state = random_state

    def plot(self, ax: Any = None, *, title: str = "", **kwargs: Any) -> Self:
        """Draw the edges, then the points.

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
        most = integer_between("max_edges", self.max_edges, 1, 10**7)
        Z = np.asarray(self.points.Z, dtype=np.float64)
        found = {
            name: drawn_edges(matrix, most, self.random_state)
            for name, matrix in self.graphs.items()
        }
        self.points_ = self.points.plot(ax, title=title, **kwargs)
        ax = self.points_.ax_
        several = len(found) > 1
        colours = [style.shade(ax, 0.5)]
        if several:
            colours = _colours(len(found), len(self.points_.scatter_), ax)
        self.lines_ = [
            ax.add_collection(_lines(ax, Z, edges, colour, name), autolim=False)
            for (name, edges), colour in zip(found.items(), colours, strict=True)
        ]
        # a graph with few edges would vanish beneath one with many
        many_first = sorted(self.lines_, key=lambda drawn: -len(drawn.get_paths()))
        for k, drawn in enumerate(many_first):
            drawn.set_zorder(0.8 + 0.1 * k / len(many_first))  # points have 1
        self.note_ = None
        cut = {name: edges for name, edges in found.items() if edges.is_sample}
        if cut:
            said = [
                f"{name + ': ' if several else ''}{len(e.weights):,} of {e.n_edges:,}"
                for name, e in cut.items()
            ]
            self.note_ = style.note(ax, f"edges drawn: {', '.join(said)}")
        self.legend_ = _legend(ax, Z, self.lines_, colours) if several else None
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        graph: Any = None,
        labels: Any = None,
        *,
        components: tuple[int, int] = (0, 1),
        kind: str = "auto",
        colours: Any = None,
        max_edges: int = MOST_EDGES,
        random_state: int = 0,
        ax: Any = None,
        title: str = "",
        **kwargs: Any,
    ) -> Self:
        """Draw the embedding of a fitted estimator on the graph it has listened to.

        Parameters
        ----------
        estimator : fitted estimator with an ``embedding_``
            Or a Pipeline that ends in one, or a search over them.
        graph, labels, components, kind, colours, max_edges, random_state, ax, title
            As for :func:`graphfold.plot.graph`.
        **kwargs : passed to ``ax.scatter``

        Returns
        -------
        GraphDisplay
        """
        model = fitted(estimator)
        made = cls._of(
            model, graph, labels, None, components, kind, colours, max_edges,
            random_state,
        )  # fmt: skip
        return made.plot(ax, title=title, **kwargs)

    @classmethod
    def _of(
        cls,
        model_or_Z: Any,
        graph: Any,
        labels: Any,
        node_ids: Any,
        components: Any,
        kind: str,
        colours: Any,
        max_edges: int,
        random_state: int,
    ) -> Self:
        rows = rows_of(model_or_Z)
        model = fitted(model_or_Z) if is_estimator(model_or_Z) else None
        two_columns(rows, components)  # refused before graphs are read
        graphs = graphs_of(graph, model, rows, node_ids)
        points = EmbeddingDisplay._of(rows, labels, components, kind, colours)
        return cls(points, graphs, max_edges=max_edges, random_state=random_state)


def graph(
    model_or_Z: Any,
    graph: Any = None,
    labels: Any = None,
    *,
    node_ids: Any = None,
    components: tuple[int, int] = (0, 1),
    kind: str = "auto",
    colours: Any = None,
    max_edges: int = MOST_EDGES,
    random_state: int = 0,
    ax: Any = None,
    title: str = "",
    **kwargs: Any,
) -> Any:
    """Scatter of two components with the edges of a graph beneath the points.

    The heavier an edge, the stronger its line; edges of negative weight are dashed.
    Rows meet nodes by label: by ``node_ids``, the index of a DataFrame, or the labels
    of the fit; by position only where the graph has no labels. Rows that are not in
    the graph have no edges.

    Parameters
    ----------
    model_or_Z : fitted estimator, or array or DataFrame of shape (n, 2 or more)
    graph : default=None
        None is the graph, or all graphs, that the estimator was fitted with. The name
        of one of them, or a list of names. Or whatever ``Graph`` takes, or a dict of
        graphs by name. Several are drawn in colours of their own, with a legend.
    labels : sequence of n classes or numbers, default=None
        As for :func:`graphfold.plot.embedding`, like ``components``, ``kind`` and
        ``colours``.
    node_ids : sequence of n labels, default=None
        Which node each row is, if the rows do not say it themselves.
    max_edges : int, default=20000
        Of a graph with more, so many are drawn, each as likely as any other; the
        picture says so.
    random_state : int, default=0
        Which edges of such a graph.
    ax : matplotlib Axes, default=None
        None makes a figure.
    title : str
    **kwargs : passed to ``ax.scatter``

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    GraphDisplay : the same with the artists at hand.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from graphfold import Graph, plot
    >>> square = np.array([[0, 0], [0, 1], [1, 1], [1, 0]])
    >>> ring = Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    >>> ax = plot.graph(square, ring, node_ids=["a", "b", "c", "d"])
    """
    made = GraphDisplay._of(
        model_or_Z, graph, labels, node_ids, components, kind, colours, max_edges,
        random_state,
    )  # fmt: skip
    return made.plot(ax, title=title, **kwargs).ax_


def _lines(ax: Any, Z: Array, edges: Drawn, colour: Any, name: str) -> Any:
    """All edges of a graph as one artist, stronger the heavier they are."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgb

    ends = np.stack([Z[edges.sources], Z[edges.targets]], axis=1)
    heaviest = float(np.abs(edges.weights).max()) if len(edges.weights) else 1.0
    share = np.abs(edges.weights) / (heaviest or 1.0)
    widths = 0.4 + 0.8 * share
    colours = np.empty((len(share), 4))
    colours[:, :3] = to_rgb(colour)
    colours[:, 3] = _opacity(ax, ends, widths) * (0.25 + 0.75 * share)
    signs = np.where(edges.weights < 0, "--", "-").tolist()
    return LineCollection(
        list(ends),
        colors=colours,
        linewidths=widths,
        linestyles=signs if (edges.weights < 0).any() else "-",
        rasterized=len(share) > _MANY,
        label=name,
    )


def _opacity(ax: Any, ends: Array, widths: Array) -> float:
    """Of the heaviest edges: less, the more often lines would cover the axes."""
    size = style.size_in_points(ax)
    ways = np.diff(_within_axes(ax, ends), axis=1)[:, 0] * size
    covered = float(np.hypot(*ways.T) @ widths) / (size[0] * size[1])
    return float(np.clip(_INK / max(covered, 1e-9), *_OPACITIES))


def _colours(n: int, n_taken: int, ax: Any) -> list[str]:
    """Colours of n graphs that the classes do not have, as far as they suffice."""
    dark, base = style.is_dark(ax), len(style.COLOURS)
    if n_taken + n > base:  # the kin that shows on this background
        n_taken = base if dark else 2 * base
    return style.palette(n_taken + n, dark=dark)[n_taken:]


def _legend(ax: Any, Z: Array, lines: list[Any], colours: list[Any]) -> Any:
    """Names of the graphs, in the corner where the fewest points are."""
    from matplotlib.lines import Line2D

    names = [line.get_label() for line in lines]
    shown = [
        Line2D([], [], color=colour, linewidth=1.5, label=name)
        for name, colour in zip(names, colours, strict=True)
    ]
    before = ax.get_legend()
    legend = ax.legend(
        handles=shown,
        loc=_emptiest_corner(ax, Z),
        fontsize=8,
        title="graph",
        title_fontsize=8,
    )
    if before is not None:  # of the classes; axes know one legend only
        ax.add_artist(before)
    return legend


def _emptiest_corner(ax: Any, Z: Array) -> str:
    """The corner with the fewest points; loc="best" takes its time if they are many."""
    across, up = _within_axes(ax, Z).T
    sides = {"left": across < 0.3, "right": across > 0.7}
    ends = {"upper": up > 0.7, "lower": up < 0.3}
    corners = [(end, side) for end in ends for side in ("right", "left")]
    corners.remove(("lower", "left"))  # the note has it
    end, side = min(corners, key=lambda c: int((ends[c[0]] & sides[c[1]]).sum()))
    return f"{end} {side}"


def _within_axes(ax: Any, places: Array) -> Array:
    """Places as shares of the axes, across and up."""
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    return (places - low) / (high - low)
