"""A Graph from anything: symmetric, no loops, the same from every source."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphfold import Graph
from graphfold.graphs import laplacian
from tests.trust.examples import examples
from tests.trust.ledger import tried
from tests.trust.properties.inputs import (
    LAYOUTS,
    bytes_of,
    edges_of,
    node_labels,
    seeds,
    sparse_layouts,
    weighted_graphs,
)
from tests.trust.properties.outcomes import SECTION

FORMATS = sorted(sparse_layouts())
SUBJECT = "Graph"


def brute_degrees(A):
    return [sum(A[i][j] for j in range(len(A)) if j != i) for i in range(len(A))]


def assert_graph(graph, A):
    """The invariants of every graph, and that its weights are those of A."""
    matrix = graph.to_scipy()
    dense = matrix.toarray()
    assert matrix.format == "csr" and matrix.dtype == np.float64
    assert matrix.has_sorted_indices and (matrix.data > 0).all()
    assert np.array_equal(dense, dense.T) and not dense.diagonal().any()
    assert np.isfinite(dense).all()
    np.testing.assert_allclose(dense, A, rtol=1e-15, atol=0)
    np.testing.assert_allclose(graph.degrees, brute_degrees(A), rtol=1e-12)
    assert graph.n_edges == (np.triu(A, 1) > 0).sum()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        assert not part.flags.writeable


def refused(make):
    with pytest.raises(ValueError, match="graph must have at least one edge") as error:
        make()
    assert "\n" not in str(error.value)


@examples(20)
@given(weights=weighted_graphs(), form=st.sampled_from(FORMATS), loops=st.booleans())
def test_every_sparse_format_is_the_same_graph(weights, form, loops):
    A = weights.A
    given_matrix = sparse_layouts()[form](A + np.diag(np.full(weights.n, 7.0)) * loops)
    before = bytes_of(given_matrix)
    if not A.any():
        return refused(lambda: Graph(given_matrix))
    graph = Graph(given_matrix)
    assert bytes_of(given_matrix) == before
    assert_graph(graph, A)
    assert graph == Graph(sp.csr_array(A)) and not graph.has_labels
    tried(SECTION, SUBJECT, f"{form}, {weights.what.split(' of ')[0]}")


@examples(20)
@given(weights=weighted_graphs(nodes=(4, 12)), layout=st.sampled_from(sorted(LAYOUTS)))
def test_every_layout_of_a_matrix_is_the_same_graph(weights, layout):
    if layout in ("list of lists", "objects"):
        layout = "transposed"  # lists are edges, objects are refused: tested elsewhere
    held = LAYOUTS[layout](weights.A)
    if not weights.A.any():
        return refused(lambda: Graph(held))
    before = bytes_of(held)
    assert_graph(Graph(held), weights.A)
    assert bytes_of(held) == before
    tried(SECTION, SUBJECT, f"a matrix in {layout}")


@examples(20)
@given(
    weights=weighted_graphs(), seed=seeds(), both=st.booleans(), kind=st.integers(0, 3)
)
def test_edges_listed_once_or_twice_in_any_order_are_the_graph(
    weights, seed, both, kind
):
    rng = np.random.default_rng(seed)
    labels = node_labels(kind, weights.n, rng)
    tails, heads, values = edges_of(weights.A, rng, both=both, labels=labels)
    if len(values) == 0:
        return refused(lambda: Graph.from_edges(tails, heads, values, nodes=labels))
    graph = Graph.from_edges(tails, heads, values, nodes=labels)
    assert graph.nodes.tolist() == labels.tolist() and graph.has_labels
    assert_graph(graph, weights.A)
    listed = list(zip(tails.tolist(), heads.tolist(), values.tolist(), strict=True))
    assert Graph(listed, nodes=labels) == graph
    times = 1 + both
    summed = Graph.from_edges(
        tails, heads, values / times, nodes=labels, duplicates="sum"
    )
    assert_graph(summed, weights.A)
    known = np.flatnonzero(weights.A.any(axis=0))
    bare = Graph.from_edges(tails, heads, values)
    assert set(bare.nodes.tolist()) == set(labels[known].tolist())
    assert bare.subgraph(labels[known]) == graph.subgraph(labels[known])
    tried(SECTION, "Graph.from_edges", f"{weights.what.split(' of ')[0]}, both {both}")


@examples(20)
@given(weights=weighted_graphs(), seed=seeds(), both=st.booleans())
def test_an_edge_index_is_the_same_graph(weights, seed, both):
    tails, heads, values = edges_of(weights.A, np.random.default_rng(seed), both=both)
    ends = np.array([tails, heads])
    before = bytes_of(ends, values)
    if len(values) == 0:
        return refused(lambda: Graph.from_edge_index(ends, values, num_nodes=weights.n))
    graph = Graph.from_edge_index(ends, values, num_nodes=weights.n)
    assert bytes_of(ends, values) == before
    assert_graph(graph, weights.A)
    tried(SECTION, "Graph.from_edge_index", weights.what.split(" of ")[0])


@examples(10)
@given(weights=weighted_graphs(), seed=seeds())
def test_tables_and_networkx_are_the_same_graph(weights, seed):
    pandas = pytest.importorskip("pandas", reason="a table of it")
    networkx = pytest.importorskip("networkx", reason="a graph of it")
    rng = np.random.default_rng(seed)
    labels = np.array([f"n{i}" for i in rng.permutation(weights.n)])
    tails, heads, values = edges_of(weights.A, rng, labels=labels)
    if len(values) == 0:
        return
    table = pandas.DataFrame({"source": tails, "target": heads, "weight": values})
    square = pandas.DataFrame(weights.A, index=labels, columns=labels)
    other = networkx.Graph()
    other.add_nodes_from(labels.tolist())
    other.add_weighted_edges_from(
        zip(tails.tolist(), heads.tolist(), values.tolist(), strict=True)
    )
    for source in (Graph(table, nodes=labels), Graph(square), Graph(other)):
        assert source.nodes.tolist() == labels.tolist()
        assert_graph(source, weights.A)
    polars = pytest.importorskip("polars", reason="a table of it")
    assert Graph(polars.from_pandas(table), nodes=labels) == Graph(table, nodes=labels)
    tried(SECTION, SUBJECT, "pandas, polars, networkx")


@examples(20)
@given(weights=weighted_graphs(nodes=(3, 14)), seed=seeds())
def test_a_subgraph_is_a_cut_and_an_order_of_the_matrix(weights, seed):
    if not weights.A.any():
        return
    rng = np.random.default_rng(seed)
    labels = rng.permutation(weights.n) * 3 + 5
    graph = Graph(sp.csr_array(weights.A), nodes=labels)
    kept = rng.permutation(weights.n)[: rng.integers(1, weights.n + 1)]
    part = graph.subgraph(labels[kept])
    assert part.nodes.tolist() == labels[kept].tolist()
    assert_graph(part, weights.A[np.ix_(kept, kept)])
    between = graph.edges_between(labels[kept], labels).toarray()
    np.testing.assert_array_equal(between, weights.A[kept])
    unknown = graph.edges_between([labels.max() + 1], labels)
    assert unknown.nnz == 0
    tried(SECTION, "Graph.subgraph", weights.what.split(" of ")[0])


@pytest.mark.filterwarnings("ignore::graphfold.errors.DuplicateEdgesWarning")
@examples(10)
@given(weights=weighted_graphs(), seed=seeds())
def test_directed_edges_are_the_larger_of_their_directions(weights, seed):
    rng = np.random.default_rng(seed)
    A = weights.A * rng.random(weights.A.shape)
    A[rng.random(A.shape) < 0.4] = 0
    wanted = np.maximum(A, A.T)
    if not wanted.any():
        return
    graph = Graph(sp.csr_array(A))
    assert_graph(graph, wanted)
    entries = sp.coo_array(A)
    ends = entries.row, entries.col
    listed = Graph.from_edges(*ends, entries.data, nodes=np.arange(weights.n))
    assert_graph(listed, wanted)
    assert (
        Graph.from_edge_index(np.array(ends), entries.data, nodes=listed.nodes)
        == listed
    )
    tried(SECTION, SUBJECT, f"directed {weights.what.split(' of ')[0]}")


@pytest.mark.parametrize("kind", ["normalized", "combinatorial"])
@examples(10)
@given(weights=weighted_graphs())
def test_a_laplacian_is_finite_symmetric_and_within_its_bounds(kind, weights):
    if not weights.A.any():
        return
    L = laplacian(Graph(sp.csr_array(weights.A)), kind)
    dense = L.operator.to_dense()
    unit = np.abs(dense).max()
    assert np.isfinite(dense).all() and unit > 0
    assert np.array_equal(dense, dense.T)
    values = np.linalg.eigvalsh(dense / unit)
    assert values[0] >= -1e-9
    assert values[-1] * unit <= L.bound * (1 + 1e-9)
    if kind == "combinatorial":
        assert np.abs((dense / unit).sum(axis=1)).max() <= 1e-9
    tried(SECTION, f"{kind} laplacian", weights.what.split(" of ")[0])
