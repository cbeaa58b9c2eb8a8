"""From scikit-learn's words (``kernel="rbf", gamma=0.1``) to a kernel."""

from __future__ import annotations

from typing import Any

from graphfold import check
from graphfold.errors import GraphfoldError
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
    name = check.one_of("kernel", kernel, NAMES)
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
