"""A fit of 200 x 10, as in a first notebook cell: defaults on both sides, seconds each.

python -m benchmarks.small
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness import at_most, ratio, run_alternating, save

HERE = "benchmarks.small"
#: fits of one run
FITS = 100


def rows():
    return np.random.default_rng(0).standard_normal((200, 10))


def many(fit):
    """Milliseconds of one of many fits: a single one is too short to be timed."""
    for _ in range(5):
        fit()

    def run():
        for _ in range(FITS):
            fit()

    return run


def ours(graph: str = ""):
    from graphfold import GraphKernelPCA, NeighborGraph

    X, recipe = rows(), NeighborGraph(10)
    graphs = {"": None, "given": recipe.build(X), "built": recipe}
    return many(lambda: GraphKernelPCA(2, graph=graphs[graph]).fit(X))


def scikit_learn(solver: str):
    from sklearn.decomposition import KernelPCA

    X = rows()
    return many(lambda: KernelPCA(2, kernel="rbf", eigen_solver=solver).fit(X))


def main() -> None:
    cases = {
        "graphfold": (HERE, "ours", {}),
        "graphfold, graph given": (HERE, "ours", {"graph": "given"}),
        "graphfold, graph built by the fit": (HERE, "ours", {"graph": "built"}),
        "KernelPCA auto": (HERE, "scikit_learn", {"solver": "auto"}),
        "KernelPCA arpack": (HERE, "scikit_learn", {"solver": "arpack"}),
    }
    runs = run_alternating(cases, repeats=5, timeout=60)
    peer = "KernelPCA arpack"
    limits = dict(zip(list(cases)[:3], (2, 4, 4), strict=True))
    claims = [
        at_most(f"{name} / {peer}", ratio(runs, name, peer), limit)
        for name, limit in limits.items()
    ]
    save("small", runs, claims)


if __name__ == "__main__":
    main()
