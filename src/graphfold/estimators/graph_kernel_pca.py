"""``GraphKernelPCA``: kernel PCA whose components are smooth on graphs."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array

from graphfold import io
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.estimators.importance import FeatureImportances, importances
from graphfold.estimators.progress import with_verbose
from graphfold.estimators.reading import matrices_side_by_side, read_rows
from graphfold.estimators.states import Streamed, checker
from graphfold.estimators.streaming import StreamedEmbedding
from graphfold.kernels import (
    Combination,
    Gaussian,
    Kernel,
    Linear,
    OnColumns,
    Precomputed,
)
from graphfold.kernels.names import kernels_from
from graphfold.model.preimage import MOST_ROWS, preimage


@io.register
class GraphKernelPCA(StreamedEmbedding):
    """Kernel PCA whose components are pulled to be smooth on a graph.

    The embedding is the top eigenvectors of M = sum theta K + gamma sum beta R: K are
    centred kernel matrices of the rows, R what graphs say of them (minus a Laplacian,
    or a graph kernel). The weights theta and beta of several kernels or graphs are
    learned. Without a graph it equals scikit-learn's ``KernelPCA``.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the embedding, at most n.
    kernel : str, callable, graphfold.kernels object, list or dict, default="rbf"
        "linear", "rbf", "poly", "sigmoid", "cosine", "laplacian", "chi2",
        "additive_chi2" or "precomputed", in scikit-learn's sense. A list or a dict of
        these is several kernels with learned weights; "gaussian-grid" is ten Gaussians
        around the median width. ``kernels.LocallyLinear()``, ``Geodesic()`` and
        ``ClassicalScaling()`` make it LLE, Isomap and MDS. With "precomputed", X may
        be a list or dict of matrices. None: no kernel, the graphs alone.
    gamma : float, "median" or None, default="median"
        Width of the kernel (never the weight of the graph). "median" sets
        gamma = 1 / (2 sigma^2), sigma^2 the median squared distance between rows; for
        "poly", "sigmoid" and "chi2" it means 1 / n_features, as None does for all.
    degree, coef0 : float, default=3 and 1
        For "poly" and "sigmoid".
    kernel_params : dict, default=None
        Passed to a callable kernel.
    graph : Graph, recipe, anything Graph takes, list or dict, default=None
        A known graph (rows meet its nodes by label), or a rule such as
        ``NeighborGraph()`` that builds one from X; or several, as a list or by name.
    response : graphfold.responses object, callable or None, default=None
        None: R = -L. Else r_dagger(L), or -r(L) if its ``form`` is "penalty". A list
        or a dict gives each graph its own.
    laplacian : {"normalized", "combinatorial"}, default="normalized"
    graph_strength : float, "auto" or "auto-edges", default=1.0
        Weight of the graphs without dimension: at 1 they can move a direction by as
        much as the best one of the data is worth. 0 ignores them. "auto" takes the
        strength whose embedding best foretells columns of X that it has not seen
        ("auto-edges": edges), and 0 unless that beats 0 by two standard errors.
    normalize : bool, default=True
        Measure strengths in the size of the data, several kernels in their trace and
        several graphs in their size. False is the paper's letter: ``graph_strength``
        is the gamma of M, and kernels and graphs are summed as they are.
    weights : {"learn", "equal"}, int, array, dict, or list of these, default="learn"
        Weights of several kernels and of several graphs. "learn" starts from equal
        weights. An array (a number for each kernel where there are several, then for
        each graph where there are several) or a dict of numbers by their names is
        where learning starts; only ratios count. Learning finds a local optimum: a
        list of starts, or a number of them (equal weights, then random ones), keeps
        that of the largest objective.
    weight_norm : float, default=2.0
        Learned weights have unit p-norm. 2 is the paper's ball; nearer to 1 is
        sharper, 1 keeps a single kernel and a single graph.
    center : bool, default=True
        Centre the kernel and keep the constant vector out of the answer.
    scaling : {"eigenvalue", "orthonormal", "unit"}, default="eigenvalue"
        Column i times the square root of its kernel energy v'Kv (as in KernelPCA);
        unit length; or unit variance.
    solver : {"auto", "lapack", "krylov", "chebyshev", "lobpcg", "shift-invert"}, \
default="auto"
    landmarks : int, array or list of labels, default=None
        For many rows: see the kernel through so many rows, or through these (rows of
        their own, labels of rows of X, or positions where rows have none). The graph
        stays whole. Needs memory for n x landmarks numbers of four bytes, or less if
        ``max_memory`` says so.
    landmark_choice : {"auto", "uniform", "k-means", "k-means++", "leverage"}, \
