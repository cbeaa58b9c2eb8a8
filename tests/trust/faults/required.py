"""A few faults in ``make test``; all where ``GRAPHFOLD_REQUIRE_FAULTS`` is set."""

import os

import pytest

ALL = bool(os.environ.get("GRAPHFOLD_REQUIRE_FAULTS"))


def required(why_not):
    """Skip what cannot be done here; where faults are required, fail."""
    if why_not is None:
        return
    if ALL:
        pytest.fail(f"GRAPHFOLD_REQUIRE_FAULTS is set, but {why_not}")
    pytest.skip(why_not)
