"""Accuracy on Cora against graph_strength, for all papers and for new ones."""

from __future__ import annotations

import pandas as pd
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from graphfold import GraphKernelPCA
from graphfold.datasets import load_cora

STRENGTHS = (0, 0.3, 1, 3)


def main() -> None:
    cora = load_cora()
    X = normalize(cora.data)
    table = pd.DataFrame(X, index=cora.labels)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    rows: dict[str, list[float]] = {"transductive": [], "inductive": []}
    for strength in STRENGTHS:
        model = GraphKernelPCA(
            20,
            kernel="linear",
            graph=cora.graph,
            graph_strength=strength,
            scaling="unit",
        )
        classifier = LogisticRegression(max_iter=1000)
        Z = model.fit_transform(sp.csr_array(X), node_ids=cora.labels)
        scores = cross_val_score(classifier, Z, cora.target, cv=folds)
        rows["transductive"].append(scores.mean())
        pipeline = make_pipeline(model, classifier)
        scores = cross_val_score(pipeline, table, cora.target, cv=folds)
        rows["inductive"].append(scores.mean())
    print("| strength | " + " | ".join(f"{s:g}" for s in STRENGTHS) + " |")
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(f"{v:.3f}" for v in values) + " |")


if __name__ == "__main__":
    main()
