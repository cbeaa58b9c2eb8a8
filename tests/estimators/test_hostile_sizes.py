"""Regressions: rows and graphs whose sizes, or squares, are out of range."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from graphfold import (
    CorrelationGraph,
    FastRobustGraphPCA,
    Graph,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    MultiModalGraphEmbedding,
    NeighborGraph,
    RobustGraphPCA,
    kernels,
    responses,
)
from graphfold.errors import GraphError, GraphfoldError, KernelError
from graphfold.estimators.strength_path import _standardised

pytestmark = [
    pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.mark.parametrize("scale", [1e-150, 1e100, 1e150])
@pytest.mark.parametrize("solver", ["lapack", "krylov"])
def test_a_linear_embedding_scales_with_its_rows(scale, solver, points):
    how = {"kernel": "linear", "solver": solver}
    Z = GraphKernelPCA(2, **how).fit_transform(points)
    scaled = GraphKernelPCA(2, **how).fit_transform(points * scale)
    np.testing.assert_allclose(scaled / scale, Z, atol=1e-7)


@pytest.mark.parametrize(
    "estimator",
    [
        GraphKernelPCA(),
        GraphKernelPCA(kernel="cosine"),
        RobustGraphPCA(),
        FastRobustGraphPCA(),
    ],
)
def test_rows_whose_squares_are_infinite_are_refused(estimator, points):
    for X in (points * 1e200, (points * 1e25).astype(np.float32)):
        with pytest.raises(GraphfoldError, match="X must have entries of size up to"):
            estimator.fit(X)


def test_modes_whose_squares_are_infinite_are_refused(points):
    with pytest.raises(GraphfoldError, match="X must have entries of size up to"):
        MultiModalGraphEmbedding().fit(points * 1e200)
    single = MultiModalGraphEmbedding().fit((points * 1e25).astype(np.float32))
    assert np.isfinite(single.embedding_).all()


def test_kernel_matrices_may_hold_what_rows_may_not(points):
    K = points @ points.T
    Z = GraphKernelPCA(2, kernel="precomputed").fit_transform(K * 1e200)
    wanted = GraphKernelPCA(2, kernel="precomputed").fit_transform(K)
    np.testing.assert_allclose(Z / 1e100, wanted, atol=1e-8)


def test_a_median_whose_inverse_is_infinite_is_refused(points):
    with pytest.raises(KernelError, match="X must have distances whose squares"):
        GraphKernelPCA().fit(points * 1e-157)


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_landmarks_refuse_values_beyond_single_precision(scale, points):
    model = GraphKernelPCA(2, kernel="linear", landmarks=10)
    with pytest.raises(KernelError, match="single precision"):
        model.fit(points * scale)


def test_landmarks_refuse_a_row_beyond_single_precision(points):
    X = points.copy()
    X[-1] *= 1e40
    model = GraphKernelPCA(2, kernel="linear", landmarks=np.arange(10))
    with pytest.raises(KernelError, match="single precision"):
        model.fit(X)


def test_a_graph_too_light_to_be_compared_with_the_kernel_is_refused(points):
    A = sp.csr_array(np.ones((60, 60)) * 1e-300)
    how = {"kernel": "linear", "graph": Graph(A)}
    model = GraphKernelPCA(2, laplacian="combinatorial", **how)
    with pytest.raises(GraphfoldError, match="graph weights must be of a size"):
        model.fit(points * 1e12)
    assert np.isfinite(GraphKernelPCA(2, **how).fit_transform(points * 1e12)).all()


@pytest.mark.parametrize("method", [RobustGraphPCA, FastRobustGraphPCA])
def test_robust_parts_of_tiny_rows_are_those_of_the_same_rows(method, points):
    tiny = 2.0**-400
    without = {"graph_strength": 0.0}
    if method is FastRobustGraphPCA:
        without["feature_strength"] = 0.0
    plain = method(2, **without).fit(points)
    scaled = method(2, **without).fit(points * tiny)
    np.testing.assert_allclose(scaled.low_rank_ / tiny, plain.low_rank_, atol=1e-9)
    assert scaled.objective_ == pytest.approx(plain.objective_ * tiny)


@pytest.mark.parametrize("method", [RobustGraphPCA, FastRobustGraphPCA])
def test_a_graph_that_leaves_nothing_of_the_rest_is_refused(method, points):
    with pytest.raises(GraphfoldError, match="times the largest degree of its graph"):
        method(2).fit(points * 1e90)


def test_columns_held_out_are_standardised_at_every_scale(rng):
    X = np.where(rng.random((40, 6)) < 0.5, rng.random((40, 6)), 0.0)
    X[:, -1] = 0.1  # constant
    for scale in (1e-12, 1.0, 1e12):
        found = _standardised(sp.csr_array(X * scale))
        assert found.shape == (40, 5)
        np.testing.assert_allclose(found.toarray().std(axis=0), 1.0)


def test_heat_weights_of_far_rows_are_zero():
    X = np.array([[0.0], [1e-120], [2e-120], [1e120]])
    graph = NeighborGraph(2, weight="heat").build(X)
    assert np.isfinite(graph.degrees).all()


@pytest.mark.parametrize("k", [None, 3])
def test_a_correlation_graph_of_one_row_has_no_edges(k):
    graph = CorrelationGraph(k).build(np.array([[1.0, 2.0, 4.0]]))
    assert graph.n_nodes == 1 and graph.n_edges == 0


def test_a_gaussian_refuses_a_median_of_next_to_nothing():
    with pytest.raises(KernelError, match="scale X up"):
        kernels.Gaussian().at_median(1e-312)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_constant_columns_foretell_nothing_in_single_precision_either(dtype, kind, rng):
    X = rng.random((50, 4)).astype(dtype)
    X[:, 1:3] = [0.1, 0.7]
    assert _standardised(kind(X)).shape == (50, 2)


# -- graph weights that are tiny, or large --------------------------------------------

TINY = {
    "all": lambda A: A * 1e-320,
    "subnormal": lambda A: A * 1e-310,
    "of some rows": lambda A: (
        sp.diags_array([1e-160] * 20 + [1.0] * 40)
        @ A
        @ sp.diags_array([1e-160] * 20 + [1.0] * 40)
    ),
}
METHODS = {
    "kernel pca": lambda g: GraphKernelPCA(2, graph=g),
    "diffusion": lambda g: GraphKernelPCA(2, graph=g, response=responses.Diffusion(2)),
    "landmarks": lambda g: GraphKernelPCA(2, graph=g, landmarks=30),
    "letter": lambda g: GraphKernelPCA(2, graph=g, normalize=False),
    "eigenmaps": lambda g: LaplacianEigenmaps(2, graph=g),
    "combinatorial eigenmaps": lambda g: LaplacianEigenmaps(
        2, graph=g, laplacian="combinatorial"
    ),
    "laplacian pca": lambda g: GraphLaplacianPCA(2, graph=g, laplacian="normalized"),
}


def ring_with_chords(n=60):
    """Whole weights, which subnormal numbers hold without rounding."""
    A = np.zeros((n, n))
    for i in range(n):
        for step, weight in ((1, 2.0), (7, 1.0)):
            A[i, (i + step) % n] = A[(i + step) % n, i] = weight
    return A


@pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("smaller", TINY.values(), ids=TINY)
def test_tiny_graph_weights_give_numbers(make, smaller, points):
    model = make(smaller(ring_with_chords())).fit(points)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.eigenvalues_).all()
    assert model.converged_
    assert_array_equal(model.transform(points), model.embedding_)


@pytest.mark.parametrize("scale", [1e-320, 1e-310, 1e-200, 1e200])
@pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)
def test_the_size_of_all_weights_does_not_matter(make, scale, points):
    A = ring_with_chords()
    found, wanted = make(A * scale).fit(points), make(A).fit(points)
    # 1e-320 has four digits
    limit = 1e-3 if scale == 1e-320 else 1e-7
    angles = scipy.linalg.subspace_angles(found.embedding_, wanted.embedding_)
    assert angles.max() < limit
    if isinstance(found, LaplacianEigenmaps):
        return
    edges = A[:5] * scale
    placed = found.transform(points[:5] + 0.1, edges=edges)
    expected = wanted.transform(points[:5] + 0.1, edges=A[:5])
    np.testing.assert_allclose(np.abs(placed), np.abs(expected), rtol=10 * limit)


@pytest.mark.parametrize("scale", [1e-320, 1e-40, 1e40])
def test_weights_that_single_precision_does_not_hold_are_refused(scale, points):
    A = ring_with_chords() * scale
    single = points.astype(np.float32)
    with pytest.raises(GraphError, match=r"largest degree between .* got .*multiply"):
        GraphKernelPCA(2, graph=A, laplacian="combinatorial").fit(single)
    with pytest.raises(GraphError, match="largest degree between"):
        GraphKernelPCA(2, graph=A, laplacian="combinatorial", landmarks=20).fit(points)
    assert np.isfinite(GraphKernelPCA(2, graph=A).fit(single).embedding_).all()


def test_eigenmaps_in_single_precision_refuse_degrees_without_inverse_roots(points):
    A = ring_with_chords() * 1e-90
    with pytest.raises(GraphError, match="multiply the weights"):
        LaplacianEigenmaps(2, graph=A).fit(points.astype(np.float32))
    assert np.isfinite(LaplacianEigenmaps(2, graph=A).fit(points).embedding_).all()
