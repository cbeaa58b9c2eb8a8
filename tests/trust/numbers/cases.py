"""Every kind of fit, reduced to numbers that know neither signs nor rotations."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone

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
    quality,
    responses,
)
from graphfold.errors import UnlabelledRowsWarning
from tests.trust.numbers.tables import N, groups, kin, new_rows, ring, table

#: rows whose places are kept
CHOSEN = [0, 1, 5, 17, 42, N - 1]
#: what a fit has learned, where it has it
LEARNED = (
    "eigenvalues_",
    "singular_values_",
    "explained_variance_ratio_",
    "kernel_weights_",
    "graph_weights_",
    "graph_strength_",
    "objective_trace_",
    "reconstruction_error_",
    "landmark_error_",
)

Answer = dict[str, list[float]]


class Case(NamedTuple):
    """A fit in a precision, and the row of the table of tolerances it is held to."""

    fit: Callable[[Any], Answer]
    kind: str = "exact"


def numbers(values: Any) -> list[float]:
    return [float(value) for value in np.atleast_1d(np.asarray(values, float)).ravel()]


def answer_of(model: Any, X_new: Any = None) -> Answer:
    """What the fit learned, distances between chosen rows, places of new rows."""
    answer = {}
    for name in LEARNED:
        value = getattr(model, name, None)
        if value is not None and np.size(value):
            # of a trace its ends: how many rounds lie between is for solvers to say
            ends = np.asarray(value)[[0, -1]] if "trace" in name else value
            answer[name] = numbers(ends)
    Z = np.asarray(model.embedding_, float)
    answer["distances"] = numbers(pdist(Z[CHOSEN]))
    if X_new is not None:
        with warnings.catch_warnings():  # new rows have no labels, and no edges
            warnings.simplefilter("ignore", UnlabelledRowsWarning)
            placed = np.asarray(model.transform(X_new), float)
        answer["new rows"] = numbers(cdist(placed, Z[CHOSEN]))
    return answer


def pca(kind: str = "exact", *, n: int = N, **settings: Any) -> Case:
    """A case of GraphKernelPCA on the table."""

    def fit(dtype: Any) -> Answer:
        model = GraphKernelPCA(3, **settings).fit(table(n).astype(dtype))
        return answer_of(model, new_rows().astype(dtype))

    return Case(fit, kind)


def on_table(
    model: Any, kind: str = "exact", *, new: bool = True, y: Any = None, p: int = 6
) -> Case:
    """A case of another estimator on the same table."""

    def fit(dtype: Any) -> Answer:
        fitted = clone(model).fit(table(p=p).astype(dtype), y)
        return answer_of(fitted, new_rows(p).astype(dtype) if new else None)

    return Case(fit, kind)


def precomputed(dtype: Any) -> Answer:
    X, new = table(), new_rows()
    model = GraphKernelPCA(3, kernel="precomputed", graph=ring())
    model.fit((X @ X.T).astype(dtype))
    return answer_of(model, (new @ X.T).astype(dtype))


def positive(dtype: Any) -> Answer:
    model = GraphKernelPCA(3, kernel="chi2", gamma=0.1, graph=ring())
    model.fit((table() + 8).astype(dtype))
    return answer_of(model, (new_rows() + 8).astype(dtype))


def back_again(dtype: Any) -> Answer:
    model = GraphKernelPCA(3, fit_inverse_transform=True, alpha=0.5)
    Z = model.fit_transform(table().astype(dtype))
    linear = GraphKernelPCA(3, kernel="linear").fit(table().astype(dtype))
    return {
        "rows": numbers(model.inverse_transform(Z)[CHOSEN]),
        "components": numbers(np.abs(linear.components_)),
        "score": numbers(linear.score(new_rows().astype(dtype))),
    }


def stream(**settings: Any) -> Callable[[Any], Answer]:
    def fit(dtype: Any) -> Answer:
        how = {"landmarks": 40, "landmark_choice": "uniform", **settings}
        model = GraphKernelPCA(3, gamma=0.01, **how)
        for start in (0, 32, 64):
            model.partial_fit(table(32, start).astype(dtype))
        Z = np.asarray(model.transform(table().astype(dtype)), float)
        placed = np.asarray(model.transform(new_rows().astype(dtype)), float)
        return {
            "eigenvalues_": numbers(model.eigenvalues_),
            "distances": numbers(pdist(Z[CHOSEN])),
            "new rows": numbers(cdist(placed, Z[CHOSEN])),
        }

    return fit


def modes(missing: bool) -> Callable[[Any], Answer]:
    def fit(dtype: Any) -> Answer:
        X, new = table().astype(dtype), new_rows().astype(dtype)
        if missing:
            X[5::11, 3:] = np.nan
            new[2, :3] = np.nan
        model = MultiModalGraphEmbedding(
            2, modes={"one": slice(0, 3), "two": slice(3, 6)}, n_neighbors=7
        )
        answer = answer_of(model.fit(X), new)
        return answer | {"contributions": numbers(model.mode_contributions_[CHOSEN])}

    return fit


def tables_of_modes(dtype: Any) -> Answer:
    X = {
        "numbers": table().astype(dtype),
        "marks": (table(p=9)[:, 1:] > 2).astype(dtype),
    }
    model = MultiModalGraphEmbedding(2, kernel="rbf", n_neighbors=7).fit(X)
    return answer_of(model)


def judged(dtype: Any) -> Answer:
    X = table().astype(dtype)
    Z = GraphKernelPCA(2, kernel="linear", graph=kin()).fit_transform(X)
    return {
        "trustworthiness": numbers(quality.trustworthiness(X, Z, 7)),
        "neighbor_overlap": numbers(quality.neighbor_overlap(X, Z, 7)),
        "edge_overlap": numbers(quality.edge_overlap(kin(), Z, 7)),
    }


def some_labels() -> Any:
    y = groups()
    y[np.arange(N) % 4 != 0] = -1
    return y


MANY_KERNELS = {"a": kernels.Gaussian(0.004), "b": kernels.Linear(), "c": "poly"}
CHOSEN_LANDMARKS = np.arange(0, N, 3)

CASES: dict[str, Case] = {
    "kernel linear": pca(kernel="linear"),
    "kernel rbf": pca(kernel="rbf"),
    "kernel rbf, not centred": pca(kernel="rbf", center=False),
    "kernel poly": pca(kernel="poly", gamma=0.02),
    "kernel sigmoid": pca(kernel="sigmoid", gamma=0.001),
    "kernel cosine": pca(kernel="cosine"),
    "kernel laplacian": pca(kernel="laplacian", gamma=0.05),
    "kernel chi2, ring": Case(positive),
    "kernel precomputed, ring": Case(precomputed),
    "kernel geodesic": pca(kernel=kernels.Geodesic(n_neighbors=8)),
    "kernel classical scaling": pca(kernel=kernels.ClassicalScaling()),
    "kernel locally linear": pca("local", kernel=kernels.LocallyLinear(n_neighbors=9)),
    "kernels learned, ring": pca("learned", kernel=MANY_KERNELS, graph=ring()),
    "kernels equal": pca(kernel=MANY_KERNELS, weights="equal"),
    "kernels gaussian-grid": pca("learned", kernel="gaussian-grid"),
    "ring, normalized": pca(graph=ring()),
    "ring, combinatorial": pca(graph=ring(), laplacian="combinatorial"),
    "ring, strength 30": pca(graph=ring(), graph_strength=30.0),
    "ring, the paper's letter": pca(graph=ring(), normalize=False, graph_strength=0.5),
    "two graphs learned": pca("learned", graph={"ring": ring(), "kin": kin()}),
    "strength auto": pca("learned", graph=kin(), graph_strength="auto"),
    "neighbour graph": pca(graph=NeighborGraph(7)),
    "neighbour graph, heat": pca(graph=NeighborGraph(7, weight="heat")),
    "neighbour graph, cosine": pca(graph=NeighborGraph(7, metric="cosine")),
    "correlation graph": pca(graph=CorrelationGraph(6)),
    "response diffusion": pca(graph=ring(), response=responses.Diffusion(2.0)),
    "response diffusion, penalty": pca(
        graph=ring(), response=responses.Diffusion(2.0, form="penalty")
    ),
    "response random walk": pca(graph=ring(), response=responses.RandomWalk(2.5, 3)),
    "response regularized": pca(
        graph=ring(), response=responses.RegularizedLaplacian(4.0)
    ),
    "response bandlimited": pca(graph=ring(), response=responses.Bandlimited(9, 5.0)),
    "response low-pass": pca(graph=ring(), response=responses.LowPass(0.3)),
    "solver krylov": pca("iterated", graph=ring(), solver="krylov"),
    "solver chebyshev": pca("iterated", graph=ring(), solver="chebyshev"),
    "solver lobpcg": pca("iterated", graph=ring(), solver="lobpcg"),
    "solver shift-invert": on_table(
        LaplacianEigenmaps(3, graph=ring(), solver="shift-invert"),
        "iterated",
        new=False,
    ),
    "solver lapack, 480 rows": pca(n=480, graph=ring(480)),
    "solver krylov, 1008 rows": pca("iterated", n=1008, graph=ring(1008)),
    "landmarks": pca("landmarks", landmarks=CHOSEN_LANDMARKS, gamma=0.01),
    "landmarks, ring": pca(
        "landmarks",
        landmarks=CHOSEN_LANDMARKS,
        gamma=0.01,
        graph=ring(),
        refine=False,
    ),
    "landmarks, ring, refined": pca(
        "refined", landmarks=CHOSEN_LANDMARKS, gamma=0.01, graph=ring(), refine=True
    ),
    "stream": Case(stream(), "landmarks"),
    "stream, forgetting": Case(stream(forgetting=0.5), "landmarks"),
    "inverse, components, score": Case(back_again),
    "semi-supervised": on_table(
        SemiSupervisedGraphKernelPCA(3, graph=ring()), y=some_labels()
    ),
    "semi-supervised, pairs": on_table(
        SemiSupervisedGraphKernelPCA(
            3, must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1), (2, 3)]
        )
    ),
    "modes": Case(modes(missing=False), "learned"),
    "modes, some missing": Case(modes(missing=True), "learned"),
    "modes, tables and a kernel": Case(tables_of_modes, "learned"),
    "local nonlinear, order 1": on_table(
        LocalNonlinearEmbedding(2, n_neighbors=9, order=1), "local"
    ),
    "local nonlinear, order 2": on_table(
        LocalNonlinearEmbedding(2, n_neighbors=9), "descent", p=24
    ),
    "local nonlinear, ridge, ring": on_table(
        LocalNonlinearEmbedding(2, n_neighbors=9, penalty="ridge", graph=ring()), p=24
    ),
    "graph Laplacian PCA": on_table(GraphLaplacianPCA(3, graph=ring())),
    "graph Laplacian PCA, neighbours": on_table(GraphLaplacianPCA(3, beta=0.4)),
    "Laplacian eigenmaps": on_table(LaplacianEigenmaps(3, graph=kin()), new=False),
    "Laplacian eigenmaps, neighbours": on_table(LaplacianEigenmaps(3), new=False),
    "robust graph PCA": on_table(RobustGraphPCA(2, graph=kin(), tol=1e-5), "descent"),
    "fast robust graph PCA": on_table(
        FastRobustGraphPCA(3, graph=kin(), tol=1e-6), "descent"
    ),
    "quality": Case(judged, "counted"),
}

#: fits that an everyday run does on two BLAS threads, too; ``make fuzz`` does all. Two
#: threads on cores that others use wait for each other, which takes ten times as long
ON_TWO_THREADS = (
    "kernel rbf",
    "kernels gaussian-grid",
    "ring, normalized",
    "response diffusion",
    "solver lapack, 480 rows",
    "solver krylov",
    "landmarks, ring, refined",
    "stream",
    "semi-supervised",
    "modes, tables and a kernel",
    "local nonlinear, order 1",
    "robust graph PCA",
)
