"""Results on disk: the numbers of all runs, a table to read, and where they came from.

``name.csv`` has one line for each number: what names it, mean, standard error, and its
value in every run under the seed. ``name.md`` is the table, ``name.json`` the record.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from graphfold import documents
from graphfold.errors import GraphfoldError
from graphfold.experiments.protocol import Cell, Experiment, Measured
from graphfold.replacing import write_atomically

_SUMMARY = ("mean", "standard_error")


def write_text(path: Path, text: str) -> None:
    """The old file or the new one, never half of it."""
    write_atomically(str(path), lambda stream: stream.write(text.encode()))


def write_measured(path: Path, measured: Measured) -> None:
    """One line for each cell, one column for each seed."""
    seeds = sorted({seed for runs in measured.by_cell.values() for seed in runs})
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*measured.columns, *_SUMMARY, *seeds])
    for cell, runs in measured.by_cell.items():
        chosen = dict(zip(measured.columns, cell, strict=True))
        summary = (measured.mean(**chosen), measured.standard_error(**chosen))
        # the shortest digits that give the number back: ties stay ties
        values = (repr(runs[seed]) if seed in runs else "" for seed in seeds)
        writer.writerow([*cell, *(f"{value:.6g}" for value in summary), *values])
    write_text(path, stream.getvalue())


def read_measured(path: Path) -> Measured:
    """What ``write_measured`` has written."""
    with open(path, newline="") as stream:
        header, *lines = list(csv.reader(stream))
    n = header.index(_SUMMARY[0])
    seeds = [int(seed) for seed in header[n + len(_SUMMARY) :]]
    by_cell: dict[Cell, dict[int, float]] = {}
    for line in lines:
        values = line[n + len(_SUMMARY) :]
        runs = {s: float(v) for s, v in zip(seeds, values, strict=True) if v != ""}
        by_cell[tuple(_plain(text) for text in line[:n])] = runs
    return Measured(tuple(header[:n]), by_cell)


def _plain(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def markdown(experiment: Experiment, measured: Measured) -> str:
    """The table of an experiment, means with standard errors in brackets."""
    if experiment.table is not None:
        return experiment.table(measured)
    return pivoted(measured, experiment.across)


def pivoted(measured: Measured, across: str, **chosen: Any) -> str:
    """Markdown: the values of ``across`` side by side, everything else in rows.

    Columns that are chosen are left out; what was not measured is left empty.
    """
    heads = in_order(measured.levels(across, **chosen))
    shown = [c for c in measured.columns if c != across and c not in chosen]
    place = measured.columns.index(across)
    rows = dict.fromkeys(
        tuple(cell[measured.columns.index(c)] for c in shown)
        for cell in measured.select(**chosen)
    )
    lines = [[*shown, *(f"{across} = {head}" for head in heads)]]
    lines.append(["---"] * len(lines[0]))
    for row in rows:
        here = {**chosen, **dict(zip(shown, row, strict=True))}
        there = {cell[place] for cell in measured.select(**here)}
        lines.append(
            [
                *map(str, row),
                *(
                    with_error(measured, **here, **{across: head})
                    if head in there
                    else ""
                    for head in heads
                ),
            ]
        )
    return markdown_table(lines)


def in_order(values: list[Any]) -> list[Any]:
    """Numbers by size; words stay where they are, before them."""
    numbers = sorted(value for value in values if not isinstance(value, str))
    return [value for value in values if isinstance(value, str)] + numbers


def markdown_table(lines: list[list[str]]) -> str:
    """Lines of cells as Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def with_error(measured: Measured, **chosen: Any) -> str:
    """The mean over the runs, its standard error in brackets if there is one."""
    mean, error = measured.mean(**chosen), measured.standard_error(**chosen)
    text = f"{mean:.3f}" if abs(mean) >= 0.01 or mean == 0 else f"{mean:.2g}"
    return f"{text} ({error:.3f})" if error >= 0.0005 else text


def write_record(path: Path, record: dict[str, Any]) -> None:
    write_text(path, json.dumps(record, indent=1) + "\n")


def read_record(path: Path) -> dict[str, Any]:
    try:
        record = documents.read(path)
        if not isinstance(record, dict):
            raise ValueError("no dictionary")
    except (OSError, ValueError) as error:
        raise GraphfoldError(
            f"{path} is not a record of results: run `graphfold reproduce` first"
        ) from error
    return record
