"""What a fit on workers holds, moves and computes: the model behind plans and docs.

Counted, not measured: bytes and floating-point operations of each stage. Seconds come
from rates that ``benchmarks/distributed_model.py`` measures on a machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphfold.model.plan import Plan

#: bytes of an entry of a strip: a number and a place
EDGE = 12
#: the adjacency and its normalised form
COPIES_OF_GRAPH = 2


@dataclass(frozen=True)
class FitCost:
    """Of all workers together; a worker has its share.

    Attributes
    ----------
    bytes_held : float
        Features, those of neighbours and of their neighbours, in single precision,
        while all are there; the graph, and the vectors that stay.
    bytes_moved : float
        Rows of features that are needed by another block than their own, at most: each
        row goes to as many blocks as it has neighbours, if there are so many.
    flops : float
        Multiplications and additions of the dense products.
    gathered : float
        Numbers that the sparse products read.

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
    gathered: float


def cost_of_fit(
    shape: tuple[int, int],
    n_features: int,
    d: int,
    *,
    graph: bool = True,
    degree: float = 10.0,
    n_blocks: int = 16,
    remote: float = 1.0,
) -> FitCost:
    """The cost of n rows of so many features (landmarks times kernels).

    ``degree`` is the mean number of neighbours, ``remote`` the share of edges whose
    ends lie in different blocks.
    """
    n, p = shape
    m = float(n_features)
    features = 2 * n * (p * m + m * m / 2)
    if not graph:
        return FitCost(4.0 * n * m + 16.0 * n * d, 0.0, features + n * m * m, 0.0)
    # Phi'Phi and P'P are symmetric: half a product; four more are whole
    sums = 2 * n * m * m * (0.5 + 0.5 + 4)
    vectors = 2 * n * 2 * m * d
    # a row of k neighbours is needed by so many of the other blocks, on average
    others = max(n_blocks - 1, 0)
    needed = others * (1 - (1 - remote / max(others, 1)) ** degree) if others else 0.0
    return FitCost(
        bytes_held=4.0 * n * 3 * m + COPIES_OF_GRAPH * EDGE * n * degree + 24.0 * n * d,
        bytes_moved=4.0 * n * needed * (3 * m),
        flops=features + sums + vectors,
        gathered=3.0 * n * degree * m,
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
