"""The fixed-point extension: where a new point belongs, by its features and its edges.

M V = V Lambda holds row by row. Read for a new row x, with its kernel values k(x, .)
and its edges a_l(x, .) in each graph to the rows of the fit, it gives

    v(x) = [k(x, .) V + sum_l gamma_l (a_l(x, .) V - q(x) q'R_l V)]
           / (v'Kv + sum_l gamma_l (v'R_l v + deg_l(x))),

exact on every row of the fit that has edges in each graph. The sums run over the graphs
that know an edge of x: a graph that says nothing of a row has no say in its denominator
either. k is centred as in the fit; q = 1/sqrt(n) where the constant vector is deflated,
else 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, row_blocks
from graphfold.errors import KernelError
from graphfold.graphs.laplacian import Laplacian, inverse_sqrt
from graphfold.hints import Numbers, Range, Sizes, Table
from graphfold.kernels import Combination, Kernel
from graphfold.kernels.base import Bound
from graphfold.model.problem import Problem
from graphfold.operators import PseudoInverse, SymmetricOperator
from graphfold.operators.algebra import without_mean
from graphfold.progress import counted

SCALINGS = ("eigenvalue", "orthonormal", "unit")
SINGULAR = 1e-8
_BLOCK_NUMBERS = 2**23


@dataclass(frozen=True)
class Expansion:
    """weight k(x, .) W of one kernel for new rows x; W has the rows of the fit.

    Where k(x, .) is C(x) times something known at fit (a factor of the kernel, or, for
    a kernel known by its inverse, the kernel itself with C the weights of x over its
    neighbours), ``loadings`` are that times W, and the rows of the fit are not needed.
    """

    kernel: Annotated[Kernel, Bound("D")]
    weight: Annotated[float, Range()] = 1.0
    X: Annotated[Any, Table("_r", "D")] | None = None
    W: Annotated[Array, Numbers("_r", "d+1")] | None = None
    loadings: Annotated[Array, Numbers("_l", "d+1")] | None = None

    def _check_loaded(self, sizes: Sizes) -> None:
        """Raise unless rows, weights and kernel of a file fit each other."""
        if self.loadings is None:
            if self.X is None or self.W is None:
                raise ValueError("it has neither loadings nor rows and their weights")
            self.kernel.check_rows(self.X.shape[0])
        elif self.kernel.by_inverse:
            self.kernel.check_rows(len(self.loadings))
        else:
            factor = self.kernel.factor(np.zeros((1, sizes.known("D") or 0)))
            if factor is None or factor.shape[1] != len(self.loadings):
                raise ValueError("its loadings do not fit its kernel")

    def of(self, X: Any) -> Array:
        """weight k(x, .) W for each row of X."""
        if self.loadings is not None:
            by_inverse = self.kernel.by_inverse
            C = self.kernel.weights_over_fit(X) if by_inverse else self.kernel.factor(X)
            # weights over neighbours are float64 whatever the rows are
            product = np.asarray(C @ self.loadings, dtype=self.loadings.dtype)
            return self.weight * product
        assert self.W is not None
        product = np.empty((X.shape[0], self.W.shape[1]), dtype=self.W.dtype)
        size = max(1, _BLOCK_NUMBERS // len(self.W))
        for rows in counted("placing rows", row_blocks(X.shape[0], size)):
            product[rows] = self.kernel.block(X[rows], self.X) @ self.W
        return product if self.weight == 1 else self.weight * product


@dataclass(frozen=True)
class DataShare:
    """k(x, .) V of new rows, centred as in the fit, and their distance to the centre.

    The expansions are of [V, 1/n]: the last column gives the mean of k(x, .).
    """

    expansions: Sequence[Expansion]
    offset: Annotated[Array, Numbers("d+1")]
    gram: Annotated[Array, Numbers("d", "d")]
    grand_mean: Annotated[float, Range()]
    trace: Annotated[float, Range(finite=False)]

    def _check_loaded(self, sizes: Sizes) -> None:
        """Raise if there is nothing that says where a row belongs."""
        if not self.expansions:
            raise ValueError("it has no expansions")

    @property
    def energies(self) -> Array:
        """v'Kv of each component."""
        return np.diagonal(self.gram)

    def of(self, X: Any) -> tuple[Array, Array]:
        """k(x, .) V and the mean of k(x, .), both centred, for each row of X."""
        product = sum(part.of(X) for part in self.expansions) - self.offset
        return product[:, :-1], product[:, -1]

    def squared_norms(self, X: Any, centred_means: Array) -> Array:
        """|phi(x)|^2 in the centred feature space: k(x,x) - 2 mean k(x,.) + mean k."""
        own = np.zeros(X.shape[0])
        for part in self.expansions:
            own += part.weight * part.kernel.diagonal(X)
        # mean k(x,.) is centred_means + grand_mean
        return own - 2.0 * centred_means - self.grand_mean


