"""What kernels of inner products compute with: norms and powers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array


def squared_norms(X: Any) -> Array:
    """|x|^2 for each row."""
    if sp.issparse(X):
        return np.asarray(sp.csr_array(X).power(2).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def unit_rows(X: Any) -> Any:
    """Rows divided by their length; a zero row stays zero."""
    lengths = np.sqrt(squared_norms(X))
    lengths[lengths == 0] = 1.0
    if sp.issparse(X):
        scale = sp.dia_array((1 / lengths[None], [0]), shape=(len(lengths),) * 2)
        return sp.csr_array(scale @ X)
    return X / lengths[:, None]


def power_in_place(values: Array, exponent: float) -> Array:
    """values ** exponent, by multiplication where the exponent is a small integer."""
    if not float(exponent).is_integer() or not 1 <= exponent <= 8:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.power(values, exponent, out=values)
    base = values.copy()
    with np.errstate(over="ignore"):  # what overflows is refused as a whole
        for _ in range(int(exponent) - 1):
            values *= base
    return values
