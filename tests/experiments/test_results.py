"""Tables on disk come back as they were; the printed ones are right."""

import pytest

from graphfold.errors import GraphfoldError
from graphfold.experiments import results
from graphfold.experiments.protocol import Measured


@pytest.fixture
def measured():
    return Measured(
        ("method", "k", "measure"),
        {
            ("PCA", "-", "error"): {1: 0.5, 2: 0.5},
            ("LLE, scaled", 5, "error"): {1: 0.25, 2: 0.75},
            ("LLE, scaled", 40, "error"): {1: 1 / 3},
            ("LLE, scaled", 0.5, "time"): {1: 1e-5, 2: 3e-5},
        },
    )


def test_numbers_come_back(measured, tmp_path):
    results.write_measured(tmp_path / "x.csv", measured)
    back = results.read_measured(tmp_path / "x.csv")
    assert back.columns == measured.columns
    assert list(back.by_cell) == list(measured.by_cell)
    for cell, runs in measured.by_cell.items():
        assert back.by_cell[cell] == runs
        assert [type(value) for value in cell] == [
            type(value) for value in next(c for c in back.by_cell if c == cell)
        ]


def test_a_table_has_values_side_by_side_and_gaps(measured):
    lines = results.pivoted(measured, "k", measure="error").splitlines()
    assert lines[0] == "| method | k = - | k = 5 | k = 40 |"
    assert lines[2] == "| PCA | 0.500 |  |  |"
    assert lines[3] == "| LLE, scaled |  | 0.500 (0.250) | 0.333 |"


def test_small_numbers_keep_their_digits(measured):
    assert results.with_error(measured, measure="time") == "2e-05"


def test_a_record_that_is_not_there(tmp_path):
    with pytest.raises(GraphfoldError, match="graphfold reproduce"):
        results.read_record(tmp_path / "none.json")
