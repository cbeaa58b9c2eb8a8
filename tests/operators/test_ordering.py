"""Rows in another order: the same operator, with neighbours near each other."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import Graph, responses
from graphfold.graphs import laplacian
from graphfold.model import terms
from graphfold.operators import Reordered, Sparse, with_neighbours_near
from tests.helpers import dense_laplacian, random_symmetric


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40))
def test_it_is_the_operator_it_was(seed, n):
    """Also with loops, with nodes that have no edge, and in several pieces."""
    rng = np.random.default_rng(seed)
    A = random_symmetric(rng, n)
    ordered, order = with_neighbours_near(Sparse(A))
    assert_array_equal(np.sort(order), np.arange(n))
    M = Reordered(ordered, order)
    V = rng.standard_normal((n, 3))
    assert_allclose(M.apply(V), A @ V, atol=1e-12)
    assert_allclose(M.apply(V[:, 0]), A @ V[:, 0], atol=1e-12)
    assert_allclose(M.entries(), A.toarray(), atol=1e-12)
    assert_allclose(M.diagonal(), A.diagonal(), atol=1e-12)
    assert M.bounds() == Sparse(A).bounds()


def test_neighbours_lie_nearer(rng):
    """A path whose nodes were shuffled becomes a path again."""
    n = 500
    shuffled = rng.permutation(n)
    path = sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], format="csr")
    A = sp.csr_array(path[shuffled][:, shuffled])
    ordered, _ = with_neighbours_near(Sparse(A))
    rows, columns = ordered.matrix.nonzero()
    assert np.abs(rows - columns).max() == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_response_of_a_large_graph(rng, monkeypatch, dtype):
    """In an order of its own it is the function of L that the eigenbasis gives."""
    A = random_symmetric(rng, 120, density=0.05)
    A = sp.csr_array(A - sp.diags_array(A.diagonal()))  # a graph has no loops
    monkeypatch.setattr(terms, "SMALL_BASIS", 10)
    monkeypatch.setattr(terms, "LARGER_THAN_CACHE", 100)
    graph, response = Graph(A), responses.Diffusion(3.0)
    M, _ = terms.function_of_laplacian(laplacian(graph), response, rng, dtype)
    assert isinstance(M, Reordered)
    values, U = np.linalg.eigh(dense_laplacian(A.toarray(), "normalized"))
    expected = (U * response.term(values)) @ U.T
    V = rng.standard_normal((120, 4)).astype(dtype)
    tolerance = 1e-5 if dtype == np.float32 else 1e-10
    assert_allclose(M.apply(V), expected @ V, atol=tolerance)
