"""Fits on data that are badly conditioned: offsets, scales, copies, near copies."""

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from graphfold import (
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    NeighborGraph,
    SemiSupervisedGraphKernelPCA,
    kernels,
)
from graphfold.errors import WeakSpectrumWarning
from graphfold.graphs import laplacian
from tests.helpers import largest_angle
from tests.trust.ledger import measured, tried
from tests.trust.numbers.conditions import hilbert
from tests.trust.numbers.reference import refined_pairs
from tests.trust.numbers.tables import N, new_rows, ring, table

SOME = np.arange(0, N, 3)
MODES = {"one": slice(0, 3), "two": slice(3, 6)}
#: fits that know differences of rows only
SHIFTED = {
    "linear": lambda: GraphKernelPCA(3, kernel="linear"),
    "linear, ring": lambda: GraphKernelPCA(3, kernel="linear", graph=ring()),
    "rbf": lambda: GraphKernelPCA(3),
    "rbf, neighbours": lambda: GraphKernelPCA(3, graph=NeighborGraph(7, weight="heat")),
    "laplacian": lambda: GraphKernelPCA(3, kernel="laplacian", gamma=0.01),
    "geodesic": lambda: GraphKernelPCA(3, kernel=kernels.Geodesic(8)),
    "scaling": lambda: GraphKernelPCA(3, kernel=kernels.ClassicalScaling()),
    "landmarks": lambda: GraphKernelPCA(3, gamma=0.01, landmarks=SOME),
    "landmarks, linear": lambda: GraphKernelPCA(3, kernel="linear", landmarks=SOME),
    "landmarks, ring": lambda: GraphKernelPCA(
        3, gamma=0.01, landmarks=SOME, graph=ring(), refine=False
    ),
    "LLE": lambda: LocalNonlinearEmbedding(2, n_neighbors=9, order=1),
    "GLPCA": lambda: GraphLaplacianPCA(3, graph=ring()),
    "modes": lambda: MultiModalGraphEmbedding(2, modes=MODES, n_neighbors=7),
    "pairs": lambda: SemiSupervisedGraphKernelPCA(3, must_link=[(0, 3)]),
}


@pytest.mark.filterwarnings("ignore::graphfold.errors.UnlabelledRowsWarning")
@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize("name", SHIFTED)
def test_an_offset_of_all_columns_changes_nothing(name, offset):
    """The table has ten binary digits after the point: the sum is exact."""
    X, new = table(), new_rows()
    assert (X + offset - offset == X).all()
    plain, moved = SHIFTED[name]().fit(X), SHIFTED[name]().fit(X + offset)
    far = np.abs(moved.eigenvalues_ / plain.eigenvalues_ - 1).max()
    expected = pdist(np.vstack([plain.embedding_, plain.transform(new)]))
    found = pdist(np.vstack([moved.embedding_, moved.transform(new + offset)]))
    far = max(far, np.abs(found - expected).max() / expected.max())
    assert far <= 1e-10
    measured("numbers", f"columns + {offset:g}/{name}", float(far))
    tried("numbers", f"columns + {offset:g}", name)


def test_components_of_columns_far_from_zero():
    X = table()
    plain = GraphKernelPCA(3, kernel="linear").fit(X).components_
    moved = GraphKernelPCA(3, kernel="linear").fit(X + 1e8).components_
    assert_allclose(np.abs(moved), np.abs(plain), atol=1e-10)


@cache
def centred_hilbert_values(n):
    H = np.eye(n) - 1 / n
    return refined_pairs(H @ hilbert(n) @ H, 1)[0][:4].astype(float)


@pytest.mark.parametrize("solver", ["auto", "krylov", "chebyshev", "lobpcg"])
@pytest.mark.parametrize("n", [50, 120, 200])
def test_hilbert_kernels(n, solver):
    true = centred_hilbert_values(n)
    model = GraphKernelPCA(4, kernel="precomputed", solver=solver).fit(hilbert(n))
    far = np.abs(model.eigenvalues_ - true).max() / true[0]
    assert far <= 1e-12
    assert model.converged_
    measured("numbers", f"Hilbert kernel, n = {n}/{solver}", float(far))
    tried("numbers", "Hilbert kernel", f"n = {n}")


@pytest.mark.parametrize("landmarks", [None, SOME], ids=["exact", "landmarks"])
@pytest.mark.parametrize("number", [2, 5])
def test_bandwidths_that_nearly_agree_share_the_weight(number, landmarks):
    """1e-12 apart: the weights are equal, the answer is that of one of them."""
    X = table()
    near = [kernels.Gaussian(0.01 * (1 + 1e-12 * k)) for k in range(number)]
    model = GraphKernelPCA(3, kernel=near, landmarks=landmarks).fit(X)
    one = GraphKernelPCA(3, kernel=near[0], landmarks=landmarks).fit(X)
    # features of landmarks are kept in four bytes
    allowed = 1e-10 if landmarks is None else 1e-6
    assert_allclose(model.kernel_weights_, number**-0.5, rtol=allowed)
    assert largest_angle(model.eigenvectors_, one.eigenvectors_) <= 10 * allowed
    trace = np.asarray(model.objective_trace_)
    assert (np.diff(trace) >= -1e-12 * trace[-1]).all()
    tried("numbers", "bandwidths 1e-12 apart", f"{number} kernels")


