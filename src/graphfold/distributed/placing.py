"""New rows find their place where they lie: by features, edges, or being known.

What the rows of the fit have found (eigenvectors, degrees, what graphs say of them) is
moved to the new rows that need it, as in any other product; each block is then placed
by the same rule as rows in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array
from graphfold.distributed.blocks import Tall, pieces_by_place, routed
from graphfold.distributed.edges import (
    MOST_BUCKETS,
    buckets_of_labels,
    by_label,
    numbered,
    with_numbers,
)
from graphfold.distributed.features import blocks_of
from graphfold.distributed.grid import Grid, Strip, grid_of_edges
from graphfold.distributed.rows import resized
from graphfold.distributed.running import values
from graphfold.distributed.tasks import literal, task
from graphfold.equal_rows import row_projections
from graphfold.errors import LabelError
from graphfold.graphs.labels import LabelIndex
from graphfold.model.extend import Extension

#: features of a row that is known may differ by this much of their size
SAME_FEATURES = 1e-6


def numbers_of_labels(labels: Tall, fitted: Tall, *, distinct: bool = True) -> Tall:
    """For each label the number of the row of the fit that has it, or -1.

    Without ``distinct`` several rows may have it: see ``buckets_of_labels``.
    """
    n = min(MOST_BUCKETS, max(len(labels.blocks), len(fitted.blocks)))
    known = buckets_of_labels(fitted, n, distinct=distinct)
    starts = [int(start) for start in labels.starts[:-1]]
    labelled = [
        task(numbered, block, start, place=block.place)
        for block, start in zip(labels.blocks, starts, strict=True)
    ]
    pieces = routed(labelled, by_label, n, n)
    found = [task(_found, pieces[i], known[i]) for i in range(n)]
    back = routed(found, _by_block, len(labels.sizes), labels.starts)
    blocks = [
        task(_in_order, back[i], starts[i], size) for i, size in enumerate(labels.sizes)
    ]
    return Tall(tuple(blocks), labels.sizes)


def _found(
    pieces: list[tuple[Array, Array]], known: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Numbers of new rows, and those of the rows of the fit that they are."""
    full = [part for part in pieces if len(part[0])]
    if not full or not len(known[0]):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    asked = np.concatenate([part[0] for part in full])
    rows = np.concatenate([part[1] for part in full])
    place = LabelIndex(known[0]).find(asked)
    return rows[place >= 0], known[1][place[place >= 0]]


def _by_block(part: tuple[Array, Array], starts: Array) -> list[tuple[Array, ...]]:
    block = np.searchsorted(starts, part[0], side="right") - 1
    return pieces_by_place(block, len(starts) - 1, *part)


def _in_order(pieces: list[tuple[Array, Array]], start: int, size: int) -> Array:
    found = np.full(size, -1, dtype=np.int64)
    for rows, numbers in pieces:
        found[rows - start] = numbers
    return found


def numbers_of_fingerprints(asked: Tall, fitted: Tall) -> tuple[Tall, Tall]:
    """Row of the fit that has each fingerprint, or -1; and which occur repeatedly.

    The rule is that of ``equal_rows.matching_fingerprints``.
    """
    doubled = numbers_of_labels(asked, fitted, distinct=False)
    leading = _n_leading(asked, fitted)
    starts = [int(start) for start in asked.starts[:-1]]
    blocks = list(zip(doubled.blocks, starts, strict=True))
    known = [task(_first_or_own, block, start, leading) for block, start in blocks]
    repeated = [task(_beyond, block, start, leading) for block, start in blocks]
    return Tall(tuple(known), asked.sizes), Tall(tuple(repeated), asked.sizes)


def _n_leading(asked: Tall, fitted: Tall) -> int:
    """How many leading rows are those of the fit in their order."""
    shared = min(asked.n, fitted.n)
    sizes = np.diff(np.minimum(asked.starts, shared))
    one = resized(asked, (*sizes[sizes > 0].tolist(), asked.n - shared))
    other = resized(fitted, (*sizes[sizes > 0].tolist(), fitted.n - shared))
    pairs = list(zip(one.blocks, other.blocks, strict=True))[:-1]
    equal = values("rows of the fit", [task(_leading_equal, a, b) for a, b in pairs])
    leading = 0
    for count, size in zip(equal, one.sizes, strict=False):
        leading += count
        if count < size:
            break
    return leading


def _leading_equal(one: Array, other: Array) -> int:
    differs = one != other
    return int(np.argmax(differs)) if differs.any() else len(one)


