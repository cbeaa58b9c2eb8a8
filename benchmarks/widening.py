"""How far the span is from the refined answer, by steps to neighbours that widen it.

    GRAPHFOLD_DATA=... python -m benchmarks.widening

Ten components of 10,000 digits of MNIST, their graph of ten neighbours; the largest
angle in degrees.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.linalg import subspace_angles

from graphfold import GraphKernelPCA, NeighborGraph
from graphfold.datasets import load_mnist
from graphfold.model import span


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--landmarks", type=int, nargs="+", default=[500])
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    X = load_mnist().data[: arguments.rows] / 255.0
    graph = NeighborGraph(10).build(X)
    print("| landmarks | strength | 1 step | 2 steps | 3 steps | 4 steps |")
    print("| --- | --- | --- | --- | --- | --- |")
    for m in arguments.landmarks:
        for strength in (1.0, 10.0):
            how = {"graph": graph, "landmarks": m, "graph_strength": strength}
            refined = GraphKernelPCA(10, refine=True, tol=1e-6, **how).fit(X)
            angles = []
            for steps in (1, 2, 3, 4):
                span.STEPS = steps
                found = GraphKernelPCA(10, refine=False, **how).fit(X)
                pair = refined.eigenvectors_, found.eigenvectors_
                angles.append(np.degrees(subspace_angles(*pair)).max())
            listed = " | ".join(f"{angle:.2f}" for angle in angles)
            print(f"| {m} | {strength:g} | {listed} |", flush=True)


if __name__ == "__main__":
    main()
