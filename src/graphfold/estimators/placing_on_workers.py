"""``transform`` where rows lie on workers: those of the fit, the new ones, or both."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.distributed.blocks import Tall
from graphfold.distributed.edges import edge_parts, with_numbers
from graphfold.distributed.features import as_array
from graphfold.distributed.grid import Grid, grid_of_edges
from graphfold.distributed.neighbors import distributed_neighbors
from graphfold.distributed.placing import (
    edges_from_labels,
    numbers_of_fingerprints,
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
from graphfold.distributed.running import values
from graphfold.distributed.tasks import literal
from graphfold.equal_rows import row_fingerprints
from graphfold.errors import GraphfoldError, LabelError
from graphfold.estimators.missing_labels import (
    warn_of_missing_labels,
    warn_of_new_rows,
    warn_of_repeated_rows,
)
from graphfold.estimators.rows import are_from_rows, edges_by_name, edges_of_list
from graphfold.graphs import EdgeTable, Graph, GraphRecipe
from graphfold.graphs.edge_table import is_edge_table
from graphfold.graphs.labels import Positions


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
    known, repeated = _known(estimator, blocks, labels)
    grids: dict[str, Grid] = {}
    for name, source in estimator._sources.items():
        if name in given:
            grids[name] = _given_edges(estimator, given[name], blocks, labels)
        elif isinstance(source, GraphRecipe):
            grids[name] = _edges_by_recipe(estimator, source, blocks)
        elif labels is not None and source.has_labels:
            grids[name] = _edges_in_graph(estimator, source, blocks, labels)
    if given and known is not None and not _labels_decide(estimator, labels):
        # edges that are given are those of another node with these features
        for name in given:
            known = known.map(_without_linked, Tall(grids[name].strips, known.sizes))
    _warn_of_unknown_edges(estimator, known, repeated, labels, blocks.n, set(grids))
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


def _labels_decide(estimator: Any, labels: Tall | None) -> bool:
    """Whether labels say which rows are rows of the fit, as in ``FitRows``."""
    if labels is None or estimator._fit_labels is None:
        return False
    return not estimator._sources or not are_from_rows(estimator._sources)


def _known(
    estimator: Any, blocks: Tall, labels: Tall | None
) -> tuple[Tall | None, Tall | None]:
    """Which row of the fit each row is, by the rule of ``FitRows``; and which equal
    several of them."""
    if labels is not None and _labels_decide(estimator, labels):
        return numbers_of_labels(labels, estimator._fit_labels), None
    if estimator._row_prints is None:
        return None, None
    prints = blocks.map(row_fingerprints).held("fingerprints of rows")
    return numbers_of_fingerprints(prints, estimator._row_prints)


def _without_linked(known: Array, strip: Any) -> Array:
    linked = np.diff(sp.csr_array(strip.entries).indptr) > 0
    return np.where(linked, -1, known)


def _warn_of_unknown_edges(
    estimator: Any,
    known: Tall | None,
    repeated: Tall | None,
    labels: Tall | None,
    n: int,
    spoken: set[str],
) -> None:
    """The warnings of ``FitRows``, from what the workers find."""
    heard = [share.name for share in estimator._extension.graphs]
    silent = [name for name in heard if name not in spoken]
    if not silent:
        return
    if repeated is not None and known is not None:
        several = values("rows of the fit", known.tasks(_still_repeated, repeated))
        warn_of_repeated_rows(np.concatenate(several), silent)
    if estimator._extension.data is None:
        return
    by_content = estimator._row_prints is not None
    if labels is None and estimator._fit_labels is not None and not by_content:
        warn_of_missing_labels()
        return
    new = np.ones(n, dtype=bool)
    if known is not None:
        new = np.concatenate(values("rows of the fit", known.tasks(_are_new)))
    warn_of_new_rows(new, silent, alone=len(silent) == len(heard))


def _still_repeated(known: Array, repeated: Array) -> Array:
    return repeated & (known >= 0)


def _are_new(known: Array) -> Array:
    return np.asarray(known < 0)


def _edges_in_graph(
    estimator: Any, source: EdgeTable | Graph, blocks: Tall, labels: Tall
) -> Grid:
    """Edges that the graph of the fit knows from labels of new rows to those fitted."""
    fitted = estimator._fit_labels
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
        n_fit = estimator._extension.V.shape[0]
        own = Positions(blocks.n) if labels is None else _LabelsOnWorkers(labels)
        other = Positions(n_fit) if fitted is None else _LabelsOnWorkers(fitted)
        either = labels is not None and fitted is not None
        listed = edges_of_list(list(edges), own, other, either_order=either)
        return _grid(estimator, [literal(listed)], blocks)
    if labels is not None and fitted is not None:
        # an undirected edge may be given from either end
        return _grid(estimator, edges_from_labels(parts, labels, fitted), blocks)
    if labels is not None:
        parts = with_numbers(parts, labels, ends=(0,))
    if fitted is not None:
        parts = with_numbers(parts, fitted, ends=(1,))
    return _grid(estimator, parts, blocks)


class _LabelsOnWorkers:
    """Labels of rows that lie on workers, by which a few of them are found."""

    def __init__(self, labels: Tall):
        self._labels = labels

    def find(self, asked: Array) -> Array:
        """Number of each row asked for, -1 where there is none."""
        one_block = Tall((literal(asked),), (len(asked),))
        found = numbers_of_labels(one_block, self._labels)
        return np.concatenate(values("edges", found.blocks))


def _grid(estimator: Any, parts: list[Any], blocks: Tall, source: Any = None) -> Grid:
    sizes = tuple(int(size) for size in estimator._extension.V.chunks[0])
    rule = source.duplicates if isinstance(source, EdgeTable) else "once"
    return grid_of_edges(parts, blocks.sizes, sizes, rule=rule)
