"""Models in files of other libraries: skops, ONNX."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

import graphfold as gf
from graphfold.errors import UnlabelledRowsWarning

MODELS = {
    "linear": lambda graph: gf.GraphKernelPCA(2, kernel="linear", graph=graph),
    "gaussian": lambda graph: gf.GraphKernelPCA(2, graph=graph),
    "several kernels": lambda graph: gf.GraphKernelPCA(
        2, kernel=["rbf", "linear"], graph=[graph, gf.NeighborGraph(5)]
    ),
    "response": lambda graph: gf.GraphKernelPCA(
        2, graph=graph, response=gf.responses.Diffusion(1.0)
    ),
    "landmarks": lambda graph: gf.GraphKernelPCA(2, graph=graph, landmarks=30),
    "eigenmaps": lambda graph: gf.LaplacianEigenmaps(2),
    "local": lambda graph: gf.LocalNonlinearEmbedding(2, n_neighbors=4, order=2),
    "several modes": lambda graph: gf.MultiModalGraphEmbedding(
        2, modes=[[0, 1, 2, 3], [4, 5, 6, 7]]
    ),
}


def is_trusted(name):
    """The rule of docs/interoperability.md."""
    return name.startswith("graphfold.") or name.startswith("scipy.sparse.")


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_skops_round_trip(samples, make):
    sio = pytest.importorskip("skops.io")
    graph = gf.Graph(samples.edges, nodes=samples.ids)
    model = make(graph)
    labels = {"node_ids": samples.ids} if model.get_params().get("graph") else {}
    model.fit(samples.X, **labels)
    content = sio.dumps(model)
    unknown = sio.get_untrusted_types(data=content)
    assert all(is_trusted(name) for name in unknown), unknown
    loaded = sio.loads(content, trusted=unknown)
    assert_array_equal(loaded.embedding_, model.embedding_)
    new = samples.X[:20] + 0.1
    if labels:
        labels = {"node_ids": [f"new-{i}" for i in range(20)]}
    assert_array_equal(loaded.transform(new, **labels), model.transform(new, **labels))


def test_skops_trusts_nothing_of_ours_by_itself(samples):
    """So a file of a stranger does not load our classes unasked."""
    sio = pytest.importorskip("skops.io")
    content = sio.dumps(gf.GraphKernelPCA(2).fit(samples.X))
    with pytest.raises(sio.exceptions.UntrustedTypesFoundException):
        sio.loads(content, trusted=[])


def as_linear_model(model):
    """Features alone, linear kernel: transform is x A + b."""
    n_features = model.n_features_in_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlabelledRowsWarning)
        origin = model.transform(np.zeros((1, n_features)))
        slopes = model.transform(np.eye(n_features)) - origin
    linear = LinearRegression()
    linear.coef_, linear.intercept_ = slopes.T, origin[0]
    linear.n_features_in_ = n_features
    return linear


@pytest.fixture(scope="module")
def linear_pair(samples):
    graph = gf.Graph(samples.edges, nodes=samples.ids)
    model = gf.GraphKernelPCA(2, kernel="linear", graph=graph)
    model.fit(samples.X, node_ids=samples.ids)
    return model, as_linear_model(model)


def test_a_linear_kernel_is_an_affine_map_of_the_features(linear_pair):
    model, linear = linear_pair
    new = np.random.default_rng(1).standard_normal((40, 8))
    with pytest.warns(UnlabelledRowsWarning):
        Z = model.transform(new)
    assert_allclose(linear.predict(new), Z, atol=1e-12)


def test_onnx_of_that_map(linear_pair):
    """Runs where skl2onnx and onnxruntime are installed."""
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    _, linear = linear_pair
    new = np.random.default_rng(1).standard_normal((40, 8)).astype(np.float32)
    content = skl2onnx.to_onnx(linear, new[:1]).SerializeToString()
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    assert_allclose(session.run(None, {"X": new})[0], linear.predict(new), atol=1e-5)