def data_share(
    problem: Problem, kernel: Kernel | None, X: Any, V: Array, *, by_factor: bool
) -> DataShare | None:
    """What the data part of the extension needs, by one product with K."""
    K = problem.raw_data_operator()
    if K is None or kernel is None:
        return None
    n, d = V.shape
    # all n components include the constant vector, which the centred kernel ignores
    V = without_mean(V) if problem.center else V
    mean = 1 / n if problem.center else 0.0
    W = np.hstack([V, np.full((n, 1), mean, dtype=V.dtype)])
    KW = K.apply(W).astype(np.float64)
    gram = V.T.astype(np.float64) @ KW[:, :d]
    offset, trace, grand_mean = np.zeros(d + 1), trace_of(K), 0.0
    if problem.center:
        offset = KW.mean(axis=0)
        grand_mean = float(offset[-1])
        trace -= n * grand_mean
    return DataShare(
        expansions=_expansions(problem, kernel, X, W, KW, by_factor=by_factor),
        offset=offset.astype(V.dtype),
        gram=(gram + gram.T) / 2,
        grand_mean=grand_mean,
        trace=trace,
    )


def trace_of(K: SymmetricOperator) -> float:
    """tr K; NaN where only an estimate could be had."""
    return float("nan") if isinstance(K, PseudoInverse) else K.trace()


def _expansions(
    problem: Problem, kernel: Kernel, X: Any, W: Array, KW: Array, *, by_factor: bool
) -> list[Expansion]:
    if by_factor:
        return [Expansion(kernel, loadings=np.asarray(kernel.factor(X).T @ W))]
    if kernel.by_inverse:
        return [Expansion(kernel, loadings=KW.astype(W.dtype))]
    several = isinstance(kernel, Combination) and len(problem.kernels) > 1
    if not isinstance(kernel, Combination) or not several or kernel.pointwise:
        return [Expansion(kernel, X=X, W=W)]
    parts = []
    weighted = zip(kernel.weights, kernel.kernels, problem.kernels, strict=True)
    for weight, part, term in weighted:
        if not weight:
            continue
        if part.by_inverse:
            loadings = np.asarray(term.base.apply(W), dtype=W.dtype)
            parts.append(Expansion(part, weight, loadings=loadings))
        else:
            parts.append(Expansion(part, weight, X, W))
    return parts


@dataclass(frozen=True)
class GraphShare:
    """What a new row's edges need to know of one graph of the fit.

    ``weight`` is gamma times the graph's own weight; ``energies`` are weight v'Rv;
    ``degrees`` those of the nodes; ``RV`` the graph term times the eigenvectors;
    ``exact`` where R = -L, so that the edges enter as they do in L. Otherwise a new
    node takes the weighted mean of RV over its neighbours. ``trivial`` is q(x) q'RV.
    """

    name: str
    weight: Annotated[float, Range()]
    normalized: bool
    degrees: Annotated[Array, Numbers("_nodes")]
    RV: Annotated[Array, Numbers("n", "d")]
    energies: Annotated[Array, Numbers("d")]
    exact: bool
    trivial: Annotated[Array, Numbers("d")]

    def _check_loaded(self, sizes: Sizes) -> None:
        """Raise unless each row has a degree, where degrees are asked for."""
        if self.exact:
            sizes.agree("degrees", "n", len(self.degrees))

    def of(self, edges: Any, V: Array) -> tuple[Array, Array]:
        """weight (RV)(x) less its own share of v(x), and that share, weight deg(x)."""
        own_degree = np.asarray(edges.sum(axis=1)).ravel()
        if not self.exact:
            # divided, not times an inverse: that of a tiny degree is infinite
            shares = sp.csr_array(edges, copy=True)
            shares.data = ratio(
                shares.data, np.repeat(own_degree, np.diff(shares.indptr))
            )
            mean = shares @ self.RV
            return self.weight * (mean - self.trivial), np.zeros(len(own_degree))
        if self.normalized:
            # sizes and degrees differ where weights are negative
            sizes = np.asarray(abs(edges).sum(axis=1)).ravel()
            left = sp.diags_array(inverse_sqrt(sizes))
            right = sp.diags_array(inverse_sqrt(self.degrees))
            edges, own_degree = left @ edges @ right, ratio(own_degree, sizes)
        pull = self.weight * (edges @ V - self.trivial)
        return pull, self.weight * own_degree


