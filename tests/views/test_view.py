"""What goes into a page, read back; and what is refused."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

import graphfold
from graphfold import GraphKernelPCA, SemiSupervisedGraphKernelPCA, view
from graphfold.errors import GraphfoldError
from graphfold.quality import graph_gain, neighbors_kept, trustworthiness
from graphfold.views import Map
from graphfold.views.links import MOST_EDGES, pack_edges
from graphfold.views.packing import Blocks
from graphfold.views.page import template
from tests.views.reading import Reading

ROOT = Path(__file__).parents[2]


@pytest.fixture
def Z(rng):
    return rng.standard_normal((30, 3))


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


def test_the_same_map_is_the_same_file(fitted, blobs):
    pages = [view(fitted, labels=blobs[1], X=blobs[0]).html for _ in range(2)]
    assert pages[0] == pages[1]


def test_it_is_written_whole_or_not_at_all(Z, tmp_path):
    page = view(Z, tmp_path / "map.html")
    assert (tmp_path / "map.html").read_text(encoding="utf-8") == page.html
    assert (
        repr(page)
        == f"Map('graphfold map', 30 points, {len(page.html) / 1e6:.1f} MB of html)"
    )
    with pytest.raises(OSError):
        page.save(tmp_path / "nowhere" / "map.html")
    assert [path.name for path in tmp_path.iterdir()] == ["map.html"]


def test_the_overhead_is_below_a_megabyte(Z):
    assert len(view(Z).html.encode()) < 1e6


def test_a_notebook_shows_a_frame_of_its_own(Z):
    shown = view(Z, title='"quoted"')._repr_html_()
    assert shown.startswith("<iframe") and 'sandbox="allow-scripts' in shown
    assert shown.count("<") == 2  # the page is an attribute: its signs are escaped


def test_kinds_of_columns(Z):
    n = len(Z)
    table = pd.DataFrame(
        {
            "class": ["a", "b", None] * 10,
            "number": np.linspace(0, 1, n),
            "few": np.arange(n) % 3,
            "flag": np.arange(n) < 5,
            "with nan": np.where(np.arange(n) < 10, np.nan, np.arange(n) % 2),
            "ordered": pd.Categorical(["low", "high", "low"] * 10),
        }
    )
    page = Reading(view(Z, labels=table).html)
    kinds = {column["name"]: column["kind"] for column in page["columns"]}
    assert kinds == {
        "class": "category",
        "number": "number",
        "few": "category",
        "flag": "category",
        "with nan": "category",
        "ordered": "category",
    }
    assert page.column("class")[1] == ["a", "b", None] * 10
    assert page.column("few")[0]["categories"] == ["0", "1", "2"]
    assert page.column("with nan")[1][:11] == [None] * 10 + ["0"]
    found, numbers = page.column("number")
    assert_allclose(numbers, table["number"], rtol=1e-6)
    assert (found["low"], found["high"]) == (0.0, 1.0)


def test_missing_numbers_stay_missing(Z):
    values = np.linspace(0, 1, 30) + 0.01
    values[3] = np.nan
    found, numbers = Reading(view(Z, labels=values).html).column("label")
    assert np.isnan(numbers[3]) and found["low"] == pytest.approx(0.01)


def test_columns_as_tables_have_them(Z):
    n = len(Z)
    days = pd.date_range("2020-01-01", periods=3).repeat(10)
    table = pd.DataFrame(
        {
            "string": pd.array(["a", None] * 15, dtype="string"),
            "boolean": pd.array([True, None] * 15, dtype="boolean"),
            "ordered": pd.Categorical(
                ["low", "high", "mid"] * 10, ["low", "mid", "high"], ordered=True
            ),
            "day": days,
            "numbered": [f"class {i % 3 + 9}" for i in range(n)],
            "year": np.arange(1903, 1903 + n) * 2,
        }
    )
    some = [0.5, None, 1.25] * 10
    infinite = np.where(np.arange(n) == 0, np.inf, np.arange(n) % 2)
    page = Reading(view(Z, labels={**table, "some": some, "inf": infinite}).html)
    assert page.column("string")[1] == ["a", None] * 15
    assert page.column("boolean")[1] == ["True", None] * 15
    assert page.column("ordered")[0]["categories"] == ["low", "mid", "high"]
    assert page.column("day")[1][::10] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    assert page.column("numbered")[0]["categories"] == [
        "class 9",
        "class 10",
        "class 11",
    ]
    assert page.column("inf")[1][:2] == [None, "1"]
    found, values = page.column("some")
    assert found["kind"] == "number" and values[0] == 0.5 and np.isnan(values[1])
    assert page.column("year")[1][0] == "3806"


@pytest.mark.parametrize("start", [1900, 2**24, 2**40])
def test_whole_numbers_stay_whole(start, rng):
    values = np.arange(60) + start
    page = Reading(view(rng.random((60, 2)), labels={"count": values}).html)
    found, numbers = page.column("count")
    assert found["whole"] and numbers.tolist() == values.tolist()


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1.0])
def test_ends_of_a_scale_are_numbers_of_the_page(Z, scale):
    values = np.linspace(0, 0.1, 30) * scale
    found, numbers = Reading(view(Z, labels=values).html).column("label")
    assert (found["low"], found["high"]) == (numbers.min(), numbers.max())
    assert_allclose(numbers, values, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_coordinates_of_any_size(Z, scale, shift):
    page = Reading(view((Z + shift) * scale).html)
    seen = page.block(page["views"][0]["axes"][0]["block"])
    z = Z[:, 0]
    assert_allclose(seen, 2 * (z - z.min()) / np.ptp(z) - 1, atol=1e-5)


def test_a_table_meets_rows_by_name(Z):
    names = [f"r{i}" for i in range(30)]
    table = pd.DataFrame(Z, index=names)
    labels = pd.Series([f"of {name}" for name in names], index=names)
    shown = Reading(view(table, labels=labels.iloc[::-1]).html).column("label")[1]
    assert shown == labels.tolist()
    # an index that is no name of a row says nothing
    other = pd.Series(labels.to_numpy(), index=np.arange(100, 130))
    assert Reading(view(table, labels=other).html).column("label")[1] == shown


def test_names_that_pairs_can_use():
    Z = np.eye(3)
    large = Reading(view(Z, ids=[2**60, 2**60 + 1, 3]).html)
    assert large.block(large["ids"]) == [str(2**60), str(2**60 + 1), 3]
    assert large["numbered"] and large["pairable"]
    dates = pd.DataFrame(Z, index=pd.date_range("2020-01-01", periods=3))
    assert not Reading(view(dates).html)["pairable"]
    assert Reading(view(Z, ids=["a", "b", "c"]).html)["pairable"]


def test_many_strings_are_text(rng):
    Z = rng.random((600, 2))
    page = Reading(view(Z, labels={"note": [f"note {i}" for i in range(600)]}).html)
    found, values = page.column("note")
    assert found["kind"] == "text" and values[599] == "note 599"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(st.none(), st.text(), st.integers(-5, 5)), min_size=1, max_size=12
    )
)
def test_any_label_comes_back(labels):
    Z = np.arange(2.0 * len(labels)).reshape(-1, 2)
    html = view(Z, labels={"mine": labels}, text=[str(v) for v in labels]).html
    page = Reading(html)
    shown = page.column("mine")[1]
    if all(isinstance(value, int) for value in labels):
        assert shown == [str(value) for value in labels]
    elif not all(value is None or isinstance(value, int) for value in labels):
        assert shown == [None if value is None else str(value) for value in labels]
    assert page.block(page["text"]) == [str(value) for value in labels]


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(), max_size=30))
def test_no_text_ends_an_element(text):
    hostile = "</script><!--" + text
    html = view(np.eye(3), title=hostile, labels={hostile: ["x", hostile, "y"]}).html
    page = Reading(html)
    own = template().count("</script") + 1 + len(page["blocks"])
    assert html.count("</script") == own
    assert page["title"] == hostile


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


def test_gain_stands_with_the_first_graph(fitted, blobs):
    X, _, names = blobs
    gain = graph_gain(X, fitted.graph, node_ids=names, n_copies=5)
    page = Reading(view({"PCA": X[:, :2], "ours": fitted}, gain=gain, X=X).html)
    assert [report["name"] for report in page["reports"] if "gain" in report] == [
        "ours"
    ]
    assert "gain" in Reading(view(X[:, :2], gain=gain).html)["reports"][0]


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e200])
def test_a_layout_of_points_that_are_one_or_odd(rng, scale):
    page = Reading(view(rng.random((30, 3)) * scale, layout="tsne").html)
    seen = page.block(page["views"][0]["layouts"][0]["x"])
    assert np.isfinite(seen).all() and bool(seen.any()) == (scale > 0)


def test_of_too_many_edges_the_heaviest_stay(monkeypatch):
    monkeypatch.setattr("graphfold.views.links.MOST_EDGES", 2)
    assert MOST_EDGES == 1_000_000
    weights = sp.coo_array(([1.0, 3.0, 2.0], ([0, 1, 2], [1, 2, 3])), (4, 4))
    blocks = Blocks()
    packed = pack_edges("g", (weights + weights.T).tocsr(), blocks)
    assert (packed["count"], packed["total"]) == (2, 3)
    page = Reading(view(np.eye(4), edges=(weights + weights.T).tocsr()).html)
    assert page.block(page["edges"][0]["sources"]).tolist() == [1, 2]


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


def test_tables_bring_names_and_axes(Z):
    table = pd.DataFrame(Z, columns=["x", "y", "z"], index=[f"r{i}" for i in range(30)])
    page = Reading(view(table).html)
    assert [axis["name"] for axis in page["views"][0]["axes"]] == ["x", "y", "z"]
    assert page.block(page["ids"])[:2] == ["r0", "r1"]


def test_one_component_gets_a_flat_second(Z):
    page = Reading(view(Z[:, :1]).html)
    assert len(page["views"][0]["axes"]) == 2
    assert not page.block(page["views"][0]["axes"][1]["block"]).any()


@pytest.mark.parametrize("layout", ["tsne", "umap"])
def test_layouts(fitted, layout):
    if layout == "umap":
        pytest.importorskip("umap")
    page = Reading(view(fitted, layout=layout).html)
    (found,) = page["views"][0]["layouts"]
    assert len(page.block(found["x"])) == 120
    assert found["name"].endswith("of 4 components")


def test_without_umap_the_remedy_is_named(fitted, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(GraphfoldError, match="pip install umap-learn"):
        view(fitted, layout="umap")


def test_images_of_odd_shapes():
    flat = Reading(view(np.eye(3), images=np.ones((3, 1, 200), dtype=np.uint8)).html)
    assert (flat["images"]["height"], flat["images"]["width"]) == (1, 50)
    listed = Reading(view(np.eye(3), images=[np.eye(2)] * 3).html)
    assert listed.block(listed["images"]["block"]).tolist() == [255, 0, 0, 255] * 3


def test_large_images_are_averaged_down():
    images = np.zeros((3, 200, 128), dtype=np.uint8)
    images[:, :100] = 80
    page = Reading(view(np.eye(3), images=images).html)
    found = page["images"]
    assert (found["height"], found["width"], found["channels"]) == (50, 32, 1)
    pixels = page.block(found["block"]).reshape(3, 50, 32)
    assert (pixels[:, :25] == 80).all() and not pixels[:, 25:].any()


def test_the_built_page_is_made_of_its_sources():
    web = ROOT / "web"
    if not web.is_dir():
        pytest.skip("the sources of the page are in the repository only")
    names = ["index.html", "package.json", "package-lock.json", "vite.config.js"]
    names += sorted(f"src/{path.name}" for path in (web / "src").iterdir())
    digest = hashlib.sha256(b"".join((web / name).read_bytes() for name in names))
    built = re.search(r'<meta name="sources" content="(\w+)">', template()).group(1)
    assert built == digest.hexdigest(), "web/ has changed: run make web"


def test_sources_name_no_registry():
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    assert not any("resolved" in part for part in lock["packages"].values())


def test_the_page_brings_its_licences():
    for name in ("regl-scatterplot", "earcut", "gl-matrix"):
        assert name in template().split("<head>")[0]


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
