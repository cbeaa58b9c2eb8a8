"""Columns of a table of edges are found by name, or named; never guessed."""

import warnings

import pytest

from graphfold.errors import GraphError, IgnoredColumnsWarning
from graphfold.graphs.edge_columns import (
    PAIRS,
    WEIGHTS,
    edge_columns,
    has_known_ends,
    warn_of_ignored,
)


def named(listed, *how, **more):
    found = edge_columns(listed, *how, **more)
    return found.source, found.target, found.weight


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_ends_are_found_by_both_names_of_a_pair(source, target):
    listed = ["other", target.upper(), "Weight", source.title()]
    assert named(listed) == (source.title(), target.upper(), "Weight")
    assert edge_columns(listed).ignored == ["other"]
    assert has_known_ends(listed)


@pytest.mark.parametrize("listed", [["source", "to", "x"], ["u", "target", "x", "y"]])
def test_names_of_two_pairs_are_not_mixed(listed):
    with pytest.raises(GraphError, match=f"got {', '.join(listed)}: name them"):
        edge_columns(listed)
    assert not has_known_ends(listed)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_weights_are_found_by_name(weight):
    assert named(["source", "target", weight]) == ("source", "target", weight)
    assert named(["payer", weight.upper(), "payee"])[2] == weight.upper()


@pytest.mark.parametrize(
    "name", ["year", "edge_id", "timestamp", "is_open", "distance"]
)
def test_a_third_column_of_another_name_is_no_weight(name):
    found = edge_columns(["source", "target", name])
    assert (found.weight, found.ignored) == (None, [name])
    assert named(["source", "target", name], weight=name)[2] == name


@pytest.mark.parametrize(
    "listed",
    [
        ["when", "payer", "payee", "amount"],
        ["time", "a", "b", "w"],
        ["payer", "payee", "amount"],
        ["Unnamed: 0", "payer", "payee"],
        ["Unnamed: 0", "friend"],
        ["friend", "weight"],
        ["source"],
        [],
    ],
)
def test_ends_that_cannot_be_told_are_refused_and_the_columns_listed(listed):
    shown = ", ".join(listed) or "no columns"
    with pytest.raises(GraphError, match=f"got {shown}: name them with source="):
        edge_columns(listed)


def test_a_saved_index_beside_known_ends_is_not_used():
    found = edge_columns(["Unnamed: 0", "source", "target"])
    assert found == ("source", "target", None, ["Unnamed: 0"])
    assert edge_columns(["n", "from", "to", "trips"]).ignored == ["n", "trips"]


def test_two_columns_are_the_ends():
    assert named(["a", "b"]) == ("a", "b", None)
    assert named(["v", "w"]) == ("v", "w", None)
    assert named(["payer", "payee", "amount"], weight="amount") == (
        "payer",
        "payee",
        "amount",
    )


def test_columns_without_names_are_in_the_order_of_an_array():
    assert named([0, 1]) == (0, 1, None)
    assert named([0, 1, 2]) == (0, 1, 2)
    assert named([0, 1, 2], weight=False) == (0, 1, None)
    assert named(["column_1", "column_2", "column_3"])[2] == "column_3"
    with pytest.raises(GraphError, match="got 0, 1, 2, 3"):
        edge_columns([0, 1, 2, 3])


def test_columns_that_are_named_come_first():
    listed = ["source", "target", "weight", "p", "q", "r"]
    assert named(listed, "p", "q", "r") == ("p", "q", "r")
    assert named(listed, "p", "q") == ("p", "q", "weight")
    assert named(listed, "p", "q", False) == ("p", "q", None)


MISTAKES = {
    "one end": (dict(source="p"), "must be given together; got only source="),
    "unknown": (dict(weight="x"), "there is no 'x' among source, target, p, q"),
    "one column twice": (dict(source="p", target="p"), "different columns; 'p' occurs"),
    "weight is an end": (dict(source="p", target="q", weight="q"), "'q' occurs twice"),
}


@pytest.mark.parametrize(("how", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_names_that_cannot_be_meant_are_refused(how, sentence):
    with pytest.raises(GraphError, match=sentence):
        edge_columns(["source", "target", "p", "q"], **how)


def test_columns_with_several_readings_are_refused():
    with pytest.raises(GraphError, match="could be source and target, u and v"):
        edge_columns(["u", "v", "source", "target"])
    with pytest.raises(GraphError, match="weight of the edges could be value, w"):
        edge_columns(["u", "v", "value", "w"])
    assert named(["u", "v", "value", "weight"])[2] == "weight"
    with pytest.raises(GraphError, match="could be Source and target, source and"):
        edge_columns(["Source", "source", "target"])


def test_columns_that_are_not_used_are_named_in_a_warning():
    with pytest.warns(IgnoredColumnsWarning, match=r"not used: 'year', 'kind'; every"):
        warn_of_ignored(edge_columns(["source", "target", "year", "kind"]))
    with pytest.warns(IgnoredColumnsWarning, match=r"e.csv have .*weight is 'w'"):
        warn_of_ignored(edge_columns(["u", "v", "w", "x"]), "e.csv")
    warn_of_ignored(edge_columns(["u", "v", "w"]))


@pytest.mark.parametrize("saved", ["", "Unnamed: 0", "__index_level_0__"])
def test_a_saved_index_is_no_column_to_warn_of(saved):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_ignored(edge_columns([saved, "source", "target", "weight"]))
    with pytest.warns(IgnoredColumnsWarning, match="not used: 'year'; "):
        warn_of_ignored(edge_columns([saved, "source", "target", "year"]))


@pytest.mark.parametrize("first", [0, 1])
def test_a_table_of_polars_without_names_is_in_the_order_of_an_array(first):
    listed = [f"column_{i + first}" for i in range(3)]
    assert edge_columns(listed)[:3] == tuple(listed)
