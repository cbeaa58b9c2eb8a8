"""A graph that is known already, in the place of one that a recipe would build."""

from __future__ import annotations

from typing import Any, Self, final

import scipy.sparse as sp

from graphfold.errors import GraphError
from graphfold.graphs.graph import Graph
from graphfold.graphs.recipes import GraphRecipe, check_recipe


@final
class KnownGraph(GraphRecipe):
    """A recipe whose graph of the rows of the fit is given: node i is row i.

    Parameters
    ----------
    graph : Graph
        Of the rows that the recipe is asked about: in a mode, those that have it.
    recipe : GraphRecipe, default=None
        How new rows find their neighbours among those of the fit; None: they have none.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import Graph
    >>> from graphfold.graphs.known import KnownGraph
    >>> KnownGraph(Graph([(0, 2)], nodes=[0, 1, 2])).build(np.zeros((3, 1)))
    Graph(3 nodes, 1 edge, 2 parts, weights 1, labels 0, 1, 2)
    """

    def __init__(self, graph: Graph, recipe: GraphRecipe | None = None) -> None:
        self.graph = graph
        self.recipe = recipe

    def check_parameters(self) -> None:
        if not isinstance(self.graph, Graph):
            raise GraphError(f"graph must be a Graph; got {type(self.graph).__name__}")
        if self.recipe is not None:
            check_recipe(self.recipe)

    def check_bound(self, n_features: int) -> None:
        if self.recipe is not None:
            self.recipe.check_bound(n_features)

    def bind(self, X: Any) -> Self:
        if X.shape[0] != self.graph.n_nodes:
            raise GraphError(
                f"graph must have a node for each of the {X.shape[0]} rows that have "
                f"the mode; got {self.graph.n_nodes}"
            )
        if self.recipe is None:
            return self
        return self.with_params(recipe=self.recipe.bind(X))

    def build(self, X: Any) -> Graph:
        return self.bind(X).graph

    def edges_to(self, X_new: Any, X: Any) -> Any:
        if self.recipe is None:
            return sp.csr_array((X_new.shape[0], X.shape[0]))
        return self.recipe.edges_to(X_new, X)
