"""The problem in a span, against Rayleigh-Ritz by dense matrices and LAPACK."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from graphfold import Graph, NeighborGraph, kernels, responses
from graphfold.estimators.constraints import with_links
from graphfold.graphs import laplacian
from graphfold.graphs.links import class_links
from graphfold.kernels.landmarks import landmark_features
from graphfold.model.problem import Problem
from graphfold.model.span import (
    BLOCK,
    CHUNK,
    SPAN_CUT,
    InMemory,
    Span,
    features_of,
    moments_of_rows,
    moments_of_term,
    normalized_adjacency,
    span_of,
    upper_half,
    widened,
)
from graphfold.model.terms import Term, graph_term
from graphfold.operators import LowRank, Sparse
from tests.helpers import (
    dense_laplacian,
    largest_angle,
    link_tables,
    random_symmetric,
)

RESPONSES = {
    "-L": None,
    "diffusion": responses.Diffusion(2.0),
    "penalty": responses.RegularizedLaplacian(3.0, form="penalty"),
}
WIDTHS = (0.05, 0.5)


def ring_and_loner(n):
    """A ring with chords, weights that differ, and a last node without an edge."""
    A = np.zeros((n, n))
    for i in range(n - 1):
        for step, weight in ((1, 1.0), (5, 0.3)):
            j = (i + step) % (n - 1)
            A[i, j] = A[j, i] = weight
    return A


def adjacencies(X):
    return {
        "near": NeighborGraph(4).build(X).to_scipy().toarray(),
        "ring": ring_and_loner(len(X)),
    }


def dense_response(L, response):
    values, U = np.linalg.eigh(L)
    if response is None:
        return -L
    if isinstance(response, responses.Diffusion):
        return (U * np.exp(-2.0 * values / 2)) @ U.T
    return -(U * (1 + 3.0 * values)) @ U.T


def make(
    X,
    *,
    n_kernels=1,
    n_graphs=1,
    response="-L",
    kind="normalized",
    center=True,
    gamma=2.0,
    m=15,
):
    """A problem, its Laplacians, and the dense matrices of its terms."""
    Z = X[:: max(1, len(X) // m)][:m]
    data, K = [], []
    for width in WIDTHS[:n_kernels]:
        phi = landmark_features(kernels.Gaussian(width), Z, center=center).of(X)
        data.append(Term(f"k{width}", LowRank(phi, name="K")))
        K.append(phi.astype(float) @ phi.astype(float).T)
    found, terms, R = {}, [], []
    for name, A in list(adjacencies(X).items())[:n_graphs]:
        found[name] = laplacian(Graph(sp.csr_array(A)), kind)
        terms.append(
            graph_term(
                found[name],
                RESPONSES[response],
                n_components=2,
                rng=np.random.default_rng(0),
                dtype=np.float32,
                name=name,
            )
        )
        R.append(dense_response(dense_laplacian(A, kind), RESPONSES[response]))
    theta = np.linspace(1.0, 0.5, n_kernels)
    beta = np.linspace(1.0, 0.7, n_graphs)
    problem = Problem(tuple(data), (), tuple(terms), (), gamma=gamma, center=center)
    problem = problem.with_weights(theta, beta)
    M = sum(w * part for w, part in zip(theta, K, strict=True))
    M = M + gamma * sum(w * part for w, part in zip(beta, R, strict=True))
    return problem, found, M


def project(M, center):
    n = len(M)
    H = np.eye(n) - 1 / n
    return H @ M @ H if center else M


def ritz(M, Psi, center):
    """Values and vectors of M in the span of Psi, by an SVD of Psi."""
    Psi = Psi.astype(float)
    if center:
        Psi = Psi - Psi.mean(axis=0)
    U, s, _ = np.linalg.svd(Psi, full_matrices=False)
    Q = U[:, s > np.sqrt(SPAN_CUT) * s[0]]
    values, B = scipy.linalg.eigh(Q.T @ project(M, center) @ Q)
    return values[::-1], Q @ B[:, ::-1]


# -- sums over rows and edges ----------------------------------------------------------


@pytest.mark.parametrize("n", [7, BLOCK + 137])
def test_moments_of_rows(rng, n):
    parts = [rng.standard_normal((n, w)).astype(np.float32) for w in (3, 5)]
    total, gram = moments_of_rows(parts)
    Psi = np.hstack(parts).astype(float)
    assert total.dtype == gram.dtype == np.float64
    assert_allclose(total, Psi.sum(axis=0), atol=1e-7 * n)
    assert_allclose(gram, Psi.T @ Psi, atol=1e-5 * n)
    precise, _ = moments_of_rows(parts, precise=True)
    assert_allclose(precise, Psi.sum(axis=0), atol=1e-12 * n)
    with threadpool_limits(2):
        again = moments_of_rows(parts)
    assert_array_equal(again[0], total)
    assert_array_equal(again[1], gram)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@pytest.mark.parametrize("response", RESPONSES)
def test_moments_of_a_graph(points, rng, response, kind):
    """By edges for a Laplacian, by products for a function of it."""
    A = ring_and_loner(len(points))
    L = laplacian(Graph(sp.csr_array(A)), kind)
    term = graph_term(L, RESPONSES[response], n_components=2, rng=rng, dtype=np.float32)
    parts = [rng.standard_normal((60, w)).astype(np.float32) for w in (CHUNK + 6, 4)]
    Psi = np.hstack(parts).astype(float)
    R = dense_response(dense_laplacian(A, kind), RESPONSES[response])
    expected = Psi.T @ R @ Psi
    found = moments_of_term(term.base, parts)
    assert_array_equal(found, found.T)
    assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_upper_half_and_its_transpose_are_the_matrix(rng, dtype):
    A = random_symmetric(rng, 40, density=0.2)
    A = sp.csr_array(A + sp.diags_array(rng.standard_normal(40)))
    U = upper_half(A, dtype)
    assert U.dtype == dtype
    assert sp.tril(U, k=-1).nnz == 0
    assert_allclose((U + U.T).toarray(), A.toarray(), rtol=1e-6)


def test_moments_over_many_blocks_of_edges(rng):
    """Edges that cross from block to block count once, self-loops too."""
    n = 2 * BLOCK + 50
    rows, columns = rng.integers(0, n, (2, 6 * n))
    W = sp.coo_array((rng.random(6 * n), (rows, columns)), shape=(n, n)).tocsr()
    S = sp.csr_array(W + W.T)
    part = rng.standard_normal((n, 4)).astype(np.float32)
    expected = part.astype(float).T @ (S @ part.astype(float))
    found = moments_of_term(Sparse(S), [part])
    assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())
    with threadpool_limits(2):
        assert_array_equal(moments_of_term(Sparse(S), [part]), found)


def test_quadratic_form_is_a_sum_over_edges(points, rng):
    """Q = sum over edges of a_ij (phi_i - phi_j)(phi_i - phi_j)', by a loop."""
    A = ring_and_loner(60)
    phi = rng.standard_normal((60, 3)).astype(np.float32)
    L = laplacian(Graph(sp.csr_array(A)), "combinatorial")
    term = graph_term(L, None, n_components=2, rng=rng, dtype=np.float32)
    Q = np.zeros((3, 3))
    for i in range(60):
        for j in range(i):
            gap = phi[i].astype(float) - phi[j]
            Q += A[i, j] * np.outer(gap, gap)
    assert_allclose(moments_of_term(term.base, [phi]), -Q, atol=1e-4)


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_links_of_classes_in_the_span(points, rng, kind):
    codes = np.where(rng.random(60) < 0.4, rng.integers(0, 3, 60), -1)
    none = np.empty((0, 2), dtype=int)
    links = class_links(codes, none, none, np.arange(60))
    problem, _, _ = make(points)
    strengths = {"must-link": 0.7, "cannot-link": 0.4}
    problem = with_links(problem, links, kind=kind, strengths=strengths, top=None)
    (phi,) = features_of(problem)
    for term, A in zip(problem.fixed, link_tables(codes), strict=True):
        expected = phi.astype(float).T @ dense_laplacian(A, kind) @ phi.astype(float)
        found = moments_of_term(term.base, [phi])
        assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    span = Span(InMemory([phi]), center=True)
    small = span.project(problem)
    same, apart = (dense_laplacian(A, kind) for A in link_tables(codes))
    K = phi.astype(float) @ phi.astype(float).T
    A = adjacencies(points)["near"]
    M = K - 2.0 * dense_laplacian(A, "normalized") - 0.7 * same + 0.4 * apart
    values, _ = ritz(M, phi, True)
    found = np.linalg.eigvalsh(small.operator().to_dense())[::-1]
    assert_allclose(found[:8], values[:8], atol=1e-4 * np.abs(values).max())


