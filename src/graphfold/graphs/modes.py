"""A graph of one mode: some columns of a table, for the rows that have them."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array
from graphfold.graphs.graph import Graph
from graphfold.graphs.recipes import GraphRecipe, check_recipe


@final
class ModeGraph(GraphRecipe):
    """A recipe that looks at some columns only, and at rows that have values there.

    Parameters
    ----------
    recipe : GraphRecipe
    start, stop : int
        The columns from ``start`` up to, not including, ``stop``.
    presence : int
        The column that is 1 where a row has this mode and 0 where it misses it.
    dense : bool, default=False
        Hand the columns on as a dense array where the table is sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import NeighborGraph
    >>> from graphfold.graphs.modes import ModeGraph
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [9.0, 0.0]])
    >>> ModeGraph(NeighborGraph(1), 0, 1, 1).build(X)
    Graph(3 nodes, 1 edge, 2 parts, weights 1, no labels)
    """

    def __init__(
        self,
        recipe: GraphRecipe,
        start: int,
        stop: int,
        presence: int,
        dense: bool = False,
    ) -> None:
        self.recipe = recipe
        self.start = start
        self.stop = stop
        self.presence = presence
        self.dense = dense

    def check_parameters(self) -> None:
        check_recipe(self.recipe)
        start = check.integer_between("start", self.start, 0, 2**31)
        check.integer_between("stop", self.stop, start + 1, 2**31)
        check.integer_between("presence", self.presence, 0, 2**31)
        check.flag("dense", self.dense)

    def check_bound(self, n_features: int) -> None:
        check.integer_between("stop", self.stop, 1, n_features)
        check.integer_between("presence", self.presence, 0, n_features - 1)
        self.recipe.check_bound(self.stop - self.start)

    def present(self, X: Any) -> Array | None:
        column = X[:, [self.presence]]
        dense = column.toarray() if sp.issparse(column) else column
        known = np.asarray(dense).ravel() > 0
        return None if known.all() else known

    def _rows(self, X: Any) -> tuple[Any, Array]:
        """The columns of the rows that have the mode, and which rows they are."""
        known = self.present(X)
        rows = np.arange(X.shape[0]) if known is None else np.flatnonzero(known)
        values = X[rows][:, self.start : self.stop]
        if self.dense and sp.issparse(values):
            values = values.toarray()
        return values, rows

    def bind(self, X: Any) -> Self:
        return self.with_params(recipe=self.recipe.bind(self._rows(X)[0]))

    def build(self, X: Any) -> Graph:
        values, rows = self._rows(X)
        graph = self.recipe.build(values)
        if len(rows) == X.shape[0]:
            return graph
        n = X.shape[0]
        return Graph._unchecked(_placed(graph.to_scipy(), rows, rows, (n, n)))

    def edges_to(self, X_new: Any, X: Any) -> Any:
        new, new_rows = self._rows(X_new)
        old, old_rows = self._rows(X)
        shape = (X_new.shape[0], X.shape[0])
        if len(new_rows) == 0:
            return sp.csr_array(shape)
        return _placed(self.recipe.edges_to(new, old), new_rows, old_rows, shape)


def _placed(matrix: Any, rows: Array, columns: Array, shape: tuple[int, int]) -> Any:
    """A matrix of some rows and columns as one of all of them."""
    entries = sp.coo_array(matrix)
    where = (rows[entries.row], columns[entries.col])
    return sp.csr_array((entries.data, where), shape=shape)
