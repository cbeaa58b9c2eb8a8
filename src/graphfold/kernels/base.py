"""The contract of a kernel: what it needs to know of the data, and its values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from graphfold.arrays import Array
from graphfold.errors import KernelError
from graphfold.hints import Sizes
from graphfold.params import Params


class Kernel(Params):
    """A kernel function k(x, y), described by its parameters alone.

    A parameter may be a rule such as ``"median"``. ``bind`` replaces rules by
    numbers; only a bound kernel is evaluated, so its values for a row never depend
    on the other rows of a batch.
    """

    #: whether every kernel matrix is positive semi-definite
    positive: bool = False
    #: whether k(x, y) is a function of x and y alone; else the rows of the fit, which
    #: ``bind`` keeps, have a say in it, and only k(x, rows of the fit) is known
    pointwise: bool = True
    #: whether the kernel matrix is known by its pseudo-inverse, ``inverse_factor``
    by_inverse: bool = False
    #: whether k(x, y) has a meaning where x is a mean of rows; of a callable nobody
    #: knows: its rows may be codes
    of_means: bool = True

    @abstractmethod
    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        """This kernel with every rule replaced by a number that X suggests."""

    def check_bound(self, n_features: int) -> None:
        """Raise unless the kernel can be evaluated on rows of so many columns.

        Of a kernel that was bound and comes from a file; its parameters are checked.
        """

    def check_rows(self, n: int) -> None:
        """Raise unless the rows that the kernel knows, if it knows any, are so many."""
        rows = getattr(self, "rows", None)
        if rows is not None and rows.shape[0] != n:
            raise KernelError(
                f"kernel {type(self).__name__} knows {rows.shape[0]} rows, not {n}"
            )

    @abstractmethod
    def block(self, X: Any, Y: Any) -> Array:
        """k(x, y) for each row x of X and y of Y, a dense array."""

    def against(self, Y: Any) -> Callable[[Any], Array]:
        """k(., Y) for one block of rows after another: Y is made ready once."""
        return lambda X: self.block(X, Y)

    @abstractmethod
    def gram(self, X: Any) -> Array:
        """k(X, X), a dense symmetric array."""

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each row x."""

    @abstractmethod
    def factor(self, X: Any) -> Any:
        """Z with k(X, X) = Z Z', where that is as cheap as X itself, else None."""

    def inverse_factor(self, X: Any) -> Any:
        """T, sparse, with k(X, X) the pseudo-inverse of T'T; None where unknown."""
        return None

    def weights_over_fit(self, X: Any) -> Any:
        """C, sparse, with k(x, .) = C k(X_fit, .) for new rows; None where unknown.

        A kernel that is known by its pseudo-inverse places new rows by it.
        """
        return None


@dataclass(frozen=True)
class Bound:
    """Annotates a kernel of a saved record: it is bound to rows of so many columns."""

    n_features: str

    def check(self, where: str, value: Any, sizes: Sizes) -> None:
        """Refuse a kernel that cannot be evaluated."""
        known = sizes.known(self.n_features)
        if isinstance(value, Kernel) and known is not None:
            value.check_bound(known)