default="auto"
        How a number of landmarks is chosen: rows of X, or their means where it is
        "k-means". "auto" is "k-means", but "uniform" where a kernel is a callable.
    refine : "auto" or bool, default="auto"
        With landmarks and a graph, go on from the best function of the features to the
        answer of the whole problem. False: the best function of a row's features and
        of those of its neighbours. "auto" refines where there is a graph.
    forgetting : float, default=1.0
        For ``partial_fit``: what a row counts is multiplied by this with every batch
        that follows. 1 forgets nothing.
    max_memory : int or str, default=None
        Budget such as "2GB" beyond X and the graph; a kernel matrix that does not fit
        is computed in strips at each product, and where even that does not fit,
        landmarks are used.
    align_to : array (n, n_components), DataFrame or fitted estimator, default=None
        Turn the axes to lie as near as possible to these, eigenvalues carried along;
        rows are met by label where both sides have labels. ``residuals_`` and
        ``axis_report_`` are of the axes before they are turned.
    fit_inverse_transform : bool, default=False
        Learn ``inverse_transform`` by kernel ridge regression.
    alpha : float, default=1.0
        Its ridge.
    tol : float, default=None
        Relative residual asked of the solver: 1e-10 in float64, 1e-5 in float32; 5e-3
        where landmarks are refined, and then no less than 1e-6.
    max_iter : int, default=None
        Rounds of the solver; 300 by default.
    random_state : int, RandomState or None, default=None
        Seeds the solver's start and the rows that "median" looks at. None is a fixed
        seed: fits repeat bit for bit.
    verbose : int, default=0
        1 shows the stage and its rounds on one line of a terminal, and nothing
        elsewhere; 2 writes each as a line to the standard error stream.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    eigenvalues_, eigenvectors_ : of M, algebraically largest first
    residuals_ : relative residual of each eigenpair
    converged_, n_iter_, solver_, solver_reason_ : how they were found
    kernel_ : the kernel with its parameters as numbers; several as one
    kernel_names_, kernel_weights_ : each kernel and its weight
    graph_names_, graph_weights_ : each graph and its weight
    graph_strength_ : the strength used
    strength_path_ : the scores behind ``graph_strength="auto"``
    objective_trace_ : tr(V'MV) after each round of learning; it never falls. Of
        several graphs with R = -L it is that of R = b I - L, b a bound of the
        eigenvalues of L: see ``docs/learning.md``
    graph_ : the graph of the rows of the fit, a dict of several, or None
    n_graph_components_ : its number of connected components
    axis_report_ : eigengaps, how far each axis may turn, interchangeable axes
    explained_variance_ratio_ : v'Kv / tr K for each component
    landmarks_ : the landmarks, where there are any: rows of X, those given, or the
        centres of k-means, which are rows of their own
    landmark_error_ : share of the variance in feature space that they do not see
    n_seen_, n_batches_, drift_ : of a stream: rows, batches, how it has changed
    components_ : unit loadings, for the linear kernel
    formula_ : the problem that was solved, as a text
    warnings_ : (category, message) of each warning of the fit
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
        kernel: Any = "rbf",
        gamma: float | Literal["median"] | None = "median",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        graph: Any = None,
        response: Any = None,
        laplacian: str = "normalized",
        graph_strength: float | str = 1.0,
        normalize: bool = True,
        weights: Any = "learn",
        weight_norm: float = 2.0,
        center: bool = True,
        scaling: str = "eigenvalue",
        solver: str = "auto",
        landmarks: Any = None,
        landmark_choice: str = "auto",
        refine: bool | str = "auto",
        forgetting: float = 1.0,
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
        self.weights = weights
        self.weight_norm = weight_norm
        self.center = center
        self.scaling = scaling
        self.solver = solver
        self.landmarks = landmarks
        self.landmark_choice = landmark_choice
        self.refine = refine
        self.forgetting = forgetting
        self.max_memory = max_memory
        self.align_to = align_to
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    _check_loaded = checker(Streamed)

    def _finish(self, rng: np.random.Generator) -> None:
        self._keep_kernel(rng)

    def _keep_kernel(self, rng: np.random.Generator) -> None:
        """What only a kernel has: loadings, and the way back to X."""
        self.__dict__.pop("components_", None)
        if isinstance(self.kernel_, Linear):
            loadings = self._extension.loadings(*self._expansion_rows())
            T = self._rotation
            self.components_ = loadings if T is None else T.T @ loadings
        self._preimage = self._learn_preimage(self._X_fit, rng)

    def _expansion_rows(self) -> tuple[Any, Array]:
        """Rows and weights of k(x, rows) W, what components are as functions of x.

        The rows of the fit, or the landmarks in their place; of a linear kernel.
        """
        assert self.kernel_ is not None
        if not hasattr(self, "landmarks_"):
            return self.kernel_.factor(self._X_fit), self._extension.V
        X, W = self._extension.rows_of_expansion()
        return self.kernel_.factor(X), W  # less its origin

    def _read(self, X: Any, *, reset: bool, least: int | None = None) -> Any:
        """X as numbers; several kernel matrices side by side."""
        if not self._has_rows():
            fitted = None if reset else self._matrix_names
            X, names = matrices_side_by_side(X, fitted)
            if reset:
                self._matrix_names = names
        return read_rows(self, X, reset=reset, least=least)

    #: names of several kernel matrices that stand in the place of X
    _matrix_names: list[str] | None = None

    def _has_rows(self) -> bool:
        kernel = self.kernel
        named = isinstance(kernel, str) and kernel == "precomputed"
        return not (named or isinstance(kernel, Precomputed))

    def _is_pointwise(self) -> bool:
        """Whether k(x, y) is a function of any two rows."""
        listed = self.kernel
        if isinstance(listed, dict):
            listed = list(listed.values())
        listed = listed if isinstance(listed, list | tuple) else [listed]
        known = all(getattr(kernel, "pointwise", True) for kernel in listed)
        return self._has_rows() and self.kernel is not None and known

    def _kernels(self, X: Any) -> dict[str, Kernel]:
        if not self._has_rows() and self._matrix_names is not None:
            width = X.shape[1] // len(self._matrix_names)
            return {
                name: OnColumns(Precomputed(), i * width, (i + 1) * width)
                for i, name in enumerate(self._matrix_names)
            }
        return kernels_from(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
            n_features=X.shape[1],
        )

    def _learn_preimage(self, X: Any, rng: np.random.Generator) -> Any:
        if not self.fit_inverse_transform:
            return None
        if not self._has_rows() or self.kernel_ is None:
            raise GraphfoldError(
                "fit_inverse_transform must be False without rows and a kernel of "
                f"them; got kernel={self.kernel!r}"
            )
        Z = self.embedding_
        if hasattr(self, "landmarks_"):
            # some rows stand for all here, too: a ridge of all would be n x n
            sample = np.sort(rng.choice(len(Z), min(MOST_ROWS, len(Z)), replace=False))
            X, Z = X[sample], Z[sample]
        if not self.kernel_.pointwise:
            # it knows the rows of the fit, not those of the embedding
            smooth = Gaussian().bind(Z, rng)
            return preimage(smooth, Z, X, float(self.alpha))
        asked = list(self._kernels(X).values())
        bound, weights = [self.kernel_], [1.0]
        if len(asked) > 1:
            assert isinstance(self.kernel_, Combination)
            bound, weights = list(self.kernel_.kernels), list(self.kernel_.weights)
        # a median rule looks at the embedding's own distances, and what landmarks have
        # taken off the rows has no meaning there; a number stays
        again = [
            rule.bind(Z, rng)
            if isinstance(rule, Linear) or getattr(rule, "gamma", None) == "median"
            else part
            for rule, part in zip(asked, bound, strict=True)
        ]
        kernel = again[0] if len(again) == 1 else Combination(again, weights)
        return preimage(kernel, Z, X, float(self.alpha))

    # -- what only a kernel can say ---------------------------------------------------

    @with_verbose
    def inverse_transform(self, X: Any) -> Array:
        """Points of the original space for rows of the embedding.

        Needs ``fit_inverse_transform=True``.
        """
        self._ready()
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

    @available_if(lambda self: self._is_pointwise())
    @with_verbose
    def score(self, X: Any, y: Any = None) -> float:
        """Share of the rows' variance in feature space that the components explain.

        Not there where k(x, x) of new rows is not known: for a precomputed kernel, and
        for kernels of neighbourhoods.
        """
        self._ready()
        return self._extension.reconstruction_score(read_rows(self, X, reset=False))

    @available_if(lambda self: self._is_pointwise())
    @with_verbose
    def feature_importances(self, component: int = 0) -> FeatureImportances:
        """How much each column of X moves one component, by closed-form gradients.

        The root mean square, over the rows of the fit, of the gradient of the
        component's function of x, times the spread of the column; shares of 1. For the
        linear kernel these are the sizes of the loadings times the spread.

        Parameters
        ----------
        component : int, default=0

        Examples
        --------
        >>> import numpy as np
        >>> from graphfold import GraphKernelPCA
        >>> X = np.random.default_rng(0).standard_normal((50, 3)) * [5.0, 1.0, 0.1]
        >>> model = GraphKernelPCA(2, kernel="linear").fit(X)
        >>> [name for name, share in model.feature_importances(0).top(2)]
        ['x0', 'x1']
        """
        self._ready()
        return importances(self, component)
