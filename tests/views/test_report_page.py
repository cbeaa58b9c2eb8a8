"""The report in a browser: figures are drawn, and what is text stays text."""

import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from graphfold import Graph, GraphKernelPCA, SemiSupervisedGraphKernelPCA
from graphfold.quality import graph_gain
from graphfold.views.report import report_of

SOURCES = Path(__file__).parents[2] / "web" / "src"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><link rel="stylesheet" href="report.css">
<style>:root { --bg: #fff; --panel: #fff; --text: #111; --muted: #666; --line: #ddd;
--accent: #c40; --bad: #c22; --good: #2a2; --warn: #b60; --c0: #46d; --c1: #eb1;
--c2: #3a5; --c3: #a6f; }</style></head><body><div id="report"></div></body></html>"""
HOSTILE = '<img src=x onerror="window.stolen=1"><script>window.stolen=1</script>'


def answer(route):
    name = route.request.url.rpartition("/")[2]
    kinds = {"js": "text/javascript", "css": "text/css"}
    if name in ("report.js", "charts.js", "report.css"):
        body = (SOURCES / name).read_text()
        route.fulfill(body=body, content_type=kinds[name.rpartition(".")[2]])
    else:
        route.fulfill(body=PAGE, content_type="text/html")


@pytest.fixture
def show(browser):
    """Render reports at a width; no error may reach the console."""
    contexts, trouble = [], []

    def shown(reports, width=1200):
        context = browser.new_context(viewport={"width": width, "height": 800})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.route("**/*", answer)
        page.goto("http://report.test/")
        page.evaluate(
            """async (reports) => {
              const { renderReport } = await import("/report.js");
              renderReport(document.getElementById("report"), reports);
            }""",
            reports,
        )
        return page

    yield shown
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.fixture(scope="module")
def reports():
    """Two real fits with all that a report can show, under hostile names."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    names = [f"{HOSTILE} {i}" for i in range(60)]
    X = pd.DataFrame(rng.standard_normal((60, 5)) + 3 * np.eye(5)[y], index=names)
    ring = Graph([(names[i], names[(i + 3) % 60]) for i in range(60)])
    auto = GraphKernelPCA(4, graph=ring, graph_strength="auto").fit(X)
    asked = SemiSupervisedGraphKernelPCA(
        3,
        kernel={HOSTILE: "linear", "rbf": "rbf"},
        must_link=[(names[0], names[1])],
        must_link_strength=1e-9,
        cannot_link=[(names[0], names[4])],
    ).fit(X)
    found = [
        report_of(auto, X=X, labels=y, gain=graph_gain(X, ring, n_copies=19)),
        report_of(asked, X=X, labels=y),
    ]
    found[0]["warnings"] = [{"category": "DriftWarning", "message": HOSTILE}]
    found[1]["name"] = HOSTILE
    return found


def titles(page):
    return page.locator(".gf-card :is(h2, h3)").all_inner_texts()


def test_figures_come_first_and_parameters_last(show, reports):
    page = show(reports[:1])
    found = titles(page)
    assert found[:3] == ["Eigenvalues", "Explained variance", "Strength of the graph"]
    assert found[-1] == "Parameters"
    assert {"Does the graph help?", "Quality", "DriftWarning"} <= set(found)
    assert page.locator(".gf-bar.gf-c0").count() >= 4
    assert page.locator("svg:not([aria-label])").count() == 0
    assert page.locator("svg[role=img]").count() == 5
    assert page.locator(".gf-parameters th[scope=row]").first.inner_text() in (
        "graph",
        "graph_strength",
        "n_components",
    )
    row = page.locator(".gf-quality tr", has_text="trustworthiness")
    value = reports[0]["quality"][0]["value"]
    assert row.locator("td").inner_text().strip() == f"{value:.3f}"


def test_violated_pairs_are_listed(show, reports):
    page = show(reports[1:])
    assert "Constraints" in titles(page)
    assert page.locator(".gf-split .gf-bad").count() >= 1
    listed = page.locator("details table").first.inner_text()
    assert "must-link" in listed
    assert HOSTILE in listed


def test_names_and_messages_stay_text(show, reports):
    page = show(reports)
    page.wait_for_timeout(200)
    assert page.evaluate("window.stolen") is None
    assert page.locator("#report :is(img, script)").count() == 0
    assert HOSTILE in page.locator("#report").inner_text()


@pytest.mark.parametrize("width", [380, 800, 1400])
def test_the_page_is_never_wider_than_the_window(show, reports, width):
    page = show(reports, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    overflowing = page.evaluate(
        """() => [...document.querySelectorAll(".gf-card")].filter((card) =>
             card.scrollWidth > card.clientWidth + 1
             && getComputedStyle(card).overflowX !== "auto").length"""
    )
    assert overflowing == 0


def test_several_models_are_compared(show, reports):
    page = show(reports)
    assert page.locator(".gf-report").count() == 3
    best = page.locator(".gf-compare tr", has_text="trustworthiness").locator(
        ".gf-best"
    )
    expected = max(report["quality"][0]["value"] for report in reports)
    assert best.inner_text().strip() == f"{expected:.3f}"


def test_an_empty_report_is_no_trouble(show):
    bare = {
        "name": "bare",
        "shape": {"rows": 3, "columns": None, "components": 2},
        "warnings": [],
    }
    page = show([bare])
    assert page.locator(".gf-card").count() == 0
    assert "3 rows" in page.locator("#report").inner_text()


def spectrum_of(n, groups):
    return {
        "name": "axes",
        "shape": {"rows": 60, "columns": None, "components": n},
        "warnings": [],
        "spectrum": {
            "kind": "eigenvalues",
            "values": [1 - 0.01 * i for i in range(n)],
            "turned": False,
            "interchangeable": groups,
        },
    }


def brackets(page):
    """Ends of the horizontal lines below groups of axes, from left to right."""
    return page.evaluate(
        """() => [...document.querySelectorAll("line.gf-mix")]
             .map((l) => ["x1", "x2", "y1", "y2"].map((k) => Number(l.getAttribute(k))))
             .filter(([, , y1, y2]) => y1 === y2).map(([x1, x2]) => [x1, x2])"""
    )


def test_axes_beyond_the_last_bar_are_told_and_not_drawn(show):
    groups = [[2 * i, 2 * i + 1] for i in range(19)] + [[38, 39, 40], [44, 45]]
    page = show([spectrum_of(50, [*groups, [48, 49, 50]])])
    assert page.locator(".gf-bar.gf-c0").count() == 40
    assert "NaN" not in page.content()
    found = brackets(page)
    assert len(found) == 20
    stroke = 2
    for (_, to), (start, _) in pairwise(found):
        assert start - to >= stroke + 1
    assert all(start < to <= 320 for start, to in found)
    first, mixing = page.locator(".gf-caption").all_inner_texts()
    assert "first 40 of 50 axes" in first
    assert mixing.startswith("Axes 1-2, 3-4, 5-6, ")
    assert " 39-41, 45-46 and 49-50 with one that was left out may mix" in mixing


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([[0, 1]], "Axes 1-2 may mix"),
        ([[8, 9]], "Axis 9 and one that was left out may mix"),
        ([[7, 8, 9]], "Axes 8-9 and one that was left out may mix"),
        ([[0, 1], [2, 3], [6, 7, 8]], "Axes 1-2, 3-4 and 7-9 may mix"),
    ],
)
def test_one_caption_names_all_axes_that_may_mix(show, groups, words):
    page = show([spectrum_of(9, groups)])
    (caption,) = page.locator(".gf-caption").all_inner_texts()
    assert caption.startswith(words)
    assert len(brackets(page)) == len(groups)


def test_names_of_the_library_in_the_sources_exist():
    source = (SOURCES / "report.js").read_text()
    names = re.findall(r"graphfold(?:\.\w+)+", source)
    assert names
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute)
