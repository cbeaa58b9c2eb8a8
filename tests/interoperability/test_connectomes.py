"""A connectome as neuroimaging holds it: a signed matrix of regions, ones on top."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import silhouette_score

from graphfold import Graph, GraphKernelPCA
from graphfold.errors import DuplicateEdgesWarning, GraphError

N_NETWORKS, N_REGIONS = 4, 48
NETWORK = np.arange(N_REGIONS) % N_NETWORKS
REGIONS = [f"region {i}" for i in range(N_REGIONS)]


@pytest.fixture(scope="module")
def signals():
    """Time x regions: each network has a course of its own, plus noise."""
    rng = np.random.default_rng(3)
    courses = rng.standard_normal((150, N_NETWORKS))
    return courses[:, NETWORK] + 1.5 * rng.standard_normal((150, N_REGIONS))


@pytest.fixture(scope="module")
def features():
    """What else is known of a region (thickness, myelin ...), and says little."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((N_REGIONS, 10))
    X[:, :N_NETWORKS] += 0.7 * np.eye(N_NETWORKS)[NETWORK]
    return X


def assert_embeds(graph, features):
    """Regions of a network lie together, and more so than by their features."""
    model = GraphKernelPCA(3, kernel="linear", graph=graph, graph_strength=3)
    Z = model.fit_transform(features, node_ids=REGIONS)
    alone = GraphKernelPCA(3, kernel="linear").fit_transform(features)
    together = silhouette_score(Z, NETWORK)
    assert together > 0.3
    assert together > silhouette_score(alone, NETWORK) + 0.2


@pytest.mark.parametrize("negative", ["clip", "abs"])
def test_correlations_of_signals(signals, features, negative):
    correlation = np.corrcoef(signals.T)
    with pytest.raises(GraphError, match=r"negative edges: Graph\(.*clip.*abs.*thres"):
        Graph(correlation, REGIONS)
    assert_embeds(Graph(correlation, REGIONS, negative=negative), features)


def test_fishers_z_with_infinity_on_the_diagonal(signals, features):
    with np.errstate(divide="ignore"):
        z = np.arctanh(np.corrcoef(signals.T))
    np.fill_diagonal(z, np.inf)
    assert_embeds(Graph(z, REGIONS, negative="clip"), features)


def test_a_table_above_a_threshold(signals, features):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(np.corrcoef(signals.T), index=REGIONS, columns=REGIONS)
    graph = Graph(table.where(table > 0.15, 0.0))
    assert graph.n_edges < N_REGIONS * (N_REGIONS - 1) / 4
    assert_embeds(graph, features)


def test_counts_of_fibres(features):
    """A structural connectome: whole numbers, many of them zero, one way at times."""
    rng = np.random.default_rng(5)
    same = NETWORK[:, None] == NETWORK
    fibres = rng.poisson(np.where(same, 20, 1)).astype(np.int64)
    with pytest.warns(DuplicateEdgesWarning, match="in both directions"):
        graph = Graph(fibres, REGIONS)
    assert_allclose(graph.to_scipy()[0, 1], max(fibres[0, 1], fibres[1, 0]))
    assert_embeds(graph, features)


@pytest.mark.parametrize("kind", ["correlation", "partial correlation"])
def test_nilearns_connectivity_measure(signals, features, kind):
    """Runs where nilearn is installed; the others say the same without it."""
    connectome = pytest.importorskip("nilearn.connectome")
    measure = connectome.ConnectivityMeasure(kind=kind, standardize=False)
    (matrix,) = measure.fit_transform([signals])
    assert_embeds(Graph(matrix, REGIONS, negative="clip"), features)
