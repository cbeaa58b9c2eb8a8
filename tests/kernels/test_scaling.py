"""Kernels of distances: classical scaling and geodesics, against loops."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap

import graphfold
from graphfold import GraphKernelPCA, kernels
from graphfold.errors import DisconnectedGraphWarning, GraphfoldError, KernelError
from graphfold.neighbors import METRICS
from tests.helpers import assert_same_up_to_sign, largest_angle

RNG = np.random.default_rng(0)
SCIPY = {"manhattan": "cityblock"}


@pytest.fixture
def rows(rng):
    return rng.standard_normal((60, 4)) + 2.0


def in_words_of(metric, X):
    """Rows that a metric is made for."""
    return (X > 2).astype(float) if metric in ("hamming", "jaccard") else X


def distances_of(metric, X, Y):
    name = SCIPY.get(metric, metric)
    if metric == "jaccard":
        X, Y = X.astype(bool), Y.astype(bool)
    return cdist(X, Y, name)


@pytest.mark.parametrize("metric", METRICS)
def test_classical_scaling_is_minus_half_the_squared_distance(rows, metric):
    X = in_words_of(metric, rows)
    kernel = kernels.ClassicalScaling(metric).bind(X, RNG)
    expected = -0.5 * distances_of(metric, X, X) ** 2
    assert_allclose(kernel.gram(X), expected, atol=1e-12)
    assert_allclose(kernel.gram(X), kernel.gram(X).T)
    assert_allclose(kernel.block(X[:7], X), expected[:7], atol=1e-12)
    assert_allclose(kernel.diagonal(X), 0.0, atol=1e-14)


def test_distances_far_from_the_origin_keep_their_digits(rows):
    X = rows + 1e6
    expected = -0.5 * cdist(X, X, "sqeuclidean")
    assert_allclose(kernels.ClassicalScaling().gram(X), expected, rtol=1e-7, atol=1e-9)
    assert (kernels.ClassicalScaling().gram(X) <= 0).all()


@pytest.mark.parametrize("metric", [m for m in METRICS if m != "jaccard"])
def test_sparse_rows_are_dense_rows(rows, metric):
    X = rows * (rows > 1.5)
    X[:, 0] = rows[:, 0]  # no zero row: it would be as far from every other
    kernel = kernels.ClassicalScaling(metric)
    table = sp.csr_array(X)
    assert_allclose(kernel.gram(table), kernel.gram(X), atol=1e-10)
    assert_allclose(kernel.block(table[:5], table), kernel.block(X[:5], X), atol=1e-10)
    geodesic = kernels.Geodesic(20, metric)
    one, other = geodesic.bind(table, RNG), geodesic.bind(X, RNG)
    assert_allclose(one.gram(table), other.gram(X), atol=1e-6)
    assert_allclose(one.block(table[:5], table), other.block(X[:5], X), atol=1e-6)


def test_single_precision_stays_single(rows):
    X = rows.astype(np.float32)
    for kernel in (
        kernels.ClassicalScaling(),
        kernels.ClassicalScaling("manhattan"),
        kernels.Geodesic(5),
    ):
        bound = kernel.bind(X, RNG)
        wide = kernel.bind(rows, RNG)
        assert bound.gram(X).dtype == np.float32
        assert bound.block(X[:3], X).dtype == np.float32
        assert bound.diagonal(X).dtype == np.float32
        assert_allclose(bound.gram(X), wide.gram(rows), atol=1e-3)


def test_classical_scaling_of_euclidean_distances_is_pca(rows):
    model = GraphKernelPCA(3, kernel=kernels.ClassicalScaling()).fit(rows)
    centred = rows - rows.mean(axis=0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    assert_same_up_to_sign(model.embedding_, U[:, :3] * s[:3], rtol=1e-8)
    new = rows[:9] + 0.1
    _, _, Vt = np.linalg.svd(centred, full_matrices=False)
    placed = (new - rows.mean(axis=0)) @ Vt[:3].T
    assert_same_up_to_sign(model.transform(new), placed, rtol=1e-8)


def floyd_warshall(X, k, metric="euclidean"):
    """Geodesics by the definition: neighbours, then every way through every row."""
    n = len(X)
    steps = distances_of(metric, X, X)
    np.fill_diagonal(steps, np.inf)
    chosen = np.argsort(steps, axis=1)[:, :k]
    ways = np.full((n, n), np.inf)
    for i in range(n):
        for j in chosen[i]:
            ways[i, j] = ways[j, i] = steps[i, j]
    np.fill_diagonal(ways, 0.0)
    for j in range(n):
        ways = np.minimum(ways, ways[:, j : j + 1] + ways[j])
    return ways


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "correlation"])
def test_geodesics_by_floyd_and_warshall(rows, metric):
    bound = kernels.Geodesic(8, metric).bind(rows, RNG)
    expected = floyd_warshall(rows, 8, metric)
    assert np.isfinite(expected).all()
    assert_allclose(bound.gram(rows), -0.5 * expected**2, atol=1e-10)
    assert_allclose(bound.gram(rows), bound.gram(rows).T)
    assert_allclose(bound.diagonal(rows), 0)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_rows_of_the_fit_have_the_geodesics_of_the_fit(rows, metric):
    bound = kernels.Geodesic(8, metric).bind(rows, RNG)
    # cosine: |u - v|^2 / 2 rounds to 1e-16, its square root to 1e-8
    assert_allclose(bound.block(rows, rows), bound.gram(rows), atol=1e-7)
    assert_allclose(bound.block(rows[7:9], rows), bound.gram(rows)[7:9], atol=1e-7)


def test_a_new_row_steps_to_its_nearest_rows(rows, rng, monkeypatch):
    bound = kernels.Geodesic(8).bind(rows, RNG)
    new = rng.standard_normal((11, 4)) + 2.0
    ways = floyd_warshall(rows, 8)
    steps = cdist(new, rows)
    expected = np.empty((11, 60))
    for i in range(11):
        near = np.argsort(steps[i])[:8]
        expected[i] = (steps[i, near][:, None] + ways[near]).min(axis=0)
    assert_allclose(bound.block(new, rows), -0.5 * expected**2)
    # in small blocks: new rows are no way for each other
    monkeypatch.setattr("graphfold.kernels.scaling._BLOCK_NUMBERS", 120)
    assert_allclose(bound.block(new, rows), -0.5 * expected**2)
    assert_allclose(bound.block(new[3:4], rows)[0], -0.5 * expected[3] ** 2)


@pytest.mark.parametrize("k", [6, 10])
def test_isomap_is_scikit_learns(k):
    X, _ = make_swiss_roll(250, random_state=3)
    new, _ = make_swiss_roll(30, random_state=4)
    ours = GraphKernelPCA(2, kernel=kernels.Geodesic(k)).fit(X)
    theirs = Isomap(n_neighbors=k, n_components=2).fit(X)
    assert_same_up_to_sign(ours.embedding_, theirs.embedding_, rtol=1e-7)
    signs = np.sign(np.einsum("ij,ij->j", ours.embedding_, theirs.embedding_))
    placed = theirs.transform(new)
    assert_allclose(
        ours.transform(new) * signs, placed, atol=1e-6 * np.abs(placed).max()
    )


def test_parts_are_joined_and_said(rng):
    X = np.vstack([rng.standard_normal((20, 3)), 30 + rng.standard_normal((20, 3))])
    with pytest.warns(DisconnectedGraphWarning, match="2 parts"):
        bound = kernels.Geodesic(4).bind(X, RNG)
    K = bound.gram(X)
    assert np.isfinite(K).all()
    # the only way leads over the shortest link
    bridge = cdist(X[:20], X[20:]).min()
    across = np.sqrt(-2 * K[:20, 20:])
    assert across.min() == pytest.approx(bridge)


def test_copies_are_at_distance_zero(rng):
    X = rng.standard_normal((40, 3))
    X[15:] = X[2]
    bound = kernels.Geodesic(4).bind(X, RNG)
    K = bound.gram(X)
    assert np.isfinite(K).all()
    assert_allclose(K[15:], np.tile(K[2], (25, 1)), atol=1e-200)
    others = np.sqrt(-2 * K[:15, :15][~np.eye(15, dtype=bool)])
    assert others.min() > 1e-3
    assert np.isfinite(bound.block(X[2:3] + 1e-3, X)).all()


@pytest.mark.parametrize("X", [np.ones((6, 2)), np.array([[0.0], [1.0]])])
def test_few_distinct_rows(X):
    bound = kernels.Geodesic(5).bind(X, RNG)
    assert_allclose(bound.gram(X), -0.5 * cdist(X, X) ** 2, atol=1e-200)
    assert_allclose(
        bound.block(X + 1.0, X)[0].min(), -0.5 * cdist(X + 1, X)[0].max() ** 2
    )


def test_geodesics_grow_with_the_rows(rows):
    one = kernels.Geodesic(8).bind(rows, RNG).gram(rows)
    two = kernels.Geodesic(8).bind(3 * rows, RNG).gram(3 * rows)
    assert_allclose(two, 9 * one)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (kernels.Geodesic(0), "n_neighbors"),
        (kernels.Geodesic(5, "minkowski"), "metric must be one of"),
        (kernels.ClassicalScaling("minkowski"), "metric must be one of"),
    ],
)
def test_bad_parameters_are_named(rows, kernel, message):
    with pytest.raises(GraphfoldError, match=message):
        kernel.bind(rows, RNG)


def test_a_geodesic_kernel_knows_its_own_rows_only(rows):
    with pytest.raises(KernelError, match="bound to"):
        kernels.Geodesic(5).gram(rows)
    bound = kernels.Geodesic(5).bind(rows, RNG)
    with pytest.raises(KernelError, match="bound to"):
        bound.gram(rows[:5])
    with pytest.raises(KernelError, match="bound to"):
        bound.block(rows, rows[:5])


def test_repr_is_short_and_inputs_stay(rows):
    before = rows.copy()
    bound = kernels.Geodesic(5).bind(rows, RNG)
    bound.gram(rows)
    bound.block(rows[:4] + 0.1, rows)
    kernels.ClassicalScaling().gram(rows)
    kernels.ClassicalScaling("manhattan").gram(rows)
    assert (rows == before).all()
    assert len(repr(bound)) < 200
    assert "60 x 4" in repr(bound)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Geodesic(6),
        kernels.Geodesic(6, "manhattan"),
        kernels.ClassicalScaling(),
        kernels.ClassicalScaling("cosine"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("sparse", [False, True])
def test_saved_and_loaded(rows, kernel, sparse, tmp_path):
    X = sp.csr_array(rows) if sparse else rows
    model = GraphKernelPCA(2, kernel=kernel).fit(X)
    model.save(tmp_path / "m.npz")
    again = graphfold.load(tmp_path / "m.npz")
    assert (again.transform(X[:7]) == model.transform(X[:7])).all()
    new = X[:7] * 1.01
    assert_allclose(again.transform(new), model.transform(new), atol=1e-12)


def test_of_some_columns(rows):
    wide = np.hstack([rows, 100 * RNG.standard_normal((60, 3))])
    for kernel in (kernels.Geodesic(6), kernels.ClassicalScaling("manhattan")):
        view = kernels.OnColumns(kernel, 0, 4).bind(wide, RNG)
        plain = kernel.bind(rows, RNG)
        assert_allclose(view.gram(wide), plain.gram(rows))
        new = wide[:5] + 0.1
        assert_allclose(view.block(new, wide), plain.block(new[:, :4], rows))
        one = GraphKernelPCA(2, kernel=view).fit(wide)
        other = GraphKernelPCA(2, kernel=plain).fit(rows)
        assert largest_angle(one.embedding_, other.embedding_) < 1e-6


def test_the_path_of_a_half_circle_is_its_arc():
    angle = np.linspace(0, np.pi, 200)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    K = kernels.Geodesic(2).bind(arc, RNG).gram(arc)
    assert np.sqrt(-2 * K[0, -1]) == pytest.approx(np.pi, rel=1e-4)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_two_zero_rows_are_equal(rng, metric):
    X = np.vstack([rng.random((6, 4)), np.zeros((2, 4))])
    K = kernels.ClassicalScaling(metric).gram(X)
    assert K[6, 7] == pytest.approx(0)
    assert K[0, 7] == pytest.approx(-0.5)
