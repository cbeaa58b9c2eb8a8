"""Parameters of kernels, recipes and responses: ``get_params``, ``set_params``, repr.

The same contract as scikit-learn's estimators (the constructor only assigns), so that
``graph__n_neighbors`` or ``kernel__gamma`` can be searched in a grid.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, Self


@cache
def _names_of(constructor: Callable[..., None]) -> tuple[str, ...]:
    """Arguments of a constructor; a signature takes as long as a small product."""
    return tuple(
        name
        for name, parameter in inspect.signature(constructor).parameters.items()
        if name != "self"
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
        and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    )


class Params:
    """An object that is fully described by its constructor's arguments."""

    @classmethod
    def _param_names(cls) -> list[str]:
        return list(_names_of(cls.__init__))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Arguments of the constructor, by name.

        ``deep`` is there for scikit-learn's convention: parts hold no parts.
        """
        return {name: getattr(self, name) for name in self._param_names()}

    def set_params(self, **params: Any) -> Self:
        """Set arguments of the constructor and return the object itself."""
        allowed = self._param_names()
        for name, value in params.items():
            if name not in allowed:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; "
                    f"it has {', '.join(allowed) or 'none'}"
                )
            setattr(self, name, value)
        return self

    def with_params(self, **params: Any) -> Self:
        """A copy with some parameters replaced; the original is not touched."""
        return type(self)(**{**self.get_params(), **params})

    def check_parameters(self) -> None:
        """Raise if an argument is of another kind or out of range.

        Asked when a saved model is loaded, and by most parts at fit. Rules such as
        ``"median"`` are allowed.
        """

    def __repr__(self) -> str:
        said = {k: v for k, v in self.get_params().items() if v is not None}
        values = ", ".join(f"{k}={_short(v)}" for k, v in said.items())
        return f"{type(self).__name__}({values})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        own, others = self.get_params(), other.get_params()
        return all(_equal(own[name], others[name]) for name in own)

    __hash__ = None  # type: ignore[assignment]  # parameters may change


def _short(value: Any) -> str:
    """A parameter in few words: a table by its shape."""
    shape = getattr(value, "shape", ())
    return f"<{' x '.join(map(str, shape))} table>" if shape else repr(value)


def _equal(one: Any, other: Any) -> bool:
    if getattr(one, "shape", ()) or getattr(other, "shape", ()):
        return one is other
    return bool(one == other)
