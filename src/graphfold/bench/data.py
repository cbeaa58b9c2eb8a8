"""Rows of any number: a sample of a table, or its rows again with a little noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfold.arrays import Array
from graphfold.datasets import load_digits
from graphfold.errors import GraphfoldError
from graphfold.files import read_table


def rows_of(path: str | None, n: int) -> Array:
    """n rows of the table at ``path``, or of the bundled digits.

    Of the digits there are as many as asked for: beyond 1,797 they come again, with
    noise of a tenth of their spread, so that no row is there twice.
    """
    rng = np.random.default_rng(0)
    if path is None:
        X = np.asarray(load_digits().data, dtype=np.float64)
        X = (
            X[rng.integers(len(X), size=n)]
            if n > len(X)
            else X[rng.permutation(len(X))]
        )
        return X[:n] + 0.1 * X.std() * rng.standard_normal((n, X.shape[1]))
    table: Any = read_table(path).X
    if n > table.shape[0]:
        raise GraphfoldError(
            f"--rows must be at most the {table.shape[0]} rows of {path}; got {n}"
        )
    chosen = np.sort(rng.choice(table.shape[0], n, replace=False))
    found = table[chosen]
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, float)
