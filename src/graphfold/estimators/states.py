"""What a saved model holds of a fit: kinds and shapes, checked when it is loaded.

Names of sizes: n rows of the fit, D columns as the kernel sees them, d components, q
kernels, l graphs. A file whose parts do not fit each other is refused; one that loads
can be asked everything that the fit itself can be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

from graphfold import check
from graphfold.arrays import Array
from graphfold.estimators import robust_graphs
from graphfold.estimators.constraints import ConstraintReport
from graphfold.estimators.drift import DriftReport
from graphfold.estimators.landmarks import check_landmarks
from graphfold.estimators.mode_tables import selectors_of
from graphfold.estimators.modes import Mode
from graphfold.estimators.reading import check_parameters, refuse_too_large
from graphfold.estimators.row_keys import RowKeys
from graphfold.estimators.statement import generator
from graphfold.estimators.stream import Stream
from graphfold.graphs import Graph, GraphRecipe, responses_from
from graphfold.hints import (
    Labels,
    Numbers,
    Range,
    Size,
    Sizes,
    Table,
    check_fields,
    hints_of,
)
from graphfold.kernels import Kernel
from graphfold.kernels.base import Bound
from graphfold.model.certificate import AxisReport
from graphfold.model.extend import Extension
from graphfold.model.path import StrengthPath
from graphfold.model.preimage import Preimage
from graphfold.neighbors.approximate import n_threads


@dataclass(frozen=True)
class Nodes:
    """Annotates a graph of so many nodes."""

    size: str

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse another number of nodes."""
        sizes.agree(where, self.size, value.n_nodes)


GraphOfRows = Annotated[Graph, Nodes("n")]
Count = Annotated[int, Range(0)]
Finite = Annotated[float, Range()]
PerComponent = Annotated[Array, Numbers("d")]
PerRow = Annotated[Array, Numbers("n", "d")]


class Columns(TypedDict):
    """X has the columns that the kernel sees; not so where columns are encoded."""

    n_features_in_: Annotated[int, Size("D"), Range(1)]
    feature_names_in_: NotRequired[Annotated[Array, Labels("D", distinct=False)]]


class Fitted(TypedDict):
    """What every fit leaves."""

    _n_features_out: Annotated[int, Size("d"), Range(1)]
    _scales: PerComponent
    n_iter_: Count
    converged_: bool
    objective_trace_: Annotated[Array, Numbers("_")]
    _fit_labels: Annotated[Array, Labels("n", distinct=False)] | None
    warnings_: NotRequired[tuple[tuple[str, str], ...]]
    _sklearn_output_config: NotRequired[dict[str, str | None]]


class Embedded(Fitted):
    """What all embeddings leave but the robust ones.

    A fit whose rows lie on workers leaves no rows: neither an embedding nor graphs.
    """

    embedding_: NotRequired[PerRow]
    eigenvectors_: NotRequired[PerRow]
    graph_: NotRequired[GraphOfRows | dict[str, GraphOfRows] | None]
    _X_fit: NotRequired[Annotated[Any, Table("n", "D")] | None]
    _extension: Extension
    eigenvalues_: PerComponent
    _rotation: Annotated[Array, Numbers("d", "d")] | None
    _roots: NotRequired[Annotated[Array, Numbers("n", low=0.0)] | None]
    _row_labels: NotRequired[Annotated[Array, Labels("n", distinct=False)] | None]
    _row_keys: NotRequired[RowKeys | None]
    _row_marks: NotRequired[None]
    _row_prints: NotRequired[None]
    _sources: dict[str, Graph | GraphRecipe]
    kernel_: Annotated[Kernel, Bound("D")] | None
    kernel_names_: Annotated[list[str], Size("q")]
    kernel_weights_: Annotated[Array, Numbers("q")]
    graph_names_: Annotated[list[str], Size("l")]
    graph_weights_: Annotated[Array, Numbers("l")]
    n_graph_components_: Count | Annotated[Array, Numbers("l", kind="iu")] | None
    residuals_: Annotated[Array, Numbers("d", finite=False)]
    solver_: str
    solver_reason_: str
    axis_report_: AxisReport
    formula_: str
    explained_variance_ratio_: NotRequired[PerComponent]
    graph_strength_: Annotated[float, Range(0.0)]
    strength_path_: NotRequired[StrengthPath]
    landmarks_: NotRequired[Annotated[Any, Table("m", "D")]]
    landmark_error_: NotRequired[Finite]


class Rows(Columns, Embedded):
    """What an embedding of the rows of one table leaves."""


