"""Graph terms against LAPACK on the dense Laplacian, in both forms, small and large."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphfold import Graph, NeighborGraph, kernels, responses
from graphfold.errors import ResponseError, SplitMultipletWarning
from graphfold.graphs import laplacian
from graphfold.model import terms
from graphfold.model.terms import graph_term, kernel_term
from graphfold.operators import ChebyshevFunction, Dense, LowRank, Sparse, TiledKernel
from tests.helpers import dense_laplacian

RESPONSES = {
    "diffusion": responses.Diffusion(3.0),
    "walk": responses.RandomWalk(2.2, 3),
    "regularised": responses.RegularizedLaplacian(5.0),
    "bandlimited": responses.Bandlimited(7, 4.0),
    "custom": responses.Custom(lambda t: 1 + t**2),
}


@pytest.fixture
def graph(rng):
    return NeighborGraph(5).build(rng.standard_normal((70, 3)))


def dense_term(graph, kind, response):
    values, vectors = np.linalg.eigh(dense_laplacian(graph.to_scipy().toarray(), kind))
    return (vectors * response.term(values)) @ vectors.T


@pytest.mark.parametrize("form", ["kernel", "penalty"])
@pytest.mark.parametrize("response", RESPONSES.values(), ids=RESPONSES)
@pytest.mark.parametrize("large", [False, True], ids=["basis", "products"])
def test_every_response_equals_lapack(response, form, large, graph, rng, monkeypatch):
    if large:
        monkeypatch.setattr(terms, "SMALL_BASIS", 10)
    response = response.with_params(form=form)
    term = graph_term(laplacian(graph), response, n_components=2, rng=rng)
    reference = dense_term(graph, "normalized", response)
    size = np.abs(reference).max()
    assert_allclose(term.operator.to_dense(), reference, atol=1e-9 * size)
    if large and response.smooth:
        assert isinstance(term.operator, ChebyshevFunction)


def test_low_pass_keeps_the_smooth_part(graph, rng):
    response = responses.LowPass(0.5)
    term = graph_term(laplacian(graph), response, n_components=2, rng=rng)
    assert_allclose(
        term.operator.to_dense(), dense_term(graph, "normalized", response), atol=1e-9
    )


def test_sizes_that_strength_is_measured_in(graph, rng):
    def size(kind, response):
        L = laplacian(graph, kind)
        return graph_term(L, response, n_components=2, rng=rng).size

    assert size("normalized", None) == 1.0
    assert size("combinatorial", None) == graph.degrees.max()
    assert size("normalized", responses.Diffusion(3.0)) == 1.0
    assert size("normalized", responses.RandomWalk(2.2, 3)) == pytest.approx(2.2**3)
    assert size("normalized", responses.Bandlimited(7, 4.0)) == 4.0
    penalty = responses.RegularizedLaplacian(5.0, form="penalty")
    assert size("normalized", penalty) == 6.0
    # r_dagger(0) = 0 says nothing: the largest value is taken
    values = np.linalg.eigvalsh(laplacian(graph).operator.to_dense())
    inverse = size("normalized", responses.Custom(lambda t: t))
    assert inverse == pytest.approx(1 / values[values > 1e-9][0], rel=1e-6)


def test_a_walk_on_a_combinatorial_laplacian_is_checked(graph, rng):
    L = laplacian(graph, "combinatorial")
    largest = np.linalg.eigvalsh(L.operator.to_dense())[-1]
    with pytest.raises(ResponseError, match=f"{largest:.4g}"[:4]):
        graph_term(L, responses.RandomWalk(2.0), n_components=2, rng=rng)
    walk = responses.RandomWalk(float(largest) + 0.1)
    term = graph_term(L, walk, n_components=2, rng=rng)
    reference = dense_term(graph, "combinatorial", walk)
    assert_allclose(term.operator.to_dense(), reference, atol=1e-8)


@pytest.mark.parametrize("large", [False, True], ids=["basis", "products"])
def test_a_cut_multiplet_is_taken_whole(large, rng, monkeypatch):
    if large:
        monkeypatch.setattr(terms, "SMALL_BASIS", 10)
    triangles = [
        (3 * i + a, 3 * i + b) for i in range(40) for a, b in ((0, 1), (1, 2), (2, 0))
    ]
    L = laplacian(Graph(triangles))
    with pytest.warns(SplitMultipletWarning, match="n_low=40"):
        term = graph_term(L, responses.Bandlimited(5, 3.0), n_components=2, rng=rng)
    dense = term.operator.to_dense()
    values = np.linalg.eigvalsh(dense)
    assert_allclose(values, [1 / 3] * 80 + [3.0] * 40, atol=1e-8)


def test_diffusion_scales_itself_to_the_graph(graph, rng):
    values = np.linalg.eigvalsh(laplacian(graph).operator.to_dense())
    auto = graph_term(
        laplacian(graph), responses.Diffusion("auto"), n_components=4, rng=rng
    )
    fixed = graph_term(
        laplacian(graph), responses.Diffusion(2 / values[3]), n_components=4, rng=rng
    )
    assert_allclose(auto.operator.to_dense(), fixed.operator.to_dense(), atol=1e-8)


def test_a_jump_on_a_large_graph_is_refused(graph, rng, monkeypatch):
    monkeypatch.setattr(terms, "SMALL_BASIS", 10)
    monkeypatch.setattr(terms, "LARGEST_BASIS", 20)
    for response in (responses.LowPass(0.5), responses.Custom(lambda t: t)):
        with pytest.raises(ResponseError, match="whole eigenbasis"):
            graph_term(laplacian(graph), response, n_components=2, rng=rng)


def test_kernel_terms_never_store_more_than_they_must(rng):
    X = rng.standard_normal((50, 4))
    assert isinstance(kernel_term(kernels.Linear(), X).operator, LowRank)
    assert isinstance(kernel_term(kernels.Linear(), X[:5]).operator, Dense)
    assert isinstance(kernel_term(kernels.Cosine(), sp.csr_array(X)).operator, LowRank)
    assert isinstance(kernel_term(kernels.Gaussian(1.0), X).operator, Dense)
    tiled = kernel_term(kernels.Gaussian(1.0), X, tiled=True, strip=7).operator
    assert isinstance(tiled, TiledKernel)
    assert_allclose(tiled.to_dense(), kernels.Gaussian(1.0).gram(X), atol=1e-12)
    K = sp.csr_array(np.eye(5))
    assert isinstance(kernel_term(kernels.Precomputed(), K).operator, Sparse)
