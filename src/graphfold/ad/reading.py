"""The table that a verb works on: X, a layer or a representation; never densified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check, sparse_parts
from graphfold.ad.checks import one_of_keys
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.stores import RowStore, SelectedColumns, is_on_disk, row_store


@dataclass(frozen=True)
class Table:
    """Rows of numbers, and which variables its columns are.

    ``variables`` are positions among ``adata.var_names``, or None where the columns
    are no variables but those of a representation.
    """

    X: Any
    variables: Array | None


def table_of(adata: Any, use_rep: Any, layer: Any, mask_var: Any) -> Table:
    """The table that is meant: ``obsm[use_rep]``, or X or a layer of some variables."""
    if use_rep not in (None, "X"):
        for name, value in (("layer", layer), ("mask_var", mask_var)):
            if value is not None:
                raise GraphfoldError(
                    f"{name} must be None together with use_rep={use_rep!r}, which "
                    f"has columns of its own; got {_short(value)}"
                )
        key = one_of_keys("use_rep", use_rep, list(adata.obsm.keys()), "adata.obsm")
        rep = adata.obsm[key]
        return Table(rep if on_workers(rep) else plain(rep), None)
    variables = variables_of(adata, mask_var)
    return Table(columns_of(expressed(adata, layer), variables), variables)


def expressed(adata: Any, layer: Any) -> Any:
    """X or a layer, where it is: in memory or on disk."""
    if layer is not None:
        one_of_keys("layer", layer, list(adata.layers.keys()), "adata.layers")
        return adata.layers[layer]
    if adata.X is None:
        raise GraphfoldError(
            "adata must have X, or use_rep= or layer= name another table; there are "
            f"{check.some_of(sorted(adata.obsm.keys()), 8) or 'none'} in obsm and "
            f"{check.some_of(sorted(adata.layers.keys()), 8) or 'none'} in layers"
        )
    return adata.X


def variables_of(adata: Any, mask_var: Any) -> Array:
    """Positions of the variables that a mask keeps; all for None."""
    if mask_var is None:
        return np.arange(adata.n_vars)
    if isinstance(mask_var, str):
        key = one_of_keys("mask_var", mask_var, list(adata.var.columns), "adata.var")
        mask = np.asarray(adata.var[key])
    else:
        mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (adata.n_vars,):
        raise GraphfoldError(
            "mask_var must be a column of adata.var, or an array, with True or False "
            f"for each of the {adata.n_vars} variables; got {mask.dtype} of shape "
            f"{mask.shape}"
        )
    if not mask.any():
        raise GraphfoldError("mask_var must keep at least one variable; got none")
    return np.flatnonzero(mask)


def columns_of(X: Any, variables: Array) -> Any:
    """Some columns of a table, in this order; on disk they stay there."""
    everything = np.array_equal(variables, np.arange(X.shape[1]))
    if is_on_disk(X):
        store = row_store(X)
        if everything or not isinstance(store, RowStore):
            return store
        return RowStore(SelectedColumns(store.source, variables))
    X = X if on_workers(X) else plain(X)
    return X if everything else X[:, variables]


def on_workers(X: Any) -> bool:
    """Whether a table is a ``dask.array``: its rows stay where they are."""
    return hasattr(X, "__dask_graph__")


def plain(X: Any) -> Any:
    """An array or CSR array, without what a view or a DataFrame adds to it.

    What is computed when it is asked for (a graph or places of Dask's) is computed
    here, once, and a table of sparse blocks stays sparse.
    """
    if hasattr(X, "compute"):
        X = X.compute()
    if sp.issparse(X):
        return sp.csr_array(whole(X))
    return np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)


def whole(matrix: Any, name: str = "a sparse matrix in adata") -> Any:
    """A sparse matrix whose parts fit to each other; others as they are.

    anndata does not check what it reads: a place outside of a matrix would end the
    process in SciPy's compiled code.
    """
    if sp.issparse(matrix):
        try:
            sparse_parts.check_compressed(matrix)
        except ValueError as error:
            raise GraphfoldError(f"{name} is damaged: {error}") from None
    return matrix


def _short(value: Any) -> str:
    return repr(value) if isinstance(value, str) else type(value).__name__
