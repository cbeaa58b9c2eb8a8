"""Embeddings of one table: rows in, rows out, met by label where there are labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.estimators import rows
from graphfold.estimators.base import GraphEmbedding
from graphfold.estimators.fitting import Sources
from graphfold.estimators.planning import n_recipes, with_searches
from graphfold.estimators.progress import guarded_fit, with_verbose
from graphfold.estimators.reading import (
    check_parameters,
    is_distributed,
    read_anywhere,
    read_rows,
    workers,
)
from graphfold.estimators.rows import labels_for
from graphfold.estimators.statement import generator
from graphfold.model.plan import Plan
from graphfold.stores import row_store
from graphfold.threads import threads_of_fit


class RowEmbedding(GraphEmbedding):
    """An embedding whose samples are the rows of one table."""

    # -- what a kind of embedding may say differently ---------------------------------

    def _read(self, X: Any, *, reset: bool, least: int | None = None) -> Any:
        """X as numbers."""
        return read_rows(self, X, reset=reset, least=least)

    def _finish(self, rng: np.random.Generator) -> None:
        """What a kind of embedding keeps of a fit beyond what all do."""

    # -- fit --------------------------------------------------------------------------

    @guarded_fit
    def fit(self, X: Any, y: Any = None, *, node_ids: Any = None) -> Self:
        """Learn the embedding of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n, n_features)
            A kernel matrix if ``kernel="precomputed"``, or a list or dict of them. A
            ``dask.array`` or ``dask.dataframe`` stays on its workers, and so do the
            results; the fit is by landmarks then.
        y : ignored
        node_ids : sequence of n labels, default=None
            Which node each row is, if X is not a DataFrame with labels as its index.

        Returns
        -------
        self
        """
        graphs = self._graphs()
        raw, X = X, read_anywhere(self, X)
        check_parameters(self, X.shape[0])
        labels = labels_for(raw, X, node_ids, graphs)
        self._row_labels = labels_for(raw, X, node_ids, True)
        self._solve(X, y, labels, graphs)
        return self

    def _solve(
        self, X: Any, y: Any, labels: Array | None, graphs: Sources, **how: Any
    ) -> None:
        """Solve for rows that have been read and met; ``how`` as in ``_fit_rows``."""
        rng = generator(self.random_state)
        with threads_of_fit(X.shape[0]):
            self._fit_rows(X, y, labels, graphs, rng, **how)
        self._finish(rng)

    def fit_transform(self, X: Any, y: Any = None, *, node_ids: Any = None) -> Array:
        """Fit and return the embedding of the rows of X."""
        return self.fit(X, y, node_ids=node_ids).embedding_.copy()

    # -- new rows ---------------------------------------------------------------------

    @with_verbose
    def transform(self, X: Any, *, node_ids: Any = None, edges: Any = None) -> Array:
        """Place rows by their features and, where they are known, their edges.

        A row whose label is a row of the fit gets its embedding back (and an error if
        its features differ). A row whose label is another node of the graph is placed
        with that node's edges to the rows of the fit; a row without label or edges by
        its features alone.

        Where no graph has labels, a row equal to a row of the fit gets its embedding
        back: that of the first of several equal ones, unless the leading rows are
        those of the fit in its order. An ``UnlabelledRowsWarning`` tells of rows whose
        edges are unknown.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (m, n_features)
        node_ids : sequence of m labels, default=None
        edges : matrix of shape (m, n), or list of (row, node[, weight]), default=None
            Weights from these rows to the rows of the fit, or a table of edges with
            columns named as for ``Graph``; takes the place of the
            graph's own edges. For several graphs, a dict of these by name.

        Returns
        -------
        array of shape (m, n_components)
        """
        self._ready()
        if is_distributed(X) or self._lies_on_workers():
            return workers().transform_on_workers(self, X, node_ids, edges)
        raw, X = X, self._read(X, reset=False)
        labels = rows.labels_of_rows(raw, node_ids, self._label_keys(), X.shape[0])
        known, weights = self._rows_of_fit().meet(X, labels, edges)
        return self._placed(X, known, weights)

    # -- before a fit -----------------------------------------------------------------

    def plan(self, X: Any) -> Plan:
        """What fitting X would do and cost; X itself is not touched.

        Parameters
        ----------
        X : array, sparse matrix or table, in memory, on disk or of Dask's
            Of Dask's its chunk sizes have to be known, and the bytes are those that
            all workers hold together.

        Returns
        -------
        Plan

        Examples
        --------
        >>> import numpy as np
        >>> from graphfold import GraphKernelPCA
        >>> GraphKernelPCA(2).plan(np.zeros((5000, 20))).storage
        'stored'
        """
        if is_distributed(X):
            return workers().plan_of_collection(self, X)
        X = row_store(check.table("X", X))
        plan = self._plan(self._kernels(X), X, timed=True)
        return with_searches(plan, X, n_recipes(self._graphs()))
