"""Graphs that are built from rows on workers: who chooses whom, as edges in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.distributed.blocks import Tall
from graphfold.distributed.neighbors import distributed_neighbors
from graphfold.distributed.rows import DistributedRows
from graphfold.distributed.tasks import task
from graphfold.errors import GraphError
from graphfold.graphs.modes import ModeGraph
from graphfold.graphs.recipes import CorrelationGraph, GraphRecipe, NeighborGraph
from graphfold.progress import say

#: rows whose distances tell the width of heat weights
ROWS_OF_SCALE = 2000


def chosen_edges(
    recipe: GraphRecipe, X: DistributedRows, seed: int
) -> tuple[list[Any], str, GraphRecipe]:
    """Edges that rows have chosen, in parts, and the rule that joins them.

    The recipe comes back as new rows have to follow it: its width is a number.
    """
    rows, present, inner = looked_at(recipe, X.blocks)
    asked = as_neighbor_graph(inner)
    found = distributed_neighbors(
        rows,
        asked.n_neighbors,
        metric=asked.metric,
        seed=seed if asked.random_state is None else int(asked.random_state),
        wanted_recall=wanted_recall(asked),
        present=present,
    )
    say(f"neighbours: recall {found.recall:.3f} of a sample, {found.n_cells} cells")
    bound = bound_recipe(asked, found.neighbors)
    parts = edges_of_neighbors(found.neighbors, bound)
    if bound is not asked:
        is_mode = isinstance(recipe, ModeGraph)
        recipe = recipe.with_params(recipe=bound) if is_mode else bound
    return parts, "mutual" if asked.mode == "mutual" else "once", recipe


def edges_of_neighbors(neighbors: Tall, recipe: NeighborGraph) -> list[Any]:
    """Edges in parts from rows to the neighbours that were found, weighed."""
    starts = [int(start) for start in neighbors.starts[:-1]]
    return [
        task(_edges, block, start, recipe)
        for block, start in zip(neighbors.blocks, starts, strict=True)
    ]


def looked_at(
    recipe: GraphRecipe, blocks: Tall
) -> tuple[Tall, Tall | None, GraphRecipe]:
    """The columns that a recipe looks at, which rows have them, and the recipe."""
    if not isinstance(recipe, ModeGraph):
        return blocks, None, recipe
    rows = blocks.map(_columns, recipe.start, recipe.stop, recipe.dense)
    return rows, blocks.map(_presence, recipe.presence), recipe.recipe


def presence_in(recipe: GraphRecipe, X: DistributedRows) -> Tall | None:
    """Which rows a recipe knows anything of; None if all of them."""
    if not isinstance(recipe, ModeGraph):
        return None
    mask = X.blocks.map(_presence, recipe.presence).held("")
    missing = mask.total("", _n_false)
    return mask if missing else None


def as_neighbor_graph(recipe: GraphRecipe) -> NeighborGraph:
    """The recipe as one of neighbours; others need all pairs of rows."""
    if isinstance(recipe, NeighborGraph) and not recipe.joined:
        recipe.with_params(scale=1.0).bind(np.zeros((1, 1)))  # its checks alone
        return recipe
    if (
        isinstance(recipe, CorrelationGraph)
        and recipe.n_neighbors is not None
        and recipe.negative == "clip"
    ):
        return NeighborGraph(
            recipe.n_neighbors,
            metric=recipe.metric,
            weight="similarity",
        )
    raise GraphError(
        "graph must be a NeighborGraph(joined=False), a CorrelationGraph with "
        f'n_neighbors and negative="clip", or known, where X is of Dask\'s; got '
        f"{recipe!r}"
    )


def wanted_recall(recipe: NeighborGraph) -> float | None:
    """What share of the neighbours has to be found; None is all of them, for sure."""
    return None if recipe.search == "exact" else 0.99


def bound_recipe(recipe: NeighborGraph, neighbors: Tall) -> NeighborGraph:
    """The recipe with the width of heat weights as a number."""
    if recipe.weight != "heat" or recipe.scale != "auto":
        return recipe
    n = neighbors.n
    rows = np.linspace(0, n - 1, min(n, ROWS_OF_SCALE)).astype(np.int64)
    last = neighbors.map(_last_distance).take("width of the weights", rows)
    positive = last[np.isfinite(last) & (last > 0)]
    return recipe.with_params(
        scale=float(np.median(positive)) if len(positive) else 1.0
    )


def _edges(
    found: tuple[Array, Array], start: int, recipe: NeighborGraph
) -> tuple[Array, Array, Array]:
    indices, distances = found
    there = indices >= 0
    tails = np.repeat(np.arange(start, start + len(indices)), indices.shape[1])
    weights = np.zeros(indices.shape)
    weights[there] = recipe.weigh(distances[there])
    kept = there.ravel() & (weights.ravel() > 0)
    return tails[kept], indices.ravel()[kept].astype(np.int64), weights.ravel()[kept]


def _columns(block: Any, start: int, stop: int, dense: bool) -> Any:
    part = block[:, start:stop]
    return part.toarray() if dense and sp.issparse(part) else part


def _presence(block: Any, column: int) -> Array:
    values = block[:, [column]]
    values = values.toarray() if sp.issparse(values) else values
    return np.asarray(values).ravel() > 0


def _n_false(mask: Array) -> int:
    return int((~mask).sum())


def _last_distance(found: tuple[Array, Array]) -> Array:
    return found[1][:, -1]
