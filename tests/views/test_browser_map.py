"""The map in a real browser: what is drawn, and what a point tells of itself."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graphfold import SemiSupervisedGraphKernelPCA
from graphfold.quality import neighbors_kept
from tests.browser import box_of, many


def test_points_are_drawn_and_change_colour(page):
    assert page.title() == "Blobs"
    before = page.pixels()
    assert before["filled"] > 120
    page.select_option("#colour", label="size")
    after = page.pixels()
    assert after["sum"] != before["sum"]
    # colours change, not what is covered
    assert after["filled"] == pytest.approx(before["filled"], rel=0.02)


def test_hover_shows_the_card(page):
    page.hover(7)
    card = page.inner_text("#card")
    assert "row7" in card and "text of 7" in card and "first" in card
    left, _, _, bottom = box_of(page)
    page.mouse.move(left + 1, bottom - 1)
    page.wait_for_selector("#card", state="hidden")


def test_edges_appear(page):
    assert page.pixels("lines")["filled"] == 0
    page.click("#edges-all")
    every = page.pixels("lines")["filled"]
    assert every > 500
    page.click("#edges-selected")
    assert page.pixels("lines")["filled"] == 0
    page.click_point(3)
    assert 0 < page.pixels("lines")["filled"] < every


def test_a_clicked_point_shows_its_neighbours_and_links(page, blobs, fitted):
    X, _, names = blobs
    page.click_point(5)
    truth = neighbors_kept(X, fitted.embedding_, 10)
    listed = page.locator("#neighbours li").all_inner_texts()
    marks = ["✓ kept" if kept else "✗ lost" for kept in truth.kept[5]]
    expected = [f"{m} {names[j]}" for m, j in zip(marks, truth.indices[5], strict=True)]
    assert [" ".join(item.split()) for item in listed] == expected
    linked = set(page.locator("#linked li").all_inner_texts())
    neighbours = fitted.graph_.to_scipy()[[5]].indices
    assert linked == {names[j] for j in neighbours}
    page.locator("#neighbours button").first.click()
    page.wait_for_state(f"s.focus === {truth.indices[5, 0]}")


def test_trust_colours_the_points(page):
    page.select_option("#colour", label="trust")
    assert "in the embedding" in page.inner_text(".legend .about")
    page.hover(0)
    assert "trust" in page.inner_text("#card")


def test_violated_constraints_are_red(open_map, blobs):
    X, target, names = blobs
    model = SemiSupervisedGraphKernelPCA(
        2, must_link=[("row0", "row50"), ("row1", "row90")], must_link_strength=0.0
    ).fit(X, node_ids=names)
    assert len(model.constraint_report_.violated_must) == 2
    page = open_map(model, labels=target)
    assert page.pixels("lines")["red"] > 50
    page.click("#show-violated")
    assert page.pixels("lines")["filled"] == 0


def test_rows_out_of_their_group_have_a_red_rim(open_map, blobs):
    X, target, _ = blobs
    y = target.copy()
    y[[0, 50, 90]] = [1, 2, 0]  # labels that the rows do not bear out
    model = SemiSupervisedGraphKernelPCA(
        2, must_link_strength=0.0, cannot_link_strength=0.0
    ).fit(X, y)
    strays = model.constraint_report_.misplaced
    assert set(strays) >= {0, 50, 90}
    page = open_map(model)
    # a disc for each, not a pixel more: some may overlap
    red = page.pixels("lines")["red"]
    assert 0 < red <= len(strays) * np.pi * 9**2
    assert f"({len(strays)})" in page.inner_text("#side")


def test_components_can_be_picked(page):
    before = page.pixels()["sum"]
    page.select_option("select[aria-label^='Axis x']", "2")
    page.wait_for_timeout(700)  # the points travel
    assert page.pixels()["sum"] != before


def place_on_axis(page, view, axis, points):
    """Where points should stand, by the numbers of a component."""
    return np.argsort([page.point(i, view)[axis] for i in points])


def test_changes_in_a_row_are_all_drawn(page, fitted):
    page.select_option("select[aria-label^='Axis x']", "2")
    page.select_option("select[aria-label^='Axis y']", "3")
    page.select_option("#colour", label="size")
    for _ in range(3):
        page.press("body", "t")
    page.wait_for_timeout(1500)  # two journeys of the points
    some = np.arange(0, 120, 7)
    Z = fitted.embedding_[some]
    assert_array_equal(place_on_axis(page, 0, 0, some.tolist()), np.argsort(Z[:, 2]))
    assert_array_equal(place_on_axis(page, 0, 1, some.tolist()), np.argsort(-Z[:, 3]))


def test_numbers_are_shown_whole(open_map):
    page = open_map(many(100)[0], labels={"year": np.arange(1903, 2003)})
    page.hover(0)
    assert "1903" in page.inner_text("#card")


def test_a_layout_is_shown_first(open_map, fitted, blobs):
    _, target, _ = blobs
    page = open_map(fitted, labels=target, layout="tsne")
    picture = page.locator("select[aria-label^='Picture']")
    assert picture.locator("option").all_inner_texts()[0] == "t-SNE of 4 components"
    before = page.pixels()["sum"]
    picture.select_option("axes")
    page.wait_for_timeout(700)
    assert page.pixels()["sum"] != before
    assert page.locator("select[aria-label^='Axis x']").count() == 1


def test_images_on_the_card(open_map, blobs):
    X, _, _ = blobs
    pixels = np.zeros((120, 4, 4, 3), dtype=np.uint8)
    pixels[:, :, :, 0] = 200
    page = open_map(X[:, :2], images=pixels)
    page.hover(3)
    colour = "document.querySelector('#card canvas').getContext('2d')"
    colour = f"Array.from({colour}.getImageData(1, 1, 1, 1).data)"
    assert page.evaluate(colour) == [200, 0, 0, 255]


def test_image_files_on_the_card(open_map, blobs, tmp_path):
    figure = pytest.importorskip("matplotlib.figure").Figure(
        figsize=(0.4, 0.2), dpi=100
    )
    figure.savefig(tmp_path / "small.png")
    X, _, _ = blobs
    images = [tmp_path / "small.png"] * 119 + [None]
    page = open_map(X[:, :2], images=images)
    page.hover(3)
    page.wait_for_function("document.querySelector('#card img')?.naturalWidth === 40")
