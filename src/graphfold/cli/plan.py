"""``graphfold plan``: what a fit would do and take, before it is done."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from graphfold.cli.arguments import Parser, add_model, add_rows, add_verb
from graphfold.cli.models import model_for, read_rows
from graphfold.cli.output import Console


def add(commands: Any) -> Parser:
    """Its options: those of embed, without what is written."""
    parser = add_verb(
        commands,
        "plan",
        run,
        "what embed would do, and take in time and memory",
        "What embed would do with these options, and take in time and "
        "memory; nothing is fitted.",
    )
    add_rows(parser)
    add_model(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Read, and ask the model."""
    rows = read_rows(arguments, console)
    model = model_for(arguments, rows)
    with console.stage("planning", "planning"):
        plan = model.plan(rows.table.X)
    console.say(str(plan))
    console.answer(command="plan", **asdict(plan), sentence=str(plan))
