"""Features of landmarks against the Nystrom formula, dense and in double precision."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import pairwise_kernels
from threadpoolctl import threadpool_limits

from graphfold import kernels
from graphfold.arrays import inverse_root, triangular_root
from graphfold.equal_rows import row_projections
from graphfold.kernels.landmarks import BLOCK, PANEL, landmark_features
from graphfold.kernels.names import bind_all, kernels_from
from tests.helpers import largest_angle

#: name of scikit-learn's kernel, and its parameters
KERNELS = {
    "linear": {},
    "rbf": {"gamma": 0.2},
    "laplacian": {"gamma": 0.3},
    "poly": {"gamma": 0.2, "degree": 2, "coef0": 1.0},
    "cosine": {},
}


def kernel_of(name, X):
    settings = {"gamma": "median", "degree": 3, "coef0": 1, **KERNELS[name]}
    found = kernels_from(name, kernel_params=None, n_features=X.shape[1], **settings)
    return next(iter(bind_all(found, X, np.random.default_rng(0)).values()))


def nystrom(name, X, Y, Z, *, center):
    """K_xz K_zz^+ K_zy by scikit-learn's kernels and LAPACK's pseudo-inverse.

    Centred about the landmarks: every kernel value loses what the mean of the landmarks
    in feature space has to do with it.
    """

    def k(A, B):
        return pairwise_kernels(A, B, metric=name, **KERNELS[name])

    K_xz, K_zy, K_zz = k(X, Z), k(Z, Y), k(Z, Z)
    if center:
        grand = K_zz.mean()
        row, column = K_zz.mean(axis=0), K_zz.mean(axis=1)[:, None]
        K_xz = K_xz - K_xz.mean(axis=1, keepdims=True) - row + grand
        K_zy = K_zy - K_zy.mean(axis=0, keepdims=True) - column + grand
        K_zz = K_zz - row - column + grand
    return K_xz @ np.linalg.pinv(K_zz, rcond=1e-7, hermitian=True) @ K_zy


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", KERNELS)
def test_inner_products_are_the_formula_of_nystrom(points, name, center):
    Z, X, Y = points[:20], points[20:45], points[45:]
    features = landmark_features(kernel_of(name, points), Z, center=center)
    phi, psi = features.of(X).astype(float), features.of(Y).astype(float)
    expected = nystrom(name, X, Y, Z, center=center)
    assert_allclose(phi @ psi.T, expected, atol=2e-4 * np.abs(expected).max())


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", KERNELS)
def test_exact_when_the_landmarks_are_all_rows(points, name, center):
    features = landmark_features(kernel_of(name, points), points, center=center)
    phi = features.of(points).astype(float)
    K = pairwise_kernels(points, metric=name, **KERNELS[name])
    H = np.eye(len(K)) - 1 / len(K)
    expected = H @ K @ H if center else K
    assert_allclose(phi @ phi.T, expected, atol=2e-5 * np.abs(expected).max())
    assert features.lost_share(points) == pytest.approx(0, abs=1e-5)


def test_a_rank_no_larger_than_the_kernels_own(points):
    features = landmark_features(kernels.Linear(), points[:40], center=True)
    assert features.rank == 5
    assert landmark_features(kernels.Linear(), points[:4], center=True).rank == 3
    assert landmark_features(kernels.Linear(), points[:4], center=False).rank == 4


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-7, 1e-4])
def test_landmarks_that_nearly_repeat_each_other_do_no_harm(points, rng, noise, center):
    """Each landmark three times, a little apart: the same as once."""
    kernel, once = kernels.Gaussian(0.2), points[:15]
    copies = [once + noise * rng.standard_normal(once.shape) for _ in range(2)]
    features = landmark_features(kernel, np.vstack([once, *copies]), center=center)
    phi = features.of(points).astype(float)
    assert np.isfinite(phi).all()
    if noise < 1e-4:
        assert features.rank <= 15
    expected = nystrom("rbf", points, points, once, center=center)
    assert_allclose(phi @ phi.T, expected, atol=2e-3)


def test_all_landmarks_equal_give_no_feature_when_centred():
    Z = np.ones((4, 3))
    assert landmark_features(kernels.Gaussian(1.0), Z, center=True).rank == 0
    one = landmark_features(kernels.Gaussian(1.0), Z, center=False)
    assert one.rank == 1
    assert_allclose(one.of(Z), np.ones((4, 1)), atol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_linear_features_of_rows_far_from_the_origin(rng, offset):
    """Centred rows are what counts: 12 digits of k(x, y) are the mean's."""
    near = rng.standard_normal((300, 4)) * [3, 3, 2, 2]
    X, Z = near + offset, near[:40] + offset
    features = landmark_features(kernels.Linear(), Z, center=True)
    phi = features.of(X).astype(float)
    about = near - near[:40].mean(axis=0)
    expected = about @ about.T
    assert features.rank == 4
    assert_allclose(phi @ phi.T, expected, atol=1e-3 * np.abs(expected).max())
    assert features.lost_share(X) == pytest.approx(0, abs=1e-2)


