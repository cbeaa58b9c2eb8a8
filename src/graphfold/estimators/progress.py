"""Progress of an estimator: scikit-learn's callbacks where they exist, and ``verbose``.

``_init_callback_context`` is the one hook of scikit-learn that is not a public name
(its documentation offers it to third-party estimators all the same); it is used here
and nowhere else. Before scikit-learn 1.9 there is ``verbose`` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from graphfold.errors import GraphfoldError, noticed
from graphfold.progress import Stage, Watcher, join, listening, watchers_for, watching

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_teardown
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def _with_teardown(method: Callable[..., Any]) -> Callable[..., Any]:
        """Stands in where scikit-learn has no callbacks."""
        return method


__all__ = [
    "CallbackSupportMixin",
    "begin_fit",
    "guarded_fit",
    "listening",
    "unchanged_on_failure",
    "with_callbacks",
    "with_verbose",
]

#: tasks of one stage at most: a callback may keep each of them
MOST_TASKS = 100


def unchanged_on_failure(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit that fails, or is interrupted, leaves the estimator as it was.

    One that finds an embedding leaves what it warned of in ``warnings_``.
    """

    @wraps(fit)
    def guarded(estimator: Any, *arguments: Any, **settings: Any) -> Any:
        before = dict(vars(estimator))
        try:
            with noticed() as found:
                answer = fit(estimator, *arguments, **settings)
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            raise
        new = vars(estimator).get("embedding_")
        # a batch of a stream, or a refresh without news, finds none
        if new is not None and new is not before.get("embedding_"):
            estimator.warnings_ = tuple(dict.fromkeys(found))
        return answer

    return guarded


def with_verbose(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose stages are shown as the estimator's ``verbose`` asks."""

    @wraps(method)
    def shown(estimator: Any, *arguments: Any, **settings: Any) -> Any:
        with watching(*_watchers(estimator)):
            return method(estimator, *arguments, **settings)

    return shown


def with_callbacks(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit whose stages are shown and told to callbacks, which it leaves in order."""
    return _with_teardown(with_verbose(fit))


def guarded_fit(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit that is shown, told to callbacks, and leaves nothing behind if it fails."""
    return unchanged_on_failure(with_callbacks(fit))


def _watchers(estimator: Any) -> list[Watcher]:
    try:
        return watchers_for(estimator.verbose, type(estimator).__name__)
    except (TypeError, ValueError):
        raise GraphfoldError(
            "verbose must be 0 (silent), 1 (a line on a terminal) or 2 (every stage); "
            f"got {estimator.verbose!r}"
        ) from None


def begin_fit(estimator: Any, X: Any, y: Any) -> None:
    """From here on the callbacks of an estimator hear of its stages."""
    if getattr(estimator, "_skl_callbacks", None):
        join(_Callbacks(estimator, X, y))


class _Callbacks(Watcher):
    """Stages as tasks: fit -> stage -> step -> stages within that step -> ...

    A step is a leaf unless a stage is a part of it. A stage of many steps has one task
    for each hundredth of them.
    """

    def __init__(self, estimator: Any, X: Any, y: Any):
        self._with = {"estimator": estimator, "X": X, "y": y}
        self._root = _Task(estimator._init_callback_context(max_subtasks=None))
        self._root.begin(self._with)
        self._tasks: dict[Stage, _Task] = {}

    def began(self, stage: Stage) -> None:
        parent = self._root
        if stage.parent in self._tasks:
            within = self._tasks[stage.parent]
            within.step = within.step or within.part(stage.parent.unit, self._with)
            if within.step is None:  # after its last step
                return
            parent = within.step
        total = None if stage.total is None else min(stage.total, MOST_TASKS)
        task = parent.part(stage.name, self._with, total)
        if task is not None:
            self._tasks[stage] = task

    def stepped(self, stage: Stage) -> bool:
        task, stop = self._tasks.get(stage), False
        if task is None:
            return False
        if stage.total is None:
            due = task.n_parts + (task.step is None)
        else:
            due = stage.done * min(stage.total, MOST_TASKS) // stage.total
        while task.n_parts < due or (task.step and task.n_parts == due):
            step = task.step or task.part(stage.unit, self._with, 0)
            task.step = None
            if step is None:
                break
            stop = step.end(self._with) or stop
        return stop

    def ended(self, stage: Stage) -> None:
        task = self._tasks.pop(stage, None)
        if task is not None:
            if task.step is not None:
                task.step.end(self._with)
            task.end(self._with)

    def finished(self) -> None:
        self._root.end(self._with)


class _Task:
    """A task of the callbacks, and its part that is open."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.n_parts = 0
        self.step: _Task | None = None

    def begin(self, data: dict[str, Any]) -> None:
        self._context.call_on_fit_task_begin(**data)

    def end(self, data: dict[str, Any]) -> bool:
        """True if a callback asks to stop what this is a step of."""
        return bool(self._context.call_on_fit_task_end(**data))

    def part(
        self, name: str, data: dict[str, Any], total: int | None = None
    ) -> _Task | None:
        """A task within this one, begun; None if it can have no more."""
        most = self._context.max_subtasks
        if most is not None and self.n_parts >= most:
            return None
        self.n_parts += 1
        part = _Task(self._context.subcontext(task_name=name, max_subtasks=total))
        part.begin(data)
        return part
