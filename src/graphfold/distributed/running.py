"""Tasks that Dask runs: followed block by block, and given up where nobody is left.

With a ``distributed.Client`` the cluster runs them, else Dask's own threads do. What is
waited for is counted, so that ``verbose`` and callbacks hear of it; a task that fails
raises its own error; and where the workers or the scheduler are gone for longer than
``graphfold.worker-timeout`` (of Dask's configuration, 30 s) there is one sentence
instead of waiting for ever.
"""

from __future__ import annotations

import time
import warnings
from asyncio import CancelledError as AsyncCancelledError
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

import dask
from dask.callbacks import Callback
from dask.utils import parse_timedelta

from graphfold.distributed.homes import homes, threads_of_workers
from graphfold.distributed.tasks import Task, from_delayed, written
from graphfold.errors import ClusterError
from graphfold.progress import Stage, stage
from graphfold.threads import one_blas_thread

#: seconds between two looks at the cluster
FOLLOWED = 0.2
#: what is raised for work that a cluster no longer knows
LOST = (CancelledError, AsyncCancelledError)
GONE = (
    "the cluster has lost the work that was waited for: its workers or its scheduler "
    "have gone or were restarted; connect again, and fit again"
)
#: how long workers may be away: a nanny starts a new one within a few seconds
PATIENCE = "30s"


def values(name: str, tasks: Sequence[Task], steps: Sequence[Task] = ()) -> list[Any]:
    """What the tasks return; ``steps``, among their inputs, are counted."""
    client = current_client()
    found, places = written([*tasks, *steps])
    if client is None:
        with _counting(name, list(steps or tasks)), one_blas_thread():
            return list(dask.compute(*found[: len(tasks)]))
    with _quiet_about_size(), homes(client, places):
        futures = client.compute(found)
    wanted, counted = futures[: len(tasks)], futures[len(tasks) :]
    del futures  # a step that has been used need not be kept
    _follow(client, name, wanted, counted)
    return _gathered(client, wanted)


def held(name: str, tasks: Sequence[Task]) -> list[Task]:
    """The same tasks, done: their results lie where they were made."""
    client = current_client()
    found, places = written(tasks)
    if client is None:
        with _counting(name, tasks), one_blas_thread():
            return [from_delayed(one) for one in dask.persist(*found)]
    from distributed import futures_of

    with _quiet_about_size(), homes(client, places):
        kept = client.persist(found)
    _follow(client, name, futures_of(kept), [])
    return [from_delayed(one) for one in kept]


def current_client() -> Any:
    """The client whose cluster runs Dask's work here, or None for Dask's threads."""
    chosen = dask.config.get("scheduler", None)
    if chosen not in (None, "distributed", "dask.distributed"):
        return None
    try:
        from distributed import Client
    except ImportError:
        return None
    try:
        return Client.current()
    except ValueError:
        return None


def _follow(client: Any, name: str, wanted: list[Any], counted: list[Any]) -> None:
    """Wait for the wanted, and tell how many of the counted (or of them) are done."""
    followed = counted or list(wanted)
    patience = _Patience(client)
    try:
        with stage(name, len(followed), "block") as step:
            while followed or not all(future.done() for future in wanted):
                _wait_a_little(followed or wanted)
                for future in (*followed, *wanted):
                    if future.status in ("error", "cancelled", "lost"):
                        _raise(future)
                done = sum(future.done() for future in followed)
                followed[:] = [future for future in followed if not future.done()]
                if done:
                    step(count=done)
                patience.look()
    except BaseException:
        with suppress(Exception):  # there may be nobody left to tell
            client.cancel([*wanted, *followed], force=True)
        raise


def _gathered(client: Any, futures: list[Any]) -> list[Any]:
    """Results here; a worker may go while they are on their way."""
    patience = _Patience(client)
    waiting: Future[Any] = Future()

    def gather() -> None:
        try:
            waiting.set_result(client.gather(futures))
        except BaseException as error:
            waiting.set_exception(error)

    # a thread that nobody waits for at the end of Python, whatever becomes of workers
    Thread(target=gather, daemon=True).start()
    try:
        while not waiting.done():
            wait([waiting], timeout=FOLLOWED)
            patience.look()
        return list(waiting.result())
    except LOST:
        raise ClusterError(GONE) from None


def _wait_a_little(futures: Sequence[Any]) -> None:
    from distributed import wait as wait_for

    try:
        # not for the first: each of many futures would be asked at every one of them
        wait_for(list(futures), timeout=FOLLOWED)
    except (TimeoutError, *LOST):
        return  # what became of them is looked at next


class _Patience:
    """Looks after the cluster; raises when it has been empty for too long."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.limit = worker_timeout()
        self._alone_since: float | None = None
        self._looked = 0.0

    def look(self) -> None:
        now = time.monotonic()
        if now - self._looked < 1.0:
            return
        self._looked = now
        if self._works():
            self._alone_since = None
            return
        self._alone_since = self._alone_since or now
        if now - self._alone_since >= self.limit:
            raise ClusterError(
                f"the cluster must have workers; there has been none for "
                f"{self.limit:.0f} s: start some, or connect to another cluster, and "
                "fit again"
            )

    def _works(self) -> bool:
        return bool(threads_of_workers(self.client))


def worker_timeout() -> float:
    """Seconds without a worker after which a fit gives up."""
    return float(parse_timedelta(dask.config.get("graphfold.worker-timeout", PATIENCE)))


def _raise(future: Any) -> None:
    """The error of a task, or what became of it, in one sentence."""
    if future.status != "error":
        raise ClusterError(GONE)
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        raise ClusterError(
            "a block of work has ended several workers, most likely for want of "
            "memory: use smaller chunks of X, fewer landmarks, or workers with more "
            f"memory ({error.task if hasattr(error, 'task') else error})"
        ) from None
    raise error


@contextmanager
def _counting(name: str, tasks: Sequence[Any]) -> Iterator[None]:
    """Count tasks that Dask's own threads have done."""
    keys = {task.key for task in tasks}
    with stage(name, len(tasks), "block") as step, _Counter(keys, step):
        yield


class _Counter(Callback):
    """Hears of tasks done by Dask's threads, in the thread that waits for them."""

    def __init__(self, keys: set[Any], step: Stage) -> None:
        super().__init__(posttask=self._done)
        self.keys, self.step = keys, step

    def _done(self, key: Any, *_: Any) -> None:
        if key in self.keys:
            self.step()


@contextmanager
def _quiet_about_size() -> Iterator[None]:
    """Landmarks go with the tasks, however many they are: it is meant."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield
