"""What goes into a page, read back; and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

import graphfold
from graphfold import GraphKernelPCA, view
from graphfold.errors import GraphfoldError
from graphfold.quality import graph_gain, neighbors_kept, trustworthiness
from graphfold.views import Map
from tests.views.reading import Reading


def test_coordinates_names_and_shares(fitted, blobs):
    page = Reading(view(fitted, title="Blobs & co").html)
    (only,) = page["views"]
    for i, axis in enumerate(only["axes"]):
        z = fitted.embedding_[:, i]
        unit = 2 * (z - z.min()) / np.ptp(z) - 1
        assert_allclose(page.block(axis["block"]), unit, atol=1e-6)
        assert axis["share"] == pytest.approx(fitted.explained_variance_ratio_[i])
    assert page.block(page["ids"]) == blobs[2]
    assert only["formula"] == fitted.formula_
    assert "<title>Blobs &amp; co</title>" in page.html
    assert page["reports"][0]["name"] == "GraphKernelPCA"
    assert Reading(view(fitted, report=False).html)["reports"] == []


@pytest.mark.parametrize("scale", [1e300, 1e-300])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_coordinates_of_any_size(Z, scale, shift):
    page = Reading(view((Z + shift) * scale).html)
    seen = page.block(page["views"][0]["axes"][0]["block"])
    z = Z[:, 0]
    assert_allclose(seen, 2 * (z - z.min()) / np.ptp(z) - 1, atol=1e-5)


def test_names_that_pairs_can_use():
    Z = np.eye(3)
    large = Reading(view(Z, ids=[2**60, 2**60 + 1, 3]).html)
    assert large.block(large["ids"]) == [str(2**60), str(2**60 + 1), 3]
    assert large["numbered"] and large["pairable"]
    dates = pd.DataFrame(Z, index=pd.date_range("2020-01-01", periods=3))
    assert not Reading(view(dates).html)["pairable"]
    assert Reading(view(Z, ids=["a", "b", "c"]).html)["pairable"]


def test_gain_stands_with_the_first_graph(fitted, blobs):
    X, _, names = blobs
    gain = graph_gain(X, fitted.graph, node_ids=names, n_copies=5)
    page = Reading(view({"PCA": X[:, :2], "ours": fitted}, gain=gain, X=X).html)
    assert [report["name"] for report in page["reports"] if "gain" in report] == [
        "ours"
    ]
    assert "gain" in Reading(view(X[:, :2], gain=gain).html)["reports"][0]


def test_neighbours_trust_and_their_values(fitted, blobs):
    X, _, _ = blobs
    other = PCA(2).fit_transform(X)
    page = Reading(view({"a": other, "b": fitted}, X=X, n_neighbors=7).html)
    assert page["neighbors"]["k"] == 7
    for v, coordinates in enumerate([other, fitted.embedding_]):
        truth = neighbors_kept(X, coordinates, 7)
        assert_array_equal(
            page.block(page["neighbors"]["block"]).reshape(-1, 7), truth.indices
        )
        kept = page.block(page["neighbors"]["kept"][v]).reshape(-1, 7)
        assert_array_equal(kept, truth.kept)
        columns = {column["name"]: column for column in page["columns"]}
        trust = page.block(columns["trust"]["blocks"][v])
        assert_allclose(trust, trustworthiness(X, coordinates, 7), rtol=1e-6)
        overlap = page.block(columns["neighbours kept"]["blocks"][v])
        assert_allclose(overlap, truth.kept.mean(axis=1), rtol=1e-6)


def test_tables_bring_names_and_axes(Z):
    table = pd.DataFrame(Z, columns=["x", "y", "z"], index=[f"r{i}" for i in range(30)])
    page = Reading(view(table).html)
    assert [axis["name"] for axis in page["views"][0]["axes"]] == ["x", "y", "z"]
    assert page.block(page["ids"])[:2] == ["r0", "r1"]


def test_one_component_gets_a_flat_second(Z):
    page = Reading(view(Z[:, :1]).html)
    assert len(page["views"][0]["axes"]) == 2
    assert not page.block(page["views"][0]["axes"][1]["block"]).any()


FITTED = GraphKernelPCA(2).fit(np.random.default_rng(0).random((9, 3)))


REFUSED = [
    (dict(embedding=GraphKernelPCA(2)), "call fit first"),
    (dict(embedding={}), "at least one embedding"),
    (dict(embedding="map"), "an array of numbers"),
    (dict(embedding=np.ones(5)), "rows and columns; got shape"),
    (dict(embedding=np.array([[1.0, np.nan]])), r"finite; rows 0 are not"),
    (dict(embedding={"a": np.ones((3, 2)), "b": np.ones((4, 2))}), "same rows"),
    (dict(labels=[1, 2]), "one value for each of the 9 rows"),
    (dict(text=["a"]), "text must have one string"),
    (dict(ids=[1]), "ids must have one label"),
    (dict(ids=["a"] * 9), "'a' occurs twice"),
    (dict(X=np.ones((4, 2))), "X must have the 9 rows"),
    (dict(layout="pca"), "layout must be"),
    (dict(n_neighbors=0, X=np.ones((9, 2))), "n_neighbors must be"),
    (dict(must_link=[(0, 99)]), "unknown are 99"),
    (dict(must_link=[(0, 1, 2)]), "must be pairs"),
    (dict(edges=graphfold.NeighborGraph(3)), "not a recipe"),
    (dict(images=np.ones((9, 2))), "one for each of the 9 rows"),
    (dict(images=np.ones((4, 2, 2))), "4 images"),
    (dict(images=[b"MZ not an image"] * 9), "PNG, JPEG, GIF or WebP"),
    (dict(images=["nowhere.png"] * 9), "nowhere.png does not"),
    (dict(images=[3] * 9), "paths or bytes"),
    (dict(report="yes"), "report must be"),
    (dict(gain=3), "gain must be what quality.graph_gain"),
    (dict(X={"a": np.ones((9, 2))}), "dict of modes"),
    (dict(labels=[[1, 2]] * 9), "labels"),
    (dict(images=np.ones((9, 0, 0))), "one for each of the 9 rows"),
    (dict(images=[np.ones((2, 2))] * 8 + [np.ones((3, 3))]), "different shapes"),
    (
        dict(embedding=pd.DataFrame(np.eye(2), index=["a", "a"])),
        "'a' occurs twice",
    ),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=lambda v: str(v)[:40])
def test_mistakes_get_one_sentence(arguments, words):
    arguments = {"embedding": FITTED, **arguments}
    with pytest.raises((GraphfoldError, NotFittedError), match=words):
        view(**arguments)


def test_rows_in_another_order_are_refused(Z):
    one = pd.DataFrame(Z, index=[f"r{i}" for i in range(30)])
    with pytest.raises(GraphfoldError, match="same order"):
        view({"one": one, "other": one.iloc[::-1]})


def test_a_map_is_what_view_returns(Z):
    assert isinstance(view(Z), Map)
    assert "view" in dir(graphfold)
