"""Modes of samples on workers: learned by sums over blocks, encoded where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from graphfold import check
from graphfold.arrays import Array, floating
from graphfold.distributed.blocks import Tall
from graphfold.distributed.rows import (
    DistributedRows,
    is_distributed,
    resized,
    working_sizes,
)
from graphfold.distributed.running import values
from graphfold.distributed.tasks import from_delayed, literal, task
from graphfold.errors import ModeError
from graphfold.estimators.mode_tables import (
    BINARY,
    CATEGORICAL,
    REAL,
    columns_of,
    kind_of,
    names_of,
    selectors_of,
)
from graphfold.estimators.modes import (
    Mode,
    as_text,
    encode_modes,
    refuse_real_columns,
    rows_present,
    steady,
)
from graphfold.estimators.placing_on_workers import place_rows, transform_in_blocks
from graphfold.estimators.reading import check_parameters
from graphfold.estimators.statement import generator
from graphfold.model.extend import shares_of_total


@dataclass(frozen=True)
class ModeTables:
    """Tables of all modes, in blocks: a dict of arrays for each block of samples."""

    blocks: Tall
    columns: dict[str, Any]
    names: dict[str, list[str] | None]
    given_sizes: tuple[int, ...]


def any_distributed(X: Any) -> bool:
    """Whether a table, or one of a dict of tables, is a collection of Dask's."""
    if isinstance(X, dict):
        return any(is_distributed(table) for table in X.values())
    return is_distributed(X)


def fit_modes_on_workers(estimator: Any, X: Any, y: Any) -> None:
    """As ``MultiModalGraphEmbedding.fit``, for samples on workers."""
    tables = read_tables(estimator, X)
    learned = learn_modes(tables)
    # a kernel looks at numbers, so what is not a number comes last
    estimator._modes = sorted(learned, key=lambda mode: mode.kind == CATEGORICAL)
    estimator._check_metric()
    encoded = encoded_rows(estimator._modes, tables)
    check_parameters(estimator, encoded.shape[0])
    check.at_least("graph_strength", estimator.graph_strength, 0)
    estimator._starts = np.cumsum([0, *(mode.width for mode in estimator._modes)])
    graphs = estimator._mode_graphs({mode.name: (None, None) for mode in learned})
    estimator._row_labels = estimator.sample_labels_ = None
    rng = generator(estimator.random_state)
    estimator._fit_rows(encoded, y, None, graphs, rng)
    estimator.mode_names_ = [mode.name for mode in learned]
    estimator.mode_kinds_ = [mode.kind for mode in learned]
    estimator.mode_weights_ = estimator.graph_weights_
    estimator.mode_contributions_ = _contributions(estimator)


def transform_modes_on_workers(estimator: Any, X: Any) -> Any:
    """Samples placed by the modes they have, where they or the fit lie on workers."""
    in_memory = not any_distributed(X)
    if in_memory:
        X = _as_collections(X)
    tables = read_tables(estimator, X, fitted=True)
    if not estimator._lies_on_workers():
        return transform_in_blocks(estimator, _as_rows(tables), None)
    encoded = encoded_rows(estimator._modes, tables)
    placed = place_rows(estimator, encoded, None, None)
    return placed.compute() if in_memory else placed


def _as_rows(tables: ModeTables) -> DistributedRows:
    """Blocks as they are, for a fit in memory to read."""
    return DistributedRows(
        tables.blocks, 0, np.dtype(float), given_sizes=tables.given_sizes
    )


def _as_collections(X: Any) -> Any:
    import dask.array as da
    import dask.dataframe as dd

    if isinstance(X, dict):
        return {name: _as_collections(table) for name, table in X.items()}
    if hasattr(X, "iloc"):
        return dd.from_pandas(X, npartitions=1, sort=False)
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    return da.from_array(X, chunks=X.shape, asarray=False)


# -- tables ---------------------------------------------------------------------------


def read_tables(estimator: Any, X: Any, *, fitted: bool = False) -> ModeTables:
    """The tables of the modes in the same blocks, and which columns each has."""
    if isinstance(X, dict):
        return _from_tables(estimator, X, fitted=fitted)
    raw, meta = _parts(X)
    shown = meta if hasattr(X, "columns") else np.empty((1, meta.shape[1]))
    validate_data(estimator, shown, reset=not fitted, skip_check_array=True)
    if fitted:
        columns = {mode.name: mode.columns for mode in estimator._modes}
    elif estimator.modes is None and estimator.block_size is None:
        columns = _by_kind(raw, meta.shape[1])
    else:
        columns = selectors_of(
            meta, estimator.modes, estimator.block_size, estimator.overlap
        )
    sizes = _sizes(raw)
    blocks = Tall(tuple(raw), sizes).map(_tables_of_block, columns)
    return ModeTables(blocks, columns, dict.fromkeys(columns), sizes)


