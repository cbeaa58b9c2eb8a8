"""New rows, where they or the rows of the fit lie on workers; models in files."""

import anndata
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import graphfold
from graphfold import GraphKernelPCA, NeighborGraph, ad, responses
from graphfold.errors import (
    GraphError,
    GraphfoldError,
    LabelError,
    UnlabelledRowsWarning,
)
from tests.distributed.problems import (
    chunked,
    edge_table,
    in_memory,
    largest_gap,
    names,
    on_workers,
    table,
    two_clouds,
    weighted_graph,
)

X = two_clouds()
EDGES, GRAPH = weighted_graph(X)
PLAIN = NeighborGraph(6).build(X)
FRAME, _ = table(X)
OLD, NEW = FRAME[:500], FRAME[500:]


def of_dask(frame, npartitions=3):
    return dd.from_pandas(frame, npartitions=npartitions, sort=False)


@pytest.fixture(
    scope="module",
    params=[{}, {"laplacian": "combinatorial"}, {"response": responses.Diffusion(3.0)}],
    ids=["normalized", "combinatorial", "diffusion"],
)
def pair(request):
    with dask.config.set(scheduler="threads"):
        one = in_memory(OLD, GRAPH, **request.param)
        return one, on_workers(of_dask(OLD), edge_table(EDGES), **request.param)


@pytest.mark.parametrize("frame", [NEW, FRAME], ids=["new", "old and new"])
def test_labels_bring_edges(pair, frame):
    one, other = pair
    expected = one.transform(frame)
    assert largest_gap(other.transform(of_dask(frame)), expected) < 1e-6
    found = other.transform(frame)
    assert isinstance(found, np.ndarray)
    assert largest_gap(found, expected) < 1e-6


def test_rows_without_labels_go_by_their_features(pair):
    one, other = pair
    with pytest.warns(UnlabelledRowsWarning):
        expected = one.transform(NEW.to_numpy())
    with pytest.warns(UnlabelledRowsWarning):
        found = other.transform(da.from_array(NEW.to_numpy(), chunks=30))
    assert largest_gap(found, expected) < 1e-6


def test_edges_may_be_given(pair):
    one, other = pair
    row = FRAME.loc[["row 550", "row 560"]]
    edges = [("row 550", "row 3"), ("row 550", "row 8", 2.0), ("row 560", "row 3")]
    expected = one.transform(row, edges=edges)
    assert largest_gap(other.transform(row, edges=edges), expected) < 1e-6
    listed = pd.DataFrame([(*e, 1.0)[:3] for e in edges], columns=list("rnw"))
    of_table = dd.from_pandas(listed, npartitions=2)
    assert largest_gap(other.transform(row, edges=of_table), expected) < 1e-6
    turned = [(edge[1], edge[0], *edge[2:]) for edge in edges]
    assert largest_gap(one.transform(row, edges=turned), expected) < 1e-12
    assert largest_gap(other.transform(row, edges=turned), expected) < 1e-6


def test_listed_edges_of_unknown_rows_are_refused(pair):
    row = FRAME.loc[["row 550"]]
    for model in pair:
        with pytest.raises(LabelError, match=r"'row 9999'\) does not join such rows"):
            model.transform(row, edges=[("row 550", "row 3"), ("row 550", "row 9999")])


def test_a_row_that_has_changed_is_refused(pair):
    _, other = pair
    changed = pd.concat([NEW, OLD[:1] + 1.0])
    with pytest.raises(LabelError, match="but other features"):
        other.transform(changed)


def test_positions_of_listed_edges_must_be_those_of_rows():
    other = on_workers(chunked(X, (300, 300)), PLAIN)
    with pytest.raises(LabelError, match=r"\(0, 600\) does not join such rows"):
        other.transform(X[:2], edges=[(0, 3), (0, 600)])


def test_node_ids_are_positions_of_a_graph_without_labels():
    shuffled = np.random.default_rng(3).permutation(len(X))
    one = in_memory(X[shuffled], PLAIN, node_ids=shuffled)
    other = on_workers(chunked(X[shuffled], (300, 300)), PLAIN, node_ids=shuffled)
    assert largest_gap(other.embedding_, one.embedding_) < 1e-6
    for wrong in (names(len(X)), shuffled + 1):
        with pytest.raises(LabelError, match="only positions 0 to 599"):
            on_workers(chunked(X, (300, 300)), PLAIN, node_ids=wrong)


