"""Rows on workers get the answer that the same rows get in memory."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles

from graphfold import (
    CorrelationGraph,
    EdgeTable,
    Graph,
    GraphKernelPCA,
    NeighborGraph,
    responses,
)
from graphfold.datasets import load_digits, load_mnist
from graphfold.errors import (
    DuplicateEdgesWarning,
    GraphfoldError,
    LandmarksChosenWarning,
)
from tests.conftest import real
from tests.distributed.problems import (
    chunked,
    edge_table,
    in_memory,
    largest_gap,
    names,
    on_workers,
    own_cluster,
    start_cluster,
    table,
    two_clouds,
    weighted_graph,
    working_on,
)
from tests.helpers import dense_laplacian

X = two_clouds()
EDGES, GRAPH = weighted_graph(X)
OTHER = NeighborGraph(9, metric="cosine", weight="similarity").build(X)
PLAIN = NeighborGraph(6).build(X)
CHUNKS = [(600,), (100, 250, 250), (1, 299, 7, 293)]


def both(graph, sizes=(100, 250, 250), **how):
    return in_memory(X, graph, **how), on_workers(chunked(X, sizes), graph, **how)


PROBLEMS = {
    "one graph": {"graph": PLAIN},
    "strong": {"graph": PLAIN, "graph_strength": 10.0},
    "combinatorial": {"graph": PLAIN, "laplacian": "combinatorial"},
    "not centred": {"graph": PLAIN, "center": False},
    "letter": {"graph": PLAIN, "normalize": False, "graph_strength": 0.1},
    "no graph": {"graph": None},
    "linear": {"graph": PLAIN, "kernel": "linear"},
    "two kernels": {"graph": PLAIN, "kernel": ["rbf", "linear"]},
    "two graphs": {"graph": {"near": PLAIN, "angle": OTHER}},
    "two of both": {"graph": [PLAIN, OTHER], "kernel": ["rbf", "poly"]},
    "equal weights": {"graph": [PLAIN, OTHER], "weights": "equal"},
    "diffusion": {"graph": PLAIN, "response": responses.Diffusion(5.0)},
    "auto": {"graph": PLAIN, "response": responses.Diffusion("auto")},
    "regularised": {
        "graph": PLAIN,
        "response": responses.RegularizedLaplacian(2.0, form="penalty"),
    },
    "random walk": {"graph": PLAIN, "response": responses.RandomWalk(2, 3)},
    "bandlimited": {"graph": PLAIN, "response": responses.Bandlimited(6)},
    "mixed": {"graph": [PLAIN, OTHER], "response": [None, responses.Diffusion(3.0)]},
    "uniform": {"graph": PLAIN, "landmark_choice": "uniform"},
    "centres": {"graph": PLAIN, "landmark_choice": "k-means"},
    "more than enough": {"graph": PLAIN, "landmarks": 599},
    "spread": {"graph": PLAIN, "landmark_choice": "k-means++"},
    "leverage": {"graph": PLAIN, "landmark_choice": "leverage"},
    "neighbours": {"graph": NeighborGraph(7)},
    "mutual": {"graph": NeighborGraph(7, mode="mutual", weight="heat")},
    "correlation": {"graph": CorrelationGraph(8)},
    "manhattan": {"graph": NeighborGraph(7, "manhattan", weight="similarity")},
    "given rows": {"graph": PLAIN, "landmarks": X[::7]},
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_has_the_answer_of_one_machine(name):
    one, other = both(**PROBLEMS[name])
    assert largest_gap(other.embedding_, one.embedding_) < 1e-6
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(other.kernel_weights_, one.kernel_weights_, atol=1e-6)
    np.testing.assert_allclose(other.graph_weights_, one.graph_weights_, atol=1e-6)
    np.testing.assert_allclose(
        other.explained_variance_ratio_, one.explained_variance_ratio_, atol=1e-6
    )
    np.testing.assert_array_equal(other.landmarks_, one.landmarks_)
    assert other.formula_ == one.formula_


@pytest.mark.parametrize("sizes", CHUNKS, ids=str)
def test_no_chunking_changes_the_answer(sizes):
    one, other = both(PLAIN, sizes)
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9
    assert other.embedding_.chunks[0] == tuple(sizes)


@given(
    cuts=st.sets(st.integers(1, 119), max_size=6),
    k=st.integers(1, 8),
    strength=st.floats(0, 20),
    seed=st.integers(0, 5),
)
@settings(max_examples=15, deadline=None)
def test_any_chunks_any_strength(cuts, k, strength, seed):
    rows = two_clouds(120, seed=seed)
    graph = NeighborGraph(k).build(rows)
    edges = [0, *sorted(cuts), 120]
    how = {"landmarks": 30, "graph_strength": strength}
    one = in_memory(rows, graph, **how)
    other = on_workers(chunked(rows, np.diff(edges)), graph, **how)
    # of equal eigenvalues the space is sure, not the axes
    angle = subspace_angles(np.asarray(other.eigenvectors_), one.eigenvectors_).max()
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-6)
    gap = one.eigenvalues_[2] - one.axis_report_.eigengaps[2]
    assert angle < 1e-5 or abs(one.axis_report_.eigengaps[2]) < 1e-6 * abs(gap)


def test_columns_in_several_chunks_are_joined():
    one = in_memory(X, PLAIN)
    other = on_workers(da.from_array(X, chunks=(200, 2)), PLAIN)
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9


def test_single_precision_stays():
    rows = X.astype(np.float32)
    one, other = in_memory(rows, PLAIN), on_workers(chunked(rows, (300, 300)), PLAIN)
    assert other.embedding_.dtype == np.float32
    assert largest_gap(other.embedding_, one.embedding_) < 1e-6


def test_sparse_rows_stay_sparse():
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.5, X, 0.0)
    blocks = da.from_array(rows, chunks=(200, 5)).map_blocks(sp.csr_array)
    one = in_memory(sp.csr_array(rows), PLAIN)
    other = on_workers(blocks, PLAIN)
    assert sp.issparse(other.landmarks_)
    assert largest_gap(other.embedding_, one.embedding_) < 1e-6


def degrees_to_refined(rows, graph, sizes, d, landmarks):
    """Largest angle between the answer in the span and that of the whole problem."""
    how = {"graph": graph, "landmarks": landmarks}
    refined = GraphKernelPCA(d, refine=True, tol=1e-6, **how).fit(rows)
    other = GraphKernelPCA(d, **how).fit(chunked(rows, sizes))
    angles = subspace_angles(np.asarray(other.eigenvectors_), refined.eigenvectors_)
    return np.degrees(angles.max())


@pytest.mark.parametrize("d", [2, 10])
def test_the_span_is_within_two_degrees_of_the_refined_answer(d):
    digits = load_digits()
    graph = Graph(digits.graph.to_scipy())
    assert degrees_to_refined(digits.data, graph, (500, 500, 797), d, 300) < 2


@pytest.mark.slow
def test_the_same_of_handwritten_digits_in_full():
    rows = real(load_mnist).data[:10_000] / 255.0
    graph = NeighborGraph(10).build(rows)
    assert degrees_to_refined(rows, graph, (4000, 6000), 10, 500) < 2


def test_landmarks_are_chosen_where_nobody_does():
    with pytest.warns(LandmarksChosenWarning, match="600 landmarks"):
        model = on_workers(chunked(X, (300, 300)), PLAIN, landmarks=None)
    assert len(model.landmarks_) == 600


# -- graphs that lie elsewhere --------------------------------------------------------


@pytest.mark.parametrize("parts", [1, 5])
def test_edges_meet_rows_by_label(parts):
    frame, rows = table(X, npartitions=4)
    one = in_memory(frame, GRAPH)
    other = on_workers(rows, edge_table(EDGES, parts))
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9
    assert list(other.feature_names_in_) == list(frame.columns)


def test_edges_in_parquet_files(tmp_path):
    edge_table(EDGES, 3).to_parquet(tmp_path / "edges")
    frame, rows = table(X)
    other = on_workers(rows, EdgeTable(tmp_path / "edges"))
    assert largest_gap(other.embedding_, in_memory(frame, GRAPH).embedding_) < 1e-9


def test_labels_of_their_own_chunks():
    labels = da.from_array(names(600), chunks=170)
    one = in_memory(table(X)[0], GRAPH)
    other = on_workers_with(chunked(X, (250, 350)), labels)
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9


def on_workers_with(rows, labels):
    model = GraphKernelPCA(3, graph=edge_table(EDGES), landmarks=60)
    return model.fit(rows, node_ids=labels)


def test_rows_of_a_matrix():
    blocks = da.from_array(GRAPH.to_scipy().toarray(), chunks=(170, 600))
    other = on_workers(chunked(X, (250, 350)), blocks.map_blocks(sp.csr_array))
    one = in_memory(X, GRAPH.to_scipy())
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9


def test_a_matrix_of_directed_edges_is_undirected_like_in_memory():
    rng = np.random.default_rng(0)
    A = np.where(rng.random((600, 600)) < 0.01, rng.random((600, 600)), 0.0)
    np.fill_diagonal(A, 0)
    with pytest.warns(DuplicateEdgesWarning, match="edges are listed") as said:
        other = on_workers(chunked(X, (250, 350)), da.from_array(A, chunks=(200, 600)))
        one = in_memory(X, A)
    assert largest_gap(other.embedding_, one.embedding_) < 1e-9
    counts = {str(warning.message).split()[0] for warning in said}
    assert counts == {str(int(((A > 0) & (A.T > 0)).sum() // 2))}


# -- clusters of processes ------------------------------------------------------------


@own_cluster
@pytest.mark.parametrize("n_workers", [1, 4])
def test_one_and_four_worker_processes(n_workers):
    one = in_memory(X, PLAIN)
    with start_cluster(n_workers) as client, working_on(client):
        other = on_workers(chunked(X, (100, 250, 250)), PLAIN)
        assert largest_gap(other.embedding_.compute(), one.embedding_) < 1e-6


def test_two_worker_processes(workers):
    frame, rows = table(X, npartitions=5)
    one = in_memory(frame, GRAPH)
    other = on_workers(rows, edge_table(EDGES, 4))
    assert largest_gap(other.embedding_.compute(), one.embedding_) < 1e-6
    assert largest_gap(other.transform(rows).compute(), one.embedding_) < 1e-6


def test_centres_of_k_means_are_those_of_one_machine(workers):
    rows = chunked(X, (100, 250, 250))
    how = {"landmark_choice": "k-means", "landmarks": 20}
    one, other = in_memory(X, PLAIN, **how), on_workers(rows, PLAIN, **how)
    np.testing.assert_array_equal(other.landmarks_, one.landmarks_)
    assert largest_gap(other.embedding_.compute(), one.embedding_) < 1e-6
    with pytest.raises(GraphfoldError, match='must not be "k-means"'):
        on_workers(rows, PLAIN, kernel=lambda x, y: float(x @ y), **how)


def test_several_laplacians_report_the_eigenvalues_of_the_formula():
    graphs = {"near": NeighborGraph(4).build(X), "far": NeighborGraph(9).build(X)}
    how = {"graph": graphs, "landmarks": 60, "normalize": False, "graph_strength": 0.5}
    one = GraphKernelPCA(2, refine=False, **how).fit(X)
    other = GraphKernelPCA(2, **how).fit(chunked(X, (100, 250, 250)))
    assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-6)
    energies = np.square(one.embedding_).sum(axis=0)
    for beta, graph in zip(one.graph_weights_, graphs.values(), strict=True):
        L = dense_laplacian(graph.to_scipy().toarray(), "normalized")
        V = one.eigenvectors_
        energies -= 0.5 * beta * np.einsum("ij,ij->j", V, L @ V)
    assert_allclose(one.eigenvalues_, energies, rtol=1e-5)


def test_weights_start_where_they_are_told():
    how = {"graph": {"one": PLAIN, "other": OTHER}, "landmarks": 60}
    for weights in ([1, 0], {"one": 1, "other": 3}, [[1, 0], [0, 1]]):
        one = GraphKernelPCA(2, refine=False, weights=weights, **how).fit(X)
        other = GraphKernelPCA(2, weights=weights, **how)
        other.fit(chunked(X, (100, 250, 250)))
        assert_allclose(other.graph_weights_, one.graph_weights_, atol=1e-5)
    with pytest.raises(GraphfoldError, match="got none for 'other'"):
        GraphKernelPCA(2, weights={"one": 1}, **how).fit(chunked(X, (300, 300)))


@pytest.mark.parametrize(
    "response",
    [
        responses.Bandlimited(5, 0.5),
        responses.RandomWalk(2.0, 0),
        responses.RandomWalk(3.0, 1.5),
    ],
    ids=repr,
)
def test_all_parameters_of_the_paper_are_the_same_on_workers(response):
    how = {"graph": PLAIN, "landmarks": 60, "response": response}
    one = GraphKernelPCA(2, refine=False, **how).fit(X)
    other = GraphKernelPCA(2, **how).fit(chunked(X, (100, 250, 250)))
    assert largest_gap(other.embedding_, one.embedding_) < 1e-5
