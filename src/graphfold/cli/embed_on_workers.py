"""``graphfold embed`` on Dask: rows are read, embedded and written by workers."""

from __future__ import annotations

import argparse
from typing import Any

import graphfold
from graphfold.cli.arguments import UsageError, asked_of_edges
from graphfold.cli.cluster import cluster_for
from graphfold.cli.models import Rows, model_for, named_path, pairs_of
from graphfold.cli.output import Console
from graphfold.cli.outputs import check_outputs
from graphfold.files import to_be_written
from graphfold.files.paths import Place
from graphfold.replacing import replace_folder

_MISSING = {
    "map": "a map needs all points here: embed a sample, without Dask",
    "labels": "rows meet a file of labels here: put them into a column of DATA, and "
    "say --label-column",
    "max_memory": "it is of one machine: say --memory-limit with --workers",
}


def run_on_workers(arguments: argparse.Namespace, console: Console) -> None:
    """Look at the files, start or join a cluster, fit, write."""
    from graphfold.cli.embed import answer, outputs_of
    from graphfold.files.partitions import parts_to_be_written

    _refuse_missing(arguments)
    place = parts_to_be_written(arguments.output)
    if arguments.model:
        to_be_written(arguments.model, (".npz",))
    check_outputs(arguments, outputs_of(arguments))
    rows = _rows_in_parts(arguments, console)
    model = model_for(arguments, rows)
    written, more = [arguments.output], {}

    def fill(folder: str) -> None:
        # workers end before the folder gets its name, or is thrown away
        with cluster_for(arguments, console) as cluster:
            more["dashboard"] = cluster.dashboard
            _fit(arguments, rows, model, console)
            written.extend(_write(arguments, rows, model, folder, place, console))

    replace_folder(place.path, fill)
    answer(console, rows, model, written, **more)


def _refuse_missing(arguments: argparse.Namespace) -> None:
    option = "--workers" if arguments.workers else "--dask"
    for name, why in _MISSING.items():
        if getattr(arguments, name):
            spelled = name.replace("_", "-")
            raise UsageError(f"--{spelled} does not go with {option}: {why}")
    if isinstance(arguments.strength, str):
        raise UsageError(
            f"--strength must be a number with {option}; got {arguments.strength}: "
            "choose it on a sample, without Dask"
        )


def _rows_in_parts(arguments: argparse.Namespace, console: Console) -> Rows:
    """Everything that the options name; rows and edges stay in their files."""
    from graphfold.files.edge_parts import read_graph_for_parts
    from graphfold.files.partitions import read_parts, refuse_names_among

    with console.stage("reading", f"looking at {arguments.data}") as tell:
        ids, aside = arguments.id_column, arguments.label_column
        parts: Any = read_parts(arguments.data, aside=aside, ids=ids)
        n = parts.X.shape[0]
        graphs: dict[str, Any] = {}
        for word in arguments.graph:
            name, path = named_path(word)
            tell(path)
            if name in graphs:
                raise UsageError(f"graphs must have different names; {name} is twice")
            asked = asked_of_edges(arguments)
            graphs[name] = read_graph_for_parts(path, parts.few, n, asked)
            if ids is None and graphs[name].has_labels:
                refuse_names_among(parts, path)
        if arguments.neighbors:
            graphs["neighbors"] = graphfold.NeighborGraph(arguments.neighbors)
        pairs = pairs_of(arguments, parts.few, n, complete=False)
    return Rows(parts, graphs, parts.extra, pairs)


def _fit(
    arguments: argparse.Namespace, rows: Rows, model: Any, console: Console
) -> None:
    from graphfold.files.partitions import classes_of

    y = None
    if arguments.semi_supervised:
        y = classes_of(next(iter(rows.columns.values())))
    with console.stage("fitting", f"fitting {rows.n:,} rows"):
        model.fit(rows.table.X, y, node_ids=rows.table.labels)


def _write(
    arguments: argparse.Namespace,
    rows: Rows,
    model: Any,
    folder: str,
    place: Place,
    console: Console,
) -> list[str]:
    """The embedding into a folder, and the model; names of what stands beside it."""
    from graphfold.files.partitions import write_parts

    Z, parts = model.embedding_, rows.table
    names = [f"component{i + 1}" for i in range(Z.shape[1])]
    with console.stage("writing", f"writing {arguments.output}") as tell:
        write_parts(folder, place, Z, names, parts)  # type: ignore[arg-type]
        if not arguments.model:
            return []
        tell(arguments.model)
        model.save(arguments.model)
        return [arguments.model]
