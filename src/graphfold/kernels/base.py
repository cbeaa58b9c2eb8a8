"""The contract of a kernel: what it needs to know of the data, and its values."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from graphfold.arrays import Array
from graphfold.params import Params


class Kernel(Params):
    """A kernel function k(x, y), described by its parameters alone.

    A parameter may be a rule such as ``"median"``. ``bind`` replaces rules by
    numbers; only a bound kernel is evaluated, so its values for a row never depend
    on the other rows of a batch.
    """

    #: whether every kernel matrix is positive semi-definite
    positive: bool = False

    @abstractmethod
    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        """This kernel with every rule replaced by a number that X suggests."""

    @abstractmethod
    def block(self, X: Any, Y: Any) -> Array:
        """k(x, y) for each row x of X and y of Y, a dense array."""

    @abstractmethod
    def gram(self, X: Any) -> Array:
        """k(X, X), a dense symmetric array."""

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each row x."""

    @abstractmethod
    def factor(self, X: Any) -> Any:
        """Z with k(X, X) = Z Z', where that is as cheap as X itself, else None."""
