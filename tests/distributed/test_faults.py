"""Workers that die, clusters that end, and memory that is short."""

import os
import signal
import subprocess
import sys
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest

from graphfold import NeighborGraph
from graphfold.errors import ClusterError, GraphfoldError
from tests.distributed.problems import (
    chunked,
    in_memory,
    largest_gap,
    on_workers,
    own_cluster,
    start_cluster,
    two_clouds,
    working_on,
)

X = two_clouds(1500)
PLAIN = NeighborGraph(6).build(X)
SIZES = (300, 300, 300, 300, 300)


class Killer(threading.Thread):
    """Does something when a fit has come to a stage, and knows that it did."""

    def __init__(self, action):
        super().__init__(daemon=True)
        self.action, self.reached, self.done = action, threading.Event(), False

    def run(self):
        if self.reached.wait(60):
            self.action()
            self.done = True


def fit_until(stage_name, action, **settings):
    """Fit; when a stage begins, ``action`` is done from another thread."""
    from graphfold.progress import Watcher, watching

    killer = Killer(action)

    class Listener(Watcher):
        def began(self, stage):
            if stage.name == stage_name:
                killer.reached.set()

    killer.start()
    try:
        with watching(Listener()):
            return on_workers(chunked(X, SIZES), PLAIN, **settings)
    finally:
        assert killer.reached.is_set()  # else the stage has another name now
        killer.join(60)
        assert killer.done


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param("edges of the rows", marks=own_cluster),
        "features of neighbours",
    ],
)
def test_a_worker_that_is_killed_changes_nothing(stage):
    expected = in_memory(X, PLAIN).embedding_
    with start_cluster(2) as client, working_on(client):
        victims = list(client.run(os.getpid).values())
        model = fit_until(stage, lambda: os.kill(victims[0], signal.SIGKILL))
        assert largest_gap(model.embedding_.compute(), expected) < 1e-6


def test_workers_that_all_die_at_once_and_come_again_change_nothing():
    """Blocks had homes with those that are gone: any of the new ones may have them."""
    expected = in_memory(X, PLAIN).embedding_
    with start_cluster(2) as client, working_on(client):
        victims = list(client.run(os.getpid).values())

        def kill_all():
            for victim in victims:
                os.kill(victim, signal.SIGKILL)

        model = fit_until("features of neighbours", kill_all)
        assert not set(victims) & set(client.run(os.getpid).values())
        assert largest_gap(model.embedding_.compute(), expected) < 1e-6


@own_cluster
@pytest.mark.parametrize("n_victims", [1, 2])
def test_workers_that_die_after_the_fit_take_no_row_with_them(n_victims):
    expected = in_memory(X, PLAIN).embedding_
    with start_cluster(2) as client, working_on(client):
        model = on_workers(chunked(X, SIZES), PLAIN)
        for victim in list(client.run(os.getpid).values())[:n_victims]:
            os.kill(victim, signal.SIGKILL)
        assert largest_gap(model.embedding_.compute(), expected) < 1e-6


def test_all_workers_gone_is_one_sentence_in_bounded_time():
    with start_cluster(1) as client, working_on(client):
        cluster = client.cluster
        started = time.monotonic()
        with (
            dask.config.set({"graphfold.worker-timeout": "3s"}),
            # the scheduler may forget work that no worker has before we see that
            pytest.raises(ClusterError, match=r"been none for 3 s|workers or its"),
        ):
            fit_until("features of neighbours", lambda: cluster.scale(0))
        assert time.monotonic() - started < 60


@own_cluster
def test_a_scheduler_that_ends_is_one_sentence_in_bounded_time():
    impatient = dask.config.set({"graphfold.worker-timeout": "3s"})
    with start_cluster(1) as client, working_on(client), impatient:
        close = client.cluster.close
        with pytest.raises(ClusterError, match="connect"):
            fit_until("features of neighbours", close)


def test_an_error_on_a_worker_is_raised_as_it_is(workers):
    with pytest.raises(GraphfoldError, match="NaN or infinity"):
        on_workers(chunked(np.where(X > 4.5, np.nan, X), SIZES), PLAIN)


def test_a_failed_fit_leaves_the_estimator_as_it_was(workers):
    from graphfold import GraphKernelPCA

    model = GraphKernelPCA(2, landmarks=60).fit(chunked(X, SIZES))
    before = model.embedding_
    with pytest.raises(GraphfoldError):
        model.fit(da.from_array(np.full((50, 5), np.nan), chunks=25))
    assert model.embedding_ is before


MEMORY = """
import resource, sys
import numpy as np
import dask, dask.array as da
from distributed import Client, LocalCluster
from graphfold import GraphKernelPCA

def rows(block_info=None):
    (start, stop), _ = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    group = np.arange(start, stop) % 4
    return rng.standard_normal((stop - start, 50)) + 3.0 * group[:, None]

def edges(start, stop):
    import pandas as pd
    tails = np.arange(start, stop)
    near = np.minimum(tails[:, None] + 4 * np.arange(1, 3), N - 1)
    return pd.DataFrame({"source": np.repeat(tails, 2), "target": near.ravel()})

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def main():
    import dask.dataframe as dd
    import threading, time
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, memory_limit=LIMIT,
        dashboard_address=None, host="127.0.0.1", silence_logs=50,
    )
    with cluster, Client(cluster) as client:
        chunks = (tuple([100_000] * (N // 100_000)), (50,))
        X = da.map_blocks(rows, chunks=chunks, dtype=float)
        starts = list(range(0, N, 250_000))
        graph = dd.from_map(edges, starts, [s + 250_000 for s in starts],
                            meta={"source": int, "target": int})
        # what a fit imports and sets up is there before it is measured
        GraphKernelPCA(2, landmarks=20).fit(da.from_array(np.eye(60), chunks=30))
        peak, before, over = [0], resident(), threading.Event()
        def watch():
            while not over.is_set():
                peak[0] = max(peak[0], resident())
                time.sleep(0.02)
        thread = threading.Thread(target=watch); thread.start()
        model = GraphKernelPCA(5, landmarks=40, graph=graph).fit(X)
        over.set(); thread.join()
        corner = model.embedding_[:5].compute()
        used = client.run(
            lambda: 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        )
        print(peak[0] - before, model.embedding_.shape[0], np.isfinite(corner).all(),
              max(used.values()))

if __name__ == "__main__":
    main()
"""


@own_cluster
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
def test_the_client_never_holds_the_rows(tmp_path):
    """2,000,000 x 50 are 800 MB, an embedding of five columns 80 MB."""
    n, limit = 2_000_000, 2_000_000_000
    script = tmp_path / "fit.py"
    script.write_text(f"N, LIMIT = {n}, {limit}\n" + MEMORY)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    growth, rows, finite, worker = done.stdout.split()[-4:]
    assert int(rows) == n
    assert finite == "True"
    # one column of n float64 would be 16 MB: the client has some of them at most
    assert int(growth) < 64e6
    assert int(worker) < limit
