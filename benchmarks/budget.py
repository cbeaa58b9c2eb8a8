"""Budgets against measured peaks: 0.5 to 4 GB and 5,000 to 200,000 rows.

Every fit runs in a process of its own, with ``max_iter`` small: what is measured is
memory, and a tiled product of 200,000 rows takes minutes. Results are kept case by
case, so that a run can be taken up again: ``--n 5000 10000`` runs these alone. From
50,000 rows on a budget whose plan is that of a smaller one is not run again: the fit
would be the same, call for call.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.harness import RESULTS, git, machine
from tests.peak import measure

PAGE = Path(__file__).parent.parent / "docs" / "budgets.md"
MB = 2**20
#: what the C library may keep of memory that has been freed
ALLOWANCE = 32 * MB
BUDGETS = ("0.5GB", "1GB", "2GB", "4GB")
#: rows from which equal plans are run once
LONG = 50_000
SIZES = (5000, 10_000, 20_000, 50_000, 70_000, 100_000, 200_000)


def request(n: int, columns: int, budget: str, rounds: int) -> dict:
    return {
        "estimator": "GraphKernelPCA",
        "n": n,
        "columns": columns,
        "dtype": "float32",
        "budget": budget,
        "settings": {"n_components": 10, "max_iter": rounds},
    }


def plan_of(fit: dict) -> tuple:
    """What a fit would do, as far as it says so beforehand."""
    import graphfold

    model = getattr(graphfold, fit["estimator"])(
        max_memory=fit["budget"], **fit["settings"]
    )
    X = np.zeros((fit["n"], fit["columns"]), dtype=fit["dtype"])
    X[:, 0] = np.arange(fit["n"])
    plan = model.plan(X)
    return plan.way, plan.storage, plan.solver, plan.strip, plan.rank, plan.peak_bytes


def kept(run: dict, budget: str) -> bool:
    """Whether the peak stayed below the budget and 15 %; a refusal keeps it, too."""
    if "refused" in run:
        return True
    return run.get("measured", 1e99) <= 1.15 * float(budget[:-2]) * 1024 * MB


def read(name: str) -> dict:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def save(name: str, runs: dict) -> None:
    record = {
        "benchmark": name,
        "command": f"python -m benchmarks.{name}",
        "date": time.strftime("%Y-%m-%d"),
        "commit": git("rev-parse", "--short", "HEAD")
        + (" with changes" if git("status", "--porcelain", "--", "src") else ""),
        "machine": machine(),
        "runs": runs,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def cell(run: dict | None, budget: str) -> str:
    if run is None:
        return "not run"
    if "failed" in run:
        return run["failed"]
    if "refused" in run:
        return "refused: needs " + run["refused"].split("at least ")[1].split(" for")[0]
    held = run["storage"]
    if run["way"] == "landmarks":
        held = f"{run['landmarks']:,} landmarks"
    verdict = "" if kept(run, budget) else " **above**"
    if "as" in run:
        return f"as {run['as']}{verdict}"
    return f"{run['measured'] / MB:,.0f} ({held}, {run['seconds']:.0f} s){verdict}"


def budget_table(record: dict) -> list[str]:
    runs = record.get("runs", {})
    lines = [
        "| rows | " + " | ".join(BUDGETS) + " |",
        "|---" * (1 + len(BUDGETS)) + "|",
    ]
    for n in SIZES:
        cells = [cell(runs.get(f"{n} in {b}"), b) for b in BUDGETS]
        lines.append(f"| {n:,} | " + " | ".join(cells) + " |")
    return lines


INTRODUCTION = """# Memory budgets

This page is written by `python -m benchmarks.budget` and `python -m benchmarks.plan`
from the saved results; no number is typed by hand.

`plan(X)` of every estimator says, before a fit, which way it would go (`way`,
`storage`), with which solver, how much memory beyond X and the graph it would take
(`peak_bytes`) and how long (`seconds`, from a probe of some milliseconds).
`max_memory="2GB"` makes the fit take the fastest way that stays within: kernel
matrices stored, or computed tile by tile at every product, or, where not even the
solver's vectors fit, landmarks. Where nothing fits, a `BudgetError` says how much
would.

