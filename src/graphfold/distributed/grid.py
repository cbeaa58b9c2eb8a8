"""Sparse matrices in blocks of rows: products in which only needed rows are moved.

Strip i holds the entries of its rows over those rows of a table that they meet, and
which these are, block by block (``needed``). A product
with a table in blocks moves just these rows, from where they lie to where they are
needed; nobody holds a column of the matrix or of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphfold.arrays import Array, row_blocks
from graphfold.distributed.blocks import Tall, pieces_by_place, routed
from graphfold.distributed.memory import reusing_memory
from graphfold.distributed.running import held, values
from graphfold.distributed.tasks import in_their_places, task
from graphfold.errors import GraphError, LabelError
from graphfold.graphs.laplacian import inverse_sqrt
from graphfold.graphs.sources import (
    count_of_differing,
    merge_edges,
    warn_of_duplicates,
)

#: rows whose products are made at a time, in double precision
STRIP_ROWS = 2048
#: share of a block that is needed from which on it is moved whole
WHOLE = 0.2
#: rows of a table that a strip needs, by block; or all of them
Gathered = dict[int, Any]
#: one edge, whoever lists it: the largest weight, their sum, or the least of both ends
RULES = ("once", "sum", "mutual")


@dataclass(frozen=True)
class Strip:
    """Some rows of a sparse matrix, over the rows of a table that they meet.

    ``needed[j]`` are the rows of block j that are met, or None; the columns of
    ``entries`` are these, block after block.
    """

    needed: tuple[Array | None, ...]
    entries: Any
    #: edges whose weights differ where they are listed, where that is to be told
    n_differing: int = 0

    @property
    def n_rows(self) -> int:
        """Rows of the strip."""
        return int(self.entries.shape[0])

    def counts(self) -> Array:
        """How many rows of each block are needed."""
        return np.array([0 if rows is None else len(rows) for rows in self.needed])

    def differing(self) -> int:
        """How many edges are listed with different weights."""
        return self.n_differing

    def _needed(self, j: int) -> Array:
        rows = self.needed[j]
        assert rows is not None
        return rows

    def row_sums(self) -> Array:
        """Sum of the entries of each row."""
        return np.asarray(self.entries.sum(axis=1)).ravel()

    def met(self, gathered: Gathered) -> list[Any]:
        """The rows that are met, block by block, of blocks that may be whole."""
        found = []
        for j in sorted(gathered):
            table, needed = gathered[j], self._needed(j)
            found.append(table[needed] if len(table) > len(needed) else table)
        return found

    def products(self, gathered: Gathered, size: int) -> Iterator[tuple[slice, Array]]:
        """The product in double precision, so many rows at a time.

        Rows that are met are put into one place, again and again: new memory would
        take longer to get than they do.
        """
        met_of = [(gathered[j], self._needed(j)) for j in sorted(gathered)]
        starts = np.cumsum([0, *(len(needed) for _, needed in met_of)])
        width = met_of[0][0].shape[1] if met_of else 0
        room = np.empty((0, width))
        for rows in row_blocks(self.n_rows, size):
            near = self.entries[rows]
            met, places = np.unique(near.indices, return_inverse=True)
            if len(met) > len(room):
                room = np.empty((len(met) + len(met) // 8, width))
            ends = np.searchsorted(met, starts)
            for (table, needed), first, low, high in zip(
                met_of, starts[:-1], ends[:-1], ends[1:], strict=True
            ):
                own = met[low:high] - first
                is_whole = len(table) > len(needed)
                room[low:high] = table[needed[own] if is_whole else own]
            shape = (near.shape[0], len(met))
            local = sp.csr_array((near.data, places.ravel(), near.indptr), shape=shape)
            yield rows, np.asarray(local @ room[: len(met)])

    def product(self, gathered: Gathered, width: int) -> Array:
        """The whole product."""
        found = np.zeros((self.n_rows, width))
        if gathered:
            for rows, part in self.products(gathered, STRIP_ROWS):
                found[rows] = part
        return found

    def scaled(self, left: Array, right: Gathered) -> Strip:
        """diag(left) A diag(right), ``right`` by block for the needed rows."""
        columns = np.concatenate([np.empty(0), *self.met(right)])
        entries = sp.diags_array(left) @ self.entries @ sp.diags_array(columns)
        return Strip(self.needed, sp.csr_array(entries))


@dataclass(frozen=True)
class Grid:
    """A sparse matrix in strips that lie on workers, and who needs what of whom.

    ``counts[i, j]`` rows of block j of the columns are met in strip i.
    """

    strips: tuple[Any, ...]
    row_sizes: tuple[int, ...]
    column_sizes: tuple[int, ...]
    counts: Array

    def __post_init__(self) -> None:
        in_their_places(self.strips, self.row_sizes)

    def gathered(self, i: int, table: Tall) -> dict[int, Any]:
        """Tasks that bring strip i the rows it needs, by block.

        A block of which much is needed comes whole: a worker gets it once for all of
        its strips.
        """
        found = {}
        for j in map(int, np.flatnonzero(self.counts[i])):
            block, strip = table.blocks[j], self.strips[i]
            if self.counts[i, j] < WHOLE * self.column_sizes[j]:
                needed = task(_needed, strip, j, place=strip.place)
                block = task(_rows_of, block, needed, place=block.place)
            found[j] = block
        return found

    def product_tasks(
        self, function: Callable[..., Any], table: Tall, *others: Any
    ) -> list[Any]:
        """``function(strip, rows by block, *blocks of others)`` for each strip."""
        return [
            task(
                function,
                strip,
                self.gathered(i, table),
                *(o.blocks[i] if isinstance(o, Tall) else o for o in others),
                place=strip.place,
            )
            for i, strip in enumerate(self.strips)
        ]

    def apply(self, table: Tall, width: int) -> Tall:
        """The product with a table of so many columns, in double precision."""
        return Tall(tuple(self.product_tasks(_product, table, width)), self.row_sizes)

    def row_sums(self) -> Tall:
        """Sum of the entries of each row: the degrees of a symmetric matrix."""
        strips = Tall(self.strips, self.row_sizes)
        return strips.map(Strip.row_sums)

    def scaled(self, left: Tall, right: Tall) -> Grid:
        """diag(left) A diag(right) for vectors in blocks."""
        tasks = self.product_tasks(_scaled, right, left)
        held_strips = held("scaling the graph", tasks)
        return Grid(tuple(held_strips), self.row_sizes, self.column_sizes, self.counts)


@reusing_memory
def _product(strip: Strip, gathered: Gathered, width: int) -> Array:
    return strip.product(gathered, width)


@reusing_memory
def _scaled(strip: Strip, right: Gathered, left: Array) -> Strip:
    return strip.scaled(left, right)


def _needed(strip: Strip, j: int) -> Array:
    return strip._needed(j)


def _rows_of(block: Any, rows: Array) -> Any:
    return block[rows]


# -- from edges to strips -------------------------------------------------------------


def grid_of_edges(
    parts: Sequence[Any],
    row_sizes: tuple[int, ...],
    column_sizes: tuple[int, ...] | None = None,
    *,
    rule: str = "once",
    tell: bool = False,
) -> Grid:
    """The matrix of edges that lie in parts: tasks of (tails, heads, weights).

    Ends are numbers of rows. Without ``column_sizes`` the matrix is symmetric: an edge
    counts for both of its ends, and once whoever lists it (``rule``); loops are
    dropped. With them it leads from rows of one table to rows of another. ``tell``:
    edges that are listed with different weights are warned of.
    """
    both = column_sizes is None
    columns = row_sizes if column_sizes is None else column_sizes
    starts = np.concatenate([[0], np.cumsum(row_sizes, dtype=np.int64)])
    column_starts = np.concatenate([[0], np.cumsum(columns, dtype=np.int64)])
    pieces = routed(
        parts, _by_row_block, len(row_sizes), starts, int(column_starts[-1]), both
    )
    tasks = [
        task(_strip, pieces[i], int(starts[i]), size, column_starts, rule, tell)
        for i, size in enumerate(row_sizes)
    ]
    strips = held("edges of the rows", in_their_places(tasks, row_sizes))
    counts = values(
        "edges of the rows", [task(Strip.counts, strip) for strip in strips]
    )
    if tell and rule == "once":
        found = values("edges of the rows", [task(Strip.differing, s) for s in strips])
        warn_of_duplicates(sum(found) // 2)  # an edge is in the strips of both ends
    return Grid(tuple(strips), row_sizes, columns, np.array(counts))


def _by_row_block(
    edges: tuple[Array, Array, Array], starts: Array, n_columns: int, both: bool
) -> list[tuple[Array, ...]]:
    """Edges by the block of their tail; of an undirected edge, by both ends."""
    tails, heads, weights = edges
    _refuse_bad_edges(tails, heads, weights, int(starts[-1]), n_columns)
    tails, heads = tails.astype(np.int64), heads.astype(np.int64)
    backward = np.zeros(len(tails), dtype=bool)
    if both:
        kept = tails != heads
        tails, heads, weights = tails[kept], heads[kept], weights[kept]
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        weights = np.concatenate([weights, weights])
        backward = np.arange(len(tails)) >= len(tails) // 2
    block = np.searchsorted(starts, tails, side="right") - 1
    return pieces_by_place(block, len(starts) - 1, tails, heads, weights, backward)


def _refuse_bad_edges(
    tails: Array, heads: Array, weights: Array, n_rows: int, n_columns: int
) -> None:
    for ends, n in ((tails, n_rows), (heads, n_columns)):
        if len(ends) and ends.dtype.kind not in "iu":
            raise LabelError(
                f"edges name rows by labels such as {ends[0]!r} and the rows of X have "
                "none: pass node_ids=, or a DataFrame with labels as its index"
            )
        if len(ends) and not (ends.min() >= 0 and ends.max() < n):
            wrong = ends[(ends < 0) | (ends >= n)]
            raise GraphError(
                f"edges must join rows from 0 to {n - 1}, where rows have no labels; "
                f"got {wrong[0]}: pass node_ids=, or a DataFrame with labels as index"
            )
    if not np.isfinite(weights).all():
        raise GraphError("graph weights must be finite; got NaN or infinity")
    if (weights < 0).any():
        raise GraphError(
            f"graph weights must be at least 0; got {weights.min():g}: clip them, or "
            "take their size"
        )


@reusing_memory
def _strip(
    pieces: list[tuple[Array, ...]],
    start: int,
    n_rows: int,
    starts: Array,
    rule: str,
    tell: bool,
) -> Strip:
    """The rows of one block from all that is said of them."""
    columns = [np.concatenate(same) for same in zip(*pieces, strict=True)]
    tails, heads, weights, backward = columns
    shape = (n_rows, int(starts[-1]))
    if rule == "mutual":
        matrix = _of_both_ends(tails - start, heads, weights, backward, shape)
    else:
        matrix = merge_edges(tails - start, heads, weights, shape, rule)
    matrix = sp.csr_array(matrix)
    n_differing = 0
    if tell and rule == "once" and matrix.nnz < len(weights):
        n_differing = count_of_differing(tails - start, heads, weights, matrix)
    matrix.eliminate_zeros()
    return replace(strip_of_rows(matrix, starts), n_differing=n_differing)


def _of_both_ends(
    rows: Array, columns: Array, values: Array, backward: Array, shape: tuple[int, int]
) -> Any:
    """Edges that either end has listed, with the smaller of their weights."""
    one, other = (
        merge_edges(rows[mask], columns[mask], values[mask], shape, "once")
        for mask in (~backward, backward)
    )
    return sp.csr_array(one).minimum(sp.csr_array(other))


def strip_of_rows(matrix: Any, starts: Array) -> Strip:
    """A CSR array over all columns, cut by the blocks that ``starts`` begins."""
    met, places = np.unique(matrix.indices.astype(np.int64), return_inverse=True)
    shape = (matrix.shape[0], len(met))
    entries = sp.csr_array((matrix.data, places.ravel(), matrix.indptr), shape=shape)
    ends = np.searchsorted(met, starts)
    needed = tuple(
        met[low:high] - first if high > low else None
        for first, low, high in zip(starts[:-1], ends[:-1], ends[1:], strict=True)
    )
    return Strip(needed, entries)


@dataclass(frozen=True)
class BlockGraph:
    """A graph of rows in blocks: its adjacency, degrees, and S = D^-1/2 A D^-1/2.

    ``present`` are the rows that it knows, ``n_present`` of them; the others have no
    edges. None if it knows all.
    """

    adjacency: Grid
    degrees: Tall
    normalized: Grid
    n_isolated: int
    largest: float
    present: Tall | None
    n_present: int

    @property
    def n(self) -> int:
        """Number of nodes."""
        return sum(self.adjacency.row_sizes)


def block_graph(adjacency: Grid, present: Tall | None = None) -> BlockGraph:
    """Degrees and the normalised adjacency, computed where the edges lie."""
    degrees = adjacency.row_sums().held("degrees")
    facts = values("degrees", degrees.tasks(_facts_of_degrees))
    largest = max(fact[0] for fact in facts)
    if largest == 0:
        raise GraphError(
            f"graph must have an edge between two of the {sum(adjacency.row_sizes)} "
            "rows of X; it has none: check that its labels are those of the rows, or "
            "use graph=None"
        )
    roots = degrees.map(inverse_sqrt)
    n = sum(adjacency.row_sizes)
    return BlockGraph(
        adjacency,
        degrees,
        adjacency.scaled(roots, roots),
        sum(fact[1] for fact in facts),
        largest,
        present,
        n if present is None else int(present.total("", np.count_nonzero)),
    )


def _facts_of_degrees(degrees: Array) -> tuple[float, int]:
    return float(degrees.max(initial=0.0)), int((degrees == 0).sum())
