"""A table of Dask's as blocks of rows: looked at once, and never held by the client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np
import scipy.sparse as sp

from graphfold import check
from graphfold.arrays import Array, floating
from graphfold.distributed.blocks import Tall, stack, tree
from graphfold.distributed.ranks import Ranked, smallest_ranks
from graphfold.distributed.running import current_client, held, values
from graphfold.distributed.tasks import (
    from_delayed,
    in_their_places,
    literal,
    task,
)
from graphfold.errors import GraphfoldError, LabelError
from graphfold.graphs.labels import as_labels, index_of
from graphfold.model.memory import free_memory

#: rows of a block at most, and blocks at most: a product joins every two of them
MOST_ROWS, MOST_BLOCKS = 2**15, 1024
#: share of the cluster's memory that X may take, to be read once and not three times
SHARE_FOR_ROWS = 0.2


class Look(NamedTuple):
    """What is seen of a block before any work."""

    n_rows: int
    n_columns: int
    dtype: np.dtype[Any]
    is_sparse: bool
    n_bad: int
    bad: Array


@final
class DistributedRows:
    """The rows of a ``dask.array`` or ``dask.dataframe``, in blocks on workers.

    ``blocks`` have some ten thousand rows each; ``given_sizes`` are those of the
    chunks that came, which results are given back in.
    """

    ndim = 2

    def __init__(
        self,
        blocks: Tall,
        n_columns: int,
        dtype: np.dtype[Any],
        *,
        is_sparse: bool = False,
        given_sizes: Sequence[int] = (),
        names: list[str] | None = None,
        index: Tall | None = None,
        is_kept: bool = False,
    ):
        self.blocks, self.dtype, self.is_sparse = blocks, dtype, is_sparse
        self.shape = (blocks.n, n_columns)
        self.given_sizes = tuple(given_sizes) or blocks.sizes
        self.names, self.index, self.is_kept = names, index, is_kept

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of all rows, were they dense."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def smallest_ranks(self, count: int, seed: int) -> tuple[Any, Array]:
        """Rows chosen by a hash of their content, and their numbers, in its order.

        The same rows as :func:`graphfold.model.landmarks.uniform_rows` chooses.
        """
        starts = [int(start) for start in self.blocks.starts[:-1]]
        parts = [
            task(smallest_ranks, block, start, count, seed)
            for block, start in zip(self.blocks.blocks, starts, strict=True)
        ]
        (found,) = values("choosing rows", [tree(Ranked.merged, parts)], parts)
        return found.rows, found.numbers

    def take(self, rows: Array) -> Any:
        """Some rows by their numbers."""
        return self.blocks.take("some rows", rows)

    def held(self) -> DistributedRows:
        """The same rows, kept on the workers if they are few enough of their memory."""
        if self.is_kept or not _is_small(self.nbytes):
            return self
        blocks = self.blocks.held("reading rows")
        return self._with(blocks)

    def _with(self, blocks: Tall) -> DistributedRows:
        return DistributedRows(
            blocks,
            self.shape[1],
            self.dtype,
            is_sparse=self.is_sparse,
            given_sizes=self.given_sizes,
            names=self.names,
            index=self.index,
        )

    def __repr__(self) -> str:
        n, p = self.shape
        return f"DistributedRows({n} x {p}, {len(self.blocks.sizes)} blocks)"


def is_distributed(X: Any) -> bool:
    """Whether X is a collection of Dask's: asked without importing it."""
    return hasattr(X, "__dask_graph__")


def _is_small(nbytes: float) -> bool:
    """Whether X may be kept on the workers; unknown sizes (NaN) are not small."""
    return nbytes <= SHARE_FOR_ROWS * cluster_memory()


def cluster_memory() -> float:
    """Bytes of memory of all workers; of this machine where there is no cluster."""
    client = current_client()
    if client is None:
        return float(free_memory())
    workers = client.scheduler_info()["workers"].values()
    limits = [worker.get("memory_limit") or 0 for worker in workers]
    return float(sum(limits))


# -- from Dask's collections to blocks ------------------------------------------------


