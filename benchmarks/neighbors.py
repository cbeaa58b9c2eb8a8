"""The ten nearest rows of MNIST: recall against time for every search that we found.

``python -m benchmarks.neighbors`` measures 10,000 and 20,000 rows, for choosing;
``--large`` all 70,000, once; ``--page`` writes the table of docs/neighbors.md. Run it
in an environment of its own (benchmarks/requirements-neighbors.txt).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
from pathlib import Path

import numpy as np

from benchmarks.harness import (
    RESULTS,
    at_least,
    median,
    ratio,
    run_alternating,
    save,
)

K, JUDGED = 10, 1000
HERE = "benchmarks.neighbors"
PAGE = Path(__file__).parent.parent / "docs" / "neighbors.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def images(n: int, dtype: str = "float32"):
    from graphfold.datasets import load_mnist

    return load_mnist().data[:n].astype(dtype)


def judged(X, search, *, twice: bool):
    """A case: the search is timed; recall and repeatability are looked at later."""

    def run():
        found = search(X)

        def later():
            facts = {"recall": recall(X, found)}
            if twice:
                facts["same"] = bool(np.array_equal(found, search(X)))
            return facts

        return {"later": later}

    return run


def recall(X, found) -> float:
    """Share of the true neighbours found, for rows that nobody else has chosen."""
    from sklearn.neighbors import NearestNeighbors

    rows = np.random.default_rng(314).choice(len(X), JUDGED, replace=False)
    exact = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(X)
    true = np.sort(exact.kneighbors(X[rows], K + 1)[0], axis=1)[:, K]
    given = found[rows].astype(np.intp)
    itself = given == rows[:, None]
    # eleven with the row itself, or ten without it
    away = np.linalg.norm(X[given].astype(float) - X[rows][:, None], axis=2)
    away[itself] = np.inf
    right = np.sort(away, axis=1)[:, :K] <= true[:, None] * (1 + 1e-6)
    return float(right.mean())


def scikit_learn(n: int, twice: bool):
    from sklearn.neighbors import NearestNeighbors

    def search(X):
        found = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(X)
        return found.kneighbors()[1]

    return judged(images(n), search, twice=twice)


def graphfold(n: int, twice: bool, dtype: str = "float32"):
    from graphfold.neighbors import approximate_neighbors

    return judged(
        images(n, dtype), lambda X: approximate_neighbors(X, K).indices, twice=twice
    )


def faiss_graph(n: int, twice: bool, build: int, effort: int):
    import faiss

    def search(X):
        index = faiss.IndexHNSWFlat(X.shape[1], 16)
        index.hnsw.efConstruction, index.hnsw.efSearch = build, effort
        index.add(X)
        return index.search(X, K + 1)[1]

    return judged(images(n), search, twice=twice)


def faiss_cells(n: int, twice: bool, probes: int):
    import faiss

    def search(X):
        centres = faiss.IndexFlatL2(X.shape[1])
        index = faiss.IndexIVFFlat(centres, X.shape[1], int(2 * n**0.5))
        index.train(X)
        index.add(X)
        index.nprobe = probes
        return index.search(X, K + 1)[1]

    return judged(images(n), search, twice=twice)


def faiss_exact(n: int, twice: bool):
    import faiss

    def search(X):
        index = faiss.IndexFlatL2(X.shape[1])
        index.add(X)
        return index.search(X, K + 1)[1]

    return judged(images(n), search, twice=twice)


def usearch(n: int, twice: bool, build: int, effort: int):
    from usearch.index import Index

    def search(X):
        index = Index(
            ndim=X.shape[1],
            metric="l2sq",
            dtype="f32",
            connectivity=16,
            expansion_add=build,
            expansion_search=effort,
        )
        index.add(np.arange(len(X)), X)
        return index.search(X, K + 1).keys

    return judged(images(n), search, twice=twice)


def hnswlib(n: int, twice: bool, build: int, effort: int):
    import hnswlib as library

    def search(X):
        index = library.Index("l2", X.shape[1])
        index.init_index(len(X), M=16, ef_construction=build, random_seed=0)
        index.set_ef(effort)
        index.add_items(X)
        return index.knn_query(X, K + 1)[0]

    return judged(images(n), search, twice=twice)


def pynndescent(n: int, twice: bool, asked: int):
    from pynndescent import NNDescent

    X = images(n)
    settings = {"n_neighbors": asked, "random_state": 0}
    NNDescent(X[:2000], **settings)  # compiled before the clock starts

    def search(X):
        return NNDescent(X, **settings).neighbor_graph[0][:, : K + 1]

    return judged(X, search, twice=twice)


def cases_for_choosing(n: int) -> dict[str, tuple]:
    settings = {"n": n, "twice": n <= 10_000}
    cases = {
        "scikit-learn exact": ("scikit_learn", {}),
        "graphfold cells": ("graphfold", {}),
        "graphfold cells, float64": ("graphfold", {"dtype": "float64"}),
        "faiss exact": ("faiss_exact", {}),
        "faiss IVF, 8 probes": ("faiss_cells", {"probes": 8}),
        "faiss IVF, 16 probes": ("faiss_cells", {"probes": 16}),
        "faiss HNSW 16, 40, 32": ("faiss_graph", {"build": 40, "effort": 32}),
        "faiss HNSW 16, 100, 64": ("faiss_graph", {"build": 100, "effort": 64}),
        "usearch 16, 40, 32": ("usearch", {"build": 40, "effort": 32}),
        "usearch 16, 100, 64": ("usearch", {"build": 100, "effort": 64}),
        "hnswlib 16, 40, 32": ("hnswlib", {"build": 40, "effort": 32}),
        "pynndescent 11": ("pynndescent", {"asked": 11}),
        "pynndescent 15": ("pynndescent", {"asked": 15}),
    }
    return {
        f"{n:,} {name}": (HERE, function, settings | more)
        for name, (function, more) in cases.items()
    }


def cases_at_full_size(n: int = 70_000) -> dict[str, tuple]:
    settings = {"n": n, "twice": False}
    return {
        f"{n:,} graphfold cells": (HERE, "graphfold", settings),
        f"{n:,} graphfold cells, float64": (
            HERE,
            "graphfold",
            settings | {"dtype": "float64"},
        ),
        f"{n:,} faiss HNSW 16, 40, 32": (
            HERE,
            "faiss_graph",
            settings | {"build": 40, "effort": 32},
        ),
        f"{n:,} pynndescent 15": (HERE, "pynndescent", settings | {"asked": 15}),
        f"{n:,} faiss exact": (HERE, "faiss_exact", settings),
        f"{n:,} scikit-learn exact": (HERE, "scikit_learn", settings),
    }


def claims_of(runs: dict) -> list[dict]:
    us, others = "70,000 graphfold cells", "70,000 scikit-learn exact"
    if us not in runs:
        return []
    faster = ratio(runs, others, us)
    in_cpu = median(runs[others], "cpu") / median(runs[us], "cpu")
    return [
        at_least("MNIST 70,000: scikit-learn / us", faster, 8),
        at_least("MNIST 70,000: scikit-learn / us, CPU seconds", in_cpu, 8),
        at_least("MNIST 70,000: our recall", median(runs[us], "recall"), 0.98),
    ]


def page_table(record: dict) -> list[str]:
    """A markdown table of every case, and what it was measured with."""
    machine, versions = record["machine"], record["versions"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines = [
        f"`{record['command']}` (70,000 rows: with `--large`), {record['date']}, "
        f"commit {record['commit']}, {machine['cores']} cores, {named}:",
        "",
        "| rows, search | seconds | CPU seconds | recall | peak MB | same again |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, repeats in record["runs"].items():
        good = [run for run in repeats if "seconds" in run]
        if not good:
            why = repeats[0]["failed"]
            why = "not installed" if "No module named" in why else why
            lines.append(f"| {name} | {why} | | | | |")
            continue
        again = {True: "yes", False: "no", None: ""}[good[0].get("same")]
        lines.append(
            f"| {name} | {median(good):.1f} | {median(good, 'cpu'):.1f} "
            f"| {median(good, 'recall'):.4f} | {median(good, 'peak_mb'):.0f} "
            f"| {again} |"
        )
    return lines


def write_page() -> None:
    record = json.loads((RESULTS / "neighbors.json").read_text())
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    table = "\n".join(page_table(record))
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}")
    print(f"wrote {PAGE.name}")


def keep(runs: dict) -> None:
    """Save new runs beside those of other sizes, and which versions were there."""
    path = RESULTS / "neighbors.json"
    older = json.loads(path.read_text())["runs"] if path.exists() else {}
    runs = older | runs
    save("neighbors", runs, claims_of(runs))
    record = json.loads(path.read_text())
    record["versions"] = {}
    for name in ("scikit-learn", "faiss-cpu", "usearch", "hnswlib", "pynndescent"):
        try:
            record["versions"][name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            record["versions"][name] = "(no wheel)"
    path.write_text(json.dumps(record, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 20_000])
    parser.add_argument("--large", action="store_true", help="all rows, once")
    parser.add_argument("--only", default="", help="cases with this text in their name")
    parser.add_argument("--page", action="store_true", help="only write the page")
    arguments = parser.parse_args()
    if arguments.page:
        write_page()
    elif arguments.large:
        keep(run_alternating(with_text(arguments.only, cases_at_full_size()), 1, 900))
    else:
        for n in arguments.rows:
            cases = with_text(arguments.only, cases_for_choosing(n))
            keep(run_alternating(cases, arguments.repeats, timeout=400))


def with_text(text: str, cases: dict[str, tuple]) -> dict[str, tuple]:
    return {name: case for name, case in cases.items() if text in name}


if __name__ == "__main__":
    main()
