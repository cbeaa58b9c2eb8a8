"""Which reading of local nonlinear embedding serves best: behind the defaults.

The paper leaves open how the coefficients of a neighbour become one weight, and how a
graph enters. Each reading is tried on two manifolds in 100 dimensions (k-means error,
the paper's Table I), on digits (k-means error with ten classes) and on the Swiss roll
(share of the place on the sheet that the two axes explain), over several numbers of
neighbours and seeds that no test uses.
"""

from __future__ import annotations

import argparse
import json
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.linear_model import LinearRegression

from benchmarks.harness import RESULTS
from graphfold import CorrelationGraph, LocalNonlinearEmbedding, NeighborGraph
from graphfold.datasets import swiss_roll, two_manifolds
from graphfold.errors import GraphfoldWarning
from graphfold.quality import clustering_error

NEIGHBORS = (10, 20, 40)
COLUMNS = ("plane", "sphere", "digits", "roll: arc", "roll: height")
FREE = {"constrained": False}
READINGS = {
    "LLE": {"order": 1},
    "order 1, l1 0.1": {"order": 1, "alpha": 0.1, **FREE},
    "order 1, l1 0.2": {"order": 1, **FREE},
    "order 2, l1 0.01": {"alpha": 0.01},
    "order 2, l1 0.1": {"alpha": 0.1},
    "order 2, l1 0.2 (default)": {},
    "order 2, l1 0.5": {"alpha": 0.5},
    "order 3, l1 0.2": {"order": 3},
    "order 2, l1 1, the letter": {"alpha": 1.0, "relative": False},
    "order 2, l1 0.2, norm": {"collapse": "norm"},
    "order 2, l1 0.2, first": {"collapse": "first"},
    "order 2, l1 0.2, rows to one": {"normalize_rows": True},
    "order 2, ridge 0.2": {"penalty": "ridge"},
    "order 2, ridge 0.2, norm, rows to one": {
        "penalty": "ridge",
        "collapse": "norm",
        "normalize_rows": True,
    },
    "order 2, l1 0.2, orthonormal": {"scaling": "orthonormal"},
}
COSINE = CorrelationGraph(None, metric="cosine")
FORMS = {
    f"{name}, {form} form, strength {strength:g}": {
        "graph": graph,
        "form": form,
        "graph_strength": strength,
    }
    for name, graph in (("cosine graph", COSINE), ("10-NN graph", NeighborGraph(10)))
    for form in ("kernel", "local")
    for strength in (0.1, 1.0)
}


def clusters(X, y, n_components: int, seed: int, settings: dict) -> float:
    model = LocalNonlinearEmbedding(n_components, **settings)
    Z = model.fit_transform(X)
    k = len(np.unique(y))
    found = KMeans(k, n_init=10, random_state=seed).fit_predict(Z)
    return clustering_error(y, found)


def explained(seed: int, settings: dict) -> list[float]:
    X, place = swiss_roll(700, random_state=seed)
    Z = LocalNonlinearEmbedding(2, **settings).fit_transform(X)
    Z = Z / np.abs(Z).max()
    left = place - LinearRegression().fit(Z, place).predict(Z)
    return list(1 - left.var(axis=0) / place.var(axis=0))


def scores(settings: dict, seed: int, k: int) -> list[float]:
    settings = {"n_neighbors": k, **settings}
    row = []
    for surface in ("plane", "sphere"):
        X, y = two_manifolds(surface, random_state=seed)
        row.append(clusters(X, y, 2, seed, settings))
    digits = load_digits()
    rows = np.random.default_rng(seed).choice(1797, 600, replace=False)
    row.append(clusters(digits.data[rows], digits.target[rows], 10, seed, settings))
    return row + explained(seed, settings)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=301, help="first seed")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", GraphfoldWarning)
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    width = max(map(len, READINGS | FORMS))
    print(f"{'':{width}}", *(f"{name:>15}" for name in COLUMNS))
    table = {}
    for name, settings in (READINGS | FORMS).items():
        per_seed = np.array(
            [
                np.mean([scores(settings, seed, k) for k in NEIGHBORS], axis=0)
                for seed in seeds
            ]
        )
        mean = per_seed.mean(axis=0)
        error = per_seed.std(axis=0, ddof=1) / np.sqrt(len(per_seed))
        table[name] = {"mean": mean.tolist(), "standard_error": error.tolist()}
        cells = (f"{m:.3f} ({e:.3f})" for m, e in zip(mean, error, strict=True))
        print(f"{name:{width}}", *(f"{cell:>15}" for cell in cells), flush=True)
    record = {"command": "python -m benchmarks.local_sweep", "columns": COLUMNS}
    record |= {"seeds": list(seeds), "neighbors": NEIGHBORS, "table": table}
    path = RESULTS / f"local_sweep_{arguments.first}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
