"""What every fit does: bind, plan, state the problem, choose, solve."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.estimators import advice
from graphfold.estimators.landmarks import (
    Landmarks,
    choose,
    landmarks_of,
    near_zero,
    refines,
    some_rows,
)
from graphfold.estimators.starting_weights import (
    are_learned,
    check_weights,
    starts_of,
)
from graphfold.estimators.statement import (
    FittedGraph,
    Statement,
    bound_graphs,
    graphs_of_fit,
    state_problem,
)
from graphfold.graphs import Graph, GraphRecipe, Source
from graphfold.kernels import Combination, Kernel
from graphfold.kernels.names import bind_all
from graphfold.model import path
from graphfold.model.alternate import Alternation, best_of_starts, solved
from graphfold.model.extend import DataShare, GraphShare
from graphfold.model.joint import can_be_joint, solutions
from graphfold.model.landmark_share import (
    landmark_share,
    loadings_in_span,
    loadings_of,
)
from graphfold.model.plan import Plan, usual_solver
from graphfold.model.problem import Problem
from graphfold.model.refine import in_span
from graphfold.model.span import features_of
from graphfold.progress import say

#: up to this many rows every strength of a path is solved by itself
FEW_ROWS = 100

Sources = Mapping[str, Source]
#: the same where rows are in memory
InMemory = Mapping[str, Graph | GraphRecipe]
#: adds terms that are not learned to a problem that has been stated
Constrain = Callable[[Statement], Problem]


@dataclass
class Fit:
    """A problem stated for some rows, ready to be solved at any strength."""

    estimator: Any
    X: Any
    kernels: dict[str, Kernel]
    sources: dict[str, Any]
    graphs: dict[str, FittedGraph]
    plan: Plan
    statement: Statement
    problem: Problem
    how: dict[str, Any]
    landmarks: Landmarks | None = None
    refine: bool = True
    #: what takes the place of the estimator's own way to the shares of its graphs
    shares_of_graphs: Callable[..., list[GraphShare]] | None = None

    def kernel_of(self, problem: Problem) -> Kernel | None:
        """The kernels as one, at the weights of a problem."""
        kernels = list(self.kernels.values())
        if len(kernels) < 2:
            return kernels[0] if kernels else None
        factors = [term.factor for term in problem.kernels]
        weights = np.multiply(problem.theta, factors)
        return Combination(kernels, weights.tolist())

    def data_share(self, result: Alternation, V: Array) -> DataShare | None:
        """What the data say of where a new row belongs."""
        problem = result.problem
        if self.landmarks is None:
            kernel = self.kernel_of(problem)
            return self.estimator._data_share(problem, kernel, self.X, V)
        features = list(self.landmarks.features.values())
        span, roots = self.statement.span, problem.roots
        if result.coordinates is not None and span is not None:
            loadings = loadings_in_span(span, result.coordinates, len(features))
        else:
            loadings = loadings_of(problem, features_of(problem), V)
        size = float(V.shape[0] if roots is None else roots @ roots)
        return landmark_share(problem, features, loadings, size, V.dtype)

    def graph_shares(self, result: Alternation, V: Array) -> list[GraphShare]:
        """What each graph says of where a new row belongs."""
        if self.shares_of_graphs is not None:
            return self.shares_of_graphs(self, result, V)
        laplacians = self.statement.laplacians
        return self.estimator._graph_shares(result.problem, laplacians, V)

    def at(self, strength: float) -> Alternation:
        """The solution at one strength, its weights learned if there are several."""
        estimator = self.estimator
        problem = self.problem.with_gamma(strength * self.statement.unit)
        d, how = estimator.n_components, dict(self.how)
        span, learn = self.statement.span, self._learn(problem)
        if span is not None:
            speaks = bool((strength and problem.graphs) or problem.fixed)
            how |= {"refined": speaks and self.refine}
            how |= {"ordered": estimator.max_memory is None}
            return in_span(span, problem, d, learn=learn, **how)
        result = (learn or solved)(problem, d, **how)
        self.how["start"] = result.pairs.start  # the next strength starts here
        return result

    def along(self, strengths: Sequence[float]) -> Iterator[tuple[int, Array]]:
        """Place and eigenvectors of each strength of a path, as far as a score asks.

        In a space that all strengths share, and in an order of its own; where that
        space would be all there is, one after the other.
        """
        problem, d, span = self.problem, self.estimator.n_components, None
        if self.statement.span is not None and not self.refine:
            span = self.statement.span
            problem = span.project(problem)
        if problem.n <= FEW_ROWS or not can_be_joint(problem, d):
            for place, strength in enumerate(strengths):
                yield place, self.at(strength).pairs.vectors
            return
        gammas = [strength * self.statement.unit for strength in strengths]
        how = {"rng": self.how["rng"], "start": None if span else self.how["start"]}
        how["learn"] = self._learn(problem.with_gamma(max(gammas)))
        for place, V in solutions(problem, gammas, d, **how):
            yield place, V if span is None else span.vectors(V)

    def _learn(self, problem: Problem) -> Callable[..., Alternation] | None:
        """How the weights of a problem are learned; None where they are not."""
        estimator, speaks = self.estimator, problem.gamma != 0
        several = len(problem.kernels) > 1 or (speaks and len(problem.graphs) > 1)
        if not several or not are_learned(estimator.weights):
            return None
        norm, terms = float(estimator.weight_norm), (self.kernels, self.graphs)
        names, rng = [list(side) for side in terms], self.how["rng"]
        starts = starts_of(estimator.weights, *names, norm=norm, rng=rng)
        return partial(best_of_starts, norm=norm, starts=starts)


def prepare(
    estimator: Any,
    X: Any,
    labels: Array | None,
    graphs: InMemory,
    rng: np.random.Generator,
    *,
    constrain: Constrain | None = None,
    quiet: bool = False,
    fingerprints: Array | None = None,
    refine: bool | None = None,
    roots: Array | None = None,
    plan: Plan | None = None,
) -> Fit:
    """State the problem of these rows; ``quiet`` where a trial is made, not the fit.

    ``fingerprints`` are those of the rows of X, if they are known already; ``refine``
    takes the place of the estimator's own; ``roots`` as in :class:`Problem`; ``plan``
    is the plan of this fit, if it has been made.
    """
    asked = estimator._kernels(X)
    if not asked and not graphs:
        raise GraphfoldError("kernel must not be None where there is no graph")
    check_weights(estimator, asked, graphs)
    plan = estimator._plan(asked, X) if plan is None else plan
    if not quiet:
        say("plan:", plan)
    landmarks = None
    if plan.way == "landmarks":
        known = estimator._row_labels
        chosen = choose(estimator, X, known, plan.landmarks, rng, fingerprints)
        landmarks = landmarks_of(estimator, X, chosen, plan.rank, rng)
        kernels = landmarks.kernels
        if estimator.landmarks is None and not quiet:
            advice.on_chosen_landmarks(len(landmarks), landmarks.lost)
    else:
        kernels = bind_all(asked, X, rng)
        if estimator.center and estimator._has_rows():
            kernels = {name: near_zero(kernel, X) for name, kernel in kernels.items()}
    sources = bound_graphs(graphs, X, precomputed=not estimator._has_rows())
    fitted = graphs_of_fit(sources, labels, X, quiet=quiet)
    fitted = {name: graph.fading(roots) for name, graph in fitted.items()}
    n, d = X.shape[0], estimator.n_components
    usual = usual_solver(n, d, "auto", len(asked), estimator._n_edges(n)).solver
    free = estimator.solver == "auto" and (landmarks or plan.solver == usual)
    how: dict[str, Any] = {
        "solver": "auto" if free else (landmarks and estimator.solver) or plan.solver,
        "tol": path.TOLERANCE if quiet else estimator._tolerance(),
        "max_iter": estimator.max_iter,
        "rng": rng,
    }
    refine = roots is None and (refines(estimator) if refine is None else refine)
    statement = state_problem(
        estimator, kernels, X, fitted, plan, how, landmarks, roots, refine
    )
    problem = statement.problem if constrain is None else constrain(statement)
    if not quiet:
        rows = X if landmarks is None else some_rows(X, rng)
        advice.on_kernels(kernels, rows, rng, statement.problem.stored_kernels())
        say(problem.with_gamma(statement.unit))
    how["start"] = statement.start
    return Fit(
        estimator,
        X,
        kernels,
        sources,
        fitted,
        plan,
        statement,
        problem,
        how,
        landmarks,
        refine,
    )
