"""``view``: an embedding as one offline page that one can explore."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import graphfold
from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.quality import neighbors_kept, trustworthiness
from graphfold.views.columns import (
    named_columns,
    number_column,
    pack_column,
    strings,
)
from graphfold.views.layouts import TITLES, two_dimensional
from graphfold.views.links import (
    edges_of_rows,
    pack_edges,
    pair_positions,
    violations,
)
from graphfold.views.packing import Blocks
from graphfold.views.page import Map, fill
from graphfold.views.pictures import pack_images
from graphfold.views.report import report_of
from graphfold.views.sources import Source, read_sources, row_ids

_FEWEST = 3  # rows: fewer have no neighbours worth the name


def view(
    embedding: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    labels: Any = None,
    text: Any = None,
    images: Any = None,
    ids: Any = None,
    edges: Any = None,
    X: Any = None,
    n_neighbors: int = 10,
    must_link: Any = None,
    cannot_link: Any = None,
    layout: str | None = None,
    report: bool = True,
    gain: Any = None,
    title: str | None = None,
    random_state: Any = None,
) -> Map:
    """One HTML file, offline and self-contained: a map to explore, a report to read.

    Parameters
    ----------
    embedding : fitted estimator, array (n, d), table, or dict of these by name
        Several are drawn side by side, with one selection. Their rows are the same.
    path : str or path, default=None
        File to write, such as "map.html".
    labels : sequence of n, dict or table, default=None
        What points can be coloured by: classes or numbers; the first column is shown
        first.
    text : sequence of n strings, default=None
        Shown on the card of a point, and searched.
    images : array (n, height, width) or with channels last, or list, default=None
        Thumbnails for the card; a list holds paths or bytes of PNG, JPEG, GIF or WebP.
    ids : sequence of n labels, default=None
        Names of the rows; None takes those of the fit or of a table's index, or else
        positions. Pairs made with the lasso name rows by them.
    edges : Graph, anything Graph takes, list or dict of these, or False, default=None
        Known links, drawn on demand; None takes the graphs of the estimators. Of a
        graph with more than 1,000,000 edges the heaviest are kept; the page says so.
    X : array, sparse matrix or table of n rows, default=None
        The rows that were embedded: the page then shows who is near whom in X, whether
        the embedding kept it, and how far each point can be trusted.
    n_neighbors : int, default=10
        How many of them.
    must_link, cannot_link : sequence of pairs of ids, default=None
        Pairs to draw; violated ones of a semi-supervised estimator are drawn in red
        anyway.
    layout : {"umap", "tsne"}, default=None
        Also lay out all components in two dimensions, and show that first.
    report : bool, default=True
        Put the report of each estimator on the page.
    gain : GraphGain or dict of them, default=None
        What ``quality.graph_gain`` found, for the report.
    title : str, default=None
    random_state : int, RandomState or None, default=None
        Seeds the layout and what trust is sampled from. None is a fixed seed.

    Returns
    -------
    Map
        With ``html``, ``save(path)``, and a picture of itself in notebooks.

    Examples
    --------
    >>> from graphfold import GraphKernelPCA, datasets, view
    >>> digits = datasets.load_digits()
    >>> model = GraphKernelPCA(2, graph=digits.graph)
    >>> model = model.fit(digits.data, node_ids=digits.labels)
    >>> page = view(model, labels=digits.target, images=digits.images)
    >>> page.n_points
    1797
    """
    sources = read_sources(embedding)
    n = len(sources[0].Z)
    names = row_ids(ids, sources, n)
    check.flag("report", report)
    blocks = Blocks()
    columns = named_columns(labels, n)
    packed = [pack_column(name, column, blocks) for name, column in columns.items()]
    graphs = edges_of_rows(edges, sources, names, n)
    neighbors = None
    if X is not None:
        neighbors, trust = _neighborhoods(X, sources, n_neighbors, random_state, blocks)
        packed += trust
    title = title if title is not None else _title(sources)
    meta = {
        "version": 1,
        "program": f"graphfold {graphfold.__version__}",
        "title": str(title),
        "n": n,
        "ids": None if names is None else blocks.add_list(_plain(names)),
        "views": [_pack_view(s, layout, random_state, blocks) for s in sources],
        "columns": packed,
        "text": None if text is None else blocks.add_list(strings("text", text, n)),
        "images": None if images is None else pack_images(images, n, blocks),
        "edges": [pack_edges(name, graph, blocks) for name, graph in graphs.items()],
        "neighbors": neighbors,
        "pairs": {
            "must": pair_positions("must_link", must_link, names, n),
            "cannot": pair_positions("cannot_link", cannot_link, names, n),
        },
        "violations": [violations(source, names, n) for source in sources],
        "reports": _reports(sources, X, columns, gain, n_neighbors) if report else [],
    }
    page = Map(fill(meta, blocks), str(title), n)
    if path is not None:
        page.save(path)
    return page


def _pack_view(
    source: Source, layout: str | None, random_state: Any, blocks: Blocks
) -> dict[str, Any]:
    shares = getattr(source.model, "explained_variance_ratio_", None)
    names = source.axes or [f"component {i + 1}" for i in range(source.Z.shape[1])]
    axes = []
    for i, name in enumerate(names[: source.Z.shape[1]]):
        share = None if shares is None or i >= len(shares) else float(shares[i])
        block = blocks.add(source.Z[:, i], "f4")
        axes.append({"name": name, "block": block, "share": share})
    if len(axes) < source.Z.shape[1]:  # a table of one column
        axes.append(
            {"name": "", "block": blocks.add(source.Z[:, -1], "f4"), "share": None}
        )
    layouts = []
    if layout is not None:
        flat = two_dimensional(source.Z, layout, random_state)
        x, y = (blocks.add(flat[:, i], "f4") for i in (0, 1))
        about = f"{TITLES[layout]} of {source.Z.shape[1]} components"
        layouts.append({"name": about, "x": x, "y": y})
    formula = getattr(source.model, "formula_", "")
    return {"name": source.name, "formula": formula, "axes": axes, "layouts": layouts}


def _neighborhoods(
    X: Any, sources: list[Source], k: int, random_state: Any, blocks: Blocks
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Who is near whom in X, whether each embedding kept it, and trust."""
    n = len(sources[0].Z)
    if not hasattr(X, "shape") or X.shape[0] != n:
        X = np.asarray(X)
    if len(X.shape) != 2 or X.shape[0] != n:
        raise GraphfoldError(
            f"X must have the {n} rows of the embedding; got shape {X.shape}"
        )
    if n < _FEWEST:
        return None, []
    k = min(check.integer_between("n_neighbors", k, 1, 1000), (n - 1) // 2)
    k = max(k, 1)
    found = [neighbors_kept(X, source.Z, k) for source in sources]
    nearest = found[0].indices
    neighbors = {
        "k": k,
        "block": blocks.add(nearest, "u4"),
        "kept": [blocks.add(part.kept, "u1") for part in found],
    }
    trust = [
        trustworthiness(X, source.Z, k, random_state=random_state) for source in sources
    ]
    return neighbors, [
        number_column(
            "trust",
            trust,
            blocks,
            f"1: all of its {k} neighbours on the map are its neighbours in the data",
        ),
        number_column(
            "neighbours kept",
            [part.kept.mean(axis=1) for part in found],
            blocks,
            f"share of its {k} nearest rows in the data that are nearest on the map",
        ),
    ]


def _reports(
    sources: list[Source],
    X: Any,
    columns: Mapping[str, Array],
    gain: Any,
    n_neighbors: int,
) -> list[dict[str, Any]]:
    first = next(iter(columns.values()), None)
    return [
        {
            **report_of(
                source.model, X=X, labels=first, gain=gain, n_neighbors=n_neighbors
            ),
            "name": source.name,
        }
        for source in sources
        if isinstance(source.model, BaseEstimator)
    ]


def _title(sources: list[Source]) -> str:
    names = [source.name for source in sources if source.name]
    return " | ".join(names) or "graphfold map"


def _plain(labels: Array) -> list[Any]:
    return [
        value if isinstance(value, int | str) else str(value)
        for value in labels.tolist()
    ]