class Streamed(Rows):
    """What an embedding leaves that knows the way back, and may come in batches."""

    components_: NotRequired[Annotated[Array, Numbers("d", "D")]]
    _preimage: NotRequired[Preimage | None]
    _matrix_names: NotRequired[Annotated[list[str], Size("q")] | None]
    _stream: NotRequired[Stream | None]
    _is_stale: NotRequired[bool]
    n_seen_: NotRequired[Count]
    n_batches_: NotRequired[Count]
    drift_: NotRequired[DriftReport]


class Constrained(Streamed):
    """And one of labels and pairs."""

    constraint_report_: NotRequired[ConstraintReport]


class Local(Rows):
    """What reconstructions of rows from their neighbours leave."""

    reconstruction_weights_: Annotated[Any, Table("n", "n")]
    coefficient_residual_: Annotated[float, Range(finite=False)]
    reconstruction_error_: Finite


class Modal(Embedded):
    """What samples with several modes leave: D are the columns of the encoded table."""

    n_features_in_: Annotated[int, Range(1)]
    feature_names_in_: NotRequired[Annotated[Array, Labels("_", distinct=False)]]
    _modes: list[Mode]
    _starts: Annotated[Array, Numbers("l+1", kind="i", low=0)]
    sample_labels_: NotRequired[Annotated[Array, Labels("n", distinct=False)] | None]
    mode_names_: Annotated[list[str], Size("l")]
    mode_kinds_: Annotated[list[str], Size("l")]
    mode_weights_: Annotated[Array, Numbers("l")]
    mode_contributions_: NotRequired[Annotated[Array, Numbers("n", "l")]]


class _Modes(TypedDict):
    _modes: list[Mode]


class Robust(Columns, Fitted):
    """What both robust methods leave."""

    embedding_: PerRow
    _X_fit: Annotated[Array, Numbers("n", "D", finite=False)]
    low_rank_: Annotated[Array, Numbers("n", "D")]
    sparse_: Annotated[Array, Numbers("n", "D", finite=False)]
    mean_: Annotated[Array, Numbers("D")]
    components_: Annotated[Array, Numbers("d", "D")]
    singular_values_: Annotated[Array, Numbers("d", low=0.0)]
    graph_: GraphOfRows | None
    feature_graph_: NotRequired[Annotated[Graph, Nodes("D")] | None]
    sparsity_: NotRequired[Annotated[float, Range(0.0)]]
    optimality_residual_: Annotated[float, Range(finite=False)]
    objective_: Finite


_KINDS = (Rows, Streamed, Constrained, Local, Modal, Robust)
#: what some estimator or other keeps
_NAMES = frozenset(name for kind in _KINDS for name in hints_of(kind))


# -- what shapes do not say ------------------------------------------------------------


class _Outline(NamedTuple):
    """In the place of a table: kernels and modes ask for nothing but its columns."""

    shape: tuple[int, int]
    columns: tuple[str, ...] = ()


def checker(kind: Any) -> Callable[[Any, dict[str, Any]], None]:
    """A method that raises unless a model of a file can be asked everything."""

    def check_loaded(estimator: Any, state: dict[str, Any]) -> None:
        sizes = Sizes()
        _refuse_others(estimator, state, kind)
        if kind is Modal:
            _check_modes(state, sizes)
        check_fields(kind, state, sizes)
        if kind is not Robust:
            _check_rows_of_fit(estimator, state, sizes)
            _check_graphs(estimator, state, sizes.known("D") or 0)
        _check_arguments(estimator, kind, sizes)

    return check_loaded


def _refuse_others(estimator: Any, state: dict[str, Any], kind: Any) -> None:
    """What belongs to another estimator, or to the class, would be taken for its own.

    Names that nobody knows are the user's.
    """
    for name in state:
        of_class = hasattr(type(estimator), name)
        if name not in hints_of(kind) and (name in _NAMES or of_class):
            raise ValueError(
                f"{name[:80]!r} is no attribute of a fitted {type(estimator).__name__}"
            )


def _check_modes(state: dict[str, Any], sizes: Sizes) -> None:
    """Columns of the encoded table, and that modes are those of the columns of X."""
    check_fields(_Modes, {"_modes": state.get("_modes")}, Sizes())
    modes = state["_modes"]
    sizes.agree("_modes", "D", sum(mode.width + 1 for mode in modes))
    sizes.agree("_modes", "l", len(modes))
    names = state.get("mode_names_")
    if names != [] and sorted(mode.name for mode in modes) != sorted(names or ()):
        raise ValueError("mode_names_ are not those of _modes")
    for mode in modes:
        most = -1 if mode.columns is None else mode.columns.max(initial=-1)
        if most >= state.get("n_features_in_", 0):
            raise ValueError(f"mode {mode.name[:80]!r} has columns that X has not")


