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
            new = vars(estimator).get("embedding_")
            # a batch of a stream, or a refresh without news, finds none
            if new is not None and new is not before.get("embedding_"):
                estimator.warnings_ = tuple(dict.fromkeys(found))
        except BaseException:
            estimator.__dict__ = before  # at once: the next interrupt may be near
            raise
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
    """Stages as tasks: fit -> stage -> step.

    A stage of many steps has a task for each hundredth of them. Within a stage of
    unknown length the rounds of another are steps, too: a callback may stop them. What
    else goes on within a step would be a bar of its own for each of them.
    """

    def __init__(self, estimator: Any, X: Any, y: Any):
        self._with = {"estimator": estimator, "X": X, "y": y}
        self._root = estimator._init_callback_context(max_subtasks=None)
        self._root.call_on_fit_task_begin(**self._with)
        self._tasks: dict[Stage, Any] = {}
        self._n_steps: dict[Stage, int] = {}
        self._unheard: set[Stage] = set()

    def began(self, stage: Stage) -> None:
        around = stage.parent
        if around in self._tasks or around in self._unheard:
            assert around is not None
            task = self._tasks.get(around)
            if task is None or around.total is not None or stage.total is not None:
                self._unheard.add(stage)
            else:
                self._tasks[stage] = task
            return
        total = None if stage.total is None else min(stage.total, MOST_TASKS)
        task = self._root.subcontext(task_name=stage.name, max_subtasks=total)
        task.call_on_fit_task_begin(**self._with)
        self._tasks[stage], self._n_steps[stage] = task, 0

    def stepped(self, stage: Stage) -> bool:
        task, stop = self._tasks.get(stage), False
        if task is None:
            return False
        if stage.total is None:
            return self._step(task, stage.unit)
        due = min(stage.done, stage.total) * task.max_subtasks // stage.total
        for _ in range(self._n_steps[stage], due):
            stop = self._step(task, stage.unit) or stop
        self._n_steps[stage] = due
        return stop

    def _step(self, task: Any, name: str) -> bool:
        """A step is done; True if a callback asks to stop there."""
        step = task.subcontext(task_name=name)
        step.call_on_fit_task_begin(**self._with)
        return bool(step.call_on_fit_task_end(**self._with))

    def ended(self, stage: Stage) -> None:
        self._unheard.discard(stage)
        task = self._tasks.pop(stage, None)
        if self._n_steps.pop(stage, None) is not None:
            task.call_on_fit_task_end(**self._with)

    def finished(self) -> None:
        self._root.call_on_fit_task_end(**self._with)
