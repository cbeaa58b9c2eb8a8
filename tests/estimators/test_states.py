"""What a saved fit holds is declared, whole, and fits the fit."""

import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest

import graphfold
from graphfold import Graph, GraphKernelPCA, NeighborGraph, RobustGraphPCA
from graphfold.errors import ModelFileError
from graphfold.estimators import states
from graphfold.hints import hints_of
from tests.trust.parsers.saved_models import cases, packed, saved

KINDS = {
    "GraphKernelPCA": states.Streamed,
    "GraphLaplacianPCA": states.Streamed,
    "SemiSupervisedGraphKernelPCA": states.Constrained,
    "LaplacianEigenmaps": states.Rows,
    "LocalNonlinearEmbedding": states.Local,
    "MultiModalGraphEmbedding": states.Modal,
    "RobustGraphPCA": states.Robust,
    "FastRobustGraphPCA": states.Robust,
}


@pytest.mark.parametrize("name", cases())
def test_every_attribute_of_a_saved_fit_is_declared(name):
    header = saved(name).header
    kind = KINDS[header["estimator"]]
    assert not set(header["state"]["dict"]) - set(hints_of(kind))


def test_every_estimator_that_can_be_loaded_declares_its_state():
    assert set(KINDS) == set(graphfold.io._ESTIMATORS)


def reloaded(model, folder):
    model.save(folder / "model.npz")
    return graphfold.load(folder / "model.npz")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_components", [1, 60])
def test_fits_of_any_width_and_precision_load(n_components, dtype, points, tmp_path):
    X = points.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GraphKernelPCA(n_components, graph=NeighborGraph(4)).fit(X)
    assert np.array_equal(reloaded(model, tmp_path).transform(X), model.transform(X))


def test_a_model_with_names_of_columns_and_pandas_output_loads(points, tmp_path):
    table = pd.DataFrame(points).rename(columns=lambda i: f"c{i}")
    model = GraphKernelPCA(2).set_output(transform="pandas").fit(table)
    loaded = reloaded(model, tmp_path)
    assert loaded.transform(table).equals(model.transform(table))


def test_what_a_user_has_put_beside_a_fit_comes_back(points, tmp_path):
    model = RobustGraphPCA(2).fit(points)
    model.note_ = {"by": "me", "when": [2026, 11]}
    assert reloaded(model, tmp_path).note_ == {"by": "me", "when": [2026, 11]}


def test_a_model_whose_parameters_were_changed_after_the_fit_loads(points, tmp_path):
    model = GraphKernelPCA(2).fit(points).set_params(n_components=5, kernel="poly")
    assert reloaded(model, tmp_path).n_components == 5


def test_arrays_in_the_other_order_of_bytes_are_read(points):
    parts = saved("labelled graph")
    turned = {k: v.astype(v.dtype.newbyteorder(">")) for k, v in parts.arrays.items()}
    loaded = graphfold.load(io.BytesIO(packed(parts.header, turned)))
    placed = loaded.transform(parts.fit_rows, **parts.settings)
    np.testing.assert_allclose(placed, loaded.embedding_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("singular_values_", [1.0, 2.0]),
        ("mode_names_", ["a"]),
        ("_modes", []),
        ("_takes_landmark_rows", False),
        ("_doc_link_module", 5),
    ],
)
def test_an_attribute_of_another_estimator_or_of_the_class_is_refused(name, value):
    parts = saved("rbf")
    header = json.loads(json.dumps(parts.header))
    header["state"]["dict"][name] = value
    with pytest.raises(ModelFileError, match="is no attribute of a fitted"):
        graphfold.load(io.BytesIO(packed(header, parts.arrays)))


@pytest.mark.parametrize("there, back", [(1.0, 2.0), (1.0, np.nan), (np.inf, np.inf)])
def test_a_graph_with_other_weights_there_than_back_is_refused(there, back, points):
    parts = saved("plain graph")
    matrix = Graph(NeighborGraph(3).build(points)).to_scipy()
    assert (abs(matrix - matrix.T)).max() == 0
    key = parts.header["state"]["dict"]["graph_"]["graph"][0]["csr"][0]["array"]
    weights = parts.arrays[key].copy()
    weights[:2] = there, back
    with pytest.raises(ModelFileError, match="a graph in it has"):
        graphfold.load(io.BytesIO(packed(parts.header, parts.arrays | {key: weights})))
