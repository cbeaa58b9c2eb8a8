"""What a stream has brought so far: rows, who they are, and edges between them.

Rows are kept, because an edge or a landmark that comes later needs those that came
before; beyond a budget they lie in a temporary file, and what has been forgotten is
dropped. Nothing here is changed in place: a batch that is refused leaves no trace.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp

from graphfold import check, io
from graphfold.arrays import Array
from graphfold.errors import GraphError, LabelError
from graphfold.graphs import Graph
from graphfold.graphs.labels import (
    LabelIndex,
    as_labels,
    comparable,
    distinct_labels,
    first_duplicate,
)
from graphfold.graphs.sources import merge_edges
from graphfold.hints import Labels, Numbers, Range, Sizes, Table

#: a row of less weight than this is forgotten
FORGOTTEN = 1e-4
#: rows are kept in memory up to this share of ``max_memory``
SHARE_OF_BUDGET = 0.25


@io.record
@dataclass(frozen=True)
class Edges:
    """Edges of one graph by the places of their ends among the rows."""

    tails: Annotated[Array, Numbers("_e", kind="i", low=0)]
    heads: Annotated[Array, Numbers("_e", kind="i", low=0)]
    weights: Annotated[Array, Numbers("_e")]

    def __len__(self) -> int:
        return len(self.weights)

    def with_more(self, other: Edges) -> Edges:
        """These and others."""
        return Edges(
            np.concatenate([self.tails, other.tails]),
            np.concatenate([self.heads, other.heads]),
            np.concatenate([self.weights, other.weights]),
        )

    def after_dropping(self, n_dropped: int) -> Edges:
        """What is left when the first rows are forgotten."""
        kept = (self.tails >= n_dropped) & (self.heads >= n_dropped)
        return Edges(
            self.tails[kept] - n_dropped,
            self.heads[kept] - n_dropped,
            self.weights[kept],
        )


@io.record
@dataclass(frozen=True)
class Stream:
    """Batches in the order of their arrival.

    ``labels`` are those of all rows, or None where rows have none and are known by the
    number of their arrival; ``first`` is the number of the oldest row that is kept,
    ``forgotten`` are the labels of those that are not.
    """

    blocks: tuple[Annotated[Any, Table("_", "D")], ...] = ()
    classes: tuple[Any, ...] = ()
    numbers: tuple[int, ...] = ()
    labels: Annotated[Array, Labels("_n")] | None = None
    forgotten: Annotated[Array, Labels("_f", distinct=False)] | None = None
    edges: dict[str, Edges] = field(default_factory=dict)
    first: Annotated[int, Range(0)] = 0
    n_batches: Annotated[int, Range(0)] = 0

    def _check_loaded(self, sizes: Sizes) -> None:
        """Raise unless the batches of a file, their labels and edges fit each other."""
        counts = [block.shape[0] for block in self.blocks]
        if not len(counts) == len(self.classes) == len(self.numbers) or not counts:
            raise ValueError("blocks, classes and numbers must be as many, and some")
        for part, count in zip(self.classes, counts, strict=True):
            if part is not None and np.shape(part) != (count,):
                raise ValueError("classes must have an entry for each row of a batch")
        last = range(self.n_batches - len(counts), self.n_batches)
        if self.numbers != tuple(last) or last.start < 0:
            raise ValueError("numbers must be those of the last batches")
        if self.labels is not None:
            sizes.agree("labels", "n", len(self.labels))
        ends = [part for e in self.edges.values() for part in (e.tails, e.heads)]
        if any(part.max(initial=0) >= self.n for part in ends):
            raise ValueError("edges must join rows of the stream")

    @property
    def n(self) -> int:
        """Rows that are kept."""
        return sum(int(block.shape[0]) for block in self.blocks)

    @property
    def nbytes(self) -> int:
        """Memory of the rows, where they are in memory."""
        return sum(_bytes_of(block) for block in self.blocks)

    def names(self) -> Array:
        """What edges call the rows: their labels, or the numbers of their arrival."""
        if self.labels is not None:
            return self.labels
        return np.arange(self.first, self.first + self.n)

    def with_batch(
        self, X: Any, y: Any, labels: Array | None, *, on_disk: bool
    ) -> Self:
        """The stream with one more batch."""
        if self.blocks and (labels is None) != (self.labels is None):
            came = "without" if labels is None else "with"
            raise LabelError(
                f"node_ids must be given with every batch or with none; this one came "
                f"{came} labels"
            )
        block = _spilled(X) if on_disk and not sp.issparse(X) else X.copy()
        return replace(
            self,
            blocks=(*self.blocks, block),
            classes=(*self.classes, None if y is None else np.array(y)),
            numbers=(*self.numbers, self.n_batches),
            labels=self._labels_with(labels),
            n_batches=self.n_batches + 1,
        )

    def _labels_with(self, labels: Array | None) -> Array | None:
        if labels is None:
            return None
        joined = labels
        if self.labels is not None:
            if not comparable(labels, self.labels):
                raise LabelError(
                    f"node_ids of a batch are {labels.dtype} and those before "
                    f"{self.labels.dtype}: give them the same kind"
                )
            joined = np.concatenate([self.labels, labels])
        repeated = first_duplicate(joined)
        if repeated is not None:
            raise LabelError(
                f"node_ids must be new in every batch; {repeated!r} has been seen: a "
                "row that changes is a new node"
            )
        return joined

    def with_edges(self, name: str, edges: Any) -> Self:
        """The stream with edges between rows that have come."""
        graph = edges if isinstance(edges, Graph) else Graph(edges)
        if not graph.has_labels:
            raise GraphError(
                "edges must name the rows that they join, by label or by the number of "
                "their arrival; got a graph or matrix without labels: pass pairs, or "
                "Graph(..., nodes=...)"
            )
        half = sp.triu(graph.to_scipy(), k=1, format="coo")
        ends = as_labels(graph.nodes)
        rows = LabelIndex(self.names()).find(ends)
        used = np.zeros(len(ends), dtype=bool)
        used[half.row], used[half.col] = True, True
        unknown = ends[used & (rows < 0) & ~self._has_forgotten(ends)]
        if len(unknown):
            raise GraphError(
                "edges must join rows that have come, in this batch or before; "
                f"{check.some_of(unknown)} {'has' if len(unknown) == 1 else 'have'} "
                "not: pass the edge with the batch that brings its last end"
            )
        kept = (rows[half.row] >= 0) & (rows[half.col] >= 0)
        found = Edges(rows[half.row][kept], rows[half.col][kept], half.data[kept])
        known = self.edges.get(name)
        joined = found if known is None else known.with_more(found)
        return replace(self, edges={**self.edges, name: joined})

    def _has_forgotten(self, names: Array) -> Array:
        """Which names are those of rows that have come and are no longer kept."""
        if self.labels is not None:
            known = np.array([], dtype=names.dtype)
            known = known if self.forgotten is None else self.forgotten
            return LabelIndex(known).find(names) >= 0
        if names.dtype.kind not in "iu":
            return np.zeros(len(names), dtype=bool)
        return np.asarray((names >= 0) & (names < self.first))

    def forgetting(self, factor: float) -> Self:
        """The stream without the batches that no longer count."""
        ages = [self.n_batches - 1 - number for number in self.numbers]
        gone = sum(factor**age < FORGOTTEN for age in ages)
        if not gone:
            return self
        n_gone = sum(int(block.shape[0]) for block in self.blocks[:gone])
        return replace(
            self,
            blocks=self.blocks[gone:],
            classes=self.classes[gone:],
            numbers=self.numbers[gone:],
            labels=None if self.labels is None else self.labels[n_gone:],
            forgotten=self._forgotten_with(n_gone),
            edges={k: part.after_dropping(n_gone) for k, part in self.edges.items()},
            first=self.first + n_gone,
        )

    def _forgotten_with(self, n_gone: int) -> Array | None:
        if self.labels is None:
            return None
        gone, known = self.labels[:n_gone], self.forgotten
        if known is None:
            return gone
        joined = np.append(known, gone)
        # a label may come again: looked for whenever there are twice as many
        if len(joined).bit_length() > len(known).bit_length():
            return distinct_labels(joined)
        return joined

    def rows(self) -> Any:
        """All rows, as one table."""
        if any(sp.issparse(block) for block in self.blocks):
            return sp.csr_array(sp.vstack([sp.csr_array(b) for b in self.blocks]))
        if any(isinstance(block, np.memmap) for block in self.blocks):
            return Stacked(self.blocks)
        return np.concatenate(self.blocks)

    def roots(self, factor: float) -> Array | None:
        """The square root of what each row counts; None where all count alike."""
        if factor == 1:
            return None
        ages = [self.n_batches - 1 - number for number in self.numbers]
        sizes = [block.shape[0] for block in self.blocks]
        return np.repeat(np.sqrt(np.power(float(factor), ages)), sizes)

    def known_classes(self) -> Any:
        """y of all rows, None where a batch came without; None if all did."""
        if all(part is None for part in self.classes):
            return None
        kinds = {part.dtype for part in self.classes if part is not None}
        if len(kinds) == 1 and all(part is not None for part in self.classes):
            return np.concatenate(self.classes)
        found = np.full(self.n, None, dtype=object)
        for part, rows in zip(self.classes, self.batch_slices(), strict=True):
            if part is not None:
                found[rows] = part
        return found

    def known_names(self) -> Array | None:
        """What rows are known by; None where that is their place."""
        return self.names() if self.labels is not None or self.first else None

    def graph(self, name: str) -> Graph:
        """The graph of the rows that the edges of the stream make."""
        n, part = self.n, self.edges[name]
        low, high = (
            np.minimum(part.tails, part.heads),
            np.maximum(part.tails, part.heads),
        )
        merged = merge_edges(low, high, part.weights, (n, n), "once")
        return Graph._unchecked(sp.csr_array(merged + merged.T), self.known_names())

    def batch_slices(self) -> list[slice]:
        """Where each batch is among the rows."""
        ends = np.cumsum([0, *(int(block.shape[0]) for block in self.blocks)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]


class Stacked:
    """Tables on disk, one below the other, read a few rows at a time."""

    ndim = 2

    def __init__(self, blocks: Any):
        self.blocks = blocks
        self._ends = np.cumsum([len(block) for block in blocks])
        self.dtype = np.result_type(*(block.dtype for block in blocks))
        self.shape = (int(self._ends[-1]), int(blocks[0].shape[1]))

    def __getitem__(self, rows: Any) -> Array:
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(self.shape[0]))
        rows = np.asarray(rows)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        found = np.empty((len(rows), self.shape[1]), dtype=self.dtype)
        owner = np.searchsorted(self._ends, rows, side="right")
        for number in np.unique(owner):
            mine = owner == number
            start = self._ends[number] - len(self.blocks[number])
            found[mine] = self.blocks[number][rows[mine] - start]
        return found

    def read(self) -> Array:
        """All rows in memory."""
        return self[:]

    def copy(self) -> Stacked:
        """Itself: nothing of it is in memory, and nobody else has the files."""
        return self


def _spilled(X: Array) -> Array:
    """The rows in a temporary file that goes when nobody holds them.

    Written, and then mapped: a map onto a disk that is full would end the process.
    """
    try:
        with tempfile.TemporaryFile() as file:
            file.write(np.ascontiguousarray(X).data)
            file.flush()
            return np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape)
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror}; rows of a stream beyond max_memory are kept there: "
            "make room, set TMPDIR to another folder, or raise max_memory",
            tempfile.gettempdir(),
        ) from error


def _bytes_of(block: Any) -> int:
    if isinstance(block, np.memmap):
        return 0
    if sp.issparse(block):
        return int(block.data.nbytes + block.indices.nbytes)
    return int(block.nbytes)