# -- the problem in the span -----------------------------------------------------------


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("several", [1, 2])
def test_the_projected_problem_is_rayleigh_ritz(
    points, several, response, center, wide
):
    problem, found, M = make(
        points, n_kernels=several, n_graphs=several, response=response, center=center
    )
    span = span_of(problem, found, wide=wide)
    small = span.project(problem)
    assert small.n == span.dimension
    assert not small.center
    Psi = np.hstack(span.features.parts)
    values, vectors = ritz(M, Psi, center)
    size = np.abs(np.linalg.eigvalsh(M)).max()
    pairs = small.solve(4, solver="lapack")
    assert_allclose(pairs.values, values[:4], atol=2e-4 * size)
    V = span.vectors(pairs.vectors).astype(float)
    assert_allclose(V.T @ V, np.eye(4), atol=1e-3)
    if center:
        assert_allclose(V.sum(axis=0), 0, atol=1e-3)
    quotients = np.diag(V.T @ project(M, center) @ V)
    assert_allclose(quotients, values[:4], atol=1e-3 * size)
    if values[3] - values[4] > 3e-2 * size:
        assert largest_angle(V, vectors[:, :4]) < 2e-2


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_both_laplacians_and_other_weights(points, kind):
    """A graph's moments are taken once: other weights use the same ones."""
    problem, found, _ = make(points, n_kernels=2, n_graphs=2, kind=kind)
    span = span_of(problem, found, wide=False)
    span.project(problem)
    seen = [id(Q) for _, Q in span._seen.values()]
    problem = problem.with_weights([0.2, 0.9], [0.1, 0.8]).with_gamma(0.5)
    small = span.project(problem)
    assert [id(Q) for _, Q in span._seen.values()] == seen
    K = [part.astype(float) @ part.astype(float).T for part in span.features.parts]
    L = [dense_laplacian(A, kind) for A in adjacencies(points).values()]
    M = 0.2 * K[0] + 0.9 * K[1] - 0.5 * (0.1 * L[0] + 0.8 * L[1])
    values, _ = ritz(M, np.hstack(span.features.parts), True)
    found = np.linalg.eigvalsh(small.operator().to_dense())[::-1]
    assert_allclose(found[:6], values[:6], atol=2e-4 * np.abs(M).max() * 60)


