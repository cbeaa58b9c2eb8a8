"""The documentation as a reader opens it; ``make docs`` builds it."""

import pytest

from tests.site.pages import SITE, WIDTHS, Reader, dead_links, links_of, pages, served

pytestmark = pytest.mark.usefixtures("site")
FINE = {"wider": 0, "broken": [], "undrawn": [], "headings": 1, "wrong": []}


def test_no_link_is_dead():
    assert not list(dead_links(pages()))


def test_every_picture_has_words():
    nameless = {path.name: links_of(path).nameless for path in pages()}
    assert not {name: found for name, found in nameless.items() if found}


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
    """Pages of the reference are made by one template: some of them are enough."""
    names = [str(path.relative_to(SITE)) for path in pages()]
    reference = [name for name in names if name.startswith("generated/")]
    written = [name for name in names if not name.startswith("generated/")]
    seen = {name: reader.look(name) for name in written + reference[::8]}
    assert not {name: found for name, found in seen.items() if found != FINE}


def test_the_start_page_shows_its_picture_at_once(reader):
    assert reader.look("index.html") == FINE
    picture = reader.page.locator("img.hero:visible").bounding_box()
    window = reader.page.viewport_size
    assert picture["y"] + picture["height"] < window["height"]
    assert picture["width"] > 0.6 * min(window["width"], 1000)


def test_search_finds(reader):
    reader.look("search.html")
    reader.page.goto(f"{reader.address}/search.html?q=landmarks")
    reader.page.wait_for_selector("#search-results li a", timeout=20_000)
    found = reader.page.locator("#search-results li a").all_inner_texts()
    assert any("landmarks" in text.lower() for text in found)
    assert not reader.wrong
