"""The problem of rows on workers: their graphs, terms, and what graphs say of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.distributed.blocks import Tall
from graphfold.distributed.edges import adjacency_of, known_rows
from graphfold.distributed.features import DistributedFeatures, as_array, blocks_of
from graphfold.distributed.grid import BlockGraph, block_graph, grid_of_edges
from graphfold.distributed.recipes import chosen_edges, presence_in
from graphfold.distributed.rows import DistributedRows, resized
from graphfold.distributed.spectrum import graph_term_on_workers
from graphfold.distributed.terms import KernelOnWorkers, Spread
from graphfold.errors import DisconnectedGraphWarning, GraphError, warn
from graphfold.estimators.fitting import Fit
from graphfold.estimators.landmarks import Landmarks
from graphfold.estimators.statement import Statement, among, stated
from graphfold.graphs import EdgeTable, Graph, GraphRecipe, Laplacian, responses_from
from graphfold.model.alternate import Alternation
from graphfold.model.extend import GraphShare
from graphfold.model.span import Span
from graphfold.model.terms import Term


@dataclass(frozen=True)
class GraphOnWorkers:
    """A graph of rows on workers, what it came from, and which of the rows it knows."""

    graph: Any
    source: Any
    blocks: BlockGraph
    present: Tall | None = None

    #: parts are not counted: a walk through the graph would need n numbers
    n_parts = None

    @property
    def known(self) -> GraphOnWorkers:
        """The graph of the rows that are known: the others have no edges."""
        return self


def graph_on_workers(
    name: str,
    source: Any,
    X: DistributedRows,
    labels: Tall | None,
    seed: int,
    *,
    alone: bool = True,
) -> GraphOnWorkers:
    """The graph of the rows: built from them, or matched to them by label.

    A graph that is not alone need not know every row, as in memory; without labels it
    is matched by position then, whatever labels the rows have.
    """
    present = None
    try:
        if isinstance(source, GraphRecipe):
            parts, rule, source = chosen_edges(source, X, seed)
            present = presence_in(source, X)
            grid = grid_of_edges(parts, X.blocks.sizes, rule=rule)
            blocks = block_graph(grid, present)
        else:
            if isinstance(source, Graph):
                labels = labels if alone or source.has_labels else None
                if labels is not None:
                    present = known_rows(source, labels, every=alone)
            grid = adjacency_of(source, X.blocks.sizes, labels)
            blocks = block_graph(grid, present)
    except GraphError as error:
        if name == "graph":
            raise
        raise type(error)(f"graph {name!r}: {error}") from None
    if 2 * blocks.n_isolated > blocks.n and present is None:
        warn(
            f"{blocks.n_isolated} of {blocks.n} rows have no edge, so the graph says "
            "nothing of them: check that the labels are the right ones, or add edges",
            DisconnectedGraphWarning,
        )
    kept = source if isinstance(source, EdgeTable | Graph) else None
    return GraphOnWorkers(kept, source, blocks, present)


def state_on_workers(
    estimator: Any,
    X: DistributedRows,
    landmarks: Landmarks,
    graphs: Mapping[str, GraphOnWorkers],
    how: dict[str, Any],
    seed: int,
) -> Statement:
    """The problem in the words of one in memory; its terms lie on workers."""
    kind, normalize = estimator.laplacian, estimator.normalize
    responses = responses_from(estimator._responses(), list(graphs))
    terms, laplacians = [], {}
    for name, fitted in graphs.items():
        term = graph_term_on_workers(
            fitted.blocks,
            kind,
            responses[name],
            n_components=estimator.n_components,
            seed=seed,
            name=name,
        )
        degrees = resized(fitted.blocks.degrees, _given(X)).held("")
        laplacians[name] = Laplacian(
            term.base,  # type: ignore[arg-type]
            kind,
            as_array(degrees, (), np.dtype(np.float64)),
            1.0 if kind == "normalized" else fitted.blocks.largest,
        )
        terms.append(among(term, responses[name], len(graphs), normalize=normalize))
    terms = _over_all_rows(terms, list(graphs.values()), X)
    widening = [fitted.blocks for fitted in graphs.values() if fitted.present is None]
    features = DistributedFeatures(X, list(landmarks.features.values()), widening)
    span = Span(features, estimator.center)
    data = [Term(name, KernelOnWorkers(X.shape[0])) for name in landmarks.features]
    if len(data) > 1 and normalize:
        data = [_of_unit_trace(term, i, span) for i, term in enumerate(data)]
    return stated(
        estimator, data, terms, laplacians, how, span_of=lambda *problem: span
    )


def _given(X: DistributedRows) -> tuple[int, ...]:
    return tuple(size for size in X.given_sizes if size)


def _of_unit_trace(term: Term, i: int, span: Span) -> Term:
    """A kernel scaled so that its rows have a mean squared norm of one."""
    part = span.features.columns()[i]
    size = float(np.trace(span.gram[part, part]))
    return term.times(term.base.n / size) if size > 0 else term


def _over_all_rows(
    terms: list[Term], graphs: list[GraphOnWorkers], X: DistributedRows
) -> list[Term]:
    """Terms of some rows as terms of all; what few graphs know weighs more."""
    if all(fitted.present is None for fitted in graphs):
        return terms
    masks = [
        X.blocks.map(_all_true) if fitted.present is None else fitted.present
        for fitted in graphs
    ]
    counts = masks[0].map(_how_many, *masks[1:])
    found = []
    for term, mask in zip(terms, masks, strict=True):
        scales = mask.map(_scale_of, counts, len(masks)).held("")
        base = Spread(term.base, scales, term.factor, term.shift)  # type: ignore
        found.append(Term(term.name, base, term.size))
    return found


def _all_true(block: Any) -> Array:
    return np.ones(block.shape[0], dtype=bool)


def _how_many(*masks: Array) -> Array:
    return np.sum(masks, axis=0)


def _scale_of(mask: Array, counts: Array, n_graphs: int) -> Array:
    return np.where(mask, np.sqrt(n_graphs / np.maximum(counts, 1)), 0.0)


def shares_on_workers(fit: Fit, result: Alternation, V: Any) -> list[GraphShare]:
    """What each graph says of where a new row belongs; rows stay on the workers."""
    problem, span = result.problem, fit.statement.span
    assert span is not None and result.coordinates is not None
    small = span.project(problem)
    d, n = V.shape[1], float(V.shape[0])
    shares = []
    for beta, term, known in zip(
        problem.beta, problem.graphs, small.graphs, strict=True
    ):
        weight = problem.gamma * beta * term.factor
        if not weight:
            continue
        L = fit.statement.laplacians[term.name]
        RV = _times(term, fit.X, V)
        shares.append(
            GraphShare(
                name=term.name,
                weight=weight,
                normalized=L.kind == "normalized",
                degrees=L.degrees,
                RV=RV,
                energies=weight * known.base.energies(result.coordinates),
                exact=term.is_laplacian,
                trivial=_mean_of(RV, n) if problem.center else np.zeros(d),
            )
        )
    return shares


def _times(term: Term, X: DistributedRows, V: Any) -> Any:
    """R V, in the blocks of V."""
    table = resized(blocks_of(V), X.blocks.sizes).held("")
    product = term.base.times(table, V.shape[1])  # type: ignore[attr-defined]
    product = resized(product, _given(X)).held("vectors of the graph")
    return as_array(product, (V.shape[1],), np.dtype(np.float64))


def _mean_of(RV: Any, n: float) -> Array:
    return np.asarray(blocks_of(RV).total("", _sum_of_rows)) / n


def _sum_of_rows(block: Array) -> Array:
    return np.asarray(block.sum(axis=0))
