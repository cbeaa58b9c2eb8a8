"""What the settings of the experiments "faces" and "clustering" depend on.

    python -m benchmarks.image_choices [faces] [objects]

Prints errors for other rows, graphs, widths and strengths than those reported, on
seeds 0, 1, ... that are never reported.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC

from graphfold import CorrelationGraph, GraphKernelPCA
from graphfold.datasets import load_coil20, load_drivface
from graphfold.errors import GraphfoldWarning
from graphfold.experiments.clustering import clustered

STRENGTHS = (0.1, 0.3, 1.0, 3.0)


def faces(seeds=range(20), dimensions=(5, 10)):
    """Error of a linear SVM on standard columns: KPCA, then GKPCA by strength."""
    drivers = load_drivface()
    X, y, points = drivers.data, drivers.target, drivers.points
    svm = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    folds = [StratifiedKFold(5, shuffle=True, random_state=seed) for seed in seeds]

    def errors(Z):
        wrong = [
            [np.mean(cross_val_predict(svm, Z[:, :d], y, cv=cv) != y) for cv in folds]
            for d in dimensions
        ]
        return " / ".join(f"{np.mean(one):.3f}" for one in wrong)

    rows = {
        "raw, median width": (X, "median"),
        "unit length, median width": (normalize(X), "median"),
        "unit length, sigma^2 = 1": (normalize(X), 0.5),
    }
    positions = {"points": points, "points centred": points - points.mean(axis=0)}
    print("| rows | graph | KPCA |", " | ".join(f"{s:g}" for s in STRENGTHS), "|")
    for (kind, (Z, gamma)), (name, where) in product(rows.items(), positions.items()):
        for k in (None, 10):
            graph = CorrelationGraph(k).build(where)
            found = [errors(GraphKernelPCA(30, gamma=gamma).fit_transform(Z))]
            for strength in STRENGTHS:
                model = GraphKernelPCA(
                    30, gamma=gamma, graph=graph, graph_strength=strength
                )
                found.append(errors(model.fit_transform(Z)))
            of = "all pairs" if k is None else f"{k} neighbours"
            print(f"| {kind} | {name}, {of} |", " | ".join(found), "|", flush=True)


def objects(seeds=range(3), dimensions=(5, 10, 15, 20, 30)):
    """Clustering error, mean over d: no graph, then with one by strength."""
    images = load_coil20()
    y = images.target

    def error(Z):
        found = [
            clustered(Z[:, :d], y, seed, 10)[0] for d in dimensions for seed in seeds
        ]
        return f"{np.mean(found):.3f}"

    rows = {"raw": images.data, "unit length": normalize(images.data)}
    kernels = {"linear": "linear", "Gaussian": "rbf", "ten Gaussians": "gaussian-grid"}
    print("| rows | kernel | neighbours | 0 |", end=" ")
    print(" | ".join(f"{s:g}" for s in STRENGTHS), "|")
    for (kind, X), (name, kernel) in product(rows.items(), kernels.items()):
        alone = error(GraphKernelPCA(30, kernel=kernel).fit_transform(X))
        for k in (5, 10, 20, 100):
            graph = CorrelationGraph(k, metric="cosine").build(X)
            found = [alone]
            for strength in STRENGTHS:
                model = GraphKernelPCA(
                    30, kernel=kernel, graph=graph, graph_strength=strength
                )
                found.append(error(model.fit_transform(X)))
            print(f"| {kind} | {name} | {k} |", " | ".join(found), "|", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", GraphfoldWarning)
    for asked in sys.argv[1:] or ("faces", "objects"):
        {"faces": faces, "objects": objects}[asked]()
