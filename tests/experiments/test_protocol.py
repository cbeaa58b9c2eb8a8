"""Numbers of many runs: means over cells, paired tests, verdicts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from graphfold.errors import GraphfoldError
from graphfold.experiments import EXPERIMENTS
from graphfold.experiments.protocol import Claim, Measured, Scope, claim_of
from graphfold.experiments.results import read_measured, write_measured

COLUMNS = ("method", "d")


@pytest.fixture
def numbers(rng):
    return rng.random((6, 2, 3))  # runs, methods, dimensions


@pytest.fixture
def measured(numbers):
    runs = {
        40 + run: {
            (name, d): numbers[run, i, j]
            for i, name in enumerate("ab")
            for j, d in enumerate((2, 5, 10))
        }
        for run in range(len(numbers))
    }
    return Measured.from_runs(COLUMNS, runs)


def test_a_run_is_the_mean_over_the_cells_that_match(measured, numbers):
    assert_allclose(measured.per_run(method="a"), numbers[:, 0].mean(axis=1))
    assert_allclose(measured.per_run(d=5), numbers[:, :, 1].mean(axis=1))
    some = measured.per_run(method="b", d=[2, 10])
    assert_allclose(some, numbers[:, 1][:, [0, 2]].mean(axis=1))
    assert measured.mean(method="a", d=2) == pytest.approx(numbers[:, 0, 0].mean())


def test_levels_keep_their_order(measured):
    assert measured.levels("d") == [2, 5, 10]
    assert measured.levels("method", d=5) == ["a", "b"]


def test_standard_errors_are_of_the_mean(measured, numbers):
    expected = stats.sem(numbers[:, 0].mean(axis=1))
    assert measured.standard_error(method="a") == pytest.approx(expected)


def test_a_claim_is_scipys_paired_test(measured):
    claim = measured.is_below("a below b", {"method": "a"}, {"method": "b"})
    first, second = measured.per_run(method="a"), measured.per_run(method="b")
    expected = stats.ttest_rel(first, second)
    assert claim.p_value == pytest.approx(expected.pvalue)
    assert claim.difference == pytest.approx((first - second).mean())
    assert claim.holds == (first.mean() < second.mean())


@pytest.mark.parametrize(
    ("difference", "p", "verdict"),
    [(-0.1, 0.01, "holds"), (0.1, 0.01, "does not hold"), (-0.1, 0.2, "a tie")],
)
def test_verdicts(difference, p, verdict):
    assert Claim("x", difference, 0.01, p).verdict == verdict


def test_differences_that_never_vary_decide_by_themselves():
    assert claim_of("x", [-0.5] * 4).verdict == "holds"
    assert claim_of("x", [0.5] * 4).verdict == "does not hold"
    assert claim_of("x", [0.0] * 4).verdict == "a tie"
    assert "in every run" in claim_of("x", [-0.5] * 4).evidence


def test_differences_that_vary_by_rounding_are_the_same():
    claim = claim_of("x", [0.3 - 0.1 - 0.2535, 0.4 - 0.2 - 0.2535])
    assert claim.standard_error == 0
    assert claim.verdict == "holds"


def test_what_was_not_measured_is_named(measured):
    with pytest.raises(GraphfoldError, match=r"nothing was measured for.*'c'"):
        measured.per_run(method="c")


def test_runs_that_differ_are_not_paired(measured):
    del measured.by_cell["a", 2][40]
    with pytest.raises(GraphfoldError, match="different runs"):
        measured.is_below("x", {"method": "a"}, {"method": "b"})
    del measured.by_cell["b", 2][41]  # as many, but of other seeds
    with pytest.raises(GraphfoldError, match="different runs"):
        measured.is_below("x", {"method": "a"}, {"method": "b"})


def test_one_run_decides_nothing():
    claim = claim_of("x", [-0.5])
    assert claim.verdict == "not tested"
    assert claim.evidence == "-0.5000, one run"


@pytest.mark.parametrize("through_a_file", [False, True])
def test_rounding_makes_no_difference(through_a_file, tmp_path):
    errors = {"a": [31 / 66, 33 / 66], "b": [32 / 66, 32 / 66]}
    runs = {
        seed: {("a", d): errors["a"][(seed + d) % 2] for d in (0, 1)}
        | {("b", d): errors["b"][(seed + d) % 2] for d in (0, 1)}
        for seed in range(3)
    }
    measured = Measured.from_runs(COLUMNS, runs)
    if through_a_file:
        write_measured(tmp_path / "x.csv", measured)
        measured = read_measured(tmp_path / "x.csv")
    claim = measured.is_below("x", {"method": "a"}, {"method": "b"})
    assert claim.verdict == "a tie"


def test_seeds_of_choices_are_never_those_of_results():
    full = {name: set(e.seeds(Scope(), 50)) for name, e in EXPERIMENTS.items()}
    quick = {seed for e in EXPERIMENTS.values() for seed in e.seeds(Scope(True), 50)}
    chosen_on = full["geometry"] | full["readings"]
    assert not full["geometry"] & full["readings"]
    for name, seeds in full.items():
        assert not seeds & quick
        if name not in ("geometry", "readings"):
            assert not seeds & chosen_on
            assert len(seeds) == 50


def test_experiments_say_what_they_are():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.name == name
        notes = experiment.notes
        assert experiment.title
        for text in vars(notes).values():
            assert text.strip()
        assert np.array(experiment.columns).size == len(set(experiment.columns))
