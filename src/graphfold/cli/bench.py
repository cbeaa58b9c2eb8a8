"""``graphfold bench``: our time and memory beside those of others."""

from __future__ import annotations

import argparse
import os
import platform
from typing import Any

from graphfold.cli.arguments import TABLE_HELP, Parser, UsageError, add_verb, count
from graphfold.cli.output import Console

ROWS, REPEATS = (1000, 2000, 5000), 5
QUICK_ROWS, QUICK_REPEATS = (500,), 2


def add(commands: Any) -> Parser:
    """Its options."""
    parser = add_verb(
        commands,
        "bench",
        run,
        "our time and memory beside those of others, here",
        "Time graphfold and the peers that are installed, each run in a "
        "process of its own, in turn, several times.",
    )
    parser.add_argument(
        "data", nargs="?", metavar="DATA", help=f"{TABLE_HELP}; digits by default"
    )
    parser.add_argument(
        "--rows", type=count, nargs="+", metavar="N", help=f"default {_listed(ROWS)}"
    )
    parser.add_argument("--repeats", type=count, help=f"default {REPEATS}")
    parser.add_argument(
        "--methods", nargs="+", metavar="NAME", help="some of them only"
    )
    parser.add_argument("-d", "--components", type=count, default=2, metavar="D")
    parser.add_argument(
        "--timeout", type=count, default=300, metavar="SECONDS", help="of one run"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{_listed(QUICK_ROWS)} rows, {QUICK_REPEATS} repeats",
    )
    return parser


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure, and print a table of medians and ratios."""
    from graphfold.bench import OURS, measure
    from graphfold.bench.data import rows_of
    from graphfold.bench.measuring import ours_at

    methods = _methods(arguments.methods)
    quick = arguments.quick
    rows = arguments.rows or list(QUICK_ROWS if quick else ROWS)
    repeats = arguments.repeats or (QUICK_REPEATS if quick else REPEATS)
    rows_of(arguments.data, max(rows))  # a mistake shows before the first run
    found = measure(
        methods,
        rows,
        repeats=repeats,
        components=arguments.components,
        path=arguments.data,
        timeout=arguments.timeout,
        tell=console.steps,
    )
    console.finished()
    console.say(f"{'rows':>8}  {'method':26}{'seconds':>10}{'MB':>8}  ratio to {OURS}")
    results = []
    for each in found:
        ours = ours_at(found, each.rows)
        ratio = each.ratio(ours) if ours else None
        results.append(
            {
                "rows": each.rows,
                "method": each.method,
                "median": each.median,
                "seconds": each.seconds,
                "peak_mb": each.peak_mb,
                "ratio": ratio,
                "failed": each.failed,
            }
        )
        said = f"{each.rows:8,}  {each.method:26}"
        if each.failed or each.median is None or each.peak_mb is None:
            console.say(f"{said}{each.failed}")
        else:
            against = "" if ratio is None else f"{ratio:8.2f}"
            console.say(f"{said}{each.median:10.3f}{each.peak_mb:8.0f}{against}")
    console.say(f"medians of {repeats}, each run in a process of its own")
    console.answer(
        command="bench",
        data=arguments.data or "digits",
        components=arguments.components,
        repeats=repeats,
        machine={"cores": os.cpu_count(), "python": platform.python_version()},
        results=results,
    )


def _methods(asked: list[str] | None) -> list[str]:
    from graphfold.bench import METHODS, installed

    there = installed()
    for name in asked or ():
        if name not in METHODS:
            listed = ", ".join(repr(known) for known in METHODS)
            raise UsageError(f"--methods must be among {listed}; got {name!r}")
        if name not in there:
            raise UsageError(f"{name} is not installed: pip install umap-learn")
    return [name for name in there if not asked or name in asked]


def _listed(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))