def _check_rows_of_fit(estimator: Any, state: dict[str, Any], sizes: Sizes) -> None:
    X, keys = estimator._X_fit, estimator._row_keys
    extension, landmarks = estimator._extension, state.get("landmarks_")
    if (extension.data is None) != (estimator.kernel_ is None):
        raise ValueError("kernel_ is not that of _extension")
    if landmarks is not None:
        found = [] if extension.data is None else extension.data.expansions
        if not found or any(
            part.W is None or part.X.shape[0] != landmarks.shape[0] for part in found
        ):
            raise ValueError("landmarks_ are not those of _extension")
    if "embedding_" not in state:  # the rows were on workers
        if X is not None or keys is not None or estimator._sources:
            raise ValueError("it has rows of the fit and no embedding_")
        return
    sizes.agree("_extension", "n", len(extension.V))
    if estimator._has_rows():
        tables = [] if extension.data is None else extension.data.expansions
        for table in (X, landmarks, *(part.X for part in tables)):
            if table is not None:
                refuse_too_large(table)
    if X is None and (keys is None or landmarks is None):
        raise ValueError("it has neither _X_fit, nor _row_keys and landmarks_")
    labelled = keys is not None and estimator._fit_labels is not None
    if labelled and keys.projections is None:
        raise ValueError("_row_keys must have projections where rows have labels")


def _check_graphs(estimator: Any, state: dict[str, Any], n_features: int) -> None:
    names, sources = estimator.graph_names_, estimator._sources
    for recipe in sources.values():
        if isinstance(recipe, GraphRecipe):
            if estimator._X_fit is None:
                raise ValueError("a graph was built from rows that it does not have")
            recipe.check_bound(n_features)
    if "embedding_" not in state:
        return
    if set(names) != set(sources) or len(set(names)) != len(names):
        raise ValueError("graph_names_ are not those of _sources")
    graphs = state.get("graph_")
    fitted = set(graphs) if isinstance(graphs, dict) else len(names) == 1
    if fitted != (set(names) if isinstance(graphs, dict) else graphs is not None):
        raise ValueError("graph_ is not of graph_names_")
    if not {share.name for share in estimator._extension.graphs} <= set(names):
        raise ValueError("_extension has graphs that are not among graph_names_")


# -- arguments, as at fit --------------------------------------------------------------


def _check_arguments(estimator: Any, kind: Any, sizes: Sizes) -> None:
    """Arguments of the constructor, which ``plan`` and the next fit will read."""
    int(estimator.verbose)
    generator(estimator.random_state)
    check.memory_bytes("max_memory", getattr(estimator, "max_memory", None))
    n_threads(getattr(estimator, "n_jobs", None))
    n, D = sizes.known("n"), sizes.known("D") or 1
    if kind is Robust:
        estimator._check_parameters(estimator._X_fit)
        for name in ("graph", "feature_graph"):
            robust_graphs.source(name, getattr(estimator, name, None))
        return
    check_parameters(estimator, 2**31 if n is None else n)
    for kernel in estimator._kernels(_Outline((n or 1, D))).values():
        kernel.check_parameters()
    graphs = estimator._graphs() if "graph" in estimator.get_params(deep=False) else {}
    if kind is Modal:
        estimator._check_metric()
        _check_selectors(estimator)
        graphs = estimator._mode_graphs(dict.fromkeys(estimator.mode_names_))
    for recipe in graphs.values():
        if isinstance(recipe, GraphRecipe):
            recipe.check_parameters()
    responses_from(estimator._responses(), estimator.graph_names_)
    if getattr(estimator, "align_to", None) is not None:
        Numbers("_", "_", kind="fiu").check("align_to", estimator.align_to, sizes)
    if hasattr(estimator, "landmarks"):
        growing = n is None or getattr(estimator, "_stream", None) is not None
        check_landmarks(estimator, n or 2**31, estimator._row_labels, growing=growing)
    if hasattr(estimator, "forgetting"):
        check.between("forgetting", estimator.forgetting, 0.0, 1.0)
    if kind is Constrained:
        for name in ("must_link", "cannot_link"):
            check.at_least(
                f"{name}_strength", getattr(estimator, f"{name}_strength"), 0
            )
        estimator._has_pairs()


def _check_selectors(estimator: Any) -> None:
    """Columns of modes, where one table was given."""
    asked, size, overlap = estimator.modes, estimator.block_size, estimator.overlap
    if all(mode.columns is None for mode in estimator._modes):
        return
    D = estimator.n_features_in_
    check.integer_between("overlap", overlap, 0, D)
    if asked is None and size is None:
        return  # by the kind of their values, which are not kept
    names = tuple(getattr(estimator, "feature_names_in_", ()))
    found = selectors_of(_Outline((1, D), names), asked, size, overlap)
    if not all(map(len, found.values())):
        raise ValueError("modes must have a column each")
