"""graphfold: dimensionality reduction that listens to graphs.

Every embedding is the top eigenvectors of M = sum theta K + gamma sum beta R: kernels
of the data plus graph terms. The robust methods stand beside them: they take gross
errors out of X on graphs first. The package is built in layers, imports pointing down:

    estimators     scikit-learn's faces, each a recipe for a Problem
    model          build terms, add them into M, solve, extend
    kernels        data -> K          graphs   edges -> R      solvers   M -> V
    operators      what a matrix is: products only     neighbors   which rows are near
    stores         rows on disk       threads  blocks of rows side by side
"""

from importlib import import_module
from typing import Any

from graphfold import errors, kernels
from graphfold.estimators import (
    FastRobustGraphPCA,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    LocalNonlinearEmbedding,
    MultiModalGraphEmbedding,
    RobustGraphPCA,
    SemiSupervisedGraphKernelPCA,
)
from graphfold.graphs import (
    CorrelationGraph,
    EdgeTable,
    Graph,
    NeighborGraph,
    responses,
)
from graphfold.io import load

__version__ = "0.1.0.dev0"

__all__ = [
    "CorrelationGraph",
    "EdgeTable",
    "FastRobustGraphPCA",
    "Graph",
    "GraphKernelPCA",
    "GraphLaplacianPCA",
    "LaplacianEigenmaps",
    "LocalNonlinearEmbedding",
    "MultiModalGraphEmbedding",
    "NeighborGraph",
    "RobustGraphPCA",
    "SemiSupervisedGraphKernelPCA",
    "__version__",
    "ad",
    "datasets",
    "errors",
    "kernels",
    "load",
    "plot",
    "quality",
    "responses",
    "view",
]

_LAZY = ("ad", "datasets", "plot", "quality")  # they import more than the core needs


def __getattr__(name: str) -> Any:
    if name == "view":
        return import_module("graphfold.views").view
    if name in _LAZY:
        return import_module(f"graphfold.{name}")
    raise AttributeError(f"module 'graphfold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