def _from_tables(estimator: Any, X: dict[Any, Any], *, fitted: bool) -> ModeTables:
    """Tables of a dict: samples meet by their place, in the blocks of the first."""
    parts = {str(name): _parts(table) for name, table in X.items()}
    wanted = [mode.name for mode in estimator._modes] if fitted else list(parts)
    if set(wanted) != set(parts):
        raise ModeError(
            f"X must hold the modes of the fit, {check.some_of(wanted)}; got "
            f"{check.some_of(list(parts))}: a sample that misses a mode has NaN there"
        )
    tables: dict[str, Tall] = {}
    for name, (raw, _) in parts.items():
        full = [(part, n) for part, n in zip(raw, _sizes(raw), strict=True) if n]
        kept, sizes = tuple(part for part, _ in full), tuple(n for _, n in full)
        tables[name] = Tall(kept, sizes).map(columns_of, None)
    first = next(iter(tables.values()))
    for name, table in tables.items():
        if table.n != first.n:
            raise ModeError(
                f"tables of Dask's must have the same samples; {name!r} has {table.n} "
                f"and the first {first.n}: a sample that misses a mode has NaN there"
            )
    same = {name: resized(table, first.sizes) for name, table in tables.items()}
    blocks = [
        task(dict, {name: table.blocks[i] for name, table in same.items()})
        for i in range(len(first.blocks))
    ]
    if not fitted:
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.n_features_in_ = sum(meta.shape[1] for _, meta in parts.values())
    names = {str(name): names_of(table) for name, table in X.items()}
    columns = dict.fromkeys(parts)
    return ModeTables(Tall(tuple(blocks), first.sizes), columns, names, first.sizes)


def _sizes(parts: list[Any]) -> tuple[int, ...]:
    return tuple(values("looking at the samples", [task(_n_rows, p) for p in parts]))


def _n_rows(part: Any) -> int:
    return int(part.shape[0])  # a sparse block has no len


def _parts(X: Any) -> tuple[list[Any], Any]:
    """Blocks of one table as they come, and something with its columns."""
    if hasattr(X, "columns"):
        return [from_delayed(part) for part in X.to_delayed()], X._meta
    if X.ndim != 2:
        raise ModeError(f"a table must have two dimensions; got {X.ndim}")
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    meta = np.empty((0, int(X.shape[1])))
    return [from_delayed(part) for part in X.to_delayed().ravel()], meta


def _tables_of_block(block: Any, columns: dict[str, Any]) -> dict[str, Any]:
    return {name: columns_of(block, part) for name, part in columns.items()}


def _by_kind(raw: list[Any], n_columns: int) -> dict[str, Any]:
    """Columns by the kind of their values in all blocks: text, real, zeros and ones."""
    found = values("kinds of the columns", [task(_kinds, part) for part in raw])
    kinds = [_kind_of_all([block[i] for block in found]) for i in range(n_columns)]
    return {
        kind: np.flatnonzero(np.array(kinds) == kind) for kind in dict.fromkeys(kinds)
    }


def _kinds(block: Any) -> list[str]:
    if sp.issparse(block):
        return [kind_of(block)] * block.shape[1]
    places = range(block.shape[1])
    return [kind_of(columns_of(block, np.array([i]))) for i in places]


def _kind_of_all(kinds: list[str]) -> str:
    return next(kind for kind in (CATEGORICAL, REAL, BINARY) if kind in kinds)


# -- what modes learn -----------------------------------------------------------------


@dataclass(frozen=True)
class Facts:
    """Of a mode in a block: kind, rows that have it, and moments of its columns."""

    kind: str
    count: int
    mean: Array
    squares: Array
    largest: Array
    is_sparse: bool


def learn_modes(tables: ModeTables) -> list[Mode]:
    """Each mode as ``learn_mode`` learns it from a table in memory."""
    facts = values("learning the modes", tables.blocks.tasks(_facts_of_block))
    kinds = {
        name: _kind_of_all([block[name].kind for block in facts])
        for name in tables.columns
    }
    texts = [name for name, kind in kinds.items() if kind == CATEGORICAL]
    categories: dict[str, list[Array]] = {}
    if texts:
        found = values("categories", tables.blocks.tasks(_categories, texts))
        for name in texts:
            columns = zip(*(block[name] for block in found), strict=True)
            categories[name] = [np.unique(np.concatenate(same)) for same in columns]
    return [
        _mode(name, kinds[name], [block[name] for block in facts], categories, tables)
        for name in tables.columns
    ]