def test_every_row_is_a_node_of_a_graph():
    with pytest.raises(LabelError, match="100 of 600 labels are not nodes"):
        on_workers(of_dask(FRAME), GRAPH.subgraph(OLD.index))


@pytest.mark.parametrize("n", [1, 2])
def test_one_of_several_graphs_need_not_know_every_row(n):
    graphs = {"all": GRAPH, "some": GRAPH.subgraph(names(len(X))[::2])}
    graphs |= {"by position": PLAIN} if n == 2 else {}
    one, other = in_memory(FRAME, graphs), on_workers(of_dask(FRAME), graphs)
    np.testing.assert_allclose(other.graph_weights_, one.graph_weights_, rtol=1e-5)
    assert largest_gap(other.embedding_, one.embedding_) < 1e-5
    assert largest_gap(other.transform(of_dask(NEW)), one.transform(NEW)) < 1e-5


def test_each_row_is_placed_by_itself(pair):
    _, other = pair
    together = other.transform(NEW)
    assert largest_gap(other.transform(NEW[3:4]), together[3:4]) < 1e-9


def test_neighbours_of_new_rows_are_found_among_those_of_the_fit():
    one = in_memory(X[:500], NeighborGraph(6))
    other = on_workers(chunked(X[:500], (200, 300)), NeighborGraph(6))
    expected = one.transform(X)
    assert largest_gap(other.transform(chunked(X, (350, 250))), expected) < 1e-6
    assert largest_gap(other.transform(X[:500]), other.embedding_) < 1e-12


def test_the_width_of_heat_weights_is_that_of_the_fit():
    heat = NeighborGraph(6, weight="heat")
    other = on_workers(chunked(X[:500], (200, 300)), heat)
    new = other.transform(chunked(X[500:], (100,)))
    assert largest_gap(other.transform(X[500:501]), new[:1]) < 1e-9
    assert largest_gap(new, in_memory(X[:500], heat).transform(X[500:])) < 1e-6


def test_rows_of_dask_and_a_fit_in_memory():
    model = GraphKernelPCA(3, graph=GRAPH).fit(OLD)
    found = model.transform(of_dask(FRAME))
    assert found.chunks[0] == (200, 200, 200)
    assert largest_gap(found, model.transform(FRAME)) < 1e-12
    with pytest.raises(GraphfoldError, match="edges must be None"):
        model.transform(of_dask(FRAME), edges=[("row 550", "row 1")])


def test_mistakes_are_one_sentence():
    model = on_workers(chunked(X, (300, 300)), {"a": PLAIN, "b": PLAIN})
    with pytest.raises(GraphError, match="edges must be a dict"):
        model.transform(X, edges=[(0, 1)])
    with pytest.raises(GraphError, match="among a, b; got c"):
        model.transform(X, edges={"c": [(0, 1)]})
    alone = on_workers(chunked(X, (300, 300)), None)
    with pytest.raises(GraphfoldError, match="the fit had no graph"):
        alone.transform(X, edges=[(0, 1)])
    with pytest.raises(ValueError, match="features"):
        alone.transform(chunked(X[:, :3], (300, 300)))


def test_score_is_that_of_one_machine():
    one, other = in_memory(X, PLAIN), on_workers(chunked(X, (300, 300)), PLAIN)
    np.testing.assert_allclose(other.score(X), one.score(X), rtol=1e-6)


# -- files, plans, other tables -------------------------------------------------------


def test_a_saved_model_places_by_features(tmp_path, pair):
    one, other = pair
    other.save(tmp_path / "model.npz")
    loaded = graphfold.load(tmp_path / "model.npz")
    assert not hasattr(loaded, "embedding_")
    expected = one._extension.place(NEW.to_numpy()) * one._scales
    assert largest_gap(loaded.transform(NEW), expected) < 1e-6
    found = loaded.transform(of_dask(NEW))
    assert largest_gap(found, expected) < 1e-6


def test_a_plan_computes_nothing():
    def refuse(block):
        raise AssertionError("it was computed")

    rows = chunked(X, (300, 300)).map_blocks(refuse, dtype=float, meta=np.empty((0, 0)))
    plan = GraphKernelPCA(3, graph=PLAIN, landmarks=100).plan(rows)
    assert plan.storage == "workers"
    assert plan.landmarks == 100
    assert plan.peak_bytes >= 4 * 600 * 3 * 100
    with pytest.raises(GraphfoldError, match="known chunk sizes"):
        GraphKernelPCA(3, landmarks=100).plan(of_dask(FRAME))


