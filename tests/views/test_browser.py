"""The page in a real browser: what is drawn, asked, answered, and never executed."""

import itertools
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from graphfold import SemiSupervisedGraphKernelPCA
from graphfold.quality import neighbors_kept
from tests.views.browser import DESKTOP, PHONE

GROUPS = ["first", "second", "third"]


@pytest.fixture
def page(open_map, fitted, blobs):
    X, target, _ = blobs
    labels = {"group": np.array(GROUPS)[target], "size": X[:, 3]}
    text = [f"text of {i}" for i in range(120)]
    return open_map(fitted, labels=labels, text=text, X=X, title="Blobs")


def around(page, points, view=0, margin=14):
    """A box around points, in the window."""
    places = np.array([page.point(int(i), view) for i in points])
    (left, top), (right, bottom) = places.min(0) - margin, places.max(0) + margin
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def box_of(page, view=0):
    script = "view => { const b = document.querySelectorAll('canvas.points')[view]"
    script += ".getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }"
    return page.evaluate(script, view)


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


def test_trust_colours_the_points(page):
    page.select_option("#colour", label="trust")
    assert "in the embedding" in page.inner_text(".legend .about")
    page.hover(0)
    assert "trust" in page.inner_text("#card")


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


HOSTILE = "</script><script>window.hit = 1</script><img src=x onerror='window.hit=2'>"


def test_a_hostile_label_executes_nothing(open_map, blobs):
    X, _, _ = blobs
    hostile = [f"{HOSTILE}{i}" for i in range(120)]
    page = open_map(
        {HOSTILE: X[:, :3]},
        labels={HOSTILE: [HOSTILE] * 60 + ["good"] * 60, "text": hostile},
        text=hostile,
        ids=hostile,
        edges={HOSTILE: [(hostile[0], hostile[1])]},
        X=X,
        title=HOSTILE,
        must_link=[(hostile[2], hostile[3])],
    )
    page.hover(0)
    assert HOSTILE in page.inner_text("#card")
    page.click_point(0)
    page.click("#edges-all")
    page.fill("#search", "onerror")
    page.press("#search", "Enter")
    page.click("#must-link")
    page.settle()
    assert page.evaluate("window.hit") is None
    assert page.title() == HOSTILE
    assert page.inner_text("#title") == HOSTILE
    assert page.locator("img").count() == 0
    # and if something were in the page after all, its policy would not run it
    image = "'<img src=x onerror=\"window.hit=3\">'"
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', {image})")
    page.settle()
    assert page.evaluate("window.hit") is None
    assert any("Content Security Policy" in error for error in page.errors)
    page.errors.clear()


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


def test_numbers_are_shown_whole(open_map):
    page = open_map(many(100)[0], labels={"year": np.arange(1903, 2003)})
    page.hover(0)
    assert "1903" in page.inner_text("#card")


def test_who_is_looked_for_is_not_alone(open_map, blobs):
    page = open_map(blobs[0][:, :2])
    page.fill("#search", "7")
    page.press("#search", "Enter")
    page.wait_for_state("s.focus === 7")
    page.wait_for_timeout(700)
    left, top, right, bottom = box_of(page)
    seen = [page.point(i) for i in range(120)]
    assert sum(left < x < right and top < y < bottom for x, y in seen) > 3


def test_a_notebook_shows_it(open_page, fitted, blobs, tmp_path):
    from graphfold import view

    shown = view(fitted, labels=blobs[1])._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><html data-ready=1>{shown}", encoding="utf-8")
    page = open_page(path)
    frame = page.frames[1]
    frame.wait_for_selector("html[data-ready]", timeout=30_000)
    assert frame.inner_text("#count") == "120 points"


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


def test_light_and_dark(open_map, fitted, blobs):
    page = open_map(fitted, labels=blobs[1], browser_settings={"scheme": "dark"})
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    before = page.pixels()["sum"]
    page.click("#theme")
    page.wait_for_state("s.theme === 'light'")
    assert page.evaluate(background) != dark
    assert page.pixels()["sum"] != before


