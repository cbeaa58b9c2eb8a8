"""What a fit on workers holds, moves and computes: the model behind plans and docs.

Counted, not measured: bytes and floating-point operations of each stage. Seconds come
from rates that ``benchmarks/distributed_model.py`` measures on a machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphfold.distributed.grid import WHOLE
from graphfold.model.plan import Plan

#: bytes of an entry of a strip: a number and a place
EDGE = 12
#: the adjacency and its normalised form
COPIES_OF_GRAPH = 2
#: tasks of a block without its neighbours, counted on fits of 16 and 32 blocks
TASKS_OF_A_BLOCK = 45
#: products with the graph: three of features, one of the vectors
EXCHANGES = 4


@dataclass(frozen=True)
class FitCost:
    """Of all workers together; a worker has its share.

    Attributes
    ----------
    bytes_held : float
        Features, those of neighbours and of their neighbours, in single precision,
        while all are there; the graph, and the vectors that stay.
    bytes_moved : float
        Rows of features that another worker needs: once for each block there that has
        a neighbour, or once for the worker where it needs much of them.
    flops : float
        Multiplications and additions of the dense products.
    tasks : float
        Calls that Dask's scheduler hands out: those of each block, of the shuffle of
        edges, and two for every two blocks that meet, in four exchanges.

    Examples
    --------
    >>> from graphfold.distributed.cost import cost_of_fit
    >>> cost = cost_of_fit((10**6, 50), 500, 10)
    >>> round(cost.bytes_held / 1e9, 1)
    6.5
    """

    bytes_held: float
    bytes_moved: float
    flops: float
    tasks: float


def cost_of_fit(
    shape: tuple[int, int],
    n_features: int,
    d: int,
    *,
    graph: bool = True,
    degree: float = 10.0,
    n_blocks: int = 16,
    n_workers: int = 2,
    remote: float = 1.0,
    meeting: int | None = None,
) -> FitCost:
    """The cost of n rows of so many features (landmarks times kernels).

    ``degree`` is the mean number of neighbours, ``remote`` the share of edges whose
    other end may be in any block (the others stay on their worker), ``meeting`` the
    number of other blocks that a block has neighbours in: all, unless it is given.
    """
    n, p = shape
    m = float(n_features)
    features = 2 * n * (p * m + m * m / 2)
    own_tasks = TASKS_OF_A_BLOCK * n_blocks
    if not graph:
        held = 4.0 * n * m + 16.0 * n * d
        return FitCost(held, 0.0, features + n * m * m, own_tasks / 2)
    # Phi'Phi and P'P are symmetric: half a product; four more are whole
    sums = 2 * n * m * m * (0.5 + 0.5 + 4)
    vectors = 2 * n * 2 * m * d
    # of a block, so much is needed by another that has edges to anywhere
    needed = 1 - (1 - remote / n_blocks) ** degree
    is_whole = needed > WHOLE
    away = n_blocks * (n_workers - 1) / n_workers
    copies = n_workers - 1 if is_whole else away * needed
    others = n_blocks - 1 if meeting is None else meeting
    pairs = 0 if is_whole and meeting is None else n_blocks * others
    return FitCost(
        bytes_held=4.0 * n * 3 * m + COPIES_OF_GRAPH * EDGE * n * degree + 24.0 * n * d,
        bytes_moved=4.0 * n * 3 * m * copies,
        flops=features + sums + vectors,
        tasks=own_tasks + 2 * n_blocks**1.5 + EXCHANGES * 2 * pairs,
    )


def plan_on_workers(
    estimator: Any, shape: tuple[int, int], m: int, *, graph: bool
) -> Plan:
    """What a fit on workers would do, and the bytes that they hold together."""
    kernel = getattr(estimator, "kernel", None)
    n_kernels = len(kernel) if isinstance(kernel, list | tuple | dict) else 1
    cost = cost_of_fit(shape, m * n_kernels, estimator.n_components, graph=graph)
    return Plan(
        shape[0],
        estimator.n_components,
        storage="workers",
        solver="lapack",
        reason=f"in the span of {m} landmarks, on workers",
        strip=0,
        peak_bytes=int(cost.bytes_held),
        seconds=0.0,
        way="landmarks",
        landmarks=m,
        rank=m,
    )
