"""What landmarks lose against the exact solution, on MNIST and on Cora."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.harness import at_least, at_most, median, run_alternating, save

HERE = "benchmarks.landmark_quality"
ROWS, M, D = 10_000, 1_000, 10
STRENGTHS = (0.1, 1.0, 10.0)
CORA_STRENGTHS = (1.0, 3.0)


def mnist(n: int, strength: float, landmarks: int):
    """One exact fit and one with landmarks; the angle and both accuracies."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    from benchmarks.exact import width
    from graphfold import Graph, GraphKernelPCA, NeighborGraph
    from graphfold.datasets import load_mnist

    file = load_mnist()
    X, y = file.data[:n].astype(np.float64), file.target[:n]
    graph = Graph(NeighborGraph(10).build(X).to_scipy())
    # one width for both: the median would look at the landmarks alone
    settings = {"graph": graph, "graph_strength": strength, "gamma": width(X)}
    exact = GraphKernelPCA(D, **settings, tol=1e-8)
    ours = GraphKernelPCA(D, **settings, landmarks=landmarks, refine=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def accuracy(model) -> float:
        classifier = KNeighborsClassifier(5)
        return cross_val_score(classifier, model.embedding_, y, cv=folds).mean()

    def run():
        exact.fit(X)
        ours.fit(X.astype(np.float32))
        return {
            "angle": largest_angle(exact.eigenvectors_, ours.eigenvectors_),
            "exact": float(accuracy(exact)),
            "landmarks": float(accuracy(ours)),
            "landmark_error": float(ours.landmark_error_),
        }

    return run


def largest_angle(U: np.ndarray, V: np.ndarray) -> float:
    """Degrees between two subspaces, by sines: cosines near 1 know no small angle."""
    U, V = (np.linalg.qr(np.asarray(W, np.float64))[0] for W in (U, V))
    sine = np.linalg.svd(V - U @ (U.T @ V), compute_uv=False).max()
    return float(np.degrees(np.arcsin(min(1.0, sine))))


def cora(strength: float, landmarks: int | None, inductive: bool):
    """Accuracy of a classifier on 20 components, as in the tests of the exact way.

    Inductive: the papers of the test fold are new to the fit, placed by ``transform``
    with their citations.
    """
    import pandas as pd
    import scipy.sparse as sp
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import normalize

    from graphfold import GraphKernelPCA
    from graphfold.datasets import load_cora

    papers = load_cora()
    X = normalize(papers.data)
    model = GraphKernelPCA(
        20,
        kernel="linear",
        graph=papers.graph,
        graph_strength=strength,
        scaling="unit",
        **({"landmarks": landmarks} if landmarks else {"tol": 1e-6}),
    )
    classifier = LogisticRegression(max_iter=1000)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def run():
        if inductive:
            table = pd.DataFrame(X, index=papers.labels)
            pipeline = make_pipeline(model, classifier)
            scores = cross_val_score(pipeline, table, papers.target, cv=folds)
        else:
            Z = model.fit_transform(sp.csr_array(X), node_ids=papers.labels)
            scores = cross_val_score(classifier, Z, papers.target, cv=folds)
        return {"accuracy": float(scores.mean())}

    return run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--landmarks", type=int, default=M)
    arguments = parser.parse_args()
    m = arguments.landmarks
    cases = {
        f"MNIST, strength {s:g}": (
            HERE,
            "mnist",
            {"n": arguments.rows, "strength": s, "landmarks": m},
        )
        for s in STRENGTHS
    }
    for kind in ("all papers", "new papers"):
        for way, count in (("exact", None), ("landmarks", m)):
            for s in (0.0, *CORA_STRENGTHS):
                settings = {"strength": s, "landmarks": count}
                settings["inductive"] = kind == "new papers"
                cases[f"Cora, {kind}, {way}, {s:g}"] = (HERE, "cora", settings)
    runs = run_alternating(cases, 1, timeout=600, keep="landmark_quality")
    trial = arguments.rows != ROWS
    save("landmark_quality", runs, claims_of(runs, m), trial=trial)


def claims_of(runs: dict, m: int) -> list[dict]:
    claims = []
    for s in STRENGTHS:
        found = runs[f"MNIST, strength {s:g}"]
        text = f"MNIST, strength {s:g}, m = {m:,}"
        gap = abs(median(found, "exact") - median(found, "landmarks"))
        claims += [
            at_most(f"{text}: largest angle in degrees", median(found, "angle"), 2),
            at_most(f"{text}: 5-NN accuracy, off by", gap, 0.005),
        ]

    def accuracy(*parts) -> float:
        return median(runs[", ".join(("Cora", *parts))], "accuracy")

    for s in CORA_STRENGTHS:
        exact = accuracy("all papers", "exact", f"{s:g}")
        gap = abs(exact - accuracy("all papers", "landmarks", f"{s:g}"))
        claims.append(at_most(f"Cora, strength {s:g}: accuracy, off by", gap, 0.02))
    plain = accuracy("new papers", "exact", "0")
    best = max(accuracy("new papers", "landmarks", f"{s:g}") for s in CORA_STRENGTHS)
    gain = best - plain
    claims.append(at_least("Cora, new papers: gain over PCA", gain, 0.10))
    return claims


if __name__ == "__main__":
    main()
