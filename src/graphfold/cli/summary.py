"""A report as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def lines_of(report: dict[str, Any]) -> Iterator[str]:
    """The report."""
    yield str(report)
