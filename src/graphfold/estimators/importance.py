"""Which columns of X move a component: gradients of the component as a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array
from graphfold.kernels.gradients import gradient_of_expansion

#: rows of the fit at which the gradient is looked at
MOST_ROWS = 1000


@dataclass(frozen=True)
class FeatureImportances:
    """Shares of the columns of X in one component, in the order of the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from graphfold import GraphKernelPCA
    >>> iris = load_iris().data
    >>> print(GraphKernelPCA(2, kernel="linear").fit(iris).feature_importances(0))
    component 0: share of each column
    x2  0.7128
    x0  0.1411
    x3  0.1287
    x1  0.0174
    """

    component: int
    names: list[str]
    values: Array

    def top(self, count: int = 10) -> list[tuple[str, float]]:
        """The most important columns and their shares, largest first."""
        order = np.argsort(-self.values, kind="stable")[:count]
        return [(self.names[i], round(float(self.values[i]), 4)) for i in order]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.top())
        lines = [f"component {self.component}: share of each column"]
        lines += [f"{name:{width}}  {share:.4f}" for name, share in self.top()]
        return "\n".join(lines)


def importances(estimator: Any, component: int) -> FeatureImportances:
    """Root mean square of the gradient times the spread of each column, as shares."""
    d = estimator.embedding_.shape[1]
    component = check.integer_between("component", component, 0, d - 1)
    energies = estimator._extension.sound_energies()
    # each axis is k(x, .) v / v'Kv, scaled, then turned if the axes were aligned
    turn = np.eye(d) if estimator._rotation is None else estimator._rotation
    scales = estimator._scales * np.where(energies != 0, 1.0, 0.0)
    scales = scales / np.where(energies != 0, energies, 1.0)
    gradient, X = _gradient(estimator, scales * turn[:, component])
    moved = np.sqrt(np.mean(np.square(gradient, dtype=np.float64), axis=0))
    shares = moved * _spread(X)
    total = shares.sum()
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(X.shape[1])]
    return FeatureImportances(
        component, [str(n) for n in names], shares / total if total > 0 else shares
    )


def _gradient(estimator: Any, turn: Array) -> tuple[Array, Any]:
    """The gradient of a combination of components at some rows, and all the rows.

    By landmarks, where there are any: then they are the rows, and where they are means
    of rows, columns of much noise spread less.
    """
    if not hasattr(estimator, "landmarks_"):
        X, weights = estimator._X_fit, estimator._extension.V @ turn
        if estimator.center:
            weights = weights - weights.mean()  # the mean of k(x, .) has a gradient
        expansions = [(1.0, estimator.kernel_, weights)]
    else:
        X = estimator.landmarks_
        expansions = [
            (part.weight, part.kernel, part.W[:, :-1] @ turn)
            for part in estimator._extension.data.expansions
        ]
    rows = X[np.linspace(0, X.shape[0] - 1, min(MOST_ROWS, X.shape[0])).astype(int)]
    gradient = sum(
        weight * gradient_of_expansion(kernel, rows, X, weights)
        for weight, kernel, weights in expansions
    )
    return np.asarray(gradient), X


def _spread(X: Any) -> Array:
    if not sp.issparse(X):
        return np.asarray(X.std(axis=0, dtype=np.float64))
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.power(2).mean(axis=0)).ravel()
    return np.sqrt(np.maximum(squares - mean**2, 0.0))
