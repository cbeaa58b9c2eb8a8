"""Labels are found where a plain search finds them, each as what it is."""

import itertools

import numpy as np
import pytest

from graphfold.errors import LabelError
from graphfold.graphs.labels import LabelIndex, as_labels, comparable, first_duplicate

COLLECTIONS = {
    "integers": [5, -3, 40, 0],
    "strings": ["b", "a", "dd", ""],
    "mixed": [1, "a", (2, 3), 0],
    "floats": [0.5, -1.5, 4.0],
    "none": [],
}


def plain_search(labels, asked):
    listed = labels.tolist()
    return [
        next((i for i, x in enumerate(listed) if type(x) is type(y) and x == y), -1)
        for y in asked.tolist()
    ]


# numbers are compared by value, whatever their kind: in a test of their own
PAIRS = [
    (known, asked)
    for known, asked in itertools.product(COLLECTIONS, COLLECTIONS)
    if {known, asked} != {"integers", "floats"}
]


@pytest.mark.parametrize(("known", "asked"), PAIRS)
def test_every_label_is_found_where_a_plain_search_finds_it(known, asked):
    labels = as_labels(COLLECTIONS[known])
    wanted = as_labels(COLLECTIONS[asked] + COLLECTIONS[known][::-1])
    index = LabelIndex(labels)
    for _ in range(2):  # the second time from what was kept
        found = index.find(wanted)
        assert found.tolist() == plain_search(labels, wanted)
        assert found.dtype.kind == "i"


def test_a_label_beyond_the_largest_is_not_found():
    index = LabelIndex(as_labels([3, 1, 2]))
    assert index.find(as_labels([0, 1, 2, 3, 4, 99])).tolist() == [-1, 1, 2, 0, -1, -1]


def test_numbers_of_other_kinds_are_found_by_value():
    index = LabelIndex(np.array([3, 1, 2]))
    assert index.find(np.array([1.0, 1.5, 3.0])).tolist() == [1, -1, 0]
    assert index.find(np.array([True, False])).tolist() == [1, -1]
    assert index.find(np.array([2], dtype=np.uint8)).tolist() == [2]


KINDS = {
    "i": np.array([1]),
    "u": np.array([1], dtype=np.uint8),
    "f": np.array([1.0]),
    "b": np.array([True]),
    "U": np.array(["1"]),
    "S": np.array([b"1"]),
    "M": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "O": np.array([1, "1"], dtype=object),
}


@pytest.mark.parametrize(("one", "other"), [*itertools.product(KINDS, KINDS)])
def test_numbers_go_with_numbers_and_every_other_kind_with_itself(one, other):
    numbers = set("iufb")
    alike = one == other or {one, other} <= numbers or "O" in (one, other)
    assert comparable(KINDS[one], KINDS[other]) == alike


def test_lists_become_arrays_of_one_kind_where_they_are():
    assert as_labels([1, 2]).dtype == np.int64
    assert as_labels([np.int64(1), 2]).dtype == np.int64
    assert as_labels([np.int32(1), 2]).dtype == np.int64
    assert as_labels(["a", "bcd"]).dtype.kind == "U"
    assert as_labels([np.str_("a"), "b"]).dtype.kind == "U"
    for mixed in ([1, "a"], [1, 2.5], [True, 2], []):
        labels = as_labels(mixed)
        assert labels.dtype == object
        assert labels.tolist() == mixed
    pairs = as_labels([(1, 2), (3, 4)])  # labels, not a table
    assert pairs.shape == (2,)
    assert pairs[1] == (3, 4)
    given = np.array([1.5, 2.5])
    assert as_labels(given) is given
    assert as_labels(np.array(["a", "b"], dtype=object)).dtype.kind == "U"
    assert as_labels(x for x in "ab").tolist() == ["a", "b"]


def test_a_table_is_no_list_of_labels():
    with pytest.raises(LabelError, match=r"one-dimensional; got shape \(2, 1\)"):
        as_labels(np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("labels", "repeated"),
    [
        ([1, 2, 3], None),
        ([3, 1, 3, 1], 1),
        (["b", "a", "b"], "b"),
        ([1, "a", 2], None),
        ([1, "a", 1, "a"], 1),
        ([], None),
    ],
)
def test_a_label_that_occurs_twice_is_named(labels, repeated):
    found = first_duplicate(as_labels(labels))
    assert found == repeated
    assert type(found) is type(repeated)
