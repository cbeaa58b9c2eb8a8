"""Kernels of distances: classical scaling, and geodesics (Isomap).

k(x, y) = -d(x, y)^2 / 2. Centred, H K H, it is the matrix of classical scaling, whose
top eigenvectors are coordinates with these distances.
"""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, shortest_path

from graphfold import check
from graphfold.arrays import Array, aligned, row_blocks, small_indices
from graphfold.errors import KernelError
from graphfold.hints import Sizes, Table
from graphfold.kernels.base import Kernel
from graphfold.kernels.local import warn_of_parts
from graphfold.kernels.products import Gaussian, ProductKernel
from graphfold.neighbors import METRICS, nearest_distinct_rows, neighborhoods
from graphfold.neighbors.approximate import n_threads
from graphfold.neighbors.search import standard_rows, with_marked_zeros
from graphfold.progress import counted

_BLOCK_NUMBERS = 2**22
#: rows from which ways are sought at once
_SOURCES = 256


@final
class ClassicalScaling(ProductKernel):
    """``k(x, y) = -|x - y|^2 / 2``: classical multidimensional scaling.

    With ``center=True`` it equals scikit-learn's ``ClassicalMDS``. For other distances
    than the Euclidean one give ``metric``.

    Parameters
    ----------
    metric : str, default="euclidean"
        euclidean, cosine, correlation, manhattan, chebyshev, hamming or jaccard.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> kernels.ClassicalScaling().block(np.array([[0.0]]), np.array([[2.0]]))
    array([[-2.]])
    """

    def __init__(self, metric: str = "euclidean") -> None:
        self.metric = metric

    def check_parameters(self) -> None:
        check.one_of("metric", self.metric, METRICS)

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        self.check_parameters()
        return self

    @property
    def of_products(self) -> bool:
        return self.metric == "euclidean"

    # distances lose digits far from the origin
    def origin(self, like: Any) -> Array | None:
        return Gaussian().origin(like)

    def moved(self, X: Any, origin: Array | None) -> Any:
        return Gaussian().moved(X, origin)

    def finish(self, products: Array, norms_x: Array, norms_y: Array) -> Array:
        products -= 0.5 * norms_x
        products -= 0.5 * norms_y
        return np.minimum(products, 0, out=products)

    def of_norms(self, norms: Array) -> Array:
        return np.zeros_like(norms)

    def block(self, X: Any, Y: Any) -> Array:
        if self.metric == "euclidean":
            return super().block(X, Y)
        return of_distances(self._distances(X, Y), X.dtype)

    def gram(self, X: Any) -> Array:
        if self.metric == "euclidean":
            return super().gram(X)
        distances = self._distances(X, X)
        return of_distances((distances + distances.T) / 2, X.dtype)

    def _distances(self, X: Any, Y: Any) -> Array:
        if self.metric in ("cosine", "correlation"):
            X, Y = (with_marked_zeros(standard_rows(p, self.metric)) for p in (X, Y))
            products = X @ Y.T
            if sp.issparse(products):
                products = products.toarray()
            return np.asarray(np.clip(1.0 - products, 0.0, 2.0))
        # imported here: it would double the import time of the package
        from sklearn.metrics import pairwise_distances

        X, Y = (aligned(self._for_metric(part)) for part in (X, Y))
        return np.asarray(pairwise_distances(X, Y, metric=self.metric))

    def _for_metric(self, X: Any) -> Any:
        if self.metric == "jaccard":
            X = X.astype(bool)
        keeps_sparse = self.metric == "manhattan"
        return X.toarray() if sp.issparse(X) and not keeps_sparse else X


