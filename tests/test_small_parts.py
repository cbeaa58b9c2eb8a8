"""Layer 0, checks and quality."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import arrays, check, datasets
from graphfold.arrays import new_directions, orthonormal, row_blocks, signs_of_columns
from graphfold.errors import GraphfoldError


@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 3), (3, 3), (10, 3)])
def test_row_blocks_cover_everything_once(n, size):
    rows = [i for block in row_blocks(n, size) for i in range(block.start, block.stop)]
    assert rows == list(range(n))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_orthonormal_survives_dependent_columns(rng, dtype):
    against = orthonormal(rng.standard_normal((50, 4)).astype(dtype))
    V = rng.standard_normal((50, 3)).astype(dtype)
    V = np.hstack([V, V[:, :1], against[:, :1], np.zeros((50, 1), dtype)])
    Q = orthonormal(V, against=against)
    tol = 1e-5 if dtype == np.float32 else 1e-12
    assert Q.dtype == dtype
    assert_allclose(Q.T @ Q, np.eye(6), atol=tol)
    assert np.abs(against.T @ Q).max() < tol


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_new_directions_drop_what_is_not_new(rng, dtype):
    against = orthonormal(rng.standard_normal((50, 4)).astype(dtype))
    V = rng.standard_normal((50, 3)).astype(dtype)
    V = np.hstack([V, V[:, :1] - V[:, 1:2], 1e-9 * rng.standard_normal((50, 1))])
    Q = new_directions(V.astype(dtype), against=against)
    assert Q.shape[1] == 4
    tol = 1e-5 if dtype == np.float32 else 1e-12
    assert_allclose(Q.T @ Q, np.eye(4), atol=tol)
    assert np.abs(against.T @ Q).max() < tol
    assert new_directions(np.zeros((50, 2)), against=against).shape[1] == 0


def test_signs_follow_the_largest_entry():
    assert_array_equal(
        signs_of_columns(np.array([[1.0, -3, 0], [-2, 1, 0]])), [-1, -1, 1]
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 2**30),
        ("1.5 mb", 1.5 * 2**20),
        ("300", 300),
        (4096, 4096),
        (None, None),
    ],
)
def test_memory_sizes(text, size):
    assert check.memory_bytes("max_memory", text) == size


def test_data_files_say_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHFOLD_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"cora\.npz is not there: put a file"):
        datasets.load_cora()
    np.savez(tmp_path / "mnist.npz", X=np.full((3, 784), 255, np.uint8))
    with pytest.raises(GraphfoldError, match="it lacks"):
        datasets.load_mnist()
    np.savez(tmp_path / "mnist.npz", X=np.full((3, 784), 255, np.uint8), y=[1, 2, 3])
    assert datasets.load_mnist().data.max() == 1.0


def test_digits_have_a_graph_with_labels():
    digits = datasets.load_digits()
    assert digits.graph.n_nodes == len(digits.data) == 1797
    assert_array_equal(digits.graph.nodes, digits.labels)


def test_new_directions_of_noise_stay_orthogonal(rng):
    """In float32 what is left of a converged vector is noise; it broke a basis once."""
    against = orthonormal(rng.standard_normal((400, 30)).astype(np.float32))
    mixed = against[:, :6] @ rng.standard_normal((6, 6)).astype(np.float32)
    mixed += 1e-6 * rng.standard_normal((400, 6)).astype(np.float32)
    mixed[:, :3] = against[:, :3]
    Q = new_directions(mixed, against=against)
    assert np.abs(against.T @ Q).max() < 1e-5
    assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-5)


@pytest.mark.parametrize("size", [7, 320])
def test_small_eigenbasis_is_that_of_numpy(rng, size):
    A = rng.standard_normal((size, size))
    A = A + A.T
    values, vectors = arrays.small_eigenbasis(A)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A), atol=1e-10 * size)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10 * size)


@pytest.mark.parametrize("value", [-0.1, 1.1, "x", True, float("nan"), None])
def test_numbers_outside_an_interval_are_refused_by_name(value):
    with pytest.raises(GraphfoldError, match="beta must be a number between 0 and 1"):
        check.between("beta", value, 0, 1)


def test_missing_values_are_found_without_a_warning():
    values = np.array([[1, None, np.nan], ["", float("nan"), float("inf")]], object)
    with np.errstate(all="raise"):
        missing = arrays.are_missing(values)
    assert_array_equal(missing, [[False, True, True], [False, True, False]])
