import os

import pytest

from tests.site.pages import SITE


@pytest.fixture(scope="session")
def site():
    """The built documentation; needed where GRAPHFOLD_REQUIRE_SITE is set."""
    if not (SITE / "index.html").exists():
        if os.environ.get("GRAPHFOLD_REQUIRE_SITE"):
            pytest.fail("the documentation is not built: make docs")
        pytest.skip("the documentation is not built: make docs")
    return SITE