def test_shifts_and_factors_of_terms_survive(points):
    problem, found, _ = make(points, n_graphs=2)
    terms = tuple(
        t.of_size_one().times(0.5).lifted_above_zero() for t in problem.graphs
    )
    problem = Problem(problem.kernels, (1.0,), terms, (0.6, 0.8), gamma=1.5)
    span = span_of(problem, found, wide=False)
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((span.dimension, 3)))[0]
    whole = problem.shares(span.vectors(V).astype(float))
    small = span.project(problem).shares(V)
    for one, other in zip(whole, small, strict=True):
        assert_allclose(other, one, rtol=1e-3)


@given(st.integers(0, 10_000), st.floats(0.05, 20), st.booleans(), st.booleans())
@settings(max_examples=20, deadline=None)
def test_a_wider_span_is_never_worse_and_none_beats_the_whole(
    seed, gamma, center, comb
):
    X = np.random.default_rng(seed).standard_normal((40, 3))
    kind = "combinatorial" if comb else "normalized"
    problem, found, M = make(X, gamma=gamma, center=center, kind=kind, m=6)
    d = 2
    plain, wide = (span_of(problem, found, wide=w) for w in (False, True))
    narrow_sum, wide_sum = (
        span.project(problem).solve(d, solver="lapack").values.sum()
        for span in (plain, wide)
    )
    best = np.linalg.eigvalsh(project(M, center))[::-1][:d].sum()
    if center:
        H = np.eye(40) - 1 / 40
        values = np.linalg.eigvalsh(H @ M @ H - 1e6 * (np.eye(40) - H))
        best = values[::-1][:d].sum()
    slack = 1e-4 * np.abs(np.linalg.eigvalsh(M)).max()
    assert wide_sum >= narrow_sum - slack
    assert best >= wide_sum - slack
    assert wide.dimension >= plain.dimension


