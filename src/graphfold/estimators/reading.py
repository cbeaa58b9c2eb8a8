"""The public door: rows and parameters are checked here, before any work."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, validate_data

from graphfold import check
from graphfold.errors import GraphfoldError, KernelError, PackageError
from graphfold.estimators.alignment import refuse_other_references
from graphfold.estimators.starting_weights import WORDS
from graphfold.graphs.laplacian import KINDS
from graphfold.model.extend import SCALINGS
from graphfold.solvers import SOLVERS
from graphfold.stores import RowStore, row_store

#: words for ``graph_strength``
AUTO = ("auto", "auto-edges")


def matrices_side_by_side(
    X: Any, names: list[str] | None
) -> tuple[Any, list[str] | None]:
    """Several kernel matrices as one table, and their names; one matrix as it is.

    ``names`` are those of the fit, which new rows have to match.
    """
    if sp.issparse(X):
        named = {}  # one of SciPy's formats is a dict
    elif isinstance(X, dict):
        named = {str(name): part for name, part in X.items()}
    elif _is_list_of_matrices(X):
        named = {f"kernel{i}": part for i, part in enumerate(X, start=1)}
    else:
        named = {}
    if names is not None and list(named) != names:
        raise KernelError(
            f"X must hold the kernel matrices of the fit, {check.some_of(names)}; got "
            f"{check.some_of(list(named)) or 'one table'}"
        )
    if not named:
        return X, None
    for name, matrix in named.items():
        check.refuse_other_objects(f"X[{name!r}]", matrix)
    arrays = {k: M if sp.issparse(M) else np.asarray(M) for k, M in named.items()}
    shapes = {name: matrix.shape for name, matrix in arrays.items()}
    if len(set(shapes.values())) > 1 or any(len(s) != 2 for s in shapes.values()):
        listed = [f"{name} {shape}" for name, shape in shapes.items()]
        raise KernelError(
            "kernel matrices must all have one shape, a row for each sample; got "
            f"{check.some_of(listed)}"
        )
    if names is None and any(rows != columns for rows, columns in shapes.values()):
        raise KernelError(
            f"kernel matrices must be square, n x n; got {next(iter(shapes.values()))}"
        )
    if any(sp.issparse(matrix) for matrix in arrays.values()):
        return sp.csr_array(sp.hstack(list(arrays.values()))), list(named)
    return np.hstack(list(arrays.values())), list(named)


def _is_list_of_matrices(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return X.ndim == 3
    if not isinstance(X, list | tuple) or not X:
        return False
    return all(len(getattr(part, "shape", ())) == 2 for part in X)


def is_distributed(X: Any) -> bool:
    """Whether X is a collection of Dask's: asked without importing it."""
    return hasattr(X, "__dask_graph__")


def lies_on_workers(X: Any) -> bool:
    """Whether rows have been read as blocks on workers."""
    return type(X).__name__ == "DistributedRows"


def workers() -> Any:
    """The fits of rows on workers; Dask is imported with them, and not before."""
    try:
        from graphfold.estimators import on_workers
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        raise PackageError(
            "X is a collection of Dask's, which needs the package: pip install "
            "'graphfold[dask]'"
        ) from None
    return on_workers


def read_anywhere(estimator: Any, X: Any) -> Any:
    """X at fit, read where it lies: here, or as blocks of rows that stay on workers."""
    if not is_distributed(X):
        return estimator._read(X, reset=True)
    if not hasattr(estimator, "landmarks"):
        raise GraphfoldError(
            f"X must be in memory for {type(estimator).__name__}, which has no "
            "landmarks; got a collection of Dask's: call X.compute() if it fits"
        )
    return workers().read_blocks(estimator, X, reset=True)


def read_rows(estimator: Any, X: Any, *, reset: bool, least: int | None = None) -> Any:
    """X as a dense or CSR array of floats; at fit its columns are remembered.

    A table on disk stays there if the plan of the fit says so: see ``read_store``.
    ``least`` rows have to be there: two at a fit, else one.

    Finiteness comes before the number of columns: scikit-learn checks in that order.
    """
    if is_distributed(X):
        raise GraphfoldError(
            f"X must be in memory here; got a {type(X).__name__} of Dask's, which fit "
            "and transform of the methods with landmarks take: call X.compute() if it "
            "fits"
        )
    X = row_store(X)
    if not isinstance(X, RowStore):
        check.refuse_other_objects("X", X)
        check.refuse_odd_columns("X", X)
    X = check.no_tensor("X", X)
    if isinstance(X, RowStore):
        return read_store(estimator, X, reset=reset, least=least)
    array = check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=least or (2 if reset else 1),
        estimator=estimator,
        input_name="X",
    )
    if not _squares_add_up(array):
        refuse_non_finite(array)
        if estimator._has_rows():
            refuse_too_large(array)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return array


