"""Edges, pairs and violations by position, read back from a page."""

import numpy as np
import scipy.sparse as sp

from graphfold import SemiSupervisedGraphKernelPCA, view
from graphfold.views.links import MOST_EDGES, pack_edges
from graphfold.views.packing import Blocks
from tests.views.reading import Reading


def test_graphs_of_the_estimator_are_its_edges(fitted, blobs):
    page = Reading(view(fitted).html)
    (graph,) = page["edges"]
    ends = {
        frozenset(pair)
        for pair in zip(
            page.block(graph["sources"]), page.block(graph["targets"]), strict=True
        )
    }
    rows, columns = fitted.graph_.to_scipy().nonzero()
    assert ends == {frozenset(pair) for pair in zip(rows, columns, strict=True)}
    assert graph["name"] == "near" and graph["count"] == graph["total"] == len(ends)
    assert Reading(view(fitted, edges=False).html)["edges"] == []


def test_edges_by_name_and_by_position(Z):
    names = [f"n{i}" for i in range(30)]
    by_name = Reading(
        view(Z, ids=names, edges=[("n3", "n7"), ("n7", "elsewhere")]).html
    )
    by_place = Reading(
        view(Z, edges={"one": sp.coo_array(([1.0], ([3], [7])), (30, 30))}).html
    )
    for page in (by_name, by_place):
        (graph,) = page["edges"]
        assert page.block(graph["sources"]).tolist() == [3]
        assert page.block(graph["targets"]).tolist() == [7]


def test_rows_without_edges_are_fine(Z):
    page = Reading(view(Z, edges=[(0, 1), (2, 3)]).html)
    assert page["edges"][0]["count"] == 2
    for nothing in ([], {}, sp.csr_array((30, 30))):
        assert Reading(view(Z, edges=nothing).html)["edges"] == []


def test_of_too_many_edges_the_heaviest_stay(monkeypatch):
    monkeypatch.setattr("graphfold.views.links.MOST_EDGES", 2)
    assert MOST_EDGES == 1_000_000
    weights = sp.coo_array(([1.0, 3.0, 2.0], ([0, 1, 2], [1, 2, 3])), (4, 4))
    blocks = Blocks()
    packed = pack_edges("g", (weights + weights.T).tocsr(), blocks)
    assert (packed["count"], packed["total"]) == (2, 3)
    page = Reading(view(np.eye(4), edges=(weights + weights.T).tocsr()).html)
    assert page.block(page["edges"][0]["sources"]).tolist() == [1, 2]


def test_violated_constraints_by_position(blobs):
    X, _, names = blobs
    model = SemiSupervisedGraphKernelPCA(
        2,
        must_link=[("row0", "row50")],
        cannot_link=[("row3", "row4")],
        must_link_strength=0.0,
        cannot_link_strength=0.0,
    ).fit(X, node_ids=names)
    (found,) = Reading(view(model).html)["violations"]
    assert found["must"] == [[0, 50]]
    report = model.constraint_report_
    assert len(found["cannot"]) == len(report.violated_cannot)
    page = Reading(view(model, must_link=[("row2", "row1")]).html)
    assert page["pairs"]["must"] == [[2, 1]]
