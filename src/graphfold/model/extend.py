"""The fixed-point extension: where a new point belongs, by its features and its edges.

M V = V Lambda holds row by row. Read for a new row x, with its kernel values k(x, .)
and its edges a(x, .) to the rows of the fit, it gives

    v(x) = [k(x, .) V + gamma a(x, .) V - gamma q(x) (q'RV)] / (Lambda + gamma deg(x)),

exact on every row of the fit. k is centred as in the fit; q = 1/sqrt(n) where the
constant vector is deflated, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, row_blocks
from graphfold.graphs.laplacian import Laplacian, inverse_sqrt
from graphfold.kernels import Kernel
from graphfold.model.problem import Problem
from graphfold.operators.algebra import without_mean

SCALINGS = ("eigenvalue", "orthonormal", "unit")
SINGULAR = 1e-8
_BLOCK_NUMBERS = 2**23


@dataclass(frozen=True)
class DataShare:
    """k(x, .) V of new rows, centred as in the fit, and their distance to the centre.

    ``W`` is [V, 1/n]: its last column gives the mean of k(x, .). Where the kernel has a
    factor, ``loadings`` = Z'W takes the place of the n rows of the fit.
    """

    kernel: Kernel
    X: Any
    W: Array
    loadings: Array | None
    offset: Array
    energies: Array
    grand_mean: float
    trace: float

    def of(self, X: Any) -> tuple[Array, Array]:
        """k(x, .) V and the mean of k(x, .), both centred, for each row of X."""
        product = self._product(X) - self.offset
        return product[:, :-1], product[:, -1]

    def _product(self, X: Any) -> Array:
        if self.loadings is not None:
            return np.asarray(self.kernel.factor(X) @ self.loadings)
        product = np.empty((X.shape[0], self.W.shape[1]), dtype=self.W.dtype)
        size = max(1, _BLOCK_NUMBERS // len(self.W))
        for rows in row_blocks(X.shape[0], size):
            product[rows] = self.kernel.block(X[rows], self.X) @ self.W
        return product

    def squared_norms(self, X: Any, centred_means: Array) -> Array:
        """|phi(x)|^2 in the centred feature space: k(x,x) - 2 mean k(x,.) + mean k."""
        own = self.kernel.diagonal(X).astype(np.float64)
        # mean k(x,.) is centred_means + grand_mean
        return own - 2.0 * centred_means - self.grand_mean


def data_share(
    problem: Problem, kernel: Kernel, X: Any, V: Array, *, by_factor: bool
) -> DataShare:
    """What the data part of the extension needs, by one product with K."""
    K = problem.raw_data_operator()
    assert K is not None
    n, d = V.shape
    # all n components include the constant vector, which the centred kernel ignores
    V = without_mean(V) if problem.center else V
    W = np.hstack([V, np.full((n, 1), 1 / n, dtype=V.dtype)])
    KW = K.apply(W).astype(np.float64)
    energies = np.einsum("ij,ij->j", V, KW[:, :d], dtype=np.float64)
    offset, trace, grand_mean = np.zeros(d + 1), K.trace(), 0.0
    if problem.center:
        offset = KW.mean(axis=0)
        grand_mean = float(offset[-1])
        trace -= n * grand_mean
    else:
        W[:, -1] = 0.0
    return DataShare(
        kernel=kernel,
        X=None if by_factor else X,
        W=W[:0] if by_factor else W,
        loadings=np.asarray(kernel.factor(X).T @ W) if by_factor else None,
        offset=offset.astype(V.dtype),
        energies=energies,
        grand_mean=grand_mean,
        trace=trace,
    )


@dataclass(frozen=True)
class GraphShare:
    """What a new row's edges need to know of the graph of the fit.

    ``degrees`` of the nodes; ``RV``, the graph term times the eigenvectors; ``exact``
    where R = -L, so that the edges enter as they do in L. Otherwise a new node takes
    the weighted mean of RV over its neighbours. ``trivial`` is q(x) q'RV.
    """

    gamma: float
    normalized: bool
    degrees: Array
    RV: Array
    exact: bool
    trivial: Array

    def of(self, edges: Any, V: Array) -> tuple[Array, Array]:
        """gamma (RV)(x) without its own share of v(x), and that share, gamma deg(x)."""
        own_degree = np.asarray(edges.sum(axis=1)).ravel()
        if not self.exact:
            mean = sp.diags_array(_inverse(own_degree)) @ edges @ self.RV
            return self.gamma * (mean - self.trivial), np.zeros(len(own_degree))
        if self.normalized:
            # sizes and degrees differ where weights are negative
            sizes = np.asarray(abs(edges).sum(axis=1)).ravel()
            left = sp.diags_array(inverse_sqrt(sizes))
            right = sp.diags_array(inverse_sqrt(self.degrees))
            edges, own_degree = left @ edges @ right, own_degree * _inverse(sizes)
        pull = self.gamma * (edges @ V - self.trivial)
        return pull, self.gamma * own_degree


def graph_share(problem: Problem, laplacian: Laplacian | None, V: Array) -> Any:
    """The graph's part of the extension of a problem with one graph, or None."""
    R = problem.graph_operator()
    if R is None or laplacian is None or not problem.gamma:
        return None
    RV = np.asarray(R.apply(V), dtype=np.float64)
    return GraphShare(
        gamma=problem.gamma,
        normalized=laplacian.kind == "normalized",
        degrees=laplacian.degrees,
        RV=RV,
        exact=all(term.is_laplacian for term in problem.graphs),
        trivial=RV.mean(axis=0) if problem.center else np.zeros(V.shape[1]),
    )


