"""``graphfold reproduce``: the paper's experiments and ours."""

from __future__ import annotations

import argparse
from typing import Any

from graphfold.cli.arguments import Parser, UsageError, add_verb, count
from graphfold.cli.output import Console
from graphfold.errors import GraphfoldError


def add(commands: Any) -> Parser:
    """Its options."""
    parser = add_verb(
        commands,
        "reproduce",
        run,
        "run the paper's experiments and ours",
        "Run the paper's experiments and ours.",
    )
    parser.add_argument("names", nargs="*", help='experiments, or "all"')
    parser.add_argument("--list", action="store_true", help="name them, and stop")
    parser.add_argument("--data", help="folder of data sets; GRAPHFOLD_DATA else")
    parser.add_argument("--runs", type=count, help="default 50, with --quick 3")
    parser.add_argument("--out", default="results", help="folder to write into")
    parser.add_argument("--quick", action="store_true", help="a pass of minutes")
    parser.add_argument("--jobs", type=count, help="processes; default: all cores")
    parser.add_argument(
        "--fresh", action="store_true", help="measure again what is there"
    )
    parser.add_argument("--page", help="also write a page of all results in --out")
    return parser


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure, judge the claims, write."""
    from graphfold.experiments import EXPERIMENTS, Scope, reproduce, write_page

    if arguments.list:
        width = max(map(len, EXPERIMENTS))
        for name, experiment in EXPERIMENTS.items():
            console.say(f"{name:{width}}  {experiment.title}")
        titles = {name: each.title for name, each in EXPERIMENTS.items()}
        console.answer(command="reproduce", experiments=titles)
        return
    names = [name for name in arguments.names if name != "all"]
    if "all" in arguments.names and names:
        raise UsageError(f'give "all" or names, not both; got {arguments.names}')
    measured = reproduce(
        names,
        out=arguments.out,
        scope=Scope(arguments.quick, arguments.data),
        runs=arguments.runs,
        jobs=arguments.jobs,
        fresh=arguments.fresh,
    )
    claims: dict[str, list[dict[str, str]]] = {}
    for name, numbers in measured.items():
        claims[name] = []
        for claim in EXPERIMENTS[name].claims(numbers):
            console.say(f"{claim.verdict:13}  {claim.text}: {claim.evidence}")
            said = {"verdict": claim.verdict, "claim": claim.text}
            claims[name].append(said | {"evidence": claim.evidence})
    if arguments.page:
        write_page(arguments.page, arguments.out)
    console.say(f"wrote {', '.join(measured)} into {arguments.out}")
    left_out = [name for name in names or EXPERIMENTS if name not in measured]
    if left_out:
        raise GraphfoldError(f"{', '.join(left_out)} did not run: data are missing")
    wrote = [arguments.out, *([arguments.page] if arguments.page else [])]
    console.answer(command="reproduce", claims=claims, wrote=wrote)
