"""Kernels whose values come from elsewhere: scikit-learn, a callable, a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from graphfold import check
from graphfold.arrays import Array, row_blocks
from graphfold.errors import KernelError
from graphfold.kernels.bandwidth import median_absolute_distance
from graphfold.kernels.base import Kernel
from graphfold.progress import counted


@final
class Pairwise(Kernel):
    """Any kernel of scikit-learn's ``pairwise_kernels``, by name or as a callable.

    Parameters
    ----------
    metric : str or callable
        A name, or a function of two rows that returns a number.
    params : dict, default=None
        Passed on. ``gamma="median"`` is understood for the Laplacian kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> k = kernels.Pairwise("laplacian", {"gamma": 1.0})
    >>> k.block(np.array([[0.0]]), np.array([[1.0]])).round(4)
    array([[0.3679]])
    """

    def __init__(
        self,
        metric: str | Callable[..., float],
        params: dict[str, Any] | None = None,
    ) -> None:
        self.metric = metric
        self.params = params

    def check_parameters(self) -> None:
        if not callable(self.metric):
            check.one_of("metric", self.metric, tuple(PAIRWISE_KERNEL_FUNCTIONS))
        if self.params is not None and not isinstance(self.params, dict):
            raise KernelError(f"params must be a dict; got {self.params!r}")

    def check_bound(self, n_features: int) -> None:
        try:  # what scikit-learn takes depends on its version
            self._evaluate(np.ones((1, n_features)), None)
        except Exception as error:
            raise KernelError(f"kernel {self._name} cannot be used: {error}") from None

    @property
    def positive(self) -> bool:  # type: ignore[override]
        return self.metric in ("laplacian", "chi2")

    @property
    def of_means(self) -> bool:  # type: ignore[override]
        return not callable(self.metric)

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        params = dict(self.params or {})
        if params.get("gamma") == "median":
            params["gamma"] = 1.0 / median_absolute_distance(X, rng)
        return self.with_params(params=params)

    def block(self, X: Any, Y: Any) -> Array:
        return self._evaluate(X, Y)

    def gram(self, X: Any) -> Array:
        # scikit-learn asks a callable for one triangle only, so look at a few pairs
        sample = self._evaluate(X[:5], X[:5])
        if not np.allclose(sample, sample.T, rtol=1e-5, atol=1e-8):
            raise KernelError(
                f"kernel {self._name} must be symmetric, k(x, y) = k(y, x); it is not"
            )
        if callable(self.metric):
            return symmetric_in_place(self._evaluate(X, None))
        # by strips: scikit-learn computes some kernels in double precision
        K = np.empty((X.shape[0], X.shape[0]), dtype=X.dtype)
        for rows in counted("kernel", row_blocks(len(K), 256)):
            K[rows] = self._evaluate(X[rows], X)
        return symmetric_in_place(K)

    def diagonal(self, X: Any) -> Array:
        # a callable is asked row by row, as pairwise_kernels itself would
        size = 1 if callable(self.metric) else 64
        blocks = (
            self._evaluate(X[rows], None) for rows in row_blocks(X.shape[0], size)
        )
        return np.concatenate([np.diagonal(block) for block in blocks])

    def factor(self, X: Any) -> Any:
        return None

    @property
    def _name(self) -> str:
        return getattr(self.metric, "__name__", str(self.metric))

    def _evaluate(self, X: Any, Y: Any) -> Array:
        K = pairwise_kernels(X, Y, metric=self.metric, **(self.params or {}))
        K = np.asarray(K, dtype=X.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            sound = np.isfinite(K.sum(dtype=np.float64))
        if not sound:
            raise KernelError(
                f"kernel {self._name} returned NaN or infinity; "
                "it must be finite for every pair of rows"
            )
        return K


@final
class Precomputed(Kernel):
    """X is the kernel matrix itself: n x n at fit, m x n at transform.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> GraphKernelPCA(1, kernel="precomputed").fit_transform(K).shape
    (3, 1)
    """

    def __init__(self) -> None:
        pass

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        n, n_columns = X.shape
        if n != n_columns:
            raise KernelError(
                f"a precomputed kernel must be square, n x n; X has shape {X.shape}"
            )
        gap = largest_gap(X)
        if gap > 1e-6 * abs(X).max():
            raise KernelError(
                "a precomputed kernel must be symmetric; entries of X and X.T differ "
                f"by up to {gap:.3g}: pass (X + X.T) / 2 if that is what you mean"
            )
        return self

    def block(self, X: Any, Y: Any) -> Array:
        """X itself holds the values: k(x, .) in its rows."""
        return np.asarray(X.toarray()) if sp.issparse(X) else np.asarray(X)

    def gram(self, X: Any) -> Array:
        return np.asarray(X)

    def diagonal(self, X: Any) -> Array:
        return np.asarray(X.diagonal()).copy()

    def factor(self, X: Any) -> Any:
        return None


def symmetric_in_place(K: Array) -> Array:
    """(K + K') / 2 in the place of K, strip by strip."""
    for rows in row_blocks(len(K), 256):
        strip = K[rows, rows.start :]
        strip += K[rows.start :, rows].T
        strip /= 2
        K[rows.start :, rows] = strip.T
    return K


def largest_gap(X: Any) -> float:
    """The largest size of an entry of X - X', strip by strip."""
    if sp.issparse(X):
        return float(abs(X - X.T).max())
    strips = row_blocks(len(X), 256)
    return max(float(np.abs(X[rows] - X[:, rows].T).max()) for rows in strips)
