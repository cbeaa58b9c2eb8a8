"""Peak memory and time of a fit of an h5ad file that stays on disk.

    python -m benchmarks.backed --cells 300000 --genes 20000

A sparse file of made-up cells is written to a temporary folder, five in a hundred genes
seen, with a graph; then it is embedded by landmarks in a process that has not seen it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def write(path: Path, n: int, n_genes: int, seen: float) -> None:
    """A CSR table, block by block, and a graph that links cells next to each other."""
    import anndata
    import h5py
    import scipy.sparse as sp
    from anndata.io import write_elem

    from tests.peak import ring

    rng = np.random.default_rng(0)
    per_row = int(seen * n_genes)
    bare = anndata.AnnData(sp.csr_matrix((n, n_genes), dtype=np.float32))
    bare.obsp["connectivities"] = sp.csr_matrix(ring(n, 6))
    bare.write_h5ad(path)
    with h5py.File(path, "r+") as file:
        group = file["X"]
        for name, dtype in (("data", np.float32), ("indices", np.int32)):
            del group[name]
            group.create_dataset(name, (n * per_row,), dtype=dtype, chunks=(2**17,))
        del group["indptr"]
        write_elem(group, "indptr", np.arange(0, n * per_row + 1, per_row))
        for first in range(0, n, 5000):
            count = min(5000, n - first)
            # a stretch of genes that moves with the type of the cell, as the graph does
            type_of_cell = 8 * np.arange(first, first + count)[:, None] // n
            gaps = rng.integers(1, max(2, n_genes // per_row), size=(count, per_row))
            columns = np.cumsum(gaps, axis=1) + type_of_cell * n_genes // 32
            place = slice(first * per_row, (first + count) * per_row)
            group["indices"][place] = np.sort(columns % n_genes, axis=1).ravel()
            group["data"][place] = rng.random(count * per_row, dtype=np.float32)


def fit(path: Path, landmarks: int, max_memory: str | None) -> dict[str, float]:
    """What the fit adds to resident memory, and how long it takes."""
    import anndata

    from graphfold import ad
    from tests.peak import added

    cells = anndata.read_h5ad(path, backed="r")
    settings = {"landmarks": landmarks, "max_memory": max_memory}
    peak, seconds, worked = added(lambda: ad.graph_kernel_pca(cells, 6, **settings))
    nnz = cells.X.group["data"].shape[0]
    return {
        "cells": cells.n_obs,
        "genes": cells.n_vars,
        "table_mb": round(nnz * 8 / 2**20),
        "peak_mb": round(peak / 2**20),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(worked, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cells", type=int, default=300_000)
    parser.add_argument("--genes", type=int, default=20_000)
    parser.add_argument("--seen", type=float, default=0.05)
    parser.add_argument("--landmarks", type=int, default=300)
    parser.add_argument("--max-memory", default=None)
    parser.add_argument("--fit", type=Path, default=None, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit is not None:
        print(json.dumps(fit(given.fit, given.landmarks, given.max_memory)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.h5ad"
        write(path, given.cells, given.genes, given.seen)
        own = [sys.executable, "-m", "benchmarks.backed", "--fit", str(path)]
        own += ["--landmarks", str(given.landmarks)]
        own += ["--max-memory", given.max_memory] if given.max_memory else []
        subprocess.run(own, check=True)


if __name__ == "__main__":
    main()