def test_partitions_of_polars(tmp_path):
    paths = []
    for i, part in enumerate((X[:250], X[250:])):
        paths.append(str(tmp_path / f"{i}.parquet"))
        pl.DataFrame(part, schema=list("abcde"), orient="row").write_parquet(paths[-1])
    meta = pd.DataFrame(np.empty((0, 5)), columns=list("abcde"))
    rows = dd.from_map(pl.read_parquet, paths, meta=meta, enforce_metadata=False)
    model = on_workers(rows, PLAIN)
    assert largest_gap(model.embedding_, in_memory(X, PLAIN).embedding_) < 1e-9
    assert list(model.feature_names_in_) == list("abcde")


@pytest.mark.parametrize("sparse", [False, True])
def test_anndata_with_rows_of_dask(sparse):
    rows = np.abs(X)
    blocks = da.from_array(rows, chunks=(200, 5))
    blocks = blocks.map_blocks(sp.csr_matrix) if sparse else blocks
    adata = anndata.AnnData(blocks)
    adata.obs_names = names(600)
    adata.obsp["connectivities"] = sp.csr_matrix(GRAPH.to_scipy())
    ad.graph_kernel_pca(adata, 3, landmarks=60, keep_model=True)
    expected = in_memory(
        pd.DataFrame(rows, index=names(600)), GRAPH, random_state=0
    ).embedding_
    found = adata.obsm["X_graphfold"]
    assert isinstance(found, da.Array)
    assert largest_gap(found, expected) < 1e-6
    new = anndata.AnnData(da.from_array(rows[:50] + 0.1, chunks=(20, 5)))
    new.obs_names = [f"new {i}" for i in range(50)]
    ad.transform(new, adata)
    assert new.obsm["X_graphfold"].shape == (50, 3)


# -- rows of the fit, where the graph has no labels ------------------------------------


@pytest.mark.parametrize("known", [PLAIN, PLAIN.to_scipy()], ids=["Graph", "matrix"])
def test_rows_of_a_fit_without_labels_come_back(known):
    model = on_workers(chunked(X, (200, 150, 250)), known)
    assert largest_gap(model.transform(X), model.embedding_) < 1e-12
    found = model.transform(chunked(X[100:400], (170, 130)))
    assert largest_gap(found, model.embedding_[100:400]) < 1e-12
    mixed = np.vstack([X[7], X[7] + 0.1])
    text = r"1 of 2 rows are not rows of the fit \(rows 1\).*by their features alone"
    with pytest.warns(UnlabelledRowsWarning, match=text):
        placed = model.transform(mixed)
    one = in_memory(X, known)
    with pytest.warns(UnlabelledRowsWarning, match=text):
        assert largest_gap(placed, one.transform(mixed)) < 1e-6


def test_equal_rows_on_workers_are_told_apart_as_in_memory():
    repeated = X.copy()
    repeated[300:310] = X[10]
    model = on_workers(chunked(repeated, (250, 350)), PLAIN)
    own = model.embedding_.compute()
    assert np.abs(own[305] - own[10]).max() > 1e-6
    assert largest_gap(model.transform(chunked(repeated, (100, 500))), own) < 1e-12
    longer = np.vstack([repeated, repeated[305:306], X[:1] + 1.0])
    with pytest.warns(UnlabelledRowsWarning) as caught:
        found = model.transform(chunked(longer, (320, 282)))
    assert largest_gap(found[:600], own) < 1e-12
    assert largest_gap(found[600], own[10]) < 1e-12
    messages = [str(one.message) for one in caught]
    assert any("equal more than one row of the fit (rows 600)" in m for m in messages)
    assert any("not rows of the fit (rows 601)" in m for m in messages)


def test_edges_that_are_given_are_those_of_another_node():
    model = on_workers(chunked(X, (300, 300)), PLAIN)
    one = in_memory(X, PLAIN)
    expected = one.transform(X[:2], edges=[(0, 300)])
    assert np.abs(expected[0] - one.embedding_[0]).max() > 1e-3
    assert largest_gap(model.transform(X[:2], edges=[(0, 300)]), expected) < 1e-6
