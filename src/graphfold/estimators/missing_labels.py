"""Warnings of rows whose edges are unknown: no labels say which nodes they are."""

from __future__ import annotations

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import UnlabelledRowsWarning, warn

#: what makes rows and nodes known by name
_GIVE_LABELS = (
    "give the graph labels (Graph(..., nodes=)) and the rows node_ids= at fit and "
    "transform"
)


def warn_of_missing_labels(remedy: str = "node_ids= or edges=") -> None:
    """Rows without labels, where the fit was matched to its graph by label."""
    warn(
        "the rows have no labels although the fit had them, so they are placed by "
        f"their features alone: pass a DataFrame with labels as its index, {remedy}",
        UnlabelledRowsWarning,
    )


def warn_of_new_rows(
    new: Array, graphs: list[str], *, alone: bool, remedy: str = "pass edges="
) -> None:
    """Rows that are not rows of the fit, where graphs have no labels to find them by.

    ``alone`` says that no other graph knows their edges.
    """
    rows = np.flatnonzero(new)
    if not len(rows):
        return
    how = "by their features alone" if alone else "without it"
    warn(
        f"{len(rows)} of {len(new)} rows are not rows of the fit (rows "
        f"{check.some_of(rows)}), and no labels say which edges they have in "
        f"{_graph(graphs)}, so they are placed {how}: {remedy}, or {_GIVE_LABELS}",
        UnlabelledRowsWarning,
    )


def warn_of_repeated_rows(repeated: Array, graphs: list[str]) -> None:
    """Rows that equal several rows of the fit, which are several nodes of a graph."""
    rows = np.flatnonzero(repeated)
    if not len(rows):
        return
    warn(
        f"{len(rows)} of {len(repeated)} rows equal more than one row of the fit (rows "
        f"{check.some_of(rows)}), and no labels say which node of {_graph(graphs)} "
        f"they are, so they get the place of the first: {_GIVE_LABELS}",
        UnlabelledRowsWarning,
    )


def _graph(names: list[str]) -> str:
    """The graphs of a message."""
    if names == ["graph"]:
        return "the graph"
    return f"graph{'s' if len(names) > 1 else ''} {check.some_of(names)}"
