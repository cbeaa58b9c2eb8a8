"""Tables: pandas in a Pipeline, polars, Arrow."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphfold import Graph, GraphKernelPCA
from tests.interoperability.conftest import COLUMNS


def model_of(graph):
    return GraphKernelPCA(2, kernel="linear", graph=graph)


def test_pandas_in_a_pipeline_with_set_output(samples):
    """Labels are the index; they come through a scaler, and out again."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(samples.X, index=samples.ids, columns=COLUMNS)
    edges = pd.DataFrame(samples.edges, columns=["source", "target"])
    graph = Graph(edges, nodes=frame.index)
    pipe = make_pipeline(StandardScaler(), model_of(graph)).set_output(
        transform="pandas"
    )
    Z = pipe.fit_transform(frame)
    assert_array_equal(Z.index, frame.index)
    assert list(Z.columns) == ["graphkernelpca0", "graphkernelpca1"]
    assert_array_equal(pipe[-1].feature_names_in_, COLUMNS)
    # rows in any order, by their labels
    half = frame.sample(frac=0.5, random_state=0)
    again = pipe.transform(half)
    assert_array_equal(again.index, half.index)
    assert_allclose(again, Z.loc[half.index], atol=1e-9)


def test_polars_table_with_a_column_of_labels(samples):
    pl = pytest.importorskip("polars")
    table = pl.DataFrame(samples.X, schema=COLUMNS).with_columns(
        pl.Series("id", samples.ids)
    )
    shuffled = table[np.random.default_rng(0).permutation(90)]
    edges = pl.DataFrame(samples.edges, schema=["source", "target"], orient="row")
    model = model_of(Graph(edges, nodes=table["id"])).set_output(transform="polars")
    Z = model.fit_transform(shuffled.drop("id"), node_ids=shuffled["id"])
    assert isinstance(Z, pl.DataFrame)
    named = Z.with_columns(shuffled["id"])
    back = table.select("id").join(named, on="id", how="left")
    back = back.select(Z.columns).to_numpy()
    signs = np.sign((back * samples.embedding).sum(axis=0))
    assert_allclose(back * signs, samples.embedding, atol=1e-9)


def test_arrow_tables(samples):
    pa = pytest.importorskip("pyarrow")
    rows = pa.table(dict(zip(COLUMNS, samples.X.T, strict=True)))
    tails, heads = zip(*samples.edges, strict=True)
    edges = pa.table({"source": tails, "target": heads})
    ids = pa.chunked_array([samples.ids[:40], samples.ids[40:]])
    Z = model_of(Graph(edges, nodes=ids)).fit_transform(rows, node_ids=ids)
    assert_allclose(Z, samples.embedding, atol=1e-9)
