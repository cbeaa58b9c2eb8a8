"""``graphfold view``: a map to explore, in one file."""

from __future__ import annotations

import argparse
import os
from typing import Any

import graphfold
from graphfold.cli.arguments import (
    Parser,
    add_edges,
    add_labels,
    add_pairs,
    add_verb,
    asked_of_edges,
    count,
)
from graphfold.cli.models import named_path, pairs_of, read_columns
from graphfold.cli.output import Console
from graphfold.cli.outputs import add_overwrite, check_outputs
from graphfold.cli.sources import (
    Embeddings,
    read_embeddings,
    read_images,
    read_rows_of,
)
from graphfold.files import read_column, read_graph, to_be_written


def add(commands: Any) -> Parser:
    """Its options."""
    parser = add_verb(
        commands,
        "view",
        run,
        "a map to explore, of embeddings or models",
        "Write one HTML file with a map to explore; it needs no network.",
    )
    parser.add_argument(
        "embeddings",
        nargs="+",
        metavar="[NAME=]FILE",
        help="what embed has written: a table or a model; several are side by side",
    )
    parser.add_argument(
        "-o", "--output", default="map.html", metavar="FILE", help="default map.html"
    )
    add_overwrite(parser)
    add_labels(parser, "--data")
    parser.add_argument(
        "--text", metavar="FILE[:COLUMN]", help="shown on the card, and searched"
    )
    parser.add_argument(
        "--images", metavar="FOLDER", help="pictures named as the rows are, or an npy"
    )
    parser.add_argument(
        "--edges",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help='graphs to draw; those of a model by default; "none" for none',
    )
    add_edges(parser)
    parser.add_argument("--data", metavar="FILE", help="the rows that were embedded")
    parser.add_argument("--neighbors", type=count, default=10, metavar="K")
    parser.add_argument("--layout", choices=("umap", "tsne"), help="of all components")
    parser.add_argument("--title")
    add_pairs(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Read, and write the page."""
    to_be_written(arguments.output, (".html",))
    check_outputs(arguments, {"-o": arguments.output})
    with console.stage("reading", f"reading {', '.join(arguments.embeddings)}"):
        shown = read_embeddings(arguments.embeddings)
        more = _beside(arguments, shown)
    with console.stage("writing", f"writing {arguments.output}"):
        graphfold.view(
            shown.argument,
            arguments.output,
            ids=shown.labels,
            n_neighbors=arguments.neighbors,
            layout=arguments.layout,
            title=arguments.title,
            **more,
        )
    size = os.path.getsize(arguments.output)
    console.say(
        f"{shown.n} rows of {', '.join(shown.parts)}\n"
        f"wrote {arguments.output} ({size / 2**20:.1f} MB)"
    )
    console.answer(
        command="view",
        rows=shown.n,
        embeddings=list(shown.parts),
        columns=list(more["labels"] or ()),
        bytes=size,
        wrote=[arguments.output],
    )


def _beside(arguments: argparse.Namespace, shown: Embeddings) -> dict[str, Any]:
    """What is drawn beside the points, in the words of ``graphfold.view``."""
    ids, n = shown.labels, shown.n
    found: dict[str, Any] = dict(pairs_of(arguments, ids, n))
    labels = read_columns(arguments.labels, ids, n) | shown.columns
    if arguments.data:
        aside, column = arguments.label_column, arguments.id_column
        found["X"], beside = read_rows_of(arguments.data, ids, n, aside, column)
        labels = beside | labels
    found["labels"] = labels or None
    if arguments.text:
        values = read_column(arguments.text, ids, n).values
        found["text"] = [str(value) for value in values.tolist()]
    if arguments.images:
        found["images"] = read_images(arguments.images, ids, n)
    if arguments.edges == ["none"]:
        found["edges"] = False
    elif arguments.edges:
        named = [named_path(word) for word in arguments.edges]
        asked = asked_of_edges(arguments)
        found["edges"] = {
            name: read_graph(path, ids, n, asked=asked) for name, path in named
        }
    return found
