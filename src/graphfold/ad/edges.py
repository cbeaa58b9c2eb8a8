"""Graphs of the cells in ``obsp``, cut where sections meet."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.ad.checks import sections
from graphfold.ad.reading import whole
from graphfold.arrays import Array
from graphfold.errors import GraphError, GraphfoldError
from graphfold.graphs import Graph

#: looked for in this order where nobody names a graph
USUAL = ("spatial_connectivities", "connectivities")


def named_keys(data: Any, graph_keys: Any) -> dict[str, str]:
    """Key in ``obsp`` of each graph, by the graph's name: none, one, a list, a dict."""
    if graph_keys is None:
        usual = [key for key in USUAL if key in data.obsp]
        if not usual:
            raise GraphfoldError(
                "graph_keys must name graphs in obsp; got None, and there is neither "
                f"{' nor '.join(USUAL)}: call sc.pp.neighbors or ad.spatial_neighbors "
                "first, or pass graph_keys=[] for an embedding without a graph"
            )
        return {usual[0]: usual[0]}
    if isinstance(graph_keys, str):
        graph_keys = [graph_keys]
    listed = isinstance(graph_keys, Collection)
    if not listed or getattr(graph_keys, "ndim", 1) != 1:
        raise GraphfoldError(
            "graph_keys must be a key of obsp, a list of keys, or a dict of them by "
            f"name; got {type(graph_keys).__name__}: put a matrix into obsp"
        )
    named = isinstance(graph_keys, Mapping)
    pairs = graph_keys.items() if named else ((key, key) for key in graph_keys)
    return {str(name): _key_in(data, key) for name, key in pairs}


def _key_in(data: Any, key: Any) -> str:
    """A key of obsp, itself or by what scanpy's ``neighbors_key`` refers to."""
    if isinstance(key, str) and key not in data.obsp:
        noted = data.uns.get(key)
        if isinstance(noted, Mapping) and "connectivities_key" in noted:
            key = str(noted["connectivities_key"])
    if not isinstance(key, str) or key not in data.obsp:
        raise GraphfoldError(
            f"graph_keys must name matrices in obsp; got {key!r}, and there are "
            f"{check.some_of(sorted(data.obsp.keys()), 12) or 'none'}"
        )
    if key.endswith("distances"):
        raise GraphfoldError(
            f"graph_keys must name weights that are large where cells are near; got "
            f"{key!r}, which are distances: use the connectivities beside them"
        )
    return key


def graphs_of(
    adata: Any, names: Array, keys: Mapping[str, str], batch_key: Any
) -> tuple[dict[str, Graph], dict[str, int]]:
    """The graphs, labelled by the cells, and how many edges of each crossed sections.

    Such edges are dropped: distances between sections mean nothing.
    """
    section = sections(adata, batch_key)
    graphs, dropped = {}, {}
    for name, key in keys.items():
        matrix = sp.coo_array(whole(adata.obsp[key], f"obsp[{key!r}]"))
        if section is not None:
            matrix = _links(matrix)
            matrix, crossing = within_sections(matrix, section)
            dropped[name] = crossing
            if matrix.nnz == 0:
                raise GraphError(
                    f"graph_keys must name a graph with edges within sections; all "
                    f"{crossing} edges of {key!r} cross obs[{batch_key!r}]"
                )
        graphs[name] = Graph(matrix, nodes=names)
    return graphs, dropped


def _links(matrix: Any) -> Any:
    """Entries that are edges: neither zeros that are stored nor cells by themselves."""
    linked = (matrix.data != 0) & (matrix.row != matrix.col)
    where = (matrix.row[linked], matrix.col[linked])
    return sp.coo_array((matrix.data[linked], where), shape=matrix.shape)


def within_sections(matrix: Any, section: Array) -> tuple[Any, int]:
    """A matrix without what joins two sections, and how many edges that was."""
    stays = section[matrix.row] == section[matrix.col]
    where = (matrix.row[stays], matrix.col[stays])
    ends = np.stack([matrix.row[~stays], matrix.col[~stays]]).astype(np.int64)
    # an edge may be stored both ways round
    pairs = ends.min(axis=0) * matrix.shape[0] + ends.max(axis=0)
    kept = sp.coo_array((matrix.data[stays], where), shape=matrix.shape)
    return kept, len(np.unique(pairs))
