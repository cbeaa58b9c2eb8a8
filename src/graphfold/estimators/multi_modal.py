"""``MultiModalGraphEmbedding``: samples described in several ways."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from graphfold import check, io
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError, ModeError
from graphfold.estimators.base import GraphEmbedding
from graphfold.estimators.mode_tables import (
    CATEGORICAL,
    in_order,
    names_of,
    tables_of,
    width_of,
)
from graphfold.estimators.modes import encode_modes, learn_mode, recipe_for
from graphfold.estimators.planning import plan_of_modes
from graphfold.estimators.progress import guarded_fit, with_verbose
from graphfold.estimators.reading import check_parameters, is_distributed, workers
from graphfold.estimators.statement import generator
from graphfold.estimators.states import Modal, checker
from graphfold.graphs import Graph, GraphRecipe
from graphfold.graphs.modes import ModeGraph
from graphfold.graphs.responses import Diffusion
from graphfold.kernels import Kernel, OnColumns
from graphfold.kernels.names import kernels_from


@io.register
class MultiModalGraphEmbedding(GraphEmbedding):
    """One embedding of samples that are described in several ways.

    Each mode gives a graph of the samples by a metric that suits it, and the embedding
    is the top eigenvectors of M = sum beta r(L): what the graphs agree on. The weights
    beta are learned. Samples may miss modes.

    Parameters
    ----------
    n_components : int, default=2
    modes : None, dict, list or int, default=None
        Columns of one table: by name ``{"sound": ["a", "b"], "text": slice(2, 9)}``,
        as a list of selectors (names, positions, slices, masks, or callables such as
        ``sklearn.compose.make_column_selector``), or a number of blocks. None: columns
        by the kind of their values (real, binary, categorical); for a dict of tables
        each is a mode.
    block_size : int, default=None
        Columns of a block; takes the place of ``modes``.
    overlap : int, default=0
        Columns that a block shares with the next.
    metric : str, recipe, or dict of these by mode, default="auto"
        "auto": euclidean for real columns, which are standardised; Jaccard for zeros
        and ones if ones are rare, else Hamming; Hamming for categories. Or a metric of
        :class:`NeighborGraph`, or any recipe.
    n_neighbors, edge_weight : 10 and "binary", as in :class:`NeighborGraph`
    response : "auto", responses object, None, list or dict, default="auto"
        How each graph speaks; "auto" is ``Diffusion(scale="auto")``.
    laplacian, weights : as in GraphKernelPCA
    weight_norm : float, default=2.0
        Learned weights have unit p-norm; nearer to 1 is sharper.
    kernel : as in GraphKernelPCA, default=None
        Kernels to be added, of all columns but categories: real ones standardised,
        missing modes at their means (0 if sparse). None: the graphs alone.
    gamma : float, "median" or None, default="median"
        Width of the kernel.
    graph_strength : float, default=1.0
        Strength of the graphs where there is a kernel.
    normalize, center, scaling, solver, landmarks, landmark_choice, refine, \
