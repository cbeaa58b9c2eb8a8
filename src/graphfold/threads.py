"""Work on blocks of rows by as many threads as BLAS may use, in a fixed order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from threading import Lock, RLock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from threadpoolctl import ThreadpoolController

from graphfold.progress import Stage, stage

Work = TypeVar("Work")
Result = TypeVar("Result")


#: rows up to which one product of BLAS makes the kernel matrix, and a fit has threads
#: of ours beside one of BLAS
ONE_PRODUCT, SMALL = 1000, 2500
#: seconds between two looks at what threads have done
FOLLOWED = 0.1
#: threads that were BLAS's and are ours, inside of ``ours``
_taken: ContextVar[int | None] = ContextVar("taken", default=None)
#: limits to one thread that are in force, set by ``one_blas_thread``
_limits = 0
#: each library is asked and told by itself: nobody looks while that is going on
_lock = Lock()


#: whether this process is the child of a fork
_is_fork = False


def _begin_fork() -> None:
    """A child of a fork has no thread that would give the lock back."""
    global _lock, _limits, _is_fork
    _lock, _limits, _is_fork = Lock(), 0, True


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin_fork)


class Turns:
    """A lock for each of many objects, which is no part of them: they are copied."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._guard = Lock()
        self._locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def of(self, owner: Any) -> Any:
        """The lock of an object; who has it may take it again."""
        with self._guard:
            return self._locks.setdefault(owner, RLock())


def n_threads() -> int:
    """Threads that BLAS has been allowed: ours stay within the same limit."""
    taken = _taken.get()
    if taken is not None:
        return taken
    return _blas_threads()


def _blas_threads() -> int:
    pools = [pool for pool in blas().info() if pool["user_api"] == "blas"]
    return max((pool["num_threads"] or 1 for pool in pools), default=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS has one thread in here, and then what it had before.

    The number is that of the whole process. Who finds one thread leaves it at that:
    it may be the limit of another fit that is under way, which is no number to go
    back to when that fit is over.
    """
    global _limits
    limit = None
    with _lock:
        # asking the libraries takes as long as a small solve
        if not _limits and _blas_threads() > 1:
            limit = blas().limit(limits=1, user_api="blas").__enter__()
            _limits += 1
    try:
        yield
    finally:
        if limit is not None:
            with _lock:
                _limits = max(_limits - 1, 0)  # a fork begins at 0
                limit.__exit__(None, None, None)


def threads_for(n: int, limit: int) -> AbstractContextManager[None]:
    """One thread of BLAS up to a limit of rows, else as many as are allowed.

    NumPy and SciPy have a BLAS each. On small matrices the threads of one wait, at full
    speed, while the other works: a factorisation of 200 rows between products of NumPy
    took ten times as long on two threads as on one.
    """
    return one_blas_thread() if n <= limit else nullcontext()


@contextmanager
def openmp_without_parent() -> Iterator[None]:
    """In the child of a fork, OpenMP has one thread in here.

    GNU's would wait, without an end, for threads that are the parent's alone.
    """
    with blas().limit(limits=1, user_api="openmp") if _is_fork else nullcontext():
        yield


def in_order(
    function: Callable[[Work], Result], pieces: Iterable[Work]
) -> Iterator[Result]:
    """function of each piece, in the order of the pieces, computed side by side.

    Each thread has BLAS to itself, single-threaded: what BLAS does not parallelise
    (exponentials, sparse products) then uses all cores too. At most one result per
    thread waits to be taken, so results may be large.
    """
    workers = n_threads()
    if workers < 2 or (isinstance(pieces, list) and len(pieces) < 2):
        yield from map(function, pieces)
        return
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for piece in pieces:
                if len(waiting) >= workers:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(function, piece))
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def blocks(
    name: str, function: Callable[[Work], Result], pieces: Iterable[Work]
) -> Iterator[Iterator[Result]]:
    """The results of ``in_order``, reported as a stage of this name.

    Left by an error or an interrupt, no thread goes on and BLAS has its own back,
    even while a traceback holds on to the loop.
    """
    listed = list(pieces)
    results = in_order(function, listed)
    with stage(name, len(listed)) as step, closing(results):  # type: ignore[type-var]
        yield _counted(results, step)


def _counted(results: Iterable[Result], step: Stage) -> Iterator[Result]:
    for result in results:
        yield result
        step()


def do_blocks(
    name: str, function: Callable[[Work], object], pieces: Iterable[Work]
) -> None:
    """``blocks`` whose results are not looked at."""
    with blocks(name, function, pieces) as done:
        for _ in done:
            pass


class Tally:
    """What threads that each do a share of a job have done so far."""

    def __init__(self) -> None:
        self._done: list[None] = []
        self.stopped = False

    def __len__(self) -> int:
        return len(self._done)

    def add(self) -> bool:
        """One more piece is done; True if no more are wanted."""
        self._done.append(None)  # atomic, which += 1 is not
        return self.stopped


def in_shares(
    function: Callable[[Work, Tally], Result], shares: Sequence[Work], step: Stage
) -> list[Result]:
    """function of each share, a thread for each; what the threads tally is reported.

    BLAS has one thread beside each of ours, as in ``in_order``. The reports come from
    the thread that waits. On an error or an interrupt the threads are told to stop.
    """
    tally, reported = Tally(), 0
    with one_blas_thread(), ThreadPoolExecutor(len(shares)) as pool:
        try:
            futures = [pool.submit(function, share, tally) for share in shares]
            while True:
                done, not_done = wait(futures, FOLLOWED, FIRST_EXCEPTION)
                count = len(tally)
                if count > reported:
                    step(count=count - reported)
                    reported = count
                if not not_done or any(future.exception() for future in done):
                    break
        finally:
            tally.stopped = True
        return [future.result() for future in futures]


@contextmanager
def ours() -> Iterator[None]:
    """All threads are ours: BLAS has one, and blocks of rows run side by side.

    Threads of BLAS wait for more work for a while, at full speed. Where a sparse
    product follows each dense one they wait most of the time, and slow it.
    """
    workers = n_threads()
    with one_blas_thread():
        token = _taken.set(workers)
        try:
            yield
        finally:
            _taken.reset(token)


def threads_of_fit(n: int) -> AbstractContextManager[None]:
    """The threads that a fit of n rows has.

    SciPy's BLAS solves and NumPy's does the rest. Up to some thousand rows a solve is
    short, and the threads that wait for more of it, at full speed, slow what follows:
    fits of 2,000 rows took 48 to 137 ms, and take 55 to 66.
    """
    return ours() if ONE_PRODUCT < n <= SMALL else nullcontext()


def are_ours() -> bool:
    """Whether products should be cut into blocks of rows, since BLAS does not."""
    return (_taken.get() or 1) > 1


@cache
def blas() -> ThreadpoolController:
    """The libraries whose threads can be limited; finding them takes a while."""
    return ThreadpoolController()