@final
class Geodesic(Kernel):
    """``k(x, y) = -g(x, y)^2 / 2``, g the length of the way through neighbours: Isomap.

    Parameters
    ----------
    n_neighbors : int, default=10
        Clipped to the number of other distinct rows. Parts that have no way between
        them are joined by their shortest links, with a warning.
    metric : str, default="euclidean"
        Length of a step.
    n_jobs : int, default=None
    rows, ways : arrays, default=None
        The rows of the fit and the lengths of their steps; set by ``bind``.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> angle = np.linspace(0, np.pi, 50)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> k = kernels.Geodesic(2).bind(arc, np.random.default_rng(0))
    >>> float(np.sqrt(-2 * k.gram(arc)[0, -1]).round(2))  # half a circle, not 2.0
    3.14
    """

    pointwise = False

    def __init__(
        self,
        n_neighbors: int = 10,
        metric: str = "euclidean",
        n_jobs: int | None = None,
        rows: Any = None,
        ways: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs
        self.rows = rows
        self.ways = ways

    def check_parameters(self) -> None:
        check.integer_between("n_neighbors", self.n_neighbors, 1, 2**31)
        check.one_of("metric", self.metric, METRICS)
        n_threads(self.n_jobs)

    def check_bound(self, n_features: int) -> None:
        sizes = Sizes()
        Table("n", n_features).check("rows", self.rows, sizes)
        if not sp.issparse(self.ways):
            raise KernelError("ways of kernel Geodesic must be a sparse matrix")
        shortest = float(np.finfo(np.float64).tiny)
        Table("n", "n", low=shortest).check("ways", self.ways, sizes)
        once = self.ways.has_canonical_format
        if not once or abs(self.ways - self.ways.T).max() > 0:
            raise KernelError("ways of kernel Geodesic must be as long there as back")
        if connected_components(self.ways, directed=False)[0] != 1:
            raise KernelError("ways of kernel Geodesic must join all rows")

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        self.check_parameters()
        k = int(self.n_neighbors)
        found = neighborhoods(X, k, metric=self.metric, n_jobs=self.n_jobs)
        if found.n_parts > 1:
            warn_of_parts(found.n_parts, k)
        steps = found.lengths()
        ways = small_indices(sp.csr_array(steps.maximum(steps.T)))
        return self.with_params(rows=X, ways=ways)

    def gram(self, X: Any) -> Array:
        self._check_rows(X)
        n = X.shape[0]
        distances = np.empty((n, n))
        for rows in counted("ways between rows", row_blocks(n, _SOURCES)):
            start = np.arange(rows.start, rows.stop)
            distances[rows] = shortest_path(
                self.ways, method="D", directed=False, indices=start
            )
        return of_distances(np.minimum(distances, distances.T), X.dtype)

    def block(self, X: Any, Y: Any) -> Array:
        """k(x, y) for rows x of X, Y being the rows of the fit.

        A new row has steps to its nearest rows of the fit, and none lead back to it.
        """
        self._check_rows(Y)
        n, m = Y.shape[0], X.shape[0]
        distances, members = nearest_distinct_rows(
            X, self.n_neighbors, self.rows, metric=self.metric, n_jobs=self.n_jobs
        )
        k = members.shape[1]
        values = np.empty((m, n), dtype=X.dtype)
        blocks = row_blocks(m, max(1, _BLOCK_NUMBERS // n))
        for rows in counted("ways to new rows", blocks):
            count = rows.stop - rows.start
            starts = np.arange(0, count * k + 1, k)
            length = np.maximum(distances[rows].ravel(), np.finfo(np.float64).tiny)
            steps = sp.csr_array(
                (length, members[rows].ravel(), starts), shape=(count, n)
            )
            both = sp.csr_array(sp.vstack([self.ways, steps]))
            both.resize((n + count, n + count))
            both = small_indices(both)
            found = shortest_path(both, method="D", indices=np.arange(n, n + count))
            values[rows] = of_distances(found[:, :n], X.dtype)
        return values

    def _check_rows(self, X: Any) -> None:
        if self.rows is None or X.shape[0] != self.rows.shape[0]:
            raise KernelError("kernel Geodesic knows the rows it was bound to only")

    def diagonal(self, X: Any) -> Array:
        return np.zeros(X.shape[0], dtype=X.dtype)

    def factor(self, X: Any) -> Any:
        return None


def of_distances(distances: Array, dtype: Any) -> Array:
    """-d^2 / 2."""
    values = np.square(distances)
    values *= -0.5
    return np.asarray(values, dtype=dtype)
