"""Every solver on matrices of all sizes: orthonormal, and what LAPACK finds."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphfold.operators import Dense, Sparse
from graphfold.solvers import top_eigenpairs
from tests.trust.examples import examples
from tests.trust.ledger import tried
from tests.trust.properties.inputs import seeds
from tests.trust.properties.outcomes import SECTION, assert_orthonormal

SPARSE = "shift-invert"
SPECTRA = ("random", "equal", "low rank", "steep", "negative", "zero")


def symmetric(kind, n, rng):
    """A symmetric matrix whose eigenvalues are of a kind, at most 1 in size."""
    values = {
        "random": rng.uniform(-1, 1, n),
        "equal": np.where(np.arange(n) < n // 2, 1.0, -0.5),
        "low rank": np.where(np.arange(n) < 2, rng.uniform(0.5, 1, n), 0.0),
        "steep": 10.0 ** -np.arange(n),
        "negative": -rng.uniform(0, 1, n),
        "zero": np.zeros(n),
    }[kind]
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = (Q * values) @ Q.T
    return (M + M.T) / 2


@pytest.mark.parametrize("solver", ["lapack", "krylov", "chebyshev", "lobpcg", SPARSE])
@examples(6)
@given(
    kind=st.sampled_from(SPECTRA),
    n=st.integers(25, 40),
    d=st.integers(1, 3),
    power=st.sampled_from((-290, -150, -20, 0, 20, 150, 290)),
    seed=seeds(),
    avoiding=st.booleans(),
)
def test_a_solver_finds_the_top_at_every_scale(
    solver, kind, n, d, power, seed, avoiding
):
    rng = np.random.default_rng(seed)
    M = symmetric(kind, n, rng)
    avoid = None
    if avoiding:
        avoid = np.full((n, 1), n**-0.5)
        P = np.eye(n) - avoid @ avoid.T
        M = P @ M @ P
        M = (M + M.T) / 2
    wanted = _top(M, d, avoid)
    size = np.abs(np.linalg.eigvalsh(M)).max()
    scale = 10.0**power
    held = Sparse(sp.csr_array(M * scale)) if solver == SPARSE else Dense(M * scale)
    found = top_eigenpairs(held, d, solver=solver, avoid=avoid, rng=rng)
    assert np.isfinite(found.values).all() and np.isfinite(found.residuals).all()
    assert_orthonormal(found.vectors, atol=1e-8)
    if avoid is not None:
        assert np.abs(avoid.T @ found.vectors).max() <= 1e-7
    if found.converged:
        gap = np.abs(found.values / scale - wanted).max()
        assert gap <= 1e-6 * (size or 1.0)
        assert found.residuals.max() <= 1e-8
    assert found.converged or solver == "lobpcg"
    tried(SECTION, f"solver {solver}", f"{kind}, x 1e{power}")


def _top(M, d, avoid):
    if avoid is None:
        return np.linalg.eigvalsh(M)[::-1][:d]
    basis = np.linalg.svd(np.eye(len(M)) - avoid @ avoid.T)[0][:, :-1]
    return np.linalg.eigvalsh(basis.T @ M @ basis)[::-1][:d]