def rows_on_workers(
    X: Any, name: str = "X", least: int = 2, keep: bool = False
) -> DistributedRows:
    """X in blocks, after a look at each: sizes, columns, kinds of numbers, NaN.

    With ``keep`` they are kept on the workers at once, where X says that it is small
    enough, and read once.
    """
    names, index = None, None
    if hasattr(X, "columns"):
        names = [str(column) for column in X.columns]
        raw = [from_delayed(part) for part in X.to_delayed()]
        index = [task(_index_of, part) for part in raw]
        declared: list[Any] = [None] * len(raw)
    else:
        raw, declared = _blocks_of_array(X, name)
    said = [size[0] for size in declared if size is not None]
    in_their_places(raw, said if len(said) == len(raw) else None)
    blocks = [task(as_numbers, part, name, place=part.place) for part in raw]
    is_kept = keep and _is_small(_bytes_as_floats(X))
    if is_kept:
        blocks = held("reading rows", blocks)
    looks = values("looking at the rows", [task(_look, block) for block in blocks])
    n_columns, dtype, is_sparse = _agreed(looks, declared, name, least)
    sizes = [look.n_rows for look in looks]
    _refuse_non_finite(looks, name)
    kept = [i for i, size in enumerate(sizes) if size]
    for block in blocks:
        block.place = None  # sizes are known now: a worker has its share of the rows
    table = Tall(tuple(blocks[i] for i in kept), tuple(sizes[i] for i in kept))
    table = table.map(_in_kind, dtype, is_sparse)
    working = working_sizes(table.sizes)
    labels = None
    if index is not None and index_of(X._meta) is not None:
        labels = Tall(tuple(index[i] for i in kept), table.sizes)
        labels = resized(labels, working)
    return DistributedRows(
        resized(table, working),
        n_columns,
        dtype,
        is_sparse=is_sparse,
        given_sizes=sizes,
        names=names,
        index=labels,
        is_kept=is_kept,
    )


def _bytes_as_floats(X: Any) -> float:
    """Bytes of an array as it is worked on; NaN where its size is not known."""
    if not hasattr(X, "dtype"):
        return np.nan
    return float(X.shape[0] * X.shape[1] * floating(X.dtype).itemsize)


def _blocks_of_array(X: Any, name: str) -> tuple[list[Any], list[Any]]:
    if X.ndim != 2:
        raise GraphfoldError(f"{name} must have two dimensions; got {X.ndim}")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    sizes, (width,) = X.chunks
    unknown = np.isnan(width)
    declared = [
        None if np.isnan(size) or unknown else (int(size), int(width)) for size in sizes
    ]
    return [from_delayed(block) for block in X.to_delayed().ravel()], declared


def as_numbers(part: Any, name: str) -> Any:
    """A block as an array of floats: of NumPy's, pandas' and polars' tables, or CSR."""
    if sp.issparse(part):
        block = sp.csr_array(part)
        return block.astype(floating(block.dtype), copy=False)
    if hasattr(part, "to_numpy"):
        part = part.to_numpy()
    block = np.asarray(part)
    if block.dtype.kind not in "fiub" and not (
        block.dtype == object and _all_numbers(block)
    ):
        raise GraphfoldError(
            f"{name} must hold numbers; got a block of {block.dtype}: drop or encode "
            "its columns of text"
        )
    return np.ascontiguousarray(block, dtype=floating(block.dtype))


def _all_numbers(block: Array) -> bool:
    try:
        block.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _index_of(part: Any) -> Array:
    """Labels of the rows of a partition; polars' tables have none."""
    index = getattr(part, "index", None)
    return np.arange(len(part)) if index is None else as_labels(index)


def _look(block: Any) -> Look:
    if sp.issparse(block):
        finite = np.isfinite(block.data).all()
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        bad = np.unique(rows[~np.isfinite(block.data)]) if not finite else rows[:0]
    elif block.ndim == 2:
        bad = np.flatnonzero(~np.isfinite(block).all(axis=1))
    else:
        bad = np.empty(0, dtype=np.int64)
    columns = block.shape[1] if block.ndim == 2 else -1
    is_sparse = bool(sp.issparse(block))
    return Look(block.shape[0], columns, block.dtype, is_sparse, len(bad), bad[:5])


def _agreed(
    looks: list[Look], declared: Sequence[Any], name: str, least: int
) -> tuple[int, np.dtype[Any], bool]:
    """Columns and kind of all blocks; one that differs is named."""
    full = [look for look in looks if look.n_rows]
    if sum(look.n_rows for look in looks) < least:
        raise GraphfoldError(
            f"{name} must have at least {least} rows; got "
            f"n_samples={sum(look.n_rows for look in looks)}"
        )
    width = full[0].n_columns
    for i, (look, said) in enumerate(zip(looks, declared, strict=True)):
        if look.n_rows and look.n_columns != width:
            raise GraphfoldError(
                f"{name} must have as many columns in every chunk; chunk {i} has "
                f"{look.n_columns} and those before it {width}"
            )
        if said is not None and said != (look.n_rows, look.n_columns):
            raise GraphfoldError(
                f"{name} must have the chunks that it declares; chunk {i} is "
                f"{look.n_rows} x {look.n_columns} and was declared as "
                f"{said[0]} x {said[1]}"
            )
    if width < 1:
        raise GraphfoldError(f"{name} must have at least 1 column; got n_features=0")
    dtype = np.result_type(*(look.dtype for look in full))
    return width, dtype, any(look.is_sparse for look in full)


