"""Calls that workers will make, as Dask's graphs of tasks.

``dask.delayed`` merges the graphs of its arguments at every call, which takes longer
than the work itself where a product joins every block with every other. Here a task
knows its arguments, and the graph is written once, when it is run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final
from uuid import uuid4

import numpy as np
from dask.core import literal as quoted
from dask.delayed import Delayed


@final
class Task:
    """A call, or what a collection of Dask's has promised; known by its key.

    ``place``, from 0 to 1, is where among the workers it is best made, or None.
    """

    __slots__ = ("arguments", "function", "graph", "key", "place")

    def __init__(
        self,
        key: Any,
        function: Callable[..., Any] | None = None,
        arguments: tuple[Any, ...] = (),
        graph: Any = None,
        place: float | None = None,
    ) -> None:
        self.key, self.function, self.arguments = key, function, arguments
        self.graph, self.place = graph, place

    def __repr__(self) -> str:
        return f"Task({self.key})"


def task(
    function: Callable[..., Any], *arguments: Any, place: float | None = None
) -> Task:
    """A call that a worker will make; arguments may be tasks, or lists of them."""
    inner = getattr(function, "func", function)  # of a partial
    name = getattr(inner, "__name__", type(inner).__name__).strip("_")
    return Task(f"{name}-{uuid4().hex}", function, arguments, place=place)


def in_their_places(
    tasks: Sequence[Task], sizes: Sequence[int] | None = None
) -> Sequence[Task]:
    """Tasks of blocks, in order: those without a place get that of their block.

    It is that of its middle row. Tables in the same blocks meet without being moved,
    and neighbours lie together.
    """
    weights = np.ones(len(tasks)) if sizes is None else np.asarray(sizes, dtype=float)
    ends = np.cumsum(weights)
    middles = (ends - weights / 2) / max(ends[-1], 1) if len(ends) else ends
    for one, middle in zip(tasks, middles.tolist(), strict=True):
        if one.place is None:
            one.place = middle
    return tasks


def literal(value: Any) -> Task:
    """A value that goes with the tasks: any worker can have it again."""
    return task(_itself, value)


def _itself(value: Any) -> Any:
    return value


def from_delayed(delayed: Any) -> Task:
    """What Dask has promised, or holds, as an argument for tasks."""
    return Task(delayed.key, graph=delayed.__dask_graph__())


def written(tasks: Sequence[Task]) -> tuple[list[Any], dict[Any, float]]:
    """The tasks as Dask knows them, and the places of all that they need, by key."""
    graph, places = graph_of(tasks)
    return [Delayed(one.key, graph) for one in tasks], places


def graph_of(tasks: Sequence[Task]) -> tuple[dict[Any, Any], dict[Any, float]]:
    """All calls that the tasks need, and their places, by key."""
    graph: dict[Any, Any] = {}
    places: dict[Any, float] = {}
    waiting, merged = list(tasks), set()
    while waiting:
        one = waiting.pop()
        if one.place is not None:
            places[one.key] = one.place
        if one.key in graph:
            continue
        if one.graph is not None:
            if id(one.graph) not in merged:  # blocks of one array share theirs
                merged.add(id(one.graph))
                graph.update(one.graph)
            continue
        assert one.function is not None
        graph[one.key] = (one.function, *(_spec(a, waiting) for a in one.arguments))
    return graph, places


def _spec(argument: Any, waiting: list[Task]) -> Any:
    """An argument in the words of Dask's graphs; tasks in it are put on the list."""
    if isinstance(argument, Task):
        waiting.append(argument)
        return argument.key
    kind = type(argument)
    if kind is list:
        return [_spec(one, waiting) for one in argument]
    if kind is tuple and any(isinstance(one, Task | list | dict) for one in argument):
        return (tuple, [_spec(one, waiting) for one in argument])
    if kind is str:
        return (quoted(argument),)  # it might be the name of somebody's task
    if kind is dict:
        return (dict, [[name, _spec(one, waiting)] for name, one in argument.items()])
    return argument
