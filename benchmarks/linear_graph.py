"""Linear kernel and sparse graph, nothing n x n, against graspologic's CASE (MNIST)."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.harness import at_least, at_most, median, ratio, run_alternating, save

D = 10


def inputs(n: int):
    """Images and their 10-NN graph, the same for everyone."""
    from graphfold.datasets import load_mnist

    return load_mnist().data[:n].astype(np.float64), neighbour_graph(n)


def neighbour_graph(n: int):
    """The graph, kept between runs."""
    import tempfile
    from pathlib import Path

    import scipy.sparse as sp

    from graphfold import NeighborGraph
    from graphfold.datasets import load_mnist

    path = Path(tempfile.gettempdir()) / f"graphfold-bench-{n}.npz"
    if not path.exists():
        X = load_mnist().data[:n].astype(np.float64)
        neighbours = NeighborGraph(10).build(X).to_scipy()
        sp.save_npz(path, sp.csr_matrix(neighbours))
    return sp.csr_array(sp.load_npz(path))


def ours(n: int, tol=None):
    from graphfold import Graph, GraphKernelPCA

    X, A = inputs(n)

    def run():
        model = GraphKernelPCA(D, kernel="linear", graph=Graph(A), tol=tol).fit(X)
        return {"residual": float(model.residuals_.max()), "rounds": model.n_iter_}

    return run


def case(n: int):
    from graspologic.embed import CovariateAssistedEmbed

    X, A = inputs(n)

    def run():
        CovariateAssistedEmbed(n_components=D).fit_transform(A, covariates=X)

    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    here = "benchmarks.linear_graph"
    cases = {
        "20,000 graphfold": (here, "ours", {"n": 20_000}),
        "20,000 graphfold at 1e-5": (here, "ours", {"n": 20_000, "tol": 1e-5}),
        "20,000 graspologic CASE": (here, "case", {"n": 20_000}),
        "70,000 graphfold": (here, "ours", {"n": 70_000}),
        "70,000 graspologic CASE": (here, "case", {"n": 70_000}),
    }
    for n in (20_000, 70_000):
        inputs(n)
    runs = run_alternating(cases, arguments.repeats, timeout=600)
    save("linear_graph", runs, claims_of(runs))


def claims_of(runs: dict) -> list[dict]:
    whole_matrix = 70_000**2 * 8 / 2**20
    peak = median(runs["70,000 graphfold"], "peak_mb")
    us, case = "20,000 graphfold", "20,000 graspologic CASE"
    large = ratio(runs, "70,000 graspologic CASE", "70,000 graphfold")
    return [
        at_least("20,000: CASE / us at 1e-5", ratio(runs, case, f"{us} at 1e-5"), 1),
        at_least("20,000: CASE / us at 1e-10", ratio(runs, case, us), 1),
        at_least("70,000: CASE / us at 1e-10", large, 1),
        at_most(
            "70,000: peak / the n x n matrix never formed", peak / whole_matrix, 0.1
        ),
    ]


if __name__ == "__main__":
    main()
