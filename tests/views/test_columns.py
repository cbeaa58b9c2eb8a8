"""What points are coloured by, read back from a page."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphfold import view
from tests.views.reading import Reading


def test_kinds_of_columns(Z):
    n = len(Z)
    table = pd.DataFrame(
        {
            "class": ["a", "b", None] * 10,
            "number": np.linspace(0, 1, n),
            "few": np.arange(n) % 3,
            "flag": np.arange(n) < 5,
            "with nan": np.where(np.arange(n) < 10, np.nan, np.arange(n) % 2),
            "ordered": pd.Categorical(["low", "high", "low"] * 10),
        }
    )
    page = Reading(view(Z, labels=table).html)
    kinds = {column["name"]: column["kind"] for column in page["columns"]}
    assert kinds == {
        "class": "category",
        "number": "number",
        "few": "category",
        "flag": "category",
        "with nan": "category",
        "ordered": "category",
    }
    assert page.column("class")[1] == ["a", "b", None] * 10
    assert page.column("few")[0]["categories"] == ["0", "1", "2"]
    assert page.column("with nan")[1][:11] == [None] * 10 + ["0"]
    found, numbers = page.column("number")
    assert_allclose(numbers, table["number"], rtol=1e-6)
    assert (found["low"], found["high"]) == (0.0, 1.0)


def test_missing_numbers_stay_missing(Z):
    values = np.linspace(0, 1, 30) + 0.01
    values[3] = np.nan
    found, numbers = Reading(view(Z, labels=values).html).column("label")
    assert np.isnan(numbers[3]) and found["low"] == pytest.approx(0.01)


def test_columns_as_tables_have_them(Z):
    n = len(Z)
    days = pd.date_range("2020-01-01", periods=3).repeat(10)
    table = pd.DataFrame(
        {
            "string": pd.array(["a", None] * 15, dtype="string"),
            "boolean": pd.array([True, None] * 15, dtype="boolean"),
            "ordered": pd.Categorical(
                ["low", "high", "mid"] * 10, ["low", "mid", "high"], ordered=True
            ),
            "day": days,
            "numbered": [f"class {i % 3 + 9}" for i in range(n)],
            "year": np.arange(1903, 1903 + n) * 2,
        }
    )
    some = [0.5, None, 1.25] * 10
    infinite = np.where(np.arange(n) == 0, np.inf, np.arange(n) % 2)
    page = Reading(view(Z, labels={**table, "some": some, "inf": infinite}).html)
    assert page.column("string")[1] == ["a", None] * 15
    assert page.column("boolean")[1] == ["True", None] * 15
    assert page.column("ordered")[0]["categories"] == ["low", "mid", "high"]
    assert page.column("day")[1][::10] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    assert page.column("numbered")[0]["categories"] == [
        "class 9",
        "class 10",
        "class 11",
    ]
    assert page.column("inf")[1][:2] == [None, "1"]
    found, values = page.column("some")
    assert found["kind"] == "number" and values[0] == 0.5 and np.isnan(values[1])
    assert page.column("year")[1][0] == "3806"


@pytest.mark.parametrize("start", [1900, 2**24, 2**40])
def test_whole_numbers_stay_whole(start, rng):
    values = np.arange(60) + start
    page = Reading(view(rng.random((60, 2)), labels={"count": values}).html)
    found, numbers = page.column("count")
    assert found["whole"] and numbers.tolist() == values.tolist()


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1.0])
def test_ends_of_a_scale_are_numbers_of_the_page(Z, scale):
    values = np.linspace(0, 0.1, 30) * scale
    found, numbers = Reading(view(Z, labels=values).html).column("label")
    assert (found["low"], found["high"]) == (numbers.min(), numbers.max())
    assert_allclose(numbers, values, rtol=1e-6)


def test_a_table_meets_rows_by_name(Z):
    names = [f"r{i}" for i in range(30)]
    table = pd.DataFrame(Z, index=names)
    labels = pd.Series([f"of {name}" for name in names], index=names)
    shown = Reading(view(table, labels=labels.iloc[::-1]).html).column("label")[1]
    assert shown == labels.tolist()
    # an index that is no name of a row says nothing
    other = pd.Series(labels.to_numpy(), index=np.arange(100, 130))
    assert Reading(view(table, labels=other).html).column("label")[1] == shown


def test_many_strings_are_text(rng):
    Z = rng.random((600, 2))
    page = Reading(view(Z, labels={"note": [f"note {i}" for i in range(600)]}).html)
    found, values = page.column("note")
    assert found["kind"] == "text" and values[599] == "note 599"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(st.none(), st.text(), st.integers(-5, 5)), min_size=1, max_size=12
    )
)
def test_any_label_comes_back(labels):
    Z = np.arange(2.0 * len(labels)).reshape(-1, 2)
    html = view(Z, labels={"mine": labels}, text=[str(v) for v in labels]).html
    page = Reading(html)
    shown = page.column("mine")[1]
    if all(isinstance(value, int) for value in labels):
        assert shown == [str(value) for value in labels]
    elif not all(value is None or isinstance(value, int) for value in labels):
        assert shown == [None if value is None else str(value) for value in labels]
    assert page.block(page["text"]) == [str(value) for value in labels]