def read_store(
    estimator: Any, X: RowStore, *, reset: bool, least: int | None = None
) -> Any:
    """A table on disk, looked at block by block; at fit its columns are remembered.

    A fit by landmarks takes it as it is. An exact fit has all rows in memory, and
    reads them where it would copy an array (``copy``), after its plan has said that
    they fit. New rows are read.
    """
    least = least or (2 if reset else 1)
    if X.shape[0] < least or X.shape[1] < 1:
        raise GraphfoldError(
            f"X must have at least {least} rows (samples) and 1 column (feature); got "
            f"n_samples={X.shape[0]} and n_features={X.shape[1]}"
        )
    for rows, block in X.blocks():
        if not _squares_add_up(block):
            refuse_non_finite(block, first=rows.start)
            refuse_too_large(block)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if not reset:
        return X.read()
    plan = estimator._plan(estimator._kernels(X), X)
    return X if plan.way == "landmarks" else X.for_exact()


def check_parameters(estimator: Any, n: int) -> None:
    """Ranges of the parameters that estimators share, for n rows."""
    check.integer_between(
        "n_components", estimator.n_components, 1, n, f"X has {n} rows"
    )
    check.one_of("laplacian", estimator.laplacian, KINDS)
    strength = estimator.graph_strength
    if not (isinstance(strength, str) and strength in AUTO):
        if isinstance(strength, str):
            raise GraphfoldError(
                "graph_strength must be a number at least 0, "
                f'"auto" or "auto-edges"; got {strength!r}'
            )
        check.at_least("graph_strength", strength, 0)
    if isinstance(estimator.weights, str):  # others are checked with the names of terms
        check.one_of("weights", estimator.weights, WORDS)
    check.at_least("weight_norm", estimator.weight_norm, 1)
    for name in ("normalize", "center"):
        check.flag(name, getattr(estimator, name))
    check.one_of("scaling", estimator.scaling, SCALINGS)
    check.one_of("solver", estimator.solver, ("auto", *SOLVERS))
    if hasattr(estimator, "fit_inverse_transform"):
        check.flag("fit_inverse_transform", estimator.fit_inverse_transform)
        check.at_least("alpha", estimator.alpha, 0)
    if estimator.align_to is not None:
        refuse_other_references(estimator.align_to)
    if estimator.tol is not None:
        check.at_least("tol", estimator.tol, 0)
    if estimator.max_iter is not None:
        check.integer_between("max_iter", estimator.max_iter, 1, 2**31)


def refuse_non_finite(X: Any, first: int = 0) -> None:
    """Raise if X holds NaN or infinity, and name the rows, X's own being ``first``."""
    if sp.issparse(X):
        row_of_entry = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        bad = np.unique(row_of_entry[~np.isfinite(X.data)])
    else:
        bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(bad):
        raise GraphfoldError(
            f"X must be finite; it contains NaN or infinity (inf) in rows "
            f"{check.some_of(first + bad)} ({len(bad)} in all): drop them or fill "
            "them, for example with sklearn.impute.SimpleImputer"
        )


def _squares_add_up(X: Any) -> bool:
    """Whether X is finite and not too large, by one number in one pass.

    4 times the size of X times its sum of squares is at least 4 * size * largest**2.
    BLAS would leave a thread spinning that the kernel matrix needs a moment later.
    """
    values = (X.data if sp.issparse(X) else X).ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(4.0 * values.size * np.einsum("i,i", values, values)))


def refuse_too_large(X: Any) -> None:
    """Raise if squares of the entries of X, NaN aside, would not add up to a number."""
    values = X.data if sp.issparse(X) else X
    if values.size == 0 or _squares_add_up(X):
        return
    largest = max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None))
    most = np.sqrt(np.finfo(values.dtype).max / (4.0 * values.size))
    if largest > most:
        raise GraphfoldError(
            f"X must have entries of size up to {most:.2g}, whose squares add up to a "
            f"number in {values.dtype}; got {largest:.3g}: divide X by its largest "
            f"entry{', or pass float64' if values.dtype == np.float32 else ''}"
        )