@dataclass(frozen=True)
class Extension:
    """The rule that places new rows, made of what the fit has found."""

    V: Array
    values: Array
    data: DataShare
    graph: GraphShare | None

    def place(self, X: Any, edges: Any = None) -> Array:
        """Unscaled coordinates of new rows, each by itself.

        A row without edges is placed by its features: v'Kv takes Lambda's place,
        which would count a graph that has said nothing about it. So is a row whose
        denominator vanishes.
        """
        data, _ = self.data.of(X)
        by_features = data * _inverse(self.sound_energies()).astype(data.dtype)
        if self.graph is None or edges is None:
            return np.asarray(by_features)
        edges = sp.csr_array(edges, dtype=np.float64)
        pull, own = self.graph.of(edges, self.V.astype(np.float64))
        denominator = self.values.astype(np.float64) + own[:, None]
        size = float(np.abs(self.values).max(initial=0.0))
        sound = np.abs(denominator) >= SINGULAR * size
        placed = (data + pull) / np.where(sound, denominator, 1.0)
        linked = np.diff(edges.indptr) > 0
        return np.where(sound & linked[:, None], placed, by_features).astype(data.dtype)

    def column_scales(self, scaling: str) -> Array:
        """What multiplies each column: sqrt(v'Kv), 1, or what makes the variance 1."""
        n, d = self.V.shape
        scales = {
            "eigenvalue": np.sqrt(np.maximum(self.sound_energies(), 0.0)),
            "orthonormal": np.ones(d),
            "unit": np.full(d, np.sqrt(n)),
        }[scaling]
        return np.asarray(scales, dtype=self.V.dtype)

    def loadings(self, X: Any) -> Array:
        """Unit directions X'v / sqrt(v'Kv) of the linear kernel, one a row."""
        energies = self.sound_energies()
        lengths = np.sqrt(np.where(energies > 0, energies, np.inf))
        return np.asarray((X.T @ self.V).T / lengths[:, None], dtype=self.V.dtype)

    def sound_energies(self) -> Array:
        """v'Kv, with what is rounding noise set to 0: there is no such direction."""
        energies = self.data.energies
        top = float(np.abs(energies).max(initial=0.0))
        noise = 10 * np.finfo(self.V.dtype).eps * len(self.V) * top
        return np.where(np.abs(energies) > noise, energies, 0.0)

    def reconstruction_score(self, X: Any) -> float:
        """Share of the rows' squared norm in feature space that the components explain.

        The components span u_i = sum_j v_ji phi(x_j); their Gram matrix is V'KV and
        their products with phi(x) are k(x, .)V, so the projection needs nothing else.
        """
        of_fit = self.data
        products, means = of_fit.of(X)
        gram = self._component_gram()
        projected = np.einsum(
            "ij,jk,ik->i", products, np.linalg.pinv(gram, hermitian=True), products
        )
        norms = of_fit.squared_norms(X, means)
        total = float(norms.sum())
        return 1.0 - float((norms - projected).sum()) / total if total > 0 else 0.0

    def _component_gram(self) -> Array:
        """V'KV; it is M's Lambda less the graph's share, V' (Lambda V - gamma R V)."""
        gram = np.diag(self.values.astype(np.float64))
        if self.graph is not None:
            V = self.V.astype(np.float64)
            gram -= self.graph.gamma * (V.T @ self.graph.RV)
        return (gram + gram.T) / 2


def _inverse(values: Array) -> Array:
    """1 / values, and 0 where they are 0."""
    nonzero = values != 0
    return np.where(nonzero, 1.0 / np.where(nonzero, values, 1.0), 0.0)
