"""``partial_fit``: rows that come batch by batch, and edges with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Self

from sklearn.utils.metaestimators import available_if

from graphfold import check
from graphfold.errors import GraphError, GraphfoldError, LabelError
from graphfold.estimators import rows
from graphfold.estimators.drift import drift_report, warn_of_news
from graphfold.estimators.fitting import Sources
from graphfold.estimators.landmarks import check_kernels, check_landmarks
from graphfold.estimators.progress import (
    guarded_fit,
    unchanged_on_failure,
    with_verbose,
)
from graphfold.estimators.reading import check_parameters
from graphfold.estimators.row_embedding import RowEmbedding
from graphfold.estimators.stream import SHARE_OF_BUDGET, Stream
from graphfold.graphs import Graph, GraphRecipe
from graphfold.kernels.landmarks import LandmarkFeatures, landmark_features
from graphfold.stores import RowStore
from graphfold.threads import Turns

#: what a graph is called that only edges of batches make
EDGES = "graph"


_turns = Turns()


def _one_at_a_time(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that changes the model: other threads wait until it is whole again."""

    @wraps(method)
    def in_turn(model: Any, *arguments: Any, **settings: Any) -> Any:
        with _turns.of(model):
            return method(model, *arguments, **settings)

    return in_turn


class StreamedEmbedding(RowEmbedding):
    """An embedding of rows that may come batch by batch.

    ``partial_fit`` takes a batch in; the problem of all rows that have come is solved
    when something is asked that depends on it: ``transform``, a learned attribute, or
    ``refresh``.
    """

    #: what has come, and whether the answer knows it
    _stream: Stream | None = None
    _is_stale: bool = False

    @available_if(lambda self: self.landmarks is not None)
    @_one_at_a_time
    @unchanged_on_failure
    @with_verbose
    def partial_fit(
        self, X: Any, y: Any = None, *, node_ids: Any = None, edges: Any = None
    ) -> Self:
        """Take in one batch of rows; the answer is refreshed when it is asked for.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (b, n_features)
            New rows. The constructor has to give ``landmarks``.
        y : array of shape (b,), default=None
            Classes for :class:`SemiSupervisedGraphKernelPCA`; ignored by others.
        node_ids : sequence of b labels, default=None
            Who the rows are, if X is not a DataFrame with labels as its index. Without
            labels a row is known by the number of its arrival, from 0.
        edges : list of (node, node[, weight]), Graph, or dict of these, default=None
            Edges between rows of this batch or of earlier ones, whatever
            :class:`Graph` takes; a dict of several graphs. The constructor's ``graph``
            is None then: where it is given, rows meet it by label.

        Returns
        -------
        self

        Notes
        -----
        Without forgetting, the answer depends on what has come and not on the order
        in which it came: a number of landmarks is chosen among all rows by their
        content. It equals ``fit`` with ``refine=False`` on all rows.

        Examples
        --------
        >>> import numpy as np
        >>> from graphfold import GraphKernelPCA
        >>> rng = np.random.default_rng(0)
        >>> model = GraphKernelPCA(2, landmarks=20)
        >>> for first in (0, 50, 100):
        ...     chain = [(i, i - 1) for i in range(max(first, 1), first + 50)]
        ...     model = model.partial_fit(rng.standard_normal((50, 4)), edges=chain)
        >>> model.n_seen_, model.embedding_.shape
        (150, (150, 2))
        """
        check.between("forgetting", self.forgetting, 0.0, 1.0)
        if self.forgetting == 0:
            raise GraphfoldError("forgetting must be above 0; got 0")
        stream = Stream() if self._stream is None else self._stream
        raw, X = X, self._read(X, reset=self._stream is None, least=1)
        X = X.read() if isinstance(X, RowStore) else X
        seen = stream.first + stream.n
        labels = rows.labels_of_rows(raw, node_ids, True, X.shape[0], first=seen)
        self._check_batch(X, y, labels, stream)
        budget = check.memory_bytes("max_memory", self.max_memory)
        held = stream.nbytes + getattr(X, "nbytes", 0)
        on_disk = budget is not None and held > SHARE_OF_BUDGET * budget
        stream = stream.with_batch(X, y, labels, on_disk=on_disk)
        for name, part in self._edges_by_graph(edges).items():
            stream = stream.with_edges(name, part)
        self._forget_answer()
        self._stream = stream.forgetting(float(self.forgetting))
        self._is_stale = True
        self.n_seen_ = stream.first + stream.n
        self.n_batches_ = stream.n_batches
        return self

    @_one_at_a_time
    @guarded_fit
    def refresh(self) -> Self:
        """Solve the problem of all rows that have come, if some are new."""
        stream = self._stream
        if stream is None:
            raise GraphfoldError("refresh needs a stream: call partial_fit first")
        if not self._is_stale:
            return self
        if self.landmarks is None:
            raise GraphfoldError(
                "landmarks must be a number or rows for a stream; got None"
            )
        self._is_stale = False
        self._row_labels = stream.known_names()
        X = stream.rows()
        if X.shape[0] < 2:
            raise GraphfoldError(
                f"a stream must bring at least 2 rows to be embedded; got {X.shape[0]}"
            )
        graphs = self._graphs_of_stream(stream)
        check_parameters(self, X.shape[0])
        labels = stream.known_names() if self._keyed(graphs) else None
        roots = stream.roots(float(self.forgetting))
        how = {"refine": False, "roots": roots, "streamed": True}
        self._solve(X, stream.known_classes(), labels, graphs, **how)
        features = self._features_of_landmarks()
        self.drift_ = drift_report(features, X, stream.batch_slices(), stream.numbers)
        warn_of_news(self.drift_)
        return self

    def _features_of_landmarks(self) -> list[LandmarkFeatures]:
        data = self._extension.data
        assert data is not None
        return [
            landmark_features(part.kernel, part.X, center=self.center)
            for part in data.expansions
        ]

    def _fit_rows(self, *arguments: Any, **how: Any) -> None:
        if not how.get("streamed", False):
            # a fit starts anew: what has come before it is over
            self._stream, self._is_stale = None, False
            for name in ("n_seen_", "n_batches_", "drift_"):
                self.__dict__.pop(name, None)
        super()._fit_rows(*arguments, **how)

    def _check_batch(self, X: Any, y: Any, labels: Any, stream: Stream) -> None:
        """What would fail at a refresh is refused with the batch that brings it."""
        n = stream.n + X.shape[0]
        check_parameters(self, max(n, int(self.n_components)))
        known = None if labels is None or stream.n else labels
        check_landmarks(self, n, known, growing=True)
        check_kernels(self, self._kernels(X))
        if y is not None and len(y) != X.shape[0]:
            raise GraphfoldError(
                f"y must have one entry for each of the {X.shape[0]} rows of X; got "
                f"{len(y)}"
            )
        graphs = [g for g in self._graphs().values() if isinstance(g, Graph)]
        if len(graphs) == 1 and graphs[0].has_labels and labels is not None:
            lost = labels[graphs[0].find(labels) < 0]
            if len(lost):
                raise LabelError(
                    f"node_ids must be nodes of the graph; {check.some_of(lost)} "
                    "are not"
                )

    def _n_edges(self, n: int) -> int:
        if self._stream is None:
            return super()._n_edges(n)
        return super()._n_edges(n) + 2 * sum(map(len, self._stream.edges.values()))

    def _refines(self) -> bool:
        return self._stream is None and super()._refines()

    def set_params(self, **params: Any) -> Self:
        """As everywhere in scikit-learn; a stream is solved anew when it is asked."""
        super().set_params(**params)
        if params and self._stream is not None:
            self._forget_answer()
            self._is_stale = True
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the components."""
        self._ready()
        return super().get_feature_names_out(input_features)

    def _keyed(self, graphs: Sources) -> bool:
        """Whether something is known by the labels of the rows."""
        return any(
            not isinstance(g, GraphRecipe) and g.has_labels for g in graphs.values()
        )

    def _knows_rows_by_content(self) -> bool:
        # numbers of arrival are labels that nobody gave
        unnamed = self._stream is not None and self._stream.labels is None
        return (unnamed and bool(self._sources)) or super()._knows_rows_by_content()

    def _edges_by_graph(self, edges: Any) -> dict[str, Any]:
        """Edges of a batch by the name of the graph that they belong to."""
        if edges is None or _is_empty(edges):
            return {}
        if self._graphs():
            raise GraphError(
                "edges must be None where the constructor has given graph: leave "
                "graph=None to make it of the edges of batches"
            )
        if not isinstance(edges, dict):
            return {EDGES: edges}
        given = {str(name): part for name, part in edges.items()}
        return {name: part for name, part in given.items() if not _is_empty(part)}

    def _graphs_of_stream(self, stream: Stream) -> Sources:
        """The constructor's graphs, or those that the edges of the stream make."""
        made = {k: stream.graph(k) for k, part in stream.edges.items() if len(part)}
        own = dict(self._graphs())
        if own and made:
            raise GraphError(
                "graph must be None in a stream whose batches have brought edges"
            )
        return own | made

    def _forget_answer(self) -> None:
        """Take off what the last answer has left, so that nobody reads it."""
        for name in [n for n in vars(self) if _is_learned(n)]:
            del self.__dict__[name]

    def _ready(self) -> None:
        if self._stream is not None:
            self._refresh_if_stale()
        super()._ready()

    @_one_at_a_time
    def _refresh_if_stale(self) -> None:
        """Many threads may ask: the first one solves, the others wait for it."""
        if self._is_stale:
            self.refresh()

    def __getattr__(self, name: str) -> Any:
        # only asked for what is not there: an answer that the last batch took off
        if name in _LEARNED and self.__dict__.get("_stream") is not None:
            self._refresh_if_stale()
            if name in self.__dict__:
                return self.__dict__[name]
        missing = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name == "partial_fit":
            missing += ": landmarks must be a number or rows for it; got None"
        raise AttributeError(missing)


#: what is known of the rows themselves, not of the answer
_OF_ROWS = ("n_features_in_", "feature_names_in_", "n_seen_", "n_batches_")


#: what a refresh finds, so that asking for it is a reason for one
_LEARNED = frozenset(
    {
        "axis_report_",
        "components_",
        "constraint_report_",
        "converged_",
        "drift_",
        "eigenvalues_",
        "eigenvectors_",
        "embedding_",
        "explained_variance_ratio_",
        "formula_",
        "graph_",
        "graph_names_",
        "graph_strength_",
        "graph_weights_",
        "kernel_",
        "kernel_names_",
        "kernel_weights_",
        "landmark_error_",
        "landmarks_",
        "n_graph_components_",
        "n_iter_",
        "objective_trace_",
        "residuals_",
        "solver_",
        "solver_reason_",
        "strength_path_",
        "warnings_",
    }
)


def _is_empty(edges: Any) -> bool:
    """Whether there is no edge in what stands for edges."""
    for count in ("nnz", "n_edges"):
        if hasattr(edges, count):
            return int(getattr(edges, count)) == 0
    return hasattr(edges, "__len__") and len(edges) == 0


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_") and name not in _OF_ROWS
