"""From options to an estimator, and to the rows that it is to fit."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import graphfold
from graphfold import responses
from graphfold.arrays import Array
from graphfold.cli.arguments import UsageError, asked_of_edges
from graphfold.cli.output import Console
from graphfold.files import Table, read_column, read_graph, read_pairs, read_table
from graphfold.files.graphs import refuse_names_among
from graphfold.files.pairs import CANNOT, MUST, read_links

_RESPONSES: dict[str, Any] = {
    "diffusion": responses.Diffusion,
    "regularized-laplacian": responses.RegularizedLaplacian,
    "random-walk": responses.RandomWalk,
    "bandlimited": lambda number=10: responses.Bandlimited(int(number)),
    "low-pass": responses.LowPass,
}


class Rows(NamedTuple):
    """The data, their graphs by name, columns set aside, and pairs."""

    table: Table
    graphs: dict[str, Any]
    columns: dict[str, Array]
    pairs: dict[str, list[Any]]

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.table.X.shape[0])


def read_rows(arguments: argparse.Namespace, console: Console) -> Rows:
    """Everything that the options name, read and matched to the rows."""
    with console.stage("reading", f"reading {arguments.data}") as tell:
        ids, aside = arguments.id_column, arguments.label_column
        table = read_table(arguments.data, aside=aside, ids=ids)
        graphs: dict[str, Any] = {}
        n = table.X.shape[0]
        for word in arguments.graph:
            name, path = named_path(word)
            tell(path)
            if name in graphs:
                raise UsageError(f"graphs must have different names; {name} is twice")
            graphs[name] = read_graph(
                path, table.labels, n, table=table, asked=asked_of_edges(arguments)
            )
        if arguments.neighbors:
            graphs["neighbors"] = graphfold.NeighborGraph(arguments.neighbors)
        columns = dict(table.extra) | read_columns(arguments.labels, table.labels, n)
        pairs = pairs_of(arguments, table.labels, n)
        if table.labels is None and ids is None:
            for kind, listed in pairs.items():
                refuse_names_among(table, np.array(listed, dtype=int), kind)
    return Rows(table, graphs, columns, pairs)


def read_columns(words: list[str], labels: Array | None, n: int) -> dict[str, Array]:
    """The columns that ``--labels`` names, by name."""
    found = [read_column(word, labels, n) for word in words]
    return {column.name: column.values for column in found}


def pairs_of(
    arguments: argparse.Namespace,
    labels: Array | None,
    n: int,
    *,
    complete: bool = True,
) -> dict[str, list[Any]]:
    """Pairs by kind; empty if no file is named. ``complete``: all labels are known."""
    found: dict[str, list[Any]] = {}
    if arguments.links:
        found |= read_links(arguments.links, labels, n, complete=complete)
    for kind, path in ((MUST, arguments.must_link), (CANNOT, arguments.cannot_link)):
        if path:
            more = read_pairs(path, kind, labels, n, complete=complete)
            found[kind] = found.get(kind, []) + more
    return found


def model_for(arguments: argparse.Namespace, rows: Rows) -> Any:
    """The estimator that the options describe."""
    listed = arguments.kernel or ["rbf"]
    if "none" in listed and len(listed) > 1:
        raise UsageError(f"--kernel none stands alone; got {', '.join(listed)}")
    kernel: Any = listed if len(listed) > 1 else listed[0]
    settings: dict[str, Any] = {
        "kernel": None if kernel == "none" else kernel,
        "gamma": "median" if arguments.gamma is None else arguments.gamma,
        "graph": _graph_argument(rows.graphs),
        "response": _response(arguments.response),
        "laplacian": arguments.laplacian,
        "graph_strength": arguments.strength,
        "scaling": arguments.scaling,
        "landmarks": arguments.landmarks,
        "max_memory": arguments.max_memory,
        "random_state": arguments.seed,
        "verbose": 2 if arguments.verbose else 0,
    }
    if not (arguments.semi_supervised or rows.pairs):
        return graphfold.GraphKernelPCA(arguments.components, **settings)
    if arguments.semi_supervised and not rows.columns:
        raise UsageError(
            "--semi-supervised needs classes: name their column with --label-column, "
            "or their file with --labels"
        )
    settings |= rows.pairs
    return graphfold.SemiSupervisedGraphKernelPCA(arguments.components, **settings)


def classes_for(arguments: argparse.Namespace, rows: Rows) -> Any:
    """What the fit knows of classes: the first column set aside, if it is asked."""
    if not arguments.semi_supervised:
        return None
    values = next(iter(rows.columns.values()))
    if values.dtype.kind == "U":
        return [value if value not in ("", "-1") else None for value in values.tolist()]
    return values


def named_path(word: str) -> tuple[str, str]:
    """``NAME=PATH`` as two; the name of a path alone is that of its file."""
    name, mark, path = word.partition("=")
    if mark and name and path and not os.path.exists(word):
        return name, path
    return Path(word.replace(":", "/")).name.split(".")[0] or word, word


def _graph_argument(graphs: dict[str, Any]) -> Any:
    if len(graphs) > 1:
        return graphs
    return next(iter(graphs.values()), None)


def _response(word: str | None) -> Any:
    if word is None:
        return None
    name, mark, number = word.partition("=")
    if name not in _RESPONSES:
        raise UsageError(
            f"--response must be one of {', '.join(_RESPONSES)}, perhaps with "
            f"=NUMBER; got {word}"
        )
    try:
        return _RESPONSES[name](float(number)) if mark else _RESPONSES[name]()
    except ValueError:
        raise UsageError(f"--response {name}= must have a number; got {word}") from None