max_memory, align_to, tol, max_iter, random_state, verbose :
        As in :class:`GraphKernelPCA`. Without a kernel ``scaling="eigenvalue"`` is
        "orthonormal".
    n_jobs : int, default=None

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    sample_labels_ : labels of the samples, in the order of the embedding, or None
    mode_names_, mode_kinds_ : each mode and the kind of its values
    mode_weights_ : weight of each mode
    mode_contributions_ : array of shape (n, n_modes)
        How much of each sample's place each mode gives; rows sum to 1, a mode that a
        sample misses has 0.
    objective_trace_, axis_report_, eigenvalues_, formula_, warnings_, ... :
        As in :class:`GraphKernelPCA`.

    Notes
    -----
    A sample misses a mode if all its values there (of a sparse table, those stored)
    are NaN or None, or if the table of the mode lacks its label. A mode says nothing of
    samples that miss it, and what the others say of them weighs more by the same
    measure. A sample with some values of a mode and not others is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import MultiModalGraphEmbedding
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(60) % 2
    >>> X = {
    ...     "size": rng.standard_normal((60, 3)) + 4 * group[:, None],
    ...     "marks": (rng.random((60, 8)) < 0.2 + 0.6 * group[:, None]),
    ... }
    >>> model = MultiModalGraphEmbedding(1).fit(X)
    >>> model.mode_names_, model.mode_kinds_
    (['size', 'marks'], ['real', 'binary'])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        modes: Any = None,
        block_size: int | None = None,
        overlap: int = 0,
        metric: Any = "auto",
        n_neighbors: int = 10,
        edge_weight: str = "binary",
        response: Any = "auto",
        laplacian: str = "normalized",
        weights: Any = "learn",
        weight_norm: float = 2.0,
        kernel: Any = None,
        gamma: float | Literal["median"] | None = "median",
        graph_strength: float = 1.0,
        normalize: bool = True,
        center: bool = True,
        scaling: str = "eigenvalue",
        solver: str = "auto",
        landmarks: Any = None,
        landmark_choice: str = "auto",
        refine: bool | str = "auto",
        max_memory: int | str | None = None,
        align_to: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.modes = modes
        self.block_size = block_size
        self.overlap = overlap
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.edge_weight = edge_weight
        self.response = response
        self.laplacian = laplacian
        self.weights = weights
        self.weight_norm = weight_norm
        self.kernel = kernel
        self.gamma = gamma
        self.graph_strength = graph_strength
        self.normalize = normalize
        self.center = center
        self.scaling = scaling
        self.solver = solver
        self.landmarks = landmarks
        self.landmark_choice = landmark_choice
        self.refine = refine
        self.max_memory = max_memory
        self.align_to = align_to
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _takes_landmark_rows, _keeps_rows = False, True
    _check_loaded = checker(Modal)

    @guarded_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the embedding of the samples.

        Parameters
        ----------
        X : table of shape (n, n_features), or dict of tables
            An array, a sparse matrix, a pandas or polars DataFrame. Tables of a dict
            meet by the labels of their index where all have one.
        y : ignored

        Returns
        -------
        self
        """
        if _on_workers(X):
            workers().fit_modes_on_workers(self, X, y)
            return self
        X = self._check_input(X, reset=True)
        tables, labels = tables_of(X, self.modes, self.block_size, self.overlap, None)
        named = {str(k): names_of(T) for k, T in X.items()} if _is_dict(X) else {}
        learned = [
            learn_mode(name, table, columns, named.get(name))
            for name, (table, columns) in tables.items()
        ]
        # a kernel looks at numbers, so what is not a number comes last
        self._modes = sorted(learned, key=lambda mode: mode.kind == CATEGORICAL)
        self._check_metric()
        n, encoded = encode_modes(
            self._modes, {k: table for k, (table, _) in tables.items()}
        )
        check_parameters(self, n)
        check.at_least("graph_strength", self.graph_strength, 0)
        self._starts = np.cumsum([0, *(mode.width for mode in self._modes)])
        graphs = self._mode_graphs(tables)
        rng = generator(self.random_state)
        self._row_labels = self.sample_labels_ = labels
        self._fit_rows(encoded, y, labels, graphs, rng)
        self.mode_names_ = [mode.name for mode in learned]
        self.mode_kinds_ = [mode.kind for mode in learned]
        self.mode_weights_ = self.graph_weights_
        heard = bool(self._extension.graphs)
        shares = self._extension.shares_of_fit() if heard else np.zeros((n, 0))
        self.mode_contributions_ = self._by_mode(shares)
        return self

    plan = plan_of_modes

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit and return the embedding of the samples."""
        return self.fit(X, y).embedding_.copy()

    @with_verbose
    def transform(self, X: Any) -> Array:
        """Place samples by the modes they have, each by itself.

        In every mode a sample takes the mean of its neighbours among the samples of
        the fit; modes are weighed as in the fit, and those it misses have no say.

        Parameters
        ----------
        X : table or dict of tables, with the columns of the fit

        Returns
        -------
        array of shape (m, n_components)
        """
        check_is_fitted(self)
        if _on_workers(X) or self._lies_on_workers():
            return workers().transform_modes_on_workers(self, X)
        encoded = self._encode_new(X)
        known, edges = self._rows_of_fit().meet(encoded, None, None)
        return self._placed(encoded, known, edges)

    def contributions(self, X: Any) -> Array:
        """How much of each sample's place each mode gives; rows sum to 1."""
        check_is_fitted(self)
        if _on_workers(X) or self._lies_on_workers():
            raise GraphfoldError(
                "contributions must have the samples, and those of the fit, in memory; "
                "those of the fit are in mode_contributions_"
            )
        encoded = self._encode_new(X)
        if not self._extension.graphs:
            return self._by_mode(np.zeros((encoded.shape[0], 0)))
        _, edges = self._rows_of_fit().meet(encoded, None, None)
        return self._by_mode(self._extension.shares_of_rows(edges))

    def _by_mode(self, shares: Array) -> Array:
        """Shares of the graphs that have a say, in the order of all modes."""
        names = [share.name for share in self._extension.graphs]
        found = np.zeros((len(shares), len(self.mode_names_)))
        for i, name in enumerate(self.mode_names_):
            if name in names:
                found[:, i] = shares[:, names.index(name)]
        return found

    # -- tables -----------------------------------------------------------------------

    def _check_input(self, X: Any, *, reset: bool) -> Any:
        """scikit-learn's checks of one table; NaN is a missing mode and passes."""
        for name, table in X.items() if _is_dict(X) else [("X", X)]:
            check.refuse_other_objects(str(name), table)
            check.refuse_odd_columns(str(name), table, text=True, error=ModeError)
        if _is_dict(X):
            if reset:
                self.__dict__.pop("feature_names_in_", None)
                self.n_features_in_ = sum(width_of(table) for table in X.values())
            return X
        if not reset and all(mode.columns is None for mode in self._modes):
            raise ModeError("X must be a dict of tables, as it was at the fit")
        if not hasattr(X, "columns"):
            X = check_array(
                X,
                accept_sparse="csr",
                dtype=None if _holds_text(X) else "numeric",
                ensure_all_finite="allow-nan",
                ensure_min_samples=2 if reset else 1,
                estimator=self,
                input_name="X",
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _tables_of_new(self, X: Any) -> Any:
        if _is_dict(X):
            names = {mode.name: mode.column_names for mode in self._modes}
            X = {k: in_order(k, table, names.get(str(k))) for k, table in X.items()}
        columns = {mode.name: mode.columns for mode in self._modes}
        return tables_of(X, None, None, 0, columns)

    def labels_of(self, X: Any) -> Array | None:
        """Labels of the samples of X in the order that ``transform`` returns them.

        Tables of a dict meet by label, in the order in which labels are first met;
        None where rows have no labels.
        """
        check_is_fitted(self)
        return self._tables_of_new(self._check_input(X, reset=False))[1]

    def _encode_new(self, X: Any) -> Any:
        X = self._check_input(X, reset=False)
        tables = self._tables_of_new(X)[0]
        for mode in self._modes:
            table = tables[mode.name][0]
            if table is not None and table.shape[1] != mode.width:
                raise ModeError(
                    f"mode {mode.name!r} must have the {mode.width} columns of the "
                    f"fit; got {table.shape[1]}"
                )
        return encode_modes(self._modes, {k: t for k, (t, _) in tables.items()})[1]

    def _mode_graphs(self, tables: dict[str, Any]) -> dict[str, Graph | GraphRecipe]:
        """A recipe for each mode that looks at its columns of the encoded table."""
        settings = {
            "n_neighbors": self.n_neighbors,
            "weight": self.edge_weight,
            "n_jobs": self.n_jobs,
        }
        width = int(self._starts[-1])
        graphs: dict[str, Graph | GraphRecipe] = {
            mode.name: ModeGraph(
                recipe_for(mode, self.metric, settings),
                int(self._starts[i]),
                int(self._starts[i + 1]),
                width + i,
                dense=not mode.sparse,
            )
            for i, mode in enumerate(self._modes)
        }
        return {name: graphs[name] for name in tables}

    def _kernels(self, X: Any) -> dict[str, Kernel]:
        """Kernels of the columns that are numbers; the code of a category is none."""
        numbers = [mode for mode in self._modes if mode.kind != CATEGORICAL]
        width = sum(mode.width for mode in numbers)
        found = kernels_from(self.kernel, gamma=self.gamma, n_features=max(width, 1))
        if found and not numbers:
            raise GraphfoldError("kernel must be None where every mode is categorical")
        return {name: OnColumns(kernel, 0, width) for name, kernel in found.items()}

    def _check_metric(self) -> None:
        names = [mode.name for mode in self._modes]
        if isinstance(self.metric, dict):
            unknown = [name for name in self.metric if name not in names]
            if unknown:
                raise ModeError(
                    f"metric must name modes among {check.some_of(names)}; got "
                    f"{check.some_of(unknown)}"
                )

    def _responses(self) -> Any:
        if not isinstance(self.response, str):
            return self.response
        check.one_of("response", self.response, ("auto",))
        return Diffusion("auto")


def _on_workers(X: Any) -> bool:
    """Whether a table, or one of several, is a collection of Dask's."""
    return any(map(is_distributed, X.values())) if _is_dict(X) else is_distributed(X)


def _is_dict(X: Any) -> bool:
    return isinstance(X, dict) and not sp.issparse(X)


def _holds_text(X: Any) -> bool:
    """Whether an array, or a list of lists, holds text: then it is no mere numbers."""
    if sp.issparse(X):
        return False
    array = np.asarray(X)
    if array.dtype != object:
        return array.dtype.kind in "US"
    return any(isinstance(value, str) for value in array.ravel())
