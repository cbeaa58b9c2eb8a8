"""From scikit-learn's words (``kernel="rbf", gamma=0.1``) to kernels, with names."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from graphfold import check
from graphfold.errors import GraphfoldError, KernelError
from graphfold.kernels.bandwidth import median_squared_distance
from graphfold.kernels.base import Kernel
from graphfold.kernels.borrowed import Pairwise, Precomputed
from graphfold.kernels.products import Cosine, Gaussian, Linear, Polynomial, Sigmoid

NAMES = (
    "linear",
    "rbf",
    "poly",
    "polynomial",
    "sigmoid",
    "cosine",
    "laplacian",
    "chi2",
    "additive_chi2",
    "precomputed",
)


GRID = "gaussian-grid"


def gaussian_grid(
    n_kernels: int = 10, low: float = 0.1, high: float = 10.0
) -> dict[str, Kernel]:
    """Gaussians whose sigma^2 run from ``low`` to ``high`` times the median rule.

    Equal steps on a logarithmic scale. ``kernel="gaussian-grid"`` is this dictionary.

    Examples
    --------
    >>> from graphfold import kernels
    >>> list(kernels.gaussian_grid(3))
    ['median x 0.1', 'median x 1', 'median x 10']
    """
    check.integer_between("n_kernels", n_kernels, 1, 10_000)
    check.at_least("low", low, 0, strict=True)
    check.at_least("high", high, low)
    scales = np.geomspace(low, high, n_kernels)
    return {f"median x {s:.3g}": Gaussian("median", float(s)) for s in scales}


def kernels_from(kernel: Any, **words: Any) -> dict[str, Kernel]:
    """The kernels meant by an estimator's ``kernel=``, by name, in their order.

    None is no kernel at all; a list or a dict is several.
    """
    if kernel is None:
        return {}
    if isinstance(kernel, str) and kernel == GRID:
        return gaussian_grid()
    if not isinstance(kernel, dict | list | tuple):
        return {_name(kernel): kernel_from(kernel, **words)}
    if len(kernel) == 0:
        raise KernelError("kernel must name at least one kernel; got an empty list")
    named = kernel if isinstance(kernel, dict) else dict(_numbered(kernel))
    found: dict[str, Kernel] = {}
    for name, part in named.items():
        if isinstance(part, Precomputed) or (
            isinstance(part, str) and part == "precomputed"
        ):
            raise KernelError(
                "kernel must not hold a precomputed kernel beside others: use "
                'kernel="precomputed" and a list of matrices as X'
            )
        if isinstance(part, str) and part == GRID:
            found |= {f"{name} {k}": grid for k, grid in gaussian_grid().items()}
        else:
            found[str(name)] = kernel_from(part, **words)
    return found


def bind_all(
    kernels: dict[str, Kernel], X: Any, rng: np.random.Generator
) -> dict[str, Kernel]:
    """Every kernel with its rules replaced by numbers; one median serves them all."""
    median = cache(lambda: median_squared_distance(X, rng))
    return {
        name: kernel.at_median(median())
        if isinstance(kernel, Gaussian) and kernel.gamma == "median"
        else kernel.bind(X, rng)
        for name, kernel in kernels.items()
    }


def _name(kernel: Any) -> str:
    if isinstance(kernel, str):
        return kernel
    return repr(kernel) if isinstance(kernel, Kernel) else _title(kernel)


def _title(kernel: Any) -> str:
    return str(getattr(kernel, "__name__", type(kernel).__name__))


def _numbered(kernels: Any) -> list[tuple[str, Any]]:
    """Names for a list: a name that comes again gets a number."""
    seen: dict[str, int] = {}
    pairs = []
    for kernel in kernels:
        name = _name(kernel)
        seen[name] = seen.get(name, 0) + 1
        pairs.append((name if seen[name] == 1 else f"{name} {seen[name]}", kernel))
    return pairs


def kernel_from(
    kernel: Any,
    *,
    gamma: Any = "median",
    degree: float = 3,
    coef0: float = 1,
    kernel_params: dict[str, Any] | None = None,
    n_features: int,
) -> Kernel:
    """The kernel meant by the constructor arguments of an estimator.

    ``gamma="median"`` is a rule for kernels of distances (rbf, laplacian); for kernels
    of inner products (poly, sigmoid) and for chi2 it means 1 / n_features, as None.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Pairwise(kernel, kernel_params)
    name = check.one_of("kernel", kernel, (*NAMES, GRID))
    if isinstance(gamma, str) and gamma != "median":
        raise GraphfoldError(
            f'gamma must be a number at least 0, "median" or None; got {gamma!r}'
        )
    number = None if gamma == "median" else gamma
    per_feature = 1.0 / n_features if number is None else number
    match name:
        case "linear":
            return Linear()
        case "cosine":
            return Cosine()
        case "precomputed":
            return Precomputed()
        case "rbf":
            return Gaussian(gamma)
        case "poly" | "polynomial":
            return Polynomial(degree, coef0, number)
        case "sigmoid":
            return Sigmoid(number, coef0)
        case "additive_chi2":
            return Pairwise(name)
        case "laplacian" if gamma == "median":
            return Pairwise(name, {"gamma": "median"})
        case _:
            return Pairwise(name, {"gamma": per_feature})
