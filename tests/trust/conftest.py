"""The ledger is written when the tests of a process have ended."""

import os

from tests.trust import ledger


def pytest_sessionfinish():
    folder = os.environ.get("GRAPHFOLD_LEDGER")
    if folder:
        ledger.write(folder)