def _first_or_own(doubled: Array, start: int, leading: int) -> Array:
    own = np.arange(start, start + len(doubled))
    return np.where(own < leading, own, doubled // 2)  # -1 stays -1


def _beyond(doubled: Array, start: int, leading: int) -> Array:
    own = np.arange(start, start + len(doubled))
    return (own >= leading) & (doubled >= 0) & (doubled % 2 == 1)


# -- places ---------------------------------------------------------------------------


def place_on_workers(
    extension: Extension,
    rows: Tall,
    edges: Mapping[str, Grid],
    known: Tall | None = None,
    marks: Tall | None = None,
) -> Tall:
    """Unscaled coordinates of new rows; those that are known get their own back.

    ``edges`` lead from new rows to rows of the fit, by graph; ``known`` are numbers of
    rows of the fit, or -1, and ``marks`` what tells whether their features are the
    same.
    """
    V = blocks_of(extension.V)
    lean = literal(lean_extension(extension))
    shares = {share.name: share for share in extension.graphs}
    tables = {
        name: V.map(_side_by_side, blocks_of(share.RV), blocks_of(share.degrees))
        for name, share in shares.items()
    }
    placed = []
    for i, block in enumerate(rows.blocks):
        near = {
            name: (grid.strips[i], grid.gathered(i, tables[name]))
            for name, grid in edges.items()
            if name in tables
        }
        placed.append(task(_placed, block, near, lean))
    found = Tall(tuple(placed), rows.sizes)
    if known is None:
        return found
    known = known.held("rows of the fit")
    back = _rows_back(known, V)
    if marks is not None:
        rows = rows.map(_checked, known, _rows_back(known, marks))
    return found.map(_with_own, known, back, rows)


def lean_extension(extension: Extension) -> Extension:
    """The extension as far as it needs no row of the fit."""
    d = extension.V.shape[1]
    nothing = np.empty((0, d), dtype=extension.V.dtype)
    bare = [
        replace(share, RV=nothing, degrees=np.empty(0)) for share in extension.graphs
    ]
    return replace(extension, V=nothing, graphs=bare, n_fit=extension.V.shape[0])


def _side_by_side(V: Array, RV: Array, degrees: Array) -> Array:
    return np.hstack([V, RV, degrees[:, None]])


def _placed(
    X: Any, near: dict[str, tuple[Strip, dict[int, Array]]], lean: Extension
) -> Array:
    """A block of new rows by the rule for rows in memory, with the rows they need.

    Each graph has met rows of its own, so they are put below each other, and its edges
    lead to its own part of them.
    """
    tables, edges, start = [], {}, 0
    lengths = {name: strip.entries.shape[1] for name, (strip, _) in near.items()}
    total = sum(lengths.values())
    for name, (strip, gathered) in near.items():
        tables += strip.met(gathered)
        before = sp.csr_array((strip.n_rows, start))
        after = sp.csr_array((strip.n_rows, total - start - lengths[name]))
        edges[name] = sp.csr_array(
            sp.hstack([before, strip.entries, after], format="csr")
        )
        start += lengths[name]
    d = lean.V.shape[1]
    table = np.concatenate([np.empty((0, 2 * d + 1)), *tables])
    V, RV, degrees = table[:, :d], table[:, d : 2 * d], table[:, -1]
    graphs = [replace(share, RV=RV, degrees=degrees) for share in lean.graphs]
    local = replace(lean, V=V.astype(lean.V.dtype), graphs=graphs)
    return local.place(X, edges)


def _rows_back(known: Tall, table: Tall) -> Tall:
    """Rows of a table by their numbers; zeros where there is none."""
    starts = [int(start) for start in known.starts[:-1]]
    parts = [
        task(_selection, block, start)
        for block, start in zip(known.blocks, starts, strict=True)
    ]
    grid = grid_of_edges(parts, known.sizes, table.sizes)
    tasks = grid.product_tasks(_selected, table)
    return Tall(tuple(tasks), known.sizes)


def _selection(known: Array, start: int) -> tuple[Array, Array, Array]:
    rows = np.flatnonzero(known >= 0)
    return rows + start, known[rows], np.ones(len(rows))


def _selected(strip: Strip, gathered: dict[int, Array]) -> Array:
    width = next(iter(gathered.values())).shape[1] if gathered else 0
    return strip.product(gathered, width)


def _checked(X: Any, known: Array, marks: Array) -> Any:
    """X, whose rows of the fit have to have the features that they had."""
    rows = np.flatnonzero(known >= 0)
    if len(rows) == 0:
        return X
    gap = np.abs(row_projections(X[rows]) - marks[rows]).max(axis=1)
    largest = abs(X[rows]).max(axis=1)
    largest = largest.toarray().ravel() if hasattr(largest, "toarray") else largest
    size = np.asarray(largest, dtype=np.float64) * np.sqrt(X.shape[1])
    wrong = rows[gap > SAME_FEATURES * size]
    if len(wrong):
        raise LabelError(
            f"{len(wrong)} rows have the label of a row of the fit but other features "
            f"(the first is row {wrong[0]} of its chunk); give new rows new labels, or "
            "refit"
        )
    return X


def _with_own(placed: Array, known: Array, own: Array, X: Any) -> Array:
    found = placed.copy()
    rows = known >= 0
    if rows.any():
        found[rows] = own[rows]
    return found


def scaled_columns(block: Array, scales: Array, dtype: Any) -> Array:
    """Coordinates times the size of each component."""
    return np.asarray(block * scales, dtype=dtype)


def edges_from_labels(parts: Sequence[Any], new: Tall, fitted: Tall) -> list[Any]:
    """Edges between labels, read both ways, as edges from new rows to those fitted."""
    both = [task(_both_ways, part) for part in parts]
    tails = with_numbers(both, new, ends=(0,))
    return with_numbers(tails, fitted, ends=(1,))


def _both_ways(edges: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    tails, heads, weights = edges
    return (
        np.concatenate([tails, heads]),
        np.concatenate([heads, tails]),
        np.concatenate([weights, weights]),
    )
