"""Two workers against one, beside two plain processes against one.

    python -m benchmarks.distributed --spread 50   # 500,000 x 50, m = 500, edges near
    python -m benchmarks.distributed --spread 0    # edges anywhere

Workers are processes with one thread, of Dask and of BLAS. Every repeat starts clusters
of its own; a fit is timed from its call, rows and edges made by the workers included.
The plain processes run the same functions on the same blocks with memory that they
share, and wait for each other between the stages: they move nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.distributed_data import COLUMNS, collections, edges_of, rows_of

RESULTS = Path(__file__).parent / "results" / "distributed.json"
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def fit(n: int, m: int, n_workers: int, chunk: int, spread: int) -> dict:
    """One fit on a cluster of its own."""
    import psutil
    from distributed import Client, LocalCluster

    from graphfold import GraphKernelPCA

    # what a worker may hold is given by the machine: nothing is spilled here
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        memory_limit=0.9 * psutil.virtual_memory().total / n_workers,
        dashboard_address=None,
        host="127.0.0.1",
        silence_logs=50,
    )
    with cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers)
        X, edges = collections(n, chunk, spread)
        client.run(_warm)
        moved, tasks = _moved(client), _tasks(client)
        started = time.perf_counter()
        model = GraphKernelPCA(10, graph=edges, landmarks=m).fit(X)
        seconds = time.perf_counter() - started
        peak = client.run(_peak)
        return {
            "n": n,
            "m": m,
            "n_workers": n_workers,
            "seconds": seconds,
            "eigenvalues": model.eigenvalues_[:3].tolist(),
            "peak_mb": [round(value / 2**20) for value in peak.values()],
            "moved_mb": round((_moved(client) - moved) / 2**20),
            "tasks": _tasks(client) - tasks,
        }


def _warm() -> None:
    import graphfold.estimators.on_workers  # noqa: F401


def _peak() -> float:
    import resource

    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _moved(client) -> float:
    """Bytes that workers have sent each other."""

    def sent(dask_worker) -> float:
        return float(dask_worker.transfer_outgoing_bytes_total)

    return sum(client.run(sent).values())


def _tasks(client) -> int:
    """Tasks that workers have done."""

    def done(dask_worker) -> int:
        return int(dask_worker.state.executed_count)

    return sum(client.run(done).values())


# -- plain processes ------------------------------------------------------------------


def plain(n: int, m: int, n_processes: int, chunk: int, spread: int) -> dict:
    """The stages of a fit by processes that share memory, without a scheduler."""
    from graphfold.kernels import Gaussian
    from graphfold.kernels.landmarks import landmark_features

    rows = rows_of(0, chunk)[:m]
    gamma = Gaussian("median").bind(rows, np.random.default_rng(0))
    features = landmark_features(gamma, rows, center=True)
    starts = np.append(np.arange(0, n, chunk), n)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for name in ("phi", "near", "p"):
            shape = (n, features.rank)
            np.lib.format.open_memmap(f"{folder}/{name}.npy", "w+", np.float32, shape)
        strips = _strips(starts, n, spread)
        context = mp.get_context("fork")
        barrier, queue = context.Barrier(n_processes + 1), context.Queue()
        arguments = (folder, features, strips, starts, n_processes, barrier, queue)
        processes = [
            context.Process(target=_work, args=(i, *arguments))
            for i in range(n_processes)
        ]
        for process in processes:
            process.start()
        barrier.wait()
        started = time.perf_counter()
        parts = [queue.get() for _ in processes]
        seconds = time.perf_counter() - started
        for process in processes:
            process.join()
    trace = float(sum(np.trace(part[1]) for part in parts))
    return {"n": n, "m": m, "n_processes": n_processes, "seconds": seconds, "t": trace}


def _strips(starts: np.ndarray, n: int, spread: int) -> list:
    """The normalised graph in strips, made before the clock starts."""
    import scipy.sparse as sp

    from graphfold.distributed.grid import strip_of_rows
    from graphfold.graphs import Graph, laplacian
    from graphfold.model.span import normalized_adjacency

    parts = [edges_of(a, b, n, spread) for a, b in pairwise(starts)]
    tails = np.concatenate([part["source"] for part in parts])
    heads = np.concatenate([part["target"] for part in parts])
    graph = Graph.from_edges(tails, heads, nodes=np.arange(n))
    S = sp.csr_array(normalized_adjacency(laplacian(graph)))
    return [strip_of_rows(sp.csr_array(S[a:b]), starts) for a, b in pairwise(starts)]


def _work(k, folder, features, strips, starts, n_processes, barrier, queue) -> None:
    from graphfold.distributed import features as on_workers
    from graphfold.distributed.blocks import add
    from graphfold.distributed.grid import WHOLE

    phi, near, p = (
        np.load(f"{folder}/{name}.npy", mmap_mode="r+") for name in ("phi", "near", "p")
    )
    own = range(k, len(strips), n_processes)
    block = {i: slice(int(starts[i]), int(starts[i + 1])) for i in range(len(strips))}

    def gathered(table, strip):
        return {
            j: table[block[j]]
            if len(rows) > WHOLE * len(table[block[j]])
            else table[block[j]][rows]
            for j, rows in enumerate(strip.needed)
            if rows is not None
        }

    barrier.wait()
    for i in own:
        X = rows_of(int(starts[i]), int(starts[i + 1]))
        phi[block[i]] = on_workers._features(X, [features])
    _wait(barrier, n_processes)
    sums = []
    for i in own:
        around = [(strips[i], gathered(phi, strips[i]))]
        near[block[i]], first = on_workers._first_step(around, phi[block[i]])
        sums.append(first)
    _wait(barrier, n_processes)
    moments = []
    for i in own:
        around = [(strips[i], gathered(near, strips[i]))]
        p[block[i]], second = on_workers._second_step(around, phi[block[i]])
        moments.append(second)
    _wait(barrier, n_processes)
    last = []
    for i in own:
        near_p = [(strips[i], gathered(p, strips[i]))]
        last.append(on_workers._last_step(near_p, phi[block[i]], p[block[i]]))
    queue.put((add(sums), add(moments)[1], add(last)))


_MEETING = None


def _wait(barrier, n_processes: int) -> None:
    """Wait for the other processes; the barrier counts the parent as well."""
    if n_processes > 1:
        _MEETING.wait()


# -- the run --------------------------------------------------------------------------


def once(kind: str, **settings) -> dict:
    """One measurement in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.distributed", "--once", kind]
    words += ["--settings", json.dumps(settings)]
    environment = {**os.environ, **ONE_THREAD}
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def run(n: int, m: int, repeats: int, chunk: int, spread: int) -> dict:
    found: dict[str, list[float]] = {}
    details = []
    for i in range(repeats):
        for kind, count in (("fit", 1), ("fit", 2), ("plain", 1), ("plain", 2)):
            name = "n_workers" if kind == "fit" else "n_processes"
            one = once(kind, n=n, m=m, chunk=chunk, spread=spread, **{name: count})
            found.setdefault(f"{kind} {count}", []).append(one["seconds"])
            details.append(one)
            print(f"repeat {i}: {kind} {count}: {one}", file=sys.stderr, flush=True)
    gains = {
        kind: [
            a / b for a, b in zip(found[f"{kind} 1"], found[f"{kind} 2"], strict=True)
        ]
        for kind in ("fit", "plain")
    }
    return {
        "n": n,
        "m": m,
        "columns": COLUMNS,
        "chunk": chunk,
        "spread": spread,
        "seconds": found,
        "gain": {kind: median(values) for kind, values in gains.items()},
        "share_of_plain": median(gains["fit"]) / median(gains["plain"]),
        "details": details,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--landmarks", type=int, default=500)
    parser.add_argument("--chunk", type=int, default=31_250)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--spread", type=int, default=0)
    parser.add_argument("--once", choices=("fit", "plain"))
    parser.add_argument("--settings", type=json.loads)
    arguments = parser.parse_args()
    if arguments.once:
        global _MEETING
        if arguments.once == "plain":
            count = arguments.settings["n_processes"]
            _MEETING = mp.get_context("fork").Barrier(count)
        kind = {"fit": fit, "plain": plain}[arguments.once]
        print(json.dumps(kind(**arguments.settings)))
        return
    found = run(
        arguments.rows,
        arguments.landmarks,
        arguments.repeats,
        arguments.chunk,
        arguments.spread,
    )
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known[f"n={found['n']} m={found['m']} spread={found['spread']}"] = found
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    print(json.dumps({k: v for k, v in found.items() if k != "details"}, indent=1))


if __name__ == "__main__":
    main()
