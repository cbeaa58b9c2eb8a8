"""Methods of others that are special cases of ours, under their own names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check, io
from graphfold.arrays import Array
from graphfold.errors import GraphError
from graphfold.estimators.fitting import Sources
from graphfold.estimators.graph_kernel_pca import GraphKernelPCA
from graphfold.estimators.row_embedding import RowEmbedding
from graphfold.estimators.rows import refuse_rows_without_edges
from graphfold.estimators.states import Rows, checker
from graphfold.graphs import Laplacian, NeighborGraph
from graphfold.graphs.laplacian import inverse_sqrt
from graphfold.kernels import Kernel
from graphfold.model.problem import Problem
from graphfold.model.strength import data_scale
from graphfold.solvers import Eigenpairs, top_eigenpairs


@io.register
class LaplacianEigenmaps(RowEmbedding):
    """The smoothest coordinates on a graph: K = 0, R = -L.

    The problem of :class:`GraphKernelPCA` without a kernel. With the normalised
    Laplacian the columns solve L_0 y = lambda D y, L_0 = D - A, as scikit-learn's
    ``SpectralEmbedding`` does; the solution for lambda = 0 is kept out. New rows are
    placed by their edges.

    Parameters
    ----------
    n_components : int, default=2
    graph : Graph, recipe or anything Graph takes, default=None
        None: each row and its ``n_neighbors`` nearest rows, weighed by their distance
        (heat), parts joined by their shortest links, so that distinct rows stay so.
    n_neighbors : int, default=10
        Where ``graph`` is None.
    laplacian : {"normalized", "combinatorial"}, default="normalized"
    solver, tol, max_iter, random_state, verbose :
        As in :class:`GraphKernelPCA`.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_ : of the Laplacian, the smallest first
    graph_, residuals_, converged_, n_graph_components_, warnings_, ... :
        As in :class:`GraphKernelPCA`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from graphfold import LaplacianEigenmaps
    >>> X = load_digits().data[:300]
    >>> LaplacianEigenmaps(2).fit_transform(X).shape
    (300, 2)
    """

    # what the general problem is told, and nobody can change
    response = None
    graph_strength = 1.0
    normalize = False
    weights = "equal"
    weight_norm = 2.0
    center = False
    scaling = "orthonormal"
    max_memory = None
    align_to = None

    def __init__(
        self,
        n_components: int = 2,
        *,
        graph: Any = None,
        n_neighbors: int = 10,
        laplacian: str = "normalized",
        solver: str = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.laplacian = laplacian
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    _check_loaded = checker(Rows)

    def _kernels(self, X: Any) -> dict[str, Kernel]:
        return {}

    def _graphs(self) -> Sources:
        if self.graph is None:
            # by distance: rows with the same neighbours would else coincide
            recipe = NeighborGraph(self.n_neighbors, weight="heat", joined=True)
            return {"graph": recipe}
        return only_one(super()._graphs(), "kernel=None")

    def _trivial(self, laplacians: Mapping[str, Laplacian]) -> Array | None:
        (L,) = laplacians.values()
        flat = np.sqrt(L.degrees) if L.kind == "normalized" else np.ones(L.n)
        flat = flat / flat.max()  # squares of tiny ones are rounded, or 0
        return np.asarray(flat / np.linalg.norm(flat))

    def _eigenvalues(self, pairs: Eigenpairs) -> Array:
        return np.asarray(-pairs.values + 0.0)

    def _turn(self, values: Array, V: Array) -> None:
        super()._turn(values, V)
        if self.laplacian == "normalized":
            (share,) = self._extension.graphs
            row_scales = _as_numbers(inverse_sqrt(share.degrees), V.dtype)
            self.embedding_ = self.embedding_ * row_scales[:, None]

    def _placed(self, X: Any, known: Array, weights: Any) -> Array:
        refuse_rows_without_edges(known, weights)
        Z = self._extension.place(X, weights)
        if self.laplacian == "normalized":
            (edges,) = weights.values()
            degrees = np.zeros(len(Z))
            if edges is not None:
                degrees = np.asarray(sp.csr_array(edges).sum(axis=1)).ravel()
            Z = Z * inverse_sqrt(degrees).astype(Z.dtype)[:, None]
        Z[known >= 0] = self.embedding_[known[known >= 0]]
        return np.asarray(Z)


def _as_numbers(inverse_roots: Array, dtype: Any) -> Array:
    """1 / sqrt(degree) in the precision of the rows, which has to hold it."""
    largest, most = float(inverse_roots.max()), float(np.finfo(dtype).max) / 1e3
    if largest > most:
        raise GraphError(
            f"graph weights must give degrees of at least {most**-2:.2g}, whose "
            f"inverse roots are numbers in {dtype}; got {largest**-2:.3g}: multiply "
            "the weights by a number, or pass X in float64"
        )
    return inverse_roots.astype(dtype)


@io.register
class GraphLaplacianPCA(GraphKernelPCA):
    """Graph-Laplacian PCA: the linear kernel and one graph, weighed by ``beta``.

    The bottom of (1 - beta)(I - K / max K) + beta L / max L, K = X X' and max the
    largest eigenvalue: :class:`GraphKernelPCA` with the linear kernel at strength
    beta / (1 - beta), strength being measured in largest eigenvalues.

    Parameters
    ----------
    n_components : int, default=2
    beta : float, default=0.5
        0 is PCA, 1 is Laplacian eigenmaps without a kernel.
    graph : Graph, recipe or anything Graph takes, default=None
        None: each row and its ``n_neighbors`` nearest rows.
    n_neighbors : int, default=10
        Where ``graph`` is None.
    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
    center : bool, default=True
        Centre X and keep the constant vector out of the answer.
    scaling : {"orthonormal", "eigenvalue", "unit"}, default="orthonormal"
    solver, max_memory, align_to, fit_inverse_transform, alpha, tol, max_iter, \
