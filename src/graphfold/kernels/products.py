"""Kernels that are a function of inner products: k(x, y) = f(x'y, |x|^2, |y|^2)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, final

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array, row_blocks
from graphfold.errors import KernelError
from graphfold.hints import Numbers, Sizes
from graphfold.kernels.bandwidth import (
    check_width,
    inverse,
    median_squared_distance,
    width,
)
from graphfold.kernels.base import Kernel
from graphfold.kernels.grams import Finish, fill_grams
from graphfold.kernels.inner import power_in_place, squared_norms, unit_rows
from graphfold.progress import counted

STRIP = 256
_NUMBERS = 2**21


class ProductKernel(Kernel):
    """A kernel given by ``finish``: inner products in, kernel values out, in place."""

    #: whether k is finite wherever the norms of the rows are
    bounded: bool = False

    @abstractmethod
    def finish(self, products: Array, norms_x: Array, norms_y: Array) -> Array:
        """Turn x'y into k(x, y) in place; norms are squared and shaped to broadcast."""

    @abstractmethod
    def of_norms(self, norms: Array) -> Array:
        """k(x, x) from |x|^2."""

    @property
    def of_products(self) -> bool:
        """Whether ``finish`` is all there is to it."""
        return True

    def check_bound(self, n_features: int) -> None:
        if hasattr(self, "gamma"):  # a rule has been replaced by a number
            check.at_least("gamma", self.gamma, 0)

    def origin(self, like: Any) -> Array | None:
        """What the rows are measured from, where the reference set ``like`` says so."""
        return None

    def moved(self, X: Any, origin: Array | None) -> Any:
        """Rows as the inner products want them."""
        return X

    def prepare(self, X: Any, like: Any) -> Any:
        """X as the inner products want it; ``like`` is the reference set."""
        return self.moved(X, self.origin(like))

    def squared_norms(self, X: Any, origin: Array | None) -> Array:
        """|x|^2 of the rows as they are prepared, block by block."""
        norms = np.empty(X.shape[0], dtype=X.dtype)
        for rows in row_blocks(X.shape[0], max(1, _NUMBERS // max(X.shape[1], 1))):
            norms[rows] = squared_norms(self.moved(X[rows], origin))
        return norms

    def block(self, X: Any, Y: Any) -> Array:
        if sp.issparse(X) != sp.issparse(Y):
            # both are prepared alike, or neither
            X, Y = sp.csr_array(X), sp.csr_array(Y)
        return self.against(Y)(X)

    def against(self, Y: Any) -> Callable[[Any], Array]:
        origin = self.origin(Y)
        moved = self.moved(Y, origin)
        norms, is_sparse = squared_norms(moved)[None], sp.issparse(Y)

        def values(X: Any) -> Array:
            if sp.issparse(X) != is_sparse:
                return self.block(X, Y)
            X = self.moved(X, origin)
            products = X @ moved.T
            products = products.toarray() if is_sparse else np.asarray(products)
            found = self.finish(products, squared_norms(X)[:, None], norms)
            return self.finite(found, found)

        return values

    def gram(self, X: Any) -> Array:
        X = self.prepare(X, X)
        norms = squared_norms(X)
        if sp.issparse(X):
            return self._gram_of_sparse(X, norms)
        room = np.empty((len(X), len(X)), dtype=X.dtype)
        fill_grams([room], X, [self.finisher(norms)], name="kernel")
        return room

    def finisher(self, norms: Array) -> Finish:
        """What turns the products of two slices of the rows into kernel values."""
        sound = self.bounded and bool(np.isfinite(norms).all())

        def finish(products: Array, rows: slice, columns: slice) -> Array:
            values = self.finish(products, norms[rows, None], norms[None, columns])
            return values if sound else self.finite(values, values)

        return finish

    def _gram_of_sparse(self, X: Any, norms: Array) -> Array:
        """By strips: X X' as a sparse matrix may take more room than as a dense one."""
        values = np.empty((X.shape[0], X.shape[0]), dtype=X.dtype)
        across = sp.csr_array(X.T)
        for rows in counted("kernel", row_blocks(len(values), STRIP)):
            strip = (X[rows] @ across).toarray()
            values[rows] = self.finish(strip, norms[rows, None], norms[None])
            self.finite(values[rows], values)
        return values

    def finite(self, values: Array, answer: Array) -> Array:
        """``answer``, unless ``values`` hold NaN or infinity."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = values.sum(dtype=np.float64)
        if not np.isfinite(total):
            raise KernelError(
                f"kernel {self!r} gives NaN or infinity on these rows: scale X, or use "
                "an integer degree"
            )
        return answer

    def diagonal(self, X: Any) -> Array:
        return self.of_norms(self.squared_norms(X, self.origin(X)))

    def factor(self, X: Any) -> Any:
        return None


class InnerProduct(ProductKernel):
    """A kernel that is the inner product itself, of rows prepared in some way."""

    positive = True

    def __init__(self) -> None:
        pass

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        return self

    def finish(self, products: Array, norms_x: Array, norms_y: Array) -> Array:
        return products

    def of_norms(self, norms: Array) -> Array:
        return norms

    def factor(self, X: Any) -> Any:
        return self.prepare(X, X)


@final
class Linear(InnerProduct):
    """k(x, y) = x'y: PCA in the language of kernels.

    Parameters
    ----------
    shift : array of shape (n_features,), default=None
        Taken off all rows first; the centred kernel is the same with any.

    Examples
    --------
    >>> from graphfold import kernels
    >>> kernels.Linear().block([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def __init__(self, shift: Any = None) -> None:
        self.shift = shift

    def check_bound(self, n_features: int) -> None:
        if self.shift is not None:
            Numbers(n_features).check("shift", self.shift, Sizes())

    def origin(self, like: Any) -> Array | None:
        return None if self.shift is None else np.asarray(self.shift)

    def moved(self, X: Any, origin: Array | None) -> Any:
        X = X if sp.issparse(X) else np.asarray(X)
        return X if origin is None else X - origin.astype(X.dtype)


@final
class Cosine(InnerProduct):
    """``k(x, y) = x'y / (|x| |y|)``; a zero row stays zero.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> kernels.Cosine().block(np.array([[1.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[0.6]])
    """

    def moved(self, X: Any, origin: Array | None) -> Any:
        return unit_rows(X)


@final
class Gaussian(ProductKernel):
    """``k(x, y) = exp(-gamma |x - y|^2)``, gamma = 1 / (2 sigma^2).

    Parameters
    ----------
    gamma : float, "median" or None, default="median"
        ``"median"``: sigma^2 is the median squared distance over distinct pairs of
        at most 2,000 rows. ``None``: 1 / n_features, as in scikit-learn.
    scale : float, default=1.0
        With ``"median"``: sigma^2 is this multiple of it.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> kernels.Gaussian(gamma=0.5).block(np.array([[0.0]]), np.array([[2.0]])).round(4)
    array([[0.1353]])
    """

    positive = True
    bounded = True

    def __init__(
        self,
        gamma: float | Literal["median"] | None = "median",
        scale: float = 1.0,
    ) -> None:
        self.gamma = gamma
        self.scale = scale

    def check_parameters(self) -> None:
        if isinstance(self.gamma, str):
            check.one_of("gamma", self.gamma, ("median",))
            check.at_least("scale", self.scale, 0, strict=True)
        else:
            check_width("gamma", self.gamma)

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        if self.gamma == "median":
            return self.at_median(median_squared_distance(X, rng))
        return self.with_params(gamma=width("gamma", self.gamma, X))

    def at_median(self, squared_distance: float) -> Self:
        """This kernel with its width in numbers, given the median of the data."""
        scale = check.at_least("scale", self.scale, 0, strict=True)
        gamma = 0.5 * inverse(scale * squared_distance)
        return self.with_params(gamma=gamma, scale=1.0)

    def origin(self, like: Any) -> Array | None:
        # distances do not change under a common shift, but |x|^2 + |y|^2 - 2 x'y
        # loses every digit when the data lie far from the origin; rows as far from it
        # as from their mean lose one bit, and are not copied
        if sp.issparse(like):
            return None
        mean = like.mean(axis=0)
        if like.dtype.kind != "f" or len(like) == 0:
            return mean  # what is measured from a mean becomes float
        with np.errstate(over="ignore", invalid="ignore"):
            size = float(np.einsum("ij,ij", like, like)) / len(like)
            return None if 2 * float(mean @ mean) <= size < np.inf else mean

    def moved(self, X: Any, origin: Array | None) -> Any:
        return X if origin is None else X - origin

    def finish(self, products: Array, norms_x: Array, norms_y: Array) -> Array:
        gamma = float(self.gamma)  # type: ignore[arg-type]
        products *= 2
        products -= norms_x + norms_y  # together, so that symmetric ones stay so
        np.minimum(products, 0, out=products)
        products *= gamma
        return np.exp(products, out=products)

    def of_norms(self, norms: Array) -> Array:
        return np.ones_like(norms)


@final
class Polynomial(ProductKernel):
    """k(x, y) = (gamma x'y + coef0)^degree; the paper has gamma = 1.

    Parameters
    ----------
    degree : float, default=3
    coef0 : float, default=1
    gamma : float or None, default=1
        ``None``: 1 / n_features, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> kernels.Polynomial(degree=2).block(np.array([[1.0]]), np.array([[2.0]]))
    array([[9.]])
    """

    def __init__(
        self, degree: float = 3, coef0: float = 1, gamma: float | None = 1.0
    ) -> None:
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma

    @property
    def positive(self) -> bool:  # type: ignore[override]
        return float(self.degree).is_integer() and self.coef0 >= 0

    def check_parameters(self) -> None:
        check.at_least("degree", self.degree, 0)
        check.number("coef0", self.coef0)
        check_width("gamma", self.gamma)

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        self.check_parameters()
        return self.with_params(gamma=width("gamma", self.gamma, X))

    def finish(self, products: Array, norms_x: Array, norms_y: Array) -> Array:
        products *= float(self.gamma)  # type: ignore[arg-type]
        products += float(self.coef0)
        return power_in_place(products, self.degree)

    def of_norms(self, norms: Array) -> Array:
        return self.finish(norms.copy(), norms, norms)


@final
class Sigmoid(ProductKernel):
    """k(x, y) = tanh(gamma x'y + coef0); not positive semi-definite in general.

    Parameters
    ----------
    gamma : float or None, default=None
        ``None``: 1 / n_features, as in scikit-learn.
    coef0 : float, default=1

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> k = kernels.Sigmoid(gamma=1.0, coef0=0.0)
    >>> k.block(np.array([[1.0]]), np.array([[1.0]])).round(4)
    array([[0.7616]])
    """

    def __init__(self, gamma: float | None = None, coef0: float = 1) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def check_parameters(self) -> None:
        check.number("coef0", self.coef0)
        check_width("gamma", self.gamma)

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        self.check_parameters()
        return self.with_params(gamma=width("gamma", self.gamma, X))

    def finish(self, products: Array, norms_x: Array, norms_y: Array) -> Array:
        products *= float(self.gamma)  # type: ignore[arg-type]
        products += float(self.coef0)
        return np.tanh(products, out=products)

    def of_norms(self, norms: Array) -> Array:
        return self.finish(norms.copy(), norms, norms)


def gaussian_grams(kernels: Sequence[Gaussian], X: Any) -> list[Array]:
    """k(X, X) for each of several Gaussians: the products x'y are computed once.

    The matrices lie in one block of memory, so that a weighted sum of them is one
    product with it.
    """
    if sp.issparse(X) or len(kernels) == 1:
        return [kernel.gram(X) for kernel in kernels]
    X = kernels[0].prepare(X, X)
    norms = squared_norms(X)
    block = np.empty((len(kernels), len(X), len(X)), dtype=X.dtype)
    finishes = [kernel.finisher(norms) for kernel in kernels]
    fill_grams(list(block), X, finishes, name="kernel")
    return list(block)