@pytest.mark.parametrize("strength", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_strengths_over_24_orders_of_magnitude(strength, kind):
    """A weak graph turns the axes by its strength, a strong one takes them over."""
    X, graph = table(), ring()
    words = {"gamma": 0.01, "laplacian": kind}
    model = GraphKernelPCA(3, graph=graph, graph_strength=strength, **words).fit(X)
    if strength < 1:
        reference, turn = GraphKernelPCA(3, gamma=0.01).fit(X).eigenvectors_, strength
    else:
        L = laplacian(graph, kind).operator.to_dense()
        H = np.eye(N) - 1 / N
        reference = np.linalg.eigh(H @ L @ H + 10 * (np.eye(N) - H))[1][:, :3]
        turn = 1 / strength
    angle = largest_angle(model.eigenvectors_, reference)
    assert angle <= 1e3 * turn + 1e-12
    assert model.residuals_.max() <= 1e-12
    measured("numbers", f"strength {strength:g}, {kind}", angle)
    tried("numbers", "strengths 1e-12 to 1e12", kind)


@pytest.mark.parametrize("scale", [2.0**-332, 2.0**332], ids=["1e-100", "1e+100"])
@pytest.mark.parametrize("solver", ["auto", "krylov", "chebyshev", "lobpcg"])
@pytest.mark.parametrize("graph", [None, ring()], ids=["no graph", "ring"])
def test_kernels_of_any_scale(scale, solver, graph):
    X = table()
    K = np.exp(-0.01 * ((X[:, None] - X) ** 2).sum(axis=2))
    words = {"kernel": "precomputed", "solver": solver, "graph": graph}
    plain = GraphKernelPCA(3, **words).fit(K)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GraphKernelPCA(3, **words).fit(K * scale)
    assert model.converged_
    assert_allclose(model.eigenvalues_ / scale, plain.eigenvalues_, rtol=1e-10)
    ours, theirs = pdist(model.embedding_) / scale**0.5, pdist(plain.embedding_)
    assert_allclose(ours, theirs, atol=1e-8 * theirs.max())
    tried("numbers", "kernels times 1e-100 and 1e+100", solver)


@pytest.mark.parametrize("size", [2.0**-332, 2.0**332], ids=["1e-100", "1e+100"])
@pytest.mark.parametrize("name", ["linear", "rbf, neighbours", "geodesic", "LLE"])
def test_tables_of_any_scale(name, size):
    """Whose squares are 1e+-200: residuals of the linear kernel overflowed."""
    X = table()
    plain, model = SHIFTED[name]().fit(X), SHIFTED[name]().fit(X * size)
    ours, theirs = pdist(model.embedding_), pdist(plain.embedding_)
    assert_allclose(ours / ours.max(), theirs / theirs.max(), atol=1e-9)
    tried("numbers", "tables times 1e-100 and 1e+100", name)


def test_directions_that_are_not_there_are_said_to_be_missing():
    X = np.hstack([table()[:, :2], table()[:, :2] * 0.5])
    with pytest.warns(WeakSpectrumWarning, match="2 of 4 components"):
        model = GraphKernelPCA(4, kernel="linear").fit(X)
    assert (model.embedding_[:, 2:] == 0).all()
    two = GraphKernelPCA(2, kernel="linear").fit(X)
    assert_allclose(model.eigenvalues_[:2], two.eigenvalues_, rtol=1e-12)
    tried("numbers", "rank 2 of 4", "linear")


@pytest.mark.parametrize("name", ["rbf", "linear", "geodesic", "landmarks"])
def test_rows_that_are_there_twice_have_one_place(name):
    X = np.repeat(table(N // 2), 2, axis=0)
    Z = SHIFTED[name]().fit(X).embedding_
    assert_allclose(Z[::2], Z[1::2], atol=1e-10 * np.abs(Z).max())
    tried("numbers", "rows twice", name)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_a_bridge_of_1e_12_still_joins(kind):
    """The first axis tells the two sides apart, and no warning says they are parts."""
    A = ring(N // 2).to_scipy().toarray()
    both = np.block([[A, np.zeros_like(A)], [np.zeros_like(A), A]])
    both[0, -1] = both[-1, 0] = 1e-12
    model = LaplacianEigenmaps(1, graph=both, laplacian=kind).fit(table())
    Z = model.embedding_[:, 0]
    assert len(set(np.sign(Z[: N // 2]))) == len(set(np.sign(Z[N // 2 :]))) == 1
    assert Z[0] * Z[-1] < 0
    assert model.residuals_.max() <= 1e-12
    tried("numbers", "bridge of 1e-12", kind)
