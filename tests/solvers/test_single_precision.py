"""Single precision keeps its basis, and finds what double precision does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfold.arrays import new_directions, small_eigenbasis
from graphfold.operators import Dense
from graphfold.solvers import top_eigenpairs
from tests.helpers import largest_angle
from tests.solvers.problems import citation_problem
from tests.trust.examples import examples


def loss_of_orthogonality(V):
    V = np.asarray(V, dtype=float)
    return np.abs(V.T @ V - np.eye(V.shape[1])).max()


def constant(n, dtype):
    return np.full((n, 1), n**-0.5, dtype)


def clustered_matrix(n, rng):
    """Two thirds of the spectrum in two tight groups."""
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    third = n // 3
    values = np.concatenate(
        [
            np.linspace(1, 2, third),
            0.5 + 1e-6 * rng.standard_normal(third),
            1e-3 * rng.standard_normal(n - 2 * third),
        ]
    )
    A = (Q * values) @ Q.T
    return ((A + A.T) / 2).astype(np.float32)


@pytest.mark.parametrize("size", [60, 240])
def test_rotations_of_close_values_are_orthogonal_in_single_precision(size, rng):
    _, S = small_eigenbasis(clustered_matrix(size, rng))
    assert loss_of_orthogonality(S) < 1e-6


def test_lapack_gives_orthonormal_vectors_in_single_precision(rng):
    pairs = top_eigenpairs(Dense(clustered_matrix(300, rng)), 200, solver="lapack")
    assert pairs.vectors.dtype == pairs.values.dtype == np.float32
    assert loss_of_orthogonality(pairs.vectors) < 1e-6


def test_new_directions_are_orthonormal_beyond_a_basis_that_is_nearly_one(rng):
    Q = np.linalg.qr(rng.standard_normal((500, 60)))[0]
    nearly = (Q + 1e-4 * rng.standard_normal(Q.shape) / 20).astype(np.float32)
    # what is new is a ten thousandth of each column
    grown = nearly @ rng.standard_normal((60, 20)) + 1e-4 * rng.standard_normal(
        (500, 20)
    )
    fresh = new_directions(grown.astype(np.float32), against=nearly)
    assert loss_of_orthogonality(fresh) < 1e-6
    assert np.abs(nearly.T @ fresh).max() < 1e-5


def values_beside_the_constant(M):
    """All eigenvalues of a centred M but the 0 of the constant, falling."""
    n = M.n
    return np.linalg.eigvalsh(M.to_dense() - 1e6 / n)[:0:-1]


@pytest.mark.parametrize("rows", ["dense", "sparse", "matrix"])
def test_many_components_of_texts_converge_in_single_precision(rows):
    n, d, seed = 1100, 64, 1
    M = citation_problem(n, 400, seed, np.float32, rows=rows)
    pairs = top_eigenpairs(M, d, solver="krylov", avoid=constant(n, np.float32))
    assert pairs.converged
    assert pairs.residuals.max() <= 1e-5
    assert loss_of_orthogonality(pairs.vectors) < 1e-5
    wide = citation_problem(n, 400, seed, np.float64, rows="matrix")
    values = values_beside_the_constant(wide)[:d]
    np.testing.assert_allclose(pairs.values, values, atol=1e-4 * values[0])


@examples(8)
@given(
    rows=st.sampled_from(("dense", "sparse", "matrix")),
    n=st.integers(150, 500),
    n_words=st.integers(60, 300),
    d=st.integers(1, 50),
    strength=st.sampled_from((0.0, 0.1, 0.9, 1.0, 10.0, 100.0)),
    solver=st.sampled_from(("auto", "krylov", "chebyshev")),
    dtype=st.sampled_from((np.float32, np.float64)),
    seed=st.integers(0, 2**16),
)
def test_every_answer_is_one(rows, n, n_words, d, strength, solver, dtype, seed):
    """Residual, orthogonality and eigenvalues, in either precision."""
    M = citation_problem(n, n_words, seed, dtype, rows=rows, strength=strength)
    pairs = top_eigenpairs(M, d, solver=solver, avoid=constant(n, dtype))
    single = dtype == np.float32
    assert pairs.converged
    assert loss_of_orthogonality(pairs.vectors) < (1e-5 if single else 1e-11)
    wide = citation_problem(
        n, n_words, seed, np.float64, rows="matrix", strength=strength
    )
    A = wide.to_dense()
    size = np.abs(np.linalg.eigvalsh(A)).max()
    V = pairs.vectors.astype(float)
    residual = np.linalg.norm(A @ V - V * pairs.values.astype(float), axis=0).max()
    assert residual <= (3e-5 if single else 2e-10) * size
    values = values_beside_the_constant(wide)[:d]
    np.testing.assert_allclose(
        pairs.values, values, atol=(3e-5 if single else 1e-9) * size
    )


def test_leading_subspaces_of_both_precisions_agree():
    n, d = 600, 8
    found = {
        dtype: top_eigenpairs(
            citation_problem(n, 300, 3, dtype, rows="sparse"),
            d,
            solver="krylov",
            avoid=constant(n, dtype),
        )
        for dtype in (np.float32, np.float64)
    }
    values = found[np.float64].values
    cut = 1 + int(np.argmax(values[:-1] - values[1:]))
    angle = largest_angle(
        found[np.float32].vectors[:, :cut].astype(float),
        found[np.float64].vectors[:, :cut],
    )
    assert angle < 1e-3
