"""``graphfold demo``: three methods on bundled digits."""

from __future__ import annotations

import argparse
from typing import Any

from graphfold.cli.arguments import Parser, add_verb
from graphfold.cli.output import Console
from graphfold.files import to_be_written

PICTURES = (".png", ".svg", ".pdf")


def add(commands: Any) -> Parser:
    """Its options."""
    parser = add_verb(
        commands,
        "demo",
        run,
        "three methods on bundled digits",
        "PCA, KernelPCA and GraphKernelPCA on bundled digits.",
    )
    parser.add_argument(
        "-o", "--output", default="demo.png", metavar="FILE", help="picture to write"
    )
    parser.add_argument("--map", metavar="FILE", help="also write a map (.html)")
    return parser


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Embed, print a table, draw a picture."""
    to_be_written(arguments.output, PICTURES)
    if arguments.map:
        to_be_written(arguments.map, (".html",))
    import matplotlib  # noqa: F401 (said now, not after the work)

    from graphfold.demo import draw_demo, map_demo, run_demo

    with console.stage("fitting", "embedding 1,797 digits"):
        rows = run_demo(console.say)
    with console.stage("drawing", f"drawing {arguments.output}"):
        draw_demo(rows, arguments.output)
    wrote = [arguments.output]
    if arguments.map:
        with console.stage("map", f"writing {arguments.map}"):
            map_demo(rows, arguments.map)
        wrote.append(arguments.map)
    console.say(f"\nwrote {', '.join(wrote)}")
    methods = [
        {
            "name": row.name,
            "accuracy": row.accuracy,
            "clustering_error": row.error,
            "seconds": row.seconds,
        }
        for row in rows
    ]
    console.answer(command="demo", methods=methods, wrote=wrote)
