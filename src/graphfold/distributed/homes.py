"""Workers that blocks are best made on: a wish for each task that has a place.

Tables in the same blocks meet without being moved, and neighbours lie together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import dask
import numpy as np


def threads_of_workers(client: Any) -> dict[str, int]:
    """Threads of each worker by its address; of a cluster that is gone, none."""
    if client.status != "running":
        return {}
    try:
        # by the loop of the client, so that a scheduler that hangs does not hang us
        found = client.sync(client.scheduler.ncores, workers=None, callback_timeout=5)
    except (OSError, TimeoutError, AttributeError):
        return {}
    return dict(found)


_rows_of_workers: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()


def _in_a_row(client: Any, there: set[str]) -> list[str]:
    """Workers in the order they had before; a new one is where another has gone."""
    before = _rows_of_workers.get(client, [])
    new = sorted(there.difference(before))
    kept = [one if one in there else (new.pop(0) if new else "") for one in before]
    _rows_of_workers[client] = [one for one in kept if one] + new
    return _rows_of_workers[client]


@contextmanager
def homes(client: Any, places: dict[Any, float]) -> Iterator[None]:
    """Each task that has a place gets the worker there: a run of blocks for each.

    Workers have as much of the blocks as they have threads. It is a wish: one that is
    idle may take what others have not begun, and the work of one that is lost goes to
    the others.
    """
    threads = threads_of_workers(client)
    wished = len(threads) > 1 and places and "workers" not in dask.get_annotations()
    if not wished or not _wishes_end_with_workers(client):
        yield
        return
    order = _in_a_row(client, set(threads))
    ends = np.cumsum([threads[worker] for worker in order])
    keys = list(places)
    found = np.searchsorted(ends, ends[-1] * np.array([places[k] for k in keys]))
    home: dict[Any, list[str]] = defaultdict(list)  # the others may be anywhere
    for key, i in zip(keys, found.tolist(), strict=True):
        home[key] = [order[i]]
    with dask.annotate(workers=home.__getitem__, allow_other_workers=True):
        yield


def _wishes_end_with_workers(client: Any) -> bool:
    """Let the scheduler forget wishes for workers that are gone; False if it may not.

    Where all workers have gone at once, the scheduler (also of distributed 2026.8) sees
    only the wish when others come, not that it is no more than one, and tasks would
    wait for ever. It is told each time: a scheduler that was restarted knows nothing,
    and one that knows does nothing.
    """
    try:
        client.register_plugin(_forgetting(), name="graphfold-homes")
    except Exception:  # whatever a scheduler has against it: a wish is not worth a fit
        return False
    return True


def _forgetting() -> Any:
    """The scheduler's part: a class made here goes by value, and needs no graphfold."""
    from distributed import SchedulerPlugin

    class Forgetting(SchedulerPlugin):
        idempotent = True

        def add_worker(self, scheduler: Any, worker: str) -> None:
            there = set(scheduler.workers)
            for task in scheduler.unrunnable:
                wish = task.worker_restrictions
                if task.loose_restrictions and wish and not wish & there:
                    task.worker_restrictions = None

    return Forgetting()
