"""``GraphKernelPCA``: kernel PCA whose components are smooth on a graph."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from graphfold import check, io
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.estimators import advice, rows
from graphfold.estimators.progress import (
    CallbackSupportMixin,
    FitProgress,
    with_callbacks,
)
from graphfold.estimators.reading import check_parameters, read_rows
from graphfold.estimators.statement import generator, graph_of_fit, state_problem
from graphfold.graphs import Graph, Laplacian
from graphfold.graphs.responses import Response
from graphfold.kernels import Kernel, Linear, Precomputed
from graphfold.kernels.names import kernel_from
from graphfold.model.extend import Extension, data_share, graph_share
from graphfold.model.plan import Plan, make_plan
from graphfold.model.preimage import preimage
from graphfold.model.problem import Problem
from graphfold.model.terms import has_cheap_factor
from graphfold.solvers import Eigenpairs


def _has_rows(estimator: Any) -> bool:
    """Whether X holds rows, or a kernel matrix in their place."""
    kernel = estimator.kernel
    named = isinstance(kernel, str) and kernel == "precomputed"
    return not (named or isinstance(kernel, Precomputed))


@io.register
class GraphKernelPCA(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Kernel PCA whose components are pulled to be smooth on a graph.

    The embedding is the top eigenvectors of M = K + gamma R: K is the centred kernel
    matrix of the rows, R what a graph says of them (minus its Laplacian, or a graph
    kernel). Without a graph it equals scikit-learn's ``KernelPCA``.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the embedding, at most n.
    kernel : str, callable or graphfold.kernels object, default="rbf"
        "linear", "rbf", "poly", "sigmoid", "cosine", "laplacian", "chi2",
        "additive_chi2" or "precomputed", in scikit-learn's sense.
    gamma : float, "median" or None, default="median"
        Width of the kernel (never the weight of the graph). "median" sets
        gamma = 1 / (2 sigma^2), sigma^2 the median squared distance between rows; for
        "poly", "sigmoid" and "chi2" it means 1 / n_features, as None does for all.
    degree, coef0 : float, default=3 and 1
        For "poly" and "sigmoid".
    kernel_params : dict, default=None
        Passed to a callable kernel.
    graph : Graph, recipe, or anything Graph takes, default=None
        A known graph (rows meet its nodes by label), or a rule such as
        ``NeighborGraph()`` that builds one from X.
    response : graphfold.responses object, callable or None, default=None
        None: R = -L. Else r_dagger(L), or -r(L) if its ``form`` is "penalty".
    laplacian : {"normalized", "combinatorial"}, default="normalized"
    graph_strength : float, default=1.0
        Weight of the graph without dimension: at 1 the graph can move a direction by
        as much as the best one of the data is worth. 0 ignores the graph.
    normalize : bool, default=True
        False takes ``graph_strength`` as the gamma of M itself.
    center : bool, default=True
        Centre the kernel and keep the constant vector out of the answer.
    scaling : {"eigenvalue", "orthonormal", "unit"}, default="eigenvalue"
        Column i times the square root of its kernel energy v'Kv (as in KernelPCA);
        unit length; or unit variance.
    solver : {"auto", "lapack", "krylov", "chebyshev", "lobpcg"}, default="auto"
    max_memory : int or str, default=None
        Budget such as "2GB" beyond X and the graph; a kernel matrix that does not fit
        is computed in strips at each product.
    fit_inverse_transform : bool, default=False
        Learn ``inverse_transform`` by kernel ridge regression.
    alpha : float, default=1.0
        Its ridge.
    tol : float, default=None
        Relative residual asked of the solver: 1e-10 in float64, 1e-5 in float32.
    max_iter : int, default=None
        Rounds of the solver; 300 by default.
    random_state : int, RandomState or None, default=None
        Seeds the solver's start and the rows that "median" looks at. None is a fixed
        seed: fits repeat bit for bit.
    verbose : int, default=0

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_, eigenvectors_ : of M, algebraically largest first
    residuals_ : relative residual of each eigenpair
    converged_, n_iter_, solver_, solver_reason_ : how they were found
    kernel_ : the kernel with its parameters as numbers
    kernel_weights_, graph_weights_ : weights of the terms, here 1
    graph_strength_ : the strength used
    graph_ : the graph of the rows of the fit, or None
    n_graph_components_ : its number of connected components
    explained_variance_ratio_ : v'Kv / tr K for each component
    components_ : unit loadings, for the linear kernel
    formula_ : the problem that was solved, as a text
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    References
    ----------
    Shen, Traganitis, Giannakis: Graph-adaptive nonlinear dimensionality reduction,
    arXiv 1801.09390.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from graphfold import GraphKernelPCA, NeighborGraph
    >>> X = load_digits().data[:300]
    >>> model = GraphKernelPCA(n_components=2, graph=NeighborGraph(10))
    >>> model.fit_transform(X).shape
    (300, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Callable[..., float] | Kernel = "rbf",
        gamma: float | Literal["median"] | None = "median",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        graph: Any = None,
        response: Response | Callable[[Array], Array] | None = None,
        laplacian: str = "normalized",
        graph_strength: float = 1.0,
        normalize: bool = True,
        center: bool = True,
        scaling: str = "eigenvalue",
        solver: str = "auto",
        max_memory: int | str | None = None,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        tol: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.graph = graph
        self.response = response
        self.laplacian = laplacian
        self.graph_strength = graph_strength
        self.normalize = normalize
        self.center = center
        self.scaling = scaling
        self.solver = solver
        self.max_memory = max_memory
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    # -- fit ----------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, node_ids: Any = None) -> Self:
        """Learn the embedding of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n, n_features)
            A kernel matrix if ``kernel="precomputed"``.
        y : ignored
        node_ids : sequence of n labels, default=None
            Which node each row is, if X is not a DataFrame with labels as its index.

        Returns
        -------
        self
        """
        graph = rows.graph_from(self.graph)
        raw, X = X, read_rows(self, X, reset=True)
        check_parameters(self, X.shape[0])
        labels = rows.labels_of_rows(raw, node_ids, graph, X.shape[0])
        progress = FitProgress(self, X, y)
        rng = generator(self.random_state)

        kernel = self._kernel(X).bind(X, rng)
        advice.on_kernel(kernel, X, rng)
        plan = self._plan(kernel, X)
        progress.say(f"plan: {plan}")
        recipe, graph = graph_of_fit(graph, labels, X, precomputed=not _has_rows(self))
        how = self._how(rng, plan)
        problem, L = state_problem(self, kernel, X, graph, plan, how)
        progress.say(str(problem))
        pairs = problem.solve(self.n_components, **how, observer=progress.round_done)
        advice.on_convergence(pairs)

        self._keep(problem, pairs, kernel, X, graph, L)
        self.solver_reason_ = plan.reason
        self._recipe, self._fit_labels = recipe, labels
        self._preimage = self._learn_preimage(self._X_fit, rng)
        progress.finish()
        return self

    def fit_transform(self, X: Any, y: Any = None, *, node_ids: Any = None) -> Array:
        """Fit and return the embedding of the rows of X."""
        return self.fit(X, y, node_ids=node_ids).embedding_.copy()

    def _how(self, rng: np.random.Generator, plan: Plan) -> dict[str, Any]:
        """How every eigenproblem of this fit is to be solved."""
        return {
            "solver": plan.solver,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "rng": rng,
        }

    def _kernel(self, X: Any) -> Kernel:
        return kernel_from(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            n_features=X.shape[1],
        )

    def _plan(self, kernel: Kernel, X: Any, *, timed: bool = False) -> Plan:
        return make_plan(
            kernel,
            X,
            self.n_components,
            solver=self.solver,
            max_memory=check.memory_bytes("max_memory", self.max_memory),
            timed=timed,
        )

    def _keep(
        self,
        problem: Problem,
        pairs: Eigenpairs,
        kernel: Kernel,
        X: Any,
        graph: Graph | None,
        L: Laplacian | None,
    ) -> None:
        V = pairs.vectors
        by_factor = has_cheap_factor(kernel, X)
        X = X.copy()  # as KernelPCA does: the caller may change X afterwards
        data = data_share(problem, kernel, X, V, by_factor=by_factor)
        share = graph_share(problem, L, V)
        self._extension = Extension(V, pairs.values, data, share)
        self._scales = self._extension.column_scales(self.scaling)
        if self.scaling == "eigenvalue":
            advice.on_energies(self._extension.sound_energies())
        self._X_fit = X
        self.kernel_ = kernel
        self.embedding_ = V * self._scales
        self.eigenvalues_, self.eigenvectors_ = pairs.values, V
        self.residuals_, self.converged_ = pairs.residuals, pairs.converged
        self.n_iter_ = pairs.n_iterations
        self.solver_ = pairs.solver
        self.kernel_weights_ = np.array(problem.theta)
        self.graph_weights_ = np.array(problem.beta)
        self.graph_strength_ = float(self.graph_strength) if graph is not None else 0.0
        self.graph_ = graph
        self.n_graph_components_ = 0 if graph is None else graph.n_parts
        self.explained_variance_ratio_ = data.energies / (data.trace or 1.0)
        self.formula_ = str(problem)
        self._n_features_out = V.shape[1]
        self.__dict__.pop("components_", None)
        if isinstance(kernel, Linear):
            self.components_ = self._extension.loadings(X)

    def _learn_preimage(self, X: Any, rng: np.random.Generator) -> Any:
        if not self.fit_inverse_transform:
            return None
        if isinstance(self.kernel_, Precomputed):
            raise GraphfoldError(
                'fit_inverse_transform must be False with kernel="precomputed": the '
                "rows of X are not known"
            )
        asked = self._kernel(X)
        rule = getattr(asked, "gamma", None) == "median"
        # a median rule looks at the embedding's own distances; a number stays
        kernel = asked.bind(self.embedding_, rng) if rule else self.kernel_
        return preimage(kernel, self.embedding_, X, float(self.alpha))

    # -- new rows -----------------------------------------------------------------

    def transform(self, X: Any, *, node_ids: Any = None, edges: Any = None) -> Array:
        """Place rows by their features and, where they are known, their edges.

        A row whose label is a row of the fit gets its embedding back (and an error if
        its features differ). A row whose label is another node of the graph is placed
        with that node's edges to the rows of the fit; a row without label or edges by
        its features alone. Each row is placed by itself.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (m, n_features)
        node_ids : sequence of m labels, default=None
        edges : matrix of shape (m, n), or list of (row, node[, weight]), default=None
            Weights from these rows to the rows of the fit; takes the place of the
            graph's own edges.

        Returns
        -------
        array of shape (m, n_components)
        """
        check_is_fitted(self)
        raw, X = X, read_rows(self, X, reset=False)
        graph = rows.graph_from(self.graph) if self.graph_ is not None else None
        labels = rows.labels_of_rows(raw, node_ids, graph, X.shape[0])
        fit = rows.FitRows(self._X_fit, self._fit_labels, graph, self._recipe)
        known, weights = fit.meet(X, labels, edges)
        Z = self._extension.place(X, weights) * self._scales
        Z[known >= 0] = self.embedding_[known[known >= 0]]
        return np.asarray(Z)

    def inverse_transform(self, X: Any) -> Array:
        """Points of the original space for rows of the embedding.

        Needs ``fit_inverse_transform=True``.
        """
        check_is_fitted(self)
        if self._preimage is None:
            raise GraphfoldError(
                "fit_inverse_transform must be True at fit for inverse_transform"
            )
        Z = check_array(X, dtype=self.embedding_.dtype, input_name="X")
        d = self.embedding_.shape[1]
        if Z.shape[1] != d:
            raise GraphfoldError(
                f"X must have the {d} columns of the embedding; got shape {Z.shape}"
            )
        return np.asarray(self._preimage.of(Z))

    @available_if(_has_rows)
    def score(self, X: Any, y: Any = None) -> float:
        """Share of the rows' variance in feature space that the components explain.

        Not there for a precomputed kernel: k(x, x) of new rows is not in X.
        """
        check_is_fitted(self)
        return self._extension.reconstruction_score(read_rows(self, X, reset=False))

    # -- before and after -----------------------------------------------------------

    def plan(self, X: Any) -> Plan:
        """What fitting X would do and cost; X itself is not touched.

        Examples
        --------
        >>> import numpy as np
        >>> from graphfold import GraphKernelPCA
        >>> GraphKernelPCA(2).plan(np.zeros((5000, 20))).storage
        'stored'
        """
        X = check.table("X", X)
        return self._plan(self._kernel(X), X, timed=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as arrays and JSON; ``graphfold.load`` reads it back."""
        check_is_fitted(self)
        io.save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = not _has_rows(self)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
