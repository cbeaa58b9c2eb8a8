"""The problem that an estimator's arguments state, for the rows of a fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from graphfold.arrays import Array, floating
from graphfold.errors import GraphError, GraphfoldError, LabelError
from graphfold.estimators import advice, rows
from graphfold.estimators.landmarks import Landmarks
from graphfold.estimators.starting_weights import are_learned
from graphfold.graphs import (
    Graph,
    GraphRecipe,
    Laplacian,
    laplacian,
    responses_from,
)
from graphfold.graphs.laplacian import refuse_out_of_range
from graphfold.graphs.responses import Response
from graphfold.kernels import Kernel
from graphfold.kernels.landmarks import LandmarkFeatures
from graphfold.model.alternate import equal_weights
from graphfold.model.plan import Plan
from graphfold.model.problem import Problem
from graphfold.model.span import Span, span_of
from graphfold.model.terms import Term, graph_term, spread
from graphfold.operators import LowRank


def generator(random_state: Any) -> np.random.Generator:
    """Randomness of a fit; None is a fixed seed, so that fits repeat bit for bit."""
    if random_state is None:
        return np.random.default_rng(0)
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


@dataclass(frozen=True)
class FittedGraph:
    """A graph of the rows of a fit, and which of the rows it knows."""

    graph: Graph
    present: Array | None = None

    @property
    def known(self) -> Graph:
        """The graph of the rows that are known."""
        if self.present is None:
            return self.graph
        positions = np.flatnonzero(self.present)
        matrix = self.graph.to_scipy()[positions][:, positions]
        return Graph._unchecked(matrix)

    def fading(self, roots: Array | None) -> FittedGraph:
        """The graph with edges that count as much as the rows that they join."""
        if roots is None:
            return self
        fade = sp.diags_array(roots)
        labels = self.graph.nodes if self.graph.has_labels else None
        faded = sp.csr_array(fade @ self.graph.to_scipy() @ fade)
        return replace(self, graph=Graph._unchecked(faded, labels))


def parts_of_graphs(parts: Sequence[int | None]) -> Any:
    """Connected parts of one graph, or of each of several; None if not counted."""
    counts = [count for count in parts if count is not None]
    if len(counts) < len(parts):
        return None
    return sum(counts) if len(counts) < 2 else np.array(counts)


def bound_graphs(
    graphs: Mapping[str, Graph | GraphRecipe], X: Any, *, precomputed: bool = False
) -> dict[str, Graph | GraphRecipe]:
    """The graphs with every recipe bound to X."""
    recipes = [name for name, g in graphs.items() if isinstance(g, GraphRecipe)]
    if recipes and precomputed:
        raise GraphfoldError(
            'graph must not be a recipe with kernel="precomputed": the rows are not '
            "known; build the graph from them, as NeighborGraph(10).build(rows)"
        )
    return {
        name: graph.bind(X) if isinstance(graph, GraphRecipe) else graph
        for name, graph in graphs.items()
    }


def graphs_of_fit(
    graphs: Mapping[str, Graph | GraphRecipe],
    labels: Array | None,
    X: Any,
    *,
    quiet: bool = False,
) -> dict[str, FittedGraph]:
    """The graphs of the rows of X: built, or the induced subgraphs."""
    several = len(graphs) > 1
    found = {}
    for name, graph in graphs.items():
        if isinstance(graph, GraphRecipe):
            found[name] = FittedGraph(graph.build(X), graph.present(X))
        elif several:
            found[name] = _among_several(graph, name, labels, X.shape[0])
        else:
            found[name] = FittedGraph(rows.graph_of_rows(graph, labels, X.shape[0]))
        if not quiet:
            advice.on_graph(found[name].known, name if several else "")
    return found


def _among_several(
    graph: Graph, name: str, labels: Array | None, n: int
) -> FittedGraph:
    """One of several graphs: it need not know every row."""
    try:
        if labels is None or not graph.has_labels:
            return FittedGraph(rows.graph_of_rows(graph, None, n))
        present = graph.find(labels) >= 0
        known = rows.graph_of_rows(graph, labels[present], int(present.sum()))
    except (GraphError, LabelError) as error:
        raise type(error)(f"graph {name!r}: {error}") from None
    if present.all():
        return FittedGraph(known)
    matrix = graph.edges_between(labels, labels)
    return FittedGraph(Graph._unchecked(matrix, labels), present)


@dataclass
class Statement:
    """A problem stated for the rows of a fit, and what the extension needs of it.

    ``unit`` is the gamma of strength 1; ``top`` the size of the data, in which other
    strengths are measured; ``start`` a first guess of the eigenvectors; ``span`` the
    span of the landmarks' features, where there are landmarks.
    """

    problem: Problem
    laplacians: dict[str, Laplacian] = field(default_factory=dict)
    unit: float = 1.0
    top: float = 1.0
    start: Array | None = None
    span: Span | None = None


def state_problem(
    estimator: Any,
    kernels: Mapping[str, Kernel],
    X: Any,
    graphs: Mapping[str, FittedGraph],
    plan: Plan,
    how: dict[str, Any],
    landmarks: Landmarks | None = None,
    roots: Array | None = None,
    refine: bool = True,
) -> Statement:
    """M = sum theta K + gamma sum beta R at its first weights, gamma of strength 1.

    Nothing is solved but the scale of the data. ``roots`` as in :class:`Problem`.
    """
    if landmarks is None:
        data = estimator._data_terms(kernels, X, plan, how["rng"])
    else:
        data = landmark_terms(landmarks.features, X, roots, precise=not refine)
    normalize = estimator.normalize
    if len(data) > 1 and normalize:
        data = tuple(_of_unit_trace(term, center=estimator.center) for term in data)
    dtype = data[0].base.dtype if data else floating(X.dtype)
    if landmarks is not None and not refine:
        dtype = np.dtype(np.float64)  # as all sums are where the span is the answer
    responses = responses_from(estimator._responses(), list(graphs))
    laplacians, terms = {}, []
    for name, fitted in graphs.items():
        # a response needs the eigenvalues of L to double precision, L itself does not
        exact = landmarks is None or not refine or responses[name] is not None
        precision = np.float64 if exact else np.float32
        laplacians[name] = laplacian(fitted.known, estimator.laplacian, precision)
        if responses[name] is None:
            refuse_out_of_range(laplacians[name], dtype if exact else precision)
        term = graph_term(
            laplacians[name],
            responses[name],
            n_components=estimator.n_components,
            rng=how["rng"],
            dtype=dtype,
            name=name,
        )
        terms.append(among(term, responses[name], len(graphs), normalize=normalize))
    terms = _over_all_rows(terms, list(graphs.values()))
    wide = None if landmarks is None else partial(span_of, wide=not refine)
    return stated(estimator, data, terms, laplacians, how, roots=roots, span_of=wide)


def stated(
    estimator: Any,
    data: Sequence[Term],
    terms: Sequence[Term],
    laplacians: dict[str, Laplacian],
    how: dict[str, Any],
    *,
    roots: Array | None = None,
    span_of: Callable[..., Span] | None = None,
) -> Statement:
    """The problem of some terms at its first weights, and the gamma of strength 1.

    ``span_of`` makes the span of the problem and its Laplacians, where there is one.
    """
    norm, normalize = float(estimator.weight_norm), estimator.normalize
    letter = not (normalize or are_learned(estimator.weights))
    beta = np.ones(len(terms)) if letter else equal_weights(len(terms), norm)
    problem = Problem(
        tuple(data),
        (),
        tuple(terms),
        (),
        center=estimator.center,
        trivial=estimator._trivial(laplacians),
        roots=roots,
    )
    problem = problem.with_weights(equal_weights(len(data), norm), beta)
    span = None if span_of is None else span_of(problem, laplacians)
    if not normalize or not (terms or estimator._measures_the_data()):
        return Statement(problem, laplacians, span=span)
    if span is not None and span.dimension:
        # the size of the data is known in the span: K is nothing elsewhere
        measured = span.project(problem)
        unit, top, _ = estimator._scales_of(measured, laplacians, how)
        _refuse_out_of_range(unit, top, problem)
        return Statement(problem, laplacians, unit, top, span=span)
    unit, top, start = estimator._scales_of(problem, laplacians, how)
    _refuse_out_of_range(unit, top, problem)
    return Statement(problem, laplacians, unit, top, start, span)


def _refuse_out_of_range(unit: float, top: float, problem: Problem) -> None:
    """The graph is measured in the kernel: their ratio has to be a number."""
    if not (np.isfinite(unit) and unit > 0):
        size = max(term.size for term in problem.graphs)
        raise GraphfoldError(
            "graph weights must be of a size that can be compared with the kernel's "
            f"values; got a largest degree of {size:.3g} beside an eigenvalue of "
            f'{top:.3g}: scale the weights or X, or use laplacian="normalized"'
        )


def landmark_terms(
    features: Mapping[str, LandmarkFeatures],
    X: Any,
    roots: Array | None = None,
    *,
    precise: bool = False,
) -> tuple[Term, ...]:
    """Each kernel as Phi Phi', rows scaled by what they count."""
    terms = []
    for name, part in features.items():
        Phi = part.of(X, precise=precise)
        if roots is not None:
            Phi *= roots[:, None].astype(Phi.dtype)
        terms.append(Term(name, LowRank(Phi, name="K")))
    return tuple(terms)


def among(
    term: Term, response: Response | None, count: int, *, normalize: bool
) -> Term:
    """A graph term that stands beside others: of size one, and no trace negative."""
    if count == 1:
        return term
    term = term.of_size_one() if normalize else term
    penalty = response is None or response.form == "penalty"
    return term.lifted_above_zero() if penalty else term


def _over_all_rows(terms: list[Term], graphs: list[FittedGraph]) -> list[Term]:
    """Terms of some rows as terms of all; what few graphs know weighs more."""
    if all(fitted.present is None for fitted in graphs):
        return terms
    n = graphs[0].graph.n_nodes
    masks = [np.ones(n, bool) if g.present is None else g.present for g in graphs]
    counts = np.sum(masks, axis=0)
    scales = np.sqrt(len(masks) / np.maximum(counts, 1))
    return [spread(term, m, scales) for term, m in zip(terms, masks, strict=True)]


def _of_unit_trace(term: Term, *, center: bool) -> Term:
    """A kernel scaled so that its rows have a mean squared norm of one."""
    trace = Problem((term,), (1.0,), center=center).data_operator()
    assert trace is not None
    size = trace.trace()
    return term.times(term.base.n / size) if size > 0 else term
