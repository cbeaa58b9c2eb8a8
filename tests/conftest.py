"""What every test may ask for."""

import os

import numpy as np
import pytest

from graphfold import datasets
from tests.browser import chromium, chromium_path


def pytest_collection_modifyitems(items):
    """Slow tests run where they are required, as in .ci/run."""
    if os.environ.get("GRAPHFOLD_REQUIRE_SLOW"):
        return
    skipped = pytest.mark.skip(reason="takes long: set GRAPHFOLD_REQUIRE_SLOW")
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(skipped)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def points(rng):
    """60 points in 5 dimensions, far enough from the origin to notice centring."""
    return rng.standard_normal((60, 5)) + 1.0


def real(load):
    """The data set, if the data directory has it; .ci/run requires it."""
    try:
        return load()
    except FileNotFoundError as error:
        if os.environ.get("GRAPHFOLD_REQUIRE_DATA"):
            raise
        pytest.skip(f"needs a real data set: {error}")


@pytest.fixture(scope="session")
def cora():
    return real(datasets.load_cora)


@pytest.fixture(scope="session")
def usps():
    return real(datasets.load_usps)


@pytest.fixture(scope="session")
def mfeat():
    return real(datasets.load_mfeat)


@pytest.fixture(scope="session")
def browser():
    """One for all tests: a process can have no second Playwright."""
    required = os.environ.get("GRAPHFOLD_REQUIRE_BROWSER")
    if not required:
        pytest.importorskip("playwright")
        if chromium_path() is None:
            pytest.skip("needs Chromium: install it, or set GRAPHFOLD_CHROMIUM")
    with chromium() as opened:
        yield opened
