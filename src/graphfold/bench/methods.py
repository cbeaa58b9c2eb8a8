"""Who is compared: graphfold's own ways, and peers as far as they are installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from graphfold.arrays import Array
from graphfold.estimators import GraphKernelPCA
from graphfold.graphs import NeighborGraph

OURS = "GraphKernelPCA"
N_NEIGHBORS = 10
N_LANDMARKS = 300


class Method(NamedTuple):
    """A way to embed; ``make`` takes a table and a number of components."""

    make: Callable[[Array, int], Any]
    package: str = "sklearn"


def _width(X: Array) -> float:
    """One kernel width for all who ask for one: the same problem is timed."""
    return 1.0 / (X.shape[1] * float(X.var()) or 1.0)


def _ours(X: Array, d: int, **more: Any) -> Any:
    return GraphKernelPCA(d, gamma=_width(X), **more)


def _with_graph(X: Array, d: int) -> Any:
    return _ours(X, d, graph=NeighborGraph(N_NEIGHBORS))


def _landmarks(X: Array, d: int) -> Any:
    return _ours(X, d, landmarks=min(N_LANDMARKS, len(X)))


def _kernel_pca(X: Array, d: int) -> Any:
    from sklearn.decomposition import KernelPCA

    return KernelPCA(d, kernel="rbf", gamma=_width(X))


def _pca(X: Array, d: int) -> Any:
    from sklearn.decomposition import PCA

    return PCA(d)


def _spectral(X: Array, d: int) -> Any:
    from sklearn.manifold import SpectralEmbedding

    return SpectralEmbedding(d, affinity="nearest_neighbors", n_neighbors=N_NEIGHBORS)


def _umap(X: Array, d: int) -> Any:
    return import_module("umap").UMAP(n_components=d)


METHODS: dict[str, Method] = {
    OURS: Method(_ours),
    "KernelPCA": Method(_kernel_pca),
    f"{OURS}, graph": Method(_with_graph),
    "SpectralEmbedding": Method(_spectral),
    "UMAP": Method(_umap, "umap"),
    f"{OURS}, landmarks": Method(_landmarks),
    "PCA": Method(_pca),
}


def installed() -> list[str]:
    """The methods whose packages are there."""
    return [name for name, method in METHODS.items() if find_spec(method.package)]
