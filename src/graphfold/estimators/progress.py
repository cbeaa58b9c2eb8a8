"""Progress of a fit: scikit-learn's callbacks where they exist, and ``verbose``.

``_init_callback_context`` is the one hook of scikit-learn that is not a public name
(its documentation offers it to third-party estimators all the same); it is used here
and nowhere else. Before scikit-learn 1.9 there is ``verbose`` alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from graphfold.errors import noticed
from graphfold.solvers import Iteration

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Stands in where scikit-learn has no callbacks."""
        return method


__all__ = [
    "CallbackSupportMixin",
    "FitProgress",
    "listening",
    "unchanged_on_failure",
    "with_callbacks",
]


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


Listener = Callable[[str], object]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Every fit begun in here tells ``listener`` its stages and rounds, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfold import GraphKernelPCA
    >>> from graphfold.estimators.progress import listening
    >>> heard = []
    >>> with listening(heard.append):
    ...     model = GraphKernelPCA(2).fit(np.random.default_rng(0).random((50, 3)))
    >>> heard[0].startswith("plan: stored kernel of 50 rows")
    True
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class FitProgress:
    """Reports the stages and rounds of one fit."""

    def __init__(self, estimator: Any, X: Any, y: Any):
        self._estimator = estimator
        self._data = {"X": X, "y": y}
        self._verbose = int(estimator.verbose)
        self._listener = _listener.get()
        self._context = None
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator, **self._data)

    def say(self, text: str, level: int = 1) -> None:
        """One line on the standard error stream, if ``verbose`` asks for it."""
        if self._verbose >= level:
            print(f"[{type(self._estimator).__name__}] {text}", file=sys.stderr)
        if self._listener is not None:
            self._listener(text)

    def round_done(self, iteration: Iteration) -> bool:
        """A solver's round is a task to the callbacks; True stops the solver."""
        self.say(f"round {iteration.number}: residual {iteration.residual:.2e}", 2)
        if self._context is None:
            return False
        task = self._context.subcontext(task_name="round")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(task.call_on_fit_task_end(estimator=self._estimator, **self._data))

    def objective_risen(self, number: int, objective: float) -> None:
        """A round of the alternation is done."""
        self.say(f"weights, round {number}: objective {objective:.8g}")

    def strength_done(self, strength: float, fold: int) -> None:
        """One step of a path of strengths is done."""
        self.say(f"strength path, fold {fold}: strength {strength:g}")

    def finish(self) -> None:
        """The fit is done."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator, **self._data)
