"""The parameter ``weights``: where the weights of several terms start, or stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from graphfold import check
from graphfold.arrays import Array
from graphfold.errors import GraphfoldError
from graphfold.graphs.labels import as_labels, index_of
from graphfold.model.alternate import equal_weights

WORDS = ("learn", "equal")
#: weights of the kernels and of the graphs
Start = tuple[Array, Array]
_ALLOWED = (
    'weights must be "learn", "equal", a number of starts, an array or a dict of '
    "weights to start from, or a list of these"
)


def are_learned(weights: Any) -> bool:
    """Whether weights change during a fit."""
    return not (isinstance(weights, str) and weights == "equal")


def starts_of(
    weights: Any,
    kernels: Sequence[str],
    graphs: Sequence[str],
    *,
    norm: float,
    rng: np.random.Generator,
) -> list[Start]:
    """Where the alternation starts: one or several pairs of unit p-norm each.

    Weights are given for terms whose weights are learned: the kernels where there are
    several, then the graphs where there are several. A term that stands alone has
    weight 1.
    """
    sides = [list(names) if len(names) > 1 else [] for names in (kernels, graphs)]
    equal = [equal_weights(len(names), norm) for names in (kernels, graphs)]
    if isinstance(weights, str):
        check.one_of("weights", weights, WORDS)
        return [(equal[0], equal[1])]
    if isinstance(weights, np.ndarray) and weights.ndim == 2:
        weights = list(weights)
    if isinstance(weights, Integral) and not isinstance(weights, bool):
        count = check.integer_between("weights", weights, 1, 1000)
        given = [_random(sides, rng) for _ in range(count - 1)]
    elif isinstance(weights, list | tuple) and any(map(_is_start, weights)):
        given = [_numbers(start, sides) for start in weights]
    else:
        given = [_numbers(weights, sides)]
    starts = [_split(numbers, sides, equal, norm) for numbers in given]
    if isinstance(weights, Integral):
        starts.insert(0, (equal[0], equal[1]))
    return starts


def check_weights(
    estimator: Any, kernels: Mapping[str, Any], graphs: Mapping[str, Any]
) -> None:
    """Raise if ``weights`` does not say where these terms start."""
    norm, rng = float(estimator.weight_norm), np.random.default_rng(0)
    starts_of(estimator.weights, list(kernels), list(graphs), norm=norm, rng=rng)


def _is_start(value: Any) -> bool:
    """Whether an item of a list is a start by itself, and not a number of one."""
    return isinstance(value, Mapping | str) or np.ndim(value) == 1


def _numbers(start: Any, sides: list[list[str]]) -> Array:
    """One number for each term whose weight is learned."""
    names = sides[0] + sides[1]
    if isinstance(start, str):
        if start != "learn":
            raise GraphfoldError(f"{_ALLOWED}; got {start!r} in a list")
        return np.ones(len(names))
    index = index_of(start)
    if index is not None:
        start = _as_dict(start, as_labels(index).tolist())
    if isinstance(start, Mapping):
        start = _by_name(start, sides)
    try:
        numbers = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        raise GraphfoldError(f"{_ALLOWED}; got {start!r}") from None
    if numbers.ndim != 1:
        raise GraphfoldError(f"{_ALLOWED}; got {start!r}")
    if numbers.shape != (len(names),):
        raise GraphfoldError(
            "weights must have a number for each kernel where there are several, then "
            f"for each graph where there are several: {_listed(names)}; got an array "
            f"of shape {numbers.shape}"
        )
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise GraphfoldError(
            "weights to start from must be finite and at least 0; got "
            f"{check.some_of(numbers)}"
        )
    return numbers


def _as_dict(series: Any, names: list[Any]) -> dict[Any, Any]:
    if len(set(names)) < len(names):
        raise GraphfoldError(
            "weights must have a name of its own for each number; the index of the "
            f"Series is {check.some_of(names)}"
        )
    return dict(zip(names, np.asarray(series).tolist(), strict=True))


def _by_name(start: Mapping[Any, Any], sides: list[list[str]]) -> list[Any]:
    names = sides[0] + sides[1]
    shared = sorted(set(sides[0]) & set(sides[1]))
    if shared:
        raise GraphfoldError(
            f"weights must be an array where a kernel and a graph are both called "
            f"{shared[0]!r}: numbers of the kernels, then of the graphs"
        )
    wrong = [name for name in start if name not in names]
    missing = [name for name in names if name not in start]
    if wrong or missing:
        what = f"{wrong[0]!r}, which is none" if wrong else f"none for {missing[0]!r}"
        raise GraphfoldError(
            "weights must have a number for each term whose weight is learned: "
            f"{_listed(names)}; got {what}"
        )
    return [start[name] for name in names]


def _listed(names: list[str]) -> str:
    if not names:
        return "there is none, since no kernel and no graph has another beside it"
    return ", ".join(map(str, names))


def _random(sides: list[list[str]], rng: np.random.Generator) -> Array:
    """A direction with no negative part, spread evenly."""
    return np.abs(rng.standard_normal(sum(map(len, sides))))


def _split(
    numbers: Array, sides: list[list[str]], equal: list[Array], norm: float
) -> Start:
    """Numbers of the kernels and of the graphs, of unit p-norm each."""
    parts = np.split(numbers, [len(sides[0])])
    found = []
    for part, same, kind in zip(parts, equal, ("kernels", "graphs"), strict=True):
        if len(part) and not part.any():
            raise GraphfoldError(
                f"weights to start from must not all be 0; those of the {kind} are"
            )
        # divided by the largest first: powers of huge numbers overflow
        part = part / part.max() if len(part) else part
        found.append(part / np.linalg.norm(part, norm) if len(part) else same)
    return found[0], found[1]
