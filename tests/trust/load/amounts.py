"""How much work: little in make test, more in .ci/run, all of it in make trust."""

import os

from tests.trust.faults.required import ALL

WHOLE = bool(os.environ.get("GRAPHFOLD_REQUIRE_LOAD"))


def amount(whole, required, everyday):
    """Of three amounts the one that is asked for."""
    if WHOLE:
        return whole
    return required if ALL else everyday
