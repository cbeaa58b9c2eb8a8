"""Rows and edges that workers make for themselves, of any number."""

from __future__ import annotations

import numpy as np

COLUMNS, CLUSTERS, CHOSEN = 50, 64, 5


def rows_of(start: int, stop: int) -> np.ndarray:
    """Rows of 64 clouds in 8 of 50 dimensions; row i is of cloud i mod 64."""
    centres = np.random.default_rng(7).standard_normal((CLUSTERS, 8))
    turn = np.random.default_rng(8).standard_normal((8, COLUMNS))
    rng = np.random.default_rng([9, start])
    inner = centres[np.arange(start, stop) % CLUSTERS]
    inner = inner + 0.4 * rng.standard_normal(inner.shape)
    noise = 0.1 * rng.standard_normal((stop - start, COLUMNS))
    return inner @ turn + noise


def edges_of(start: int, stop: int, n: int, spread: int):
    """Each row chooses five of its cloud, at most ``spread`` places away in it.

    With ``spread=0`` from all of the table: then edges lead to every block alike.
    """
    import pandas as pd

    rng = np.random.default_rng([10, start])
    tails = np.arange(start, stop)
    places = n // CLUSTERS
    own = np.minimum(tails // CLUSTERS, places - 1)
    shape = (len(tails), CHOSEN)
    if spread:
        other = own[:, None] + rng.integers(1, spread + 1, shape)
    else:
        other = rng.integers(0, places, shape)
    heads = (other % places) * CLUSTERS + (tails % CLUSTERS)[:, None]
    kept = np.minimum(heads, n - 1).ravel()
    return pd.DataFrame({"source": np.repeat(tails, CHOSEN), "target": kept})


def collections(n: int, chunk: int, spread: int):
    """X as a dask.array and the edges as a dask.dataframe; nothing is computed."""
    import dask.array as da
    import dask.dataframe as dd

    starts = list(range(0, n, chunk))
    sizes = tuple(min(chunk, n - start) for start in starts)
    X = da.map_blocks(_block, chunks=(sizes, (COLUMNS,)), dtype=float)
    ends = [start + size for start, size in zip(starts, sizes, strict=True)]
    meta = {"source": int, "target": int}
    edges = dd.from_map(edges_of, starts, ends, n=n, spread=spread, meta=meta)
    return X, edges


def _block(block_info=None) -> np.ndarray:
    (start, stop), _ = block_info[None]["array-location"]
    return rows_of(start, stop)
