"""``graphfold view``: files become the arguments of the map."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import graphfold
from graphfold import Graph
from graphfold.cli import main
from tests.cli.command import answer
from tests.cli.conftest import LABELS


@pytest.fixture
def embedded(folder):
    data = ["data.csv", "--label-column", "kind", "--graph", "edges.csv", "--quiet"]
    assert main(["embed", *data, "-o", "out.csv", "--model", "model.npz"]) == 0
    return folder


@pytest.fixture
def asked(monkeypatch):
    """What the map was asked for; the map itself is tested where it is."""
    found = {}

    def view(embedding, path, **more):
        found.update(more, embedding=embedding, path=path)
        with open(path, "w") as stream:
            # with the data by which a page of ours is known, to be replaced by the next
            stream.write('<!doctype html><script type="application/json" id="meta">')

    monkeypatch.setattr(graphfold, "view", view, raising=False)
    return found


def test_a_table_with_all_that_stands_beside_it(embedded, asked, points, capsys):
    texts = pd.DataFrame(
        {"id": LABELS[::-1], "note": [f"of {x}" for x in LABELS[::-1]]}
    )
    texts.to_csv("notes.csv", index=False)
    np.save("age.npy", np.arange(60))
    np.save("images.npy", np.zeros((60, 4, 4)))
    links = {"must_link": [["row0", "row1"]], "cannot_link": [["row0", "row2"]]}
    (embedded / "links.json").write_text(json.dumps(links))
    rows = pd.DataFrame(points[::-1], index=LABELS[::-1])
    rows.assign(word="w", number=np.arange(60)).to_csv("rows.csv")
    words = ["out.csv", "-o", "m.html", "--labels", "age.npy", "--text", "notes.csv"]
    words += ["--images", "images.npy", "--edges", "known=edges.csv"]
    words += [
        "--data",
        "rows.csv",
        "--label-column",
        "number",
        "--layout",
        "tsne",
        "--title",
        "Rows",
    ]
    assert main(["view", *words, "--neighbors", "7", "--links", "links.json"]) == 0
    out = pd.read_csv("out.csv")
    assert_allclose(asked["embedding"], out[["component1", "component2"]])
    assert asked["ids"].tolist() == LABELS.tolist()
    assert list(asked["labels"]) == ["word", "number", "age", "kind"]
    assert asked["labels"]["number"].tolist() == list(range(60))[::-1]
    assert asked["text"] == [f"of {x}" for x in LABELS]
    assert asked["images"].shape == (60, 4, 4)
    assert isinstance(asked["edges"]["known"], Graph)
    assert_allclose(asked["X"], points)
    assert (asked["layout"], asked["title"]) == ("tsne", "Rows")
    assert asked["n_neighbors"] == 7
    assert asked["must_link"] == [("row0", "row1")]
    assert asked["cannot_link"] == [("row0", "row2")]
    assert capsys.readouterr().out.endswith("wrote m.html (0.0 MB)\n")


def test_models_and_tables_side_by_side(embedded, asked):
    frame = pd.read_csv("out.csv").iloc[::-1]  # other order, same names
    frame.to_csv("turned.csv", index=False)
    assert main(["view", "ours=model.npz", "turned.csv", "--edges", "none"]) == 0
    assert list(asked["embedding"]) == ["ours", "turned"]
    model = asked["embedding"]["ours"]
    assert_allclose(asked["embedding"]["turned"], model.embedding_)
    assert asked["labels"]["kind"].tolist() == frame["kind"].tolist()[::-1]
    assert asked["edges"] is False
    assert asked["path"] == "map.html"


def test_pictures_of_a_folder_by_name_or_in_order(embedded, asked, capsys):
    pictures = embedded / "pictures"
    pictures.mkdir()
    for name in LABELS[::-1]:
        (pictures / f"{name}.png").write_bytes(b"x")
    assert main(["view", "out.csv", "--images", "pictures"]) == 0
    assert asked["images"][:2] == ["pictures/row0.png", "pictures/row1.png"]
    assert main(["view", "plain.npy", "--images", "pictures"]) == 0
    assert asked["images"] == [f"pictures/{name}.png" for name in sorted(LABELS)]
    (pictures / "row7.png").unlink()
    assert main(["view", "out.csv", "--images", "pictures"]) == 2
    assert "it has 59 " in capsys.readouterr().err


def test_rows_that_do_not_meet(embedded, asked, capsys):
    pd.read_csv("out.csv").assign(id=np.char.add(LABELS, "x")).to_csv(
        "x.csv", index=False
    )
    assert main(["view", "out.csv", "x.csv"]) == 2
    assert "must have the rows of the embedding; 60 are not" in capsys.readouterr().err
    np.save("few.npy", np.ones((3, 2)))
    assert main(["view", "out.csv", "--data", "few.npy"]) == 2
    assert "must have the 60 rows of the embedding" in capsys.readouterr().err


def test_a_real_map_of_a_model_and_a_table(embedded):
    words = ["ours=model.npz", "table=out.csv", "-o", "m.html", "--data", "plain.npy"]
    said = answer("view", *words, cwd=embedded)
    assert said["command"] == "view"
    assert said["embeddings"] == ["ours", "table"]
    assert (said["rows"], said["columns"]) == (60, ["kind"])
    assert said["wrote"] == ["m.html"]
    page = (embedded / "m.html").read_bytes()
    assert len(page) == said["bytes"]
    assert page.lstrip().lower().startswith(b"<!doctype html")
