"""Kernels made of kernels: a weighted sum, and a kernel of some columns only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import KernelError
from graphfold.kernels.base import Kernel


@final
class Combination(Kernel):
    """k(x, y) = sum of weights times kernels, all of the same rows.

    Parameters
    ----------
    kernels : sequence of kernels
    weights : sequence of float

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> k = kernels.Combination([kernels.Linear(), kernels.Polynomial(2)], [1.0, 0.5])
    >>> k.block(np.array([[1.0]]), np.array([[2.0]]))
    array([[6.5]])
    """

    def __init__(self, kernels: Sequence[Kernel], weights: Sequence[float]) -> None:
        self.kernels = kernels
        self.weights = weights

    def check_parameters(self) -> None:
        for name in ("kernels", "weights"):
            if not isinstance(getattr(self, name), list | tuple):
                raise KernelError(f"{name} of a Combination must be a list")
        if not self.kernels or len(self.kernels) != len(self.weights):
            raise KernelError(
                f"a Combination must have a weight for each kernel; got "
                f"{len(self.weights)} for {len(self.kernels)}"
            )
        for weight, kernel in zip(self.weights, self.kernels, strict=True):
            check.number("weights", weight)
            check_kernel(kernel)
        if not any(self.weights):
            raise KernelError("a Combination must have a weight that is not 0")

    def check_bound(self, n_features: int) -> None:
        for kernel in self.kernels:
            kernel.check_bound(n_features)

    def check_rows(self, n: int) -> None:
        for kernel in self.kernels:
            kernel.check_rows(n)

    @property
    def positive(self) -> bool:  # type: ignore[override]
        return all(kernel.positive for _, kernel in self.parts())

    @property
    def of_means(self) -> bool:  # type: ignore[override]
        return all(kernel.of_means for _, kernel in self.parts())

    def parts(self) -> list[tuple[float, Kernel]]:
        """Weights and kernels; what has no weight has no say."""
        pairs = zip(self.weights, self.kernels, strict=True)
        return [(float(weight), kernel) for weight, kernel in pairs if weight != 0]

    @property
    def pointwise(self) -> bool:  # type: ignore[override]
        return all(kernel.pointwise for _, kernel in self.parts())

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        return self.with_params(kernels=[k.bind(X, rng) for k in self.kernels])

    def block(self, X: Any, Y: Any) -> Array:
        return self._sum(kernel.block(X, Y) for _, kernel in self.parts())

    def gram(self, X: Any) -> Array:
        return self._sum(kernel.gram(X) for _, kernel in self.parts())

    def diagonal(self, X: Any) -> Array:
        return self._sum(kernel.diagonal(X) for _, kernel in self.parts())

    def factor(self, X: Any) -> Any:
        factors = [kernel.factor(X) for _, kernel in self.parts()]
        if any(factor is None for factor in factors):
            return None
        if any(weight < 0 for weight, _ in self.parts()):
            return None
        scaled = [
            factor * float(np.sqrt(weight))
            for (weight, _), factor in zip(self.parts(), factors, strict=True)
        ]
        if any(sp.issparse(factor) for factor in scaled):
            return sp.csr_array(sp.hstack(scaled))
        return np.hstack(scaled)

    def _sum(self, values: Any) -> Array:
        total: Any = None
        for (weight, _), part in zip(self.parts(), values, strict=True):
            # a new array: a precomputed kernel hands out its own memory
            total = weight * part if total is None else total + weight * part
        return np.asarray(total)


@final
class OnColumns(Kernel):
    """A kernel that looks at some columns of X only: one view of the rows.

    Parameters
    ----------
    kernel : Kernel
    start, stop : int
        The columns from ``start`` up to, not including, ``stop``.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> k = kernels.OnColumns(kernels.Linear(), 1, 2)
    >>> k.block(np.array([[5.0, 2.0]]), np.array([[7.0, 3.0]]))
    array([[6.]])
    """

    def __init__(self, kernel: Kernel, start: int, stop: int) -> None:
        self.kernel = kernel
        self.start = start
        self.stop = stop

    def check_parameters(self) -> None:
        check_kernel(self.kernel)
        start = check.integer_between("start", self.start, 0, 2**31)
        check.integer_between("stop", self.stop, start + 1, 2**31)

    def check_bound(self, n_features: int) -> None:
        check.integer_between("stop", self.stop, 1, n_features)
        self.kernel.check_bound(self.stop - self.start)

    def check_rows(self, n: int) -> None:
        self.kernel.check_rows(n)

    @property
    def positive(self) -> bool:  # type: ignore[override]
        return self.kernel.positive

    @property
    def of_means(self) -> bool:  # type: ignore[override]
        return self.kernel.of_means

    @property
    def pointwise(self) -> bool:  # type: ignore[override]
        return self.kernel.pointwise

    @property
    def by_inverse(self) -> bool:  # type: ignore[override]
        return self.kernel.by_inverse

    def inverse_factor(self, X: Any) -> Any:
        return self.kernel.inverse_factor(self.view(X))

    def weights_over_fit(self, X: Any) -> Any:
        return self.kernel.weights_over_fit(self.view(X))

    def view(self, X: Any) -> Any:
        """The columns of X that the kernel looks at."""
        return X[:, self.start : self.stop]

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        return self.with_params(kernel=self.kernel.bind(self.view(X), rng))

    def block(self, X: Any, Y: Any) -> Array:
        return self.kernel.block(self.view(X), self.view(Y))

    def gram(self, X: Any) -> Array:
        return self.kernel.gram(self.view(X))

    def diagonal(self, X: Any) -> Array:
        return self.kernel.diagonal(self.view(X))

    def factor(self, X: Any) -> Any:
        return self.kernel.factor(self.view(X))


def check_kernel(kernel: Any) -> None:
    """Raise unless a part of a kernel is a kernel, with parameters in their range."""
    if not isinstance(kernel, Kernel):
        raise KernelError(f"a kernel is made of kernels; got {type(kernel).__name__}")
    kernel.check_parameters()
