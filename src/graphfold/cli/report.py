"""``graphfold report``: what a model says of itself."""

from __future__ import annotations

import argparse
from typing import Any

import graphfold
from graphfold.cli.arguments import Parser, UsageError, add_labels, add_verb
from graphfold.cli.models import read_columns
from graphfold.cli.output import Console
from graphfold.cli.outputs import add_overwrite, check_outputs
from graphfold.cli.sources import read_model, read_rows_of
from graphfold.files import to_be_written


def add(commands: Any) -> Parser:
    """Its options."""
    parser = add_verb(
        commands,
        "report",
        run,
        "what a model says of itself",
        "Formula, spectrum, weights, constraints, warnings and quality of "
        "a saved model; as text, as JSON, or as a page.",
    )
    parser.add_argument("model", metavar="MODEL", help="npz that embed --model wrote")
    parser.add_argument("-o", "--output", metavar="FILE", help="page to write (.html)")
    add_overwrite(parser)
    parser.add_argument(
        "--data", metavar="FILE", help="the rows of the fit: adds the quality"
    )
    add_labels(parser, "--data")
    parser.add_argument(
        "--gain",
        action="store_true",
        help="does the graph help? Against rewired copies; needs --data",
    )
    return parser


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Read, ask, and print."""
    if arguments.output:
        to_be_written(arguments.output, (".html",))
        check_outputs(arguments, {"-o": arguments.output}, arguments.model)
    if arguments.gain and not arguments.data:
        raise UsageError("--gain needs --data: a graph helps, or not, to tell of X")
    with console.stage("reading", f"reading {arguments.model}"):
        model = read_model(arguments.model)
        ids, n = getattr(model, "_row_labels", None), len(model.embedding_)
        columns = read_columns(arguments.labels, ids, n)
        X = None
        if arguments.data:
            aside, column = arguments.label_column, arguments.id_column
            X, beside = read_rows_of(arguments.data, ids, n, aside, column)
            columns |= beside
    gain = None
    if arguments.gain:
        with console.stage("gain", "comparing the graph with rewired copies"):
            gain = _gain(model, X, ids)
    from graphfold.views.report import report_of, summary

    with console.stage("report", "looking at the model"):
        found = report_of(model, X=X, labels=columns or None, gain=gain)
    console.say(summary(found))
    wrote = []
    if arguments.output:
        with console.stage("writing", f"writing {arguments.output}"):
            shown = {"labels": columns or None, "X": X, "gain": gain}
            graphfold.view(model, arguments.output, **shown)
        wrote.append(arguments.output)
        console.say(f"wrote {arguments.output}")
    console.answer(command="report", report=found, wrote=wrote)


def _gain(model: Any, X: Any, ids: Any) -> Any:
    """What rewired copies say of the graphs of the fit that were not made from X."""
    from graphfold.graphs import Graph, GraphRecipe, graphs_from
    from graphfold.quality import graph_gain

    given = graphs_from(getattr(model, "graph", None))
    fitted: Any = getattr(model, "graph_", None)
    named = fitted if isinstance(fitted, dict) else dict.fromkeys(given, fitted)
    known = {
        name: Graph(named[name].to_scipy(), nodes=ids)
        for name, graph in given.items()
        if not isinstance(graph, GraphRecipe)
    }
    if not known:
        raise UsageError(
            "--gain needs a model with a known graph; one that was built from X says "
            "nothing new about X"
        )
    return graph_gain(X, known, node_ids=ids)
