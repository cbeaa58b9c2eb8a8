"""The model of time and memory of fits on workers, beside measurements.

    python -m benchmarks.distributed_model            # measures, then writes the page
    python -m benchmarks.distributed_model --page     # writes docs/distributed.md alone

Rates are read off the smallest fit alone; what they say of the larger ones is compared
with what these take. Two workers of one thread each. Extrapolations are the model's.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.distributed import once
from graphfold.distributed.cost import FitCost, cost_of_fit

RESULTS = Path(__file__).parent / "results" / "distributed_model.json"
SPEED = Path(__file__).parent / "results" / "distributed.json"
PAGE = Path(__file__).parent.parent / "docs" / "distributed.md"
BEGIN, END = "<!-- begin measured -->", "<!-- end measured -->"
#: rows, landmarks, rows of a chunk; how far away in its cloud a row's neighbours are
FITS = [
    (100_000, 100, 12_500, 50),
    (1_000_000, 100, 50_000, 50),
    (10_000_000, 50, 250_000, 50),
]
#: rows, landmarks, workers, blocks, share of edges that leave their block
LARGE = [
    (10**8, 500, 64, 1024, 0.1),
    (10**8, 500, 64, 1024, 1.0),
    (10**9, 500, 512, 1024, 0.1),
    (10**9, 500, 512, 1024, 1.0),
]
DEGREE, COMPONENTS, COLUMNS = 10.0, 10, 50
#: bytes a second between a worker and the others, of a common network; seconds that
#: Dask's scheduler takes for a task, by its documentation
NETWORK, TASK = 1e9, 1e-3


def measure() -> None:
    found = {}
    for n, m, chunk, spread in FITS:
        how = {"n": n, "m": m, "n_workers": 2, "chunk": chunk, "spread": spread}
        found[f"{n} {m}"] = once("fit", **how) | {"chunk": chunk}
        print(found[f"{n} {m}"], file=sys.stderr, flush=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def work(n: int, m: int, n_blocks: int, remote: float) -> FitCost:
    how = {"degree": DEGREE, "n_blocks": n_blocks, "remote": remote}
    return cost_of_fit((n, COLUMNS), m, COMPONENTS, **how)


def seconds_per_row(cost: FitCost, n: int, flops: float, rows: float) -> float:
    """Dense products at one rate, everything that goes row by row at another."""
    return cost.flops / flops + n / rows


def rates() -> tuple[float, float]:
    """Of a core: operations a second of dense products, and rows of all else.

    The first from two fits of 500,000 rows and 500 landmarks, where products are most
    of the work; the second from the smallest fit of the list.
    """
    speed = next(iter(json.loads(SPEED.read_text()).values()))
    large = work(speed["n"], speed["m"], 16, 1.0)
    plain = min(speed["seconds"]["plain 1"])
    flops = large.flops / plain
    n, m, chunk, _ = FITS[0]
    small = json.loads(RESULTS.read_text())[f"{n} {m}"]
    left = 2 * small["seconds"] - work(n, m, n // chunk, 0.1).flops / flops
    return flops, n / left


def page() -> str:
    flops, rows = rates()
    measured = json.loads(RESULTS.read_text())
    lines = [
        "### Checked",
        "",
        f"Rates of one core: {flops / 1e9:.1f} GFlop/s of dense products (a plain "
        f"process on 500,000 rows, 500 landmarks), {rows:,.0f} rows a second of all "
        "else (the first line). Two workers, 50 columns, degree 10, ten components; "
        "rows in an order in which most edges stay in their block "
        "(`python -m benchmarks.distributed_model`).",
        "",
        "| rows | landmarks | seconds, model | measured | held, model | largest "
        "worker, measured | moved, measured |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for n, m, chunk, _ in FITS:
        one = measured.get(f"{n} {m}")
        if one is None:
            continue
        cost = work(n, m, n // chunk, 0.1)
        seconds = seconds_per_row(cost, n, flops, rows) / 2
        lines.append(
            f"| {n:,} | {m} | {seconds:,.0f} | {one['seconds']:,.0f} | "
            f"{cost.bytes_held / 2e6:,.0f} MB a worker | {max(one['peak_mb']):,} MB | "
            f"{one['moved_mb']:,} MB |"
        )
    lines += ["", *speed_lines(), "", *large_lines(flops, rows)]
    return "\n".join(lines)


def speed_lines() -> list[str]:
    speed = next(iter(json.loads(SPEED.read_text()).values()))
    times = {name: sorted(values) for name, values in speed["seconds"].items()}
    shown = {name: " to ".join(f"{v:.0f}" for v in vs) for name, vs in times.items()}
    return [
        "### Two workers against one",
        "",
        f"{speed['n']:,} x {speed['columns']}, {speed['m']} landmarks, degree 10, "
        "every row's neighbours anywhere (`python -m benchmarks.distributed`, "
        f"{len(times['fit 1'])} repeats, alternating). Plain processes run the same "
        "functions on the same blocks and share their memory: they move nothing, and "
        "have no rows to read nor edges to join.",
        "",
        "| | one | two | gain |",
        "| --- | --- | --- | --- |",
        f"| Dask workers | {shown['fit 1']} s | {shown['fit 2']} s | "
        f"{speed['gain']['fit']:.2f} |",
        f"| plain processes | {shown['plain 1']} s | {shown['plain 2']} s | "
        f"{speed['gain']['plain']:.2f} |",
    ]


def large_lines(flops: float, rows: float) -> list[str]:
    lines = [
        "### Extrapolated",
        "",
        "By the model; nothing of this size was run. 500 landmarks, 50 columns, degree "
        "10; workers of one core; a network of 1 GB/s for each worker, not overlapped "
        "with work; a millisecond of the scheduler for each task.",
        "",
        "| rows | workers | edges that leave their block | held by a worker | moved "
        "by a worker | seconds: work | network | scheduler |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for n, m, workers, n_blocks, remote in LARGE:
        cost = work(n, m, n_blocks, remote)
        seconds = seconds_per_row(cost, n, flops, rows) / workers
        moved = cost.bytes_moved / workers
        pairs = min(n_blocks**2, remote * n * DEGREE)
        tasks = 3 * 2 * pairs * min(1.0, remote * 10) + 20 * n_blocks
        lines.append(
            f"| 10^{len(str(n)) - 1} | {workers} | {remote:.0%} | "
            f"{cost.bytes_held / workers / 1e9:.1f} GB | {moved / 1e9:.1f} GB | "
            f"{seconds:,.0f} | {moved / NETWORK:,.0f} | {tasks * TASK:,.0f} |"
        )
    lines += [
        "",
        "Where edges lead anywhere, a row's features go to ten other blocks, and every "
        "two blocks have a task: sort rows so that neighbours share a chunk (by "
        "community, place or time) before a fit of this size.",
    ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if not arguments.page:
        measure()
    text = PAGE.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{page()}\n{END}{after}")


if __name__ == "__main__":
    main()