X itself is not counted, but the copy of it that a fit keeps is. A table on disk
(`numpy.memmap`, a zarr array, an HDF5 dataset; `pip install 'graphfold[disk]'` installs
the two libraries) is read once for an exact fit and counted as that copy; a fit by
landmarks reads it block by block and never holds it. `transform` reads the rows it is
given: call it on blocks. X of whole numbers is converted to float64 before the fit,
which costs one more copy that is not counted. Sparse X stays sparse, but for blocks.
A search for neighbours (`graph=NeighborGraph(...)`) is not counted, either: where every
megabyte counts, build the graph before the fit.
"""


def write_page() -> None:
    from benchmarks import plan as planning

    budget, plan, tiled = read("budget"), read("plan"), read("tiled")
    fit = read("tiled_fit")
    lines = [INTRODUCTION, "## Measured peaks", ""]
    lines += [
        "Peak of the resident memory that a fit adds, in MB; GraphKernelPCA with a "
        "Gaussian kernel, 100 columns in float32, 10 components, few rounds; 'as' a "
        "smaller budget where the plan, and so the fit, is the same. Commit "
        f"{budget.get('commit', 'none')}, {budget.get('date', '')}.",
        "",
        *budget_table(budget),
        "",
        "## Plans against fits",
        "",
        f"Commit {plan.get('commit', 'none')}, {plan.get('date', '')}. Memory in MB; "
        "up to 32 MB above the plan are memory that has been freed and that the C "
        "library keeps.",
        "",
        "| case | storage | planned s | s | ratio | planned MB | MB | CPU s |",
        "|---|---|---|---|---|---|---|---|",
        *(planning.line(name, run) for name, run in plan.get("runs", {}).items()),
        "",
    ]
    if tiled:
        lines += [
            "## A product with a tiled kernel",
            "",
            f"{tiled['n']:,} x {tiled['columns']} in float32, Gaussian, "
            f"{tiled['width']} columns at a time, {tiled['threads']} threads: "
            f"{tiled['seconds']:.1f} s, "
            f"{tiled['ratio']:.2f} times its floor of {tiled['floor']:.1f} s (products "
            f"of rows {tiled['floor_products']:.1f} s, exponentials "
            f"{tiled['floor_exponentials']:.1f} s, both uses of a tile "
            f"{tiled['floor_uses']:.1f} s, each timed on its own in the same run; "
            "`python -m benchmarks.tiled --save`).",
            "",
        ]
    if fit:
        lines += [
            f"A whole exact fit of {fit['n']:,} x {fit['columns']} within "
            f'`max_memory="{fit["budget"]}"`, tiled: {fit["seconds"] / 60:.0f} minutes '
            f"(planned {fit['planned_seconds'] / 60:.0f}), "
            f"{fit['measured_bytes'] / MB:,.0f} MB (planned "
            f"{fit['planned_bytes'] / MB:,.0f}), {fit['rounds']} rounds to a relative "
            f"residual of {fit['residual']:.1e} (commit {fit['commit']}; "
            "`python -m benchmarks.tiled --fit --save`).",
            "",
        ]
    PAGE.write_text("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--budgets", nargs="*", default=list(BUDGETS))
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--page", action="store_true", help="write the page only")
    asked = parser.parse_args()
    runs = read("budget").get("runs", {})
    for n in [] if asked.page else asked.n:
        made: dict = {}
        for budget in asked.budgets:
            fit = request(n, asked.columns, budget, asked.rounds)
            plan = plan_of(fit) if n >= LONG else budget
            if plan in made:
                run = {**made[plan][1], "as": made[plan][0]}
            else:
                run = measure(fit, asked.timeout)
                made[plan] = (budget, run)
            runs[f"{n} in {budget}"] = run
            print(f"{n:>8,} in {budget:>6}: {cell(run, budget)}", file=sys.stderr)
            save("budget", runs)
    write_page()
    broken = [key for key, run in runs.items() if not kept(run, key.split()[-1])]
    print(f"budgets kept: {len(runs) - len(broken)} of {len(runs)}", *broken)


if __name__ == "__main__":
    main()
