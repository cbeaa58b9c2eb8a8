"""``graphfold report``: text, JSON and a page of what a model says of itself."""

import numpy as np
import pandas as pd
import pytest

from graphfold.cli import main
from tests.cli.command import answer
from tests.cli.conftest import LABELS


@pytest.fixture
def model(folder, points):
    data = ["data.csv", "--label-column", "kind", "--graph", "edges.csv", "--quiet"]
    assert main(["embed", *data, "-o", "o.csv", "--model", "model.npz"]) == 0
    pd.DataFrame(points[::-1], index=LABELS[::-1]).to_csv("rows.csv")
    frame = pd.read_csv("data.csv")[["id", "kind"]]
    frame.to_csv("kinds.csv", index=False)
    return folder


def test_a_summary_for_people(model, capsys):
    assert main(["report", "model.npz"]) == 0
    said = capsys.readouterr().out
    assert "GraphKernelPCA" in said
    assert "M = P (1 K[rbf] + " in said


def test_json_and_a_page(model):
    more = ["--data", "rows.csv", "--labels", "kinds.csv", "--gain"]
    said = answer("report", "model.npz", *more, "-o", "r.html", cwd=model)
    assert said["command"] == "report"
    assert said["wrote"] == ["r.html"]
    found = said["report"]
    assert found["class"] == "GraphKernelPCA"
    assert found["shape"] == {"rows": 60, "columns": 5, "components": 2}
    assert found["quality"]
    assert found["gain"][0]["p_value"] <= 0.05
    assert any("kind" in row["name"] for row in found["quality"])
    page = (model / "r.html").read_bytes()
    assert page.lstrip().lower().startswith(b"<!doctype html")


def test_gain_needs_a_known_graph(folder, capsys):
    words = ["embed", "plain.npy", "--neighbors", "3", "-o", "o.npy", "--quiet"]
    assert main([*words, "--model", "model.npz"]) == 0
    assert main(["report", "model.npz", "--data", "plain.npy", "--gain"]) == 2
    assert "--gain needs a model with a known graph" in capsys.readouterr().err


def test_rows_must_be_those_of_the_fit(model, capsys):
    np.save("few.npy", np.ones((3, 5)))
    assert main(["report", "model.npz", "--data", "few.npy"]) == 2
    assert "must have the 60 rows" in capsys.readouterr().err
