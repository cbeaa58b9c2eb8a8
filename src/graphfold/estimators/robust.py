"""``RobustGraphPCA`` and ``FastRobustGraphPCA``: gross errors taken out on graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check, io
from graphfold.estimators import robust_graphs
from graphfold.estimators.robust_base import RobustEmbedding
from graphfold.graphs import Graph, laplacian
from graphfold.model.robust import RobustProblem, solve_robust
from graphfold.model.robust_fast import FastProblem, solve_fast
from graphfold.model.separation import Observed, Separation, refuse_too_strong


@io.register
class RobustGraphPCA(RobustEmbedding):
    """PCA of data with gross errors, on a graph of the samples (RPCAG).

    X = Z + S: Z of low rank and smooth on the graph, S sparse. Z minimises
    ``|Z|_* + l |X - Z|_1 + g tr(Z'LZ)``, the sum of singular values, of absolute
    errors, and of squared differences along edges, with g = l ``graph_strength``; the
    embedding is the PCA of Z. Each iteration costs some products with L and the
    singular vectors above a threshold: O(n D k) for a rank k far below n and D, else
    O(n D min(n, D)).

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the embedding, at most min(n, n_features).
    graph : Graph, recipe, anything Graph takes, or None, default=None
        A known graph of the samples (rows meet its nodes by label), or a rule that
        builds one from X; None is ``NeighborGraph(7)``. Where entries of X are missing
        a rule sees the medians of their columns.
    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        The normalised one, used by the authors, pulls rows with few neighbours
        towards zero.
    graph_strength : float, default=1.0
        Weight of the graph beside the absolute errors, g / l, as in
        ``FastRobustGraphPCA`` and in the authors' code. It has units: X times 10
        needs a tenth. 0 is robust PCA without a graph.
    sparsity : float or None, default=None
        The l of the formula; None is 1 / sqrt(max(n, n_features)).
    center : bool, default=True
        Subtract the mean of Z before its singular vectors are taken. X itself is
        never centred.
    scaling : {"eigenvalue", "orthonormal", "unit"}, default="eigenvalue"
        Column i is u_i s_i, of length one, or of unit variance.
    tol : float, default=1e-3
        Asked of ``optimality_residual_``, the relative duality gap: no Z has an
        objective smaller by more than this share.
    max_iter : int, default=1000
    max_memory : int or str, default=None
        Bytes, or a text such as "2GB", beyond X and the graph: a fit that would take
        more is refused beforehand. ``plan`` says what it would take.
    random_state : int, RandomState or None, default=None
        Seeds the start of the singular vectors; None is a fixed seed.
    verbose : int, default=0
        1 shows the stage and its rounds on one line of a terminal, and nothing
        elsewhere; 2 writes each as a line to the standard error stream.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : right singular vectors of Z, as rows
    singular_values_ : of Z, centred if ``center``
    mean_ : mean of the rows of Z; 0 without ``center``
    low_rank_ : Z, complete also where entries of X are missing
    sparse_ : S = X - Z, and 0 where an entry is missing
    objective_, objective_trace_ : the best objective, and that of each iteration
    optimality_residual_, converged_, n_iter_ : how good it is and what it took
    warnings_ : (category, message) of each warning of the fit
    sparsity_ : the l used
    graph_ : the graph of the rows of the fit
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    References
    ----------
    Shahid, Kalofolias, Bresson, Bronstein, Vandergheynst: Robust principal component
    analysis on graphs, ICCV 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import RobustGraphPCA
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(np.linspace(-1, 1, 40), np.ones(6))
    >>> X[rng.random(X.shape) < 0.1] = 5.0
    >>> X[3, 2] = np.nan
    >>> model = RobustGraphPCA(1).fit(X)
    >>> model.embedding_.shape, bool(np.isfinite(model.low_rank_).all())
    ((40, 1), True)
    """

    _method = "admm"

    def __init__(
        self,
        n_components: int = 2,
        *,
        graph: Any = None,
        laplacian: str = "combinatorial",
        graph_strength: float = 1.0,
        sparsity: float | None = None,
        center: bool = True,
        scaling: str = "eigenvalue",
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_memory: int | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.laplacian = laplacian
        self.graph_strength = graph_strength
        self.sparsity = sparsity
        self.center = center
        self.scaling = scaling
        self.tol = tol
        self.max_iter = max_iter
        self.max_memory = max_memory
        self.random_state = random_state
        self.verbose = verbose

    def _check_own_parameters(self) -> None:
        if self.sparsity is not None:
            check.at_least("sparsity", self.sparsity, 0, strict=True)

    def _separate(
        self,
        data: Observed,
        graph: Graph | None,
        rng: np.random.Generator,
    ) -> Separation:
        n, D = data.X.shape
        default = 1 / np.sqrt(max(n, D))
        self.sparsity_ = float(default if self.sparsity is None else self.sparsity)
        if graph is None:
            graph = Graph._unchecked(sp.csr_array((n, n)))
        unit = data.unit  # of the three terms the graph's alone is quadratic in it
        problem = RobustProblem(
            data.over(unit),
            laplacian(graph, self.laplacian, data.X.dtype),
            self.sparsity_,
            self.sparsity_ * float(self.graph_strength) * unit,
        )
        refuse_too_strong(problem.data, 2 * problem.strength * problem.L.bound)
        how: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        return solve_robust(problem, rng=rng, **how).times(unit)


@io.register
class FastRobustGraphPCA(RobustEmbedding):
    """PCA of data with gross errors, on graphs of samples and features (FRPCAG).

    X = Z + S: Z smooth on both graphs, and thereby of nearly low rank, S sparse. Z
    minimises ``|X - Z|_1 + g1 tr(Z'L1Z) + g2 tr(Z L2 Z')``; no singular vectors are
    needed but for the embedding, the PCA of Z. Each iteration costs one product with
    each Laplacian.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the embedding, at most min(n, n_features).
    graph : Graph, recipe, anything Graph takes, or None, default=None
        A known graph of the samples (rows meet its nodes by label), or a rule that
        builds one from X; None is ``NeighborGraph(7)``. Where entries of X are missing
        a rule sees the medians of their columns.
    feature_graph : Graph, recipe, anything Graph takes, or None, default=None
        The same of the features: nodes are columns by name, or by position where the
        graph has no labels. None is ``NeighborGraph(7)`` of the columns; for a single
        graph use ``feature_strength=0``.
    laplacian : {"combinatorial", "normalized"}, default="combinatorial"
        Of both graphs. The normalised one, used by the authors, pulls rows with few
        neighbours towards zero.
    graph_strength : float, default=1.0
        The g1 of the formula. It has units: X times 10 needs a tenth.
    feature_strength : float, default=1.0
        The g2 of the formula; 0 leaves the features' graph out.
    center : bool, default=True
        Subtract the mean of Z before its singular vectors are taken. X itself is
        never centred.
    scaling : {"eigenvalue", "orthonormal", "unit"}, default="eigenvalue"
        Column i is u_i s_i, of length one, or of unit variance.
    tol : float, default=1e-3
        Asked of ``optimality_residual_``: the root mean square, over the entries of X,
        of a subgradient of the objective at Z; the l1 error alone has slope 1.
    max_iter : int, default=1000
    max_memory : int or str, default=None
        Bytes, or a text such as "2GB", beyond X and the graph: a fit that would take
        more is refused beforehand. ``plan`` says what it would take.
    random_state : int, RandomState or None, default=None
        Seeds the start of the singular vectors; None is a fixed seed.
    verbose : int, default=0
        1 shows the stage and its rounds on one line of a terminal, and nothing
        elsewhere; 2 writes each as a line to the standard error stream.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    components_ : right singular vectors of Z, as rows
    singular_values_ : of Z, centred if ``center``
    mean_ : mean of the rows of Z; 0 without ``center``
    low_rank_ : Z, complete also where entries of X are missing
    sparse_ : S = X - Z, and 0 where an entry is missing
    objective_, objective_trace_ : the last objective, and that of each iteration
    optimality_residual_, converged_, n_iter_ : how good it is and what it took
    warnings_ : (category, message) of each warning of the fit
    graph_, feature_graph_ : the graphs of the rows and columns of the fit, or None
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    References
    ----------
    Shahid, Perraudin, Kalofolias, Puy, Vandergheynst: Fast robust PCA on graphs, IEEE
    Journal of Selected Topics in Signal Processing 10(4), 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import FastRobustGraphPCA
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(np.linspace(-1, 1, 40), np.ones(6))
    >>> X[rng.random(X.shape) < 0.1] = 5.0
    >>> FastRobustGraphPCA(1).fit_transform(X).shape
    (40, 1)
    """

    _method = "fista"

    def __init__(
        self,
        n_components: int = 2,
        *,
        graph: Any = None,
        feature_graph: Any = None,
        laplacian: str = "combinatorial",
        graph_strength: float = 1.0,
        feature_strength: float = 1.0,
        center: bool = True,
        scaling: str = "eigenvalue",
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_memory: int | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.feature_graph = feature_graph
        self.laplacian = laplacian
        self.graph_strength = graph_strength
        self.feature_strength = feature_strength
        self.center = center
        self.scaling = scaling
        self.tol = tol
        self.max_iter = max_iter
        self.max_memory = max_memory
        self.random_state = random_state
        self.verbose = verbose

    def _check_own_parameters(self) -> None:
        check.at_least("feature_strength", self.feature_strength, 0)

    def _separate(
        self,
        data: Observed,
        graph: Graph | None,
        rng: np.random.Generator,
    ) -> Separation:
        self.feature_graph_ = None
        if self.feature_strength > 0:
            self.feature_graph_ = robust_graphs.graph_of_columns(
                robust_graphs.source("feature_graph", self.feature_graph),
                data.filled(),
                getattr(self, "feature_names_in_", None),
            )
        L1, L2 = (
            None if one is None else laplacian(one, self.laplacian, data.X.dtype)
            for one in (graph, self.feature_graph_)
        )
        unit = data.unit
        strengths = self.graph_strength * unit, self.feature_strength * unit
        problem = FastProblem(data.over(unit), L1, L2, *map(float, strengths))
        refuse_too_strong(problem.data, problem.curvature)
        how: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        return solve_fast(problem, **how).times(unit)
