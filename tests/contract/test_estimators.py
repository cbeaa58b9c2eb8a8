"""scikit-learn's own contract, for every estimator and several of its settings.

No check is declared as expected to fail. The one that scikit-learn skips by itself,
check_array_api_input, is for estimators that claim array API support; ours do not.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from graphfold import (
    CorrelationGraph,
    FastRobustGraphPCA,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    NeighborGraph,
    RobustGraphPCA,
    SemiSupervisedGraphKernelPCA,
    kernels,
    responses,
)

ESTIMATORS = [
    GraphKernelPCA(),
    GraphKernelPCA(graph=NeighborGraph(3)),
    GraphKernelPCA(
        graph=NeighborGraph(3, weight="heat"), scaling="unit", solver="krylov"
    ),
    GraphKernelPCA(graph=NeighborGraph(3), response=responses.Diffusion(2.0)),
    GraphKernelPCA(1, kernel="linear", graph=CorrelationGraph(3, metric="cosine")),
    GraphKernelPCA(kernel="precomputed"),
    GraphKernelPCA(center=False, scaling="orthonormal"),
    GraphKernelPCA(
        kernel=["linear", "rbf"], graph=[NeighborGraph(3), NeighborGraph(5)]
    ),
    GraphKernelPCA(kernel="gaussian-grid", weights="equal"),
    GraphKernelPCA(kernel=None, graph=NeighborGraph(3)),
    GraphKernelPCA(graph=NeighborGraph(3), graph_strength="auto"),
    GraphKernelPCA(1, kernel="linear", landmarks=3, landmark_choice="leverage"),
    GraphKernelPCA(landmarks=5, graph=NeighborGraph(3)),
    GraphKernelPCA(
        kernel=["linear", "rbf"],
        graph=[NeighborGraph(3), NeighborGraph(5)],
        landmarks=5,
        landmark_choice="k-means++",
        refine=False,
        center=False,
    ),
    SemiSupervisedGraphKernelPCA(),
    SemiSupervisedGraphKernelPCA(graph=NeighborGraph(3)),
    SemiSupervisedGraphKernelPCA(landmarks=5),
    MultiModalGraphEmbedding(),
    MultiModalGraphEmbedding(kernel="rbf", landmarks=5),
    MultiModalGraphEmbedding(1, kernel="linear", weights="equal", response=None),
    RobustGraphPCA(),
    RobustGraphPCA(1, graph=NeighborGraph(3), scaling="unit", center=False),
    FastRobustGraphPCA(),
    FastRobustGraphPCA(1, feature_strength=0, laplacian="normalized"),
    GraphKernelPCA(kernel=kernels.Geodesic(3)),
    GraphKernelPCA(kernel=kernels.LocallyLinear(3)),
    GraphKernelPCA(kernel=kernels.ClassicalScaling()),
    LocalNonlinearEmbedding(),
    LocalNonlinearEmbedding(order=1),
    LocalNonlinearEmbedding(form="local", graph=NeighborGraph(3)),
    LocalNonlinearEmbedding(penalty="ridge", normalize_rows=True),
    LaplacianEigenmaps(),
    LaplacianEigenmaps(laplacian="combinatorial"),
    GraphLaplacianPCA(),
    GraphLaplacianPCA(beta=1.0),
]


@pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
