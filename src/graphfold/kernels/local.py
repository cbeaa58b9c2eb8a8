"""Kernels of local reconstructions: each row from its neighbours, all rows at once.

W holds in row i the weights by which row i is made of its neighbours. The kernel matrix
is the pseudo-inverse of A = (I - W)'(I - W): its top eigenvectors are the coordinates
that the same weights reconstruct best. A is sparse, its pseudo-inverse is not, so A is
what is handed on.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, Self, final

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array, row_blocks
from graphfold.errors import (
    DisconnectedGraphWarning,
    KernelError,
    UnderdeterminedWarning,
    warn,
)
from graphfold.hints import Sizes, Table
from graphfold.kernels.base import Kernel
from graphfold.kernels.coefficients import Rule, coefficients
from graphfold.kernels.inner import squared_norms
from graphfold.neighbors import nearest_distinct_rows, neighborhoods
from graphfold.neighbors.approximate import n_threads

COLLAPSES = ("sum", "norm", "first")
PENALTIES = ("l1", "ridge")
#: weights of a row that sum to less than this share of their sizes cannot be normalised
CANCELLED = 1e-8
#: an eigenvalue of A below this share of the largest is known by its rounding alone
FLOOR = 1e-14


class LocalKernel(Kernel):
    """A kernel that is known by the weights of each row over its neighbours."""

    positive = True
    pointwise = False
    by_inverse = True

    n_neighbors: int
    n_jobs: int | None
    rows: Any

    @abstractmethod
    def rule(self) -> Rule:
        """How the coefficients of a row over its neighbours are chosen."""

    @abstractmethod
    def collapsed(self, coefficients: Array) -> Array:
        """One weight for each neighbour, from its coefficients (m, k, P)."""

    @property
    @abstractmethod
    def sums_to_one(self) -> bool:
        """Whether the weights of a row sum to one, so that A ignores constants."""

    def check_bound(self, n_features: int) -> None:
        Table("_r", n_features).check("rows", self.rows, Sizes())

    def reconstruction(self, X: Any) -> tuple[Any, float]:
        """W, a CSR array, and the worst optimality residual of its coefficients.

        A row without neighbours is made of itself.
        """
        found = neighborhoods(X, self.n_neighbors, n_jobs=self.n_jobs)
        if found.n_parts > 1:
            warn_of_parts(found.n_parts, self.n_neighbors)
        rule, n, worst = self.rule(), X.shape[0], 0.0
        weights = np.empty(len(found.indices))
        for rows, members in found.groups():
            w, residual = coefficients(X[rows], X, members, rule)
            places = found.starts[rows][:, None] + np.arange(members.shape[1])
            weights[places] = self.collapsed(w)
            worst = max(worst, residual)
        W = sp.csr_array((weights, found.indices, found.starts), shape=(n, n))
        alone = (np.diff(found.starts) == 0).astype(float)
        return sp.csr_array(W + sp.diags_array(alone)), worst

    def inverse_factor(self, X: Any) -> Any:
        W, _ = self.reconstruction(X)
        return sp.csr_array(sp.eye_array(X.shape[0]) - W)

    def weights_over_fit(self, X: Any) -> Any:
        """Weights of new rows over their nearest rows of the fit, a CSR array."""
        reference = self._rows()
        n = reference.shape[0]
        _, members = nearest_distinct_rows(
            X, self.n_neighbors, reference, n_jobs=self.n_jobs
        )
        k = members.shape[1]
        w, _ = coefficients(X, reference, members, self.rule())
        starts = np.arange(0, members.size + 1, k)
        weights = self.collapsed(w).ravel()
        return sp.csr_array((weights, members.ravel(), starts), shape=(len(w), n))

    def _rows(self) -> Any:
        if self.rows is None:
            raise KernelError(
                f"kernel {type(self).__name__} knows its rows after bind(X) only"
            )
        return self.rows

    # -- entries, for whoever wants the matrix itself: O(n^3) --------------------------

    def gram(self, X: Any) -> Array:
        """A^+, which is zero on the whole null space of A."""
        T = self.inverse_factor(X).toarray()
        return np.asarray(scipy.linalg.pinvh(T.T @ T), dtype=X.dtype)

    def block(self, X: Any, Y: Any) -> Array:
        """k(x, y) for rows x of X, Y being the rows of the fit."""
        weights = self.weights_over_fit(X)
        return np.asarray(weights @ self.gram(Y), dtype=X.dtype)

    def diagonal(self, X: Any) -> Array:
        """k(x, x) = w(x)' K w(x)."""
        weights, K = self.weights_over_fit(X), self.gram(self._rows())
        own = np.empty(X.shape[0], dtype=X.dtype)
        for rows in row_blocks(X.shape[0], 1024):
            w = weights[rows].toarray()
            own[rows] = np.einsum("ij,ij->i", w @ K, w)
        return own

    def factor(self, X: Any) -> Any:
        return None


