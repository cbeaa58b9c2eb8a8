"""Annotations of records: kinds, shapes by name, and ranges of what a file holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
import pytest
import scipy.sparse as sp

from graphfold.hints import (
    Label,
    Labels,
    Numbers,
    Range,
    Size,
    Sizes,
    Table,
    check_fields,
)


@dataclass(frozen=True)
class Part:
    values: Annotated[np.ndarray, Numbers("n", "_k")]
    weights: Annotated[np.ndarray, Numbers("_k", low=0.0)] | None = None

    def _check_loaded(self, sizes):
        if self.weights is not None and not self.weights.any():
            raise ValueError("weights are all 0")


class Whole(TypedDict):
    n_: Annotated[int, Size("n"), Range(1)]
    table: Annotated[Any, Table("n", "D")]
    parts: list[Part]
    names: NotRequired[Annotated[np.ndarray, Labels("n")]]
    kind: NotRequired[str | None]
    share: NotRequired[Annotated[float, Range(0.0, 1.0)]]
    more: NotRequired[Sequence[Part]]
    who: NotRequired[tuple[Annotated[Any, Label()], float]]


def whole(**changes):
    part = Part(np.ones((3, 2)), np.ones(2))
    other = Part(np.ones((3, 4)), np.ones(4))  # "_k" is another one in each record
    sound = {"n_": 3, "table": np.ones((3, 5)), "parts": [part, other]}
    return sound | changes


def checked(**changes):
    check_fields(Whole, whole(**changes), Sizes())


SOUND = [
    {},
    {"table": sp.csr_array(np.ones((3, 5)))},
    {"table": np.ones((3, 5), dtype=np.float32)},
    {"names": np.array(["a", "b", "c"])},
    {"kind": None},
    {"share": 1},
    {"parts": []},
    {"more": ()},
    {"more": (Part(np.ones((3, 1))), Part(np.ones((3, 2))))},
    {"more": [Part(np.ones((3, 1)))]},
    {"who": ("a", 0.5)},
    {"unknown": object()},
]


@pytest.mark.parametrize("changes", SOUND, ids=lambda c: " ".join(c) or "as it is")
def test_what_the_annotations_say_is_allowed(changes):
    checked(**changes)


REFUSED = {
    "parts does not fit n_|Part.values does not fit n_": [
        {"parts": [Part(np.ones((4, 2)))]},
    ],
    "table does not fit n_": [
        {"table": np.ones((2, 5))},
        {"table": sp.csr_array(np.ones((2, 5)))},
    ],
    "Part.weights does not fit values": [
        {"parts": [Part(np.ones((3, 2)), np.ones(3))]},
    ],
    "must be an array": [{"table": "x"}, {"table": None}, {"table": [[1.0]]}],
    "dimensions": [{"table": np.ones(3)}, {"table": np.ones((3, 5, 1))}],
    "cannot have numbers of": [
        {"table": np.ones((3, 5), dtype=kind)}
        for kind in ("f2", "c16", "i8", "bool", "U3", "M8[s]")
    ],
    "NaN or infinity": [
        {"table": np.full((3, 5), np.nan)},
        {"table": sp.csr_array(np.full((3, 5), np.inf))},
    ],
    "outside of 0": [{"parts": [Part(np.ones((3, 1)), -np.ones(1))]}],
    "weights are all 0": [{"parts": [Part(np.ones((3, 1)), np.zeros(1))]}],
    "n_ cannot be": [{"n_": 3.0}, {"n_": True}, {"n_": "3"}, {"n_": None}],
    "label twice": [{"names": np.array(["a", "b", "a"])}],
    "names cannot be": [{"names": ["a", "b", "c"]}],
    "list of labels": [{"names": np.array([["a"], ["b"], ["c"]])}],
    "kind cannot be": [{"kind": 1}, {"kind": ["x"]}],
    "share must be from 0 to 1": [{"share": 2.0}, {"share": float("nan")}],
    "must have 2 items": [{"who": ("a",)}],
    r"who\[0\] cannot be": [{"who": (["a"], 0.5)}],
    "parts cannot be": [{"parts": {}}, {"parts": Part(np.ones((3, 1)))}],
    r"more\[1\] cannot be": [{"more": (Part(np.ones((3, 1))), "x")}],
    r"parts\[0\] cannot be": [{"parts": ["x"]}, {"parts": [None]}],
}


@pytest.mark.parametrize(
    ("sentence", "changes"),
    [(sentence, one) for sentence, listed in REFUSED.items() for one in listed],
)
def test_what_they_do_not_say_is_refused_in_a_sentence(sentence, changes):
    with pytest.raises(ValueError, match=sentence):
        checked(**changes)


@pytest.mark.parametrize("name", ["n_", "table", "parts"])
def test_what_is_required_has_to_be_there(name):
    values = whole()
    del values[name]
    with pytest.raises(ValueError, match=f"it has no {name}"):
        check_fields(Whole, values, Sizes())


def test_records_in_what_is_not_named_are_looked_at():
    with pytest.raises(ValueError, match=r"Part\.values"):
        checked(others=[{"deep": Part("x")}])


def test_a_size_may_be_one_more_than_another():
    sizes = Sizes()
    sizes.agree("first", "d+1", 3)
    sizes.agree("second", "d", 2)
    assert sizes.known("d") == 2 and sizes.known("n") is None
    with pytest.raises(ValueError, match="third does not fit first"):
        sizes.agree("third", "d+1", 2)
