"""Graph terms against LAPACK on the dense Laplacian, in both forms, small and large."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from graphfold import Graph, NeighborGraph, kernels, responses
from graphfold.errors import ResponseError, SplitMultipletWarning
from graphfold.graphs import laplacian
from graphfold.model import terms
from graphfold.model.terms import Term, graph_term, kernel_term
from graphfold.operators import (
    ChebyshevFunction,
    Dense,
    LowRank,
    Sparse,
    Sum,
    TiledKernel,
)
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


ROOT = np.random.default_rng(1).standard_normal((8, 8))
SYMMETRIC = ROOT @ ROOT.T


def test_a_term_is_its_factor_times_its_shifted_base():
    base = Dense(SYMMETRIC, bounds=(-3.0, 9.0))
    term = Term("t", base, size=4.0)
    assert term.operator is base
    assert_allclose((2 * Sum([base])).to_dense(), term.times(2).operator.to_dense())
    assert (term.times(2).factor, term.times(2).size) == (2.0, 8.0)
    assert (term.of_size_one().size, term.of_size_one().factor) == (1.0, 0.25)
    lifted = term.lifted_above_zero()
    assert lifted.shift == 3.0
    assert_allclose(lifted.operator.to_dense(), SYMMETRIC + 3 * np.eye(8))
    both = lifted.times(0.5).operator
    assert_allclose(both.to_dense(), 0.5 * (SYMMETRIC + 3 * np.eye(8)))
    for bounds in ((0.5, 1.0), (-np.inf, np.inf)):
        assert Term("t", Dense(SYMMETRIC, bounds=bounds)).lifted_above_zero().shift == 0
    single = Term("t", Dense(SYMMETRIC.astype(np.float32)), shift=2.0)
    assert single.operator.dtype == np.float32


def path_graph(n):
    return laplacian(Graph([(i, i + 1) for i in range(n - 1)]), "combinatorial")


def test_lowest_eigenvalues_are_those_of_a_path():
    n = 30
    L = path_graph(n)
    exact = 2 - 2 * np.cos(np.pi * np.arange(n) / n)
    values, vectors = terms.lowest_eigenpairs(L, 5)
    assert_allclose(values, exact[:5], atol=1e-9)
    assert values[0] == 0.0  # not rounding: r may have a pole there
    assert_allclose(L.operator.to_dense() @ vectors, vectors * values, atol=1e-8)
    rng = np.random.default_rng(0)
    assert_allclose(terms.low_eigenvalues(L, 3, rng), exact[1:4], atol=1e-9)
    assert len(terms.low_eigenvalues(L, 99, rng)) == n - 1
    for rank, expected in (
        (1, exact[1]),
        (2, exact[1]),
        (4, exact[3]),
        (99, exact[-1]),
    ):
        assert terms.low_eigenvalue(L, rank, rng) == pytest.approx(expected, abs=1e-9)


def test_zeros_of_many_parts_are_passed_over():
    pairs = laplacian(Graph([(2 * i, 2 * i + 1) for i in range(10)]), "combinatorial")
    rng = np.random.default_rng(0)
    # ten zeros, ten twos
    assert_allclose(terms.low_eigenvalues(pairs, 1, rng), [2.0])
    assert_allclose(terms.low_eigenvalues(pairs, 99, rng), np.full(10, 2.0))
    assert terms.low_eigenvalue(pairs, 1, rng) == pytest.approx(2.0)
    empty = laplacian(Graph._unchecked(sp.csr_array((5, 5))))
    assert terms.low_eigenvalue(empty, 1, rng) == empty.bound


def test_the_largest_eigenvalue_is_solved_for_only_where_needed(monkeypatch):
    L = path_graph(12)
    rng = np.random.default_rng(0)
    assert terms.largest_eigenvalue(L, responses.Diffusion(), rng) == L.bound == 4.0
    exact = 2 - 2 * np.cos(np.pi * 11 / 12)
    walk = responses.RandomWalk(3.95)
    assert terms.largest_eigenvalue(L, walk, rng) == pytest.approx(exact)


@pytest.mark.parametrize(
    ("values", "n_low", "end"),
    [
        ([0.0, 1.0, 2.0], 1, 1),
        ([0.0, 1.0, 1.0, 1.0, 2.0], 2, 4),
        ([0.0, 1.0, 1.0 + 5e-9, 2.0], 2, 3),
        ([0.0, 1.0, 1.0 + 5e-8, 2.0], 2, 2),
        ([0.0, 1.0, 1.0 + 5e-7, 100.0], 2, 3),  # a share of the largest
        ([0.0, 0.1, 0.1 + 5e-9], 2, 3),
        ([0.0, 1.0], 9, 2),
    ],
)
def test_a_group_of_equal_eigenvalues_ends_where_they_differ(values, n_low, end):
    assert terms.multiplet_end(np.array(values), n_low) == end


def test_a_term_of_some_rows_says_nothing_of_the_others():
    term = Term("t", Dense(SYMMETRIC[:3, :3]), factor=2.0, is_laplacian=True)
    present = np.array([True, False, True, True, False])
    scales = np.array([1.0, 9.0, 2.0, 3.0, 9.0])
    lifted = terms.spread(term, present, scales)
    expected = np.zeros((5, 5))
    kept = np.flatnonzero(present)
    expected[np.ix_(kept, kept)] = (
        2.0 * SYMMETRIC[:3, :3] * np.outer([1, 2, 3], [1, 2, 3])
    )
    assert_allclose(lifted.operator.to_dense(), expected)
    assert (lifted.factor, lifted.shift, lifted.is_laplacian) == (1.0, 0.0, False)


def test_a_factor_is_cheap_where_it_has_fewer_numbers_than_half_the_kernel():
    linear = kernels.Linear()
    assert terms.has_cheap_factor(linear, np.ones((9, 4)))
    assert not terms.has_cheap_factor(linear, np.ones((8, 4)))
    assert not terms.has_cheap_factor(kernels.Gaussian(1.0), np.ones((90, 4)))
    sparse = sp.csr_array(np.eye(8, 400))
    assert terms.has_cheap_factor(linear, sparse)


@pytest.mark.parametrize("center", [True, False])
def test_the_negative_part_of_a_kernel_is_measured(center, rng):
    signed = np.diag([5.0, 2.0, 1.0, 0.0, -3.0])
    H = np.eye(5) - 0.2 if center else np.eye(5)
    values = np.linalg.eigvalsh(H @ signed @ H)
    for operator in (Dense(signed), Sparse(sp.csr_array(signed))):
        found = terms.negative_part(Term("k", operator), center=center, rng=rng)
        assert_allclose(found, [values[0], values[-1]], rtol=1e-3)
    positive = Term("k", Dense(SYMMETRIC))
    assert terms.negative_part(positive, center=center, rng=rng) is None
    known = Term("k", Dense(signed, bounds=(0.0, 9.0)))
    assert terms.negative_part(known, center=center, rng=rng) is None
    for share, told in ((2e-6, True), (5e-7, False)):
        slight = Term("k", Dense(np.diag([1.0, 0.5, -share])))
        found = terms.negative_part(slight, center=False, rng=rng)
        assert (found is not None) == told


def test_several_gaussians_share_products_and_stay_what_they_are(rng):
    X = rng.standard_normal((12, 3))
    used = {"a": kernels.Gaussian(0.1), "b": kernels.Linear(), "c": kernels.Gaussian(2)}
    for tiled in (False, True):
        found = terms.kernel_terms(used, X, tiled=tiled, strip=5)
        assert [term.name for term in found] == ["a", "b", "c"]
        for term, kernel in zip(found, used.values(), strict=True):
            assert_allclose(term.operator.to_dense(), kernel.gram(X), atol=1e-12)
            assert term.operator.bounds()[0] == (0.0 if term.name != "b" else
                                                 term.operator.bounds()[0])  # fmt: skip
        assert isinstance(found[0].base, TiledKernel if tiled else Dense)
    assert kernel_term(kernels.Gaussian(1.0), X).name == "Gaussian"
    assert kernel_term(kernels.Gaussian(1.0), X, name="k").name == "k"
    assert kernel_term(kernels.OnColumns(kernels.Linear(), 0, 2), X).base.n == 12
    some = kernel_term(kernels.OnColumns(kernels.Linear(), 0, 2), X).operator
    assert_allclose(some.to_dense(), X[:, :2] @ X[:, :2].T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_graph_terms_are_of_the_precision_asked_for(graph, rng, dtype, monkeypatch):
    monkeypatch.setattr(terms, "SMALL_BASIS", 10)
    monkeypatch.setattr(terms, "LARGER_THAN_CACHE", 40)
    L = laplacian(graph)
    for response in (None, RESPONSES["diffusion"], responses.Bandlimited(3, 4.0)):
        term = graph_term(L, response, n_components=2, rng=rng, dtype=dtype, name="g")
        assert (term.name, term.operator.dtype) == ("g", dtype)
        assert term.is_laplacian == (response is None)
        dense = L.operator.to_dense() if response is None else None
        reference = (
            -dense if response is None else dense_term(graph, "normalized", response)
        )
        tol = 1e-4 if dtype == np.float32 else 1e-9
        assert_allclose(term.operator.to_dense(), reference, atol=tol)


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (kernels.Precomputed(), np.eye(12)),
        (kernels.Precomputed(), sp.csr_array(np.eye(12))),
        (kernels.LocallyLinear(4), None),
        (kernels.Gaussian(0.5), None),
    ],
)
def test_a_term_has_the_name_of_its_kernel(kernel, X, rng):
    X = rng.standard_normal((12, 3)) if X is None else X
    assert kernel_term(kernel, X, name="mine").name == "mine"
    assert kernel_term(kernel, X).name == type(kernel).__name__


@pytest.mark.parametrize(
    "response",
    [
        responses.RandomWalk(2.0, 0),
        responses.RandomWalk(2.0, 0.5),
        responses.RandomWalk(3.0, 1.5),
        responses.RandomWalk(3.0, 1.5, form="penalty"),
        responses.Bandlimited(3, 0.5),
        responses.Bandlimited(3, 0.5, form="penalty"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("small", [True, False])
def test_all_parameters_of_the_table_are_applied_exactly(
    response, small, monkeypatch, rng
):
    if not small:
        monkeypatch.setattr("graphfold.model.terms.SMALL_BASIS", 10)
    A = np.triu(rng.random((60, 60)) < 0.2, 1).astype(float)
    L = laplacian(Graph(A + A.T), "normalized")
    term = graph_term(L, response, n_components=2, rng=rng)
    values, U = np.linalg.eigh(L.operator.matrix.toarray())
    expected = (U * response.term(np.maximum(values, 0))) @ U.T
    assert_allclose(term.operator.to_dense(), expected, atol=1e-7)