def _mode(
    name: str,
    kind: str,
    facts: list[Facts],
    categories: dict[str, list[Array]],
    tables: ModeTables,
) -> Mode:
    count, mean, squares, largest = _merged(facts)
    width = len(mean)
    if width == 0:
        raise ModeError(f"a mode must have at least one column; mode {name!r} has none")
    if count < 2:
        raise ModeError(
            f"a mode must be known for at least two rows; mode {name!r} is known for "
            f"{count}"
        )
    shift, scale, means = np.zeros(width), np.ones(width), np.zeros(width)
    spread = np.sqrt(squares / count)
    is_sparse = facts[0].is_sparse
    if kind == REAL and is_sparse:
        scale = np.where(spread > 0, spread, 1.0)
    elif kind == REAL:
        shift, scale = mean, np.where(spread > 1e-12 * largest, spread, 1.0)
    elif kind == BINARY and not is_sparse:
        means = mean
    return Mode(
        name,
        kind,
        tables.columns[name],
        steady(shift),
        steady(scale),
        steady(means),
        categories.get(name, []),
        is_sparse,
        tables.names[name],
        float(mean.mean()) if kind == BINARY else None,
    )


def _merged(facts: list[Facts]) -> tuple[int, Array, Array, Array]:
    """Count, mean and squares about it of all blocks, from those of each."""
    count, mean = 0, np.zeros(len(facts[0].mean))
    squares, largest = np.zeros_like(mean), np.zeros_like(mean)
    for part in facts:
        if not part.count:
            continue
        total = count + part.count
        gap = part.mean - mean
        mean = mean + gap * part.count / total
        squares = squares + part.squares + gap**2 * count * part.count / total
        largest, count = np.maximum(largest, part.largest), total
    return count, mean, squares, largest


def _facts_of_block(tables: dict[str, Any]) -> dict[str, Facts]:
    return {name: _facts(name, table) for name, table in tables.items()}


def _facts(name: str, table: Any) -> Facts:
    present, kind = rows_present(name, table), kind_of(table)
    is_sparse, width = bool(sp.issparse(table)), table.shape[1]
    nothing = np.zeros(width)
    if kind == CATEGORICAL or not present.any():
        count = int(present.sum())
        return Facts(kind, count, nothing, nothing, nothing, is_sparse)
    known = table[present]
    count = known.shape[0]
    if is_sparse:
        mean = np.asarray(known.mean(axis=0), dtype=np.float64).ravel()
        raw = np.asarray(known.power(2).mean(axis=0), dtype=np.float64).ravel()
        squares = np.maximum(raw - mean**2, 0.0) * count
        return Facts(kind, count, mean, squares, nothing, is_sparse)
    numbers = known.astype(np.float64)
    mean = numbers.mean(axis=0)
    squares = np.square(numbers - mean).sum(axis=0)
    largest = np.abs(numbers).max(axis=0)
    return Facts(kind, count, mean, squares, largest, is_sparse)


def _categories(tables: dict[str, Any], names: list[str]) -> dict[str, list[Array]]:
    found = {}
    for name in names:
        known = tables[name][rows_present(name, tables[name])]
        refuse_real_columns(name, known)
        found[name] = [np.unique(column) for column in as_text(known).T]
    return found


# -- numbers --------------------------------------------------------------------------


def encoded_rows(modes: list[Mode], tables: ModeTables) -> DistributedRows:
    """All modes side by side as numbers, then a column of presence for each."""
    blocks = tables.blocks.map(_encoded, literal(modes))
    looks = values("encoding the modes", blocks.tasks(_look))
    dtype = np.result_type(*(look[1] for look in looks))
    width = sum(mode.width for mode in modes) + len(modes)
    blocks = resized(blocks, working_sizes(blocks.sizes))
    return DistributedRows(
        blocks,
        width,
        floating(dtype),
        is_sparse=any(look[0] for look in looks),
        given_sizes=tables.given_sizes,
    )


def _encoded(tables: dict[str, Any], modes: list[Mode]) -> Any:
    return encode_modes(modes, tables)[1]


def _look(block: Any) -> tuple[bool, Any]:
    return bool(sp.issparse(block)), block.dtype


def _contributions(estimator: Any) -> Any:
    """How much of each sample's place each mode gives, in blocks."""
    import dask.array as da

    shares = {share.name: share for share in estimator._extension.graphs}
    n = estimator._extension.V.shape[0]
    chunks = estimator._extension.V.chunks[0]
    lengths = [
        da.sqrt(((shares[name].weight * shares[name].RV) ** 2).sum(axis=1))
        if name in shares
        else da.zeros(n, chunks=(chunks,))
        for name in estimator.mode_names_
    ]
    table = da.stack(lengths, axis=1).rechunk({1: -1})
    return table.map_blocks(shares_of_total, dtype=np.float64)
