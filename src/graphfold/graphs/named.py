"""One graph or several, each with a name and a response of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold import check
from graphfold.errors import GraphError, ResponseError
from graphfold.graphs.edge_table import EdgeTable, is_edge_table
from graphfold.graphs.graph import Graph
from graphfold.graphs.recipes import GraphRecipe
from graphfold.graphs.responses import Response, response_from

ONLY = "graph"
#: what a graph may come as: itself, a rule that builds it, or edges that lie elsewhere
Source = Graph | GraphRecipe | EdgeTable


def graph_from(graph: Any) -> Source:
    """The one graph meant by a constructor argument."""
    if isinstance(graph, Graph | GraphRecipe | EdgeTable):
        return graph
    return EdgeTable(graph) if is_edge_table(graph) else Graph(graph)


def in_memory(graph: Source) -> Graph | GraphRecipe:
    """The graph, unless its edges lie elsewhere: that is for rows that do."""
    if isinstance(graph, EdgeTable):
        raise GraphError(
            "graph must be in memory where X is; got a collection of Dask's: pass "
            "Graph(edges.compute()), or X as a dask.array"
        )
    return graph


def graphs_from(graph: Any) -> dict[str, Source]:
    """The graphs meant by ``graph=``, by name: none, one, a list or a dict of them.

    A list of tuples is the edge list of one graph; a list of graphs is several.
    """
    if graph is None:
        return {}
    if isinstance(graph, dict):
        named = {str(name): part for name, part in graph.items()}
    elif isinstance(graph, list | tuple) and _lists_graphs(graph):
        named = {f"{ONLY}{i}": part for i, part in enumerate(graph, start=1)}
    else:
        return {ONLY: graph_from(graph)}
    if not named:
        raise GraphError("graph must hold at least one graph; got none: use None")
    found = {}
    for name, part in named.items():
        try:
            found[name] = graph_from(part)
        except GraphError as error:
            raise type(error)(f"graph {name!r}: {error}") from None
        except TypeError as error:
            raise GraphError(
                f"graph {name!r} must be something Graph takes; got {part!r} ({error})"
            ) from None
    return found


def responses_from(response: Any, names: list[str]) -> dict[str, Response | None]:
    """The response of each graph: one for all, a list in their order, or by name."""
    if isinstance(response, dict):
        response = {str(name): part for name, part in response.items()}
        unknown = [name for name in response if name not in names]
        if unknown:
            raise ResponseError(
                f"response must name graphs among {check.some_of(names)}; "
                f"got {check.some_of(unknown)}"
            )
        return {name: response_from(response.get(name)) for name in names}
    if isinstance(response, list | tuple):
        if len(response) != len(names):
            raise ResponseError(
                f"response must have one entry for each of the {len(names)} graphs; "
                f"got {len(response)}"
            )
        return {n: response_from(part) for n, part in zip(names, response, strict=True)}
    return {name: response_from(response) for name in names}


def _lists_graphs(items: Any) -> bool:
    """Whether a list holds graphs: an edge is a pair or triple of plain labels."""
    return len(items) > 0 and all(_is_graph_like(item) for item in items)


def _is_graph_like(item: Any) -> bool:
    if isinstance(item, list | tuple):
        return len(item) > 0 and isinstance(item[0], list | tuple)
    if isinstance(item, np.ndarray):
        return item.ndim == 2
    return not isinstance(item, str | bytes | int | float | np.generic)
