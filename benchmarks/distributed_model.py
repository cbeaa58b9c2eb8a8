"""The model of time and memory of fits on workers, beside measurements.

    python -m benchmarks.distributed_model            # measures, then writes the page
    python -m benchmarks.distributed_model --page     # writes docs/distributed.md alone

Rates are read off small fits alone; what they say of the larger ones is compared with
what these take. Two workers of one thread each. Extrapolations are the model's.
Needs benchmarks/results/distributed.json, which ``benchmarks.distributed`` writes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.distributed import once
from graphfold.distributed.cost import FitCost, cost_of_fit

RESULTS = Path(__file__).parent / "results" / "distributed_model.json"
SPEED = Path(__file__).parent / "results" / "distributed.json"
PAGE = Path(__file__).parent.parent / "docs" / "distributed.md"
BEGIN, END = "<!-- begin measured -->", "<!-- end measured -->"
#: rows, landmarks, rows of a chunk: two that are almost no work, one for the rows' rate
TINY = [(6_400, 100, 400), (6_400, 100, 100)]
SMALL = (100_000, 100, 12_500)
#: those that the model is checked on
LARGER = [(1_000_000, 100, 50_000), (10_000_000, 50, 250_000)]
#: how far away in its cloud a row's neighbours are: most stay in their block
SPREAD = 50
#: rows of a block at most (graphfold.distributed.rows.MOST_ROWS)
MOST_ROWS = 2**15
#: rows, workers, share of edges that lead to any other block
EXTRAPOLATED = [
    (n, workers, remote)
    for n, workers in ((10**8, 64), (10**9, 512))
    for remote in (0.0, 0.1, 1.0)
]
MOST_BLOCKS = 1024
DEGREE, COMPONENTS, COLUMNS = 10.0, 10, 50
#: bytes a second between a worker and the others, of a common network
NETWORK = 1e9


def measure(fits: list[tuple[int, int, int]]) -> None:
    """Three runs of each fit that is short, one of a long one."""
    found = {}
    for n, m, chunk in fits:
        how = {"n": n, "m": m, "n_workers": 2, "chunk": chunk, "spread": SPREAD}
        runs = [once("fit", **how) for _ in range(3 if n < 10**6 else 1)]
        middle = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
        found[name_of(n, m, chunk)] = middle
        print(middle, file=sys.stderr, flush=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def name_of(n: int, m: int, chunk: int) -> str:
    return f"n={n} m={m} chunk={chunk}"


def work(n: int, m: int, n_blocks: int, **how) -> FitCost:
    how = {"degree": DEGREE, "n_blocks": n_blocks, **how}
    return cost_of_fit((n, COLUMNS), m, COMPONENTS, **how)


class Rates(NamedTuple):
    """Of one core and one scheduler."""

    start: float  # seconds of a fit that has nothing to do
    task: float  # seconds of a task
    flops: float  # operations a second of dense products
    rows: float  # rows a second of all else

    def seconds(self, cost: FitCost, tasks: float, n: int, workers: int) -> float:
        busy = cost.flops / self.flops + n / self.rows
        return self.start + self.task * tasks + busy / workers


def rates(measured: dict, speed: dict) -> Rates:
    """Read off the tiny fits, the small one, and a plain process on 500,000 rows."""
    few, many = (measured[name_of(*fit)] for fit in TINY)
    task = (many["seconds"] - few["seconds"]) / (many["tasks"] - few["tasks"])
    start = few["seconds"] - task * few["tasks"]
    near = speed[0]
    flops = work(near["n"], near["m"], 16).flops / median(near["seconds"]["plain 1"])
    n, m, chunk = SMALL
    small = measured[name_of(*SMALL)]
    busy = 2 * (small["seconds"] - start - task * small["tasks"])
    left = busy - work(n, m, n // chunk).flops / flops
    return Rates(start, task, flops, n / left)


def page() -> str:
    measured = json.loads(RESULTS.read_text())
    speed = sorted(
        json.loads(SPEED.read_text()).values(), key=lambda one: -one["spread"]
    )
    rate = rates(measured, speed)
    parts = [
        speed_lines(speed),
        checked_lines(rate, measured, speed),
        extrapolated_lines(rate, measured),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts)


def speed_lines(speed: list[dict]) -> list[str]:
    one = speed[0]
    lines = [
        "### Two workers against one",
        "",
        f"{one['n']:,} x {one['columns']}, {one['m']} landmarks, degree 10, blocks of "
        f"{one['chunk']:,} rows (`python -m benchmarks.distributed --spread 50` and "
        f"`--spread 0`, {len(one['seconds']['fit 1'])} repeats, alternating). Plain "
        "processes run the same functions on the same blocks and share their memory: "
        "they move nothing, and have no rows to read, no edges to join and no problem "
        "to solve.",
        "",
        "| edges | | one, s | two, s | gain | of the plain gain |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in speed:
        edges = "near" if one["spread"] else "anywhere"
        times = {name: sorted(values) for name, values in one["seconds"].items()}
        shown = {
            name: " to ".join(f"{v:.1f}" for v in dict.fromkeys((vs[0], vs[-1])))
            for name, vs in times.items()
        }
        for kind, label in (("fit", "Dask workers"), ("plain", "plain processes")):
            share = f"{one['share_of_plain']:.2f}" if kind == "fit" else ""
            lines.append(
                f"| {edges} | {label} | {shown[f'{kind} 1']} | "
                f"{shown[f'{kind} 2']} | {one['gain'][kind]:.2f} | {share} |"
            )
    return lines


def checked_lines(rate: Rates, measured: dict, speed: list[dict]) -> list[str]:
    lines = [
        "### Checked",
        "",
        f"A fit takes {rate.start:.1f} s to start and end, {1e3 * rate.task:.1f} ms a "
        f"task (both from fits of {TINY[0][0]:,} rows), one core makes "
        f"{rate.flops / 1e9:.0f} GFlop/s of dense products (a plain process on 500,000 "
        f"rows) and does all else for {rate.rows:,.0f} rows a second (from "
        f"{SMALL[0]:,} rows). A worker has "
        f"{max(measured[name_of(*TINY[0])]['peak_mb']):,} MB to begin with. With "
        "these, two workers, 50 columns, degree 10 and ten components (`python -m "
        "benchmarks.distributed_model`; edges near, but for the last line):",
        "",
        "| rows | m | s, model | found | tasks, model | found | GB a worker, model | "
        "peak | GB moved |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    base = max(measured[name_of(*TINY[0])]["peak_mb"])
    runs = [(*fit, SPREAD, measured.get(name_of(*fit))) for fit in (SMALL, *LARGER)]
    runs += [(s["n"], s["m"], s["chunk"], s["spread"], middle(s)) for s in speed]
    ratios = []
    for n, m, chunk, spread, one in runs:
        if one is None:
            continue
        n_blocks = -(-n // min(chunk, MOST_ROWS))
        cost = work(n, m, n_blocks, meeting=2 if spread else None)
        seconds = rate.seconds(cost, cost.tasks, n, 2)
        ratios.append(one["seconds"] / seconds)
        lines.append(
            f"| {n:,} | {m} | {seconds:,.0f} | {one['seconds']:,.0f} | "
            f"{cost.tasks:,.0f} | {one['tasks']:,} | "
            f"{(base + cost.bytes_held / 2**21) / 1024:.2f} | "
            f"{max(one['peak_mb']) / 1024:.2f} | {one['moved_mb'] / 1024:.2f} |"
        )
    *near, anywhere = ratios
    lines += [
        "",
        f"Fits take {min(near):.2f} to {max(near):.2f} times what the model says where "
        f"edges are near, and {anywhere:.2f} times where they lead anywhere: the model "
        "has no time for rows that are moved here, between two cores that are at work.",
    ]
    return lines


def middle(speed: dict) -> dict:
    """The middle one of the runs with two workers."""
    runs = [one for one in speed["details"] if one.get("n_workers") == 2]
    return sorted(runs, key=lambda one: one["seconds"])[len(runs) // 2]


def extrapolated_lines(rate: Rates, measured: dict) -> list[str]:
    m = 500
    lines = [
        "### Extrapolated",
        "",
        f"By the model; nothing of this size was run. {m} landmarks, 50 columns, "
        f"degree 10, {MOST_BLOCKS:,} blocks; workers of one such core; a network of "
        "1 GB/s for each worker, not overlapped with work. Gigabytes are those of one "
        "worker; a task gathers the rows that it needs beside what is held.",
        "",
        "| rows | workers | edges to any block | GB held | for a task | moved | s of "
        "work | network | scheduler |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for n, workers, remote in EXTRAPOLATED:
        meeting = None if remote else 2
        how = {"remote": remote, "n_workers": workers, "meeting": meeting}
        cost = work(n, m, MOST_BLOCKS, **how)
        gathered = 4 * m * (n / MOST_BLOCKS) * (1 + DEGREE * remote)
        busy = (cost.flops / rate.flops + n / rate.rows) / workers
        moved = cost.bytes_moved / workers
        lines.append(
            f"| 10^{len(str(n)) - 1} | {workers} | {remote:.0%} | "
            f"{cost.bytes_held / workers / 1e9:.0f} | {gathered / 1e9:.1f} | "
            f"{moved / 1e9:.0f} | "
            f"{busy:,.0f} | {moved / NETWORK:,.0f} | {rate.task * cost.tasks:,.0f} |"
        )
    lines += [
        "",
        "Edges to any block make two tasks for every two blocks, which cost more than "
        "the work. Sort rows so that neighbours share a chunk (by community, place or "
        "time) before a fit of this size: then a block has neighbours in two others "
        "(the lines of 0%), and only rows at the ends of a run are moved.",
    ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if not arguments.page:
        measure([*TINY, SMALL, *LARGER])
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{page()}\n{END}{after}")


if __name__ == "__main__":
    main()
