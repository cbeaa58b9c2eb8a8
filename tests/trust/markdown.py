"""Tables in Markdown."""

from typing import Any


def table(heads: list[str], rows: list[list[Any]]) -> str:
    """Cells as Markdown."""
    lines = [heads, ["---"] * len(heads), *[[str(cell) for cell in r] for r in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
