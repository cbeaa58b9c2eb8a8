"""From the embedding back to X: kernel ridge regression, in the words of KernelPCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from graphfold.arrays import Array, row_blocks
from graphfold.errors import KernelError
from graphfold.hints import Numbers, Sizes, Table
from graphfold.kernels import Kernel
from graphfold.kernels.base import Bound
from graphfold.progress import counted

#: rows that it is learned from where some rows stand for all
MOST_ROWS = 2000
#: numbers of k(z, Z) held at a time
_BLOCK_NUMBERS = 2**23


@dataclass(frozen=True)
class Preimage:
    """X(z) = k(z, Z) (k(Z, Z) + alpha I)^-1 X.

    For dense X the product of the inverse with X is kept. For sparse X it would be
    dense, so X stays as it is and the factor of the inverse is kept instead.
    """

    kernel: Annotated[Kernel, Bound("d")]
    embedding: Annotated[Array, Numbers("_p", "d")]
    coefficients: Annotated[Array, Numbers("_p", "D")] | None
    factor: Annotated[Array, Numbers("_p", "_p")] | None
    X: Annotated[Any, Table("_p", "D")] | None

    def _check_loaded(self, sizes: Sizes) -> None:
        """Raise unless there is one way back, and it can be solved."""
        self.kernel.check_rows(len(self.embedding))
        if not len(self.embedding):
            raise ValueError("it has no rows")
        if self.coefficients is None:
            if self.factor is None or self.X is None:
                raise ValueError("it has neither coefficients nor a factor and rows")
            if not (np.diagonal(self.factor) > 0).all():
                raise ValueError("its factor cannot be inverted")

    def of(self, Z: Array) -> Array:
        """Points of the original space for rows of the embedding."""
        size = max(1, _BLOCK_NUMBERS // len(self.embedding))
        rows = counted("original rows", row_blocks(len(Z), size))
        return np.concatenate([self._of_block(Z[block]) for block in rows])

    def _of_block(self, Z: Array) -> Array:
        K = self.kernel.block(Z, self.embedding)
        if self.coefficients is not None:
            return np.asarray(K @ self.coefficients)
        weights = scipy.linalg.cho_solve((self.factor, True), K.T).T
        return np.asarray(weights @ self.X)


def preimage(kernel: Kernel, embedding: Array, X: Any, alpha: float) -> Preimage:
    """Learn the way back from ``embedding`` to X with a ridge of ``alpha``."""
    K = kernel.gram(embedding)
    K.flat[:: len(K) + 1] += alpha
    try:
        # K.T is K, in the order that LAPACK works in without a copy
        factor = scipy.linalg.cholesky(
            K.T, lower=True, overwrite_a=True, check_finite=False
        )
    except scipy.linalg.LinAlgError:
        raise KernelError(
            "the kernel matrix of the embedding plus alpha is not positive definite, "
            f"so there is no inverse transform; got alpha={alpha}: use a larger alpha "
            "or a positive kernel"
        ) from None
    if sp.issparse(X):
        return Preimage(kernel, embedding, None, factor, sp.csr_array(X))
    coefficients = scipy.linalg.cho_solve((factor, True), X)
    return Preimage(kernel, embedding, coefficients, None, None)
