"""What the rules behind graph_strength="auto" are worth: errors asked, rows scored.

Prints how often misleading graphs are kept by one and by two standard errors, and where
the score peaks on Cora if rows are scored as they are or by their direction.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from graphfold import Graph, GraphKernelPCA
from graphfold.datasets import load_cora
from graphfold.model import path
from graphfold.quality import rewired

N_GRAPHS = 20


def planted(rng: np.random.Generator, n: int = 240, n_columns: int = 24):
    """Noisy rows of four groups, and a graph that mostly links rows of one group."""
    group = np.arange(n) % 4
    centres = rng.standard_normal((4, n_columns))
    X = centres[group] + 3.0 * rng.standard_normal((n, n_columns))
    same = group[:, None] == group[None]
    A = np.triu(rng.random((n, n)) < np.where(same, 0.15, 0.01), 1).astype(float)
    return X, Graph(A + A.T)


def kept_graphs() -> None:
    print(f"strength above 0.1 on {N_GRAPHS} graphs, planted or rewired\n")
    print("| score | graph | one standard error | two |\n| --- | --- | --- | --- |")
    for how in ("auto", "auto-edges"):
        for name in ("planted", "rewired"):
            counts = {1.0: 0, 2.0: 0}
            for seed in range(N_GRAPHS):
                X, graph = planted(np.random.default_rng(seed))
                if name == "rewired":
                    graph = rewired(graph, random_state=seed)
                model = GraphKernelPCA(3, graph=graph, graph_strength=how).fit(X)
                for errors in counts:
                    path.SURE = errors
                    found = model.strength_path_
                    again = path.decide(found.strengths, found.scores, how)
                    counts[errors] += again.chosen > 0.1
                path.SURE = 2.0
            print(f"| {how} | {name} | {counts[1.0]} | {counts[2.0]} |")


def peaks() -> None:
    cora = load_cora()
    X = sp.csr_array(normalize(cora.data))
    by_direction = path.directions
    rules = {
        "as they are": lambda V: (
            V.astype(np.float64) * np.sqrt(len(V) / (V.shape[1] + 1))
        ),
        "by direction": by_direction,
    }
    print("\nCora, best score and where\n")
    print("| rows scored | columns | edges |\n| --- | --- | --- |")
    for name, rule in rules.items():
        path.directions = rule
        cells = []
        for how in ("auto", "auto-edges"):
            model = GraphKernelPCA(
                20, kernel="linear", graph=cora.graph, graph_strength=how
            ).fit(X, node_ids=cora.labels)
            scores = model.strength_path_.mean_scores
            best = model.strength_path_.strengths[scores.argmax()]
            cells.append(f"{scores.max():.4f} at {best:g}")
        print(f"| {name} | " + " | ".join(cells) + " |")
    path.directions = by_direction


if __name__ == "__main__":
    kept_graphs()
    peaks()
