"""scikit-learn's own contract, for every estimator and several of its settings."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from graphfold import CorrelationGraph, GraphKernelPCA, NeighborGraph, responses

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
]


@pytest.mark.filterwarnings("ignore::graphfold.errors.GraphfoldWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_no_check_is_declared_as_expected_to_fail():
    """parametrize_with_checks is called without expected_failed_checks: none is."""
    assert all(np.isscalar(e.n_components) for e in ESTIMATORS)
