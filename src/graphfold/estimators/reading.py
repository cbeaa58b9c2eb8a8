"""The public door: rows and parameters are checked here, before any work."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, validate_data

from graphfold import check
from graphfold.errors import GraphfoldError
from graphfold.graphs.laplacian import KINDS
from graphfold.model.extend import SCALINGS
from graphfold.solvers import SOLVERS


def read_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a dense or CSR array of floats; at fit its columns are remembered.

    Finiteness comes before the number of columns: scikit-learn checks in that order.
    """
    array = check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
        estimator=estimator,
        input_name="X",
    )
    refuse_non_finite(array)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return array


def check_parameters(estimator: Any, n: int) -> None:
    """Ranges of the parameters that estimators share, for n rows."""
    check.integer_between(
        "n_components", estimator.n_components, 1, n, f"X has {n} rows"
    )
    check.one_of("laplacian", estimator.laplacian, KINDS)
    check.at_least("graph_strength", estimator.graph_strength, 0)
    for name in ("normalize", "center", "fit_inverse_transform"):
        check.flag(name, getattr(estimator, name))
    check.one_of("scaling", estimator.scaling, SCALINGS)
    check.one_of("solver", estimator.solver, ("auto", *SOLVERS))
    check.at_least("alpha", estimator.alpha, 0)
    if estimator.tol is not None:
        check.at_least("tol", estimator.tol, 0)
    if estimator.max_iter is not None:
        check.integer_between("max_iter", estimator.max_iter, 1, 2**31)


def refuse_non_finite(X: Any) -> None:
    """Raise if X holds NaN or infinity, and name the rows."""
    if sp.issparse(X):
        row_of_entry = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        bad = np.unique(row_of_entry[~np.isfinite(X.data)])
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(X.sum()):  # one number says it all, nearly always
                return
        bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(bad):
        raise GraphfoldError(
            f"X must be finite; it contains NaN or infinity (inf) in rows "
            f"{check.some_of(bad)} ({len(bad)} in all): drop them or fill them, for "
            "example with sklearn.impute.SimpleImputer"
        )