def test_gaussian_features_of_rows_far_from_the_origin(rng):
    near = rng.standard_normal((100, 3))
    kernel = kernels.Gaussian(0.3)
    far = landmark_features(kernel, near[:30] + 1e3, center=True).of(near + 1e3)
    here = landmark_features(kernel, near[:30], center=True).of(near)
    far, here = far.astype(float), here.astype(float)
    assert_allclose(far @ far.T, here @ here.T, atol=1e-3)


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_single_precision_rows_give_the_same_features(points, name):
    kernel = kernel_of(name, points)
    found = []
    for dtype in (np.float64, np.float32):
        rows = points.astype(dtype)
        features = landmark_features(kernel, rows[:25], center=True)
        assert features.of(rows).dtype == np.float32
        found.append(features.of(rows).astype(float))
    K, L = (phi @ phi.T for phi in found)
    assert_allclose(L, K, atol=2e-3 * np.abs(K).max())


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", ["linear", "rbf", "cosine"])
def test_sparse_rows_are_dense_rows(rng, name, center):
    X = rng.standard_normal((80, 12)) * (rng.random((80, 12)) < 0.3)
    X[:, 0] += 1.0  # no row of zeros, which has no cosine
    kernel = kernel_of(name, X)
    dense = landmark_features(kernel, X[:30], center=center).of(X).astype(float)
    S = sp.csr_array(X)
    sparse = landmark_features(kernel, S[:30], center=center).of(S).astype(float)
    assert_allclose(sparse @ sparse.T, dense @ dense.T, atol=1e-4)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_features_of_a_row_do_not_depend_on_its_block(rng, offset):
    X = rng.standard_normal((BLOCK + 300, 3)) + offset
    features = landmark_features(kernels.Linear(), X[:20], center=True)
    whole = features.of(X)
    for rows in (slice(0, 1), slice(250, 270), slice(BLOCK - 5, BLOCK + 5)):
        gap = np.abs(features.of_block(X[rows]) - whole[rows]).max()
        # products of rows at 1e6 carry an error of 1e6 * 1e6 * eps
        assert gap <= (1e-3 if offset else 1e-5) * np.abs(whole).max()
    with threadpool_limits(2):
        assert_array_equal(features.of(X), whole)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("offset", [0.0, 20.0])
def test_coefficients_write_features_as_kernel_values(rng, name, center, offset):
    """phi(x) A = k(x, Z) C - c, also where the mean dominates the kernel."""
    X = rng.standard_normal((50, 4)) + offset
    Z = X[:15]
    kernel = kernel_of(name, X)
    features = landmark_features(kernel, Z, center=center)
    A = rng.standard_normal((features.rank, 3))
    C, c = features.coefficients(A)
    phi = features.of(X).astype(float)
    values = pairwise_kernels(X, features.rows, metric=name, **KERNELS[name])
    if features.means is not None:
        # then k(x, Z) loses its mean over the landmarks; C has no constant part
        assert_allclose(C.sum(axis=0), 0, atol=1e-8 * np.abs(C).sum())
    size = np.abs(phi @ A).max()
    assert_allclose(values @ C - c, phi @ A, atol=2e-3 * size)


