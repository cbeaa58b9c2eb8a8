"""Choices of landmarks: the angle to the exact answer against the time of the fit.

    GRAPHFOLD_DATA=... python -m benchmarks.landmark_choice

Ten components, with the graph of the rows (strength 1) and without. The answer they
are held to is exact, but for a million rows: there it comes from 1,000 landmarks that
are chosen uniformly with another seed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.harness import RESULTS, at_least, run_alternating, save

HERE = "benchmarks.landmark_choice"
D, SEEDS, MANY = 10, 3, 1000
CHOICES = ("uniform", "k-means", "k-means++")
SIZES = (100, 300, 1000)
SETTINGS = {
    "no graph": {},
    "graph": {"refine": True},
    "graph, refine=False": {"refine": False},
}
#: a point that takes longer is measured once; beyond 300 landmarks of many rows,
#: k-means++ takes minutes
SLOW = 4.0
MILLION = "plain 1,000,000"
DATA = ("MNIST 5,000", "MNIST 20,000", "osmFISH", "Cora", MILLION)
FIGURE = Path(__file__).parent.parent / "docs" / "images" / "landmark-choice.png"


def inputs(name: str):
    """Rows in single precision, their graph, and the kernel."""
    import scipy.sparse as sp

    from graphfold import Graph, NeighborGraph
    from graphfold.datasets import load_cora, load_mnist
    from graphfold.datasets.files import data_file

    kind, _, size = name.partition(" ")
    n = int(size.replace(",", "") or 0)
    if kind == "Cora":
        papers = load_cora()
        words = (
            papers.data / np.maximum(papers.data.sum(axis=1, keepdims=True), 1) ** 0.5
        )
        rows = sp.csr_array(words.astype(np.float32))
        return rows, Graph(papers.graph.to_scipy()), {"kernel": "linear"}
    if kind == "plain":
        from benchmarks.forest import inputs as forest

        X, A = forest(n, "plain")
        graph = Graph(A)
    elif kind == "osmFISH":
        with np.load(data_file("osmfish")) as file:
            X, places = np.log1p(file["X"].astype(np.float32)), file["xy"]
        graph = NeighborGraph(6).build(places)
    else:
        X = load_mnist().data[:n]
        graph = NeighborGraph(10).build(X)
    return X, graph, {"gamma": width(X)}


def width(X: np.ndarray) -> float:
    """One for all fits: a median would look at the landmarks of each."""
    from graphfold.kernels import Gaussian

    rng = np.random.default_rng(0)
    return Gaussian("median").bind(X[:: max(1, len(X) // 5000)], rng).gamma


def reference(name: str, setting: str) -> np.ndarray:
    """The eigenvectors that fits are held to, kept in the temporary directory."""
    kind = "graph" if SETTINGS[setting] else "plain"
    mark = name.replace(" ", "-").replace(",", "")
    path = Path(tempfile.gettempdir()) / f"graphfold-bench-choice-{mark}-{kind}.npy"
    if not path.exists():
        from graphfold import GraphKernelPCA

        X, graph, how = inputs(name)
        how["graph"] = graph if kind == "graph" else None
        if name == MILLION:
            how |= {"landmarks": MANY, "random_state": 99}
        elif X.shape[0] <= 6000:
            X, how["tol"] = X.astype(np.float64), 1e-8
        model = GraphKernelPCA(D, **how).fit(X)
        np.save(path, model.eigenvectors_.astype(np.float32))
    return np.load(path)


def points(name: str, setting: str, sizes: list[int], choices: list[str]):
    """Seconds and angles of all choices, one after the other, seed by seed."""
    from benchmarks.landmark_quality import largest_angle
    from graphfold import GraphKernelPCA

    truth = reference(name, setting)
    X, graph, how = inputs(name)
    how |= {"graph": graph if SETTINGS[setting] else None, **SETTINGS[setting]}

    def fit(choice: str, m: int, seed: int) -> dict:
        model = GraphKernelPCA(D, landmarks=m, landmark_choice=choice, **how)
        model.set_params(random_state=seed)
        start = time.perf_counter()
        model.fit(X)
        seconds = time.perf_counter() - start
        angle = largest_angle(truth, model.eigenvectors_)
        return {"s": seconds, "angle": angle, "lost": float(model.landmark_error_)}

    def run():
        fit("k-means", sizes[0], 9)  # nothing is imported while the clock runs
        found: dict[tuple, list] = {(c, m): [] for c in choices for m in sizes}
        for seed in range(SEEDS):
            for (choice, m), fits in found.items():
                if choice == "k-means++" and m * X.shape[0] > 300 * 20_000:
                    continue
                if not fits or fits[0]["s"] <= SLOW:
                    fits.append(fit(choice, m, seed))
        return {"points": [point(*key, fits) for key, fits in found.items() if fits]}

    return run


def point(choice: str, m: int, fits: list[dict]) -> dict:
    """The shortest time of several fits, and the median of their angles."""
    return {
        "choice": choice,
        "landmarks": m,
        "fits": len(fits),
        "fit_seconds": min(fit["s"] for fit in fits),
        "angle": median(fit["angle"] for fit in fits),
        "worst": max(fit["angle"] for fit in fits),
        "lost": median(fit["lost"] for fit in fits),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--timeout", type=float, default=600, help="seconds per case")
    parser.add_argument("--page", action="store_true", help="from what was measured")
    arguments = parser.parse_args()
    if not arguments.page:
        measure(arguments.data, arguments.timeout)
    record = json.loads((RESULTS / "landmark_choice.json").read_text())
    found = {name: runs[0].get("points", []) for name, runs in record["runs"].items()}
    print("\n".join(table(found)))
    draw(found)


def measure(data: list[str], timeout: float) -> None:
    cases = {}
    for name in data:
        sizes = [m for m in SIZES if m <= (300 if name == MILLION else 1000)]
        choices = [c for c in CHOICES if name != MILLION or c != "k-means++"]
        for setting in SETTINGS:
            reference(name, setting)  # made here, not inside somebody's time limit
            how = {"name": name, "setting": setting, "sizes": sizes, "choices": choices}
            cases[f"{name}, {setting}"] = (HERE, "points", how)
    runs = run_alternating(cases, 1, timeout=timeout, keep="landmark_choice")
    save("landmark_choice", runs, claims_of(runs), trial=tuple(data) != DATA)


def claims_of(runs: dict) -> list[dict]:
    """300 centres of k-means against as many uniform landmarks, and against as many
    as take the same time: between two sizes, on a line in logarithms."""
    claims = []
    for name, (run, *_) in runs.items():
        points = run.get("points", [])
        named = {(p["choice"], p["landmarks"]): p for p in points}
        ours, other = named.get(("k-means", 300)), named.get(("uniform", 300))
        if ours is None or other is None:
            continue
        gain = other["angle"] / ours["angle"]
        uniform = [p for p in points if p["choice"] == "uniform"]
        in_time = angle_at(uniform, ours["fit_seconds"]) / ours["angle"]
        claims.append(at_least(f"{name}: angle of uniform / k-means", gain, 1))
        claims.append(at_least(f"{name}: the same at equal time", in_time, 1))
    return claims


def angle_at(points: list[dict], seconds: float) -> float:
    """The angle that a choice would have after so many seconds."""
    times, angles = zip(
        *sorted((p["fit_seconds"], p["angle"]) for p in points), strict=True
    )
    return float(np.exp(np.interp(np.log(seconds), np.log(times), np.log(angles))))


def table(found: dict[str, list[dict]]) -> list[str]:
    """Markdown: degrees and seconds of each choice, by data, setting and landmarks."""
    lines = ["| data | m | " + " | ".join(CHOICES) + " |"]
    lines.append("| --- | --- |" + " --- |" * len(CHOICES))
    for name, points in found.items():
        for m in SIZES:
            row = {p["choice"]: p for p in points if p["landmarks"] == m}
            cells = [cell(row.get(choice)) for choice in CHOICES]
            if row:
                lines.append(f"| {name} | {m:,} | " + " | ".join(cells) + " |")
    return lines


def cell(point: dict | None) -> str:
    if point is None:
        return ""
    angle, seconds = point["angle"], point["fit_seconds"]
    digits = 1 if angle >= 10 else 2
    return f"{angle:.{digits}f}, {seconds:.{1 if seconds >= 10 else 2}f} s"


#: colour and marker of each choice, and where its numbers of landmarks stand
LOOKS = {
    "uniform": ("#5a6472", "o", (5, 4), "left"),
    "k-means": ("#d1495b", "s", (-5, -10), "right"),
    "k-means++": ("#3a7ca5", "^", None, "left"),
}


def draw(found: dict[str, list[dict]]) -> None:
    """A panel for each data set and setting; lower and further left is better."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [n for n in DATA if any(key.startswith(n + ", ") for key in found)]
    shape = (len(SETTINGS), len(names))
    size = (2.5 * shape[1] + 0.4, 2.2 * shape[0] + 0.9)
    figure, axes = plt.subplots(*shape, figsize=size, sharex="col", squeeze=False)
    for i, setting in enumerate(SETTINGS):
        for j, name in enumerate(names):
            panel(axes[i, j], found.get(f"{name}, {setting}", []))
            axes[0, j].set_title(titles(name), fontsize=10)
            axes[-1, j].set_xlabel("seconds of the fit", fontsize=9)
        axes[i, 0].set_ylabel(f"{setting}\ndegrees", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    figure.savefig(FIGURE, dpi=110)


def titles(name: str) -> str:
    return "1,000,000 rows" if name == MILLION else name


def panel(axis, points: list[dict]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for choice, (colour, marker, place, side) in LOOKS.items():
        own = sorted(
            (p for p in points if p["choice"] == choice), key=lambda p: p["landmarks"]
        )
        seconds = [p["fit_seconds"] for p in own]
        angles = [p["angle"] for p in own]
        style = {"color": colour, "marker": marker, "markersize": 4.5, "lw": 1.4}
        axis.plot(seconds, angles, label=choice, **style)
        for p in own if place else ():
            where = p["fit_seconds"], p["angle"]
            how = {"textcoords": "offset points", "xytext": place, "ha": side}
            axis.annotate(f"{p['landmarks']}", where, fontsize=7, color=colour, **how)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.margins(x=0.18, y=0.18)
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=9))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        side.set_minor_formatter(NullFormatter())
    axis.grid(True, which="major", color="#e8e8e8", lw=0.6)
    axis.tick_params(labelsize=8, which="both")
    axis.tick_params(which="minor", length=0)
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