def graph_shares(
    problem: Problem, laplacians: Mapping[str, Laplacian], V: Array
) -> list[GraphShare]:
    """The part of each graph that has a say in the extension."""
    shares = []
    V = problem.centred(V)
    for beta, term in zip(problem.beta, problem.graphs, strict=True):
        weight = problem.gamma * beta * term.factor
        if not weight:
            continue
        RV = np.asarray(term.base.apply(V), dtype=np.float64)
        L = laplacians[term.name]
        share = GraphShare(
            name=term.name,
            weight=weight,
            normalized=L.kind == "normalized",
            degrees=L.degrees,
            RV=RV,
            energies=weight * np.einsum("ij,ij->j", V, RV),
            exact=term.is_laplacian,
            trivial=problem.mean_of(RV) if problem.center else np.zeros(V.shape[1]),
        )
        shares.append(share)
    return shares


@dataclass(frozen=True)
class Extension:
    """The rule that places new rows, made of what the fit has found.

    ``n_fit`` is the number of rows of the fit where V holds some of them only.
    """

    V: Annotated[Array, Numbers("_v", "d")]
    values: Annotated[Array, Numbers("d")]
    data: DataShare | None
    graphs: Sequence[GraphShare] = ()
    n_fit: Annotated[int, Range(1, 2**62)] | None = None

    def _check_loaded(self, sizes: Sizes) -> None:
        """Raise unless V has the rows of the fit, or says how many there were."""
        if self.n_fit is None:
            sizes.agree("V", "n", len(self.V))

    def place(self, X: Any, edges: Mapping[str, Any] | None = None) -> Array:
        """Unscaled coordinates of new rows, each by itself.

        ``edges`` holds, by the name of the graph, weights from new rows to the rows of
        the fit. A row without edges is placed by its features: v'Kv takes Lambda's
        place, which would count graphs that have said nothing about it. So is a row
        whose denominator vanishes.
        """
        by_features, above, below = self._by_features(X)
        if not self.graphs or not edges:
            return by_features
        V, linked = self.V.astype(np.float64), np.zeros(len(above), dtype=bool)
        for share in self.graphs:
            if edges.get(share.name) is None:
                continue
            weights = sp.csr_array(edges[share.name], dtype=np.float64)
            speaks = np.diff(weights.indptr) > 0
            pull, own = share.of(weights, V)
            above += np.where(speaks[:, None], pull, 0.0)
            below += np.where(speaks[:, None], share.energies + own[:, None], 0.0)
            linked |= speaks
        size = float(np.abs(self.values).max(initial=0.0))
        sound = (np.abs(below) > SINGULAR * size) & linked[:, None]
        placed = np.where(sound, above / np.where(sound, below, 1.0), by_features)
        return np.asarray(placed, dtype=by_features.dtype)

    def _by_features(self, X: Any) -> tuple[Array, Array, Array]:
        """Where features alone put the rows, and the numerator and denominator."""
        shape = (X.shape[0], self.V.shape[1])
        if self.data is None:
            return np.zeros(shape, self.V.dtype), np.zeros(shape), np.zeros(shape)
        data, _ = self.data.of(X)
        energies = self.sound_energies()
        by_features = np.asarray(data * inverse(energies).astype(data.dtype))
        return by_features, data.astype(np.float64), np.tile(energies, (len(data), 1))

    def shares_of_rows(self, edges: Mapping[str, Any]) -> Array:
        """How much of each new row's place each graph has given; rows sum to 1.

        Measured by the length of the graph's pull, 0 where it knows no edge of it.
        """
        V = self.V.astype(np.float64)
        lengths = []
        for share in self.graphs:
            weights = sp.csr_array(edges[share.name], dtype=np.float64)
            pull, _ = share.of(weights, V)
            speaks = np.diff(weights.indptr) > 0
            lengths.append(np.where(speaks, np.linalg.norm(pull, axis=1), 0.0))
        return shares_of_total(np.column_stack(lengths))

    def shares_of_fit(self) -> Array:
        """The same for the rows of the fit, by the length of weight (RV)_i."""
        lengths = [np.linalg.norm(s.weight * s.RV, axis=1) for s in self.graphs]
        return shares_of_total(np.column_stack(lengths))

    def column_scales(self, scaling: str) -> Array:
        """What multiplies each column: sqrt(v'Kv), 1, or what makes the variance 1.

        Where there is no kernel there is no energy, and columns stay orthonormal.
        """
        n, d = self.V.shape
        if self.data is None and scaling == "eigenvalue":
            scaling = "orthonormal"
        scales = {
            "eigenvalue": np.sqrt(np.maximum(self.sound_energies(), 0.0)),
            "orthonormal": np.ones(d),
            "unit": np.full(d, np.sqrt(n)),
        }[scaling]
        return np.asarray(scales, dtype=self.V.dtype)

    def rows_of_expansion(self) -> tuple[Any, Array]:
        """Rows and weights of the one expansion that the components are."""
        assert self.data is not None
        (expansion,) = self.data.expansions
        assert expansion.W is not None
        return expansion.X, expansion.W[:, :-1]

    def loadings(self, X: Any, W: Array) -> Array:
        """Unit directions X'w / sqrt(v'Kv) of the linear kernel, one a row.

        The components are k(x, X) W: W is V where X are the rows of the fit.
        """
        energies = self.sound_energies()
        lengths = np.sqrt(np.where(energies > 0, energies, np.inf))
        return np.asarray((X.T @ W).T / lengths[:, None], dtype=self.V.dtype)

    def sound_energies(self) -> Array:
        """v'Kv, with what is rounding noise set to 0: there is no such direction."""
        if self.data is None:
            return np.zeros(self.V.shape[1])
        energies = self.data.energies
        top = float(np.abs(energies).max(initial=0.0))
        # rounding errors of a sum of n terms partly cancel: the root of n, not n, which
        # would make noise of all that a million rows say in single precision
        n = self.V.shape[0] if self.n_fit is None else self.n_fit
        noise = 100 * np.finfo(self.V.dtype).eps * np.sqrt(n) * top
        return np.where(np.abs(energies) > noise, energies, 0.0)

    def reconstruction_score(self, X: Any) -> float:
        """Share of the rows' squared norm in feature space that the components explain.

        The components span u_i = sum_j v_ji phi(x_j); their Gram matrix is V'KV and
        their products with phi(x) are k(x, .)V, so the projection needs nothing else.
        """
        if self.data is None:
            raise KernelError("kernel must not be None at fit for a score of the data")
        products, means = self.data.of(X)
        projected = np.einsum(
            "ij,jk,ik->i",
            products,
            np.linalg.pinv(self.data.gram, hermitian=True),
            products,
        )
        norms = self.data.squared_norms(X, means)
        total = float(norms.sum())
        return 1.0 - float((norms - projected).sum()) / total if total > 0 else 0.0


def shares_of_total(lengths: Array) -> Array:
    """Rows divided by their sum; a row of zeros stays."""
    return np.asarray(lengths * inverse(lengths.sum(axis=1))[:, None])


def ratio(values: Array, sizes: Array) -> Array:
    """values / sizes, and 0 where the size is 0."""
    nonzero = sizes != 0
    return np.where(nonzero, values / np.where(nonzero, sizes, 1.0), 0.0)


def inverse(values: Array) -> Array:
    """1 / values, and 0 where they are 0."""
    nonzero = values != 0
    return np.where(nonzero, 1.0 / np.where(nonzero, values, 1.0), 0.0)
