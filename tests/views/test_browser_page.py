"""The page in a real browser: offline, safe, by keys and fingers, with many points."""

import itertools

import numpy as np
import pytest

from tests.browser import DESKTOP, PHONE, box_of, many

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


def test_a_notebook_shows_it(open_page, fitted, blobs, tmp_path):
    from graphfold import view

    shown = view(fitted, labels=blobs[1])._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><html data-ready=1>{shown}", encoding="utf-8")
    page = open_page(path)
    frame = page.frames[1]
    frame.wait_for_selector("html[data-ready]", timeout=30_000)
    assert frame.inner_text("#count") == "120 points"


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


def test_a_picture_can_be_saved(page):
    with page.expect_download() as found:
        page.click("#save-picture")
    assert found.value.suggested_filename == "Blobs.png"
    with open(found.value.path(), "rb") as stream:
        assert stream.read(4) == b"\x89PNG"


def test_100000_points_open(open_map):
    # how long it takes is in benchmarks/map.py
    Z, group = many(100_000)
    page = open_map(Z, labels=group)
    assert page.inner_text("#count") == "100,000 points"
    assert page.pixels()["filled"] > 10_000


@pytest.mark.slow
def test_a_million_points_open(open_map):
    Z, group = many(1_000_000)
    page = open_map(Z, labels=group)
    assert page.inner_text("#count") == "1,000,000 points"
    assert page.pixels()["filled"] > 50_000
