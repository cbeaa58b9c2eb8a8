"""Options that verbs share, and words that options take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from graphfold.errors import GraphfoldError
from graphfold.files.graphs import Asked

TABLE_HELP = "csv, tsv (also .gz), npy, npz, parquet, mtx, h5ad or zarr"


class UsageError(GraphfoldError):
    """Words on the command line that mean nothing."""


class Parser(argparse.ArgumentParser):
    """argparse, whose mistakes are errors like any other: one sentence."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        shape = partial(argparse.HelpFormatter, max_help_position=30)
        settings |= {"formatter_class": shape, "allow_abbrev": False}
        super().__init__(*words, **settings)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing two lines and leaving."""
        raise UsageError(f"{message}; see {self.prog} --help")


def add_verb(
    commands: Any, name: str, run: Callable[..., None], what: str, more: str
) -> Parser:
    """A verb, what it does in one line and in a few, and who runs it."""
    parser: Parser = commands.add_parser(name, help=what, description=more)
    parser.set_defaults(run=run)
    return parser


def add_common(parser: argparse.ArgumentParser) -> None:
    """What every verb takes, before it or after it."""
    common = parser.add_argument_group("every command")
    none = argparse.SUPPRESS  # said before the verb, it is not unsaid after it
    common.add_argument(
        "--json",
        action="store_true",
        default=none,
        help="one JSON object on the standard output, nothing else there",
    )
    common.add_argument(
        "--quiet", action="store_true", default=none, help="say nothing but errors"
    )
    common.add_argument(
        "--debug", action="store_true", default=none, help="show tracebacks"
    )


def add_rows(parser: argparse.ArgumentParser) -> None:
    """The data, and what stands beside them."""
    parser.add_argument("data", metavar="DATA", help=TABLE_HELP)
    parser.add_argument(
        "--graph",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="edges (csv, tsv, parquet), a square matrix (npy, npz, mtx), graphml, or "
        "obsp/KEY of an h5ad file; repeat for several, whose weights are learned",
    )
    parser.add_argument(
        "--neighbors",
        type=count,
        metavar="K",
        help="a graph that links each row to its K nearest",
    )
    add_edges(parser)
    add_labels(parser, "DATA")


def add_edges(parser: argparse.ArgumentParser) -> None:
    """Columns of lists of edges, where they have other names than usual."""
    parser.add_argument(
        "--source", metavar="NAME", help="column of one end in lists of edges"
    )
    parser.add_argument("--target", metavar="NAME", help="column of the other end")
    parser.add_argument(
        "--weight",
        metavar="NAME",
        help="column (in graphml, attribute) of the weights; none: every edge counts 1",
    )
    parser.add_argument(
        "--dropna", action="store_true", help="drop edges with a missing end or weight"
    )
    parser.add_argument(
        "--duplicates",
        choices=("once", "sum"),
        default="once",
        help="an edge listed several times counts once, with its largest weight, or "
        "with the sum of its weights",
    )


def asked_of_edges(arguments: argparse.Namespace) -> Asked:
    """What these options say."""
    weight = False if arguments.weight == "none" else arguments.weight
    by_line = arguments.id_column == "none"
    return Asked(
        arguments.source,
        arguments.target,
        weight,
        arguments.dropna,
        by_line,
        arguments.duplicates,
    )


def add_labels(parser: argparse.ArgumentParser, data: str) -> None:
    """Columns that are no part of X."""
    parser.add_argument(
        "--id-column",
        metavar="NAME",
        help=f"column of {data} that names the rows; by default a first one of words, "
        "or called id, name, node, index; none: rows have no names",
    )
    parser.add_argument(
        "--label-column",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a column of {data} that is no feature: classes, or what to colour by",
    )
    parser.add_argument(
        "--labels",
        action="append",
        default=[],
        metavar="FILE[:COLUMN]",
        help="such a column in a file of its own; rows meet by name, or by position",
    )


def add_pairs(parser: argparse.ArgumentParser) -> None:
    """Pairs that belong together or apart."""
    what = "of pairs (csv, tsv: source,target; or json), as the map's lasso writes"
    parser.add_argument("--must-link", metavar="FILE", help=f"{what}: keep together")
    parser.add_argument("--cannot-link", metavar="FILE", help=f"{what}: keep apart")
    parser.add_argument("--links", metavar="FILE", help="both kinds in one json file")


def add_model(parser: argparse.ArgumentParser) -> None:
    """What to fit."""
    model = parser.add_argument_group("the model")
    model.add_argument(
        "-d", "--components", type=int, default=2, metavar="D", help="default 2"
    )
    model.add_argument(
        "--kernel",
        action="append",
        metavar="NAME",
        help="rbf (default), linear, poly, cosine, sigmoid, laplacian, chi2, "
        "gaussian-grid, precomputed, or none; repeat for several",
    )
    model.add_argument(
        "--gamma", type=float, help="kernel width; median rule by default"
    )
    model.add_argument(
        "--strength",
        type=strength,
        default=1.0,
        metavar="S",
        help='of the graphs: a number from 0, "auto" or "auto-edges"; default 1',
    )
    model.add_argument(
        "--laplacian", default="normalized", choices=("normalized", "combinatorial")
    )
    model.add_argument(
        "--response",
        metavar="NAME[=NUMBER]",
        help="of the graphs: diffusion, regularized-laplacian, random-walk, "
        "bandlimited or low-pass; minus the Laplacian by default",
    )
    model.add_argument(
        "--scaling", default="eigenvalue", choices=("eigenvalue", "orthonormal", "unit")
    )
    model.add_argument(
        "--landmarks", type=count, metavar="M", help="for many rows: see X through M"
    )
    model.add_argument("--max-memory", metavar="SIZE", help='budget such as "2GB"')
    model.add_argument("--seed", type=int, help="of what is random; fixed by default")
    model.add_argument(
        "--semi-supervised",
        action="store_true",
        help="rows of one class (the first label column) are kept together, rows of "
        "different ones apart; -1 or empty is unknown",
    )
    add_pairs(model)  # type: ignore[arg-type]
    model.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="every stage and round as a line",
    )


def strength(text: str) -> float | str:
    """A number, or a word that the estimator knows."""
    return text if text.startswith("auto") else float(text)


def count(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1; got {text!r}")
    return int(text)
