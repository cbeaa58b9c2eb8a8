"""Resident memory that a fit adds, measured in a process of its own.

``python -m tests.peak '{"estimator": "GraphKernelPCA", "n": 3000, ...}'`` prints what
the plan said and what was measured, or the sentence of a budget that is too small;
``{"h5ad": "cells.h5ad", "warm": "few.h5ad", "backed": "r", "settings": {...}}`` what
``ad.graph_kernel_pca`` took of a file, and ``ad.transform`` by a few cells.
"""

from __future__ import annotations

import ctypes
import gc
import json
import resource
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path

from graphfold.threads import n_threads

ROOT = Path(__file__).parent.parent
#: glibc gives freed memory back from 64 MB on only, where blocks of up to 32 MB were
#: in use: what a thread has freed, up to about that, still counts as resident
OF_A_THREAD = 32 * 2**20


def allowance() -> int:
    """Bytes that count as resident although the threads of a fit have freed them."""
    return OF_A_THREAD * n_threads()


def measure(request: dict, timeout: float | None = None) -> dict:
    """The answer of a fresh process."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.peak", json.dumps(request)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {timeout:.0f} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def added(run) -> tuple[int, float, float]:
    """Bytes by which the peak of resident memory passes what was resident before.

    And seconds by the clock and of the processor.
    """
    gc.collect()
    # what the allocator keeps for later is not in use, and the peak so far is forgotten
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    start, worked = time.perf_counter(), time.process_time()
    run()
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    return resident("VmHWM") - before, seconds, worked


def resident(field: str) -> int:
    """A line of the system's report on this process, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:  # not Linux: the peak is all there is
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 1024 * next(int(x.split()[1]) for x in lines if x.startswith(field))


def rows(n: int, columns: int, dtype: str = "float64", density: float | None = None):
    """Random rows around ten centres, dense or sparse, in some blocks."""
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    if density is not None:
        X = sp.random(n, columns, density, random_state=0, dtype=dtype)
        return X.tocsr()
    centres = 2 * rng.standard_normal((10, columns))
    X = np.empty((n, columns), dtype=dtype)
    for start in range(0, n, 2048):
        part = X[start : start + 2048]
        part[:] = rng.standard_normal(part.shape, dtype="float32")
        part += centres[rng.integers(10, size=len(part))]
    return X


def ring(n: int, degree: int = 10):
    """A graph of n nodes, each linked to those next to it."""
    import numpy as np
    import scipy.sparse as sp

    starts = np.repeat(np.arange(n), degree // 2)
    ends = (starts + np.tile(np.arange(1, degree // 2 + 1), n)) % n
    W = sp.csr_array((np.ones(len(starts)), (starts, ends)), shape=(n, n))
    return sp.csr_array(W + W.T)


def on_disk(X, kind: str, folder: str):
    """The same rows in a file."""
    import numpy as np

    if kind == "memmap":
        table = np.memmap(f"{folder}/X", dtype=X.dtype, mode="w+", shape=X.shape)
        table[:] = X
        table.flush()
        return np.memmap(f"{folder}/X", dtype=X.dtype, mode="r", shape=X.shape)
    if kind == "zarr":
        import zarr

        table = zarr.create_array(
            store=f"{folder}/X.zarr",
            shape=X.shape,
            chunks=(min(200, X.shape[0]), X.shape[1]),
            dtype=X.dtype,
        )
    else:
        import h5py

        table = h5py.File(f"{folder}/X.h5", "w").create_dataset(
            "X", X.shape, dtype=X.dtype, chunks=(min(200, X.shape[0]), X.shape[1])
        )
    for start in range(0, X.shape[0], 1000):
        table[start : start + 1000] = X[start : start + 1000]
    return table


def fit_of(request: dict, n: int):
    """An estimator and its arguments, for n rows."""
    import graphfold
    from graphfold import kernels

    settings = dict(request.get("settings", {}))
    if isinstance(settings.get("kernel"), list):
        name, *arguments = settings["kernel"]
        settings["kernel"] = getattr(kernels, name)(*arguments)
    if request.get("kernels"):
        settings["kernel"] = request["kernels"]
    if request.get("degree"):
        settings["graph"] = graphfold.Graph(ring(n, request["degree"]))
    X = rows(
        n, request["columns"], request.get("dtype", "float64"), request.get("density")
    )
    if request.get("neighbors"):
        recipe = graphfold.NeighborGraph(request["neighbors"])
        settings["graph"] = recipe.build(X)
    return getattr(graphfold, request["estimator"])(**settings), X


def report_of_file(request: dict) -> dict:
    """What a verb adds to resident memory on an h5ad file, and what placing it does."""
    import anndata

    from graphfold import ad

    def opened(name):
        return anndata.read_h5ad(request[name], backed=request["backed"])

    warnings.simplefilter("ignore")
    settings = request["settings"]
    few, cells = opened("warm"), opened("h5ad") if request["backed"] else None
    # imports and buffers, those of the landmark way among them, are no part of a fit
    ad.graph_kernel_pca(few, 2, keep_model=True, **{"landmarks": 30, **settings})

    def run():
        ad.graph_kernel_pca(opened("h5ad") if cells is None else cells, 2, **settings)

    found = {"measured": added(run)[0]}
    if cells is not None:
        found["warned"] = "\n".join(cells.uns["graphfold"].get("warnings", []))
        found["placed"] = added(lambda: ad.transform(cells, few, key_added="by few"))[0]
    return found


def report(request: dict) -> dict:
    """What was planned and what was measured; the sentence of an error."""
    from graphfold.errors import BudgetError

    if "h5ad" in request:
        return report_of_file(request)
    warnings.simplefilter("ignore")
    # imports and the buffers of BLAS are no part of a fit
    fit = fit_of(request, min(1100, request["n"]))
    fit[0].fit(fit[1])
    del fit
    model, X = fit_of(request, request["n"])
    if request.get("disk"):
        X = on_disk(X, request["disk"], request["folder"])
    if request.get("budget"):
        model.set_params(max_memory=request["budget"])
    try:
        plan = model.plan(X)
        peak, seconds, worked = added(lambda: model.fit(X))
    except BudgetError as error:
        return {"refused": str(error)}
    return {
        "way": plan.way,
        "storage": plan.storage,
        "solver": plan.solver,
        "landmarks": plan.landmarks,
        "planned": plan.peak_bytes,
        "measured": peak,
        "planned_seconds": plan.seconds,
        "seconds": seconds,
        "cpu_seconds": worked,
    }


if __name__ == "__main__":
    print(json.dumps(report(json.loads(sys.argv[1]))))
