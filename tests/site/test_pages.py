"""The documentation as a reader opens it; ``make docs`` builds it."""

import pytest

from tests.site.pages import SITE, WIDTHS, Reader, dead_links, links_of, pages, served

pytestmark = pytest.mark.usefixtures("site")
FINE = {
    "cut": [],
    "wider": 0,
    "broken": [],
    "undrawn": [],
    "headings": 1,
    "wrong": [],
}


def test_no_link_is_dead():
    assert not list(dead_links(pages()))


def test_every_picture_has_words():
    nameless = {path.name: links_of(path).nameless for path in pages()}
    assert not {name: found for name, found in nameless.items() if found}


def test_every_reference_is_resolved():
    left = {path.name: links_of(path).unresolved for path in pages()}
    assert not {name: found for name, found in left.items() if found}


@pytest.fixture(scope="module")
def address(site):
    with served(site) as found:
        yield found


@pytest.fixture(params=WIDTHS)
def reader(request, browser, address):
    opened = Reader(browser, address, request.param)
    yield opened
    opened.context.close()


def test_pages_are_drawn_and_silent(reader):
    """All on a phone, where room is short; some of the reference at a desk."""
    names = [str(path.relative_to(SITE)) for path in pages()]
    reference = [name for name in names if name.startswith("generated/")]
    written = [name for name in names if not name.startswith("generated/")]
    on_phone = reader.page.viewport_size == WIDTHS["phone"]
    some = reference if on_phone else reference[::8]
    seen = {name: reader.look(name) for name in written + some}
    assert not {name: found for name, found in seen.items() if found != FINE}


def test_the_start_page_shows_its_picture_at_once(reader):
    assert reader.look("index.html") == FINE
    picture = reader.page.locator("img.hero:visible").bounding_box()
    window = reader.page.viewport_size
    assert picture["y"] + picture["height"] < window["height"]
    assert picture["width"] > 0.6 * min(window["width"], 1000)


def test_the_first_screen_says_what_why_and_how(browser, address):
    """What it is, a picture, whom it is for, how to install it and code that runs."""
    window = {"width": 1440, "height": 900}
    page = browser.new_page(viewport=window)
    page.goto(f"{address}/index.html", wait_until="load")
    for what in (
        ">> text=Dimensionality reduction that listens to graphs",
        "img.hero:visible",
        ">> text=For anyone who has high-dimensional samples",
        "pre:has-text('pip install graphfold')",
        "pre:has-text('fit_transform')",
    ):
        box = page.locator(f".bd-article {what}").first.bounding_box()
        assert box["y"] + box["height"] < window["height"], what
    for code in page.locator(".first-screen pre").all():
        assert code.evaluate("block => block.scrollWidth <= block.clientWidth")
    page.close()


@pytest.mark.parametrize("name", ["api", "which", "warnings"])
def test_tables_of_words_need_no_scrolling(reader, name):
    reader.look(f"{name}.html")
    tables = reader.page.locator(".bd-article table").all()
    wide = "table => table.scrollWidth > table.clientWidth + 1"
    assert tables
    assert not [table for table in tables if table.evaluate(wide)]


def test_names_in_prose_lead_to_the_reference():
    targets = links_of(SITE / "warnings.html").targets
    assert "api.html#graphfold.errors.DriftWarning" in targets
    assert (
        "generated/graphfold.quality.graph_gain.html#graphfold.quality.graph_gain"
        in targets
    )


def test_search_finds(reader):
    reader.look("search.html")
    reader.page.goto(f"{reader.address}/search.html?q=landmarks")
    reader.page.wait_for_selector("#search-results li a", timeout=20_000)
    found = reader.page.locator("#search-results li a").all_inner_texts()
    assert any("landmarks" in text.lower() for text in found)
    assert not reader.wrong
