"""``transform`` where rows lie on workers: those of the fit, the new ones, or both."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, row_fingerprints
from graphfold.distributed.blocks import Tall
from graphfold.distributed.edges import edge_parts, with_numbers
from graphfold.distributed.features import as_array
from graphfold.distributed.grid import Grid, grid_of_edges
from graphfold.distributed.neighbors import distributed_neighbors
from graphfold.distributed.placing import (
    edges_from_labels,
    numbers_of_labels,
    place_on_workers,
    scaled_columns,
)
from graphfold.distributed.recipes import (
    as_neighbor_graph,
    edges_of_neighbors,
    looked_at,
    wanted_recall,
)
from graphfold.distributed.rows import DistributedRows, resized
from graphfold.distributed.tasks import literal
from graphfold.errors import (
    GraphfoldError,
    LabelError,
    UnlabelledRowsWarning,
    warn,
)
from graphfold.estimators.rows import edges_by_name
from graphfold.graphs import EdgeTable, Graph, GraphRecipe
from graphfold.graphs.edge_table import is_edge_table
from graphfold.graphs.labels import as_labels


def transform_in_blocks(
    estimator: Any, rows: DistributedRows, labels: Tall | None
) -> Any:
    """New rows of Dask's placed by a fit in memory, block by block."""
    model = literal(estimator)
    others = () if labels is None else (labels,)
    placed = rows.blocks.map(_transformed, model, *others)
    return _answer(estimator, rows, placed)


def _transformed(block: Any, model: Any, labels: Array | None = None) -> Array:
    how = {} if labels is None else {"node_ids": labels}
    if hasattr(model, "feature_names_in_") and not sp.issparse(block):
        import pandas as pd

        block = pd.DataFrame(block, columns=model.feature_names_in_)
    return np.asarray(model.transform(block, **how))


def place_rows(
    estimator: Any, rows: DistributedRows, labels: Tall | None, edges: Any
) -> Any:
    """New rows placed by a fit whose rows lie on workers."""
    extension = estimator._extension
    if edges is not None and not extension.graphs:
        raise GraphfoldError("edges must be None: the fit had no graph")
    named = list(estimator._sources)
    given = {} if edges is None else edges_by_name(edges, named)
    blocks = rows.blocks.held("reading rows")
    known = _known(estimator, blocks, labels)
    grids: dict[str, Grid] = {}
    for name, source in estimator._sources.items():
        if name in given:
            grids[name] = _given_edges(estimator, given[name], blocks, labels)
        elif isinstance(source, GraphRecipe):
            grids[name] = _edges_by_recipe(estimator, source, blocks)
        else:
            grid = _edges_in_graph(estimator, source, blocks, labels)
            grids |= {} if grid is None else {name: grid}
    if extension.data is None and not grids:
        raise GraphfoldError("rows of X must have edges where there is no kernel")
    placed = place_on_workers(extension, blocks, grids, known, estimator._row_marks)
    scales = estimator._scales
    placed = placed.map(scaled_columns, scales, extension.V.dtype)
    return _answer(estimator, rows, placed)


def _answer(estimator: Any, rows: DistributedRows, placed: Tall) -> Any:
    V = estimator._extension.V
    given = tuple(size for size in rows.given_sizes if size)
    return as_array(resized(placed, given), (V.shape[1],), np.dtype(V.dtype))


def _known(estimator: Any, blocks: Tall, labels: Tall | None) -> Tall | None:
    """Which row of the fit each row is: by label, or by content where graphs are."""
    fitted = estimator._fit_labels
    if labels is not None and fitted is not None:
        return numbers_of_labels(labels, fitted)
    if estimator._row_prints is None:
        return None
    return numbers_of_labels(
        blocks.map(row_fingerprints), estimator._row_prints, distinct=False
    )


def _edges_in_graph(
    estimator: Any, source: EdgeTable | Graph, blocks: Tall, labels: Tall | None
) -> Grid | None:
    """Edges that the graph of the fit knows from labels of new rows to those fitted."""
    fitted = estimator._fit_labels
    if labels is None or not source.has_labels:
        if fitted is not None:
            warn(
                "the rows have no labels although the fit had them, so they are placed "
                "by their features alone: pass a DataFrame with labels as its index, "
                "node_ids= or edges=",
                UnlabelledRowsWarning,
            )
        return None
    if fitted is None:
        raise LabelError(
            "node_ids must be None: the rows of the fit had no labels to meet; "
            "pass node_ids to fit as well, or edges="
        )
    parts = edges_from_labels(edge_parts(source), labels, fitted)
    return _grid(estimator, parts, blocks, source)


def _edges_by_recipe(estimator: Any, recipe: GraphRecipe, blocks: Tall) -> Grid:
    """Edges that new rows choose among the rows of the fit."""
    rows, present, inner = looked_at(recipe, blocks)
    among, known, _ = looked_at(recipe, estimator._X_fit.blocks)
    asked = as_neighbor_graph(inner)
    found = distributed_neighbors(
        rows,
        asked.n_neighbors,
        metric=asked.metric,
        wanted_recall=wanted_recall(asked),
        among=among,
        present=present,
        among_present=known,
    )
    return _grid(estimator, edges_of_neighbors(found.neighbors, asked), blocks)


def _given_edges(estimator: Any, edges: Any, blocks: Tall, labels: Tall | None) -> Grid:
    """``edges=`` of transform: a table of edges, a list, or a matrix."""
    fitted = estimator._fit_labels
    if isinstance(edges, EdgeTable) or is_edge_table(edges):
        table = edges if isinstance(edges, EdgeTable) else EdgeTable(edges)
        parts = edge_parts(table)
    elif sp.issparse(edges) or isinstance(edges, np.ndarray):
        entries = sp.coo_array(edges)
        ends = entries.row.astype(np.int64), entries.col.astype(np.int64)
        return _grid(estimator, [literal((*ends, entries.data.astype(float)))], blocks)
    else:
        listed = list(edges)
        weights = [float(edge[2]) if len(edge) > 2 else 1.0 for edge in listed]
        tails, heads = (as_labels([edge[i] for edge in listed]) for i in (0, 1))
        parts = [literal((tails, heads, np.array(weights)))]
    if labels is not None and fitted is not None:
        # an undirected edge may be given from either end
        return _grid(estimator, edges_from_labels(parts, labels, fitted), blocks)
    if labels is not None:
        parts = with_numbers(parts, labels, ends=(0,))
    if fitted is not None:
        parts = with_numbers(parts, fitted, ends=(1,))
    return _grid(estimator, parts, blocks)


def _grid(estimator: Any, parts: list[Any], blocks: Tall, source: Any = None) -> Grid:
    sizes = tuple(int(size) for size in estimator._extension.V.chunks[0])
    rule = source.duplicates if isinstance(source, EdgeTable) else "once"
    return grid_of_edges(parts, blocks.sizes, sizes, rule=rule)
