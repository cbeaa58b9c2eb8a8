"""Which columns of a table of edges hold the two ends and the weight.

Columns are found by name, or are named by the caller. Nothing is guessed: a table whose
ends cannot be told is refused, and columns that are not used are named in a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphfold.check import some_of
from graphfold.errors import GraphError, IgnoredColumnsWarning, warn

#: names of the two ends; a table must have both names of one pair
PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("u", "v"),
    ("i", "j"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("id1", "id2"),
    ("source_id", "target_id"),
    ("from_id", "to_id"),
    ("from_node", "to_node"),
    ("source_node", "target_node"),
    ("origin", "destination"),
)
#: names of the weight; distances and costs are none, they grow the other way
WEIGHTS = (
    "weight",
    "weights",
    "w",
    "wt",
    "edge_weight",
    "value",
    "similarity",
    "affinity",
    "strength",
)
#: names that pandas and Arrow give to an index that was saved as a column
_INDEX = ("", "__index_level_0__")


class EdgeColumns(NamedTuple):
    """Names of the columns of the ends and the weight, and of those not used."""

    source: Any
    target: Any
    weight: Any
    ignored: list[Any]


class Spelling(NamedTuple):
    """How the caller writes the three arguments: in Python, or at the command line."""

    source: str = "source="
    target: str = "target="
    weight: str = "weight="
    unweighted: str = "weight=False"


PYTHON = Spelling()


def edge_columns(
    listed: Sequence[Any],
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    *,
    spelling: Spelling = PYTHON,
) -> EdgeColumns:
    """Columns of a table of edges, by the names given or else by known names.

    ``weight=False``: every edge has weight 1, whatever columns there are.
    """
    listed = list(listed)
    _check_given(listed, (source, target, weight), spelling)
    ends: tuple[Any, Any] | None = (source, target)
    if source is None:
        ends = _ends_by_name(listed, spelling) or _only_two(listed, weight)
    if ends is None:
        raise GraphError(
            "the ends of the edges must be in columns called source and target (or "
            "from and to, src and dst, u and v, i and j, ...), or in the only two "
            f"columns; got {some_of(_texts(listed), 12) or 'no columns'}: name them "
            f"with {spelling.source}, {spelling.target} and {spelling.weight}"
        )
    if weight is None:
        weight = _weight_by_name(listed, ends, spelling)
    elif weight is False:
        weight = None
    ignored = [name for name in listed if name not in (*ends, weight)]
    return EdgeColumns(*ends, weight, ignored)


def warn_of_ignored(
    columns: EdgeColumns, where: str = "", spelling: Spelling = PYTHON
) -> None:
    """Say which columns are not used, and how to use one of them."""
    # a saved index counts rows: nobody means it as a weight
    ignored = [repr(name) for name in columns.ignored if not _is_index(name)]
    if not ignored:
        return
    names = some_of(ignored, 8)
    used = (
        "every edge has weight 1"
        if columns.weight is None
        else f"the weight is {columns.weight!r}"
    )
    warn(
        f"the edges{where and f' of {where}'} have columns that are not used: {names}; "
        f"{used}: name another with {spelling.weight}, or say {spelling.unweighted}",
        IgnoredColumnsWarning,
    )


def has_known_ends(listed: Sequence[Any]) -> bool:
    """Whether both names of a known pair are among the columns."""
    lower = {_plain(name) for name in listed}
    return any(one in lower and other in lower for one, other in PAIRS)


def _check_given(listed: list[Any], given: tuple[Any, ...], spelling: Spelling) -> None:
    source, target = given[:2]
    named = [name for name in given if name is not None and name is not False]
    lost = [name for name in named if name not in listed]
    if lost:
        raise GraphError(
            f"edges must have the columns named; there is no {lost[0]!r} among "
            f"{some_of(_texts(listed), 12)}"
        )
    if (source is None) != (target is None):
        raise GraphError(
            f"{spelling.source} and {spelling.target} must be given together; got only "
            f"{spelling.target if source is None else spelling.source}"
        )
    twice = [name for name in named if named.count(name) + listed.count(name) > 2]
    if twice:
        raise GraphError(
            f"{spelling.source}, {spelling.target} and {spelling.weight} must name "
            f"three different columns; {twice[0]!r} occurs twice"
        )


def _ends_by_name(listed: list[Any], spelling: Spelling) -> tuple[Any, Any] | None:
    """The columns of the one known pair of names that is there."""
    found = [
        (one, other)
        for first, second in PAIRS
        for one in listed
        for other in listed
        if _plain(one) == first and _plain(other) == second
    ]
    if len(found) > 1:
        shown = some_of([f"{one} and {other}" for one, other in found])
        raise GraphError(
            f"the ends of the edges could be {shown}: say which with "
            f"{spelling.source} and {spelling.target}"
        )
    return found[0] if found else None


def _only_two(listed: list[Any], weight: Any) -> tuple[Any, Any] | None:
    """The ends of a table with no other columns, but perhaps a weight.

    A table without names at all (0, 1, 2 of pandas, column_0 or column_1, ... of
    polars) is source, target and weight in this order, as an array is.
    """
    given = weight is not None and weight is not False
    if len(listed) == 2 and not given:
        odd = [n for n in listed if _is_index(n) or _plain(n) in _never_ends()]
        return None if odd else (listed[0], listed[1])
    if len(listed) != 3:
        return None
    if not given and _has_no_names(listed):
        return listed[0], listed[1]
    if not given:
        weights = [name for name in listed if _plain(name) in WEIGHTS]
        weight = weights[0] if len(weights) == 1 else None
    rest = [name for name in listed if name != weight]
    if len(rest) != 2 or any(_is_index(name) for name in rest):
        return None
    return rest[0], rest[1]


def _weight_by_name(
    listed: list[Any], ends: tuple[Any, Any], spelling: Spelling
) -> Any:
    rest = [name for name in listed if name not in ends]
    if _has_no_names(listed) and len(listed) == 3:
        return rest[0]
    found = [name for name in rest if _plain(name) in WEIGHTS]
    first = [name for name in found if _plain(name) == WEIGHTS[0]]
    if len(found) > 1 and len(first) != 1:
        raise GraphError(
            f"the weight of the edges could be {some_of(_texts(found))}: say which "
            f"with {spelling.weight}"
        )
    return (first or found or [None])[0]


def _never_ends() -> tuple[str, ...]:
    return tuple(name for name in WEIGHTS if name != "w")  # v and w may be nodes


def _is_index(name: Any) -> bool:
    """Whether a column is an index that was saved: pandas calls it "Unnamed: 0"."""
    return _plain(name) in _INDEX or _plain(name).startswith("unnamed:")


def _has_no_names(listed: list[Any]) -> bool:
    """Whether columns are only counted: polars counts from 0 or 1, pandas from 0."""
    count = range(len(listed))
    return listed == [*count] or any(
        listed == [f"column_{i + first}" for i in count] for first in (0, 1)
    )


def _plain(name: Any) -> str:
    return str(name).strip().lower()


def _texts(names: Sequence[Any]) -> list[str]:
    return [str(name) for name in names]
