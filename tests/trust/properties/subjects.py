"""Every public estimator in its main settings, and what each promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

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


@dataclass(frozen=True)
class Subject:
    """A setting of an estimator.

    ``by_scale``: what becomes of the embedding where X is doubled: "same", "doubled",
    or "" where neither is promised. ``rotates``: whether a rotation of the columns
    leaves it as it is. ``given``: whether it takes a graph.
    ``partly``: whether it may refuse numbers that its formula takes out of range.
    ``single``: whether parts of it are in single precision. ``landmarks``: whether
    these are a "number", chosen by the content of the rows, or the "first" rows.
    """

    make: Callable[..., BaseEstimator]
    by_scale: str = "same"
    rotates: bool = True
    given: bool = False
    supervised: bool = False
    partly: bool = False
    single: bool = False
    landmarks: str = ""

    def estimator(self, n_components, graph=None, n=2):
        """The estimator for n rows, with so many components."""
        made = self.make(graph) if self.given else self.make()
        if self.landmarks:
            count = min(n, max(n_components, 3))
            number = self.landmarks == "number"
            made.set_params(landmarks=count if number else np.arange(count))
        return made.set_params(n_components=n_components)


SUBJECTS = {
    "GraphKernelPCA": Subject(GraphKernelPCA),
    "GraphKernelPCA, linear": Subject(
        lambda: GraphKernelPCA(kernel="linear"), "doubled"
    ),
    "GraphKernelPCA, cosine": Subject(lambda: GraphKernelPCA(kernel="cosine")),
    "GraphKernelPCA, laplacian kernel": Subject(
        lambda: GraphKernelPCA(kernel="laplacian"), rotates=False
    ),
    "GraphKernelPCA, polynomial": Subject(
        lambda: GraphKernelPCA(kernel="poly"), "", partly=True
    ),
    "GraphKernelPCA, sigmoid": Subject(
        lambda: GraphKernelPCA(kernel="sigmoid"), "", partly=True
    ),
    "GraphKernelPCA, not centred": Subject(
        lambda: GraphKernelPCA(center=False, scaling="orthonormal")
    ),
    "GraphKernelPCA, graph": Subject(lambda g: GraphKernelPCA(graph=g), given=True),
    "GraphKernelPCA, linear, graph": Subject(
        lambda g: GraphKernelPCA(
            kernel="linear", graph=g, laplacian="combinatorial", scaling="unit"
        ),
        given=True,
        partly=True,
    ),
    "GraphKernelPCA, graph alone": Subject(
        lambda g: GraphKernelPCA(kernel=None, graph=g), given=True
    ),
    "GraphKernelPCA, diffusion": Subject(
        lambda g: GraphKernelPCA(graph=g, response=responses.Diffusion()), given=True
    ),
    "GraphKernelPCA, random walk": Subject(
        lambda g: GraphKernelPCA(graph=g, response=responses.RandomWalk()), given=True
    ),
    "GraphKernelPCA, auto strength": Subject(
        lambda g: GraphKernelPCA(graph=g, graph_strength="auto-edges"),
        given=True,
        partly=True,
    ),
    "GraphKernelPCA, auto strength by columns": Subject(
        lambda: GraphKernelPCA(graph=NeighborGraph(3), graph_strength="auto"),
        rotates=False,
        partly=True,
    ),
    "GraphKernelPCA, neighbours": Subject(
        lambda: GraphKernelPCA(graph=NeighborGraph(3))
    ),
    "GraphKernelPCA, heat of neighbours": Subject(
        lambda: GraphKernelPCA(graph=NeighborGraph(3, weight="heat", joined=True))
    ),
    "GraphKernelPCA, correlations": Subject(
        lambda: GraphKernelPCA(graph=CorrelationGraph(3)), rotates=False
    ),
    "GraphKernelPCA, several kernels": Subject(
        lambda: GraphKernelPCA(kernel=["rbf", "linear", "cosine"])
    ),
    "GraphKernelPCA, grid of kernels": Subject(
        lambda: GraphKernelPCA(kernel="gaussian-grid")
    ),
    "GraphKernelPCA, several graphs": Subject(
        lambda g: GraphKernelPCA(graph={"given": g, "near": NeighborGraph(3)}),
        given=True,
    ),
    "GraphKernelPCA, landmarks": Subject(
        GraphKernelPCA, "", rotates=False, single=True, landmarks="number"
    ),
    "GraphKernelPCA, landmarks, linear, graph": Subject(
        lambda g: GraphKernelPCA(kernel="linear", graph=g),
        "doubled",
        given=True,
        single=True,
        partly=True,
        landmarks="first",
    ),
    "GraphKernelPCA, krylov": Subject(lambda: GraphKernelPCA(solver="krylov")),
    "GraphKernelPCA, isomap": Subject(
        lambda: GraphKernelPCA(kernel=kernels.Geodesic(3)), "doubled"
    ),
    "GraphKernelPCA, classical scaling": Subject(
        lambda: GraphKernelPCA(kernel=kernels.ClassicalScaling()), "doubled"
    ),
    "GraphKernelPCA, locally linear": Subject(
        lambda: GraphKernelPCA(kernel=kernels.LocallyLinear(3))
    ),
    "SemiSupervisedGraphKernelPCA": Subject(
        SemiSupervisedGraphKernelPCA, supervised=True
    ),
    "SemiSupervisedGraphKernelPCA, graph": Subject(
        lambda g: SemiSupervisedGraphKernelPCA(kernel="linear", graph=g),
        "doubled",
        given=True,
        supervised=True,
    ),
    "MultiModalGraphEmbedding": Subject(MultiModalGraphEmbedding, rotates=False),
    "MultiModalGraphEmbedding, kernel": Subject(
        lambda: MultiModalGraphEmbedding(kernel="rbf"), rotates=False
    ),
    "LocalNonlinearEmbedding": Subject(LocalNonlinearEmbedding, rotates=False),
    "LocalNonlinearEmbedding, order 1": Subject(
        lambda: LocalNonlinearEmbedding(order=1)
    ),
    "LaplacianEigenmaps": Subject(lambda: LaplacianEigenmaps(n_neighbors=3)),
    "GraphLaplacianPCA": Subject(lambda: GraphLaplacianPCA(n_neighbors=3)),
    "RobustGraphPCA": Subject(
        lambda: RobustGraphPCA(max_iter=100), "", rotates=False, partly=True
    ),
    "RobustGraphPCA, graph": Subject(
        lambda g: RobustGraphPCA(graph=g, max_iter=100),
        "",
        given=True,
        rotates=False,
        partly=True,
    ),
    "FastRobustGraphPCA": Subject(
        lambda: FastRobustGraphPCA(max_iter=100), "", rotates=False, partly=True
    ),
}


def labels_of(n, seed):
    """Classes of some rows, -1 for the others."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.5, rng.integers(0, 3, n), -1)
