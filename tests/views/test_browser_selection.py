"""Finding, filtering and selecting in a real browser, and pairs for a fit."""

import json

import numpy as np

from graphfold import SemiSupervisedGraphKernelPCA
from tests.browser import around, box_of, many


def test_search_selects(page):
    page.press("body", "/")
    page.keyboard.type("row17")
    page.keyboard.press("Enter")
    page.wait_for_state("s.focus === 17")
    assert page.state("selection") == [17]
    page.fill("#search", "second")
    page.press("#search", "Enter")
    page.wait_for_state("s.selection.length === 40")
    assert page.state("selection") == list(range(40, 80))
    page.fill("#search", "nothing like it")
    page.wait_for_function("document.querySelector('#found').textContent === '0 found'")


def test_the_legend_filters(page):
    before = page.pixels()["filled"]
    page.click("text=second")
    page.wait_for_function(
        "document.querySelector('#count').textContent.startsWith('80 of')"
    )
    assert page.pixels()["filled"] < 0.8 * before
    assert page.get_attribute(".entry[title=second]", "aria-pressed") == "false"
    page.click("#show-all")
    page.wait_for_state("s.visible === null")
    page.click("[aria-label='only third']", force=True)
    page.wait_for_state("s.visible && s.visible.length === 40")
    assert page.state("visible") == list(range(80, 120))


def test_a_scale_filters_by_range(page, blobs):
    values = blobs[0][:, 3]
    page.select_option("#colour", label="size")
    page.evaluate(
        "const s = document.querySelector('input[aria-label=\"at least\"]');"
        "s.value = 500; s.dispatchEvent(new Event('change'))"
    )
    page.wait_for_state("s.visible !== null")
    middle = (values.min() + values.max()) / 2
    assert set(page.state("visible")) == set(np.flatnonzero(values >= middle).tolist())


def test_the_lasso_makes_pairs_that_a_fit_accepts(page, blobs, tmp_path):
    X, target, names = blobs
    page.lasso(around(page, np.flatnonzero(target == 0)))
    together = page.state("selection")
    assert len(together) >= 40
    page.click("#must-link")
    page.click("#set-aside")
    page.wait_for_state("s.selection.length === 0")
    page.lasso(around(page, [100, 101]))
    page.click("#cannot-link")
    pairs = json.loads(page.download("#save-pairs"))
    assert len(pairs["must_link"]) == len(together) - 1
    assert {a for a, _ in pairs["cannot_link"]} == {names[i] for i in together}
    model = SemiSupervisedGraphKernelPCA(2, **pairs).fit(X, node_ids=names)
    report = model.constraint_report_
    assert report.n_must_pairs == len(pairs["must_link"])
    assert report.n_unknown_pairs == 0
    table = page.download("#save-must").splitlines()
    assert table[0] == "source,target"
    assert [line.split(",") for line in table[1:]] == pairs["must_link"]
    page.click("#undo-pairs")
    assert "0 cannot-link" in page.inner_text("#pair-note")


def test_pairs_of_rows_without_names_are_positions(open_map, blobs):
    X, _, _ = blobs
    page = open_map(X[:, :2])
    page.evaluate("graphfold.store.set({ selection: [3, 5, 8], focus: -1 })")
    page.click("#cannot-link")
    pairs = json.loads(page.download("#save-pairs"))
    assert pairs == {"must_link": [], "cannot_link": [[3, 5], [3, 8], [5, 8]]}
    model = SemiSupervisedGraphKernelPCA(2, **pairs).fit(X)
    assert model.constraint_report_.n_cannot_pairs == 3
    assert page.download("#save-ids") == "id\n3\n5\n8\n"


def test_side_by_side_selection_is_linked(open_map, fitted, blobs):
    X, target, _ = blobs
    page = open_map({"PCA": X[:, :2], "ours": fitted}, labels=target, X=X)
    before = page.pixels(view=1)
    page.lasso(around(page, np.flatnonzero(target == 2), view=0))
    assert page.pixels(view=1)["sum"] != before["sum"]
    page.mouse.move(5, 5)
    page.press("body", "Escape")
    page.wait_for_state("s.selection.length === 0")
    assert page.pixels(view=1)["sum"] == before["sum"]
    page.hover(9, view=1)
    assert "row9" in page.inner_text("#card")
    assert page.state("hover.view") == 1


def test_a_filter_and_a_selection_agree(page):
    page.fill("#search", "second")
    page.press("#search", "Enter")
    page.wait_for_state("s.selection.length === 40")
    page.click_point(0)
    page.evaluate("graphfold.store.set({ selection: [0, 41, 42, 90], focus: -1 })")
    page.click(".entry[title=second]")
    page.wait_for_state("s.selection.length === 2")
    assert page.state("selection") == [0, 90]
    page.press("body", "n")  # walks over the selected
    page.press("body", "Escape")
    # a class that is hidden and asked for is shown
    page.press("#search", "Enter")
    page.wait_for_state("s.selection.length === 40 && s.visible === null")
    # and so is a hidden row
    page.click(".entry[title=second]")
    page.wait_for_state("s.selection.length === 0")
    page.fill("#search", "row45")
    page.press("#search", "Enter")
    page.wait_for_state("s.focus === 45 && s.visible === null")


def test_edges_of_hidden_points_are_hidden(page):
    page.click("#edges-all")
    before = page.pixels("lines")["filled"]
    page.click(".entry[title=second]")
    page.wait_for_state("s.visible !== null")
    page.settle()
    assert 0 < page.pixels("lines")["filled"] < 0.85 * before


def test_a_range_by_keys(page):
    page.select_option("#colour", label="size")
    page.focus("input[aria-label='at least']")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.input_value("input[aria-label='at least']") == "5"
    assert page.evaluate("document.activeElement.ariaLabel") == "at least"


def test_the_largest_stays_when_the_least_moves(open_map, blobs):
    page = open_map(blobs[0][:, :2], labels={"share": np.linspace(0, 0.1, 120)})
    page.focus("input[aria-label='at least']")
    page.keyboard.press("ArrowRight")
    page.wait_for_state("s.visible !== null")
    assert 119 in page.state("visible") and 0 not in page.state("visible")


def test_too_many_pairs_are_not_made(open_map):
    page = open_map(many(30_000)[0])
    page.evaluate("graphfold.store.set({ selection: [...Array(30000).keys()] })")
    page.click("#cannot-link")
    assert "449,985,000 pairs" in page.inner_text("#pair-note")


def test_large_numbers_come_back_as_names(open_map):
    names = [2**60 + i for i in range(12)]
    page = open_map(many(12)[0], ids=names)
    page.evaluate("graphfold.store.set({ selection: [1, 2], focus: -1 })")
    page.click("#must-link")
    assert json.loads(page.download("#save-pairs"))["must_link"] == [names[1:3]]


def test_who_is_looked_for_is_not_alone(open_map, blobs):
    page = open_map(blobs[0][:, :2])
    page.fill("#search", "7")
    page.press("#search", "Enter")
    page.wait_for_state("s.focus === 7")
    page.wait_for_timeout(700)
    left, top, right, bottom = box_of(page)
    seen = [page.point(i) for i in range(120)]
    assert sum(left < x < right and top < y < bottom for x, y in seen) > 3


def test_ids_are_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("graphfold.store.set({ selection: [1, 2], focus: -1 })")
    page.click("#copy-ids")
    page.wait_for_timeout(100)
    assert page.evaluate("navigator.clipboard.readText()") == "row1\nrow2"