@pytest.mark.parametrize("center", [True, False])
def test_panels_of_the_triangle_leave_nothing_out(rng, center):
    """More features than a panel has columns: the triangle is multiplied in pieces."""
    X = rng.standard_normal((PANEL + 90, 30))
    features = landmark_features(
        kernels.Gaussian(gamma=0.02), X[: PANEL + 60], center=center
    )
    assert features.rank > PANEL
    assert_array_equal(features.whitening, np.triu(features.whitening))
    values = kernels.Gaussian(gamma=0.02).block(X, features.rows)
    C, c = features.coefficients(np.eye(features.rank))
    expected = values @ C - c
    size = np.abs(expected).max()
    assert_allclose(features.of(X, precise=True), expected, atol=1e-5 * size)
    assert_allclose(features.of(X), expected, atol=2e-3 * size)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("sparse", [(False, False), (True, True), (True, False)])
def test_a_kernel_against_rows_made_ready_is_its_block(rng, name, sparse):
    X, Y = rng.standard_normal((9, 4)), rng.standard_normal((5, 4)) + 3
    X, Y = (
        sp.csr_array(part) if s else part
        for part, s in zip((X, Y), sparse, strict=True)
    )
    kernel = kernel_of(name, rng.standard_normal((20, 4)))
    values = kernel.against(Y)
    dense = [part.toarray() if sp.issparse(part) else part for part in (X, Y)]
    expected = pairwise_kernels(*dense, metric=name, **KERNELS[name])
    for rows in (slice(0, 4), slice(4, 9), slice(0, 4)):
        assert_allclose(values(X[rows]), expected[rows], rtol=1e-9)


def test_the_mean_is_taken_off_where_it_dominates(rng):
    near = rng.standard_normal((30, 3))
    assert landmark_features(kernels.Linear(), near, center=True).means is None
    far = landmark_features(kernels.Linear(), near + 100, center=True)
    means = ((near + 100) @ (near + 100).T).mean(axis=1)
    assert_allclose(far.means, means[far.order])
    assert landmark_features(kernels.Linear(), near + 100, center=False).means is None


@pytest.mark.parametrize("rank", [1, 4, 9])
@pytest.mark.parametrize("center", [True, False])
def test_fewer_features_are_the_leading_directions(rng, center, rank):
    X = rng.standard_normal((400, 4)) * [2, 1, 1, 0.5]
    features = landmark_features(kernels.Gaussian(0.1), X[:40], center=center)
    phi = features.of(X).astype(float)
    reduced = features.with_rank(rank, X)
    assert reduced.rank == rank
    psi = reduced.of(X).astype(float)
    mean = phi.mean(axis=0)
    U, s, Vt = np.linalg.svd(phi - mean, full_matrices=False)
    about = psi - psi.mean(axis=0)
    assert largest_angle(about, U[:, :rank]) < 1e-3
    assert_allclose(np.linalg.svd(about)[1][:rank], s[:rank], rtol=1e-4)
    # not only their spread: the features themselves, up to a rotation
    expected = phi @ Vt[:rank].T
    assert_allclose(psi @ psi.T, expected @ expected.T, atol=1e-4)


def test_more_features_than_there_are_is_all_of_them(points):
    features = landmark_features(kernels.Linear(), points, center=True)
    assert features.with_rank(5, points) is features
    assert features.with_rank(50, points) is features


def test_fewer_features_of_rows_far_from_the_origin(rng):
    near = rng.standard_normal((200, 5)) * [5, 3, 1, 0.5, 0.1]
    X = near + 1e5
    reduced = landmark_features(kernels.Linear(), X[:50], center=True).with_rank(2, X)
    psi = reduced.of(X).astype(float)
    U = np.linalg.svd(near - near.mean(axis=0), full_matrices=False)[0]
    assert largest_angle(psi - psi.mean(axis=0), U[:, :2]) < 1e-3
    A = np.eye(2)
    C, _ = reduced.coefficients(A)
    assert C.shape == (50, 2)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", ["linear", "rbf", "laplacian"])
