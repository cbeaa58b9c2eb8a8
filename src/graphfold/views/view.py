"""``view``: an embedding as one offline page that one can explore."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import graphfold
from graphfold import check
from graphfold.errors import GraphfoldError
from graphfold.quality import GraphGain
from graphfold.views.columns import (
    Column,
    named_columns,
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
from graphfold.views.neighborhoods import Neighborhoods, neighborhoods
from graphfold.views.packing import Blocks
from graphfold.views.page import Map, fill
from graphfold.views.pictures import pack_images
from graphfold.views.report import report_of
from graphfold.views.sources import (
    Source,
    can_be_paired,
    places,
    read_sources,
    row_ids,
    shown_names,
)


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
    _check_gain(gain)
    blocks = Blocks()
    columns = named_columns(labels, names, n)
    packed = [pack_column(name, column, blocks) for name, column in columns.items()]
    graphs = edges_of_rows(edges, sources, names, n)
    near = None
    if X is not None:
        near = neighborhoods(X, [s.Z for s in sources], n_neighbors, random_state)
    if near is not None:
        packed += near.columns(blocks)
    title = title if title is not None else _title(sources)
    meta = {
        "program": f"graphfold {graphfold.__version__}",
        "title": str(title),
        "n": n,
        "ids": None if names is None else blocks.add_list(shown_names(names)),
        "numbered": names is not None and names.dtype.kind in "iu",
        "pairable": names is None or can_be_paired(names),
        "views": [_pack_view(s, layout, random_state, blocks) for s in sources],
        "columns": packed,
        "text": None if text is None else blocks.add_list(strings("text", text, n)),
        "images": None if images is None else pack_images(images, n, blocks),
        "edges": [pack_edges(name, graph, blocks) for name, graph in graphs.items()],
        "neighbors": None if near is None else near.pack(blocks),
        "pairs": {
            "must": pair_positions("must_link", must_link, names, n),
            "cannot": pair_positions("cannot_link", cannot_link, names, n),
        },
        "violations": [violations(source) for source in sources],
        "reports": _reports(sources, near, columns, gain) if report else [],
    }
    page = Map(fill(meta, blocks), str(title), n)
    if path is not None:
        page.save(path)
    return page


def _pack_view(
    source: Source, layout: str | None, random_state: Any, blocks: Blocks
) -> dict[str, Any]:
    shares = getattr(source.model, "explained_variance_ratio_", None)
    d = source.Z.shape[1]
    names = [*(source.axes or [f"component {i + 1}" for i in range(d)]), ""]
    axes = []
    for i, column in enumerate(places(source.Z).T):
        share = None if shares is None or i >= len(shares) else float(shares[i])
        block = blocks.add(column, "f4")
        axes.append({"name": names[i], "block": block, "share": share})
    layouts = []
    if layout is not None:
        flat = places(two_dimensional(source.Z, layout, random_state))
        x, y = (blocks.add(flat[:, i], "f4") for i in (0, 1))
        about = f"{TITLES[layout]} of {d} {'component' if d == 1 else 'components'}"
        layouts.append({"name": about, "x": x, "y": y})
    formula = getattr(source.model, "formula_", "")
    return {"name": source.name, "formula": formula, "axes": axes, "layouts": layouts}


def _reports(
    sources: list[Source],
    near: Neighborhoods | None,
    columns: Mapping[str, Column],
    gain: Any,
) -> list[dict[str, Any]]:
    """The report of each estimator; of a bare embedding where quality is known."""
    classes = {name: column.values for name, column in columns.items()}
    # what a graph is worth is said with the first embedding that has one
    with_graph = [i for i, source in enumerate(sources) if source.graphs] or [0]
    reports = []
    for i, source in enumerate(sources):
        known: dict[str, Any] = {"labels": classes}
        if i == with_graph[0]:
            known["gain"] = gain
        if near is not None:
            known["n_neighbors"] = near.k
            known |= {"trust": near.trust[i], "overlap": near.overlap(i)}
        nothing_known = not columns and near is None and known.get("gain") is None
        if source.model is None and nothing_known:
            continue
        found = report_of(source.Z if source.model is None else source.model, **known)
        reports.append({**found, "name": source.name or found["name"]})
    return reports


def _check_gain(gain: Any) -> None:
    listed = list(gain.values()) if isinstance(gain, Mapping) else [gain]
    if gain is not None and not all(isinstance(part, GraphGain) for part in listed):
        raise GraphfoldError(
            "gain must be what quality.graph_gain returns, or None; got "
            f"{type(gain).__name__}"
        )


def _title(sources: list[Source]) -> str:
    names = [source.name for source in sources if source.name]
    return " | ".join(names) or "graphfold map"
