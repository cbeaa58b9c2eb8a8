"""The methods of benchmarks.scale: each prepares, and returns what is to be timed.

All get the same rows (float32, 64 features) and where they can use it the same binary
10-NN graph, made beforehand. Ten components everywhere.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.forest import K, inputs, neighbours, rows

D, LANDMARKS, DEGREE = 10, 300, 30


def width(n: int) -> float:
    """The same width of the Gaussian for everyone: the median distance of a sample."""
    from sklearn.metrics import pairwise_distances

    X = rows(n)
    few = X[np.random.default_rng(0).choice(n, min(n, 1000), replace=False)]
    D2 = pairwise_distances(few, metric="sqeuclidean")
    return float(1 / (2 * np.median(D2[np.triu_indices(len(few), 1)])))


def ours(n: int, **settings):
    from graphfold import Graph, GraphKernelPCA

    X, A = inputs(n)
    graph = Graph(A)
    if settings.get("kernel") != "linear":
        settings["gamma"] = width(n)
    model = GraphKernelPCA(D, graph=graph, **settings)
    return lambda: model.fit(X)


def our_exact(n: int):
    return ours(n)


def our_landmarks(n: int):
    return ours(n, landmarks=LANDMARKS, refine=True)


def our_linear(n: int):
    return ours(n, kernel="linear")


def our_filter(n: int):
    from benchmarks import filters
    from graphfold import Graph
    from graphfold.graphs import laplacian
    from graphfold.model.terms import LARGER_THAN_CACHE
    from graphfold.operators import ChebyshevFunction, Reordered, with_neighbours_near

    L = laplacian(Graph(inputs(n)[1])).operator
    tol = filters.tolerance_of(L, DEGREE)
    V = np.random.default_rng(0).standard_normal((n, D))

    def run():
        if n < LARGER_THAN_CACHE:
            return ChebyshevFunction(L, filters.heat, tol=tol).apply(V)
        # as in a fit, but for one product only: the order is on the clock
        ordered, order = with_neighbours_near(L)
        polynomial = ChebyshevFunction(ordered, filters.heat, tol=tol)
        return Reordered(polynomial, order).apply(V)

    return run


def kernel_pca(n: int):
    from sklearn.decomposition import KernelPCA

    # the fastest of its solvers here; the default at ten components is LAPACK
    model = KernelPCA(
        D, kernel="rbf", gamma=width(n), eigen_solver="arpack", random_state=0
    )
    X = rows(n)
    return lambda: model.fit_transform(X)


def nystroem(n: int):
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    features = Nystroem(gamma=width(n), n_components=LANDMARKS, random_state=0)
    model, X = make_pipeline(features, PCA(D)), rows(n)
    return lambda: model.fit_transform(X)


def incremental_pca(n: int):
    from sklearn.decomposition import IncrementalPCA

    model, X = IncrementalPCA(D), rows(n)
    return lambda: model.fit_transform(X)


def spectral_embedding(n: int, eigen_solver=None):
    from sklearn.manifold import SpectralEmbedding

    A = narrow(inputs(n)[1].astype(np.float64))
    model = SpectralEmbedding(
        D, affinity="precomputed", eigen_solver=eigen_solver, random_state=0
    )
    return lambda: model.fit_transform(A)


def spectral_lobpcg(n: int):
    return spectral_embedding(n, "lobpcg")


def lle(n: int):
    from sklearn.manifold import LocallyLinearEmbedding

    model, X = LocallyLinearEmbedding(n_neighbors=K, n_components=D), rows(n)
    return lambda: model.fit_transform(X)


def isomap(n: int):
    from sklearn.manifold import Isomap

    model, X = Isomap(n_neighbors=K, n_components=D), rows(n)
    return lambda: model.fit_transform(X)


def umap(n: int):
    """Neighbours given; no seed, for with one it uses one thread."""
    from umap import UMAP

    found, distances = neighbours(n)
    own = np.arange(n, dtype=np.int32)[:, None]
    zero = np.zeros((n, 1), dtype=np.float32)
    model = UMAP(
        n_neighbors=K + 1,
        n_components=D,
        precomputed_knn=(np.hstack([own, found]), np.hstack([zero, distances])),
        force_approximation_algorithm=True,
    )
    X = rows(n)
    return lambda: model.fit_transform(X)


def pymde(n: int):
    """Its recipe for neighbours, from a quadratic start, on the edges of the graph."""
    import pymde as peer
    import torch
    from pymde import constraints, penalties, preprocess, quadratic

    upper = sp.triu(inputs(n)[1], k=1).tocoo()
    pairs = np.column_stack([upper.row, upper.col]).astype(np.int64)
    edges = torch.from_numpy(pairs)
    ones = torch.ones(len(edges))

    def run():
        start = quadratic.spectral(n, D, edges, ones, max_iter=1000)
        apart = preprocess.sample_edges(n, len(edges), exclude=edges)
        problem = peer.MDE(
            n_items=n,
            embedding_dim=D,
            edges=torch.cat([edges, apart]),
            distortion_function=penalties.PushAndPull(
                torch.cat([ones, -torch.ones(len(apart))]),
                attractive_penalty=penalties.Log1p,
                repulsive_penalty=penalties.Log,
            ),
            constraint=constraints.Centered(),
        )
        problem.embed(X=start)

    return run


def case(n: int):
    from graspologic.embed import CovariateAssistedEmbed

    X, A = inputs(n)
    X, A = X.astype(np.float64), sp.csr_array(A.astype(np.float64))
    model = CovariateAssistedEmbed(n_components=D)
    return lambda: model.fit_transform(A, covariates=X)


def graph_pca(n: int):
    """Its default mode, which stops after five rounds."""
    import anndata
    from GraphPCA import Run_GPCA

    X, A = inputs(n)
    table, A = anndata.AnnData(X), sp.csr_matrix(A)
    return lambda: Run_GPCA(table, n_components=D, network=A)


def mlpack(n: int):
    from mlpack import kernel_pca as peer

    X, bandwidth = rows(n).astype(np.float64), float(np.sqrt(0.5 / width(n)))
    settings = {"kernel": "gaussian", "bandwidth": bandwidth, "center": True}
    settings |= {"nystroem_method": True, "sampling": "random"}
    return lambda: peer(input_=X, new_dimensionality=D, **settings)


def sknetwork(n: int):
    from sknetwork.embedding import Spectral

    A = narrow(inputs(n)[1].astype(np.float64))
    return lambda: Spectral(D).fit_transform(A)


def pygsp(n: int):
    """A heat filter of degree 30 on ten columns."""
    from pygsp import filters, graphs

    G = graphs.Graph(inputs(n)[1].astype(np.float64), lap_type="normalized")
    G._lmax = 2.0
    g = filters.Heat(G, scale=30)
    V = np.random.default_rng(0).standard_normal((n, D))
    return lambda: g.filter(V, method="chebyshev", order=DEGREE)


def narrow(A) -> sp.csr_matrix:
    """A classical matrix with four-byte indices: what some peers insist on."""
    A = sp.csr_matrix(A)
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    return A
