"""``graphfold embed``: a table into few dimensions."""

from __future__ import annotations

import argparse
from typing import Any

import graphfold
from graphfold.cli.arguments import Parser, add_model, add_rows, add_verb
from graphfold.cli.cluster import add_cluster, asks_for_cluster
from graphfold.cli.models import Rows, classes_for, model_for, read_rows
from graphfold.cli.output import Console
from graphfold.cli.outputs import add_overwrite, check_outputs
from graphfold.files import to_be_written, write_table

#: rows from which on it is worth saying what a fit will take
MANY_ROWS = 20_000
#: seconds of an exact fit that call for a word on landmarks
LONG = 60.0


def add(commands: Any) -> Parser:
    """Its options."""
    parser = add_verb(
        commands,
        "embed",
        run,
        "embed a table, with graphs if there are any",
        "Embed a table in few dimensions, with graphs if there are any.",
    )
    add_rows(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="table to write"
    )
    parser.add_argument("--model", metavar="FILE", help="also save the model (.npz)")
    parser.add_argument("--map", metavar="FILE", help="also write a map (.html)")
    add_overwrite(parser)
    add_model(parser)
    add_cluster(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Read, fit, write."""
    if asks_for_cluster(arguments):
        # imported here: it is Dask's from then on
        from graphfold.cli.embed_on_workers import run_on_workers

        run_on_workers(arguments, console)
        return
    to_be_written(arguments.output)
    if arguments.model:
        to_be_written(arguments.model, (".npz",))
    if arguments.map:
        to_be_written(arguments.map, (".html",))
    check_outputs(arguments, outputs_of(arguments))
    rows = read_rows(arguments, console)
    model = model_for(arguments, rows)
    _say_what_it_takes(model, rows, console)
    y = classes_for(arguments, rows)
    with console.stage("fitting", f"fitting {rows.n:,} rows"):
        Z = model.fit_transform(rows.table.X, y, node_ids=rows.table.labels)
    answer(console, rows, model, _write(arguments, rows, model, Z, console))


def outputs_of(arguments: argparse.Namespace) -> dict[str, str | None]:
    """The files to write, by option."""
    return {
        "-o": arguments.output,
        "--model": arguments.model,
        "--map": arguments.map,
    }


def answer(
    console: Console, rows: Rows, model: Any, written: list[str], **more: Any
) -> None:
    """What was found, for people and for machines."""
    console.say(f"{rows.n} rows, {model.formula_}\nwrote {', '.join(written)}")
    console.answer(
        command="embed",
        estimator=type(model).__name__,
        rows=rows.n,
        columns=rows.table.X.shape[1],
        components=model.embedding_.shape[1],
        formula=model.formula_,
        eigenvalues=model.eigenvalues_,
        converged=model.converged_,
        graph_strength=model.graph_strength_,
        kernel_weights=_by_name(model.kernel_names_, model.kernel_weights_),
        graph_weights=_by_name(model.graph_names_, model.graph_weights_),
        landmarks=len(model.landmarks_) if hasattr(model, "landmarks_") else None,
        wrote=written,
        **more,
    )


def _say_what_it_takes(model: Any, rows: Rows, console: Console) -> None:
    if rows.n < MANY_ROWS or console.quiet:
        return
    plan = model.plan(rows.table.X)
    if plan.way == "exact" and plan.seconds > LONG:
        lean = type(model)(**model.get_params(deep=False) | {"landmarks": 1000})
        seconds = lean.plan(rows.table.X).seconds
        console.note(f"{plan}; --landmarks 1000 takes about {seconds:.2g} s")


def _write(
    arguments: argparse.Namespace, rows: Rows, model: Any, Z: Any, console: Console
) -> list[str]:
    table = rows.table
    names = [f"component{i + 1}" for i in range(Z.shape[1])]
    written = [arguments.output]
    with console.stage("writing", f"writing {arguments.output}") as tell:
        write_table(
            arguments.output, Z, table.labels, names, extra=rows.columns, table=table
        )
        if arguments.model:
            tell(arguments.model)
            model.save(arguments.model)
            written.append(arguments.model)
        if arguments.map:
            tell(arguments.map)
            graphfold.view(
                model,
                arguments.map,
                labels=rows.columns or None,
                ids=table.labels,
                X=table.X,
                **rows.pairs,
            )
            written.append(arguments.map)
    return written


def _by_name(names: Any, weights: Any) -> dict[str, float]:
    return dict(zip(names, weights, strict=True))