def test_what_is_lost_is_a_share_of_the_trace(points, name, center):
    Z, X = points[:3], points[3:]
    features = landmark_features(kernel_of(name, points), Z, center=center)
    seen = np.trace(nystrom(name, X, X, Z, center=center))

    def k(A, B):
        return pairwise_kernels(A, B, metric=name, **KERNELS[name])

    total = 0.0
    for x in X:
        own = k([x], [x])[0, 0]
        if center:
            own += -2 * k([x], Z).mean() + k(Z, Z).mean()
        total += own
    assert features.lost_share(X) == pytest.approx(1 - seen / total, abs=1e-4)


@given(st.integers(0, 10_000), st.integers(2, 30), st.booleans())
@settings(max_examples=25, deadline=None)
def test_more_landmarks_never_lose_more(seed, count, center):
    """Uncentred the share falls with every landmark; it always stays in [0, 1]."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3))
    kernel = kernels.Gaussian(float(rng.uniform(0.05, 2.0)))
    few = landmark_features(kernel, X[:count], center=center)
    more = landmark_features(kernel, X[: count + 10], center=center)
    assert few.rank <= count
    assert 0 <= few.lost_share(X) <= 1
    if not center:
        assert more.lost_share(X) <= few.lost_share(X) + 1e-5
    # the kernel seen is never more than the kernel: K - Phi Phi' is positive
    if not center:
        phi = few.of(X).astype(float)
        K = pairwise_kernels(X, metric="rbf", gamma=kernel.gamma)
        rest = np.linalg.eigvalsh(K - phi @ phi.T)
        assert rest[0] > -1e-4 * np.linalg.norm(K, 2)


# -- the two helpers of arrays that all this stands on ---------------------------------


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_inverse_root_whitens_what_there_is(seed, size, rank):
    rng = np.random.default_rng(seed)
    rank = min(size, rank)
    F = rng.standard_normal((size, rank))
    A = F @ F.T
    W = inverse_root(A, 1e-9)
    if np.linalg.cond(F) < 1e3:
        assert W.shape == (size, rank)
    assert_allclose(W.T @ A @ W, np.eye(W.shape[1]), atol=1e-5)
    if np.linalg.cond(F) < 1e3:
        # W W' is an inverse on the range: A W W' A = A
        assert_allclose(A @ W @ W.T @ A, A, atol=1e-6 * np.abs(A).max())


def test_triangular_root_is_a_triangle_in_an_order_of_its_own(rng):
    factor = rng.standard_normal((30, 12))
    A = factor @ factor.T
    T, order = triangular_root(A, 1e-9)
    assert T.shape == (12, 12)
    assert_array_equal(T, np.triu(T))
    assert_array_equal(np.sort(order), np.arange(30))
    leading = A[np.ix_(order[:12], order[:12])]
    assert_allclose(T.T @ leading @ T, np.eye(12), atol=1e-10)


def test_inverse_root_leaves_its_argument_alone(rng):
    F = rng.standard_normal((6, 6))
    A = F @ F.T
    before = A.copy()
    inverse_root(A, 1e-9)
    assert_array_equal(A, before)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.zeros((0, 0)), -np.eye(2)])
def test_inverse_root_of_nothing_has_no_columns(matrix):
    assert inverse_root(matrix, 1e-6).shape == (len(matrix), 0)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_projections_of_rows_do_not_depend_on_their_neighbours(rng, make):
    X = rng.standard_normal((50, 7)) * (rng.random((50, 7)) < 0.5)
    whole = row_projections(make(X))
    order = rng.permutation(50)
    assert_allclose(row_projections(make(X[order])), whole[order], rtol=1e-12)
    one_by_one = np.vstack([row_projections(make(X[i : i + 1])) for i in range(50)])
    assert_allclose(one_by_one, whole, atol=1e-13)
    assert len(np.unique(whole[:, 0])) == len(np.unique(X, axis=0))


def test_projections_are_in_double_precision_whatever_the_rows_are(rng):
    X = rng.standard_normal((50, 7)).astype(np.float32)
    assert row_projections(X).dtype == np.float64
    assert_allclose(row_projections(X), row_projections(X.astype(float)), rtol=1e-14)
    sparse = row_projections(sp.csr_array(X))
    assert_allclose(sparse, row_projections(X), rtol=1e-12)
