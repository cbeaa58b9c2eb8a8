"""A folder with a table in it, as someone at a shell has one."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from graphfold import NeighborGraph

LABELS = np.array([f"row{i}" for i in range(60)])


@pytest.fixture
def edges(points):
    return sp.triu(NeighborGraph(4).build(points).to_scipy()).nonzero()


@pytest.fixture
def folder(points, edges, tmp_path, monkeypatch):
    """data.csv with names and classes, edges.csv by name, plain.npy, model-less."""
    frame = pd.DataFrame(points, columns=list("abcde"), index=LABELS)
    frame["kind"] = np.where(points[:, 0] > 1, "high", "low")
    frame.to_csv(tmp_path / "data.csv", index_label="id")
    ends = {"source": LABELS[edges[0]], "target": LABELS[edges[1]]}
    pd.DataFrame(ends).to_csv(tmp_path / "edges.csv", index=False)
    np.save(tmp_path / "plain.npy", points)
    monkeypatch.chdir(tmp_path)
    return tmp_path
