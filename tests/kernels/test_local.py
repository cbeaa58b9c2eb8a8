"""Kernels of local weights: against pseudo-inverses, loops and scikit-learn."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph

import graphfold
from graphfold import GraphKernelPCA, kernels
from graphfold.errors import (
    DisconnectedGraphWarning,
    GraphfoldError,
    KernelError,
    NullDirectionsWarning,
    UnderdeterminedWarning,
)
from graphfold.kernels.local import normalized
from tests.helpers import largest_angle

RNG = np.random.default_rng(0)
KINDS = {
    "linear": kernels.LocallyLinear(5),
    "nonlinear": kernels.LocallyNonlinear(5),
    "nonlinear ridge": kernels.LocallyNonlinear(5, penalty="ridge", alpha=0.01),
    "nonlinear normalised": kernels.LocallyNonlinear(5, normalize_rows=True),
    "nonlinear norm": kernels.LocallyNonlinear(5, order=3, collapse="norm"),
    "nonlinear first": kernels.LocallyNonlinear(5, collapse="first"),
}


@pytest.fixture
def rows(rng):
    """90 rows on a surface in 15 dimensions: equations for 5 * 3 coefficients."""
    flat = rng.standard_normal((90, 3))
    return np.tanh(flat @ rng.standard_normal((3, 15))) + 0.3


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kernel(request, rows):
    return request.param.bind(rows, RNG)


def test_lle_weights_are_scikit_learns(rows):
    W, residual = kernels.LocallyLinear(7).reconstruction(rows)
    reference = barycenter_kneighbors_graph(rows, 7, reg=1e-3)
    assert_allclose(W.toarray(), reference.toarray(), atol=1e-10)
    assert residual == 0.0


def test_gram_is_the_pseudo_inverse(kernel, rows):
    W, _ = kernel.reconstruction(rows)
    T = np.eye(90) - W.toarray()
    A = T.T @ T
    K = kernel.gram(rows)
    scale = np.abs(K).max()
    assert_allclose(A @ K @ A, A, atol=1e-7 * np.abs(A).max())
    assert_allclose(K @ A @ K, K, atol=1e-6 * scale)
    assert_allclose(K, K.T, atol=1e-10 * scale)
    assert np.linalg.eigvalsh(K)[0] >= -1e-9 * scale
    assert_allclose(kernel.inverse_factor(rows).toarray(), T)
    if kernel.sums_to_one:
        assert np.abs(T.sum(axis=1)).max() < 1e-12
        assert np.abs(K.sum(axis=1)).max() < 1e-6 * scale
    else:
        assert_allclose(K, np.linalg.inv(A), atol=1e-6 * scale)


def test_a_row_has_weights_on_its_neighbours_only(kernel, rows):
    W, _ = kernel.reconstruction(rows)
    distances = np.linalg.norm(rows[:, None] - rows, axis=2)
    np.fill_diagonal(distances, np.inf)
    allowed = np.zeros((90, 90), dtype=bool)
    np.put_along_axis(allowed, np.argsort(distances, axis=1)[:, :5], True, axis=1)
    assert (W.toarray()[~allowed] == 0).all()


def test_block_of_new_rows_is_their_weights_times_the_gram(kernel, rows):
    new = rows[:9] + 0.01
    weights = kernel.weights_over_fit(new).toarray()
    assert (np.count_nonzero(weights, axis=1) <= 5).all()
    K = kernel.gram(rows)
    assert_allclose(kernel.block(new, rows), weights @ K)
    own = np.einsum("ij,jk,ik->i", weights, K, weights)
    assert_allclose(kernel.diagonal(new), own)
    # each row by itself: the batch does not matter
    assert_allclose(kernel.weights_over_fit(new[4:5]).toarray(), weights[4:5])


@pytest.mark.parametrize("collapse", ["sum", "norm", "first"])
@pytest.mark.parametrize("normalize_rows", [False, True])
def test_coefficients_collapse_as_they_are_told(collapse, normalize_rows):
    kernel = kernels.LocallyNonlinear(
        2, order=2, collapse=collapse, normalize_rows=normalize_rows
    )
    coefficients = np.array([[[1.0, 2.0], [3.0, -1.0]]])
    expected = {
        "sum": np.array([3.0, 2.0]),
        "norm": np.array([np.sqrt(5.0), np.sqrt(10.0)]),
        "first": np.array([1.0, 3.0]),
    }[collapse]
    if normalize_rows:
        expected = expected / expected.sum()
    assert_allclose(kernel.collapsed(coefficients)[0], expected)


def test_weights_that_cancel_become_equal():
    weights = np.array([[1.0, -1.0], [0.0, 0.0], [1.0, 3.0], [-1.0, -3.0]])
    expected = [[0.5, 0.5], [0.5, 0.5], [0.25, 0.75], [0.25, 0.75]]
    assert_allclose(normalized(weights), expected)


@pytest.mark.parametrize("penalty", ["l1", "ridge"])
@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e4, 1e100])
def test_relative_weights_do_not_know_the_scale(rows, penalty, scale):
    kernel = kernels.LocallyNonlinear(5, penalty=penalty)
    W, _ = kernel.bind(rows, RNG).reconstruction(rows)
    V, _ = kernel.bind(rows * scale, RNG).reconstruction(rows * scale)
    assert_allclose(V.toarray(), W.toarray(), atol=1e-8)


def test_the_letter_does_know_the_scale(rows):
    kernel = kernels.LocallyNonlinear(5, alpha=1.0, relative=False)
    W, _ = kernel.bind(rows, RNG).reconstruction(rows)
    V, _ = kernel.bind(rows * 3, RNG).reconstruction(rows * 3)
    assert abs(W - V).max() > 1e-3


def test_what_relative_means(rows):
    """X over the root mean square of its entries; alpha times the columns."""
    bound = kernels.LocallyNonlinear(5, alpha=0.2).bind(rows, RNG)
    assert bound.scale == pytest.approx(np.sqrt(np.mean(rows**2)))
    assert bound.alpha == pytest.approx(0.2 * 15)
    assert bound.relative is False
    again = bound.bind(rows, RNG)
    assert (again.alpha, again.scale) == (bound.alpha, bound.scale)


def test_few_columns_are_said_to_be_few(rng):
    X = rng.standard_normal((40, 11))
    with pytest.warns(UnderdeterminedWarning, match=r"11 columns.* = 12 coefficients"):
        kernels.LocallyNonlinear(6).bind(X, RNG)
    kernels.LocallyNonlinear(5).bind(X, RNG)
    kernels.LocallyLinear(30).bind(X, RNG)  # its Gram matrix is regularised


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 2.5}, "n_neighbors"),
        ({"order": 0}, "order"),
        ({"order": 21}, "order"),
        ({"penalty": "l2"}, "penalty must be one of"),
        ({"collapse": "max"}, "collapse must be one of"),
        ({"alpha": -1.0}, "alpha"),
        ({"relative": "yes"}, "relative"),
        ({"normalize_rows": 2}, "normalize_rows"),
        ({"scale": 0.0}, "scale"),
    ],
)
def test_bad_parameters_are_named(rows, parameters, message):
    with pytest.raises(GraphfoldError, match=message):
        kernels.LocallyNonlinear(**{"n_neighbors": 5, **parameters}).bind(rows, RNG)


def test_bad_parameters_of_lle_are_named(rows):
    with pytest.raises(GraphfoldError, match="reg"):
        kernels.LocallyLinear(5, reg=-1.0).bind(rows, RNG)
    with pytest.raises(GraphfoldError, match="n_neighbors"):
        kernels.LocallyLinear(0).bind(rows, RNG)


def test_powers_that_overflow_are_refused(rows):
    kernel = kernels.LocallyNonlinear(5, order=3, relative=False)
    with pytest.raises(KernelError, match="scale X"):
        kernel.bind(rows * 1e60, RNG)


def test_an_unbound_kernel_places_no_new_row(rows):
    with pytest.raises(KernelError, match="bind"):
        kernels.LocallyLinear(5).weights_over_fit(rows)


def test_parts_are_joined_and_said(rng):
    X = np.vstack([rng.standard_normal((20, 15)), 50 + rng.standard_normal((20, 15))])
    for kernel in (kernels.LocallyLinear(5), kernels.LocallyNonlinear(5)):
        bound = kernel.bind(X, RNG)
        with pytest.warns(DisconnectedGraphWarning, match="2 parts"):
            W, _ = bound.reconstruction(X)
        assert np.isfinite(W.data).all()


@pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")
@pytest.mark.parametrize("kernel", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize(
    "X",
    [
        np.ones((6, 3)),
        np.zeros((6, 3)),
        np.column_stack([np.arange(9.0), np.ones(9)]),
        np.repeat(np.eye(4), 5, axis=0),
        np.array([[0.0], [1.0]]),
    ],
    ids=["constant", "zero", "constant column", "copies", "two rows"],
)
def test_degenerate_rows_have_finite_weights_and_kernels(kernel, X):
    bound = kernel.bind(X, RNG)
    W, residual = bound.reconstruction(X)
    assert np.isfinite(W.toarray()).all()
    assert residual < 1e-6
    assert np.isfinite(bound.gram(X)).all()
    assert np.isfinite(bound.block(X[:2] + 0.1, X)).all()


def test_a_copy_is_made_of_its_original(rng):
    X = rng.standard_normal((30, 20))
    X[20:] = X[3]
    W, _ = kernels.LocallyLinear(4).reconstruction(X)
    assert_allclose(W.toarray()[20:, 3], 1.0)
    assert (W.toarray()[:, 20:] == 0).all()


def test_sparse_rows_and_single_precision(kernel, rows):
    X = np.round(rows, 2) * (rows > 0.2)
    whole, _ = kernel.with_params(rows=X).reconstruction(X)
    table = sp.csr_array(X)
    sparse, _ = kernel.with_params(rows=table).reconstruction(table)
    assert_allclose(sparse.toarray(), whole.toarray(), atol=1e-6)
    single = rows.astype(np.float32)
    bound = kernel.with_params(rows=single)
    assert bound.gram(single).dtype == np.float32
    assert bound.block(single[:3], single).dtype == np.float32
    assert bound.diagonal(single[:3]).dtype == np.float32


def test_repr_is_short_and_inputs_stay(kernel, rows):
    before = rows.copy()
    text = repr(kernel)
    assert "90 x 15" in text
    assert len(text) < 300
    kernel.reconstruction(rows)
    kernel.weights_over_fit(rows[:5])
    assert (rows == before).all()


@pytest.mark.parametrize("k", [8, 12])
def test_new_rows_as_scikit_learn_places_them(k):
    X, _ = make_swiss_roll(300, random_state=1)
    new, _ = make_swiss_roll(40, random_state=2)
    ours = GraphKernelPCA(
        2, kernel=kernels.LocallyLinear(k), scaling="orthonormal"
    ).fit(X)
    theirs = LocallyLinearEmbedding(
        n_neighbors=k, n_components=2, eigen_solver="dense"
    ).fit(X)
    assert largest_angle(ours.embedding_, theirs.embedding_) < 1e-4
    turn = np.linalg.lstsq(ours.embedding_, theirs.embedding_)[0]
    assert_allclose(ours.transform(new) @ turn, theirs.transform(new), atol=1e-6)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore::graphfold.errors.WeakSpectrumWarning")
@pytest.mark.filterwarnings("ignore::graphfold.errors.NullDirectionsWarning")
def test_saved_and_loaded(name, rows, tmp_path):
    model = GraphKernelPCA(2, kernel=KINDS[name]).fit(rows)
    model.save(tmp_path / "m.npz")
    again = graphfold.load(tmp_path / "m.npz")
    new = rows[:7] + 0.02
    assert (again.transform(new) == model.transform(new)).all()
    assert repr(again.kernel) == repr(model.kernel)


def test_parts_that_no_weight_joins_are_null_and_named(rows):
    # sparse weights of rows that sum to one: two sets of rows are made of themselves
    kernel = kernels.LocallyNonlinear(5, normalize_rows=True)
    with pytest.warns(NullDirectionsWarning, match="1 directions"):
        model = GraphKernelPCA(2, kernel=kernel, scaling="orthonormal").fit(rows)
    T = kernel.bind(rows, RNG).inverse_factor(rows).toarray()
    K = np.linalg.pinv(T.T @ T, rcond=1e-13, hermitian=True)
    H = np.eye(90) - 1 / 90
    V = np.linalg.eigh(H @ K @ H)[1][:, ::-1]
    assert largest_angle(model.embedding_, V[:, :2]) < 1e-6


def test_of_some_columns(rows):
    wide = np.hstack([RNG.standard_normal((90, 4)) * 9, rows])
    view = kernels.OnColumns(kernels.LocallyLinear(5), 4, 19).bind(wide, RNG)
    plain = kernels.LocallyLinear(5).bind(rows, RNG)
    assert view.by_inverse
    assert not view.pointwise
    assert_allclose(view.gram(wide), plain.gram(rows))
    new = wide[:5] + 0.01
    assert_allclose(view.block(new, wide), plain.block(new[:, 4:], rows))
    one = GraphKernelPCA(2, kernel=view, scaling="orthonormal").fit(wide)
    other = GraphKernelPCA(2, kernel=plain, scaling="orthonormal").fit(rows)
    assert largest_angle(one.embedding_, other.embedding_) < 1e-6
    assert_allclose(
        np.abs(one.transform(new)), np.abs(other.transform(new[:, 4:])), atol=1e-7
    )


@pytest.mark.filterwarnings("ignore::graphfold.errors.IndefiniteKernelWarning")
def test_in_a_sum_with_others(rows):
    """LLE, a Gaussian and a geodesic kernel, at equal weights of unit trace."""
    parts = {
        "lle": kernels.LocallyNonlinear(5, penalty="ridge"),
        "gauss": kernels.Gaussian(0.1),
        "iso": kernels.Geodesic(6),
    }
    model = GraphKernelPCA(3, kernel=parts, weights="equal").fit(rows)
    H = np.eye(90) - 1 / 90
    M = np.zeros((90, 90))
    for kernel in parts.values():
        K = H @ kernel.bind(rows, RNG).gram(rows) @ H
        M += K * 90 / np.trace(K) / np.sqrt(3)
    values, vectors = np.linalg.eigh(M)
    assert_allclose(model.eigenvalues_, values[::-1][:3], rtol=1e-7)
    assert largest_angle(model.eigenvectors_, vectors[:, -3:]) < 1e-5
    new = rows[:8] + 0.02
    assert np.isfinite(model.transform(new)).all()
    # the rule of the extension, written out
    product = np.zeros((8, 3))
    for weight, kernel in zip(model.kernel_.weights, parts.values(), strict=True):
        bound = kernel.bind(rows, RNG)
        k, K = bound.block(new, rows), bound.gram(rows)
        product += weight * (k - K.mean(axis=0)) @ (H @ model.eigenvectors_)
    energies = np.diag(model.eigenvectors_.T @ M @ model.eigenvectors_)
    assert_allclose(
        model.transform(new), product / np.sqrt(energies), rtol=1e-5, atol=1e-6
    )


def test_a_combination_is_the_weighted_sum(rows):
    both = kernels.Combination(
        [kernels.LocallyLinear(5), kernels.Geodesic(5)], [2.0, 0.5]
    ).bind(rows, RNG)
    one, other = both.kernels
    assert not both.pointwise
    assert not both.by_inverse
    expected = 2 * one.gram(rows) + 0.5 * other.gram(rows)
    assert_allclose(both.gram(rows), expected)
    new = rows[:4] + 0.01
    expected = 2 * one.block(new, rows) + 0.5 * other.block(new, rows)
    assert_allclose(both.block(new, rows), expected)


def test_pseudo_inverse_of_scipy(rows):
    T = kernels.LocallyLinear(5).inverse_factor(rows).toarray()
    assert_allclose(kernels.LocallyLinear(5).gram(rows), scipy.linalg.pinvh(T.T @ T))
