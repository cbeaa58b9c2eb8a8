"""Graph recipes: rules that build a graph from X at fit, so they work inside CV."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, Self, final

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphError
from graphfold.graphs.graph import Graph
from graphfold.neighbors import (
    Neighbors,
    find_neighbors,
    nearest_distinct_rows,
    neighborhoods,
)
from graphfold.neighbors.choose import check_search
from graphfold.neighbors.search import standard_rows, strips
from graphfold.params import Params
from graphfold.progress import counted

WEIGHTS = ("binary", "similarity", "heat")
#: least weight of an edge where parts are joined: a long way must not count as none
JOINING = 1e-3


class GraphRecipe(Params):
    """A rule for edges between rows: among those of the fit, and from new ones."""

    @abstractmethod
    def bind(self, X: Any) -> Self:
        """This recipe with every rule replaced by a number that X suggests."""

    def check_bound(self, n_features: int) -> None:
        """Raise unless new rows of so many columns can be met.

        Of a recipe that was bound and comes from a file; its parameters are checked.
        """

    def present(self, X: Any) -> Array | None:
        """Which rows the recipe knows anything of; None if all of them."""
        return None

    @abstractmethod
    def build(self, X: Any) -> Graph:
        """The graph of the rows of X."""

    @abstractmethod
    def edges_to(self, X_new: Any, X: Any) -> Any:
        """Weights from new rows to the rows of the fit, a CSR array."""


@final
class NeighborGraph(GraphRecipe):
    """Each row linked to its nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=10
        Clipped to n - 1.
    metric : str, default="euclidean"
        euclidean, cosine, correlation, manhattan, chebyshev, hamming or jaccard.
    weight : {"binary", "similarity", "heat"}, default="binary"
        1; or 1 - distance for cosine, correlation, hamming and jaccard and
        1 / (1 + distance) for the others; or exp(-distance^2 / (2 scale^2)).
    mode : {"union", "mutual"}, default="union"
        An edge where either row chose the other, or only where both did.
    joined : bool, default=False
        Join parts that have no edge between them by their shortest links. Neighbours
        are then sought among distinct rows, a copy is linked to its original, and no
        edge has a weight below 1e-3.
    scale : float or "auto", default="auto"
        Width of the heat weight; "auto" is the median distance to the last neighbour.
    n_jobs : int, default=None
        Threads; as in ``sklearn.neighbors`` for the exact search, all cores by default
        for the approximate one, whose answer does not depend on it.
    search : {"auto", "exact", "approximate"}, default="auto"
        "auto" compares all pairs of rows where that takes some ten seconds at most;
        beyond that dense rows with the euclidean, cosine or correlation metric are
        searched approximately: at least 0.99 of the neighbours of a sample of rows are
        found. ``joined=True`` is always exact. New rows are searched as by "auto".
    random_state : int, default=None
        Seed of the approximate search. None counts as 0, so that a graph is the same
        whenever it is built.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import NeighborGraph
    >>> NeighborGraph(n_neighbors=1).build(np.array([[0.0], [1.0], [5.0]]))
    Graph(3 nodes, 2 edges, 1 part, weights 1, no labels)
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        metric: str = "euclidean",
        weight: Literal["binary", "similarity", "heat"] = "binary",
        mode: Literal["union", "mutual"] = "union",
        scale: float | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        joined: bool = False,
        search: Literal["auto", "exact", "approximate"] = "auto",
        random_state: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weight = weight
        self.mode = mode
        self.scale = scale
        self.n_jobs = n_jobs
        self.joined = joined
        self.search = search
        self.random_state = random_state

    def check_parameters(self) -> None:
        check.integer_between("n_neighbors", self.n_neighbors, 1, 2**31)
        check_search(self.metric, self.search, self.random_state, self.n_jobs)
        check.one_of("weight", self.weight, WEIGHTS)
        check.one_of("mode", self.mode, ("union", "mutual"))
        if check.flag("joined", self.joined) and self.mode == "mutual":
            raise GraphError(
                'mode must be "union" with joined=True: an edge that only one of its '
                "ends has chosen may be all that joins two parts"
            )
        if self.joined and self.search == "approximate":
            raise GraphError(
                'search must be "auto" or "exact" with joined=True: the shortest links '
                "between parts are sought exactly"
            )
        if not isinstance(self.scale, str) or self.scale != "auto":
            check.at_least("scale", self.scale, 0, strict=True)

    def check_bound(self, n_features: int) -> None:
        if self.weight == "heat":
            check.at_least("scale", self.scale, 0, strict=True)

    def bind(self, X: Any) -> Self:
        self.check_parameters()
        if self.weight != "heat" or self.scale != "auto":
            return self
        rows = np.linspace(0, X.shape[0] - 1, min(X.shape[0], 2000)).astype(int)
        k = min(self.n_neighbors + 1, X.shape[0])  # the row itself is among them
        last = self._search(X[rows], k, among=X).distances[:, -1]
        positive = last[last > 0]
        return self.with_params(
            scale=float(np.median(positive)) if len(positive) else 1.0
        )

    def build(self, X: Any) -> Graph:
        n = X.shape[0]
        if n < 2:
            return Graph._unchecked(sp.csr_array((n, n)))
        chosen = self.bind(X)._chosen(X)
        merge = chosen.maximum if self.mode == "union" else chosen.minimum
        return Graph._unchecked(merge(chosen.T))

    def _chosen(self, X: Any) -> Any:
        """The edges that each row has chosen."""
        n = X.shape[0]
        if not self.joined:
            found = self.neighbors(X)
            return self._edges(found.distances, found.indices, n)
        joined = neighborhoods(
            X, self.n_neighbors, metric=self.metric, n_jobs=self.n_jobs
        )
        weights = self.weigh(joined.distances)
        return sp.csr_array((weights, joined.indices, joined.starts), shape=(n, n))

    def edges_to(self, X_new: Any, X: Any) -> Any:
        k = min(self.n_neighbors, X.shape[0])
        if self.joined:
            distances, indices = nearest_distinct_rows(
                X_new, k, X, metric=self.metric, n_jobs=self.n_jobs
            )
        else:
            found = self._search(X_new, k, among=X)
            distances, indices = found.distances, found.indices
        return self._edges(distances, indices, X.shape[0])

    def neighbors(self, X: Any) -> Neighbors:
        """The nearest rows that ``build`` links, and the recall of the search.

        Not for ``joined=True``, which has neighbourhoods of its own.
        """
        return self._search(X, min(self.n_neighbors, X.shape[0] - 1))

    def _search(self, X: Any, k: int, among: Any = None) -> Neighbors:
        # a few rows among many are not worth an index of the many
        asked = "auto" if among is not None and self.search != "exact" else self.search
        return find_neighbors(
            X,
            k,
            metric=self.metric,
            among=among,
            search=asked,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _edges(self, distances: Array, indices: Array, n: int) -> Any:
        m, k = indices.shape
        starts = np.arange(0, m * k + 1, k)
        weights = self.weigh(distances).ravel()
        edges = sp.csr_array((weights, indices.ravel(), starts), shape=(m, n))
        edges.eliminate_zeros()
        return edges

    def weigh(self, distances: Array) -> Array:
        """Weights of edges of some lengths; ``scale`` has to be a number."""
        weights = self._weights_of(distances)
        return np.maximum(weights, JOINING) if self.joined else weights

    def _weights_of(self, distances: Array) -> Array:
        if self.weight == "binary":
            return np.ones(distances.shape)
        if self.weight == "heat":
            widths = distances.astype(np.float64) / float(self.scale)
            # beyond a hundred widths the weight is 0, whatever the square is
            return np.exp(-0.5 * np.square(np.minimum(widths, 100.0)))
        if self.metric in ("cosine", "correlation", "hamming", "jaccard"):
            similarity = 1.0 - distances
            rounding = 100 * np.finfo(similarity.dtype).eps
            return np.where(similarity > rounding, similarity, 0.0)
        return 1.0 / (1.0 + distances)


@final
class CorrelationGraph(GraphRecipe):
    """Rows linked by how alike they are, the paper's graph of the data.

    a_ij is the correlation of rows i and j (or their cosine, ``metric="cosine"``),
    for all pairs or for each row's ``n_neighbors`` largest.

    Parameters
    ----------
    n_neighbors : int or None, default=100
        The paper's 100 largest; ``None`` keeps every pair (n^2 weights).
    metric : {"correlation", "cosine"}, default="correlation"
    negative : {"clip", "abs", "keep"}, default="clip"
        What to do with negative similarities: drop them, take their size, or keep
        them, which is the paper's letter but makes L indefinite (warned at fit).

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import CorrelationGraph
    >>> X = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.5], [3.0, 1.0, 0.0]])
    >>> CorrelationGraph(n_neighbors=None).build(X)
    Graph(3 nodes, 1 edge, 2 parts, weights 0.9979, no labels)
    """

    def __init__(
        self,
        n_neighbors: int | None = 100,
        metric: Literal["correlation", "cosine"] = "correlation",
        negative: Literal["clip", "abs", "keep"] = "clip",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.negative = negative

    def check_parameters(self) -> None:
        if self.n_neighbors is not None:
            check.integer_between("n_neighbors", self.n_neighbors, 1, 2**31)
        check.one_of("metric", self.metric, ("correlation", "cosine"))
        check.one_of("negative", self.negative, ("clip", "abs", "keep"))

    def bind(self, X: Any) -> Self:
        self.check_parameters()
        return self

    def build(self, X: Any) -> Graph:
        if X.shape[0] < 2:
            return Graph._unchecked(sp.csr_array((X.shape[0],) * 2))
        rows = standard_rows(X, self.metric)
        chosen = self._similar(rows, rows, themselves=True)
        if self.n_neighbors is None:
            return Graph._unchecked((chosen + chosen.T) / 2)
        # chosen by either end; an edge that both chose is counted once
        union = chosen + chosen.T - chosen.multiply(chosen.T != 0)
        return Graph._unchecked((union + union.T) / 2)

    def edges_to(self, X_new: Any, X: Any) -> Any:
        new, old = standard_rows(X_new, self.metric), standard_rows(X, self.metric)
        return self._similar(new, old, themselves=False)

    def _similar(self, X: Any, Y: Any, *, themselves: bool) -> Any:
        n = Y.shape[0]
        k = n if self.n_neighbors is None else min(self.n_neighbors, n - themselves)
        parts = []
        for rows in counted("comparing rows", strips(X.shape[0], n)):
            similarity = X[rows] @ Y.T
            if sp.issparse(similarity):
                similarity = similarity.toarray()
            if self.negative == "abs":
                np.abs(similarity, out=similarity)
            if themselves:
                own = np.arange(rows.start, rows.stop)
                similarity[own - rows.start, own] = -np.inf
            parts.append(self._largest(similarity, k))
        stacked = sp.csr_array(sp.vstack(parts))
        stacked.eliminate_zeros()
        return stacked

    def _largest(self, similarity: Array, k: int) -> Any:
        m, n = similarity.shape
        if k < n:
            indices = np.argpartition(similarity, n - k, axis=1)[:, n - k :]
            values = np.take_along_axis(similarity, indices, axis=1)
        else:
            indices = np.tile(np.arange(n), (m, 1))
            values = similarity
        values = np.where(np.isfinite(values), values, 0.0)
        if self.negative == "clip":
            values = np.maximum(values, 0.0)
        starts = np.arange(0, values.size + 1, values.shape[1])
        return sp.csr_array((values.ravel(), indices.ravel(), starts), shape=(m, n))


def check_recipe(recipe: Any) -> None:
    """Raise unless a part of a recipe is a recipe, with parameters in their range."""
    if not isinstance(recipe, GraphRecipe):
        raise GraphError(f"recipe must be a recipe; got {type(recipe).__name__}")
    recipe.check_parameters()