def test_the_wider_span_holds_the_narrow_one_and_the_neighbours(points):
    problem, found, _ = make(points, n_graphs=2)
    plain, wide = (span_of(problem, found, wide=w) for w in (False, True))
    phi = plain.features.parts[0].astype(float)
    S = np.zeros((60, 60))
    for A in adjacencies(points).values():
        degrees = A.sum(axis=1)
        for i in range(60):
            for j in range(60):
                if A[i, j]:
                    S[i, j] += A[i, j] / np.sqrt(degrees[i] * degrees[j]) / 2
    assert len(wide.features.parts) == 2
    assert_array_equal(wide.features.parts[0], plain.features.parts[0])
    assert_allclose(wide.features.parts[1], S @ S @ phi, atol=1e-5)
    assert wide.features.parts[1].dtype == np.float32


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_adjacency_is_read_off_either_laplacian(kind):
    A = ring_and_loner(12)
    A[2, 3] = A[3, 2] = 4.0
    S = normalized_adjacency(laplacian(Graph(sp.csr_array(A)), kind)).toarray()
    degrees = A.sum(axis=1)
    for i in range(12):
        for j in range(12):
            expected = A[i, j] and A[i, j] / np.sqrt(degrees[i] * degrees[j])
            assert S[i, j] == pytest.approx(expected, abs=1e-12)


def test_widening_over_many_blocks(rng):
    n = BLOCK + 60
    rows, columns = rng.integers(0, n, (2, 4 * n))
    S = sp.coo_array((rng.random(4 * n), (rows, columns)), shape=(n, n)).tocsr()
    part = rng.standard_normal((n, 3)).astype(np.float32)
    (first, pulled) = widened([part], S)
    assert first is part
    assert_allclose(pulled, S @ (S @ part.astype(float)), atol=1e-3)


def test_isolated_nodes_stay_finite_and_keep_their_features(points):
    """Half of the nodes have no edge: the graph says nothing of them."""
    A = NeighborGraph(4).build(points).to_scipy().toarray()
    A[30:], A[:, 30:] = 0, 0
    for kind in ("normalized", "combinatorial"):
        L = laplacian(Graph(sp.csr_array(A)), kind)
        R = graph_term(
            L, None, n_components=2, rng=np.random.default_rng(0), dtype=np.float32
        )
        phi = landmark_features(kernels.Gaussian(0.1), points[::4], center=True)
        K = Term("K", LowRank(phi.of(points)))
        problem = Problem((K,), (1.0,), (R,), (1.0,), gamma=3.0)
        span = span_of(problem, {"graph": L}, wide=True)
        pairs = span.project(problem).solve(3, solver="lapack")
        V = span.vectors(pairs.vectors)
        assert np.isfinite(V).all()
        assert (np.abs(V[30:]).max(axis=1) > 1e-6).all()
        M = K.base.to_dense().astype(float) - 3.0 * dense_laplacian(A, kind)
        values, _ = ritz(M, np.hstack(span.features.parts), True)
        assert_allclose(pairs.values, values[:3], atol=1e-3 * np.abs(M).max())


def test_features_that_repeat_each_other_count_once(points):
    """Two kernels that are one: the span has the dimension of one of them."""
    phi = landmark_features(kernels.Gaussian(0.2), points[:12], center=True).of(points)
    one, two = Span(InMemory([phi])), Span(InMemory([phi, phi.copy()]))
    assert one.dimension == two.dimension
    assert largest_angle(one.vectors(np.eye(11)), two.vectors(np.eye(11))) < 1e-3


def test_constant_features_are_no_direction_when_centred():
    ones = np.ones((30, 1), dtype=np.float32)
    assert Span(InMemory([ones]), center=True).dimension == 0
    assert Span(InMemory([ones]), center=False).dimension == 1
