"""docs/scale.md and its two pictures from results/scale.json: nothing typed by hand."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import numpy as np

from benchmarks.scale import METHODS, PATH, SIZES, growth

DOCS = Path(__file__).parent.parent / "docs"
FAMILIES = {
    "graphfold": "#c2410c",
    "scikit-learn": "#2563a8",
    "umap": "#7c3aa0",
    "pymde": "#7c3aa0",
    "mlpack": "#2563a8",
    "graspologic": "#2f7d4f",
    "st-graphpca": "#2f7d4f",
    "scikit-network": "#2f7d4f",
    "PyGSP": "#6b7280",
}
#: ours in three weights of one colour, dashed where it is a filter and no embedding
DASHES = {"graphfold, filter": (4, 2), "PyGSP filter": (4, 2)}
KEY = (
    "orange: graphfold     blue: scikit-learn, mlpack     green: graph tools     "
    "violet: UMAP, pymde     dashed: filters, not embeddings"
)
HEIGHT = 11.0  # of a label, in points
TEXT = (
    "Ten Gaussian clusters in 12 dimensions, by tanh into 64 features, with noise; "
    "float32 where a tool takes it; ten components. The binary 10-NN graph is made "
    "beforehand, by a forest of random cuts, and is not counted: our estimators, "
    "SpectralEmbedding, UMAP (`precomputed_knn`), pymde, CASE, st-graphpca and "
    "Spectral get it, LLE and Isomap seek their neighbours themselves, the others use "
    "none. Every run has a process of its own; below 5 s the median of up to {runs} is "
    "taken, and before its clock starts every method has been called once on 1,000 "
    "rows. KernelPCA runs its arpack solver, its fastest here, and st-graphpca its "
    "default mode, which stops after five rounds; mlpack takes no more landmarks than "
    "components. The two filters, dashed, apply a heat filter of degree 30 to ten "
    "columns: a part of an embedding, shown beside each other."
)
LIMITS = (
    "A method that needs more than {cap:g} s, or more than the memory allowed for one "
    "process, is not tried at a larger n; the table says which it was. Memory is the "
    "peak during the fit beyond what was there before it: the data, the graph and the "
    "imports. The exponent is the slope of log time in log n over the last factor of "
    "ten that was reached."
)


def by_method(points: list[dict]) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for name in METHODS:
        own = [p for p in points if p["method"] == name]
        if own:
            found[name] = sorted(own, key=lambda p: p["n"])
    return found


def draw(points: list[dict], key: str, label: str, title: str, path: Path) -> None:
    """Log-log lines, each named at its end; ours in front."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(10, 6.4), layout="constrained")
    ax.set(xscale="log", yscale="log", xlabel="rows, n", ylabel=label)
    ax.set_title(title, loc="left", fontsize=12, fontweight="bold", pad=22)
    ax.text(0, 1.015, KEY, transform=ax.transAxes, fontsize=8.5, color="0.35")
    lines = []
    for name, own in by_method(points).items():
        good = [(p["n"], shown(p[key], key)) for p in own if key in p]
        if not good:
            continue
        x, y = zip(*good, strict=True)
        us = name.startswith("graphfold")
        style = {"color": color(name), "lw": 2.6 if us else 1.3, "ms": 5 if us else 3.5}
        style |= {"zorder": 4 if us else 2, "alpha": 1.0 if us else 0.85}
        style |= {"dashes": DASHES[name]} if name in DASHES else {}
        ax.plot(x, y, marker="o", **style)
        lines.append((name, x, y))
    finish(ax)
    figure.canvas.draw()
    label_ends(ax, lines)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def finish(ax) -> None:
    low, high = SIZES[0], SIZES[-1]
    ax.set_xlim(low / 1.25, high * 6.5)  # room for the names of lines that go far
    ax.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
    ax.set_xticks([], minor=True)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.spines["bottom"].set_bounds(low / 1.25, high)
    ax.grid(True, which="major", color="0.92", lw=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def shown(value: float, key: str) -> float:
    """A logarithm knows no zero: one megabyte is the least that is drawn."""
    return max(value, 1.0) if key.endswith("_mb") else value


def color(name: str) -> str:
    return next(c for start, c in FAMILIES.items() if name.startswith(start))


def label_ends(ax, lines: list[tuple]) -> None:
    """Names beside the ends of lines, moved up or down until none covers another."""
    from matplotlib.patheffects import withStroke

    renderer = ax.figure.canvas.get_renderer()
    paths = {name: along(ax, x, y) for name, x, y in lines}
    ends = {name: path[-1] for name, path in paths.items()}
    taken: list = []
    ceilings: dict[int, float] = {}
    # what has no room to move, at the right, chooses first, from the top; names of
    # lines that end at one n keep the order of their ends
    for name, x, y in sorted(lines, key=lambda one: tuple(-ends[one[0]])):
        note = ax.annotate(
            short(name),
            (x[-1], y[-1]),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            fontweight="bold" if name.startswith("graphfold") else "normal",
            color=color(name),
            zorder=6,
            path_effects=[withStroke(linewidth=3, foreground="white")],
            annotation_clip=False,
        )
        hard = np.array([end for other, end in ends.items() if other != name])
        soft = np.vstack(list(paths.values()))
        ceiling = ceilings.get(x[-1], np.inf)
        shift = room_for(note, renderer, taken, hard, soft, ceiling)
        ceilings[x[-1]] = taken[-1].y0 + 1
        if abs(shift) > 3:
            ax.annotate(
                "",
                (x[-1], y[-1]),
                xytext=(8, shift),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": color(name), "lw": 0.6},
                zorder=5,
            )


def along(ax, x, y) -> np.ndarray:
    """Places on the screen that a line passes through, its end last."""
    corners = ax.transData.transform(np.column_stack([x, y]))
    at = np.linspace(0, len(corners) - 1, 60 * len(corners))
    known = np.arange(len(corners))
    return np.column_stack([np.interp(at, known, c) for c in corners.T])


def room_for(note, renderer, taken: list, hard, soft, ceiling: float) -> float:
    """Move the note to the nearest free height; returns by how many points.

    Names and ends of lines are never covered; other lines are not where a free place
    is near.
    """
    scale = note.figure.dpi / 72
    lowest = note.axes.get_window_extent(renderer).y0
    steps = sorted((HEIGHT / 4 * k for k in range(-120, 121)), key=abs)
    box = note.get_window_extent(renderer)
    near = [(step, soft) for step in steps if abs(step) <= 2.5 * HEIGHT]
    for step, lines in near + [(step, hard) for step in steps]:
        moved = box.translated(0, step * scale)
        free = lowest < moved.y0 and moved.y1 < ceiling
        free &= not any(moved.overlaps(other) for other in taken)
        if free and not inside(moved, hard) and not inside(moved, lines):
            note.set_position((9, step))
            taken.append(moved)
            return step
    taken.append(box)
    return 0.0


def inside(box, places: np.ndarray) -> bool:
    if not len(places):
        return False
    x, y = places.T
    return bool(((box.x0 < x) & (x < box.x1) & (box.y0 < y) & (y < box.y1)).any())


def short(name: str) -> str:
    return name.replace("scikit-learn ", "").replace("graphfold, ", "graphfold: ")


def table(points: list[dict], key: str, factor: float, digits: str) -> list[str]:
    lines = [
        "| | " + " | ".join(f"{n:,}" for n in SIZES) + " | exponent |",
        "| --- |" + " ---: |" * (len(SIZES) + 1),
    ]
    for name, own in by_method(points).items():
        at = {p["n"]: p for p in own}
        cells = [cell(at.get(n), key, factor, digits) for n in SIZES]
        slope = growth(own, key)
        cells.append("" if math.isnan(slope) else f"{slope:.2f}")
        bold = "**" if name.startswith("graphfold") else ""
        lines.append(f"| {bold}{name}{bold} | " + " | ".join(cells) + " |")
    return lines


def cell(point: dict | None, key: str, factor: float, digits: str) -> str:
    if point is None:
        return ""
    if key in point:
        return format(point[key] * factor, digits)
    failed = point["failed"]
    limit = failed.startswith("more than")
    return failed.replace("more than ", "> ") if limit else "failed"


def failures(points: list[dict]) -> list[str]:
    """What ended with an error and not at a limit, in its own words."""
    return [
        f"* {p['method']} at {p['n']:,}: `{p['failed'][:160]}`"
        for p in points
        if not p.get("failed", "more than").startswith("more than")
    ]


def page(record: dict) -> str:
    points = record["points"]
    facts = record["machine"]
    commits = ", ".join(sorted({p["commit"] for p in points}))
    peers = ", ".join(f"{k} {v}" for k, v in record["versions"].items())
    runs = max((p.get("runs", 1) for p in points), default=1)
    cap = max(p["cap"] for p in points)
    broken = failures(points)
    notes = sorted({p["note"] for p in points if "note" in p})
    lines = [
        "# Time and memory against the number of rows",
        "",
        TEXT.format(runs=runs),
        "",
        LIMITS.format(cap=cap),
        "",
        f"`{record['command']}`, commit {commits}, {facts['cores']} cores, NumPy "
        f"{facts['numpy']}, SciPy {facts['scipy']}, scikit-learn "
        f"{facts['scikit-learn']}, {peers}.",
        "",
        *(line for note in notes for line in (f"**{note}**", "")),
        "![Seconds of a fit against n, both logarithmic](images/scale-time.png)",
        "",
        "![Memory of a fit against n, both logarithmic](images/scale-memory.png)",
        "",
        "## Seconds",
        "",
        *table(points, "seconds", 1.0, ".2f"),
        "",
        "## Megabytes beyond the data and the imports",
        "",
        *table(points, "beyond_mb", 1.0, ",.0f"),
    ]
    if broken:
        lines += ["", "Ended with an error:", "", *broken]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", type=Path, default=PATH)
    parser.add_argument("--docs", type=Path, default=DOCS)
    arguments = parser.parse_args()
    record = json.loads(arguments.input.read_text())
    images = arguments.docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    points = record["points"]
    draw(
        points,
        "seconds",
        "seconds of a fit",
        "Time of a fit",
        images / "scale-time.png",
    )
    draw(
        points,
        "beyond_mb",
        "MB beyond the data",
        "Peak memory of a fit, beyond the data and the imports",
        images / "scale-memory.png",
    )
    (arguments.docs / "scale.md").write_text(page(record))
    print("wrote scale.md and two pictures")


if __name__ == "__main__":
    main()
