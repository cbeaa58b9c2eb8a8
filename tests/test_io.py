"""Saving and loading: the same model back, and nothing executed."""

import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import graphfold
from graphfold import (
    CorrelationGraph,
    Graph,
    GraphKernelPCA,
    NeighborGraph,
    kernels,
    responses,
)
from graphfold.errors import ModelFileError
from graphfold.replacing import write_atomically

LABELS = [f"row{i}" for i in range(60)]
MODELS = {
    "plain": {},
    "recipe": {"graph": NeighborGraph(4, weight="heat")},
    "correlation": {"graph": CorrelationGraph(5), "laplacian": "combinatorial"},
    "response": {"graph": NeighborGraph(4), "response": responses.Diffusion(2.0)},
    "linear": {"kernel": "linear", "graph": NeighborGraph(4)},
    "kernel object": {"kernel": kernels.Polynomial(2), "fit_inverse_transform": True},
    "laplacian kernel": {"kernel": "laplacian"},
}


@pytest.mark.parametrize("params", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_loaded_model_is_the_same(params, container, points, tmp_path):
    if container is sp.csr_array and params.get("graph") == CorrelationGraph(5):
        container = np.asarray
    X = container(points)
    model = GraphKernelPCA(3, **params).fit(X)
    model.save(tmp_path / "model.npz")
    loaded = graphfold.load(tmp_path / "model.npz")
    new = container(points[:7] + 0.1)
    assert_array_equal(loaded.transform(new), model.transform(new))
    assert loaded.get_params() == model.get_params()
    assert loaded.formula_ == model.formula_
    assert loaded.converged_ is True
    if model.fit_inverse_transform:
        Z = model.embedding_[:5]
        assert_array_equal(loaded.inverse_transform(Z), model.inverse_transform(Z))


@pytest.mark.parametrize(
    "nodes", [LABELS, list(range(100, 160)), [("a", i) for i in range(60)]]
)
def test_labelled_graphs_come_along(nodes, points, tmp_path):
    graph = Graph(NeighborGraph(4).build(points), nodes=nodes)
    model = GraphKernelPCA(3, graph=graph).fit(points, node_ids=nodes)
    model.save(tmp_path / "model.npz")
    loaded = graphfold.load(tmp_path / "model.npz")
    assert loaded.graph == graph
    assert_array_equal(loaded.transform(points, node_ids=nodes), model.embedding_)
    if nodes is LABELS:
        table = pd.DataFrame(points, index=LABELS)
        assert_array_equal(loaded.transform(table), model.embedding_)


def test_callables_cannot_be_saved(points, tmp_path):
    for params in (
        {"kernel": lambda x, y: float(x @ y)},
        {"graph": NeighborGraph(4), "response": lambda t: 1 + t},
    ):
        model = GraphKernelPCA(2, **params).fit(points)
        with pytest.raises(ModelFileError, match="cannot be stored as arrays and JSON"):
            model.save(tmp_path / "model.npz")
    assert os.listdir(tmp_path) == []


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        GraphKernelPCA().save(tmp_path / "model.npz")


class Evil:
    """Unpickling this would make a file."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return (open, (self.trace, "w"))


def test_a_strangers_file_does_no_harm(tmp_path):
    path, trace = tmp_path / "model.npz", tmp_path / "trace"
    np.savez(path, header=np.array([Evil(trace)], dtype=object))
    with pytest.raises(ModelFileError, match="not a graphfold model"):
        graphfold.load(path)
    path.write_bytes(pickle.dumps(Evil(trace)))
    with pytest.raises((ModelFileError, OSError)):
        graphfold.load(path)
    assert not trace.exists()


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"format": 99},
        {"format": 1, "estimator": "os.system", "params": {}, "state": {}},
        {"format": 1, "estimator": "GraphKernelPCA", "params": {"part": "x"}},
        {"format": 1, "estimator": "GraphKernelPCA", "params": {"dict": {"no": 1}}},
        {
            "format": 1,
            "estimator": "GraphKernelPCA",
            "params": {"dict": {}},
            "state": {"record": "Popen", "fields": {}},
        },
    ],
)
def test_headers_that_make_no_sense(header, tmp_path):
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(tmp_path / "model.npz", header=text)
    with pytest.raises(ModelFileError):
        graphfold.load(tmp_path / "model.npz")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(stream):
        stream.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("call", ["mkdir", "fsync", "replace"])
def test_an_interrupt_in_a_call_of_the_system_is_told_as_such(
    tmp_path, monkeypatch, call
):
    """It comes when the call is over: there is the old file or the new one."""
    path = tmp_path / "file"
    path.write_text("old")
    done = getattr(os, call)

    def interrupted(*arguments):
        done(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, call, interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_atomically(path, lambda stream: stream.write(b"new"))
    assert path.read_text() == ("new" if call == "replace" else "old")
    assert os.listdir(tmp_path) == ["file"]
