"""What both robust methods share: a fit, its directions, new rows, missing entries."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from graphfold import check, io
from graphfold.arrays import Array
from graphfold.equal_rows import matching_rows
from graphfold.errors import GraphfoldError, LabelError, WeakSpectrumWarning, warn
from graphfold.estimators import missing_labels, robust_graphs, rows
from graphfold.estimators.planning import known_edges, table_plan, with_searches
from graphfold.estimators.progress import (
    CallbackSupportMixin,
    begin_fit,
    guarded_fit,
    with_verbose,
)
from graphfold.estimators.reading import refuse_too_large
from graphfold.estimators.statement import generator
from graphfold.estimators.states import Robust, checker
from graphfold.graphs import Graph, GraphRecipe
from graphfold.graphs.labels import LabelIndex
from graphfold.graphs.laplacian import KINDS
from graphfold.model.extend import SCALINGS
from graphfold.model.plan import Plan
from graphfold.model.separation import Observed, Separation
from graphfold.solvers.singular import leading_directions

#: pull towards the mean, per share of a row's entries that are missing
RIDGE = 1e-3
_SAME_FEATURES = 1e-6


class RobustEmbedding(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    ABC,
):
    """X = Z + S with Z smooth on graphs, and the principal components of Z."""

    #: how the problem is solved, as a plan names it
    _method: str

    _check_loaded = checker(Robust)

    # -- what the two methods say differently -----------------------------------------

    @abstractmethod
    def _check_own_parameters(self) -> None:
        """Ranges of the parameters that the other method does not have."""

    @abstractmethod
    def _separate(
        self,
        data: Observed,
        graph: Graph | None,
        rng: np.random.Generator,
    ) -> Separation:
        """The problem stated and solved."""

    # -- fit --------------------------------------------------------------------------

    @guarded_fit
    def fit(self, X: Any, y: Any = None, *, node_ids: Any = None) -> Self:
        """Take X apart and learn the embedding of its rows.

        Parameters
        ----------
        X : array or table of shape (n, n_features), NaN where an entry is missing
        y : ignored
        node_ids : sequence of n labels, default=None
            Which node each row is, if X is not a DataFrame with labels as its index.

        Returns
        -------
        self
        """
        raw, X = X, self._read(X, reset=True)
        self._check_parameters(X)
        self._plan(X)  # a budget that is too small is refused before any work
        source = robust_graphs.source("graph", self.graph)
        labels = rows.labels_of_rows(raw, node_ids, source, len(X))
        begin_fit(self, X, y)
        data, rng = Observed.of(X), generator(self.random_state)
        self.graph_ = None
        if self.graph_strength > 0:
            self.graph_ = robust_graphs.graph_of_rows(source, data.filled(), labels)
        found = self._separate(data, self.graph_, rng)
        self._X_fit, self._fit_labels = X.copy(), labels
        self._keep(data, found, rng)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, node_ids: Any = None) -> Array:
        """Fit and return the embedding of the rows of X."""
        return self.fit(X, y, node_ids=node_ids).embedding_.copy()

    def _read(self, X: Any, *, reset: bool) -> Array:
        check.refuse_other_objects("X", X)
        check.refuse_odd_columns("X", X)
        X = check.no_tensor("X", X)
        array = check_array(
            X,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
            estimator=self,
            input_name="X",
        )
        refuse_too_large(array)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset and np.isnan(array).all():
            raise GraphfoldError(
                "X must have entries that are not NaN; all are missing: nothing can "
                "be learned from it"
            )
        return np.ascontiguousarray(array)

    def _check_parameters(self, X: Array) -> None:
        n, D = X.shape
        check.integer_between(
            "n_components",
            self.n_components,
            1,
            min(n, D),
            f"X has n_samples={n} and n_features={D}",
        )
        check.one_of("laplacian", self.laplacian, KINDS)
        check.at_least("graph_strength", self.graph_strength, 0)
        check.flag("center", self.center)
        check.one_of("scaling", self.scaling, SCALINGS)
        check.at_least("tol", self.tol, 0)
        check.integer_between("max_iter", self.max_iter, 1, 2**31)
        self._check_own_parameters()

    def _keep(
        self, data: Observed, found: Separation, rng: np.random.Generator
    ) -> None:
        Z = found.low_rank
        if not found.converged:
            warn(
                f"the optimality residual is {found.residual:.1e} after "
                f"{found.n_iterations} iterations: raise max_iter or tol, or scale X "
                "down if its entries are far above 1, which makes graphs strong",
                ConvergenceWarning,
            )
        self.low_rank_, self.sparse_ = Z, data.error(Z)
        self.n_iter_, self.converged_ = found.n_iterations, found.converged
        self.optimality_residual_ = found.residual
        self.objective_, self.objective_trace_ = found.objective, found.trace
        self.mean_ = Z.mean(axis=0) if self.center else np.zeros_like(Z[0])
        d = self.n_components
        # what centring leaves of a constant Z is rounding
        floor = 1e-7 * float(np.linalg.norm(Z))
        values, directions = leading_directions(Z - self.mean_, d, floor=floor, rng=rng)
        self.singular_values_, self.components_ = values, directions
        self._scales = self._column_scales(len(Z))
        self.embedding_ = (Z - self.mean_) @ directions.T * self._scales
        self._n_features_out = d
        weak = int((values == 0).sum())
        if weak:
            warn(
                f"{weak} of {d} components carry nothing: the low-rank part has rank "
                f"{d - weak} (centred: {self.center}), so their columns are zero; use "
                "fewer components or a smaller graph_strength",
                WeakSpectrumWarning,
            )

    def _column_scales(self, n: int) -> Array:
        """What the coordinates of a row are multiplied by."""
        values = self.singular_values_
        if self.scaling == "eigenvalue":
            return np.where(values > 0, 1, 0).astype(values.dtype)
        length = 1.0 if self.scaling == "orthonormal" else np.sqrt(n)
        scales = np.where(values > 0, length / np.where(values > 0, values, 1), 0)
        return np.asarray(scales).astype(values.dtype)

    # -- before a fit -----------------------------------------------------------------

    def plan(self, X: Any) -> Plan:
        """What fitting X would do and cost; X itself is not touched.

        Parameters
        ----------
        X : array or table of shape (n, n_features)

        Returns
        -------
        Plan

        Examples
        --------
        >>> import numpy as np
        >>> from graphfold import FastRobustGraphPCA
        >>> FastRobustGraphPCA(2).plan(np.zeros((5000, 20))).storage
        'table'
        """
        X = check.table("X", X)
        return with_searches(self._plan(X, timed=True), X, 1)

    def _plan(self, X: Any, *, timed: bool = False) -> Plan:
        return table_plan(
            X,
            self.n_components,
            method=self._method,
            max_memory=check.memory_bytes("max_memory", self.max_memory),
            n_edges=known_edges(self.graph, X.shape[0]),
            timed=timed,
        )

    # -- new rows ---------------------------------------------------------------------

    @with_verbose
    def transform(self, X: Any, *, node_ids: Any = None) -> Array:
        """Project rows on the components; a row of the fit gets its own place back.

        Where the rows of the fit were matched to a graph by label, labels decide which
        rows are rows of the fit (and their features must not differ). Otherwise a row
        that equals a row of the fit, missing entries included, is that row: the first
        of several equal ones, unless the leading rows repeat the fit in its order. The
        graph has no part in the places of other rows; if it has no labels, an
        ``UnlabelledRowsWarning`` says so. Where entries are missing, the coordinates
        are those that fit the others best, by least squares with a small ridge; a row
        without any entry lands on the mean.

        Parameters
        ----------
        X : array or table of shape (m, n_features)
        node_ids : sequence of m labels, default=None

        Returns
        -------
        array of shape (m, n_components)
        """
        check_is_fitted(self)
        raw, X = X, self._read(X, reset=False)
        by_label = self._fit_labels is not None
        labels = rows.labels_of_rows(raw, node_ids, by_label, len(X))
        known = self._known(X, labels)
        Y = self._coordinates(X) * self._scales
        Y[known >= 0] = self.embedding_[known[known >= 0]]
        return Y

    def inverse_transform(self, X: Any) -> Array:
        """Points of the original space for rows of the embedding."""
        check_is_fitted(self)
        Y = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        d = len(self.components_)
        if Y.shape[1] != d:
            raise GraphfoldError(
                f"X must have the {d} columns of the embedding; got shape {Y.shape}"
            )
        used = self._scales > 0
        lengths = np.where(used, 1 / np.where(used, self._scales, 1), 0)
        return np.asarray((Y * lengths) @ self.components_ + self.mean_)

    def _coordinates(self, X: Array) -> Array:
        data = Observed.of(X)
        centred = data.without_missing(data.X - self.mean_)
        Y = centred @ self.components_.T
        if data.missing is None:
            return np.asarray(Y)
        partial = data.missing.any(axis=1)
        Y[partial] = _least_squares(
            Y[partial], ~data.missing[partial], self.components_
        )
        return np.asarray(Y)

    def _known(self, X: Array, labels: Array | None) -> Array:
        """Which row of the fit each row is, by the rule of FitRows; -1 for new ones."""
        source = robust_graphs.source("graph", self.graph)
        from_rows = self.graph_ is None or isinstance(source, GraphRecipe)
        if self._fit_labels is not None and not from_rows:
            if labels is not None:
                return self._known_by_label(X, labels)
            missing_labels.warn_of_missing_labels("or node_ids=")
            return np.full(len(X), -1)
        known, repeated = matching_rows(_comparable(X), _comparable(self._X_fit))
        if not from_rows:
            missing_labels.warn_of_repeated_rows(repeated, ["graph"])
            missing_labels.warn_of_new_rows(
                known < 0, ["graph"], alone=True, remedy="fit them with the others"
            )
        return known

    def _known_by_label(self, X: Array, labels: Array) -> Array:
        assert self._fit_labels is not None
        known = LabelIndex(self._fit_labels).find(labels)
        met = np.flatnonzero(known >= 0)
        own = self._X_fit[known[met]]
        size = np.nanmax(np.abs(own), axis=1, initial=0.0)[:, None]
        same = np.isclose(
            X[met], own, rtol=0, atol=_SAME_FEATURES * size, equal_nan=True
        )
        if not same.all():
            differing = labels[met[~same.all(axis=1)]]
            raise LabelError(
                f"{len(differing)} rows have the label of a row of the fit but other "
                f"features: {check.some_of(differing)}; give new rows new labels, or "
                "refit"
            )
        return known

    # -- files ------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as arrays and JSON; ``graphfold.load`` reads it back."""
        check_is_fitted(self)
        io.save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _comparable(X: Array) -> Array:
    """X with a number that nobody measures in place of NaN, which equals nothing."""
    missing = np.isnan(X)
    return np.where(missing, np.finfo(X.dtype).max, X) if missing.any() else X


def _least_squares(right: Array, there: Array, components: Array) -> Array:
    """Coordinates of rows from the entries that are there: a small system for each.

    (C_o C_o' + ridge I) y = C_o x_o, C_o the components on the row's own entries, and
    the ridge grows with the share of entries that are missing.
    """
    d, D = components.shape
    products = np.einsum("ij,kj->jik", components, components).reshape(D, d * d)
    systems = (there.astype(components.dtype) @ products).reshape(-1, d, d)
    ridge = RIDGE * (1 - there.mean(axis=1))
    systems += ridge[:, None, None] * np.eye(d)
    return np.asarray(np.linalg.solve(systems, right[:, :, None])[:, :, 0])