def _refuse_non_finite(looks: list[Look], name: str) -> None:
    starts = np.cumsum([0, *(look.n_rows for look in looks)])
    bad = [start + look.bad for start, look in zip(starts[:-1], looks, strict=True)]
    found = np.concatenate(bad)
    if len(found):
        raise GraphfoldError(
            f"{name} must be finite; it contains NaN or infinity (inf) in rows "
            f"{check.some_of(found)} ({sum(look.n_bad for look in looks)} in all): "
            "drop them or fill them before"
        )


def _in_kind(block: Any, dtype: np.dtype[Any], is_sparse: bool) -> Any:
    """A block in the precision and the storage that all blocks have."""
    if is_sparse:
        return sp.csr_array(block).astype(dtype, copy=False)
    return block.astype(dtype, copy=False)


def working_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Blocks to work on: large ones are split, too many of them joined."""
    n = sum(sizes)
    most = max(MOST_ROWS, -(-n // MOST_BLOCKS))
    if len(sizes) > MOST_BLOCKS:
        count = -(-n // most)
        edges = np.linspace(0, n, count + 1).astype(np.int64)
        return tuple(int(size) for size in np.diff(edges))
    found: list[int] = []
    for size in sizes:
        edges = np.linspace(0, size, -(-size // most) + 1).astype(np.int64)
        found += [int(part) for part in np.diff(edges)]
    return tuple(found)


def resized(table: Tall, sizes: tuple[int, ...]) -> Tall:
    """The same rows in other blocks."""
    if table.sizes == sizes:
        return table
    if sum(sizes) != table.n:
        raise ValueError(f"{sum(sizes)} rows asked for of {table.n}")
    ends = np.cumsum(sizes)
    blocks = []
    for start, stop in zip(ends - sizes, ends, strict=True):
        first = int(np.searchsorted(table.starts, start, side="right")) - 1
        last = int(np.searchsorted(table.starts, stop, side="left"))
        pieces = []
        for i in range(first, last):
            low = max(start - table.starts[i], 0)
            high = min(stop - table.starts[i], table.sizes[i])
            if high > low:
                whole = low == 0 and high == table.sizes[i]
                block = table.blocks[i]
                pieces.append(block if whole else task(_cut, block, low, high))
        blocks.append(pieces[0] if len(pieces) == 1 else task(stack, pieces))
    return Tall(tuple(blocks), sizes)


def _cut(block: Any, low: int, high: int) -> Any:
    return block[low:high]


# -- labels and classes, one for each row ---------------------------------------------


def column_of(values_of_rows: Any, rows: DistributedRows, name: str) -> Tall:
    """One value for each row, in the blocks of the rows.

    Of a one-dimensional array of Dask's, a series, an index, or what NumPy takes. Its
    chunks need not be those of X; unknown ones must be as many, and of their sizes.
    """
    if not is_distributed(values_of_rows):
        return _from_client(values_of_rows, rows, name)
    if hasattr(values_of_rows, "to_dask_array"):
        values_of_rows = values_of_rows.to_dask_array()
    if values_of_rows.ndim != 1:
        raise LabelError(f"{name} must have one dimension; got {values_of_rows.ndim}")
    parts = [from_delayed(part) for part in values_of_rows.to_delayed().ravel()]
    sizes = values("looking at the labels", [task(len, part) for part in parts])
    if sum(sizes) != rows.shape[0]:
        raise LabelError(
            f"{name} must have one value for each of the {rows.shape[0]} rows of X; "
            f"got {sum(sizes)}"
        )
    full = [(part, size) for part, size in zip(parts, sizes, strict=True) if size]
    column = Tall(tuple(p for p, _ in full), tuple(s for _, s in full))
    return resized(column.map(as_labels), rows.blocks.sizes)


def _from_client(listed: Any, rows: DistributedRows, name: str) -> Tall:
    labels = as_labels(listed)
    if len(labels) != rows.shape[0]:
        raise LabelError(
            f"{name} must have one value for each of the {rows.shape[0]} rows of X; "
            f"got {len(labels)}"
        )
    starts = rows.blocks.starts
    parts = [
        literal(labels[starts[i] : starts[i + 1]])
        for i in range(len(rows.blocks.sizes))
    ]
    return Tall(tuple(parts), rows.blocks.sizes)