random_state, verbose :
        As in :class:`GraphKernelPCA`.

    Attributes
    ----------
    embedding_, eigenvalues_, components_, warnings_, ... :
        As in :class:`GraphKernelPCA`.

    References
    ----------
    Jiang, Ding, Luo, Tang: Graph-Laplacian PCA: closed-form solution and robustness,
    CVPR 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from graphfold import GraphLaplacianPCA
    >>> X = load_digits().data[:300]
    >>> GraphLaplacianPCA(2, beta=0.3).fit_transform(X).shape
    (300, 2)
    """

    # what the general problem is told, and nobody can change
    gamma = None
    degree = 3
    coef0 = 1
    kernel_params = None
    response = None
    normalize = True
    weights = "equal"
    weight_norm = 2.0

    def __init__(
        self,
        n_components: int = 2,
        *,
        beta: float = 0.5,
        graph: Any = None,
        n_neighbors: int = 10,
        laplacian: str = "combinatorial",
        center: bool = True,
        scaling: str = "orthonormal",
        solver: str = "auto",
        max_memory: int | str | None = None,
        align_to: Any = None,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        tol: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.beta = beta
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.laplacian = laplacian
        self.center = center
        self.scaling = scaling
        self.solver = solver
        self.max_memory = max_memory
        self.align_to = align_to
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @property
    def kernel(self) -> str | None:
        """The linear kernel; none where the graph has all the weight."""
        return None if self.beta == 1 else "linear"

    @property
    def graph_strength(self) -> float:  # type: ignore[override]
        """beta as a strength."""
        beta = check.between("beta", self.beta, 0, 1)
        return 1.0 if beta == 1 else beta / (1 - beta)

    def _graphs(self) -> Sources:
        if self.graph is None:
            return {"graph": NeighborGraph(self.n_neighbors)}
        return only_one(super()._graphs(), 'kernel="linear"')

    def _scales_of(
        self, problem: Problem, laplacians: Mapping[str, Laplacian], how: dict[str, Any]
    ) -> tuple[float, float, Array | None]:
        """Both sides in their largest eigenvalue."""
        top, start = data_scale(problem, self.n_components, **how)
        (L,) = laplacians.values()
        name = "largest eigenvalue of the graph"
        pairs = top_eigenpairs(L.operator, 1, tol=1e-6, rng=how["rng"], name=name)
        return top / float(pairs.values[0]), top, start


def only_one(graphs: Sources, kernel: str) -> Sources:
    """The graphs, if there is one; a special case has no weights to learn."""
    if len(graphs) > 1:
        raise GraphError(
            f"graph must be one graph; got {len(graphs)}: use "
            f"GraphKernelPCA({kernel}, graph=[...]) for several"
        )
    return graphs