@final
class LocallyLinear(LocalKernel):
    """The kernel of locally linear embedding: each row a mean of its neighbours.

    The weights of a row minimise the distance between the row and the weighted mean of
    its neighbours and sum to one. ``GraphKernelPCA(kernel=LocallyLinear(12))`` spans
    what scikit-learn's ``LocallyLinearEmbedding`` does, and takes graphs.

    Parameters
    ----------
    n_neighbors : int, default=10
        Clipped to the number of other distinct rows.
    reg : float, default=1e-3
        Regularises each row's Gram matrix, times its trace.
    n_jobs : int, default=None
    rows : array, default=None
        The rows of the fit; set by ``bind``.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> line = np.arange(6.0)[:, None]
    >>> W, _ = kernels.LocallyLinear(2).reconstruction(line)
    >>> W.toarray()[2].round(3)
    array([0. , 0.5, 0. , 0.5, 0. , 0. ])
    """

    sums_to_one = True

    def __init__(
        self,
        n_neighbors: int = 10,
        reg: float = 1e-3,
        n_jobs: int | None = None,
        rows: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.reg = reg
        self.n_jobs = n_jobs
        self.rows = rows

    def check_parameters(self) -> None:
        check.integer_between("n_neighbors", self.n_neighbors, 1, 2**31)
        check.at_least("reg", self.reg, 0)
        n_threads(self.n_jobs)

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        self.check_parameters()
        return self.with_params(rows=X)

    def rule(self) -> Rule:
        return Rule(weight=float(self.reg))

    def collapsed(self, coefficients: Array) -> Array:
        return np.asarray(coefficients[:, :, 0])


@final
class LocallyNonlinear(LocalKernel):
    """The kernel of local nonlinear embedding: rows from powers of their neighbours.

    Entry by entry, x_m = sum_j sum_p w_j[p] y_jm^p + e_m over neighbours j and powers
    p = 1 ... ``order``, by least squares with a penalty. The answer depends on the
    origin of X, as powers do.

    Parameters
    ----------
    n_neighbors : int, default=10
        Clipped to the number of other distinct rows.
    order : int, default=2
        Highest power. 1 is the linear fit without the constraint of LocallyLinear.
    penalty : {"l1", "ridge"}, default="l1"
        alpha times the sum of sizes, or of squares, of the coefficients.
    alpha : float, default=0.2
        Weight of the penalty.
    relative : bool, default=True
        Powers are of X divided by the root mean square of its entries, and alpha is
        measured in the mean squared length of the rows, so that the scale of X does
        not matter. False with alpha=1 is the paper's letter.
    scale : float, default=1.0
        Powers are of X divided by it; set by ``bind`` where ``relative``.
    collapse : {"sum", "norm", "first"}, default="sum"
        One weight of each neighbour: the sum or the Euclidean norm of its
        coefficients, or that of the first power.
    normalize_rows : bool, default=False
        Divide the weights of each row by their sum.
    n_jobs : int, default=None
    rows : array, default=None
        The rows of the fit; set by ``bind``.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import kernels
    >>> X = np.random.default_rng(0).standard_normal((50, 12))
    >>> k = kernels.LocallyNonlinear(5).bind(X, np.random.default_rng(0))
    >>> W, residual = k.reconstruction(X)
    >>> W.shape, residual < 1e-9
    ((50, 50), True)
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        order: int = 2,
        penalty: Literal["l1", "ridge"] = "l1",
        alpha: float = 0.2,
        relative: bool = True,
        collapse: Literal["sum", "norm", "first"] = "sum",
        normalize_rows: bool = False,
        n_jobs: int | None = None,
        scale: float = 1.0,
        rows: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.order = order
        self.scale = scale
        self.penalty = penalty
        self.alpha = alpha
        self.relative = relative
        self.collapse = collapse
        self.normalize_rows = normalize_rows
        self.n_jobs = n_jobs
        self.rows = rows

    @property
    def sums_to_one(self) -> bool:
        return bool(self.normalize_rows)

    def check_parameters(self) -> None:
        check.integer_between("n_neighbors", self.n_neighbors, 1, 2**31)
        check.integer_between("order", self.order, 1, 20)
        check.one_of("penalty", self.penalty, PENALTIES)
        check.one_of("collapse", self.collapse, COLLAPSES)
        check.at_least("alpha", self.alpha, 0)
        check.at_least("scale", self.scale, 0, strict=True)
        for name in ("relative", "normalize_rows"):
            check.flag(name, getattr(self, name))
        n_threads(self.n_jobs)

    def bind(self, X: Any, rng: np.random.Generator) -> Self:
        self.check_parameters()
        alpha, scale = float(self.alpha), float(self.scale)
        n_coefficients = min(self.n_neighbors, X.shape[0] - 1) * self.order
        if X.shape[1] < n_coefficients:
            warn(
                f"X has {X.shape[1]} columns for n_neighbors * order = "
                f"{n_coefficients} coefficients of each row, so the "
                "penalty chooses among many that fit: use fewer neighbours or a lower "
                "order if that is not meant",
                UnderdeterminedWarning,
            )
        if self.relative:
            largest = float(abs(X).max()) or 1.0  # squares of huge entries overflow
            lengths = squared_norms(X / largest).mean(dtype=np.float64)
            mean = float(lengths) / X.shape[1] or 1.0
            scale = largest * float(np.sqrt(mean))
            alpha *= X.shape[1]
        self._refuse_overflow(X, scale)
        return self.with_params(rows=X, alpha=alpha, scale=scale, relative=False)

    def _refuse_overflow(self, X: Any, scale: float) -> None:
        largest = float(abs(X).max()) / scale
        # products of two regressors, of all features, have to be finite
        if largest > 0 and 2 * self.order * np.log10(largest) > 300:
            raise KernelError(
                f"X must be small enough for its powers; the largest entry is "
                f"{largest:.3g} and order is {self.order}: scale X"
            )

    def rule(self) -> Rule:
        return Rule(
            self.order, False, self.penalty, float(self.alpha), float(self.scale)
        )

    def collapsed(self, coefficients: Array) -> Array:
        match self.collapse:
            case "sum":
                weights = coefficients.sum(axis=2)
            case "norm":
                weights = np.sqrt(np.square(coefficients).sum(axis=2))
            case _:
                weights = coefficients[:, :, 0]
        return normalized(weights) if self.normalize_rows else weights


def normalized(weights: Array) -> Array:
    """Rows divided by their sum; equal weights where they cancel or are all zero."""
    total = weights.sum(axis=1, keepdims=True)
    size = np.abs(weights).sum(axis=1, keepdims=True)
    sound = np.abs(total) > CANCELLED * size
    equal = np.full_like(weights, 1.0 / weights.shape[1])
    return np.where(sound, weights / np.where(sound, total, 1.0), equal)


def warn_of_parts(n_parts: int, n_neighbors: int) -> None:
    """Say that the neighbourhoods of X did not hang together."""
    warn(
        f"with n_neighbors={n_neighbors} the rows of X fall into {n_parts} parts, "
        "which were joined by their shortest links: raise n_neighbors",
        DisconnectedGraphWarning,
    )
