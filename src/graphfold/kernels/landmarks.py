"""What a few rows, the landmarks, see of a kernel: short feature vectors for all rows.

The Nystrom features of a row x are phi(x) = k(x, Z) W with Z the landmarks and W the
inverse square root of k(Z, Z), so that phi(x)'phi(y) is the kernel as far as the
landmarks can tell. They are float32 and made block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, row_blocks, small_eigenbasis, triangular_root
from graphfold.errors import KernelError
from graphfold.kernels.base import Kernel
from graphfold.stores import RowStore
from graphfold.threads import blocks, do_blocks

#: directions of k(Z, Z) below this share of the largest are rounding, or copies
WHITENING_CUT = 1e-6
#: rows of a block; within it, rows whose kernel values stay in the cache
BLOCK, STRIP = 1024, 512
#: columns of the whitening that are multiplied at once
PANEL = 256
#: share of the mean in k(Z, Z) from which it is taken off before rounding to float32
MEAN_DOMINATES = 0.9
#: size of kernel values up to which their sums stay within single precision
LARGEST = 1e30


@dataclass(frozen=True)
class LandmarkFeatures:
    """phi(x) = (k(x, Z) - its mean) W - offset; with no mean and offset if not centred.

    The offset puts the mean of the landmarks' own features at the origin where the
    problem is centred. ``means`` are those of the columns of k(Z, Z) where the mean
    dominates the kernel, as it does in the linear kernel of rows far from the origin.
    ``order`` is one of the landmarks Z, ``rows``, in which ``whitening`` is a triangle;
    W has zeros for those that come after it: they are (nearly) given by the others.
    """

    kernel: Kernel
    rows: Any
    whitening: Array
    offset: Array
    order: Array
    center: bool
    triangular: bool = True
    means: Array | None = None
    grand_mean: float | None = None

    @property
    def rank(self) -> int:
        """Number of features."""
        return self.whitening.shape[1]

    def of(self, X: Any, *, precise: bool = False) -> Array:
        """The features of all rows of X, float32.

        ``precise``: rounded to it at the end only, so that a row's features do not
        depend on the rows beside it; the products take twice the time.
        """
        # zeros, not empty: fresh pages of the system are touched several times faster
        features = np.zeros((X.shape[0], self.rank), dtype=np.float32)

        def fill(rows: slice) -> None:
            if precise:
                features[rows] = self.of_block(X[rows], precise)
            else:
                self._fill(X[rows], features[rows], self._single)

        do_blocks("features of landmarks", fill, row_blocks(X.shape[0], block_rows(X)))
        return features

    def of_block(self, X: Any, precise: bool = False) -> Array:
        """The features of some rows, in one piece of memory."""
        dtype = np.float64 if precise else np.float32
        features = np.empty((X.shape[0], self.rank), dtype=dtype)
        self._fill(X, features, self.whitening if precise else self._single)
        return features

    @cached_property
    def _single(self) -> Array:
        return self.whitening.astype(np.float32)

    def _fill(self, X: Any, features: Array, W: Array) -> None:
        values = np.empty((X.shape[0], len(W)), dtype=features.dtype)
        for rows in row_blocks(X.shape[0], STRIP):
            block = self._values(X[rows])
            if self.means is not None:
                block = block - self.means
            own = block.mean(axis=1, keepdims=True) if self.center else 0
            self._refuse_too_large(block)
            np.subtract(block[:, : len(W)], own, out=values[rows])
        for columns in row_blocks(self.rank, PANEL):
            # what lies below the diagonal of a triangle need not be multiplied; trmm
            # of BLAS would leave out more of it, but does not let other threads work
            above = slice(columns.stop) if self.triangular else slice(None)
            np.matmul(values[:, above], W[above, columns], out=features[:, columns])
        if self.means is None:
            features -= self.offset.astype(features.dtype)

    def _refuse_too_large(self, block: Array) -> None:
        largest = max(float(block.max(initial=0.0)), -float(block.min(initial=0.0)))
        _refuse_out_of_range(self.kernel, largest, least=0.0)

    @cached_property
    def _values(self) -> Callable[[Any], Array]:
        return self.kernel.against(self.rows[self.order])

    def coefficients(self, loadings: Array) -> tuple[Array, Array]:
        """C and c with phi(x) loadings = k(x, Z) C - c."""
        wide = loadings.astype(np.float64)
        C = np.zeros((self.rows.shape[0], wide.shape[1]))
        C[self.order[: len(self.whitening)]] = self.whitening @ wide
        if self.center:
            C -= C.mean(axis=0)
        return C, self.offset @ wide

    def with_rank(self, rank: int, X: Any) -> Self:
        """The ``rank`` leading directions of the features of X; nothing is held."""
        if rank >= self.rank:
            return self
        n, size, total = X.shape[0], block_rows(X), np.zeros(self.rank)
        gram = np.zeros((self.rank, self.rank))

        def moments(rows: slice) -> tuple[Array, Array]:
            features = self.of_block(X[rows])
            return features.T @ features, features.sum(axis=0, dtype=np.float64)

        with blocks("rank of the features", moments, row_blocks(n, size)) as found:
            for part, sums in found:
                gram += part
                total += sums
        _, directions = small_eigenbasis(gram - np.outer(total, total) / n)
        kept = directions[:, ::-1][:, :rank]
        return replace(
            self,
            whitening=self.whitening @ kept,
            offset=self.offset @ kept,
            triangular=False,
        )

    def lost_share(self, X: Any) -> float:
        """Share of the variance of some rows in feature space that is not seen."""
        total = seen = 0.0
        for rows in row_blocks(X.shape[0], STRIP):
            part = X[rows]
            own = np.asarray(self.kernel.diagonal(part), dtype=np.float64)
            if self.grand_mean is not None:
                # squared distances to the landmarks' mean in the space of the kernel
                values = np.asarray(self._values(part), dtype=np.float64)
                own = own - 2 * values.mean(axis=1) + self.grand_mean
            seen += np.square(self.of_block(part), dtype=np.float64).sum()
            total += float(own.sum())
        return float(np.clip(1 - seen / total, 0.0, 1.0)) if total > 0 else 0.0


def block_rows(X: Any) -> int:
    """Rows whose features are made at a time; of a wide table on disk, fewer."""
    return min(BLOCK, X.rows_at_once) if isinstance(X, RowStore) else BLOCK


def landmark_features(kernel: Kernel, rows: Any, *, center: bool) -> LandmarkFeatures:
    """The features that some landmarks give, whitened.

    Directions in which the landmarks hardly differ, near-duplicates among them, are
    dropped. Where the problem is centred the kernel is, about the landmarks: a mean
    common to all rows would take all the digits of single precision.
    """
    exact = rows if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)
    K = np.asarray(kernel.gram(exact), dtype=np.float64)
    if not kernel.positive:
        _refuse_indefinite(kernel, K)
    size = float(np.abs(np.diagonal(K)).mean())
    _refuse_out_of_range(kernel, size)
    means = K.mean(axis=1)
    grand = float(means.mean())
    if center:
        K = K - means - means[:, None] + grand
    largest = max(float(np.diagonal(K).max()), np.finfo(float).tiny)
    cut = max(WHITENING_CUT, 1e-14 * size / largest)
    whitening, order = triangular_root(K, cut)
    features = LandmarkFeatures(
        kernel, rows, whitening, np.zeros(len(whitening)), order, center
    )
    if not center:
        return features
    # (k(x, Z) - mean k(Z, Z)) H W with H = I - 11'/m, read as k(x, Z) H W - offset
    means = means[order]
    dominated = abs(grand) > MEAN_DOMINATES * size
    return replace(
        features,
        offset=(means - grand)[: len(whitening)] @ whitening,
        means=means if dominated else None,
        grand_mean=grand,
    )


def _refuse_out_of_range(
    kernel: Kernel, size: float, least: float = 1 / LARGEST
) -> None:
    """Features are in single precision, which ends at some 1e38."""
    if size and not least <= size <= LARGEST:
        raise KernelError(
            f"landmarks must be None, or X scaled, for values of kernel {kernel!r} of "
            f"size {size:.3g}: landmarks work in single precision, which holds them "
            f"from {1 / LARGEST:g} to {LARGEST:g}"
        )


def _refuse_indefinite(kernel: Kernel, K: Array) -> None:
    """Features have inner products of at least 0; such a kernel has others."""
    values, _ = small_eigenbasis((K + K.T) / 2)
    if values[0] < -WHITENING_CUT * max(float(values[-1]), 0.0):
        raise KernelError(
            f"landmarks must be None for a kernel that is not positive: {kernel!r} has "
            f"eigenvalues from {values[0]:.3g} to {values[-1]:.3g} on the landmarks"
        )
