"""Axes: which columns move them, how sure they are, how they are aligned."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import graphfold
from graphfold import GraphKernelPCA, NeighborGraph, kernels
from graphfold.errors import GraphfoldError, KernelError
from tests.helpers import largest_angle

KERNELS = ["rbf", "linear", "poly", "cosine", "sigmoid", ["rbf", "linear"]]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("graph", [None, NeighborGraph(5)], ids=["alone", "graph"])
def test_importances_are_the_gradients_of_the_features_map(points, kernel, graph):
    """Against finite differences of where features alone would place each row."""
    model = GraphKernelPCA(2, kernel=kernel, graph=graph, gamma=0.05).fit(points)

    def placed(X):
        return (model._extension.place(X) * model._scales)[:, 1]

    slopes = np.empty((60, 5))
    for m in range(5):
        step = np.zeros(5)
        step[m] = 1e-5
        slopes[:, m] = (placed(points + step) - placed(points - step)) / 2e-5
    expected = np.sqrt(np.mean(slopes**2, axis=0)) * points.std(axis=0)
    found = model.feature_importances(1)
    assert_allclose(np.asarray(found), expected / expected.sum(), rtol=1e-4)
    assert np.asarray(found).sum() == pytest.approx(1)


def test_importances_have_names_and_an_order(rng):
    X = pd.DataFrame(rng.standard_normal((80, 3)) * [1, 9, 3], columns=list("abc"))
    model = GraphKernelPCA(2, kernel="linear").fit(X)
    found = model.feature_importances(0)
    assert found.names == ["a", "b", "c"]
    assert next(name for name, _ in found.top(2)) == "b"
    assert "component 0" in str(found) and len(found) == 3
    loadings = np.abs(model.components_[0]) * X.std(ddof=0).to_numpy()
    assert_allclose(np.asarray(found), loadings / loadings.sum(), rtol=1e-9)


def test_importances_find_the_columns_that_matter(rng):
    X = rng.standard_normal((150, 6))
    X[:75, 2] += 6.0
    shares = np.asarray(GraphKernelPCA(1).fit(X).feature_importances(0))
    assert shares.argmax() == 2


def test_importances_need_slopes_and_a_component(points):
    model = GraphKernelPCA(2, kernel="laplacian").fit(points)
    with pytest.raises(KernelError, match="no closed-form gradient"):
        model.feature_importances(0)
    with pytest.raises(GraphfoldError, match="component must be between 0 and 1"):
        GraphKernelPCA(2).fit(points).feature_importances(2)
    assert not hasattr(GraphKernelPCA(kernel="precomputed"), "feature_importances")


def test_equal_eigenvalues_are_called_interchangeable():
    corners = np.vstack([np.eye(4), -np.eye(4)])
    report = GraphKernelPCA(3, kernel="linear").fit(corners).axis_report_
    assert report.interchangeable == [[0, 1, 2, 3]]
    assert (report.turn_bounds == 1).all()
    apart = GraphKernelPCA(2, kernel="linear").fit(corners * [9, 4, 1, 0.1])
    assert apart.axis_report_.interchangeable == []


def test_aligned_axes_lie_on_the_reference(points, rng):
    reference = GraphKernelPCA(3, graph=NeighborGraph(5)).fit(points)
    T = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    turned = reference.embedding_ @ T
    model = GraphKernelPCA(3, graph=NeighborGraph(5), align_to=turned).fit(points)
    assert_allclose(model.embedding_, turned, atol=1e-8)
    assert_allclose(model.transform(points), turned, atol=1e-8)
    new = points[:5] + 0.1
    assert_allclose(model.transform(new), reference.transform(new) @ T, atol=1e-8)
    assert largest_angle(model.eigenvectors_, reference.eigenvectors_) < 1e-6
    expected = np.diag(T.T @ np.diag(reference.eigenvalues_) @ T)
    assert_allclose(model.eigenvalues_, expected, rtol=1e-8)
    assert model.eigenvalues_.sum() == pytest.approx(reference.eigenvalues_.sum())


def test_aligned_loadings_and_files(points, tmp_path):
    reference = GraphKernelPCA(2, kernel="linear").fit(points)
    model = GraphKernelPCA(2, kernel="linear", align_to=-reference.embedding_)
    model.fit(points)
    assert_allclose(model.components_, -reference.components_, atol=1e-10)
    model.save(tmp_path / "m.npz")
    again = graphfold.load(tmp_path / "m.npz")
    assert_allclose(again.transform(points), model.embedding_, atol=1e-10)


def test_estimators_meet_by_label(rng):
    X = rng.standard_normal((60, 5))
    names = np.array([f"n{i}" for i in range(60)])
    one = GraphKernelPCA(2, kernel="linear").fit(X[:50], node_ids=names[:50])
    other = GraphKernelPCA(2, kernel="linear", align_to=one)
    other.fit(X[10:], node_ids=names[10:])
    common = one.embedding_[10:]
    free = GraphKernelPCA(2, kernel="linear").fit(X[10:]).embedding_
    gap = np.linalg.norm(other.embedding_[:40] - common)
    assert gap <= np.linalg.norm(free[:40] - common) + 1e-12
    with pytest.raises(GraphfoldError, match="share at least 2 labels"):
        other.fit(X[10:], node_ids=[f"m{i}" for i in range(50)])


@pytest.mark.parametrize(
    "reference, words",
    [
        (np.zeros((60, 3)), "2 columns of the embedding"),
        (np.zeros((59, 2)), "one row for each of the 60"),
        (np.full((60, 2), np.nan), "finite"),
    ],
)
def test_a_reference_that_does_not_fit(points, reference, words):
    with pytest.raises(GraphfoldError, match=words):
        GraphKernelPCA(2, align_to=reference).fit(points)


def test_a_kernel_of_columns_says_which(points):
    kernel = kernels.OnColumns(kernels.Gaussian(0.3), 1, 3)
    shares = np.asarray(
        GraphKernelPCA(2, kernel=kernel).fit(points).feature_importances()
    )
    assert_allclose(shares[[0, 3, 4]], 0)
    assert (shares[1:3] > 0).all()
