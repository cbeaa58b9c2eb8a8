"""Parts of a span in both precisions, over many blocks, and what it remembers."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from graphfold import Graph
from graphfold.graphs import laplacian
from graphfold.model import span
from graphfold.model.problem import Problem
from graphfold.model.span import InMemory, Span, span_of
from graphfold.model.terms import Term
from graphfold.operators import Dense, Diagonal, LowRank, Sparse, SpectralFunction

N = 23


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    for name, size in (("BLOCK", 5), ("PRECISE_BLOCK", 4), ("CHUNK", 2)):
        monkeypatch.setattr(span, name, size)


@pytest.fixture
def parts(rng):
    return [rng.standard_normal((N, w)).astype(np.float32) for w in (3, 4)]


def symmetric(rng):
    A = rng.standard_normal((N, N)) * (rng.random((N, N)) < 0.3)
    return A + A.T


@pytest.mark.parametrize("precise", [True, False])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("number", [1, 2])
def test_moments_are_products_of_all_rows(precise, counted, number, parts, rng):
    parts = parts[:number]
    roots = np.sqrt(rng.integers(1, 4, N).astype(float)) if counted else None
    features = InMemory(parts, roots, precise)
    Psi = np.hstack(parts).astype(float)
    ones = np.ones(N) if roots is None else roots
    tol = 1e-9 if precise else 1e-3
    total, gram = features.moments()
    assert_allclose(total, ones @ Psi, atol=tol)
    assert_allclose(gram, Psi.T @ Psi, atol=tol)
    assert features.count == pytest.approx(ones @ ones)
    assert features.widths == [3, 4][:number]
    assert [(c.start, c.stop) for c in features.columns()] == [(0, 3), (3, 7)][:number]
    A = symmetric(rng)
    basis = np.linalg.qr(rng.standard_normal((N, N)))[0]
    spectral = SpectralFunction(basis, np.arange(float(N)))
    for R in (Sparse(sp.csr_array(A)), Dense(A), spectral):
        dense = R.to_dense()
        Q, pull, within = features.of_term(R)
        size = np.abs(dense).max()
        assert_allclose(Q, Psi.T @ dense @ Psi, atol=20 * tol * size)
        assert_allclose(pull, Psi.T @ dense @ ones, atol=20 * tol * size)
        assert within == pytest.approx(ones @ dense @ ones)
        assert Q.dtype == pull.dtype == np.float64
    B, mean = rng.standard_normal((Psi.shape[1], 2)), rng.standard_normal(2)
    V = features.combined(B, mean)
    assert_allclose(V, Psi @ B - np.outer(ones, mean), atol=tol)
    assert V.dtype == (np.float64 if precise else np.float32)


def test_sums_of_many_rows_lose_no_digits():
    ones = [np.full((N, 1), 0.1, dtype=np.float32)]
    exact = float(np.float32(0.1))
    total, gram = InMemory(ones, precise=True).moments()
    assert total[0] == pytest.approx(N * exact, rel=1e-14)
    assert gram[0, 0] == pytest.approx(N * exact**2, rel=1e-14)


def test_by_default_sums_are_single_and_rows_count_alike(parts):
    features = InMemory(parts)
    assert (features.precise, features.roots, features.count) == (False, None, N)
    assert features.whole


@pytest.mark.parametrize("precise", [True, False])
def test_the_upper_half_is_of_the_precision_asked_for(precise, rng):
    A = sp.csr_array(symmetric(rng))
    dtype = np.float64 if precise else np.float32
    upper = span.upper_half(A, dtype)
    assert upper.dtype == dtype
    assert_allclose((upper + upper.T).toarray(), A.toarray(), atol=1e-6)
    assert_array_equal(np.tril(upper.toarray(), -1), np.zeros((N, N)))


def graph_of(rng):
    A = np.abs(symmetric(rng))
    np.fill_diagonal(A, 0)
    A[0, 1] = A[1, 0] = 1
    return Graph(sp.csr_array(A))


@pytest.mark.parametrize("wide", [True, False])
def test_a_span_is_widened_by_the_mean_of_its_graphs(wide, parts, rng):
    graphs = [graph_of(rng), graph_of(rng)]
    found = {
        "a": laplacian(graphs[0], "normalized"),
        "b": laplacian(graphs[1], "combinatorial"),
        "of others": laplacian(Graph([(0, 1)])),
    }
    roots = np.full(N, 2.0)
    terms = tuple(Term(str(i), LowRank(part)) for i, part in enumerate(parts))
    problem = Problem(terms, (1.0, 1.0), roots=roots)
    made = span_of(problem, found, wide=wide)
    assert made.features.roots is roots
    assert made.features.precise is wide
    assert made.center
    S = 0
    for graph in graphs:
        A = graph.to_scipy().toarray()
        root = np.where(A.sum(axis=1) > 0, 1 / np.sqrt(np.maximum(A.sum(1), 1e-300)), 0)
        S = S + A * np.outer(root, root) / 2
    expected = [*parts, *(S @ (S @ part) for part in parts)] if wide else parts
    for one, other in zip(made.features.parts, expected, strict=True):
        assert_allclose(one, other, atol=1e-5)
    uncentred = span_of(Problem(terms, (1.0, 1.0), center=False), {}, wide=wide)
    assert len(uncentred.features.parts) == 2
    assert not uncentred.center


def test_terms_are_looked_at_once(parts, monkeypatch):
    features = InMemory(parts, precise=True)
    calls = []
    original = InMemory.of_term

    def spy(self, R):
        calls.append(R)
        return original(self, R)

    monkeypatch.setattr(InMemory, "of_term", spy)
    terms = tuple(Term(str(i), LowRank(part)) for i, part in enumerate(parts))
    first = Term("a", Diagonal(np.arange(float(N)), name="D"))
    second = Term("b", Diagonal(np.ones(N), name="E"))
    problem = Problem(terms, (1.0, 2.0), (first,), (1.0,), gamma=1.0,
                      fixed=(second,), fixed_weights=(3.0,))  # fmt: skip
    made = Span(features)
    small = made.project(problem)
    assert calls == [first.base, second.base]
    again = made.project(problem.with_weights([5, 6], [7]))
    assert len(calls) == 2
    assert again.graphs[0].base.matrix is small.graphs[0].base.matrix
    assert again.kernels[0].base.matrix is small.kernels[0].base.matrix
    assert again.theta == (5.0, 6.0)
    for term, base in ((small.graphs[0], first.base), (small.fixed[0], second.base)):
        assert term.base.bounds() == base.bounds()
        assert term.base.describe() == base.describe()
    assert small.kernels[0].base.bounds()[0] == 0.0
    assert (small.center, small.trivial) == (False, None)
    assert small.n == made.dimension == 7
    assert small._memo is not problem._memo
    Psi = np.hstack(parts).astype(float)
    Q = (Psi - Psi.mean(axis=0)) @ made.basis
    assert_allclose(Q.T @ Q, np.eye(7), atol=1e-8)
    for found, dense in (
        (small.kernels[0], parts[0].astype(float) @ parts[0].T.astype(float)),
        (small.graphs[0], np.diag(np.arange(float(N)))),
    ):
        assert_allclose(found.operator.to_dense(), Q.T @ dense @ Q, atol=1e-7)


def test_uncentred_spans_take_no_mean_off(parts):
    made = Span(InMemory(parts, precise=True), center=False)
    Psi = np.hstack(parts).astype(float)
    Q = Psi @ made.basis
    assert_allclose(Q.T @ Q, np.eye(7), atol=1e-8)
    assert_allclose(made.vectors(np.eye(7)), Q, atol=1e-8)
    R = Diagonal(np.arange(float(N)))
    expected = Psi.T @ np.diag(np.arange(float(N))) @ Psi
    assert_allclose(made._moments_of(R), expected, atol=1e-6)
