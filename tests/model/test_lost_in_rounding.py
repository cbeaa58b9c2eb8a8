"""A wanted end below the rounding of the other end is refused, never handed out."""

import mpmath
import numpy as np
import pytest
from scipy.linalg import subspace_angles

from graphfold import Graph, GraphKernelPCA, LaplacianEigenmaps
from graphfold.errors import ConvergenceError, GraphError, GraphfoldError
from graphfold.graphs.responses import Diffusion

N = 41


def on_a_star(scale, X, **how):
    star = Graph([(0, i) for i in range(1, N)])
    return GraphKernelPCA(
        2,
        kernel="linear",
        graph=star,
        laplacian="combinatorial",
        response=Diffusion(scale, form="penalty"),
        normalize=False,
        **how,
    ).fit(X)


def exactly(scale, X):
    """Top two eigenvectors of H (X X' - exp(scale L / 2)) H, with sixty digits."""
    with mpmath.workdps(60):
        L = mpmath.diag([N - 1] + [1] * (N - 1))
        for i in range(1, N):
            L[0, i] = L[i, 0] = -1
        values, U = mpmath.eigsy(L)
        penalty = U * mpmath.diag([mpmath.exp(scale * v / 2) for v in values]) * U.T
        X = mpmath.matrix(X.tolist())
        H = mpmath.eye(N) - mpmath.ones(N) / N
        values, V = mpmath.eigsy(H * (X * X.T - penalty) * H)
        order = np.argsort([float(value) for value in values])[::-1][:2]
        return np.array(V.tolist(), dtype=float)[:, order]


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 5.0])
def test_a_penalty_on_a_hub_is_right_or_refused(scale, rng):
    X = rng.standard_normal((N, 5))
    try:
        model = on_a_star(scale, X)
    except ConvergenceError as error:
        assert "lost in the rounding" in str(error)
        assert scale >= 2.0
    else:
        angle = subspace_angles(model.eigenvectors_, exactly(scale, X)).max()
        assert angle < 1e-4


@pytest.mark.parametrize(("scale", "dtype"), [(5.0, np.float32), (100.0, np.float64)])
@pytest.mark.parametrize("normalize", [True, False])
def test_a_penalty_beyond_all_numbers_is_refused(scale, dtype, normalize, rng):
    X = rng.standard_normal((N, 4)).astype(dtype)
    star = Graph([(0, i) for i in range(1, N)])
    model = GraphKernelPCA(
        kernel="linear",
        graph=star,
        laplacian="combinatorial",
        response=Diffusion(scale, form="penalty"),
        normalize=normalize,
    )
    with pytest.raises(GraphfoldError):
        model.fit(X)


@pytest.mark.parametrize("kind", [GraphKernelPCA, LaplacianEigenmaps])
def test_weights_whose_sum_is_infinite_are_refused(kind, rng):
    triangle = Graph([(0, 1, 1e308), (1, 2, 1e308), (0, 2, 1e308), (2, 3, 1.0)])
    with pytest.raises(GraphError, match="add up to a finite number"):
        kind(graph=triangle).fit(rng.standard_normal((4, 2)))


@pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")
def test_a_kernel_of_zeros_is_not_lost(rng):
    parts = Graph([(i, i ^ 1) for i in range(20)])
    model = GraphKernelPCA(graph=parts, kernel="linear", normalize=False)
    assert np.isfinite(model.fit(np.zeros((20, 3))).eigenvalues_).all()


def test_exact_zeros_of_a_laplacian_are_no_rounding(rng):
    pairs = Graph([(i, i ^ 1) for i in range(40)])
    model = LaplacianEigenmaps(3, graph=pairs).fit(np.zeros((40, 1)))
    assert model.converged_
