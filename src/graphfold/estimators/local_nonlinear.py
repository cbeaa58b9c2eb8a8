"""``LocalNonlinearEmbedding``: each row from its neighbours, LLE and beyond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from graphfold import check, io
from graphfold.arrays import Array
from graphfold.estimators.row_embedding import RowEmbedding
from graphfold.estimators.states import Local, checker
from graphfold.graphs import Laplacian
from graphfold.kernels import Kernel, LocallyLinear, LocallyNonlinear
from graphfold.kernels.local import LocalKernel
from graphfold.model.extend import DataShare, Expansion, GraphShare, graph_shares
from graphfold.model.inverse import (
    FLOOR,
    normal_operator,
    null_directions,
    null_level,
)
from graphfold.model.plan import Plan
from graphfold.model.problem import Problem
from graphfold.model.terms import Term, inverse_term, low_eigenvalues
from graphfold.solvers import Eigenpairs, top_eigenpairs

FORMS = ("kernel", "local")
#: eigenvalues of A are small beside its size, so more is asked of the solver
TOLERANCE = 1e-12


@io.register
class LocalNonlinearEmbedding(RowEmbedding):
    """Coordinates that the neighbours of each row reconstruct, as they do the row.

    Each row is fitted, entry by entry, by powers 1 ... ``order`` of its neighbours'
    entries. The coefficients of a neighbour become one weight W_ij, and the embedding
    is the bottom of A = (I - W)'(I - W): the orthonormal coordinates for which
    ``sum_i |v_i - sum_j W_ij v_j|^2`` is least. Graphs of the rows have a say, too.
    ``order=1`` is locally linear embedding.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the embedding, at most n.
    n_neighbors : int, default=20
        Clipped to the number of other distinct rows. Copies of a row are not its
        neighbours; parts that hang together by no neighbour are joined by their
        shortest links, with a warning.
    order : int, default=2
        Highest power. From order 2 on (or with ``constrained=False``) the answer
        depends on the origin of X.
    constrained : bool, default=True
        At order 1: weights sum to one, as in LLE. False is the plain regression.
        Orders above 1 are never constrained.
    reg : float, default=1e-3
        Of LLE: regularises each row's Gram matrix, times its trace.
    penalty : {"l1", "ridge"}, default="l1"
        Of the regression: alpha times the sum of sizes, or of squares, of the
        coefficients.
    alpha : float, default=0.2
        Weight of the penalty.
    relative : bool, default=True
        Powers are of X divided by the root mean square of its entries, and alpha is
        measured in the mean squared length of the rows, so that the scale of X does
        not matter. False with alpha=1 is the paper's letter.
    collapse : {"sum", "norm", "first"}, default="sum"
        One weight of each neighbour: the sum or the Euclidean norm of its
        coefficients, or that of the first power.
    normalize_rows : bool, default=False
        Divide the weights of each row by their sum.
    form : {"kernel", "local"}, default="kernel"
        How a graph enters. "kernel": top of A^+ + gamma R, strength measured in the
        largest eigenvalue of A^+. "local": bottom of A + gamma L, strength measured
        in the mean of the lowest eigenvalues of A over that of L. The two can differ
        widely. Without a graph they span the same space, unless A has null vectors
        that are not constant (rows that neighbours reconstruct exactly): A^+ drops
        them, with a ``NullDirectionsWarning``, and the local form keeps them.
    graph : Graph, recipe, anything Graph takes, list or dict, default=None
    response : graphfold.responses object, callable or None, default=None
    laplacian : {"normalized", "combinatorial"}, default="normalized"
    graph_strength : float, "auto" or "auto-edges", default=1.0
    normalize : bool, default=True
        Measure strengths as ``form`` says. False is the paper's letter:
        ``graph_strength`` is gamma itself.
    weights, weight_norm : of several graphs, as in :class:`GraphKernelPCA`
    scaling : {"eigenvalue", "orthonormal", "unit"}, default="eigenvalue"
        In the kernel form columns are scaled by the root of their kernel energy, one
        over the root of A's eigenvalue; in the local form there is none, and
        columns stay orthonormal, as LLE's are.
    solver, max_memory, align_to, tol, max_iter, random_state, verbose :
        As in :class:`GraphKernelPCA`; ``tol`` is 1e-12 by default where A is solved
        (without a graph, and in the local form).
    n_jobs : int, default=None
        For the neighbour search.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    reconstruction_error_ : sum over components of v'Av, v of unit length
    reconstruction_weights_ : W, a sparse array
    coefficient_residual_ : how far from optimal the worst coefficient is
    eigenvalues_ : of A^+ + gamma R in the kernel form; in the local form of
        -(A + gamma L), largest first
    residuals_, converged_, n_iter_, solver_, graph_weights_, warnings_, ... :
        As in :class:`GraphKernelPCA`.

    References
    ----------
    Shen, Traganitis, Giannakis: Graph-adaptive nonlinear dimensionality reduction,
    arXiv 1801.09390, section IV. Roweis, Saul: Nonlinear dimensionality reduction by
    locally linear embedding, Science 290 (2000).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from graphfold import LocalNonlinearEmbedding
    >>> X = load_digits().data[:300]
    >>> LocalNonlinearEmbedding(2, n_neighbors=12).fit_transform(X).shape
    (300, 2)
    >>> lle = LocalNonlinearEmbedding(2, n_neighbors=12, order=1).fit(X)
    >>> bool(lle.reconstruction_error_ < 0.01)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 20,
        order: int = 2,
        constrained: bool = True,
        reg: float = 1e-3,
        penalty: Literal["l1", "ridge"] = "l1",
        alpha: float = 0.2,
        relative: bool = True,
        collapse: Literal["sum", "norm", "first"] = "sum",
        normalize_rows: bool = False,
        form: Literal["kernel", "local"] = "kernel",
        graph: Any = None,
        response: Any = None,
        laplacian: str = "normalized",
        graph_strength: float | str = 1.0,
        normalize: bool = True,
        weights: Any = "learn",
        weight_norm: float = 2.0,
        scaling: str = "eigenvalue",
        solver: str = "auto",
        max_memory: int | str | None = None,
        align_to: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.order = order
        self.constrained = constrained
        self.reg = reg
        self.penalty = penalty
        self.alpha = alpha
        self.relative = relative
        self.collapse = collapse
        self.normalize_rows = normalize_rows
        self.form = form
        self.graph = graph
        self.response = response
        self.laplacian = laplacian
        self.graph_strength = graph_strength
        self.normalize = normalize
        self.weights = weights
        self.weight_norm = weight_norm
        self.scaling = scaling
        self.solver = solver
        self.max_memory = max_memory
        self.align_to = align_to
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _check_loaded = checker(Local)

    # -- the problem ------------------------------------------------------------------

    @property
    def center(self) -> bool:
        """Whether the problem is centred: constants cost A nothing, but a graph may."""
        return self._kernel().sums_to_one and self._has_graph()

    def _has_graph(self) -> bool:
        return self.graph is not None and self.graph_strength != 0

    def _trivial(self, laplacians: Mapping[str, Laplacian]) -> Array | None:
        """Constants, where A takes them to zero and nothing has to be centred."""
        if not self._kernel().sums_to_one or self.center:
            return None
        n = self.reconstruction_weights_.shape[0]
        return np.full(n, n**-0.5)

    def _kernel(self) -> LocalKernel:
        if self.order == 1 and self.constrained:
            return LocallyLinear(self.n_neighbors, self.reg, self.n_jobs)
        return LocallyNonlinear(
            self.n_neighbors,
            self.order,
            self.penalty,
            self.alpha,
            self.relative,
            self.collapse,
            self.normalize_rows,
            self.n_jobs,
        )

    def _kernels(self, X: Any) -> dict[str, Kernel]:
        check.one_of("form", self.form, FORMS)
        check.flag("constrained", self.constrained)
        return {"local": self._kernel()}

    def _by_inverse(self) -> bool:
        """Whether A^+ itself is needed: in the kernel form, beside a graph.

        Without a graph the bottom of A is the top of A^+, and much easier to find.
        """
        return self.form == "kernel" and self._has_graph()

    def _tolerance(self) -> float | None:
        if self.tol is None and not self._by_inverse():
            return TOLERANCE
        return self.tol

    def _data_terms(
        self, kernels: dict[str, Kernel], X: Any, plan: Plan, rng: np.random.Generator
    ) -> tuple[Term, ...]:
        ((name, kernel),) = kernels.items()
        assert isinstance(kernel, LocalKernel)
        W, residual = kernel.reconstruction(X)
        self.reconstruction_weights_, self.coefficient_residual_ = W, residual
        T = self._residual_matrix()
        if self._by_inverse():
            return (inverse_term(name, T, self.n_components, rng),)
        null = null_level(T) if self.form == "kernel" else 0.0
        return (Term(name, -normal_operator(T), null=null),)

    def _residual_matrix(self) -> Any:
        """T = I - W: what is left of each row when its neighbours are taken off."""
        W = self.reconstruction_weights_
        return sp.csr_array(sp.eye_array(W.shape[0]) - W)

    def _scales_of(
        self, problem: Problem, laplacians: Mapping[str, Laplacian], how: dict[str, Any]
    ) -> tuple[float, float, Array | None]:
        """In the local form: mean of the lowest eigenvalues of A over that of L."""
        if self.form == "kernel" or not problem.graphs:
            return super()._scales_of(problem, laplacians, how)
        operator = problem.data_operator()
        assert operator is not None
        trivial = problem.trivial_vector()
        d = min(self.n_components, problem.n - (trivial is not None))
        how = {**how, "tol": 1e-9, "name": "size of the local form"}
        pairs = top_eigenpairs(operator, d, avoid=trivial, **how)
        size_of_A = max(float(-pairs.values.mean()), self._floor())
        size_of_L = 0.0
        for weight, term in zip(problem.beta, problem.graphs, strict=True):
            size = term.size
            if term.is_laplacian:
                lowest = low_eigenvalues(laplacians[term.name], d, how["rng"])
                size = term.factor * float(np.mean(lowest))
            size_of_L += weight * size
        return size_of_A / (size_of_L or 1.0), size_of_A, pairs.start

    # -- what a fit leaves ------------------------------------------------------------

    def _eigenvalues(self, pairs: Eigenpairs) -> Array:
        """Of A^+ in the kernel form, although A was what was solved."""
        if self.form == "kernel" and not self._by_inverse():
            return self._of_kernel(-pairs.values, pairs.vectors)
        return pairs.values

    def _of_kernel(self, errors: Array, V: Array) -> Array:
        """Eigenvalues of A^+ for those of A; 0 for null vectors, such as constants.

        They are kept out of the answer unless no other direction is left.
        """
        values = 1.0 / np.maximum(errors, self._floor())
        lost = null_directions(self._residual_matrix(), V)
        return np.where(lost, 0.0, values)

    def _data_share(
        self, problem: Problem, kernel: Kernel | None, X: Any, V: Array
    ) -> DataShare | None:
        """A new row is made of its neighbours, v(x) = sum_j w_j(x) v_j.

        That is k(x, .) V over v'Kv, for k(x, .) = w(x)'K.
        """
        if self._by_inverse():
            return super()._data_share(problem, kernel, X, V)
        assert kernel is not None
        energies = np.ones(V.shape[1])
        if self.form == "kernel":
            energies = self._of_kernel(self._errors(V), V)
        loadings = np.hstack([V * energies.astype(V.dtype), np.zeros_like(V[:, :1])])
        return DataShare(
            expansions=[Expansion(kernel, loadings=loadings)],
            offset=np.zeros(V.shape[1] + 1, dtype=V.dtype),
            gram=np.diag(energies),
            grand_mean=0.0,
            trace=float("nan"),
        )

    def _graph_shares(
        self, problem: Problem, laplacians: Mapping[str, Laplacian], V: Array
    ) -> list[GraphShare]:
        """In the local form a new row is where its own cost is least.

        That is (w(x)'V + gamma a(x)'V) / (1 + gamma deg(x)).
        """
        shares = graph_shares(problem, laplacians, V)
        if self.form == "kernel":
            return shares
        none = np.zeros(V.shape[1])
        return [replace(share, energies=none, trivial=none) for share in shares]

    def _floor(self) -> float:
        """What v'Av cannot be known below: its rounding."""
        return FLOOR * max(float(abs(self._residual_matrix()).max()), 1.0) ** 2

    def _errors(self, V: Array) -> Array:
        """v'Av of each column."""
        left_over = self._residual_matrix() @ V.astype(np.float64)
        return np.square(left_over).sum(axis=0)

    def _finish(self, rng: np.random.Generator) -> None:
        V = self._extension.V
        self.reconstruction_error_ = float(self._errors(V).sum())
