"""What all embeddings share: what a fit leaves behind, new rows, files, reports."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from graphfold import check, io
from graphfold.arrays import Array, floating
from graphfold.errors import GraphfoldError
from graphfold.estimators import advice, rows
from graphfold.estimators.alignment import reference_for
from graphfold.estimators.fitting import Constrain, Fit, InMemory, Sources, prepare
from graphfold.estimators.landmarks import (
    averaged_rows,
    check_kernels,
    check_landmarks,
    n_landmarks,
    refines,
)
from graphfold.estimators.planning import has_recipe, known_edges, n_bases, rows_back
from graphfold.estimators.progress import CallbackSupportMixin, begin_fit
from graphfold.estimators.reading import AUTO, is_distributed, lies_on_workers, workers
from graphfold.estimators.row_keys import RowKeys
from graphfold.estimators.statement import parts_of_graphs
from graphfold.estimators.stream import Stacked
from graphfold.estimators.strength_path import strength_path
from graphfold.graphs import Laplacian, graphs_from, in_memory
from graphfold.kernels import Kernel
from graphfold.model.align import carried_eigenvalues, nearest_rotation
from graphfold.model.alternate import Alternation
from graphfold.model.certificate import axis_report
from graphfold.model.extend import (
    DataShare,
    Extension,
    GraphShare,
    data_share,
    graph_shares,
)
from graphfold.model.plan import Plan, make_plan
from graphfold.model.problem import Problem
from graphfold.model.strength import data_scale, graph_size
from graphfold.model.terms import Term, has_cheap_factor, kernel_terms
from graphfold.solvers import Eigenpairs
from graphfold.stores import RowStore


class GraphEmbedding(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    ABC,
):
    """The top eigenvectors of M = sum theta K + gamma sum beta R, as an estimator."""

    # -- what a kind of embedding may say differently ---------------------------------

    @abstractmethod
    def _kernels(self, X: Any) -> dict[str, Kernel]:
        """The kernels of the data, by name."""

    def _graphs(self) -> Sources:
        """The graphs of the constructor, by name."""
        return graphs_from(self.graph)

    def _responses(self) -> Any:
        """How each graph speaks, in the words of the constructor."""
        return self.response

    def _has_rows(self) -> bool:
        """Whether X holds rows, or kernel matrices in their place."""
        return True

    def _measures_the_data(self) -> bool:
        """Whether something besides the graphs is measured in the size of the data."""
        return False

    def _knows_rows_by_content(self) -> bool:
        """Whether a row that equals a row of the fit is that row, if labels are silent.

        Without a graph the kernel of rows alone gives them their own place.
        """
        if not self._sources:
            return self.kernel_ is not None and not self.kernel_.pointwise
        return self._fit_labels is None or rows.are_from_rows(self._sources)

    def _data_terms(
        self, kernels: dict[str, Kernel], X: Any, plan: Plan, rng: np.random.Generator
    ) -> tuple[Term, ...]:
        """What the data say of the rows, as terms of the problem."""
        return kernel_terms(
            kernels,
            X,
            tiled=plan.storage == "tiled",
            strip=plan.strip,
            n_components=self.n_components,
            rng=rng,
        )

    def _scales_of(
        self, problem: Problem, laplacians: Mapping[str, Laplacian], how: dict[str, Any]
    ) -> tuple[float, float, Array | None]:
        """gamma of strength 1, the size of the data, and a first guess of vectors."""
        top, start = data_scale(problem, self.n_components, **how)
        return top / graph_size(problem), top, start

    def _data_share(
        self, problem: Problem, kernel: Kernel | None, X: Any, V: Array
    ) -> DataShare | None:
        """What the data say of where a new row belongs."""
        by_factor = kernel is not None and has_cheap_factor(kernel, X)
        return data_share(problem, kernel, X, V, by_factor=by_factor)

    def _graph_shares(
        self, problem: Problem, laplacians: Mapping[str, Laplacian], V: Array
    ) -> list[GraphShare]:
        """What each graph says of where a new row belongs."""
        return graph_shares(problem, laplacians, V)

    def _eigenvalues(self, pairs: Eigenpairs) -> Array:
        """The eigenvalues that are reported."""
        return pairs.values

    def _trivial(self, laplacians: Mapping[str, Laplacian]) -> Array | None:
        """A direction to keep out of the answer, where it is not the constant one."""
        return None

    def _tolerance(self) -> float | None:
        """Relative residual asked of the solver; None is its own default."""
        return None if self.tol is None else float(self.tol)

    # -- fit --------------------------------------------------------------------------

    #: labels of the rows of the fit, whether or not a graph asks for them
    _row_labels: Array | None = None
    #: whether landmarks may be rows of their own, and rows are kept beside them
    _takes_landmark_rows: bool = True
    _keeps_rows: bool = False
    #: the rows of the fit; where they are not kept, by what they are known again
    _X_fit: Any = None
    #: square roots of what the rows count, where they do not count alike
    _roots: Array | None = None
    #: projections and fingerprints of rows on workers, by which they are known again
    _row_marks: Any = None
    _row_prints: Any = None
    _row_keys: RowKeys | None = None

    def _fit_rows(
        self,
        X: Any,
        y: Any,
        labels: Array | None,
        graphs: Sources,
        rng: np.random.Generator,
        constrain: Constrain | None = None,
        **how: Any,
    ) -> None:
        """Solve for the rows of X, which have been read, and keep what was found.

        ``how`` is passed on to :func:`prepare`.
        """
        begin_fit(self, X, y)
        if lies_on_workers(X):
            workers().fit_on_workers(self, X, labels, graphs, rng, constrain)
            return
        known = {name: in_memory(graph) for name, graph in graphs.items()}
        streamed = how.pop("streamed", False)
        if hasattr(self, "landmarks"):
            check_landmarks(self, X.shape[0], self._row_labels, growing=streamed)
        plan, labelled = self._plan(self._kernels(X), X), labels is not None
        keys = RowKeys.of(X, labelled=labelled) if plan.way == "landmarks" else None
        read = self._needs_rows() or isinstance(self.graph_strength, str)
        if isinstance(X, RowStore | Stacked) and read:
            X = X.read()
        elif keys is None or self._needs_rows():
            X = X.copy()  # as KernelPCA does: the caller may change X afterwards
        strength = self._choose_strength(X, labels, known, rng, constrain)
        fit = prepare(
            self,
            X,
            labels,
            known,
            rng,
            constrain=constrain,
            fingerprints=None if keys is None else keys.fingerprints,
            plan=plan,
            **how,
        )
        if len(fit.kernels) > 1 or not self._has_rows():
            advice.on_indefinite(fit.problem, rng)
        result = fit.at(strength)
        advice.on_convergence(result.pairs)
        advice.on_alternation(result)
        self._keep(fit, result, labels)
        kept = keys is None or self._needs_rows()
        self._X_fit, self._row_keys = (X, None) if kept else (None, keys)
        self.graph_strength_ = strength if graphs else 0.0

    def _choose_strength(
        self,
        X: Any,
        labels: Array | None,
        graphs: InMemory,
        rng: np.random.Generator,
        constrain: Constrain | None,
    ) -> float:
        self.__dict__.pop("strength_path_", None)
        auto = isinstance(self.graph_strength, str) and self.graph_strength in AUTO
        if not self._kernels(X) and (auto or self.graph_strength == 0):
            raise GraphfoldError(
                "graph_strength must be a number above 0 where there is no kernel: "
                f"the graphs are all there is; got {self.graph_strength!r}"
            )
        if not auto:
            return float(self.graph_strength)
        if not graphs:
            return 0.0
        columns = self.graph_strength == "auto" and self._has_rows()
        by = "columns" if columns else "edges"
        self.strength_path_ = strength_path(
            self, X, labels, graphs, rng, by=by, constrain=constrain
        )
        return self.strength_path_.chosen

    def _plan(self, kernels: dict[str, Kernel], X: Any, *, timed: bool = False) -> Plan:
        landmarks = n_landmarks(self)
        if landmarks is not None:
            check_kernels(self, kernels)
        return make_plan(
            list(kernels.values()),
            X,
            self.n_components,
            solver=self.solver,
            max_memory=check.memory_bytes("max_memory", self.max_memory),
            timed=timed,
            landmarks=landmarks,
            n_edges=self._n_edges(X.shape[0]),
            n_bases=n_bases(self, X.shape[0]),
            refined=self._refines(),
            exact_only=not hasattr(self, "landmarks"),
            keeps_rows=self._needs_rows(),
            rows_back=rows_back(self),
            averaged=averaged_rows(self, kernels),
        )

    def _keep(self, fit: Fit, result: Alternation, labels: Array | None) -> None:
        problem, pairs = result.problem, result.pairs
        X, kernel = fit.X, fit.kernel_of(problem)
        V = pairs.vectors.astype(floating(X.dtype), copy=False)
        data = fit.data_share(result, V)
        shares = fit.graph_shares(result, V)
        self._extension = Extension(V, pairs.values, data, shares)
        self._scales = self._extension.column_scales(self.scaling)
        if self.scaling == "eigenvalue" and data is not None:
            advice.on_energies(self._extension.sound_energies())
        self._fit_labels, self._sources = labels, fit.sources
        self._roots = problem.roots
        self._keep_landmarks(fit)
        self.kernel_ = kernel
        self.kernel_names_ = list(fit.kernels)
        self.kernel_weights_ = np.array(problem.theta)
        self.graph_names_ = list(fit.graphs)
        self.graph_weights_ = np.array(problem.beta)
        graphs = {name: fitted.graph for name, fitted in fit.graphs.items()}
        self.graph_ = graphs if len(graphs) > 1 else next(iter(graphs.values()), None)
        parts = [fitted.known.n_parts for fitted in fit.graphs.values()]
        self.n_graph_components_ = parts_of_graphs(parts)
        self.objective_trace_ = result.objective_trace
        self.residuals_, self.converged_ = pairs.residuals, pairs.converged
        self.n_iter_ = pairs.n_iterations
        as_planned = pairs.solver == fit.plan.solver
        self.solver_ = pairs.solver
        self.solver_reason_ = fit.plan.reason if as_planned else pairs.reason
        self.axis_report_ = axis_report(pairs)
        self.formula_ = str(problem)
        values = self._eigenvalues(pairs).astype(V.dtype, copy=False)
        self._turn(values, V)
        self._keep_energies(data)

    def _keep_landmarks(self, fit: Fit) -> None:
        for name in ("landmarks_", "landmark_error_"):
            self.__dict__.pop(name, None)
        if fit.landmarks is not None:
            self.landmarks_ = fit.landmarks.rows
            self.landmark_error_ = fit.landmarks.lost

    def _n_edges(self, n: int) -> int:
        """Entries of the graphs' matrices, as far as they are known."""
        return known_edges(getattr(self, "graph", None), n)

    def _refines(self) -> bool:
        """Whether a landmark fit goes on from the span to the whole problem."""
        speaks = bool(self._n_edges(1)) or self._measures_the_data() or self._keeps_rows
        return refines(self) and speaks

    def _needs_rows(self) -> bool:
        """Whether the rows of the fit have to be kept: edges of new rows end there."""
        if self._keeps_rows or has_recipe(getattr(self, "graph", None)):
            return True
        return bool(getattr(self, "fit_inverse_transform", False))

    def _keep_energies(self, data: Any) -> None:
        self.__dict__.pop("explained_variance_ratio_", None)
        if data is not None and np.isfinite(data.trace):
            T = np.eye(len(data.gram)) if self._rotation is None else self._rotation
            energies = np.einsum("ij,ik,kj->j", T, data.gram, T)
            self.explained_variance_ratio_ = energies / (data.trace or 1.0)

    def _turn(self, values: Array, V: Array) -> None:
        """The embedding, its axes turned towards ``align_to`` if there is one."""
        Z = V * self._scales
        if self._roots is not None:
            Z /= self._roots[:, None].astype(Z.dtype)
        self._rotation = None
        if self.align_to is not None:
            own, reference = reference_for(self.align_to, Z, self._row_labels)
            T = nearest_rotation(own, reference)
            values = carried_eigenvalues(values, T).astype(values.dtype)
            self._rotation = T.astype(V.dtype)
            V, Z = V @ self._rotation, Z @ self._rotation
        self.eigenvalues_, self.eigenvectors_, self.embedding_ = values, V, Z
        self._n_features_out = Z.shape[1]

    # -- new rows ---------------------------------------------------------------------

    def _ready(self) -> None:
        """Raise unless there is an answer to speak of."""
        check_is_fitted(self)

    def _label_keys(self) -> Any:
        """What is known by label, so that an index counts: nothing without labels."""
        return False if self._fit_labels is None else self._sources

    def _rows_of_fit(self) -> rows.FitRows:
        here = self._X_fit is not None or self._row_keys is not None
        extension = self._extension
        return rows.FitRows(
            self._X_fit,
            self._fit_labels,
            self._sources,
            by_content=here and self._knows_rows_by_content(),
            keys=self._row_keys,
            heard=[share.name for share in extension.graphs],
            by_features=extension.data is not None,
        )

    def _placed(self, X: Any, known: Array, weights: Any) -> Array:
        if self._extension.data is None:
            rows.refuse_rows_without_edges(known, weights)
        if self._roots is not None:
            # an edge counts as much as the row that it ends at
            fade = sp.diags_array(self._roots)
            weights = {k: e if e is None else e @ fade for k, e in weights.items()}
        Z = self._extension.place(X, weights) * self._scales
        if self._rotation is not None:
            Z = Z @ self._rotation
        if (known >= 0).any():
            Z[known >= 0] = self.embedding_[known[known >= 0]]
        return np.asarray(Z)

    # -- files ------------------------------------------------------------------------

    def _state_to_save(self) -> dict[str, Any]:
        """What a file holds of a fit: all of it, but for rows that lie on workers."""
        state = dict(vars(self))
        return workers().without_rows(state) if self._lies_on_workers() else state

    def _lies_on_workers(self) -> bool:
        return is_distributed(getattr(self, "embedding_", None))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as arrays and JSON; ``graphfold.load`` reads it back.

        Of a fit whose rows lie on workers the file has no rows and no embedding: what
        is read back places new rows by their features.
        """
        self._ready()
        io.save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = not self._has_rows()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
