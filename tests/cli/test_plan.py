"""``graphfold plan``: what the library says, nothing fitted or written."""

import os

import numpy as np

from graphfold import GraphKernelPCA, NeighborGraph
from graphfold.cli import main
from tests.cli.command import answer


def test_the_plan_is_that_of_the_library(folder, points, capsys):
    before = sorted(os.listdir(folder))
    words = ["plan", "plain.npy", "--neighbors", "4", "-d", "3"]
    said = answer(*words, cwd=folder)
    expected = GraphKernelPCA(3, graph=NeighborGraph(4)).plan(points)
    assert said["command"] == "plan"
    for name in ("n", "n_components", "way", "storage", "solver", "peak_bytes"):
        assert said[name] == getattr(expected, name)
    assert said["seconds"] > 0
    assert main(words) == 0
    line = capsys.readouterr().out
    assert line.startswith("stored kernel of 60 rows, solver lapack")
    assert said["sentence"].split(";")[0] == line.split(";")[0]
    assert sorted(os.listdir(folder)) == before


def test_a_budget_leads_to_landmarks(tmp_path, rng, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("many.npy", rng.standard_normal((5000, 4)))
    assert main(["plan", "many.npy", "--landmarks", "100"]) == 0
    assert capsys.readouterr().out.startswith("100 landmarks of 5,000 rows")
