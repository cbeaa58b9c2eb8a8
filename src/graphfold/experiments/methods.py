"""The methods that are compared, by name: what each is in the library's own words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from graphfold import (
    FastRobustGraphPCA,
    GraphKernelPCA,
    GraphLaplacianPCA,
    LaplacianEigenmaps,
    RobustGraphPCA,
)
from graphfold.arrays import Array
from graphfold.errors import (
    DegenerateKernelWarning,
    DisconnectedGraphWarning,
    WeakSpectrumWarning,
)
from graphfold.kernels import ClassicalScaling, Gaussian, Geodesic

#: readings of the paper, as the page calls them
RAW, UNIT, DEFAULT = "letter, raw pixels", "letter, rows of unit length", "defaults"


def unchanged(X: Array) -> Array:
    """Rows as they are, where a reading names what is done to them."""
    return X


#: from a graph and a dimension to an estimator
Make = Callable[[Any, int], Any]

#: the paper's Gaussians, gamma = 1 / (2 sigma^2): one, and ten in equal steps
ONE_GAUSSIAN = Gaussian(gamma=0.5)
TEN_GAUSSIANS = {
    f"sigma^2 = {variance:.2f}": Gaussian(gamma=1 / (2 * variance))
    for variance in np.linspace(0.01, 1.0, 10)
}


def kernel_methods(gaussian: Any, gaussians: Any, **words: Any) -> dict[str, Make]:
    """The paper's methods with one Gaussian and with several, and PCA."""

    def embedding(d: int, **own: Any) -> GraphKernelPCA:
        return GraphKernelPCA(d, **own, **words)

    return {
        "PCA": lambda graph, d: PCA(d, svd_solver="full"),
        "KPCA": lambda graph, d: embedding(d, kernel=gaussian),
        "GPCA": lambda graph, d: embedding(d, kernel="linear", graph=graph),
        "GKPCA": lambda graph, d: embedding(d, kernel=gaussian, graph=graph),
        "GMKPCA": lambda graph, d: embedding(d, kernel=gaussians, graph=graph),
    }


#: the paper's formulas: M = K - gamma L, nothing centred or scaled, V'V = I; gamma is
#: not given for these experiments; 0.1 is what the paper prints for LNEG
BY_THE_LETTER = kernel_methods(
    ONE_GAUSSIAN,
    TEN_GAUSSIANS,
    laplacian="combinatorial",
    graph_strength=0.1,
    normalize=False,
    center=False,
    scaling="orthonormal",
)

#: what this library does when it is told nothing but the graph
BY_DEFAULT = kernel_methods("rbf", "gaussian-grid")

#: methods of others, by default too, but that the robust ones have the Laplacian of
#: their authors: the strength of the other one grows with the number of neighbours
OTHERS: dict[str, Make] = {
    "RPCAG": lambda graph, d: RobustGraphPCA(
        d, graph=graph, laplacian="normalized", tol=1e-2
    ),
    "FRPCAG": lambda graph, d: FastRobustGraphPCA(
        d, graph=graph, laplacian="normalized"
    ),
    "GLPCA": lambda graph, d: GraphLaplacianPCA(d, graph=graph),
    "Laplacian eigenmaps": lambda graph, d: LaplacianEigenmaps(d, graph=graph),
    "Isomap": lambda graph, d: GraphKernelPCA(d, kernel=Geodesic()),
    "MDS": lambda graph, d: GraphKernelPCA(d, kernel=ClassicalScaling()),
}

#: said of what is to be shown: the letter's kernel is the identity, the rows of Isomap
#: fall into parts, and what RPCAG finds of low rank may have fewer columns than asked
EXPECTED = (DegenerateKernelWarning, DisconnectedGraphWarning, WeakSpectrumWarning)

#: the weights that it learns depend on d, so its columns for a smaller d are its own
DEPENDS_ON_D = ("GMKPCA",)


def embeddings(
    methods: Mapping[str, Make], X: Array, graph: Any, dimensions: tuple[int, ...]
) -> dict[tuple[str, int], Array]:
    """The embedding by each method in each dimension.

    Eigenvectors for a smaller d are the first of those for a larger one, so that most
    methods are fitted once.
    """
    found = {}
    with warnings.catch_warnings():
        for expected in EXPECTED:
            warnings.simplefilter("ignore", expected)
        for name, make in methods.items():
            fitted = dimensions if name in DEPENDS_ON_D else (max(dimensions),)
            wide = {d: make(graph, d).fit_transform(X) for d in fitted}
            for d in dimensions:
                found[name, d] = wide[d if d in wide else max(wide)][:, :d]
    return found
