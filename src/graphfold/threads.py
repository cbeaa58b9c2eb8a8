"""Work on blocks of rows by as many threads as BLAS may use, in a fixed order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Work = TypeVar("Work")
Result = TypeVar("Result")


#: threads that were BLAS's and are ours, inside of ``ours``
_taken: ContextVar[int | None] = ContextVar("taken", default=None)


def n_threads() -> int:
    """Threads that BLAS has been allowed: ours stay within the same limit."""
    taken = _taken.get()
    if taken is not None:
        return taken
    pools = [pool for pool in blas().info() if pool["user_api"] == "blas"]
    return max((pool["num_threads"] or 1 for pool in pools), default=1)


def in_order(
    function: Callable[[Work], Result], pieces: Iterable[Work]
) -> Iterator[Result]:
    """function of each piece, in the order of the pieces, computed side by side.

    Each thread has BLAS to itself, single-threaded: what BLAS does not parallelise
    (exponentials, sparse products) then uses all cores too. At most one result per
    thread waits to be taken, so results may be large.
    """
    workers = n_threads()
    if workers < 2:
        yield from map(function, pieces)
        return
    with blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        for piece in pieces:
            if len(waiting) >= workers:
                yield waiting.popleft().result()
            waiting.append(pool.submit(function, piece))
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def ours() -> Iterator[None]:
    """All threads are ours: BLAS has one, and blocks of rows run side by side.

    Threads of BLAS wait for more work for a while, at full speed. Where a sparse
    product follows each dense one they wait most of the time, and slow it.
    """
    workers = n_threads()
    with blas().limit(limits=1, user_api="blas"):
        token = _taken.set(workers)
        try:
            yield
        finally:
            _taken.reset(token)


def are_ours() -> bool:
    """Whether products should be cut into blocks of rows, since BLAS does not."""
    return (_taken.get() or 1) > 1


@cache
def blas() -> ThreadpoolController:
    """The libraries whose threads can be limited; finding them takes a while."""
    return ThreadpoolController()
