"""Several graphs with R = -L: eigenvalues are those of the formula, without a shift."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphfold import GraphKernelPCA, LocalNonlinearEmbedding, NeighborGraph
from graphfold.errors import WeakSpectrumWarning
from tests.estimators.test_many_terms import adjacency
from tests.helpers import dense_laplacian, largest_angle

GAMMA = 0.7
TABLES = {"a": adjacency(1), "b": adjacency(2)}
LETTER = {"graph_strength": GAMMA, "normalize": False}


def laplacians(kind):
    return [dense_laplacian(A, kind) for A in TABLES.values()]


def eigenvalues_of_the_formula(model, kind):
    """v'Kv - gamma sum beta v'Lv; v'Kv is the squared length of a column."""
    V, Z = np.asarray(model.eigenvectors_), np.asarray(model.embedding_)
    energies = np.square(Z).sum(axis=0)
    for beta, L in zip(model.graph_weights_, laplacians(kind), strict=True):
        energies -= GAMMA * beta * np.einsum("ij,ij->j", V, L @ V)
    return energies


def check(model, kind, rtol):
    expected = eigenvalues_of_the_formula(model, kind)
    assert_allclose(model.eigenvalues_, expected, rtol=rtol)
    trace = model.objective_trace_
    assert (np.diff(trace) >= -1e-5 * np.abs(trace).max()).all()


@pytest.mark.parametrize("weights", ["learn", "equal"])
@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
def test_eigenvalues_are_those_of_the_formula(points, kind, weights):
    model = GraphKernelPCA(
        3, gamma=0.2, graph=TABLES, laplacian=kind, weights=weights, **LETTER
    ).fit(points)
    check(model, kind, 1e-8)
    H = np.eye(60) - 1 / 60
    K = np.exp(-0.2 * np.square(points[:, None] - points[None]).sum(axis=2))
    M = K - GAMMA * sum(
        beta * L for beta, L in zip(model.graph_weights_, laplacians(kind), strict=True)
    )
    values = np.linalg.eigvalsh(H @ M @ H - 1e4 * np.ones((60, 60)) / 60)
    assert_allclose(model.eigenvalues_, values[::-1][:3], atol=1e-8)
    assert " I + " not in model.formula_


def test_one_graph_given_twice_has_the_eigenvalues_of_one(points):
    A = TABLES["a"]
    one = GraphKernelPCA(3, gamma=0.2, graph=A).fit(points)
    two = GraphKernelPCA(3, gamma=0.2, graph={"a": A, "b": A}).fit(points)
    assert_allclose(two.eigenvalues_, one.eigenvalues_, rtol=1e-9)
    assert largest_angle(two.eigenvectors_, one.eigenvectors_) < 1e-6


def test_all_components_end_with_the_constant_at_zero(points):
    model = GraphKernelPCA(60, gamma=0.2, graph=TABLES, **LETTER)
    with pytest.warns(WeakSpectrumWarning, match="1 of 60 components"):
        model.fit(points)
    expected = eigenvalues_of_the_formula(model, "normalized")[:-1]
    assert_allclose(model.eigenvalues_[:-1], expected, atol=1e-9)
    assert model.eigenvalues_[-1] == 0


@pytest.mark.parametrize("refine", [True, False])
def test_landmarks_report_the_formula(points, refine):
    how = {"landmarks": 25, "refine": refine, "tol": 1e-6}
    model = GraphKernelPCA(3, gamma=0.2, graph=TABLES, **how, **LETTER).fit(points)
    check(model, "normalized", 1e-3)


def test_a_stream_reports_the_formula(points):
    model = GraphKernelPCA(3, gamma=0.2, landmarks=25, **LETTER)
    rows, columns = np.triu_indices(60, 1)
    for batch in (range(30), range(30, 60)):
        here = np.isin(columns, batch)  # the other end has come before
        edges = {
            name: [
                (i, j)
                for i, j in zip(rows[here], columns[here], strict=True)
                if A[i, j]
            ]
            for name, A in TABLES.items()
        }
        model.partial_fit(points[batch], edges=edges)
    check(model, "normalized", 1e-5)


@pytest.mark.parametrize("form", ["kernel", "local"])
def test_the_forms_of_the_local_embedding_report_the_formula(points, form):
    model = LocalNonlinearEmbedding(
        2, n_neighbors=6, order=1, form=form, graph=TABLES, **LETTER
    ).fit(points)
    V, W = model.eigenvectors_, model.reconstruction_weights_.toarray()
    T = np.eye(60) - W
    data = -(T.T @ T)
    if form == "kernel":
        data = np.linalg.pinv(T.T @ T, rcond=1e-12, hermitian=True)
    weighted = zip(model.graph_weights_, laplacians("normalized"), strict=True)
    M = data - GAMMA * sum(beta * L for beta, L in weighted)
    expected = np.einsum("ij,ij->j", V, M @ V)
    assert_allclose(model.eigenvalues_, expected, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("edges", [True, False])
def test_new_rows_are_placed_without_the_shift(points, edges):
    A, B = TABLES.values()
    names = [f"row {i}" for i in range(60)]
    graph = {
        key: [(names[i], names[j]) for i, j in np.argwhere(np.triu(table))]
        for key, table in TABLES.items()
    }
    model = GraphKernelPCA(3, gamma=0.2, graph=graph, **LETTER)
    model.fit(points, node_ids=names)
    assert_allclose(
        model.transform(points, node_ids=names), model.embedding_, atol=1e-10
    )
    if not edges:
        return
    given = {
        key: [("new", names[j]) for j in np.flatnonzero(table[7])]
        for key, table in zip(graph, (A, B), strict=True)
    }
    placed = model.transform(points[7:8], node_ids=["new"], edges=given)
    # the degrees of its neighbours are those of the fit, so the place is row 7's own
    assert_allclose(placed[0], model.embedding_[7], atol=1e-8)


def test_recipes_beside_each_other(points):
    graphs = {"near": NeighborGraph(4), "far": NeighborGraph(12)}
    model = GraphKernelPCA(2, gamma=0.2, graph=graphs, **LETTER).fit(points)
    found = [
        dense_laplacian(g.build(points).to_scipy().toarray(), "normalized")
        for g in graphs.values()
    ]
    V = model.eigenvectors_
    energies = np.square(model.embedding_).sum(axis=0)
    for beta, L in zip(model.graph_weights_, found, strict=True):
        energies -= GAMMA * beta * np.einsum("ij,ij->j", V, L @ V)
    assert_allclose(model.eigenvalues_, energies, rtol=1e-8)