def test_everything_by_keys(page):
    page.focus("canvas.points")
    before = page.pixels()["sum"]
    for key in ("ArrowLeft", "+"):
        page.keyboard.press(key)
        after = page.pixels()["sum"]
        assert after != before
        before = after
    page.keyboard.press("n")
    page.wait_for_state("s.focus === 0")
    page.keyboard.press("n")
    page.wait_for_state("s.focus === 1")
    page.keyboard.press("p")
    page.wait_for_state("s.focus === 0")
    page.keyboard.press("e")
    assert page.state("edges") == "all"
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("Escape")
    page.wait_for_state("s.selection.length === 0")
    # every control is reached by the tabulator
    page.focus("#tab-map")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "document.activeElement.id || document.activeElement.className"
            )
        )
    assert {"theme", "points", "search", "colour", "edges-all", "lasso"} <= reached


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_is_cut_off(open_map, fitted, blobs, viewport):
    X, target, _ = blobs
    page = open_map(
        {"PCA of these": X[:, :2], "ours": fitted},
        labels=target,
        browser_settings={"viewport": viewport},
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    left, top, right, bottom = box_of(page)
    assert right - left > 300 and bottom - top > 300
    assert right <= viewport["width"]


def test_fingers_move_zoom_and_draw(open_map, fitted, blobs):
    page = open_map(fitted, browser_settings={"viewport": PHONE})
    hand = page.context.new_cdp_session(page.page)
    left, top, right, bottom = box_of(page)
    x, y = (left + right) / 2, (top + bottom) / 2

    def touch(kind, *places):
        points = [{"x": px, "y": py, "id": i} for i, (px, py) in enumerate(places)]
        hand.send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}
        )

    apart = np.subtract(page.point(3), page.point(100))
    touch("Start", (x - 40, y), (x + 40, y))
    for half in (50, 60, 80):
        touch("Move", (x - half, y), (x + half, y))
    touch("End")
    page.settle()
    # twice as far between the fingers, twice as far between the points
    now = np.subtract(page.point(3), page.point(100))
    np.testing.assert_allclose(now, 2 * apart, rtol=0.02)
    page.click("#reset")
    page.wait_for_timeout(500)
    page.click("#lasso")
    page.evaluate("scrollTo(0, 0)")
    corners = [(left + 3, top + 3), (right - 3, top + 3), (right - 3, bottom - 3)]
    corners += [(left + 3, bottom - 3), (left + 3, top + 20)]
    touch("Start", corners[0])
    for start, end in itertools.pairwise(corners):
        for share in (0.25, 0.5, 0.75, 1.0):
            touch("Move", tuple(np.add(start, share * np.subtract(end, start))))
            page.wait_for_timeout(20)
    touch("End")
    page.wait_for_state("s.selection.length > 100")


def test_the_report_is_on_the_page(open_map, fitted, blobs):
    X, target, _ = blobs
    page = open_map({"PCA": X[:, :2], "ours": fitted}, labels=target, X=X)
    page.click("#tab-report")
    text = page.inner_text("#report")
    for words in ("Side by side", "Eigenvalues", "Quality", "Parameters", "5-NN"):
        assert words in text
    assert page.locator("#report svg").count() >= 2
    assert page.locator("#map").is_hidden()
    page.focus("#tab-report")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#map").is_visible()
    page.wait_for_function("document.querySelector('canvas.points').width > 300")
    page.click_point(4)  # the map is where it was


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


def test_a_picture_can_be_saved(page):
    with page.expect_download() as found:
        page.click("#save-picture")
    assert found.value.suggested_filename == "Blobs.png"
    with open(found.value.path(), "rb") as stream:
        assert stream.read(4) == b"\x89PNG"


def test_ids_are_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("graphfold.store.set({ selection: [1, 2], focus: -1 })")
    page.click("#copy-ids")
    page.wait_for_timeout(100)
    assert page.evaluate("navigator.clipboard.readText()") == "row1\nrow2"


def many(n):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 12, n)
    Z = 4 * rng.standard_normal((12, 2))[group] + rng.standard_normal((n, 2))
    return Z.astype(np.float32), group


def test_100000_points_open_in_three_seconds(open_page, tmp_path):
    from graphfold import view

    Z, group = many(100_000)
    path = tmp_path / "many.html"
    view(Z, path, labels=group)
    # the bound is of the issue; other work on the machine may disturb a try, not five
    times = []
    while len(times) < 5 and min(times, default=9999) >= 3000:
        page = open_page(path)
        times.append(page.ready_after)
        assert page.pixels()["filled"] > 10_000
        page.context.close() if len(times) < 5 and times[-1] >= 3000 else None
    assert min(times) < 3000


@pytest.mark.slow
def test_a_million_points_open(open_map):
    Z, group = many(1_000_000)
    page = open_map(Z, labels=group)
    assert page.inner_text("#count") == "1,000,000 points"
    assert page.pixels()["filled"] > 50_000
