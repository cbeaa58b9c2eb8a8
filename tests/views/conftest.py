"""Maps to open in the browser."""

from contextlib import closing

import numpy as np
import pytest

from graphfold import Graph, GraphKernelPCA, NeighborGraph, view
from tests.browser import Page


@pytest.fixture
def open_page(browser):
    """Open a file; at the end the page must have said nothing and asked for nothing."""
    opened = []

    def open_it(path, **settings):
        opened.append(Page(browser, path, **settings))
        return opened[-1]

    yield open_it
    for page in opened:
        with closing(page):
            assert page.errors == []
            outside = [
                url
                for url in page.requests
                if not url.startswith(("file:", "blob:", "data:"))
            ]
            assert outside == []


@pytest.fixture
def open_map(open_page, tmp_path):
    """Make a map as ``view`` does, and open it."""

    def open_it(*arguments, browser_settings=None, **settings):
        path = tmp_path / "map.html"
        view(*arguments, path, **settings)
        return open_page(path, **(browser_settings or {}))

    return open_it


@pytest.fixture(scope="session")
def blobs():
    """Three groups of 40 points in five dimensions, with names and a graph."""
    rng = np.random.default_rng(0)
    target = np.repeat([0, 1, 2], 40)
    X = rng.standard_normal((120, 5)) + 6 * np.eye(3, 5)[target]
    names = [f"row{i}" for i in range(120)]
    return X, target, names


@pytest.fixture(scope="session")
def fitted(blobs):
    X, _, names = blobs
    tails, heads = NeighborGraph(5).build(X).to_scipy().nonzero()
    bridges = np.array([[0, 40], [40, 80]])  # one part: no warning
    edges = np.vstack([np.column_stack([tails, heads]), bridges])
    graph = Graph.from_edges(*np.array(names)[edges].T, nodes=names)
    model = GraphKernelPCA(4, graph={"near": graph})
    return model.fit(X, node_ids=names)


@pytest.fixture
def page(open_map, fitted, blobs):
    """A map of the blobs with everything on it."""
    X, target, _ = blobs
    labels = {"group": np.array(["first", "second", "third"])[target], "size": X[:, 3]}
    text = [f"text of {i}" for i in range(120)]
    return open_map(fitted, labels=labels, text=text, X=X, title="Blobs")


@pytest.fixture
def Z(rng):
    """An embedding of 30 rows in three dimensions."""
    return rng.standard_normal((30, 3))
