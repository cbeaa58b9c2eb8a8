"""Screenshots for the documentation: ``python -m tests.views.screenshots docs/images``.

They show what the tests of the browser test, in the same browser.
"""

import sys
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from graphfold import GraphKernelPCA, SemiSupervisedGraphKernelPCA, datasets, view
from tests.browser import PHONE, Page, chromium

WIDE = {"width": 1360, "height": 820}


def digits_map(folder):
    """One map: digits with images, a graph, neighbours and trust."""
    digits = datasets.load_digits()
    model = GraphKernelPCA(8, graph=digits.graph, graph_strength="auto-edges")
    model.fit(digits.data, node_ids=digits.labels)
    path = folder / "digits.html"
    view(
        model,
        path,
        labels={"digit": digits.target, "ink": digits.data.sum(axis=1)},
        text=[f"a handwritten {digit}" for digit in digits.target],
        images=digits.images,
        X=digits.data,
        layout="tsne",
        title="Digits",
    )
    return path


def compared_map(folder):
    """Three embeddings side by side; the last has links that it does not keep."""
    digits = datasets.load_digits()
    names = digits.labels
    rng = np.random.default_rng(0)
    fours, nines = (np.flatnonzero(digits.target == k) for k in (4, 9))
    pairs = [
        (names[a], names[b]) for a, b in rng.permutation(fours)[:30].reshape(-1, 2)
    ]
    wrong = list(zip(names[fours[:6]], names[nines[:6]], strict=True))
    semi = SemiSupervisedGraphKernelPCA(
        2, graph=digits.graph, graph_strength=3.0, must_link=pairs + wrong
    ).fit(digits.data, node_ids=names)
    ours = GraphKernelPCA(2, graph=digits.graph, graph_strength=3.0)
    ours.fit(digits.data, node_ids=names)
    path = folder / "compared.html"
    embeddings = {
        "PCA": PCA(2).fit_transform(digits.data),
        "GraphKernelPCA": ours,
        "SemiSupervisedGraphKernelPCA": semi,
    }
    view(
        embeddings,
        path,
        labels={"class": [f"digit {k}" for k in digits.target]},
        images=digits.images,
        X=digits.data,
        title="Digits, three ways",
    )
    return path


def take(browser, path, target, act=None, **settings):
    """Open a page, do something, and keep what is seen."""
    with closing(Page(browser, path, **{"viewport": WIDE, **settings})) as page:
        if act is not None:
            act(page)
        page.wait_for_timeout(700)  # moves and fades have ended
        page.screenshot(path=target)
        assert page.errors == [], page.errors
    return target


def choose_point(page):
    page.click_point(120)
    page.hover(120)


def show_edges(page):
    page.click("#edges-all")


def choose_class(page):
    page.click("#edges-none")
    page.fill("#search", "digit 4")
    page.press("#search", "Enter")
    page.wait_for_state("s.selection.length > 100")
    page.fill("#search", "")
    page.hover(4, view=1)


REPORT = {"fragment": "#report"}
PICTURES = {
    "map.png": (digits_map, choose_point, {}),
    "map-dark.png": (digits_map, show_edges, {"scheme": "dark"}),
    "map-compared.png": (compared_map, choose_class, {}),
    "map-phone.png": (digits_map, None, {"viewport": PHONE}),
    "report.png": (compared_map, None, REPORT),
    "report-dark.png": (digits_map, None, {"scheme": "dark", **REPORT}),
}


def take_all(browser, folder, names=tuple(PICTURES)):
    """These pictures, into a folder; their paths."""
    made = []
    with tempfile.TemporaryDirectory() as scratch:
        pages = {}
        for name in names:
            page_of, act, settings = PICTURES[name]
            if page_of not in pages:
                pages[page_of] = page_of(Path(scratch))
            target = Path(folder) / name
            made.append(take(browser, pages[page_of], target, act, **settings))
    return made


if __name__ == "__main__":
    with chromium() as opened:
        for picture in take_all(opened, *(sys.argv[1:] or ["docs/images"])):
            print(picture)
